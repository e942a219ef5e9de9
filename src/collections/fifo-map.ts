// A bounded map: a new entry pushes out the one that was added first, in constant time.
import { type Linked, LinkedList } from './linked-list.ts';

interface Entry<V> extends Linked<Entry<V>> {
  key: string;
  value: V;
}

export class FifoMap<V> {
  readonly #max: number;
  readonly #map = new Map<string, Entry<V>>();
  /** An iterator of the map that goes on where it was would keep all that was in the map meanwhile. */
  readonly #list = new LinkedList<Entry<V>>();

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#map.size >= this.#max;
  }

  get(key: string): V | undefined {
    return this.#map.get(key)?.value;
  }

  /** Adds it as the newest, in place of one with this key. @returns the entry that was pushed out */
  add(key: string, value: V): [string, V] | undefined {
    this.delete(key);
    const pushedOut = this.isFull ? this.#list.first : undefined;
    if (pushedOut) {
      this.delete(pushedOut.key);
    }
    const entry = { key, value, before: undefined, after: undefined, list: undefined };
    this.#map.set(key, entry);
    this.#list.add(entry);
    return pushedOut && [pushedOut.key, pushedOut.value];
  }

  /** What is added again after it is the newest. */
  delete(key: string): void {
    const entry = this.#map.get(key);
    if (entry) {
      this.#map.delete(key);
      this.#list.delete(entry);
    }
  }

  /** The first that was added first. */
  *entries(): Generator<[string, V]> {
    for (const { key, value } of this.#list) {
      yield [key, value];
    }
  }
}
