// Pauses of a gateway for which it is told silent: absences, unless they come as often as a habit does.
import { DEFAULT_LIMITS, silenceLimitMs } from '../protocol/conditions.ts';

/** A gateway that is unplugged, or starts anew, is so seldom; devices repeat their properties three times in this time. */
const HABIT_PAUSES = 3;
const HABIT_MS = 90 * 60_000;

/** A pause for which a gateway is told silent, when it ended, and how long it was, in milliseconds. */
export interface LongPause {
  readonly endedAt: number;
  readonly ms: number;
}

export const NO_PAUSES: readonly LongPause[] = [];

/**
 * Call it for every pause of a gateway that hears several devices.
 * @param intervalMs its usual interval until now
 * @param ms the length of the pause
 * @returns how long those were that came before it, where it is a habit; 0: nobody was told of it; undefined: an absence
 */
export function habitOf(
  gateway: { longPauses: readonly LongPause[] },
  intervalMs: number,
  ms: number,
  now: number,
): number | undefined {
  if (ms <= (silenceLimitMs(DEFAULT_LIMITS, intervalMs) as number)) {
    return 0;
  }
  const recent = gateway.longPauses.filter(({ endedAt }) => now - endedAt < HABIT_MS);
  const all = [...recent, { endedAt: now, ms }];
  gateway.longPauses = all.slice(1 - HABIT_PAUSES);
  return all.length < HABIT_PAUSES ? undefined : Math.min(...all.map((one) => one.ms));
}
