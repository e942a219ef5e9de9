// A bounded map: a new entry pushes out the one that was added first, in constant time.

export class FifoMap<V> {
  readonly #max: number;
  readonly #map = new Map<string, V>();
  /** Goes on where it was when the map changes: what comes next was added first. */
  readonly #oldest = this.#map.entries();

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#map.size >= this.#max;
  }

  get(key: string): V | undefined {
    return this.#map.get(key);
  }

  /** Adds one that is not there. @returns the entry that was pushed out */
  add(key: string, value: V): [string, V] | undefined {
    const pushedOut = this.isFull ? this.#oldest.next().value : undefined;
    if (pushedOut) {
      this.#map.delete(pushedOut[0]);
    }
    this.#map.set(key, value);
    return pushedOut;
  }

  /** What is added again after it is the newest. */
  delete(key: string): void {
    this.#map.delete(key);
  }

  entries(): Iterable<[string, V]> {
    return this.#map;
  }
}
