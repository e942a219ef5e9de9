// How many reports are open at each node, and for how long: told twice a second while there are some, and once at the end.

/** What a report is counted for. */
export interface Counted {
  /** @param oldestMs since it was heard */
  count(open: number, oldestMs: number): void;
}

interface OpenAt<T> {
  readonly confirmer: T;
  readonly message: { readonly heardAt: number };
}

export class OpenCounts<T extends Counted> {
  readonly #counted = new Set<T>();
  readonly #call: (listener: () => void) => void;

  /** @param call calls a node, whatever that throws */
  constructor(call: (listener: () => void) => void) {
    this.#call = call;
  }

  /** A node ends: it is told nothing more. */
  delete(confirmer: T): void {
    this.#counted.delete(confirmer);
  }

  /** @param now in milliseconds of `performance.now()`, as `heardAt` */
  tell(deliveries: Iterable<OpenAt<T>>, now: number): void {
    const counts = new Map<T, { open: number; oldest: number }>();
    for (const { confirmer, message } of deliveries) {
      const known = counts.get(confirmer);
      if (known) {
        known.open++;
        known.oldest = Math.min(known.oldest, message.heardAt);
      } else {
        counts.set(confirmer, { open: 1, oldest: message.heardAt });
      }
    }
    for (const confirmer of [...this.#counted]) {
      if (!counts.has(confirmer)) {
        this.#counted.delete(confirmer);
        this.#call(() => confirmer.count(0, 0));
      }
    }
    for (const [confirmer, { open, oldest }] of counts) {
      this.#counted.add(confirmer);
      this.#call(() => confirmer.count(open, now - oldest));
    }
  }
}
