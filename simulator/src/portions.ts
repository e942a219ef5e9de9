// Work that can be done in portions, so that a large network is built without holding up everything else of the process.
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work that yields after each of its steps, and returns what comes of it. */
export type Steps<T> = Generator<void, T, void>;

/** So many devices are made in a few milliseconds. */
const STEPS_AT_A_TIME = 100;

/** Does the work, and lets everything else have its turn in between. */
export async function inPortions<T>(work: Steps<T>): Promise<T> {
  for (let steps = 1; ; steps++) {
    const { done, value } = work.next();
    if (done) {
      return value;
    }
    if (steps % STEPS_AT_A_TIME === 0) {
      await nextTurn();
    }
  }
}
