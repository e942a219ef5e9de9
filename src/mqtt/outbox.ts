// The waiting line of one gateway: requests by priority and age, acknowledgements in their own order beside them.

/** Acknowledgements may come in thousands (backfill); they leave in order and never fill all places in flight. */
export type Lane = 'request' | 'ack';

export interface Waiting {
  lane: Lane;
  /** 0 lowest … 4 highest; requests only. */
  priority: number;
}

const PRIORITIES = 5;

/** First in, first out, without moving the rest at each step. */
class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#head] as T;
    this.#items[this.#head++] = undefined as T;
    if (this.#head > 256 && this.#head * 2 > this.#items.length) this.#keep(() => true);
    return item;
  }

  /** Removes and returns what does not pass. */
  #keep(passes: (item: T) => boolean): T[] {
    const rest = this.#items.slice(this.#head);
    this.#items = rest.filter(passes);
    this.#head = 0;
    return rest.filter((item) => !passes(item));
  }

  take(wanted: (item: T) => boolean): T[] {
    return this.#keep((item) => !wanted(item));
  }

  *[Symbol.iterator](): Generator<T> {
    for (let i = this.#head; i < this.#items.length; i++) yield this.#items[i] as T;
  }
}

export class Outbox<T extends Waiting> {
  readonly #requests = Array.from({ length: PRIORITIES }, () => new Fifo<T>());
  readonly #acks = new Fifo<T>();
  readonly #places: number;
  #lastWasAck = false;

  /** @param places how many may be in flight at once */
  constructor(places: number) {
    this.#places = places;
  }

  push(item: T): void {
    this.#lineOf(item).push(item);
  }

  /**
   * The next to send, given how many of each lane are in flight. Acknowledgements always have one place and at
   * most half of them, so neither lane can block the other; with a single place the lanes take turns.
   */
  next(requestsInFlight: number, acksInFlight: number): T | undefined {
    if (requestsInFlight + acksInFlight >= this.#places) return undefined;
    const ackFirst = acksInFlight === 0 && !(this.#places === 1 && this.#lastWasAck);
    const item = ackFirst
      ? (this.#acks.shift() ?? this.#nextRequest())
      : (this.#nextRequest() ??
        (acksInFlight < Math.max(1, this.#places / 2) ? this.#acks.shift() : undefined));
    if (item) this.#lastWasAck = item.lane === 'ack';
    return item;
  }

  /** Takes out all that are wanted, in order. */
  take(wanted: (item: T) => boolean): T[] {
    return [...this.#requests, this.#acks].flatMap((line) => line.take(wanted));
  }

  *[Symbol.iterator](): Generator<T> {
    for (const line of this.#requests) yield* line;
    yield* this.#acks;
  }

  #nextRequest(): T | undefined {
    for (let priority = PRIORITIES - 1; priority >= 0; priority--) {
      const item = (this.#requests[priority] as Fifo<T>).shift();
      if (item) return item;
    }
    return undefined;
  }

  #lineOf(item: T): Fifo<T> {
    return item.lane === 'ack' ? this.#acks : (this.#requests[item.priority] as Fifo<T>);
  }
}
