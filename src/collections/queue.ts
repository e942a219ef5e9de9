// First in, first out: each step in constant time on average, with at most half of the memory unused.

/** Below this nothing is gained by giving unused memory back. */
const MIN_COMPACTED = 256;

export class Queue<T> {
  /** None where the queue is empty: `#compact` sees to it. */
  #items: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  get first(): T | undefined {
    return this.#items[this.#head];
  }

  get last(): T | undefined {
    return this.#items.at(-1);
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    this.#compact();
    return item;
  }

  pop(): T | undefined {
    const item = this.#items.pop();
    this.#compact();
    return item;
  }

  /** Removes what does not pass; linear. */
  filter(passes: (item: T) => boolean): void {
    this.#items = [...this].filter(passes);
    this.#head = 0;
  }

  /** @returns all items, which are not in the queue any more */
  clear(): T[] {
    const items = [...this];
    this.#items = [];
    this.#head = 0;
    return items;
  }

  *[Symbol.iterator](): Generator<T> {
    for (let i = this.#head; i < this.#items.length; i++) {
      yield this.#items[i] as T;
    }
  }

  #compact(): void {
    if (this.size === 0) {
      this.#items.length = 0;
    } else if (this.#head >= MIN_COMPACTED + this.size) {
      this.#items = this.#items.slice(this.#head);
    } else {
      return;
    }
    this.#head = 0;
  }
}
