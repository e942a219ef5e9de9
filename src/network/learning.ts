// What is remembered of the reports of something until it is known how often it is heard usually.
import type { ReportTopic } from '../protocol/reports/index.ts';

/** A longer pause between two times is none of a device, but of a clock. */
const MAX_GIVEN_PAUSE_MS = 24 * 3_600_000;
const MAX_TIME_LENGTH = 40;
/** Of a time in UTC: where its clock begins, and its length without fractions of a second. */
const CLOCK_AT = 10;
const SECONDS_LENGTH = 19;
/** Of an identifier; a longer one is none of a device. */
const MAX_CONTENT_LENGTH = 200;
/** So many tell whether a round is over: what they are of repeats at the same intervals as the others. */
const MAX_CONTENTS = 5;
/** What came so often tells by itself how often something is heard, whatever else came in between. */
const OFTEN = 4;
/** Of a content: how often it came, beside what it is, in one number: there may be very many devices. */
const TIMES = 8;
const CODES = 2 ** 28;

/** What identifies the reports that a device repeats. */
export type Place = Pick<ReportTopic, 'device' | 'kind' | 'identifier'>;

export interface Learning {
  /** Since then, in milliseconds of `performance.now()`. */
  readonly since: number;
  /** What the last hearing began with; what comes again like it is no burst. Undefined: an event. */
  last: number | undefined;
  /** What the first hearings began with, and how often each came. */
  contents: readonly number[];
  /** The time of the last report in whole seconds, and the gateway whose clock that was: others may differ. */
  given: number;
  givenBy: string | undefined;
  /** The longest pause between two such times since the last hearing, in milliseconds. */
  givenPauseMs: number;
}

const NOTHING: readonly number[] = [];

export const newLearning = (since: number): Learning => ({
  // What is no whole number takes memory of its own.
  since: Math.round(since),
  last: undefined,
  contents: NOTHING,
  given: 0,
  givenBy: undefined,
  givenPauseMs: 0,
});

/** What comes together is of the same second, which is read once: the beginning of a time in UTC, and what it is. */
const latest = { text: 'none', seconds: 0 };

/** @returns whole seconds since 1970; undefined where it is no time */
export function secondsOf(time: string): number | undefined {
  if (time.startsWith(latest.text) && time.endsWith('Z')) {
    return latest.seconds;
  }
  const seconds = time.length > MAX_TIME_LENGTH ? Number.NaN : Math.floor(Date.parse(time) / 1_000);
  if (Number.isNaN(seconds)) {
    return undefined;
  }
  // A year may have more than four digits.
  if (time[CLOCK_AT] === 'T' && time.endsWith('Z')) {
    latest.text = time.slice(0, SECONDS_LENGTH);
    latest.seconds = seconds;
  }
  return seconds;
}

/**
 * What a broker has kept comes all at once: how long the pauses were is what the gateways say.
 * @param givenBy the gateway whose clock it was
 * @param given whole seconds since 1970
 * @param awayMs for how long nothing could be heard since the last report
 */
export function noteTime(learning: Learning, givenBy: string, given: number, awayMs: number): void {
  const pauseMs = (given - learning.given - 1) * 1_000;
  if (givenBy === learning.givenBy && pauseMs < MAX_GIVEN_PAUSE_MS) {
    learning.givenPauseMs = Math.max(learning.givenPauseMs, pauseMs - awayMs);
  }
  learning.given = given;
  learning.givenBy = givenBy;
}

/** The pause before the next report is not one of what is learned. */
export function skipPause(learning: Learning): void {
  learning.givenBy = undefined;
  learning.givenPauseMs = 0;
}

/** @returns undefined: an event, which is not repeated at intervals */
export function contentOf({ device, kind, identifier }: Readonly<Place>): number | undefined {
  const what = identifier ?? kind;
  return kind === 'event' || what.length > MAX_CONTENT_LENGTH ? undefined : addCode(addCode(0, device), what);
}

/** @param content what a hearing begins with */
export function noteHearing(learning: Learning, content: number | undefined): void {
  learning.last = content;
  if (content === undefined) {
    return;
  }
  const at = indexOf(learning, content);
  if (at >= 0) {
    learning.contents = learning.contents.with(at, more(learning.contents[at] as number, OFTEN));
  } else if (learning.contents.length < MAX_CONTENTS) {
    learning.contents = [...learning.contents, content * TIMES + 1];
  }
}

/** @param content of a report that goes on with a burst; copies of it come by several gateways */
export function noteAgain(learning: Learning, content: number | undefined): void {
  const at = indexOf(learning, content);
  if (at >= 0) {
    learning.contents = learning.contents.with(at, more(learning.contents[at] as number, 2));
  }
}

/** What repeats at a time of its own comes once in a round: before that is over, its longest pause may be still to come. */
export const isRoundOver = ({ contents }: Readonly<Learning>): boolean =>
  contents.every((one) => one % TIMES >= 2) || contents.some((one) => one % TIMES >= OFTEN);

const more = (one: number, most: number): number => (one % TIMES < most ? one + 1 : one);

const indexOf = ({ contents }: Readonly<Learning>, content: number | undefined): number =>
  contents.findIndex((one) => Math.floor(one / TIMES) === content);

function addCode(code: number, text: string): number {
  let sum = code;
  for (let i = 0; i < text.length; i++) {
    sum = (sum * 1_000_003 + text.charCodeAt(i)) % CODES;
  }
  return sum;
}
