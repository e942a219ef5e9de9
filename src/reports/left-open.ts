// What was open at nodes when a deploy ended their service: the broker sends it to the next one, and only these nodes need it again.
import { keyOf } from './expected-messages.ts';
import type { ReceivedMessage } from './message.ts';

/** So long after the connection a broker may send again what was not acknowledged before. */
const MAX_EXPECTED_MS = 10 * 60_000;

export class LeftOpen {
  /** The nodes of each message; the same content may be open more than once. */
  readonly #owners = new Map<string, ReadonlySet<string>[]>();
  #until = Number.POSITIVE_INFINITY;

  /** @param owners the nodes at which it is open */
  add(received: ReceivedMessage, owners: ReadonlySet<string>): void {
    const key = keyOf(received);
    this.#owners.set(key, [...(this.#owners.get(key) ?? []), owners]);
  }

  /** The next service is connected. @param now in milliseconds of `performance.now()` */
  connected(now: number): void {
    this.#until = now + MAX_EXPECTED_MS;
  }

  /** @param now in milliseconds of `performance.now()` */
  isEmpty(now: number): boolean {
    if (now >= this.#until) {
      this.#owners.clear();
    }
    return this.#owners.size === 0;
  }

  /** It has come again. @returns the nodes at which it was open; undefined: it was not */
  take(received: ReceivedMessage, now: number): ReadonlySet<string> | undefined {
    if (this.isEmpty(now)) {
      return undefined;
    }
    const key = keyOf(received);
    const [owners, ...others] = this.#owners.get(key) ?? [];
    if (others.length > 0) {
      this.#owners.set(key, others);
    } else {
      this.#owners.delete(key);
    }
    return owners;
  }
}
