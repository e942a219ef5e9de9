// Which broker of the list is tried next, and when: the waits after losses, refusals and searches.
import { type Backoff, createBackoff } from './backoff.ts';
import type { Consequence } from './reasons.ts';

/** Until a session is taken back: so long, the broker has worked through the end of the connection that took it. */
export const REGAIN_MS = 1_000;
const FIRST_MS = 1_000;
const LAST_MS = 60_000;
const REFUSED_FIRST_MS = 10_000;
const REFUSED_LAST_MS = 300_000;
/** Of the wait: who corrects the login counts on the time that is said. */
const REFUSED_JITTER = 0.05;
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
  /** By broker. */
  readonly #refusedBackoffs: readonly Backoff[];
  readonly #searchBackoff = createBackoff(SEARCH_FIRST_MS, SEARCH_LAST_MS);
  #broker = 0;
  /**
   * By broker: it has refused the login, or another client has the id, so that it is not tried until this time, in
   * milliseconds of `performance.now()`, and soon after it. The others are tried as if it were not in the list. 0: it has not.
   */
  readonly #restsUntil: number[];
  /** When the next round begins, where one that has rested is tried before; with which broker. */
  #roundAt = 0;
  #first = 0;
  /** A connection was lost since the last wait because of what the broker was asked for. */
  #isSearching = false;

  /** @param brokers how many are in the list */
  constructor(brokers: number) {
    this.#brokers = brokers;
    this.#restsUntil = Array(brokers).fill(0);
    this.#refusedBackoffs = this.#restsUntil.map(() =>
      createBackoff(REFUSED_FIRST_MS, REFUSED_LAST_MS, { jitter: REFUSED_JITTER }),
    );
  }

  /** Index of the broker in use or tried next. */
  get broker(): number {
    return this.#broker;
  }

  /** The next attempt is at this broker. */
  startAt(broker: number): void {
    this.#broker = broker;
  }

  /** What was before a good connection does not count any more, but for refusals of other brokers than the one in use. */
  startOver(): void {
    this.#backoff.reset();
    this.#searchBackoff.reset();
    this.#refusedBackoffs[this.#broker]?.reset();
    this.#restsUntil[this.#broker] = 0;
    this.#roundAt = 0;
    this.#first = 0;
    this.#isSearching = false;
  }

  /**
   * A connection has failed or ended. The next broker of the list follows at once; the wait comes after each round.
   * @param isSearch the broker has ended it because of what it was asked for
   * @returns milliseconds until the next attempt
   */
  next(consequence: Consequence, isSearch: boolean): number {
    const now = performance.now();
    this.#isSearching ||= isSearch;
    const isRefused = consequence === 'refused' || consequence === 'longWait';
    const restMs = (): number => this.#refusedBackoffs[this.#broker]?.next() ?? 0;
    this.#restsUntil[this.#broker] = isRefused ? now + restMs() : 0;
    const next = this.#nextOf(now);
    let wait = this.#roundAt - now;
    if (next === undefined) {
      wait = Number.POSITIVE_INFINITY;
      this.#first = 0;
      this.#isSearching = false;
    } else if (wait <= 0) {
      // It became due while one was tried that had rested.
      const isDue = this.#roundAt > 0;
      this.#roundAt = 0;
      if (isDue && this.#broker !== this.#first) {
        this.#broker = this.#first;
        return NEXT_BROKER_MS;
      }
      if (this.#placeOf(next) > this.#placeOf(this.#broker)) {
        this.#broker = next;
        return NEXT_BROKER_MS;
      }
      wait = (this.#isSearching ? this.#searchBackoff : this.#backoff).next();
      this.#first = next;
      this.#isSearching = false;
    } else if (this.#rests(this.#first, now)) {
      // It was tried before its round, and has refused.
      this.#first = next;
    }
    const rests = this.#restsUntil.map((until) => (until > 0 ? until - now : Number.POSITIVE_INFINITY));
    const rest = Math.min(...rests);
    const isRested = rest < wait;
    this.#broker = isRested ? rests.indexOf(rest) : this.#first;
    this.#roundAt = isRested && wait !== Number.POSITIVE_INFINITY ? now + wait : 0;
    return Math.max(NEXT_BROKER_MS, Math.min(rest, wait));
  }

  /** The broker behind this one that does not rest, in a circle; undefined: all of them do. */
  #nextOf(now: number): number | undefined {
    const behind = this.#restsUntil.map((_, n) => (this.#broker + 1 + n) % this.#brokers);
    return behind.find((broker) => !this.#rests(broker, now));
  }

  /** In the round, which is a circle that begins with its first broker. */
  #placeOf(broker: number): number {
    return (broker - this.#first + this.#brokers) % this.#brokers;
  }

  #rests(broker: number, now: number): boolean {
    return (this.#restsUntil[broker] ?? 0) > now;
  }
}
