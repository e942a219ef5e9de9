// Acknowledges each timestamped sample once a minute at most, unless it failed.
import { ServiceError } from '../errors.ts';

const REMEMBERED_MS = 60_000;
/** Beyond it the oldest are forgotten, and would be sent once more. */
const MAX_REMEMBERED = 100_000;

export interface Sending<Answer> {
  /** The broker has the acknowledgement. */
  delivered: Promise<unknown>;
  /** The response with status 0 has come. */
  answered: Promise<Answer>;
}

interface Sent<Answer> extends Sending<Answer> {
  at: number;
}

export class Acknowledgements<Answer> {
  readonly #sent = new Map<string, Sent<Answer>>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#sent.size;
  }

  /**
   * Runs `send` for a sample that was not acknowledged within the last minute; otherwise the outcome of the first
   * time holds for this one too. When the first time fails, the next in line sends again.
   * @param wait true: resolves with the answer; false: when the broker has it, with nothing
   */
  async once(sample: string, wait: boolean, send: () => Sending<Answer>): Promise<Answer | undefined> {
    for (;;) {
      this.#forgetOld();
      const earlier = this.#sent.get(sample);
      if (!earlier) break;
      const [outcome] = await Promise.allSettled([wait ? earlier.answered : earlier.delivered]);
      if (outcome.status === 'fulfilled') return wait ? (outcome.value as Answer) : undefined;
      this.#forget(sample, earlier);
    }
    const { delivered, answered } = this.#remember(sample, send());
    if (wait) return answered;
    await delivered;
    return undefined;
  }

  #remember(sample: string, sending: Sending<Answer>): Sending<Answer> {
    const sent = { ...sending, at: this.#now() };
    this.#sent.set(sample, sent);
    sent.delivered.catch(() => this.#forget(sample, sent));
    sent.answered.catch((error: unknown) => {
      // Without an answer it may have arrived all the same, which is all that one who does not wait asks for.
      const isOpen = error instanceof ServiceError && error.code === 'TIMEOUT';
      if (!isOpen) this.#forget(sample, sent);
    });
    return sent;
  }

  #forget(sample: string, sent: Sent<Answer>): void {
    if (this.#sent.get(sample) === sent) this.#sent.delete(sample);
  }

  /** Insertion order is age, so only the front is looked at. */
  #forgetOld(): void {
    const limit = this.#now() - REMEMBERED_MS;
    for (const [sample, { at }] of this.#sent) {
      if (at > limit && this.#sent.size < MAX_REMEMBERED) return;
      this.#sent.delete(sample);
    }
  }
}
