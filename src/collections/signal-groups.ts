// What an abort signal ends: one listener per signal, since a signal looks through all of them for each that is added.

export class SignalGroups<T> {
  readonly #onAbort: (items: readonly T[]) => void;
  readonly #groups = new Map<AbortSignal, { items: Set<T>; stopListening(): void }>();

  /** @param onAbort called with the items of a signal when it is aborted */
  constructor(onAbort: (items: readonly T[]) => void) {
    this.#onAbort = onAbort;
  }

  /** What the signal ends: add and remove items there. The listener stays until the signal is aborted or `release`. */
  of(signal: AbortSignal): Set<T> {
    const known = this.#groups.get(signal);
    if (known) {
      return known.items;
    }
    const items = new Set<T>();
    const abort = () => this.#abort(signal);
    signal.addEventListener('abort', abort);
    this.#groups.set(signal, { items, stopListening: () => signal.removeEventListener('abort', abort) });
    return items;
  }

  /** Stops listening to a signal that has nothing left to end. */
  release(signal: AbortSignal): void {
    const group = this.#groups.get(signal);
    if (group?.items.size === 0) {
      this.#groups.delete(signal);
      group.stopListening();
    }
  }

  /** As if every signal were aborted. */
  abortAll(): void {
    for (const signal of [...this.#groups.keys()]) {
      this.#abort(signal);
    }
  }

  #abort(signal: AbortSignal): void {
    const group = this.#groups.get(signal);
    // What the end of another signal's items has released is gone already.
    if (group) {
      this.#groups.delete(signal);
      group.stopListening();
      this.#onAbort([...group.items]);
    }
  }
}
