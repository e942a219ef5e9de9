// How many publishes of QoS 1 and 2 a broker takes before it has acknowledged some: over all gateways together.

export class PublishWindow<T> {
  readonly #send: (waiter: T) => void;
  readonly #heldMs: () => number;
  readonly #waiting = new Set<T>();
  #max = Number.POSITIVE_INFINITY;
  #open = 0;
  /** While they leave one by one: how many are unacknowledged that hold up others. */
  #openSince: number | undefined;
  /** How often those before were passed over. */
  #rounds = 0;
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
    return this.#open >= this.#max || (this.#openSince ?? 0) > 0;
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
    this.#openSince = undefined;
    this.#generation++;
    this.#changed();
    this.#sendWaiting();
  }

  /** From now on they leave one by one. */
  narrow(): void {
    this.#openSince = this.#open;
  }

  /** While they leave one by one: those before may never be acknowledged, and hold up none any more. */
  passOver(): void {
    this.#openSince = 0;
    this.#rounds++;
    this.#sendWaiting();
  }

  /** They leave as before `narrow`. */
  widen(): void {
    this.#openSince = undefined;
    this.#sendWaiting();
  }

  /** One publish leaves. @returns call when it was acknowledged or failed */
  take(): () => void {
    this.#count(1);
    this.#changed();
    const generation = this.#generation;
    const rounds = this.#rounds;
    let isOpen = true;
    return () => {
      if (!isOpen || generation !== this.#generation) {
        return;
      }
      isOpen = false;
      this.#count(-1, rounds === this.#rounds);
      this.#changed();
      this.#sendWaiting();
    };
  }

  /** The waiter is called when there is a free place; once, however often it asks. */
  wait(waiter: T): void {
    this.#waiting.add(waiter);
  }

  #count(change: 1 | -1, isInRound = true): void {
    this.#open += change;
    if (this.#openSince !== undefined && isInRound) {
      this.#openSince += change;
    }
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
