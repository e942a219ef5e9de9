// Sets by key; one that becomes empty is forgotten.

const NONE: ReadonlySet<never> = new Set();

export class SetMap<K, V> {
  readonly #sets = new Map<K, Set<V>>();

  /** What is there of the key, as it is now and as it changes; empty when there is nothing. */
  of(key: K): ReadonlySet<V> {
    return this.#sets.get(key) ?? NONE;
  }

  add(key: K, value: V): void {
    const set = this.#sets.get(key);
    if (set) {
      set.add(value);
    } else {
      this.#sets.set(key, new Set([value]));
    }
  }

  delete(key: K, value: V): void {
    const set = this.#sets.get(key);
    if (set?.delete(value) && set.size === 0) {
      this.#sets.delete(key);
    }
  }

  clear(): void {
    this.#sets.clear();
  }
}
