// How long to wait before the next attempt: doubling, capped, with jitter.

export interface Backoff {
  /** Milliseconds to wait before the next attempt; grows with every call. */
  next(): number;
  reset(): void;
}

/**
 * Doubles from `first` to `most` milliseconds; up to half as much again is added at random, so that clients
 * which lost the same broker do not come back in the same moment.
 */
export function createBackoff(first: number, most: number, random: () => number = Math.random): Backoff {
  let base = first;
  return {
    next() {
      const wait = Math.min(most, base * (1 + random() / 2));
      base = Math.min(most, base * 2);
      return wait;
    },
    reset() {
      base = first;
    },
  };
}
