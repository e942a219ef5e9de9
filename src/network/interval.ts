// How often something is heard usually: learned from the gaps between its reports, undisturbed by copies, bursts and failures.
import { DEFAULT_LIMITS, silenceLimitMs } from '../protocol/conditions.ts';
import type { Report } from '../protocol/reports/index.ts';
import { habitOf, type LongPause, recallPause } from './absences.ts';
import {
  contentOf,
  isRoundOver,
  type Learning,
  newLearning,
  noteAgain,
  noteHearing,
  noteTime,
  type Place,
  secondsOf,
} from './learning.ts';
import { RECENT_MS } from './links.ts';
import type { Listening } from './listening.ts';

/** Reports within this time are one hearing: copies by several gateways, and values that a device sends together. */
const MOMENT_MS = 1_000;
/** With fewer hearings nothing is known. */
export const MIN_HEARINGS = 5;
/** Of a gateway with several devices: of some at their own times, five pauses tell less than those of one. */
const MIN_SHARED_HEARINGS = 12;
/** So many pauses of several devices show the longest, whatever is known of the devices. */
const MANY_HEARINGS = 36;
/**
 * Until then a burst of events, or of several properties, is one hearing: what a device sends when it joins says nothing of
 * its habits. It is over after so long a pause.
 */
const BURST_MS = 10_000;
/** What goes on for so long without a pause is no burst: it counts as a hearing. */
const ROUND_MS = 60_000;
/** No longer pause is ordinary: a device repeats its properties about every 20 minutes, whatever it does in between. */
const ORDINARY_PAUSE_MS = 25 * 60_000;
/** A gateway that brought nothing but one device for so long has no other regular ones: they repeat their properties by then. */
const ALONE_MS = 20 * 60_000;
/** Habits of about so long count. */
const MEMORY_MS = 24 * 3_600_000;
/** A longer pause than an ordinary one may be a failure: it counts as so many usual intervals. */
const MAX_GROWTH = 3;
/** A shorter interval makes no difference to silence, and from there on it grows. */
const MIN_GROWN_MS = 20_000;

/** A device repeats its properties about every 20 minutes: where no other interval is known, three of these are a silence. */
export const UNKNOWN_SILENCE_MS = 60 * 60_000;

/** Something that is heard: a gateway or a device. Times are milliseconds of `performance.now()`. */
export interface Heard {
  /** Its last report. */
  heardAt: number;
  /** How many reports of it there were. */
  reports: number;
  /** The beginning of the last hearing. */
  countedAt: number;
  /** Its last report that says how often it is heard. */
  taughtAt: number;
  hearings: number;
  /** It has reported anything but events, which come when something happens, and samples of the past: both are no habit. */
  hasHabits: boolean;
  /** Until the interval is known. */
  learning: Learning | undefined;
  /** Milliseconds; see `usualIntervalMs`. */
  intervalMs: number;
  /** Its longest pause lately, in milliseconds; it counts when one like it has come again. */
  pauseMs: number;
  /** A flow receives reports of it; else only people who look through everything do, for as long as they look. */
  isWanted: boolean;
}

export interface HeardGateway extends Heard {
  /** How many devices it hears, of those that are remembered. */
  devices: number;
  /** The device of the last report; undefined: nothing yet. */
  latest: string | undefined;
  /** When another one than that was heard last. */
  othersAt: number;
  /** The device of the last hearing; undefined: of several. */
  countedOf: string | undefined;
  /** The two devices that it hears most often, as soon as their intervals are known. */
  quickest: readonly unknown[];
  /** While a single device is heard: the longest pause between its reports since the last hearing, in milliseconds. */
  alonePauseMs: number;
  /** The last ones for which it is told silent. */
  longPauses: readonly LongPause[];
}

/** Notes when a report was sent, as far as that is of use. Call it before the report itself is noted. */
export function hearTime(
  gateway: Readonly<Heard>,
  device: Readonly<Heard>,
  report: Readonly<Report>,
  now: number,
  listening: Listening,
): void {
  const given = gateway.learning || device.learning ? secondsOf(report.time) : undefined;
  if (given !== undefined) {
    noteGiven(gateway, report.gateway, given, now, listening);
    noteGiven(device, report.gateway, given, now, listening);
  }
}

function noteGiven(
  { learning, heardAt }: Readonly<Heard>,
  givenBy: string,
  given: number,
  now: number,
  listening: Listening,
): void {
  if (learning) {
    noteTime(learning, givenBy, given, now - heardAt - listening.listenedMs(heardAt, now));
  }
}

/**
 * Notes a report.
 * @param isWanted a flow receives it
 * @param isLate a sample of the past: a backlog comes as fast as it can
 * @param listening when such reports can be heard
 * @returns whether it begins another hearing
 */
