// Calls that change the same thing, one after the other in the order in which they came.
import { unlessAborted } from './abort.ts';

/** Keeps nothing of a key when nobody works on it; how many may wait is for the caller to limit. */
export class KeyedOrder {
  readonly #last = new Map<string, Promise<void>>();

  /** Keys that somebody works on or waits for. */
  get size(): number {
    return this.#last.size;
  }

  /**
   * Does the work when all earlier work of this key has ended, however it did.
   * @param signal aborted: the waiting ends with CLOSED; work that has begun looks at its signal itself
   */
  async run<Result>(key: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key);
    let end = (): void => undefined;
    const own = new Promise<void>((resolve) => {
      end = resolve;
    });
    // Who gives up waiting does not let those behind overtake those ahead.
    const last = before === undefined ? own : before.then(() => own);
    this.#last.set(key, last);
    try {
      if (before !== undefined) {
        await unlessAborted(before, signal);
      }
      return await work();
    } finally {
      end();
      void last.then(() => this.#last.get(key) === last && this.#last.delete(key));
    }
  }
}
