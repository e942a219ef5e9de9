// Between the monotonic clock, by which ages are counted, and the clock of this machine, by which people and gateways tell time.

/** A clock that was set by more than this counts; less is the difference between two looks at both. */
const MIN_CHANGE_MS = 500;

let offset = Number.NEGATIVE_INFINITY;

/**
 * One moment is always shown as the same time, unless the clock was set meanwhile.
 * @param heardAt milliseconds of `performance.now()`
 * @returns ISO-8601
 */
export function wallTime(heardAt: number): string {
  const present = Date.now() - performance.now();
  if (Math.abs(present - offset) > MIN_CHANGE_MS) {
    offset = present;
  }
  return new Date(offset + heardAt).toISOString();
}

/** Milliseconds since a moment by the clock of this machine; 0 where it is none, or lies ahead. */
export function ageOfTime(time: string): number {
  return Math.max(0, Date.now() - Date.parse(time) || 0);
}
