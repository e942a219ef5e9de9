// What a service that a deploy has ended leaves to the ones that it starts: found by the sessions that they have at brokers.

/** Services of one Node-RED are fewer. */
const MAX_LEFT = 100;

export class Legacies<T> {
  readonly #left: { sessions: readonly string[]; legacy: T }[] = [];

  /**
   * Keeps it for the next service that has any of these sessions, in place of what was left to that before.
   * @param sessions their names, one for each address of the service
   */
  leave(sessions: readonly string[], legacy: T): void {
    this.take(sessions);
    this.#left.push({ sessions, legacy });
    if (this.#left.length > MAX_LEFT) {
      this.#left.shift();
    }
  }

  /** What an earlier service of this process has left that had one of these sessions. */
  take(sessions: readonly string[]): T | undefined {
    const index = this.#left.findIndex((one) => one.sessions.some((session) => sessions.includes(session)));
    return index < 0 ? undefined : this.#left.splice(index, 1)[0]?.legacy;
  }
}
