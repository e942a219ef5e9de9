// A bounded map in the order in which its entries were touched last; each step in constant time, none allocates.
import { type Linked, LinkedList } from './linked-list.ts';

export interface RecencyEntry<T extends RecencyEntry<T>> extends Linked<T> {
  readonly id: string;
}

export class RecencyMap<T extends RecencyEntry<T>> {
  readonly #max: number;
  readonly #map = new Map<string, T>();
  /** The least recent first. */
  readonly #list = new LinkedList<T>();

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#map.size;
  }

  get oldest(): T | undefined {
    return this.#list.first;
  }

  get(id: string): T | undefined {
    return this.#map.get(id);
  }

  /** Adds one that is not there yet, as the newest. @returns the least recent, which it has pushed out */
  add(entry: T): T | undefined {
    const pushedOut = this.#map.size >= this.#max ? this.oldest : undefined;
    if (pushedOut) {
      this.delete(pushedOut);
    }
    this.#map.set(entry.id, entry);
    this.#list.add(entry);
    return pushedOut;
  }

  /** Takes out one that is there. */
  delete(entry: T): void {
    this.#map.delete(entry.id);
    this.#list.delete(entry);
  }

  /** Makes one that is there the newest. */
  touch(entry: T): void {
    if (entry !== this.#list.last) {
      this.#list.delete(entry);
      this.#list.add(entry);
    }
  }

  *newestFirst(): Generator<T> {
    for (let entry = this.#list.last; entry !== undefined; entry = entry.before) {
      yield entry;
    }
  }

  oldestFirst(): Iterable<T> {
    return this.#list;
  }
}
