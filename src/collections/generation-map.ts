// A bounded map in two generations: what was not touched for half of `max` insertions is dropped, in constant time.

export class GenerationMap<V> {
  readonly #half: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  /** @param max entries at most; the ones touched last are at least half as many */
  constructor(max: number) {
    this.#half = Math.ceil(max / 2);
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) {
      return young;
    }
    const old = this.#old.get(key);
    if (old !== undefined) {
      this.#old.delete(key);
      this.set(key, old);
    }
    return old;
  }

  set(key: string, value: V): void {
    if (this.#young.size >= this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  *entries(): Generator<[string, V]> {
    yield* this.#young;
    yield* this.#old;
  }
}
