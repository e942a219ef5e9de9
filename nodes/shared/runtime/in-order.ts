// Keeps messages in the order in which they came, where what they wait for takes differently long.

/** What does not come, as from a context store that does not answer, holds up what is behind it for so long. */
const MAX_HELD_MS = 5_000;

export class InOrder {
  /** Resolves when nothing that was given here holds up others any more; undefined: nothing does. */
  #over: Promise<void> | undefined;

  /** Nothing waits here. */
  get isIdle(): boolean {
    return this.#over === undefined;
  }

  /** @returns what comes of it, or why nothing does, not before that of what was given earlier */
  add<T>(pending: Promise<T>): Promise<T> {
    const before = this.#over;
    // It may fail while it waits for those before it.
    pending.catch(() => undefined);
    const result = before === undefined ? pending : before.then(() => pending);
    const over = endOf(result);
    this.#over = over;
    void over.then(() => {
      if (this.#over === over) {
        this.#over = undefined;
      }
    });
    return result;
  }
}

/** Resolves when this is settled, or has taken too long. */
function endOf(result: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_HELD_MS).unref();
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    result.then(end, end);
  });
}
