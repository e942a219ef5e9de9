// Which broker of the list is tried next, and when: the waits after losses, refusals and searches.
import { createBackoff } from './backoff.ts';
import type { Consequence } from './reasons.ts';

/** Until a session is taken back: so long, the broker has worked through the end of the connection that took it. */
export const REGAIN_MS = 1_000;
const FIRST_MS = 1_000;
const LAST_MS = 60_000;
const REFUSED_FIRST_MS = 10_000;
const REFUSED_LAST_MS = 300_000;
/** After a loss that the client has caused itself, to find out what it must not ask for. */
const SEARCH_FIRST_MS = 200;
const SEARCH_LAST_MS = 300;
/** After a failure the next broker of the list has its turn almost at once. */
const NEXT_BROKER_MS = 50;
/** A connection that lived this long was a good one: the next loss starts with the short wait again. */
const STABLE_AFTER_MS = 5_000;

/** Whether a connection was a good one. @param connectedAt in milliseconds of `performance.now()` */
export function wasGood(connectedAt: number): boolean {
  return performance.now() - connectedAt > STABLE_AFTER_MS;
}

export class ReconnectWaits {
  readonly #brokers: number;
  readonly #backoff = createBackoff(FIRST_MS, LAST_MS);
  readonly #refusedBackoff = createBackoff(REFUSED_FIRST_MS, REFUSED_LAST_MS);
  readonly #searchBackoff = createBackoff(SEARCH_FIRST_MS, SEARCH_LAST_MS);
  #broker = 0;
  /** A broker of the list has refused the login, or another client has the id, since the last wait. */
  #isLongWaitDue = false;
  /** A connection was lost since the last wait because of what the broker was asked for. */
  #isSearching = false;

  /** @param brokers how many are in the list */
  constructor(brokers: number) {
    this.#brokers = brokers;
  }

  /** Index of the broker in use or tried next. */
  get broker(): number {
    return this.#broker;
  }

  /** The next attempt is at this broker. */
  startAt(broker: number): void {
    this.#broker = broker;
  }

  /** What was before a good connection does not count any more. */
  startOver(): void {
    this.#backoff.reset();
    this.#refusedBackoff.reset();
    this.#searchBackoff.reset();
    this.#isLongWaitDue = false;
    this.#isSearching = false;
  }

  /**
   * A connection has failed or ended. The next broker of the list follows at once; the wait comes after each round.
   * @param isSearch the broker has ended it because of what it was asked for
   * @returns milliseconds until the next attempt
   */
  next(consequence: Consequence, isSearch: boolean): number {
    this.#isSearching ||= isSearch;
    this.#isLongWaitDue ||= consequence === 'refused' || consequence === 'longWait';
    // The others have refused just now: only this one is there to be asked.
    if (isSearch && this.#isLongWaitDue) {
      return this.#searchBackoff.next();
    }
    this.#broker = (this.#broker + 1) % this.#brokers;
    if (this.#broker !== 0) {
      return NEXT_BROKER_MS;
    }
    const backoff = this.#isSearching ? this.#searchBackoff : this.#backoff;
    const wait = (this.#isLongWaitDue ? this.#refusedBackoff : backoff).next();
    this.#isLongWaitDue = false;
    this.#isSearching = false;
    return wait;
  }
}
