// Deadlines in order, as a binary heap: the first one in constant time, each change in logarithmic time.

/** Who has a deadline; all of it belongs to the heap. */
export interface Scheduled {
  /** In the unit of the heap's user. */
  deadline: number;
  /** Of two with the same deadline that which got it first comes first. */
  order: number;
  /** The place in the heap; -1: not in it. */
  place: number;
}

export class DeadlineHeap<T extends Scheduled> {
  readonly #entries: T[] = [];
  #order = 0;

  get size(): number {
    return this.#entries.length;
  }

  get first(): T | undefined {
    return this.#entries[0];
  }

  /** Adds an entry, or gives it another deadline. */
  set(entry: T, deadline: number): void {
    entry.deadline = deadline;
    entry.order = this.#order++;
    if (entry.place < 0) {
      entry.place = this.#entries.length;
      this.#entries.push(entry);
    }
    this.#sink(this.#rise(entry.place));
  }

  /** Nothing happens where it is not in the heap. */
  remove(entry: T): void {
    const { place } = entry;
    if (place < 0) {
      return;
    }
    entry.place = -1;
    const last = this.#entries.pop() as T;
    if (last !== entry) {
      this.#put(last, place);
      this.#sink(this.#rise(place));
    }
  }

  #rise(start: number): number {
    let at = start;
    const entry = this.#entries[at] as T;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#entries[above] as T;
      if (!isBefore(entry, parent)) {
        break;
      }
      this.#put(parent, at);
      at = above;
    }
    this.#put(entry, at);
    return at;
  }

  #sink(start: number): void {
    let at = start;
    const entry = this.#entries[at] as T;
    for (;;) {
      const left = 2 * at + 1;
      const [one, other] = [this.#entries[left], this.#entries[left + 1]];
      const child = one && other && isBefore(other, one) ? other : one;
      if (child === undefined || !isBefore(child, entry)) {
        break;
      }
      const below = child.place;
      this.#put(child, at);
      at = below;
    }
    this.#put(entry, at);
  }

  #put(entry: T, place: number): void {
    this.#entries[place] = entry;
    entry.place = place;
  }
}

const isBefore = (one: Scheduled, other: Scheduled): boolean =>
  one.deadline < other.deadline || (one.deadline === other.deadline && one.order < other.order);
