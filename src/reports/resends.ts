// Sends again what is due: a part of it at a time, in turns between which everybody else has theirs.
import { Queue } from '../collections/queue.ts';
import { TurnBudget } from '../collections/turn-budget.ts';

/** Reports that are sent again in one look: a flow that failed on many is not given all of them at once. */
const MAX_RESENT = 500;

interface Sending<T> {
  /** While flows are replaced nobody would receive what is sent. */
  isPaused(): boolean;
  now(): number;
  isDue(report: T, now: number): boolean;
  send(report: T, now: number): void;
}

export class Resends<T> {
  readonly #sending: Sending<T>;
  /** Those of one look that are still to be sent. */
  readonly #due = new Queue<T>();
  readonly #budget = new TurnBudget(() => this.#sendNext());

  constructor(sending: Sending<T>) {
    this.#sending = sending;
  }

  /** Call it twice a second. */
  look(reports: Iterable<T>): void {
    if (this.#sending.isPaused() || this.#due.size > 0) {
      return;
    }
    const now = this.#sending.now();
    for (const report of reports) {
      if (this.#due.size >= MAX_RESENT) {
        break;
      }
      if (this.#sending.isDue(report, now)) {
        this.#due.push(report);
      }
    }
    this.#sendNext();
  }

  clear(): void {
    this.#due.clear();
  }

  #sendNext(): void {
    const now = this.#sending.now();
    while (this.#due.size > 0 && !this.#sending.isPaused() && !this.#budget.isSpent) {
      const report = this.#due.shift() as T;
      // One of those before may have ended it, or put it off.
      if (this.#sending.isDue(report, now)) {
        this.#budget.spend();
        this.#sending.send(report, now);
      }
    }
    if (this.#sending.isPaused()) {
      this.#due.clear();
    }
  }
}
