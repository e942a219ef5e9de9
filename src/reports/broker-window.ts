// Whether the broker sends nothing more of QoS 1 before something is acknowledged: as many as it allows are not yet.

/** Within it a broker that could send more may simply have nothing to send. */
const MIN_HELD_UP_MS = 1_000;

/** No broker that is known allows fewer, beside one that says so itself. */
const MIN_WINDOW = 10;

/** How many a broker allows is its own matter, and not told with MQTT 3.1.1. All times are those of `performance.now()`. */
export class BrokerWindow {
  #unacknowledged = 0;
  /** So many it does allow. */
  #most = 0;
  #lastReceived = 0;

  /** The connection is a new one, and with it what is allowed. */
  connected(): void {
    this.#unacknowledged = 0;
    this.#most = 0;
  }

  received(now: number): void {
    this.#lastReceived = now;
  }

  /** What was received is not acknowledged yet. */
  kept(): void {
    this.#unacknowledged++;
    this.#most = Math.max(this.#most, this.#unacknowledged);
  }

  acknowledged(): void {
    this.#unacknowledged--;
  }

  /** Nothing has come for a while, with as many unacknowledged as there ever were. */
  isFull(now: number): boolean {
    return (
      this.#unacknowledged >= Math.max(MIN_WINDOW, this.#most) && now - this.#lastReceived >= MIN_HELD_UP_MS
    );
  }
}
