// Acknowledges each timestamped sample once a minute at most, unless it failed.

import { SignalGroups } from '../collections/signal-groups.ts';
import { ServiceError } from '../errors.ts';
import { MAX_TIMER_MS } from './deadlines.ts';
import { queueFull } from './request-errors.ts';

const REMEMBERED_MS = 60_000;
/** Beyond it the oldest are forgotten, and would be sent once more. */
const MAX_REMEMBERED = 100_000;
/** Of those who have joined another's acknowledgement; this only bounds memory. */
const MAX_JOINED = 100_000;

export interface Sending<Outcome> {
  /** It has left the line. */
  sent: Promise<unknown>;
  /** The broker has the acknowledgement. */
  delivered: Promise<unknown>;
  /** The response with status 0 has come. */
  responded: Promise<Outcome>;
}

/** One who joins another's acknowledgement waits no longer than it would for its own. */
export interface WaitLimits {
  /** Ends the waiting with CLOSED. */
  signal?: AbortSignal;
  /** Milliseconds. */
  timeout?: number;
  /** Its time counts anew from then on, in milliseconds of the clock: see `InboundQueue.readsSince`. */
  readsSince?: () => number;
  /** What the end of the time is told with. */
  timeoutError?: () => ServiceError;
  /** What it is told with when the other one has not left by then; undefined: that only waits for its turn. */
  unsentError?: () => ServiceError | undefined;
}

/** One who waits for others; times are milliseconds of the clock. */
interface Waiter {
  /** Its arrival, or the end of the last one that has left. */
  since: number;
  /** The end of its time, which begins when the first of them has left; infinite until then. */
  until: number;
  /** Called when the broker has what it waits for. */
  delivered: () => void;
}

interface Sent<Outcome> extends Sending<Outcome> {
  at: number;
  /** It has left the line. */
  isSent: boolean;
  /** The broker has it, or it failed. */
  isDelivered: boolean;
}

