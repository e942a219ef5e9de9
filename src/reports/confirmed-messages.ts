// Messages that flows have confirmed and that a broker may send again all the same: it has not had the acknowledgement.
import { Queue } from '../collections/queue.ts';
import { SetMap } from '../collections/set-map.ts';
import { expectedUntil, keyOf } from './expected-messages.ts';
import type { ReceivedMessage } from './message.ts';

export interface Confirmed {
  /** Until its key is known, or it does not come again. */
  message: ReceivedMessage | undefined;
  key: string | undefined;
  /** The address by which it came. */
  readonly broker: string;
  /** When that connection was lost, in milliseconds of `performance.now()`; undefined: it is the present one. */
  lostAt: number | undefined;
  /** 0: it does not come again. */
  expectedUntil: number;
}

/** As many as MQTT has packet ids; beyond it the oldest are forgotten. */
const MAX_CONFIRMED = 65_535;
/** A longer payload is not kept until the next look. */
const MAX_PAYLOAD_BYTES = 1_000;
/** How often it is looked whether something is too old. */
const LOOK_MS = 10_000;

/** Only what recognises them is in memory. */
export class ConfirmedMessages {
  readonly #byKey = new SetMap<string, Confirmed>();
  /** Those whose key is not known yet. Most are settled soon, and a key takes longer than all the rest. */
  #withoutKey: Confirmed[] = [];
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
   * @param broker the address by which it came
   * @param lost of a connection that was lost; undefined: its acknowledgement is on its way
   */
  add(message: ReceivedMessage, broker: string, lost?: { lostAt: number; expectedUntil: number }): Confirmed {
    const until = lost?.expectedUntil ?? Number.POSITIVE_INFINITY;
    const confirmed = { message, key: undefined, broker, lostAt: lost?.lostAt, expectedUntil: until };
    this.#withoutKey.push(confirmed);
    if (message.payload.length > MAX_PAYLOAD_BYTES) {
      this.shrink();
    }
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
      confirmed.message = undefined;
      if (confirmed.key !== undefined) {
        this.#byKey.delete(confirmed.key, confirmed);
      }
      this.#size--;
    }
  }

  /** Call it twice a second: keeps of each message what recognises it; a payload keeps the whole chunk alive that it came in. */
  shrink(): void {
    for (const confirmed of this.#withoutKey) {
      if (confirmed.message) {
        confirmed.key = keyOf(confirmed.message);
        confirmed.message = undefined;
        this.#byKey.add(confirmed.key, confirmed);
      }
    }
    this.#withoutKey = [];
  }

  /** Whether this is one of them, which has come again now. */
  take(key: string, now: number): boolean {
    this.shrink();
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
    this.#withoutKey = [];
    this.#order.clear();
    this.#size = 0;
  }
}

const isKnown = ({ expectedUntil }: Confirmed): boolean => expectedUntil > 0;
