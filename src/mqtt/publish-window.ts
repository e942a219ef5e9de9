// How many publishes of QoS 1 and 2 a broker takes before it has acknowledged some: over all gateways together.

/** That of one publish. */
export class PublishPlace {
  isUnacknowledged = true;
  readonly #window: PublishWindow<never>;
  /** Of the connection that it was sent over. */
  readonly generation: number;

  constructor(window: PublishWindow<never>, generation: number) {
    this.#window = window;
    this.generation = generation;
  }

  /** The broker has it, or it has failed. */
  acknowledged(): void {
    this.#window.acknowledged(this);
  }

  /** Nobody waits for its response any more. */
  ended(): void {
    this.#window.ended(this);
  }
}

export class PublishWindow<T> {
  readonly #send: (waiter: T) => void;
  readonly #heldMs: () => number;
  readonly #waiting = new Set<T>();
  #max = Number.POSITIVE_INFINITY;
  #open = 0;
  /** Sent over this connection, without a response. */
  readonly #sent = new Set<PublishPlace>();
  /** While they leave one by one. */
  #isNarrow = false;
  /** They hold up others until they are acknowledged. */
  readonly #holding = new Set<PublishPlace>();
  /** They hold up others until their response has come, which would be lost with the connection. */
  readonly #awaited = new Set<PublishPlace>();
  /** Sends one before all who wait, when these have come. */
  #sendFirst: (() => void) | undefined;
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
    return this.#open >= this.#max || this.#holding.size + this.#awaited.size > 0;
  }

  /**
   * When a place was taken or came free last, in milliseconds of `performance.now()`: now while none is for want of
   * responses, which says nothing of the broker.
   */
  get changedAt(): number {
    return this.#awaited.size > 0 ? performance.now() : this.#changedAt;
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
    this.#sent.clear();
    this.#sendFirst = undefined;
    this.#changed();
    this.widen();
  }

  /** From now on they leave one by one. */
  narrow(): void {
    this.#isNarrow = true;
    for (const place of this.#sent) {
      if (place.isUnacknowledged) {
        this.#holding.add(place);
      }
    }
  }

  /** None leaves until all that have left have their responses. @param sendFirst called then, or at once */
  awaitResponses(sendFirst: () => void): void {
    for (const place of this.#sent) {
      this.#awaited.add(place);
    }
    this.#sendFirst = sendFirst;
    this.#sendWaiting();
  }

  get isAwaiting(): boolean {
    return this.#sendFirst !== undefined;
  }

  /** Those that have left may never be acknowledged or answered, and hold up none any more. */
  passOver(): void {
    if (this.#awaited.size > 0) {
      this.#awaited.clear();
      this.#changed();
    }
    this.#holding.clear();
    this.#sendWaiting();
  }

  /** They leave as before `narrow`. */
  widen(): void {
    this.#isNarrow = false;
    this.passOver();
  }

  /** One publish leaves. */
  take(): PublishPlace {
    const place = new PublishPlace(this as unknown as PublishWindow<never>, this.#generation);
    this.#open++;
    this.#sent.add(place);
    if (this.#isNarrow) {
      this.#holding.add(place);
    }
    this.#changed();
    return place;
  }

  acknowledged(place: PublishPlace): void {
    if (!place.isUnacknowledged || place.generation !== this.#generation) {
      return;
    }
    place.isUnacknowledged = false;
    this.#open--;
    this.#holding.delete(place);
    this.#changed();
    this.#sendWaiting();
  }

  ended(place: PublishPlace): void {
    this.#sent.delete(place);
    if (this.#awaited.delete(place)) {
      this.#changed();
      this.#sendWaiting();
    }
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
    if (this.#sendFirst && !this.isFull) {
      const sendFirst = this.#sendFirst;
      this.#sendFirst = undefined;
      sendFirst();
    }
    for (const waiter of [...this.#waiting]) {
      if (this.isFull) {
        return;
      }
      this.#waiting.delete(waiter);
      this.#send(waiter);
    }
  }
}
