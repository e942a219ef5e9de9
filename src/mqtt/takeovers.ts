// Counts the connections that another client with the same id may have taken away, of which few brokers say a word.

/** Whoever takes the session away, and waits to come back, has done so by then. */
const LASTING_MS = 300_000;

/** So many in a row are no broker that was started anew. */
export const MANY_TAKEOVERS = 3;

export class Takeovers {
  #broker: string | undefined;
  #count = 0;

  /**
   * A connection has ended, or could not be made.
   * @param connectedAt in milliseconds of `performance.now()`; undefined: that was not the doing of another client
   * @returns how many there were in a row at this broker
   */
  noted(broker: string, connectedAt: number | undefined): number {
    const isSame = broker === this.#broker;
    this.#broker = broker;
    if (connectedAt === undefined) {
      this.#count = 0;
    } else {
      const hasLasted = performance.now() - connectedAt > LASTING_MS;
      this.#count = isSame && !hasLasted ? this.#count + 1 : 1;
    }
    return this.#count;
  }
}