export function hear(
  heard: Heard,
  at: Readonly<Place>,
  now: number,
  isWanted: boolean,
  isLate: boolean,
  listening: Listening,
): boolean {
  const isNew = isNewHearing(heard, now);
  heard.reports++;
  if (isWanted !== heard.isWanted) {
    hearUnlike(heard, at, now, isWanted, isLate);
  } else if (isNew && teaches(heard, at, now, isLate)) {
    learnInterval(heard, at, { pause: heard.countedAt, burst: heard.taughtAt }, now, listening);
    heard.taughtAt = now;
  }
  heard.heardAt = now;
  return isNew;
}

/**
 * As `hear`. No single device makes the interval of a gateway: when it dies or rests, the gateway is not silent. So only a
 * hearing of another device than the one before counts, as far as there are others.
 */
export function hearGateway(
  gateway: HeardGateway,
  at: Readonly<Place>,
  now: number,
  isWanted: boolean,
  isLate: boolean,
  listening: Listening,
): boolean {
  const { device } = at;
  const isNew = isNewHearing(gateway, now);
  gateway.reports++;
  if (gateway.latest !== device) {
    gateway.othersAt = gateway.latest === undefined ? gateway.othersAt : gateway.heardAt;
    gateway.latest = device;
  }
  if (isWanted !== gateway.isWanted) {
    hearUnlike(gateway, at, now, isWanted, isLate);
  } else if (!teaches(gateway, at, now, isLate)) {
    // It was heard, and that is all.
  } else if (!isNew) {
    gateway.countedOf = gateway.countedOf === device ? device : undefined;
  } else if (gateway.devices <= 1 || gateway.countedOf !== device) {
    const since = gateway.countedAt;
    const burst = gateway.devices <= 1 ? gateway.heardAt : since;
    learnInterval(gateway, at, { pause: since, burst }, now, listening);
    gateway.countedOf = gateway.countedAt === now ? device : gateway.countedOf;
  } else {
    const since = gateway.heardAt;
    // A device sends several reports, and any of them may be the one that counts.
    gateway.alonePauseMs = Math.max(gateway.alonePauseMs, listening.listenedMs(since, now));
    if (now - gateway.countedAt >= ALONE_MS) {
      learnInterval(gateway, at, { pause: since, burst: gateway.countedAt }, now, listening);
    }
  }
  if (gateway.countedAt === now) {
    gateway.alonePauseMs = 0;
  }
  gateway.heardAt = now;
  return isNew;
}

const isNewHearing = ({ countedAt }: Readonly<Heard>, now: number): boolean => now - countedAt >= MOMENT_MS;

/** Reports that only people look at say nothing of how often flows receive some. */
function hearUnlike(
  heard: Heard,
  at: Readonly<Place>,
  now: number,
  isWanted: boolean,
  isLate: boolean,
): void {
  if (isWanted) {
    heard.isWanted = true;
    learnAnew(heard, at, now, isHabit(at, isLate));
  }
}

/** @param hasHabits whether it has reported what comes at intervals */
function learnAnew(heard: Heard, at: Readonly<Place>, now: number, hasHabits: boolean): void {
  heard.countedAt = now;
  heard.taughtAt = now;
  heard.hearings = 1;
  heard.intervalMs = 0;
  heard.pauseMs = 0;
  heard.learning = newLearning(now);
  noteHearing(heard.learning, contentOf(at));
  heard.hasHabits = hasHabits;
}

const isHabit = ({ kind }: Readonly<Place>, isLate: boolean): boolean => kind !== 'event' && !isLate;

/** Events say how often something is heard only where nothing else does, and samples of the past never do. */
function teaches(heard: Heard, at: Readonly<Place>, now: number, isLate: boolean): boolean {
  if (!isHabit(at, isLate)) {
    return !isLate && !heard.hasHabits;
  }
  if (!heard.hasHabits) {
    learnAnew(heard, at, now, true);
    return false;
  }
  return true;
}

/**
 * The usual interval is the longest pause that came twice in about a day: so a burst, or a busy day in an office, hides no
 * quiet hours, and a single failure is no habit.
 * @param since when the pause began, and when the last report of a burst came, if this goes on with it
 */
function learnInterval(
  heard: Heard,
  at: Readonly<Place>,
  since: { pause: number; burst: number },
  now: number,
  listening: Listening,
): void {
  const passed = listening.listenedMs(heard.countedAt, now);
  if (heard.hearings < neededHearings(heard)) {
    // Of a gateway that had a single device until now, several may be.
    heard.learning ??= newLearning(now);
  }
  const { learning } = heard;
  const content = learning && contentOf(at);
  const isOther = learning !== undefined && (content === undefined || content !== learning.last);
  if (isOther && listening.listenedMs(since.burst, now) < BURST_MS) {
    goOnWithBurst(heard, learning, content, passed, now);
  } else {
    const heardMs = since.pause === heard.countedAt ? passed : listening.listenedMs(since.pause, now);
    const gap = Math.max(heardMs, alonePauseOf(heard), learning?.givenPauseMs ?? 0);
    heard.countedAt = now;
    if (gap >= MOMENT_MS && !isAbsence(heard, now, listening)) {
      learnPause(heard, gap, passed, content);
    }
  }
  if (learning && isLearned(heard, learning, listening.listenedMs(learning.since, now))) {
    heard.learning = undefined;
  }
}

