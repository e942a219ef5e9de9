// How many open reports are given up since their node does not ask for them any more: told once for many.

export class AbandonedCounts {
  readonly #told: (owner: string, count: number) => void;
  readonly #counts = new Map<string, number>();
  #isGrowing = false;

  constructor(told: (owner: string, count: number) => void) {
    this.#told = told;
  }

  add(owner: string): void {
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + 1);
    this.#isGrowing = true;
  }

  /** Call it now and then: tells when there was none since the last time. */
  tellWhenAll(): void {
    if (!this.#isGrowing) {
      this.tell();
    }
    this.#isGrowing = false;
  }

  tell(): void {
    for (const [owner, count] of this.#counts) {
      this.#told(owner, count);
    }
    this.#counts.clear();
  }
}
