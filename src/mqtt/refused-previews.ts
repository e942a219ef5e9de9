// The topic filters that people look through and that the broker refuses, in a SUBACK or by ending the connection.
import { type Backoff, createBackoff } from './backoff.ts';

const FIRST_REST_MS = 10_000;
const LAST_REST_MS = 300_000;

export class RefusedPreviews {
  readonly #backoff: Backoff = createBackoff(FIRST_REST_MS, LAST_REST_MS);
  #refused = new Set<string>();
  /** Such as were asked for when a connection ended: they would end the next one, too. */
  #ending = new Set<string>();
  /** Asked of the broker and not answered yet. */
  #pending: readonly string[] = [];
  /** In milliseconds of `performance.now()`. */
  #restUntil = 0;

  get all(): ReadonlySet<string> {
    return this.#refused;
  }

  /** None is asked for: whoever looks must not cost those who want something one connection after the other. */
  get areResting(): boolean {
    return performance.now() < this.#restUntil;
  }

  /** What nobody looks through any more is forgotten. */
  keep(wanted: ReadonlySet<string>): void {
    const isWanted = (filter: string) => wanted.has(filter);
    this.#refused = new Set([...this.#refused].filter(isWanted));
    this.#ending = new Set([...this.#ending].filter(isWanted));
  }

  asked(filters: readonly string[]): void {
    this.#pending = filters;
  }

  /** The broker has answered what it was asked for last. */
  answered(): void {
    this.#pending = [];
  }

  add(filters: Iterable<string>): void {
    for (const filter of filters) {
      this.#refused.add(filter);
    }
  }

  granted(): void {
    this.#backoff.reset();
  }

  /** The connection has ended. @param isUnrelated not because of what the broker was asked for */
  disconnected(isUnrelated: boolean): void {
    if (this.#pending.length > 0 && !isUnrelated) {
      for (const filter of this.#pending) {
        this.#ending.add(filter);
      }
      this.#restUntil = performance.now() + this.#backoff.next();
    }
    this.#pending = [];
    this.#refused = new Set(this.#ending);
  }
}
