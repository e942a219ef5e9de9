// How many publishes of QoS 1 and 2 a broker takes before it has acknowledged some: over all gateways together.

export class PublishWindow<T> {
  readonly #send: (waiter: T) => void;
  readonly #heldMs: () => number;
  readonly #waiting = new Set<T>();
  #max = Number.POSITIVE_INFINITY;
  #open = 0;
  /** Of the connection: what was sent over an earlier one does not count any more. */
  #generation = 0;
  #changedAt = performance.now();
  #heldBefore = 0;

  /**
   * @param send called for one who waited, when there is a free place
   * @param heldMs see `InboundQueue.heldMs`
   */
  constructor(send: (waiter: T) => void, heldMs: () => number) {
    this.#send = send;
    this.#heldMs = heldMs;
  }

  get isFull(): boolean {
    return this.#open >= this.#max;
  }

  /** When a place was taken or came free last, in milliseconds of `performance.now()`. */
  get changedAt(): number {
    return this.#changedAt;
  }

  /** For how many milliseconds reports had held up the reading then. */
  get heldBefore(): number {
    return this.#heldBefore;
  }

  /** A new connection: nothing is unacknowledged there. @param max infinite: no limit */
  reset(max: number): void {
    this.#max = max;
    this.#open = 0;
    this.#generation++;
    this.#changed();
    this.#sendWaiting();
  }

  /** The connection goes on with another limit. @param max see `reset` */
  limit(max: number): void {
    this.#max = max;
    this.#sendWaiting();
  }

  /** One publish leaves. @returns call when it was acknowledged or failed */
  take(): () => void {
    this.#open++;
    this.#changed();
    const generation = this.#generation;
    let isOpen = true;
    return () => {
      if (!isOpen || generation !== this.#generation) {
        return;
      }
      isOpen = false;
      this.#open--;
      this.#changed();
      this.#sendWaiting();
    };
  }

  /** The waiter is called when there is a free place; once, however often it asks. */
  wait(waiter: T): void {
    this.#waiting.add(waiter);
  }

  #changed(): void {
    this.#changedAt = performance.now();
    this.#heldBefore = this.#heldMs();
  }

  /** Who still has something to send afterwards waits behind the others, so that each has its turn. */
  #sendWaiting(): void {
    for (const waiter of [...this.#waiting]) {
      if (this.isFull) {
        return;
      }
      this.#waiting.delete(waiter);
      this.#send(waiter);
    }
  }
}
