// A list whose items carry their own links: adding and removing one takes constant time and no further memory.

/** What an item of a list has; it is in one list at a time. */
export interface Linked<T extends Linked<T>> {
  before: T | undefined;
  after: T | undefined;
  list: LinkedList<T> | undefined;
}

export class LinkedList<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#first;
  }

  get last(): T | undefined {
    return this.#last;
  }

  has(item: T): boolean {
    return item.list === this;
  }

  /** Adds it at the end; nothing happens when it is there. */
  add(item: T): void {
    if (this.has(item)) {
      return;
    }
    item.list = this;
    item.before = this.#last;
    if (this.#last) {
      this.#last.after = item;
    } else {
      this.#first = item;
    }
    this.#last = item;
    this.#size++;
  }

  /** @returns false: it is not there */
  delete(item: T): boolean {
    if (!this.has(item)) {
      return false;
    }
    const { before, after } = item;
    if (before) {
      before.after = after;
    } else {
      this.#first = after;
    }
    if (after) {
      after.before = before;
    } else {
      this.#last = before;
    }
    item.before = undefined;
    item.after = undefined;
    item.list = undefined;
    this.#size--;
    return true;
  }

  clear(): void {
    for (const item of this) {
      this.delete(item);
    }
  }

  /** The one that is given may be removed meanwhile, others may not. */
  *[Symbol.iterator](): Generator<T> {
    let item = this.#first;
    while (item) {
      const { after } = item;
      yield item;
      item = after;
    }
  }
}
