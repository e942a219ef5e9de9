// Lets only so many calls run at a time; the others wait in the order in which they came.
import { ServiceError } from '../errors.ts';

interface Waiting {
  start(): void;
}

/** At most `most` holders at a time and `mostWaiting` behind them. */
export class Slots {
  readonly #most: number;
  readonly #mostWaiting: number;
  readonly #waiting = new Set<Waiting>();
  #taken = 0;

  constructor(most: number, mostWaiting: number) {
    this.#most = most;
    this.#mostWaiting = mostWaiting;
  }

  /** Takes a free slot, to be given back by `release`; false when there is none. */
  tryTake(): boolean {
    if (this.#taken >= this.#most) return false;
    this.#taken++;
    return true;
  }

  /**
   * Resolves with the next slot that becomes free.
   * @throws QUEUE_FULL when too many wait; CLOSED when the signal is aborted meanwhile
   */
  async wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#mostWaiting) {
      const limit = { limit: this.#mostWaiting };
      throw new ServiceError('QUEUE_FULL', 'waiting', limit, limit);
    }
    return this.#queue(signal);
  }

  release(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#taken--;
      return;
    }
    this.#waiting.delete(next);
    next.start();
  }

  #queue(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(place);
        reject(new ServiceError('CLOSED', 'stopped'));
      };
      const place = {
        start() {
          signal.removeEventListener('abort', stop);
          resolve();
        },
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.add(place);
    });
  }
}
