// Pauses of a gateway for which it is told silent: absences, unless they come as often as a habit does.
import { DEFAULT_LIMITS, silenceLimitMs } from '../protocol/conditions.ts';

/** So many in such a time: a gateway that is unplugged, or starts anew, is so less often. */
const HABITS = [
  // Devices repeat their properties about every 20 minutes.
  { pauses: 3, withinMs: 90 * 60_000 },
  { pauses: 6, withinMs: 24 * 3_600_000 },
] as const;
/** So many without an ordinary pause in between, however long they are: the devices that are left report as seldom. */
const IN_A_ROW = 3;
const MAX_PAUSES = 6;

/** A pause for which a gateway is told silent, when it ended, and how long it was, in milliseconds. */
export interface LongPause {
  readonly endedAt: number;
  readonly ms: number;
  /** How many ordinary pauses there were before it. */
  readonly hearings: number;
}

export const NO_PAUSES: readonly LongPause[] = [];

/** Whether a pause that is not told may be an absence all the same: it is unusual, or like those that are a habit. */
export const mayBeAbsence = (
  { longPauses }: { longPauses: readonly LongPause[] },
  intervalMs: number,
  ms: number,
): boolean => ms > intervalMs || longPauses.some((one) => ms >= one.ms / 2);

/** What was usual before the start may have been such a habit. */
export function recallPause(gateway: { longPauses: readonly LongPause[] }, ms: number): void {
  const recalled = { endedAt: Number.NEGATIVE_INFINITY, ms, hearings: Number.NEGATIVE_INFINITY };
  gateway.longPauses = [recalled, ...gateway.longPauses].slice(1 - MAX_PAUSES);
}

/**
 * Call it for every pause of a gateway that hears several devices.
 * @param intervalMs its usual interval until now
 * @param ms the length of the pause
 * @returns how long those were that came before it, where it is a habit; 0: nobody was told of it; undefined: an absence
 */
export function habitOf(
  gateway: { longPauses: readonly LongPause[]; readonly hearings: number },
  intervalMs: number,
  ms: number,
  now: number,
): number | undefined {
  if (ms <= (silenceLimitMs(DEFAULT_LIMITS, intervalMs) as number)) {
    return 0;
  }
  const { hearings } = gateway;
  const all = [...gateway.longPauses, { endedAt: now, ms, hearings }];
  gateway.longPauses = all.slice(1 - MAX_PAUSES);
  if (all.at(-IN_A_ROW)?.hearings === hearings) {
    return Math.min(...all.slice(-IN_A_ROW).map((one) => one.ms));
  }
  for (const { pauses, withinMs } of HABITS) {
    const last = all.slice(-pauses);
    if (last.length === pauses && last.every(({ endedAt }) => now - endedAt < withinMs)) {
      return Math.min(...last.map((one) => one.ms));
    }
  }
  return undefined;
}
