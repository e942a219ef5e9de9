// How long to wait before the next attempt: doubling, capped, with jitter.

export interface Backoff {
  /** Milliseconds to wait before the next attempt; grows with every call. */
  next(): number;
  reset(): void;
}

/**
 * Doubles from `first` to `most` milliseconds; a share of it is added at random, so that clients which lost the same
 * broker do not come back in the same moment.
 * @param jitter the largest share
 */
export function createBackoff(
  first: number,
  most: number,
  { jitter = 0.5, random = Math.random }: { jitter?: number; random?: () => number } = {},
): Backoff {
  let base = first;
  return {
    next() {
      const wait = Math.min(most, base * (1 + jitter * random()));
      base = Math.min(most, base * 2);
      return wait;
    },
    reset() {
      base = first;
    },
  };
}
