// How many subscriptions a broker allows, where it does not say so beforehand: believed on good evidence only, and not for
// ever.
import { type Backoff, createBackoff } from './backoff.ts';

/** Connections that have to end at the same number, each with another filter. */
const MIN_LOSSES = 3;
/** Until a number that the broker has told is tried again. */
const FIRST_RETRY_MS = 60_000;
const LAST_RETRY_MS = 3_600_000;
/** With fewer, connections that end by chance fall upon the same number more easily, and it costs more to believe it. */
const FEW = 8;

export class SubscriptionQuota {
  readonly #backoff: Backoff = createBackoff(FIRST_RETRY_MS, LAST_RETRY_MS);
  #max = Number.POSITIVE_INFINITY;
  /** In milliseconds of `performance.now()`. */
  #retryAt = Number.POSITIVE_INFINITY;
  /** The number at which connections have ended, how often, and the last filter there. */
  #limit = Number.POSITIVE_INFINITY;
  /** The last number that was believed because of them: meanwhile forbidden filters may have ended some at another one. */
  #shown = Number.POSITIVE_INFINITY;
  #losses = 0;
  #lastFilter = '';
  /** A packet of several filters has ended the connection beside so many: the next one there has one filter. */
  #doubted = Number.POSITIVE_INFINITY;
  /** The filter was granted since, while there were fewer. */
  #isCleared = false;

  /** Subscriptions that the broker allows, as far as it has shown. */
  get max(): number {
    return this.#max;
  }

  /** Milliseconds until it is tried again whether the broker allows more; infinite while no number is known. */
  get retryWait(): number {
    return Math.max(0, this.#retryAt - performance.now());
  }

  /**
   * How many filters the next packet may have so that it shows the exact number, if there is one.
   * @param held how many subscriptions the broker has
   */
  room(held: number): number {
    const limit = Math.min(this.#limit, this.#doubted);
    return held < limit ? limit - held : 1;
  }

  /** The broker has refused a filter for this reason. @param held how many subscriptions it has */
  told(held: number): void {
    if (held < this.#max) {
      this.#learn(held, this.#backoff.next());
    }
  }

  /** The broker has granted the filter. @param held how many subscriptions it had before */
  granted(filter: string, held: number): void {
    if (held >= this.#doubted) {
      this.#doubted = Number.POSITIVE_INFINITY;
    }
    if (filter === this.#lastFilter && held < this.#limit) {
      this.#isCleared = true;
    } else if (held >= this.#shown) {
      this.#forgetLosses();
    } else if (held >= this.#limit) {
      this.#expectLoss();
    }
  }

  /**
   * A packet with this filter alone has ended the connection.
   * @param held how many subscriptions the broker had
   * @returns whether that was one subscription too many
   */
  lost(filter: string, held: number): boolean {
    const isSame = held === this.#limit && filter !== this.#lastFilter && this.#isCleared;
    this.#losses = isSame ? this.#losses + 1 : 1;
    this.#lastFilter = filter;
    this.#isCleared = false;
    // At the first one it ends for another reason than their number.
    if (held === 0) {
      this.#expectLoss();
      return false;
    }
    this.#limit = held;
    if (this.#losses >= MIN_LOSSES) {
      this.#learn(held, held < FEW ? this.#backoff.next() : LAST_RETRY_MS);
      this.#shown = held;
      this.#expectLoss();
      return true;
    }
    return false;
  }

  /** A packet with several filters has ended the connection. @param held how many subscriptions the broker had */
  lostSeveral(held: number): void {
    this.#doubted = held;
  }

  /** What counted may be gone: it is tried soon whether the broker allows more. */
  retrySoon(wait: number): void {
    if (this.#max !== Number.POSITIVE_INFINITY) {
      this.#retryAt = Math.min(this.#retryAt, performance.now() + wait);
    }
  }

  /** The broker is asked for all that is wanted again. */
  retry(): void {
    this.#max = Number.POSITIVE_INFINITY;
    this.#retryAt = Number.POSITIVE_INFINITY;
    this.#expectLoss();
  }

  /** Where a number was shown, one more connection has to end when it is tried again, not all of them. */
  #expectLoss(): void {
    this.#limit = this.#shown;
    this.#losses = MIN_LOSSES - 1;
    this.#lastFilter = '';
    this.#isCleared = true;
  }

  #learn(max: number, wait: number): void {
    this.#max = Math.min(this.#max, max);
    this.#retryAt = performance.now() + wait;
  }

  #forgetLosses(): void {
    this.#shown = Number.POSITIVE_INFINITY;
    this.#expectLoss();
  }
}
