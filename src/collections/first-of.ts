// The first of very many in an order, without sorting all of them.

/** Candidates beside twice as many as are wanted, between two sorts. */
const ROOM = 100;

/** @returns the first `limit` in this order, those that are equal as they came, and how many there are in all */
export function firstOf<T>(
  items: Iterable<T>,
  limit: number,
  compare: (one: T, other: T) => number,
): { first: T[]; total: number } {
  let candidates: T[] = [];
  let last: T | undefined;
  let total = 0;
  for (const item of items) {
    total++;
    if (last !== undefined && compare(item, last) >= 0) {
      continue;
    }
    candidates.push(item);
    if (candidates.length >= 2 * limit + ROOM) {
      candidates = candidates.sort(compare).slice(0, limit);
      last = candidates.at(-1);
    }
  }
  return { first: candidates.sort(compare).slice(0, limit), total };
}
