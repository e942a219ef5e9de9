// Sets by key; one that becomes empty is forgotten.

const NONE: ReadonlySet<never> = new Set();

/** Values are no sets themselves. */
export class SetMap<K, V> {
  /** A value that is alone is there without a set: most are, and they come and go with each report. */
  readonly #sets = new Map<K, V | Set<V>>();

  /** What is there of the key; empty when there is nothing. */
  of(key: K): ReadonlySet<V> {
    const there = this.#sets.get(key);
    if (there === undefined) {
      return NONE;
    }
    return there instanceof Set ? there : new Set([there]);
  }

  add(key: K, value: V): void {
    const there = this.#sets.get(key);
    if (there === undefined) {
      this.#sets.set(key, value);
    } else if (there instanceof Set) {
      there.add(value);
    } else if (there !== value) {
      this.#sets.set(key, new Set([there, value]));
    }
  }

  delete(key: K, value: V): void {
    const there = this.#sets.get(key);
    const isLast = there instanceof Set ? there.delete(value) && there.size === 0 : there === value;
    if (isLast) {
      this.#sets.delete(key);
    }
  }

  clear(): void {
    this.#sets.clear();
  }
}
