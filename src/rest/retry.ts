// When a call is worth another attempt, and how long to wait for it.
import { type Phrase, ServiceError, showDuration } from '../errors.ts';
import { NetworkError } from './faults.ts';
import type { HttpResponse } from './http.ts';

/**
 * `repeatable`: doing it twice is doing it once (GET, PUT, DELETE, the login).
 * `careful`: repeated only when the service says that it did nothing (POST, PATCH).
 */
export type Repeat = 'repeatable' | 'careful';

export function repeatOf(method: string): Repeat {
  return method === 'POST' || method === 'PATCH' ? 'careful' : 'repeatable';
}

const REPEATABLE_STATUS = new Set([429, 502, 503, 504]);
const CAREFUL_STATUS = new Set([429, 503]);
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;
/** A service that asks for more patience than this gets no further attempt from this call, and none too early either. */
export const MAX_RETRY_AFTER_MS = 120_000;
/** By how much of itself a wait that the service asked for may get longer. */
const SPREAD_SHARE = 1 / 8;

/**
 * @param outcome the response, or what was thrown instead
 * @param attempt how many retries there were before: 0, 1, …
 * @returns milliseconds to wait before the next attempt; undefined: this is the end
 */
export function retryDelay(
  outcome: HttpResponse | Error,
  repeat: Repeat,
  attempt: number,
  now: number,
  random: () => number = Math.random,
): number | undefined {
  const backoff = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt) * (1 + random() / 2);
  if (outcome instanceof Error) {
    return repeat === 'repeatable' && isPassing(outcome) ? backoff : undefined;
  }
  const asked = retryAfter(outcome, now);
  const statuses = repeat === 'careful' ? CAREFUL_STATUS : REPEATABLE_STATUS;
  if (!statuses.has(outcome.statusCode) || (repeat === 'careful' && asked === undefined)) {
    return undefined;
  }
  if (asked === undefined) {
    return backoff;
  }
  return asked > MAX_RETRY_AFTER_MS ? undefined : Math.max(spread(asked, random), backoff);
}

/**
 * For the text of an error: how long the service asked to wait, where no call waits for so long.
 * @param wasLost the call was sent before, and may have been carried out
 */
export function refusedWait(response: HttpResponse, now: number, wasLost = false): Phrase | '' {
  const asked = retryAfter(response, now) ?? 0;
  const heldBack = wasLost ? 'reason.heldBackAgain' : 'reason.heldBack';
  const key = response.isOfEarlier ? heldBack : 'reason.asksToWait';
  return REPEATABLE_STATUS.has(response.statusCode) && asked > MAX_RETRY_AFTER_MS
    ? { key, values: { wait: showDuration(1_000 * Math.ceil(asked / 1_000)) } }
    : '';
}

/** A wait that the service asked for, or a little more: who waits for the same should not come back in one instant. */
export function spread(ms: number, random: () => number = Math.random): number {
  return ms * (1 + random() * SPREAD_SHARE);
}

/**
 * Whether the service may have done what was asked although its response did not come: the response was lost on its way, or a
 * machine in between answered instead. With `Retry-After` a 503 says that nothing was done.
 */
export function isLost(outcome: HttpResponse | Error): boolean {
  if (outcome instanceof Error) {
    return outcome instanceof NetworkError && outcome.wasSent;
  }
  const { statusCode, headers } = outcome;
  return statusCode === 502 || statusCode === 504 || (statusCode === 503 && !headers['retry-after']);
}

/** Errors of calls with a lost response before. Flows do not see it. */
const AFTER_LOSS = new WeakSet<Error>();

/** The service may have carried out the call that has ended so. */
export const noteLost = (error: Error): void => void AFTER_LOSS.add(error);

/** See `noteLost`. */
export const isAfterLoss = (error: Error): boolean => AFTER_LOSS.has(error);

/**
 * What is not accepted will not be accepted in a second either: a certificate, anything by a proxy, or a server's way to
 * answer, which may have carried out what was asked.
 */
const LASTING = new Set(
  [
    ...['certificate', 'continue', 'proxyLogin', 'proxyRefused', 'proxyNoTunnel'],
    ...['ownCertificate', 'ownKey', 'ownPassphrase', 'ownPair', 'ownFiles'],
  ].map((reason) => `NETWORK.${reason}`),
);

function isPassing(error: Error): boolean {
  return error instanceof ServiceError && error.code === 'NETWORK' && !LASTING.has(error.text.key);
}

/** Milliseconds from `Retry-After`, given in seconds or as a date; undefined when absent or unreadable. */
export function retryAfter({ headers }: HttpResponse, now: number): number | undefined {
  const value = headers['retry-after'];
  if (typeof value !== 'string') {
    return undefined;
  }
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) {
    return Number(text) * 1000;
  }
  const date = readDate(text);
  // The service's own clock where it tells it: ours may be wrong.
  return date === undefined ? undefined : Math.max(0, date - (readDate(headers.date) ?? now));
}

function readDate(value: unknown): number | undefined {
  const date = typeof value === 'string' && /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : date;
}
