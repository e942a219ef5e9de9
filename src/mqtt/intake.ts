// What comes from the broker, sorted by channel; reports can be held back while flows are being replaced.
import type { ParsedTopic, Topics } from '../protocol/topics.ts';

/** Whoever holds must let go: a hold that is forgotten ends by itself. */
const LONGEST_HOLD = 10_000;

export interface IntakeTargets {
  report(topic: string, parsed: ParsedTopic, payload: Buffer, retained: boolean): void;
  response(parsed: ParsedTopic, payload: Buffer, retained: boolean): void;
  /** A hold has ended; what waited follows. */
  released(): void;
}

/**
 * While held, the first report waits and with it, by the order of the connection, all that follows; the broker
 * keeps what is not acknowledged. So nothing is lost between the end of one flow and the start of the next.
 */
export class Intake {
  readonly #topics: Topics;
  readonly #targets: IntakeTargets;
  #held = false;
  #deadline: NodeJS.Timeout | undefined;
  #waiting: (() => void)[] = [];

  constructor(topics: Topics, targets: IntakeTargets) {
    this.#topics = topics;
    this.#targets = targets;
  }

  take(topic: string, payload: Buffer, retained: boolean, done: () => void): void {
    const parsed = this.#topics.parse(topic);
    if (parsed?.channel === 'device') {
      if (this.#held) {
        this.#waiting.push(() => this.take(topic, payload, retained, done));
        return;
      }
      this.#targets.report(topic, parsed, payload, retained);
    } else if (parsed) {
      this.#targets.response(parsed, payload, retained);
    }
    done();
  }

  get held(): boolean {
    return this.#held;
  }

  hold(): void {
    this.#held = true;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.release(), LONGEST_HOLD);
    this.#deadline.unref();
  }

  release(): void {
    clearTimeout(this.#deadline);
    this.#held = false;
    this.#targets.released();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const take of waiting) take();
  }

  /** Forgets what waits: it was not acknowledged, so a persistent session gets it again. */
  drop(): void {
    clearTimeout(this.#deadline);
    this.#waiting = [];
  }
}
