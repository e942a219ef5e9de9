// The names of devices for people: from the last known list, and from what was renamed since it was asked for.
import { parseMac } from '../protocol/mac.ts';
import { oneLine } from '../protocol/text.ts';
import type { DeviceIndex } from './device-index.ts';

/** Renamed devices that no list has shown yet; the oldest go first. */
const MAX_RENAMED = 1_000;
interface Renamed {
  name: string;
  /** The last fetch of a list that was begun before. */
  before: number;
}

export class DeviceNames {
  readonly #renamed = new Map<string, Renamed>();

  /** @param mac 12 lowercase hex digits @returns undefined where the device has no name of its own */
  of(mac: string, list: DeviceIndex | undefined): string | undefined {
    const renamed = this.#renamed.get(mac);
    if (renamed) {
      return shownName(renamed.name);
    }
    const entry = list?.byMac.get(mac);
    // The index shows the id where there is no name.
    return entry === undefined || entry.name === entry.id ? undefined : shownName(entry.name);
  }

  /**
   * @param id a REST id; nothing else than a gateway is known by its MAC
   * @param before number of the last fetch that was begun
   */
  rename(id: string, name: string, before: number): void {
    const mac = parseMac(id);
    if (mac === undefined) {
      return;
    }
    this.#renamed.delete(mac);
    this.#renamed.set(mac, { name, before });
    for (const [oldest] of this.#renamed) {
      if (this.#renamed.size <= MAX_RENAMED) {
        return;
      }
      this.#renamed.delete(oldest);
    }
  }

  /** @param number of the fetch whose list counts from now on: it shows what was renamed before it was begun */
  forgetBefore(number: number): void {
    for (const [mac, { before }] of this.#renamed) {
      if (before < number) {
        this.#renamed.delete(mac);
      }
    }
  }
}

/** A name is one line, wherever it is shown. */
function shownName(name: string): string | undefined {
  return oneLine(name) || undefined;
}
