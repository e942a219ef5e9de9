// A bounded map in the order in which its entries were touched last; each step in constant time, none allocates.

/** An entry carries its own neighbours. */
export interface RecencyEntry<T> {
  readonly id: string;
  /** Of the map alone. */
  newer: T | undefined;
  older: T | undefined;
}

export class RecencyMap<T extends RecencyEntry<T>> {
  readonly #max: number;
  readonly #map = new Map<string, T>();
  #newest: T | undefined;
  #oldest: T | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#map.size;
  }

  get oldest(): T | undefined {
    return this.#oldest;
  }

  get(id: string): T | undefined {
    return this.#map.get(id);
  }

  /** Adds one that is not there yet, as the newest. @returns the least recent, which it has pushed out */
  add(entry: T): T | undefined {
    const pushedOut = this.#map.size >= this.#max ? this.#oldest : undefined;
    if (pushedOut) {
      this.delete(pushedOut);
    }
    this.#map.set(entry.id, entry);
    this.#append(entry);
    return pushedOut;
  }

  /** Takes out one that is there. */
  delete(entry: T): void {
    this.#map.delete(entry.id);
    this.#unlink(entry);
  }

  /** Makes one that is there the newest. */
  touch(entry: T): void {
    if (entry !== this.#newest) {
      this.#unlink(entry);
      this.#append(entry);
    }
  }

  *newestFirst(): Generator<T> {
    for (let at = this.#newest; at !== undefined; at = at.older) {
      yield at;
    }
  }

  *oldestFirst(): Generator<T> {
    for (let at = this.#oldest; at !== undefined; at = at.newer) {
      yield at;
    }
  }

  #append(entry: T): void {
    const before = this.#newest;
    entry.older = before;
    if (before === undefined) {
      this.#oldest = entry;
    } else {
      before.newer = entry;
    }
    this.#newest = entry;
  }

  #unlink(entry: T): void {
    const { newer, older } = entry;
    if (newer === undefined) {
      this.#newest = older;
    } else {
      newer.older = older;
    }
    if (older === undefined) {
      this.#oldest = newer;
    } else {
      older.newer = newer;
    }
    entry.newer = undefined;
    entry.older = undefined;
  }
}
