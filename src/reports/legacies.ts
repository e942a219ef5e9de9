// What a service that a deploy has ended leaves to the ones that it starts: found by the sessions that they have at brokers.

/** Services of one Node-RED are fewer. */
const MAX_LEFT = 100;

interface Left<T> {
  sessions: readonly string[];
  legacy: T;
}

export class Legacies<T> {
  readonly #left = new Set<Left<T>>();
  readonly #bySession = new Map<string, Left<T>>();

  /**
   * Keeps it for the next service that has any of these sessions, in place of what was left to that before.
   * @param sessions their names, one for each address of the service
   */
  leave(sessions: readonly string[], legacy: T): void {
    const left = { sessions, legacy };
    for (const session of sessions) {
      this.#remove(this.#bySession.get(session));
      this.#bySession.set(session, left);
    }
    this.#left.add(left);
    if (this.#left.size > MAX_LEFT) {
      const [oldest] = this.#left;
      this.#remove(oldest);
    }
  }

  /** What an earlier service of this process has left that had one of these sessions. */
  take(sessions: readonly string[]): T | undefined {
    for (const session of sessions) {
      const left = this.#bySession.get(session);
      if (left) {
        this.#remove(left);
        return left.legacy;
      }
    }
    return undefined;
  }

  #remove(left: Left<T> | undefined): void {
    if (left && this.#left.delete(left)) {
      for (const session of left.sessions) {
        this.#bySession.delete(session);
      }
    }
  }
}
