// How often something is heard usually: learned from the gaps between its reports, undisturbed by copies, bursts and failures.
import type { Listening } from './listening.ts';

/** Reports within this time are one hearing: copies by several gateways, and values that a device sends together. */
const MOMENT_MS = 1_000;
/** With fewer hearings nothing is known. */
const MIN_HEARINGS = 5;
/** Of a gap as long as the usual one: its habits of about the last ten intervals count. */
const WEIGHT = 0.1;
/** A longer gap is a failure rather than a habit: it counts as so many usual intervals. */
const MAX_GAP = 3;

/** Something that is heard: a gateway or a device. Times are milliseconds of `performance.now()`. */
export interface Heard {
  /** Its last report. */
  heardAt: number;
  /** How many reports of it there were. */
  reports: number;
  /** The beginning of the last hearing. */
  countedAt: number;
  hearings: number;
  /** Milliseconds; see `usualIntervalMs`. */
  intervalMs: number;
  /** A flow receives reports of it; else only people who look through everything do, for as long as they look. */
  isWanted: boolean;
}

/** Whether a report begins another hearing. */
export const isNewHearing = ({ countedAt }: Readonly<Heard>, now: number): boolean =>
  now - countedAt >= MOMENT_MS;

/**
 * Call it with each report that begins another hearing, before `heardAt` is set. The usual interval is a mean that decays, in which a gap counts by
 * its length: a device that sends a burst of events and then a heartbeat in ten minutes is usually heard every ten minutes.
 */
export function learnInterval(heard: Heard, now: number, listening: Listening): void {
  const gap = listening.listenedMs(heard.countedAt, now);
  heard.countedAt = now;
  if (gap < MOMENT_MS) {
    return;
  }
  heard.hearings++;
  const usual = heard.intervalMs;
  if (heard.hearings <= MIN_HEARINGS) {
    heard.intervalMs = Math.max(usual, gap);
    return;
  }
  const counted = Math.min(gap, MAX_GAP * usual);
  heard.intervalMs = usual + WEIGHT * Math.min(1, counted / usual) * (counted - usual);
}

/** What was learned before is of another kind of listening. */
export function learnAnew(heard: Heard, now: number): void {
  heard.countedAt = now;
  heard.hearings = 1;
  heard.intervalMs = 0;
}

/** Milliseconds between two hearings; undefined until five reports were heard, each a second or more after the other. */
export function usualIntervalMs({ hearings, intervalMs }: Readonly<Heard>): number | undefined {
  return hearings < MIN_HEARINGS ? undefined : intervalMs;
}
