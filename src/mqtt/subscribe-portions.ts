// Which topic filters go into the next SUBSCRIBE: few at first, more while the broker answers, and after a connection that
// ended instead of a response fewer, until the filter is found that the broker does not take.

import { Queue } from '../collections/queue.ts';

/** What the strictest of the well-known brokers takes: AWS IoT Core, "topic filters per subscribe request". */
const FIRST_COUNT = 8;
const FIRST_BYTES = 1_024;
const MAX_COUNT = 200;
const MAX_BYTES = 32 * 1_024;
/** Of a filter in a packet, beside its text: two bytes of length and one of options. */
const OVERHEAD_BYTES = 3;
/** A connection can end by chance while a filter waits for its response. */
const MIN_LOSSES = 2;
/** With fewer subscriptions a broker that ends the connection has another reason than their number. */
const MIN_QUOTA = 8;

export interface PortionLimits {
  /** Filters in one packet. */
  maxCount?: number | undefined;
  /** Of the filters in one packet. */
  maxBytes?: number | undefined;
}

export class SubscribePortions {
  #maxCount = MAX_COUNT;
  #maxBytes = MAX_BYTES;
  #count = FIRST_COUNT;
  #bytes = FIRST_BYTES;
  /** A packet that was not answered has shown that the portions are as large as they can be. */
  #mayGrow = true;
  #pending: readonly string[] = [];
  /** Filters of the packets that were not answered since everything was, and how often. */
  readonly #losses = new Map<string, number>();
  /** A portion of those was taken over this connection. */
  #hasTried = false;
  readonly #blocked = new Set<string>();
  /** How many subscriptions there were when a packet was not answered, and how many filters that packet had. */
  #loss = { active: 0, size: 0 };

  /** What is known of the broker. */
  set limits({ maxCount = MAX_COUNT, maxBytes = MAX_BYTES }: PortionLimits) {
    this.#maxCount = Math.min(MAX_COUNT, Math.max(1, maxCount));
    this.#maxBytes = Math.min(MAX_BYTES, maxBytes);
    this.#count = Math.min(this.#count, this.#maxCount);
    this.#bytes = Math.min(this.#bytes, this.#maxBytes);
  }

  /** Whether the filter ended connections, so that it must not be asked for now. */
  isBlocked(filter: string): boolean {
    return this.#blocked.has(filter);
  }

  /** Filters that were blocked may be tried again. */
  unblock(): void {
    this.#blocked.clear();
  }

  /**
   * What goes into each packet, at least one filter; the next one is asked for when this one was answered. A portion of
   * what was in a packet without a response comes in the middle, the rest of that last: when the broker takes the portion
   * and ends the connection later with filters that it took before, it was their number.
   * @param active how many subscriptions there are
   */
  *split<T>(items: readonly T[], filterOf: (item: T) => string, active: () => number): Generator<T[]> {
    const suspects = new Queue<T>();
    const others = new Queue<T>();
    for (const item of items) {
      (this.#losses.has(filterOf(item)) ? suspects : others).push(item);
    }
    while (suspects.size + others.size > 0) {
      const isTime = !this.#hasTried && active() >= this.#loss.active / 2;
      const portion = this.#take(
        others.size === 0 || (suspects.size > 0 && isTime) ? suspects : others,
        filterOf,
      );
      this.#pending = portion.map(filterOf);
      yield portion;
    }
  }

  #take<T>(queue: Queue<T>, filterOf: (item: T) => string): T[] {
    const portion: T[] = [];
    let bytes = 0;
    for (let item = queue.first; item !== undefined && portion.length < this.#count; item = queue.first) {
      bytes += Buffer.byteLength(filterOf(item)) + OVERHEAD_BYTES;
      if (portion.length > 0 && bytes > this.#bytes) {
        break;
      }
      queue.shift();
      portion.push(item);
    }
    return portion;
  }

  /** The broker has answered what was sent last. */
  answered(): void {
    for (const filter of this.#pending) {
      this.#hasTried ||= this.#losses.has(filter);
      this.#losses.delete(filter);
    }
    this.#pending = [];
    if (this.#mayGrow) {
      this.#count = Math.min(this.#maxCount, this.#count * 2);
      this.#bytes = Math.min(this.#maxBytes, this.#bytes * 2);
    }
  }

  /** The broker has answered everything. */
  settled(): void {
    this.#losses.clear();
  }

  /** The connection was ended here. */
  forget(): undefined {
    this.#pending = [];
    this.#hasTried = false;
  }

  /**
   * The broker, or the network, has ended the connection.
   * @param active how many subscriptions there were
   * @returns how many subscriptions the broker allows, when that was what ended it
   */
  lost(active: number): number | undefined {
    const [pending, hasTried, before] = [this.#pending, this.#hasTried, this.#loss];
    this.forget();
    if (pending.length === 0) {
      return undefined;
    }
    this.#loss = { active, size: pending.length };
    if (hasTried && this.#isQuota(before, pending)) {
      this.#recover();
      return Math.max(active, before.active);
    }
    for (const filter of pending) {
      this.#losses.set(filter, (this.#losses.get(filter) ?? 0) + 1);
    }
    const [first = ''] = pending;
    if (pending.length > 1) {
      this.#mayGrow = false;
      this.#count = Math.ceil(pending.length / 2);
      this.#bytes = Math.max(FIRST_BYTES / 8, Math.ceil(this.#bytes / 2));
    } else if ((this.#losses.get(first) ?? 0) >= MIN_LOSSES) {
      this.#blocked.add(first);
      this.#recover();
    }
    return undefined;
  }

  /** Two packets with different filters ended connections that had about as many subscriptions. */
  #isQuota(before: { active: number; size: number }, pending: readonly string[]): boolean {
    const { active, size } = this.#loss;
    const isOther = !pending.some((filter) => this.#losses.has(filter));
    const isNear = active < before.active + before.size && before.active < active + size;
    return isOther && isNear && Math.min(active, before.active) >= MIN_QUOTA;
  }

  /** It was not the size of the packets. */
  #recover(): void {
    this.#losses.clear();
    this.#mayGrow = true;
    this.#count = Math.min(FIRST_COUNT, this.#maxCount);
    this.#bytes = Math.min(FIRST_BYTES, this.#maxBytes);
  }
}