export class Acknowledgements<Outcome> {
  readonly #sent = new Map<string, Sent<Outcome>>();
  /** Ends the waiting of those who have joined another's acknowledgement. */
  readonly #joined = new SignalGroups<() => void>((stops) => {
    for (const stop of stops) {
      stop();
    }
  });
  #joinedCount = 0;
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#sent.size;
  }

  /**
   * Runs `send` for a sample that was not acknowledged within the last minute; otherwise the outcome of the first
   * time holds for this one too. When the first time fails, the next in line sends again.
   * @param send gets since when it waits to be sent, in milliseconds of the clock
   * @param wait true: resolves with the response; false: when the broker has it, with nothing
   * @param limitsOf of waiting for somebody else's, asked when it has to
   * @param delivered called when the broker has it, or has somebody else's; once more where it is sent again
   * @throws ServiceError `QUEUE_FULL` when too many wait for somebody else's
   */
  once(
    sample: string,
    wait: boolean,
    send: (since: number) => Sending<Outcome>,
    limitsOf: () => WaitLimits = () => ({}),
    delivered: () => void = () => {},
  ): Promise<Outcome | undefined> {
    this.#forgetOld();
    // Thousands may wait at once, and nearly all are the first of their sample: they cost no more than has to be.
    return this.#sent.has(sample)
      ? this.#onceMore(sample, wait, send, limitsOf(), delivered)
      : this.#begin(sample, wait, send(this.#now()), delivered);
  }

  #begin(
    sample: string,
    wait: boolean,
    sending: Sending<Outcome>,
    delivered: () => void,
  ): Promise<Outcome | undefined> {
    const sent = this.#remember(sample, sending, delivered);
    return wait ? sent.responded : sent.delivered.then(() => undefined);
  }

  /** Somebody has sent it: its own is sent where that one fails. */
  async #onceMore(
    sample: string,
    wait: boolean,
    send: (since: number) => Sending<Outcome>,
    limits: WaitLimits,
    delivered: () => void,
  ): Promise<Outcome | undefined> {
    const waiter = { since: this.#now(), until: Number.POSITIVE_INFINITY, delivered };
    for (;;) {
      this.#forgetOld();
      const earlier = this.#sent.get(sample);
      if (!earlier) {
        return this.#begin(sample, wait, send(waiter.since), delivered);
      }
      const joined = wait ? earlier.responded : earlier.delivered;
      const outcome = await this.#join(joined, earlier, waiter, limits);
      if (outcome.status === 'fulfilled') {
        return wait ? (outcome.value as Outcome) : undefined;
      }
      this.#forget(sample, earlier);
      if (earlier.isSent) {
        waiter.since = this.#now();
      }
    }
  }

  /** How it ended. @throws ServiceError `QUEUE_FULL`, or what the limits say */
  async #join<T>(
    outcome: Promise<T>,
    other: Sent<Outcome>,
    waiter: Waiter,
    limits: WaitLimits,
  ): Promise<PromiseSettledResult<T>> {
    if (this.#joinedCount >= MAX_JOINED) {
      throw queueFull(MAX_JOINED);
    }
    other.delivered.then(waiter.delivered, () => {});
    this.#joinedCount++;
    try {
      return await this.#settled(outcome, other, waiter, limits);
    } finally {
      this.#joinedCount--;
    }
  }

  /** How it ended. @throws what the limits say */
  #settled<T>(
    outcome: Promise<T>,
    other: Sent<Outcome>,
    waiter: Waiter,
    { signal, timeout, readsSince = () => 0, timeoutError, unsentError }: WaitLimits,
  ): Promise<PromiseSettledResult<T>> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      let isOver = false;
      const end = (settle: () => void) => {
        isOver = true;
        clearTimeout(timer);
        stay();
        settle();
      };
      const stay = this.#onAbort(signal, () => end(() => reject(new ServiceError('CLOSED', 'stopped'))));
      if (timeout !== undefined) {
        const endAfter = (wait: number, errorOf: (() => ServiceError | undefined) | undefined) => {
          clearTimeout(timer);
          if (isOver || !errorOf) {
            return;
          }
          const look = () => {
            // Before, what it waits for may have come.
            const left = readsSince() + timeout - this.#now();
            const error = left > 0 ? undefined : errorOf();
            if (left > 0) {
              endAfter(left, errorOf);
            } else if (error) {
              end(() => reject(error));
            }
          };
          timer = setTimeout(look, Math.min(Math.max(wait, 0), MAX_TIMER_MS));
        };
        // Where it has left already, what follows takes the place of this.
        endAfter(waiter.since + timeout - this.#now(), unsentError);
        void other.sent.then(() => {
          const now = this.#now();
          waiter.until = Math.min(waiter.until, now + timeout);
          endAfter(waiter.until - now, timeoutError);
        });
      }
      void Promise.allSettled([outcome]).then(([result]) => end(() => resolve(result)));
    });
  }

  /** @returns stops it */
  #onAbort(signal: AbortSignal | undefined, stop: () => void): () => void {
    if (!signal) {
      return () => {};
    }
    const joined = this.#joined.of(signal);
    joined.add(stop);
    if (signal.aborted) {
      queueMicrotask(stop);
    }
    return () => {
      joined.delete(stop);
      this.#joined.release(signal);
    };
  }

  #remember(sample: string, sending: Sending<Outcome>, delivered: () => void): Sending<Outcome> {
    const sent = { ...sending, at: this.#now(), isSent: false, isDelivered: false };
    this.#sent.set(sample, sent);
    void sending.sent.then(() => {
      sent.isSent = true;
    });
    const settle = () => {
      sent.isDelivered = true;
      delivered();
    };
    sent.delivered.then(settle, () => this.#forget(sample, sent));
    sent.responded.catch((error: unknown) => {
      // Without a response it may have arrived all the same, which is all that one who does not wait asks for.
      const isOpen = error instanceof ServiceError && error.code === 'TIMEOUT';
      if (!isOpen) {
        this.#forget(sample, sent);
      }
    });
    return sent;
  }

  #forget(sample: string, sent: Sent<Outcome>): void {
    if (this.#sent.get(sample) === sent) {
      this.#sent.delete(sample);
    }
  }

  /** Insertion order is age, so only the front is looked at. What still waits to be sent does not grow old. */
  #forgetOld(): void {
    const now = this.#now();
    for (const [sample, sent] of this.#sent) {
      const isYoung = sent.at > now - REMEMBERED_MS;
      if (isYoung && this.#sent.size < MAX_REMEMBERED) {
        return;
      }
      this.#sent.delete(sample);
      if (isYoung || sent.isDelivered) {
        continue;
      }
      sent.at = now;
      this.#sent.set(sample, sent);
    }
  }
}
