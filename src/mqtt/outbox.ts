// The waiting line of one gateway: requests by priority and age, acknowledgements in their own order beside them.

/** Acknowledgements may come in thousands (backfill); they leave in order and never fill all places in flight. */
export type Lane = 'request' | 'ack';

export interface Waiting {
  lane: Lane;
  /** 0 lowest … 4 highest; requests only. */
  priority: number;
  /** Set by the line: it was taken out and only lies there still. */
  isGone?: boolean;
}

const PRIORITIES = 5;
/** Below this nothing is gained by tidying up. */
const MIN_TIDY = 256;

/** First in, first out, and out of the middle: each in constant time on average. */
class Fifo<T extends Waiting> {
  #items: T[] = [];
  #head = 0;
  /** Items behind the head that are gone. */
  #gone = 0;

  push(item: T): void {
    item.isGone = false;
    this.#items.push(item);
  }

  shift(): T | undefined {
    while (this.#head < this.#items.length) {
      const item = this.#items[this.#head] as T;
      this.#items[this.#head++] = undefined as unknown as T;
      if (item.isGone) {
        this.#gone--;
        continue;
      }
      item.isGone = true;
      this.#tidy();
      return item;
    }
    return undefined;
  }

  remove(item: T): void {
    item.isGone = true;
    this.#gone++;
    this.#tidy();
  }

  *[Symbol.iterator](): Generator<T> {
    for (let i = this.#head; i < this.#items.length; i++) {
      const item = this.#items[i] as T;
      if (!item.isGone) {
        yield item;
      }
    }
  }

  /** When more than half of the list is of no use. */
  #tidy(): void {
    const useless = this.#head + this.#gone;
    if (useless === this.#items.length) {
      this.#items.length = 0;
    } else if (useless < MIN_TIDY || useless * 2 < this.#items.length) {
      return;
    } else {
      this.#items = [...this];
    }
    this.#head = 0;
    this.#gone = 0;
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
    if (requestsInFlight + acksInFlight >= this.#places) {
      return undefined;
    }
    const ackFirst = acksInFlight === 0 && !(this.#places === 1 && this.#lastWasAck);
    const item = ackFirst
      ? (this.#acks.shift() ?? this.#nextRequest())
      : (this.#nextRequest() ??
        (acksInFlight < Math.max(1, this.#places / 2) ? this.#acks.shift() : undefined));
    if (item) {
      this.#lastWasAck = item.lane === 'ack';
    }
    return item;
  }

  /** Takes one out before its turn; false when it is not in the line (any more). */
  remove(item: T): boolean {
    if (item.isGone !== false) {
      return false;
    }
    this.#lineOf(item).remove(item);
    return true;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const line of this.#requests) {
      yield* line;
    }
    yield* this.#acks;
  }

  #nextRequest(): T | undefined {
    for (let priority = PRIORITIES - 1; priority >= 0; priority--) {
      const item = (this.#requests[priority] as Fifo<T>).shift();
      if (item) {
        return item;
      }
    }
    return undefined;
  }

  #lineOf(item: T): Fifo<T> {
    return item.lane === 'ack' ? this.#acks : (this.#requests[item.priority] as Fifo<T>);
  }
}
