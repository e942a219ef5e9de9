// Whether the broker sends nothing more of QoS 1 before something is acknowledged: as many as it may allow are not yet.

/** Within it a broker that could send more may simply have nothing to send. */
const MIN_HELD_UP_MS = 1_000;

/**
 * No broker that is known allows fewer, as it is installed. How many it does allow is not told with MQTT 3.1.1,
 * and what it once had under way says little: some send more than they allow while they have a backlog.
 */
const MIN_WINDOW = 10;

/** All times are those of `performance.now()`. */
export class BrokerWindow {
  #unacknowledged = 0;
  /** The most at a time. */
  #most = 0;
  /** Since when they are fewer; undefined: they are as many. */
  #fewerSince: number | undefined = Number.NEGATIVE_INFINITY;
  #lastReceived = 0;

  /** The connection is a new one, and with it what is allowed. */
  connected(): void {
    this.#unacknowledged = 0;
    this.#most = 0;
    this.#fewerSince = Number.NEGATIVE_INFINITY;
  }

  received(now: number): void {
    this.#lastReceived = now;
  }

  /** What was received is not acknowledged yet. */
  kept(): void {
    this.#unacknowledged++;
    if (this.#unacknowledged >= this.#most) {
      this.#most = this.#unacknowledged;
      this.#fewerSince = undefined;
    }
  }

  acknowledged(now: number, count = 1): void {
    this.#unacknowledged -= count;
    this.#fewerSince ??= now;
  }

  /** The broker could have sent more for a while, and has not: it had nothing. */
  hasRoom(now: number): boolean {
    return (
      this.#most < MIN_WINDOW || (this.#fewerSince !== undefined && now - this.#fewerSince >= MIN_HELD_UP_MS)
    );
  }

  /** Nothing has come for a while, with as many unacknowledged as a broker may allow. */
  isFull(now: number): boolean {
    return this.#unacknowledged >= MIN_WINDOW && now - this.#lastReceived >= MIN_HELD_UP_MS;
  }
}
