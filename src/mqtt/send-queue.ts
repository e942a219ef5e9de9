// What waits to be sent to one gateway: requests by priority and age, acknowledgements in their own order beside them.
import { Queue } from '../collections/queue.ts';

/** Acknowledgements may come in thousands (backfill); they leave in order and never fill all places in flight. */
export type TrafficClass = 'request' | 'ack';

export interface QueueItem {
  trafficClass: TrafficClass;
  /** 0 lowest … 4 highest; requests only. */
  priority: number;
  /** Set by the queue: it was taken out, and its place in the list is skipped. */
  isRemoved?: boolean;
}

const PRIORITIES = 5;
/** Below this nothing is gained by tidying up. */
const MIN_REMOVED = 256;

/** First in, first out, and out of the middle: each in constant time on average. */
class RemovableQueue<T extends QueueItem> {
  readonly #items = new Queue<T>();
  #removed = 0;

  push(item: T): void {
    item.isRemoved = false;
    this.#items.push(item);
  }

  get first(): T | undefined {
    while (this.#items.first?.isRemoved) {
      this.#items.shift();
      this.#removed--;
    }
    return this.#items.first;
  }

  shift(): T | undefined {
    for (let item = this.#items.shift(); item; item = this.#items.shift()) {
      if (!item.isRemoved) {
        item.isRemoved = true;
        return item;
      }
      this.#removed--;
    }
    return undefined;
  }

  /** The one that came last, which stays; what was taken out behind it is given up. */
  findLast(): T | undefined {
    for (let item = this.#items.last; item; item = this.#items.last) {
      if (!item.isRemoved) {
        return item;
      }
      this.#items.pop();
      this.#removed--;
    }
    return undefined;
  }

  remove(item: T): void {
    item.isRemoved = true;
    this.#removed++;
    if (this.#removed > MIN_REMOVED && this.#removed * 2 > this.#items.size) {
      this.#items.filter(({ isRemoved }) => !isRemoved);
      this.#removed = 0;
    }
  }

  *[Symbol.iterator](): Generator<T> {
    for (const item of this.#items) {
      if (!item.isRemoved) {
        yield item;
      }
    }
  }
}

export class SendQueue<T extends QueueItem> {
  readonly #requests = Array.from({ length: PRIORITIES }, () => new RemovableQueue<T>());
  readonly #acks = new RemovableQueue<T>();
  readonly #maxInFlight: number;
  #lastWasAck = false;

  /** @param places how many may be in flight at once */
  constructor(places: number) {
    this.#maxInFlight = places;
  }

  push(item: T): void {
    this.#queueOf(item).push(item);
  }

  /**
   * The next to send, given how many of each class are in flight. Acknowledgements always have one place and at
   * most half of them, so neither class can block the other; with a single place the classes take turns.
   */
  next(requestsInFlight: number, acksInFlight: number): T | undefined {
    const item = this.#nextLine(requestsInFlight, acksInFlight)?.shift();
    if (item) {
      this.#lastWasAck = item.trafficClass === 'ack';
    }
    return item;
  }

  /** What `next` would take. */
  peek(requestsInFlight: number, acksInFlight: number): T | undefined {
    return this.#nextLine(requestsInFlight, acksInFlight)?.first;
  }

  /** Takes one out before its turn; false when it is not in the queue (any more). */
  remove(item: T): boolean {
    if (item.isRemoved !== false) {
      return false;
    }
    this.#queueOf(item).remove(item);
    return true;
  }

  /** The newest of the class, of requests that of the lowest priority, which stays. */
  findLast(trafficClass: TrafficClass): T | undefined {
    for (const line of trafficClass === 'ack' ? [this.#acks] : this.#requests) {
      const item = line.findLast();
      if (item) {
        return item;
      }
    }
    return undefined;
  }

  *[Symbol.iterator](): Generator<T> {
    for (const line of this.#requests) {
      yield* line;
    }
    yield* this.#acks;
  }

  #nextLine(requestsInFlight: number, acksInFlight: number): RemovableQueue<T> | undefined {
    if (requestsInFlight + acksInFlight >= this.#maxInFlight) {
      return undefined;
    }
    const requests = this.#requests.findLast(({ first }) => first);
    const acks = this.#acks.first && this.#acks;
    if (acksInFlight === 0 && !(this.#maxInFlight === 1 && this.#lastWasAck)) {
      return acks ?? requests;
    }
    const mayAck = acksInFlight < Math.max(1, Math.floor(this.#maxInFlight / 2));
    return requests ?? (mayAck ? acks : undefined);
  }

  #queueOf(item: T): RemovableQueue<T> {
    return item.trafficClass === 'ack' ? this.#acks : (this.#requests[item.priority] as RemovableQueue<T>);
  }
}
