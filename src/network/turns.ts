// Long work in turns, between which reports and timers have theirs.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '../errors.ts';
import { type KeyedValue, sortByKey } from './last-values.ts';

/** Milliseconds that one turn takes, about. */
const TURN_MS = 10;
/** So many are sorted in a few milliseconds. */
const PART_LENGTH = 5_000;

/** @throws ServiceError `CLOSED` */
export function throwIfClosed(signal: AbortSignal): void {
  if (signal.aborted) {
    throw new ServiceError('CLOSED', 'stopped');
  }
}

export class Turns {
  readonly #signal: AbortSignal | undefined;
  #began = performance.now();

  /** @param signal ends the work; undefined: it is always done */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
  }

  /** Call it after each step: undefined while there is time left. @throws ServiceError `CLOSED` */
  next(): Promise<void> | undefined {
    return performance.now() - this.#began < TURN_MS ? undefined : this.#wait();
  }

  async #wait(): Promise<void> {
    await nextTurn();
    if (this.#signal) {
      throwIfClosed(this.#signal);
    }
    this.#began = performance.now();
  }
}

/** As `sortByKey`. @throws ServiceError `CLOSED` */
export async function sortInTurns(values: readonly KeyedValue[], turns: Turns): Promise<KeyedValue[]> {
  let parts: KeyedValue[][] = [];
  for (let at = 0; at < values.length; at += PART_LENGTH) {
    parts.push(sortByKey(values.slice(at, at + PART_LENGTH)));
    await turns.next();
  }
  while (parts.length > 1) {
    const merged: KeyedValue[][] = [];
    for (let i = 0; i < parts.length; i += 2) {
      const [one, other] = [parts[i] as KeyedValue[], parts[i + 1]];
      merged.push(other ? await merge(one, other, turns) : one);
    }
    parts = merged;
  }
  return parts[0] ?? [];
}

async function merge(one: KeyedValue[], other: KeyedValue[], turns: Turns): Promise<KeyedValue[]> {
  const merged: KeyedValue[] = [];
  let [i, j] = [0, 0];
  for (;;) {
    const [a, b] = [one[i], other[j]];
    if (a === undefined || b === undefined) {
      return merged.concat(one.slice(i), other.slice(j));
    }
    if (a[0] <= b[0]) {
      merged.push(a);
      i++;
    } else {
      merged.push(b);
      j++;
    }
    if (merged.length % PART_LENGTH === 0) {
      await turns.next();
    }
  }
}
