// A bounded map in the order in which its entries were touched last; each step in constant time on average, none allocates.
import { type Linked, LinkedList } from './linked-list.ts';

export interface RecencyEntry<T extends RecencyEntry<T>> extends Linked<T> {
  readonly id: string;
}

export class RecencyMap<T extends RecencyEntry<T>> {
  readonly #max: number;
  readonly #map = new Map<string, T>();
  /** The least recent first. */
  readonly #list = new LinkedList<T>();
  readonly #isPasserBy: (entry: T) => boolean;
  /** Those that are less recent were none. */
  #firstPasserBy: T | undefined;

  /** @param isPasserBy such entries are pushed out first; one that was none becomes one after those that are less recent */
  constructor(max: number, isPasserBy: (entry: T) => boolean = () => true) {
    this.#max = max;
    this.#isPasserBy = isPasserBy;
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

  /** @returns which one the next that is added pushes out: of the passers-by the least recent, else that of all; undefined: none */
  findNextOut(): T | undefined {
    if (this.#map.size < this.#max) {
      return undefined;
    }
    if (this.oldest && this.#isPasserBy(this.oldest)) {
      return this.oldest;
    }
    while (this.#firstPasserBy && !this.#isPasserBy(this.#firstPasserBy)) {
      this.#firstPasserBy = this.#firstPasserBy.after;
    }
    return this.#firstPasserBy ?? this.oldest;
  }

  /** Adds one that is not there yet, as the newest. @returns which one it has pushed out */
  add(entry: T): T | undefined {
    const pushedOut = this.findNextOut();
    if (pushedOut) {
      this.delete(pushedOut);
    }
    this.#map.set(entry.id, entry);
    this.#list.add(entry);
    this.#firstPasserBy ??= entry;
    return pushedOut;
  }

  /** Takes out one that is there. */
  delete(entry: T): void {
    this.#map.delete(entry.id);
    this.#takeOut(entry);
  }

  /** Makes one that is there the newest. */
  touch(entry: T): void {
    if (entry !== this.#list.last) {
      this.#takeOut(entry);
      this.#list.add(entry);
      this.#firstPasserBy ??= entry;
    }
  }

  #takeOut(entry: T): void {
    if (entry === this.#firstPasserBy) {
      this.#firstPasserBy = entry.after;
    }
    this.#list.delete(entry);
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
