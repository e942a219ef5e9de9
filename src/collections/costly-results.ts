// Results that took long to find are kept for a while, so that whoever asks all the time does not take the processor.

/** A fiftieth of the processor at most. */
const MAX_SHARE = 50;
const MAX_AGE_MS = 10_000;
/** Few people look at a time. */
const MAX_RESULTS = 8;

export class CostlyResults<T> {
  readonly #now: () => number;
  readonly #results = new Map<string, { until: number; result: T }>();

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** @param find is called where no result of this key is kept that is young enough for what it cost */
  get(key: string, find: () => T): T {
    const began = this.#now();
    for (const [other, { until }] of this.#results) {
      if (began >= until) {
        this.#results.delete(other);
      }
    }
    const known = this.#results.get(key);
    if (known) {
      return known.result;
    }
    const result = find();
    const end = this.#now();
    if (this.#results.size < MAX_RESULTS) {
      const until = end + Math.min(MAX_AGE_MS, MAX_SHARE * (end - began));
      this.#results.set(key, { until, result });
    }
    return result;
  }
}
