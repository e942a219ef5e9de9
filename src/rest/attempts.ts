// The attempts of a call: how many are under way at a time, what a server has asked to wait for, and repetitions.
import { Semaphore } from '../collections/semaphore.ts';
import type { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { unlessAborted } from './abort.ts';
import { Hold } from './hold.ts';
import type { HttpAgent, HttpRequest, HttpResponse } from './http.ts';
import { reasonOf } from './reasons.ts';
import { isLost, type Repeat, retryDelay } from './retry.ts';
import type { Clock } from './types.ts';

/** The service's rate limits are not shown: no more than this at a time. */
export const MAX_CONCURRENT_CALLS = 4;

/** What is known of a call while it goes on. */
export interface Call {
  readonly repeat: Repeat;
  readonly signal: AbortSignal | undefined;
  readonly isLogin: boolean;
  /** An attempt may have been carried out, though its response did not come. */
  isLost: boolean;
  /** It has had its turn before, so its next attempt goes ahead of new calls. */
  isAgain: boolean;
  /** When the token of its request ends, in milliseconds of the clock; undefined: it has none. */
  tokenEndsAt?: number;
}

interface Attempt {
  request: HttpRequest;
  outcome: HttpResponse | Error;
}

interface AttemptsContext {
  http: HttpAgent;
  clock: Clock;
  log: Logger;
  /** Repetitions after the first attempt. */
  retries: number;
  /** Waits with the caller's signal or the client's closing, whichever is first. */
  either: (signal: AbortSignal | undefined, wait: (either: AbortSignal) => Promise<void>) => Promise<void>;
  /** A call is tried again after a while. */
  waiting: (reason: string) => void;
}

export class Attempts {
  readonly #http: HttpAgent;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #retries: number;
  readonly #either: AttemptsContext['either'];
  readonly #waiting: AttemptsContext['waiting'];
  readonly #semaphore = new Semaphore(MAX_CONCURRENT_CALLS);
  /** By the origin that asked for it: the login may be elsewhere. */
  readonly #holds = new Map<string, Hold>();

  constructor({ http, clock, log, retries, either, waiting }: AttemptsContext) {
    this.#http = http;
    this.#clock = clock;
    this.#log = log;
    this.#retries = retries;
    this.#either = either;
    this.#waiting = waiting;
  }

  /**
   * @param prepare makes the request of each attempt, since a token may be renewed between two
   * @throws ServiceError `NETWORK`, `CLOSED`, and what `prepare` throws
   */
  async run(call: Call, prepare: () => Promise<HttpRequest>): Promise<HttpResponse> {
    for (let attempt = 0; ; attempt++) {
      const { request, outcome } = await this.#attempt(call, prepare);
      if (isLost(outcome)) {
        call.isLost = true;
      }
      const delay = retryDelay(outcome, call.repeat, attempt, this.#clock.now());
      if (delay === undefined || attempt >= this.#retries) {
        if (outcome instanceof Error) {
          throw outcome;
        }
        return outcome;
      }
      // No other error is worth another attempt.
      const reason =
        outcome instanceof Error ? reasonOf(outcome as ServiceError) : String(outcome.statusCode);
      this.#log.trace(`${request.method} failed (${reason}), again in ${Math.round(delay)} ms`);
      this.#waiting(reason);
      await this.#wait(delay, call.signal);
    }
  }

  /** A line may last longer than a token. One that has ended when it comes is sent all the same, or logins would not end. */
  async #attempt(call: Call, prepare: () => Promise<HttpRequest>): Promise<Attempt> {
    for (;;) {
      const request = await prepare();
      const { tokenEndsAt = 0 } = call;
      const sendBefore = tokenEndsAt > this.#clock.now() ? tokenEndsAt : Number.POSITIVE_INFINITY;
      const outcome = await this.#inTurn(request, call, sendBefore);
      if (outcome !== undefined) {
        return { request, outcome };
      }
    }
  }

  /**
   * Only what is under way, or is next, holds a permit. The usual way costs no signal of its own: lists are long.
   * @returns undefined: its token had ended when its turn came
   */
  async #inTurn(
    request: HttpRequest,
    call: Call,
    sendBefore: number,
  ): Promise<HttpResponse | Error | undefined> {
    if (!this.#semaphore.tryAcquire()) {
      await this.#either(call.signal, (either) => this.#semaphore.wait(either, call.isAgain));
    }
    call.isAgain = true;
    try {
      return await this.#sendWhenAllowed(request, call, sendBefore);
    } catch (error) {
      return error as Error;
    } finally {
      this.#semaphore.release();
    }
  }

  /** Waiting for the time that the service named to another call uses up no attempt. */
  async #sendWhenAllowed(
    request: HttpRequest,
    { signal, isLogin }: Call,
    sendBefore: number,
  ): Promise<HttpResponse | undefined> {
    const hold = this.#holds.get(request.origin) ?? new Hold();
    this.#holds.set(request.origin, hold);
    while (hold.isOn(this.#clock.now())) {
      const { refusal } = hold;
      if (refusal) {
        return refusal;
      }
      await this.#wait(hold.wait(this.#clock.now()), signal);
    }
    if (this.#clock.now() >= sendBefore) {
      return undefined;
    }
    const response = await this.#http.send(request, signal);
    // What a login was answered with may show the password, so it is no answer to other calls.
    hold.note(isLogin ? { ...response, body: '' } : response, this.#clock.now());
    return response;
  }

  #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return this.#either(signal, (either) => unlessAborted(this.#clock.wait(ms, either), either));
  }
}
