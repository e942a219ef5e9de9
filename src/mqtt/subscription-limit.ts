// How many subscriptions the broker allows, by what was known beforehand and what it has shown: told to others, and tried again.
import type { SubscriptionQuota } from './subscription-quota.ts';

interface LimitEvents {
  /** @param max infinite: no number is known */
  changed(max: number): void;
  /** It is to be tried whether the broker allows more. */
  retry(): void;
}

export class SubscriptionLimit {
  readonly #events: LimitEvents;
  #quota: SubscriptionQuota;
  /** Known beforehand. */
  #known = Number.POSITIVE_INFINITY;
  #told = Number.POSITIVE_INFINITY;
  #isConnected = false;
  #retry: NodeJS.Timeout | undefined;

  /** @param quota what the broker has shown; changed by `prepare` */
  constructor(quota: SubscriptionQuota, events: LimitEvents) {
    this.#quota = quota;
    this.#events = events;
  }

  get max(): number {
    return Math.min(this.#known, this.#quota.max);
  }

  /** A connection begins. @param quota what this broker has shown @param known infinite: nothing */
  prepare(quota: SubscriptionQuota, known: number): void {
    this.#quota = quota;
    this.#known = known;
    if (quota.retryWait === 0) {
      quota.retry();
    }
    this.tell();
  }

  connected(): void {
    this.#isConnected = true;
    this.#retryLater();
  }

  disconnected(): void {
    this.#isConnected = false;
    clearTimeout(this.#retry);
  }

  /** The broker has refused one more for this reason. @param held how many it has */
  reached(held: number): void {
    this.#quota.told(held);
    this.tell();
  }

  /** What counted may be gone. @param wait milliseconds until it is tried again */
  retrySoon(wait: number): void {
    this.#quota.retrySoon(wait);
    this.#retryLater();
  }

  /** Others may ask for fewer now; what they do not want any more is not told as refused. */
  tell(): void {
    const { max } = this;
    if (max !== this.#told) {
      this.#told = max;
      this.#events.changed(max);
    }
    this.#retryLater();
  }

  #retryLater(): void {
    clearTimeout(this.#retry);
    const wait = this.#quota.retryWait;
    if (!this.#isConnected || wait === Number.POSITIVE_INFINITY) {
      return;
    }
    this.#retry = setTimeout(() => {
      this.#quota.retry();
      this.tell();
      this.#events.retry();
    }, wait).unref();
  }
}
