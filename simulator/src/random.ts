// A small seeded generator of random numbers, so that every run of the service in a box can be repeated.

/** Gives the next number of a sequence, 0 ≤ n < 1. */
export type Random = () => number;

/** Mulberry32: 32 bits of state, good enough for traffic and never for secrets. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const between = (random: Random, low: number, high: number): number => low + random() * (high - low);

export const whole = (random: Random, low: number, high: number): number =>
  Math.floor(between(random, low, high + 1));

export function pick<T>(random: Random, from: readonly T[]): T {
  const chosen = from[Math.floor(random() * from.length)];
  if (chosen === undefined) {
    throw new RangeError('nothing to pick from');
  }
  return chosen;
}

/** A shuffled copy (Fisher–Yates). */
export function shuffle<T>(random: Random, cards: readonly T[]): T[] {
  const deck = [...cards];
  for (let at = deck.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1));
    [deck[at], deck[other]] = [deck[other] as T, deck[at] as T];
  }
  return deck;
}
