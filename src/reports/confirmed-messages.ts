// Messages that flows have confirmed and that a broker may send again all the same: it has not had the acknowledgement.
import { Queue } from '../collections/queue.ts';
import { SetMap } from '../collections/set-map.ts';
import { expectedUntil } from './expected-messages.ts';

export interface Confirmed {
  readonly key: string;
  /** The address by which it came. */
  readonly broker: string;
  /** When that connection was lost, in milliseconds of `performance.now()`; undefined: it is the present one. */
  lostAt: number | undefined;
  /** 0: it does not come again. */
  expectedUntil: number;
}

/** As many as MQTT has packet ids; beyond it the oldest are forgotten. */
const MAX_CONFIRMED = 65_535;
/** How often it is looked whether something is too old. */
const LOOK_MS = 10_000;

/** Only what recognises them is in memory. */
export class ConfirmedMessages {
  readonly #byKey = new SetMap<string, Confirmed>();
  #size = 0;
  /** The oldest first; also some that are forgotten already. */
  readonly #order = new Queue<Confirmed>();
  #lookAt = 0;

  /** @param now in milliseconds of `performance.now()` */
  isEmpty(now: number): boolean {
    if (this.#size > 0 && now >= this.#lookAt) {
      this.#lookAt = now + LOOK_MS;
      for (const confirmed of this.#order) {
        if (confirmed.expectedUntil <= now) {
          this.delete(confirmed);
        }
      }
      this.#order.filter(isKnown);
    }
    return this.#size === 0;
  }

  /**
   * @param key of the message @param broker the address by which it came
   * @param lost of a connection that was lost; undefined: its acknowledgement is on its way
   */
  add(key: string, broker: string, lost?: { lostAt: number; expectedUntil: number }): Confirmed {
    const until = lost?.expectedUntil ?? Number.POSITIVE_INFINITY;
    const confirmed = { key, broker, lostAt: lost?.lostAt, expectedUntil: until };
    this.#byKey.add(key, confirmed);
    this.#order.push(confirmed);
    this.#size++;
    while (this.#order.first && (this.#size > MAX_CONFIRMED || !isKnown(this.#order.first))) {
      this.delete(this.#order.first);
      this.#order.shift();
    }
    if (this.#order.size > 2 * MAX_CONFIRMED) {
      this.#order.filter(isKnown);
    }
    return confirmed;
  }

  /** It does not come again. */
  delete(confirmed: Confirmed): void {
    if (isKnown(confirmed)) {
      confirmed.expectedUntil = 0;
      this.#byKey.delete(confirmed.key, confirmed);
      this.#size--;
    }
  }

  /** Whether this is one of them, which has come again now. */
  take(key: string, now: number): boolean {
    for (const confirmed of this.#byKey.of(key)) {
      const isExpected = confirmed.expectedUntil > now;
      this.delete(confirmed);
      if (isExpected) {
        return true;
      }
    }
    return false;
  }

  /** The connection is a new one. @param isPresent the broker has kept the session */
  connected(broker: string, isPresent: boolean, now: number): void {
    for (const confirmed of this.#order) {
      const isThere = confirmed.broker === broker;
      if (isThere && !isPresent) {
        this.delete(confirmed);
      } else if (isKnown(confirmed)) {
        confirmed.lostAt ??= now;
        confirmed.expectedUntil = expectedUntil(confirmed.lostAt, isThere, now);
      }
    }
  }

  clear(): void {
    this.#byKey.clear();
    this.#order.clear();
    this.#size = 0;
  }
}

const isKnown = ({ expectedUntil }: Confirmed): boolean => expectedUntil > 0;
