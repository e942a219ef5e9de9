// Lets only so many calls be under way at a time; the others wait in the order in which they came, each step in constant time.
import { ServiceError } from '../errors.ts';
import { SignalGroups } from './signal-groups.ts';

type Start = () => void;

/** What ends who waits with a signal: one node may have hundreds of calls that wait at many semaphores. */
const STOPS = new SignalGroups<() => void>((stops) => {
  for (const stop of stops) {
    stop();
  }
});

/**
 * Permits for `max` holders. Who waits is not counted here: its user bounds it.
 *
 * Who has held a permit before (`isAgain`: the next attempt of a call) goes ahead of who has not, so that new calls do
 * not delay old ones further.
 */
export class Semaphore {
  readonly #max: number;
  readonly #again = new Set<Start>();
  readonly #new = new Set<Start>();
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a free permit, to be given back by `release`; false when there is none. */
  tryAcquire(): boolean {
    if (this.#taken >= this.#max) {
      return false;
    }
    this.#taken++;
    return true;
  }

  /** Does the work with a permit, which may have to be waited for. @throws CLOSED when the signal is aborted meanwhile */
  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    if (!this.tryAcquire()) {
      await this.wait(signal, false);
    }
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  /**
   * Resolves with the next permit that becomes free.
   * @throws CLOSED when the signal is aborted
   */
  wait(signal: AbortSignal, isAgain: boolean): Promise<void> {
    const queue = isAgain ? this.#again : this.#new;
    return new Promise((resolve, reject) => {
      const close = () => reject(new ServiceError('CLOSED', 'stopped'));
      if (signal.aborted) {
        return close();
      }
      const stops = STOPS.of(signal);
      const start = () => {
        stops.delete(stop);
        STOPS.release(signal);
        resolve();
      };
      const stop = () => {
        queue.delete(start);
        close();
      };
      stops.add(stop);
      queue.add(start);
    });
  }

  release(): void {
    const queue = this.#again.size > 0 ? this.#again : this.#new;
    const [next] = queue;
    if (!next) {
      this.#taken--;
      return;
    }
    queue.delete(next);
    next();
  }
}
