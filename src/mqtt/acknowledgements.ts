// Acknowledges each timestamped sample once a minute at most, unless it failed.

const REMEMBERED = 60_000;

interface Sent {
  at: number;
  outcome: Promise<unknown>;
}

export class Acknowledgements {
  readonly #sent = new Map<string, Sent>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Runs `send` for a sample that was not acknowledged within the last minute; otherwise the outcome of the first
   * time holds for this one too. When the first time fails, the next one in line sends again.
   */
  async once(sample: string, send: () => Promise<unknown>): Promise<unknown> {
    for (;;) {
      this.#forgetOld();
      const earlier = this.#sent.get(sample);
      if (!earlier) break;
      const [outcome] = await Promise.allSettled([earlier.outcome]);
      if (outcome.status === 'fulfilled') return outcome.value;
    }
    const outcome = send();
    const sent = { at: this.#now(), outcome };
    this.#sent.set(sample, sent);
    outcome.catch(() => {
      if (this.#sent.get(sample) === sent) this.#sent.delete(sample);
    });
    return outcome;
  }

  /** Insertion order is age, so only the front is looked at. */
  #forgetOld(): void {
    const limit = this.#now() - REMEMBERED;
    for (const [sample, { at }] of this.#sent) {
      if (at > limit) return;
      this.#sent.delete(sample);
    }
  }
}
