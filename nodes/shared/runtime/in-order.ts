// Keeps messages in the order in which they came, where what they wait for takes differently long.
import { ServiceError } from '../../../src/index.ts';

/** A source that answers slower than messages come would have ever more of them wait. */
const MAX_WAITING = 100_000;

export class InOrder {
  #last: Promise<void> | undefined;
  #waiting = 0;

  /** Nothing waits here. */
  get isIdle(): boolean {
    return this.#waiting === 0;
  }

  /**
   * @param pending settles at some time, whatever happens: what does not holds up all behind it
   * @returns what comes of it, or why nothing does, not before that of what was given earlier; rejects with `QUEUE_FULL`
   *   where too many wait
   */
  add<T>(pending: Promise<T>): Promise<T> {
    // It may fail while it waits for those before it.
    pending.catch(() => undefined);
    if (this.#waiting >= MAX_WAITING) {
      const limit = { limit: MAX_WAITING };
      return Promise.reject(new ServiceError('QUEUE_FULL', 'messages', limit, limit));
    }
    this.#waiting++;
    const result = this.#last === undefined ? pending : this.#last.then(() => pending);
    const end = () => {
      this.#waiting--;
    };
    this.#last = result.then(end, end);
    return result;
  }
}
