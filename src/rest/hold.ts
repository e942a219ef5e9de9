// What a server asks for with Retry-After holds for every call to it, not only for the one that was answered so.
import type { HttpResponse } from './http.ts';
import { MAX_RETRY_AFTER_MS, retryAfter, spread } from './retry.ts';

/** After this it is asked again, whatever it said: nobody waits for a service that means days. */
const MAX_HOLD_MS = 300_000;

/**
 * One server. From the first 429 or 503 with `Retry-After` until the time that it names nothing is sent. Where that is further away
 * than a call waits for, calls are answered as that one was, without asking.
 */
export class Hold {
  #until = Number.NEGATIVE_INFINITY;
  #refusal: HttpResponse | undefined;

  note(response: HttpResponse, now: number): void {
    const { statusCode } = response;
    const asked = statusCode === 429 || statusCode === 503 ? (retryAfter(response, now) ?? 0) : 0;
    const until = now + Math.min(asked, MAX_HOLD_MS);
    if (until <= this.#until) {
      return;
    }
    this.#until = until;
    this.#refusal = asked > MAX_RETRY_AFTER_MS ? { ...response, isOfEarlier: true } : undefined;
  }

  isOn(now: number): boolean {
    return now < this.#until;
  }

  /** While it is on: the response to every call; undefined where calls wait. */
  get refusal(): HttpResponse | undefined {
    return this.#refusal;
  }

  /** While it is on: milliseconds, a little different for each who asks, so that not all go on in the same instant. */
  wait(now: number): number {
    return spread(this.#until - now);
  }
}
