// The topic filters that a broker has granted to this connection, or may still hold of earlier ones.
import { forgetFilters, keptSession, newSession } from './kept-sessions.ts';
import type { Qos } from './suback.ts';

export class HeldFilters {
  readonly #persistent: boolean;
  #granted = new Map<string, Qos>();
  /** The broker may have it, but it has to be asked for again: it is being given back, or was only looked through. */
  readonly #renewed = new Set<string>();
  /** What the broker holds of earlier connections as well, or may hold: only its `filters` are counted. */
  #session = newSession();

  /** @param persistent the broker keeps what it has granted over the end of a connection */
  constructor(persistent: boolean) {
    this.#persistent = persistent;
  }

  /** How many were granted to this connection. */
  get granted(): number {
    return this.#granted.size;
  }

  /** How many the broker holds: what a persistent session has been granted is kept as well, so none is looked at. */
  get count(): number {
    return Math.max(this.#granted.size, this.#session.filters.size);
  }

  /**
   * All that the broker holds, and what it may hold of those that are not wanted; linear.
   * @param wanted undefined: none
   */
  all(wanted?: ReadonlyMap<string, unknown>): Set<string> {
    return new Set([...this.counted(), ...this.uncounted(wanted)]);
  }

  /** All that the broker holds; linear. */
  counted(): Set<string> {
    return new Set([...this.#granted.keys(), ...this.#session.filters]);
  }

  /** What it may hold of those that are not wanted, and hardly does. @param wanted undefined: none */
  leftovers(wanted?: ReadonlyMap<string, unknown>): string[] {
    return [...this.#session.doubtful].filter((filter) => wanted?.has(filter) !== true);
  }

  /** See `KeptSession.guessed`: those that are not wanted. @param wanted undefined: none */
  guesses(wanted?: ReadonlyMap<string, unknown>): string[] {
    return [...this.#session.guessed].filter((filter) => wanted?.has(filter) !== true);
  }

  /** What it may hold and is not taken to, of those that are not wanted. @param wanted undefined: none */
  uncounted(wanted?: ReadonlyMap<string, unknown>): string[] {
    return [...this.leftovers(wanted), ...this.guesses(wanted)];
  }

  /** See `KeptSession.guessed`. */
  isGuessed(filter: string): boolean {
    return this.#session.guessed.has(filter);
  }

  /** Whether the broker may hold any but these. */
  hasOthers(filters: ReadonlyMap<string, unknown>): boolean {
    return [...this.all(filters)].some((filter) => !filters.has(filter));
  }

  has(filter: string): boolean {
    return this.#granted.has(filter) || this.#session.filters.has(filter);
  }

  /** Whether it was asked for over an earlier connection, and not answered. */
  isDoubtful(filter: string): boolean {
    return this.#session.doubtful.has(filter);
  }

  isGranted(filter: string): boolean {
    return this.#granted.has(filter);
  }

  /** Whether it needs not be asked for. @param qos undefined: any */
  isCurrent(filter: string, qos?: Qos): boolean {
    const granted = this.#granted.get(filter);
    return granted !== undefined && (qos ?? granted) === granted && !this.#renewed.has(filter);
  }

  /** A connection begins. @param session names the broker and the client id */
  prepare(session: string): void {
    this.#session = this.#persistent ? keptSession(session) : newSession();
  }

  /** @param isNew the broker has kept nothing of an earlier connection */
  connected(isNew: boolean): void {
    if (isNew) {
      forgetFilters(this.#session);
    }
    this.#granted = new Map();
  }

  disconnected(): void {
    this.#renewed.clear();
    this.#granted = new Map();
  }

  /** A persistent session keeps what it grants, also when the connection breaks before this is known here. */
  asked(filters: readonly string[]): void {
    for (const filter of this.#persistent ? filters : []) {
      if (!this.has(filter)) {
        this.#session.guessed.delete(filter);
        this.#session.doubtful.add(filter);
      }
    }
  }

  /** The broker may hold one of these of an earlier life of this client. */
  guess(filters: Iterable<string>): void {
    for (const filter of filters) {
      if (!this.has(filter) && !this.#session.doubtful.has(filter)) {
        this.#session.guessed.add(filter);
      }
    }
  }

  grant(filter: string, qos: Qos): void {
    this.#granted.set(filter, qos);
    this.#session.doubtful.delete(filter);
    this.#session.guessed.delete(filter);
    if (this.#persistent) {
      this.#session.filters.add(filter);
    }
    this.#renewed.delete(filter);
  }

  /** What was granted is asked for once more. @returns whether it needed not be asked for until now */
  renew(filter: string): boolean {
    const wasCurrent = this.isCurrent(filter);
    if (wasCurrent) {
      this.#renewed.add(filter);
    }
    return wasCurrent;
  }

  /** The broker has refused what it did not hold before. */
  refused(filter: string): void {
    this.#session.doubtful.delete(filter);
  }

  /** The broker has ended a connection because of it: it is not counted. Where that was by chance, it may hold it. */
  untaken(filter: string): void {
    this.#session.filters.delete(filter);
    if (this.#persistent) {
      this.#session.doubtful.add(filter);
    }
  }

  /** The broker holds it no longer. */
  delete(filter: string): void {
    this.#granted.delete(filter);
    this.#renewed.delete(filter);
    this.#session.filters.delete(filter);
    this.#session.doubtful.delete(filter);
    this.#session.guessed.delete(filter);
  }

  /** The broker is left, and nobody comes back. */
  clear(): void {
    forgetFilters(this.#session);
    this.#granted = new Map();
  }
}
