// How often something is heard usually: learned from the gaps between its reports, undisturbed by copies, bursts and failures.
import type { Listening } from './listening.ts';

/** Reports within this time are one hearing: copies by several gateways, and values that a device sends together. */
const MOMENT_MS = 1_000;
/** With fewer hearings nothing is known. */
const MIN_HEARINGS = 5;
/** Until then a burst is one hearing: what a device sends when it joins says nothing of its habits. */
const BURST_MS = 10_000;
/** A single pause of the first hearings counts up to this: a device repeats its properties about every 20 minutes. */
const FIRST_PAUSE_MS = 20 * 60_000;
/** Habits of about so long count. */
const MEMORY_MS = 24 * 3_600_000;
/** A longer pause may be a failure: it counts as so many usual intervals. */
const MAX_GROWTH = 3;
/** A shorter interval makes no difference to silence, and from there on it grows. */
const MIN_GROWN_MS = 20_000;

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
  /** Its longest pause lately, in milliseconds; it counts when one like it has come again. */
  pauseMs: number;
  /** A flow receives reports of it; else only people who look through everything do, for as long as they look. */
  isWanted: boolean;
}

/** Whether a report begins another hearing. */
export const isNewHearing = ({ countedAt }: Readonly<Heard>, now: number): boolean =>
  now - countedAt >= MOMENT_MS;

/**
 * Call it with each report that begins another hearing, before `heardAt` is set. The usual interval is the longest pause
 * that came twice in about a day: so a burst, or a busy day in an office, hides no quiet hours, and a single failure is no habit.
 */
export function learnInterval(heard: Heard, now: number, listening: Listening): void {
  const gap = listening.listenedMs(heard.countedAt, now);
  if (heard.hearings < MIN_HEARINGS && gap < BURST_MS) {
    return;
  }
  heard.countedAt = now;
  if (gap < MOMENT_MS) {
    return;
  }
  heard.hearings++;
  const { intervalMs: usual, pauseMs: longest } = heard;
  const cameTwice = Math.min(gap, longest);
  const counted =
    heard.hearings <= MIN_HEARINGS
      ? Math.max(cameTwice, Math.min(gap, FIRST_PAUSE_MS))
      : Math.min(cameTwice, MAX_GROWTH * Math.max(usual, MIN_GROWN_MS));
  const left = Math.max(0, 1 - gap / MEMORY_MS);
  heard.intervalMs = Math.max(counted, usual - (1 - left) * Math.max(0, usual - gap));
  heard.pauseMs = Math.max(gap, longest * left);
}

/** What was known before the start counts as if it had been learned since. */
export function recallInterval(heard: Heard, intervalMs: number): void {
  heard.intervalMs = Math.max(heard.intervalMs, intervalMs);
  heard.pauseMs = Math.max(heard.pauseMs, intervalMs);
}

/** What was learned before is of another kind of listening. */
export function learnAnew(heard: Heard, now: number): void {
  heard.countedAt = now;
  heard.hearings = 1;
  heard.intervalMs = 0;
  heard.pauseMs = 0;
}

/** Milliseconds between two hearings; undefined until five reports were heard, each ten seconds or more after the other. */
export function usualIntervalMs({ hearings, intervalMs }: Readonly<Heard>): number | undefined {
  return hearings < MIN_HEARINGS ? undefined : intervalMs;
}
