// Devices in the order in which they were heard, and how many values of them are remembered in all.
import { RecencyMap } from '../collections/recency-map.ts';
import { type DeviceState, isPasserBy } from './device-state.ts';
import { isPropertyName, MAX_VALUES_PER_DEVICE, newValue, type PropertyValue } from './property-values.ts';

/** The least recently heard go first. */
const MAX_DEVICES = 200_000;
/** Of all devices together; those of the device that was silent longest go first. */
const MAX_VALUES = 200_000;

export class KnownDevices {
  readonly #devices: RecencyMap<DeviceState>;
  #values = 0;
  /** All devices that were silent longer have no values. */
  #oldestWithValues: DeviceState | undefined;

  /** @param now milliseconds of `performance.now()` */
  constructor(now: () => number) {
    this.#devices = new RecencyMap(MAX_DEVICES, (one) => isPasserBy(one, now()));
  }

  get size(): number {
    return this.#devices.size;
  }

  /** How many there are of all devices. */
  get values(): number {
    return this.#values;
  }

  get(id: string): DeviceState | undefined {
    return this.#devices.get(id);
  }

  newestFirst(): Iterable<DeviceState> {
    return this.#devices.newestFirst();
  }

  /** Makes one that is there the newest. */
  touch(device: DeviceState): void {
    if (device === this.#oldestWithValues && device.after !== undefined) {
      this.#oldestWithValues = device.after;
    }
    this.#devices.touch(device);
  }

  /** Adds one that is not there yet, as the newest. @returns which one it has pushed out */
  add(device: DeviceState): DeviceState | undefined {
    if (this.#devices.findNextOut() === this.#oldestWithValues) {
      this.#oldestWithValues = this.#oldestWithValues?.after;
    }
    const pushedOut = this.#devices.add(device);
    this.#values -= pushedOut?.values.length ?? 0;
    this.#oldestWithValues ??= device;
    return pushedOut;
  }

  /** @returns undefined: the device has as many as it may, or it is the name of none */
  addValue(device: DeviceState, identifier: string, now: number): PropertyValue | undefined {
    if (device.values.length >= MAX_VALUES_PER_DEVICE || !isPropertyName(identifier)) {
      return undefined;
    }
    const value = newValue(identifier, now);
    device.values = [...device.values, value];
    this.#values++;
    return value;
  }

  /** @returns whether there were more values than there may be */
  dropOldestValues(): boolean {
    const isOver = this.#values > MAX_VALUES;
    while (this.#values > MAX_VALUES) {
      const oldest = this.#oldestWithValues ?? (this.#devices.oldest as DeviceState);
      this.#values -= oldest.values.length;
      oldest.values = [];
      this.#oldestWithValues = oldest.after;
    }
    return isOver;
  }
}
