// Which device is in the hand: in words, and read out by a screen reader, but not more often than one can listen.
import type { NearRow, NetworkRow } from '../../src/protocol/network-row.ts';
import { element } from '../shared/editor/panel.ts';
import { ageOf, say } from './editor-texts.ts';

/** Between two announcements: a network of motion detectors would never be silent. */
const ANNOUNCEMENT_MS = 6_000;
const MAX_ANNOUNCED = 3;

export function nearWords({ reason, identifier, name, rssi, usual, time }: NearRow): string {
  const age = ageOf(time);
  return reason === 'event'
    ? say('near.event', { name: name ?? identifier ?? '', age })
    : say('near.louder', { rssi, usual, age });
}

export class NearAnnouncer {
  readonly element = element('div', 'mt-gateway-side-unseen').attr('role', 'status')[0]!;
  /** Those that are lit and were read out. */
  #announced = new Set<string>();
  #nextAt = 0;

  /** @param rows the first ones of the list */
  update(rows: readonly NetworkRow[], now = Date.now()): void {
    const lit = rows.filter(({ near }) => near !== undefined);
    const ids = new Set(lit.map(({ id }) => id));
    this.#announced = new Set([...this.#announced].filter((id) => ids.has(id)));
    const fresh = lit.filter(({ id }) => !this.#announced.has(id)).slice(0, MAX_ANNOUNCED);
    if (fresh.length > 0 && now >= this.#nextAt) {
      this.#nextAt = now + ANNOUNCEMENT_MS;
      this.#announced = ids;
      this.element.textContent = fresh.map(({ name, near }) => `${name}: ${nearWords(near!)}`).join('; ');
    }
  }

  clear(): void {
    this.#announced.clear();
    this.element.textContent = '';
  }
}