/** One of a gateway, which is not learned. What comes often enough is its usual interval at once. */
function isAbsence(heard: Heard, now: number, listening: Listening): boolean {
  if (heard.learning || !isShared(heard)) {
    return false;
  }
  const ms = Math.max(listening.listenedMs(heard.heardAt, now), heard.alonePauseMs);
  const habitMs = habitOf(heard, heard.intervalMs, ms, now);
  heard.pauseMs = Math.max(heard.pauseMs, habitMs ?? 0);
  heard.intervalMs = Math.max(heard.intervalMs, habitMs ?? 0);
  return habitMs === undefined;
}

/** @param gap its length @param passed since the last hearing, both in milliseconds @param content what ends it */
function learnPause(heard: Heard, gap: number, passed: number, content: number | undefined): void {
  heard.hearings++;
  const { intervalMs: usual, pauseMs: longest, learning } = heard;
  const cameTwice = Math.min(gap, longest);
  let counted = cameTwice;
  if (learning) {
    noteHearing(learning, content);
    learning.givenPauseMs = 0;
    counted = Math.max(cameTwice, Math.min(gap, ORDINARY_PAUSE_MS));
  } else if (cameTwice > ORDINARY_PAUSE_MS) {
    counted = Math.min(cameTwice, MAX_GROWTH * Math.max(usual, MIN_GROWN_MS));
  }
  const left = Math.max(0, 1 - passed / MEMORY_MS);
  heard.intervalMs = Math.max(counted, usual - (1 - left) * Math.max(0, usual - gap));
  heard.pauseMs = Math.max(gap, longest * left);
}

/** No pause in it was longer than those of a burst. */
function goOnWithBurst(
  heard: Heard,
  learning: Learning,
  content: number | undefined,
  passed: number,
  now: number,
): void {
  if (passed >= ROUND_MS) {
    heard.countedAt = now;
    learnPause(heard, Math.max(BURST_MS, learning.givenPauseMs), passed, content);
  } else {
    noteAgain(learning, content);
  }
}

/** It becomes known at a hearing, when its pauses have been seen. @param listenedMs to it until now */
function isLearned(heard: Readonly<Heard>, learning: Readonly<Learning>, listenedMs: number): boolean {
  if (heard.hearings < neededHearings(heard)) {
    return false;
  }
  const isSeen = isShared(heard)
    ? heard.quickest.length > 1 || heard.hearings >= MANY_HEARINGS
    : isRoundOver(learning);
  return isSeen || listenedMs >= ORDINARY_PAUSE_MS;
}

/** What was known before the start counts as if it had been learned since. */
export function recallInterval(heard: Heard | HeardGateway, intervalMs: number): void {
  heard.intervalMs = Math.max(heard.intervalMs, intervalMs);
  heard.pauseMs = Math.max(heard.pauseMs, intervalMs);
  if ('longPauses' in heard) {
    recallPause(heard, intervalMs);
  }
}

/**
 * Milliseconds between two hearings; undefined until there were five, of a gateway with several devices twelve, and until
 * its pauses have been seen: each property may repeat at a time of its own.
 */
export function usualIntervalMs(heard: Readonly<Heard>): number | undefined {
  return heard.learning ? undefined : intervalSoFarMs(heard);
}

/** What was heard within so many milliseconds was heard lately. */
export const latelyMs = (heard: Readonly<Heard>): number =>
  Math.max(RECENT_MS, silenceLimitMs(DEFAULT_LIMITS, usualIntervalMs(heard)) ?? 0);

/** As `usualIntervalMs`, also while longer pauses may be still to come. */
export const intervalSoFarMs = (heard: Readonly<Heard>): number | undefined =>
  heard.hearings < neededHearings(heard) ? undefined : heard.intervalMs;

const neededHearings = (heard: Readonly<Heard>): number =>
  isShared(heard) ? MIN_SHARED_HEARINGS : MIN_HEARINGS;

/** A gateway that hears several devices. */
const isShared = (heard: Readonly<Heard | HeardGateway>): heard is HeardGateway =>
  'devices' in heard && heard.devices > 1;

const alonePauseOf = (heard: Readonly<Heard>): number => (isShared(heard) ? heard.alonePauseMs : 0);
