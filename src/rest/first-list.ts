// Queries that wait for the first list of devices, very many of one node: together, since a signal has to look through all who listen to it.
import { ServiceError } from '../errors.ts';
import { unlessAborted } from './abort.ts';

/** As many as calls may wait. */
const MAX_WAITING = 10_000;

export class FirstList<List> {
  readonly #waits = new WeakMap<AbortSignal, Promise<List>>();
  #waiting = 0;

  /** @throws QUEUE_FULL when too many others wait; CLOSED when the signal is aborted; what the fetch threw */
  async wait(signal: AbortSignal, fetch: () => Promise<List>): Promise<List> {
    if (this.#waiting >= MAX_WAITING) {
      throw new ServiceError('QUEUE_FULL', 'waiting', { limit: MAX_WAITING }, { limit: MAX_WAITING });
    }
    this.#waiting++;
    try {
      return await this.#together(signal, fetch);
    } finally {
      this.#waiting--;
    }
  }

  #together(signal: AbortSignal, fetch: () => Promise<List>): Promise<List> {
    const known = this.#waits.get(signal);
    if (known !== undefined) {
      return known;
    }
    const wait = unlessAborted(fetch(), signal).finally(() => this.#waits.delete(signal));
    this.#waits.set(signal, wait);
    return wait;
  }
}
