// Requests in flight, found by their id, which ends in the index that the request has in a list.
import { randomBytes } from 'node:crypto';

const RADIX = 36;

export interface InFlightItem {
  /** Given by `add`; empty before. */
  id: string;
  /** Given by `add`. */
  slot: number;
}

/**
 * A map by id would be rebuilt for every so many requests, and each version of it would keep alive what was in
 * flight then until memory is cleared thoroughly.
 */
export class InFlight<T extends InFlightItem> {
  /** Responses to other clients arrive here too, so ids begin with something of our own. */
  readonly #prefix = `${randomBytes(6).toString('hex')}-`;
  readonly #items: (T | undefined)[] = [];
  readonly #free: number[] = [];
  #count = 0;

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** Gives the item an id that no other has or had. */
  add(item: T): void {
    item.slot = this.#free.pop() ?? this.#items.length;
    item.id = `${this.#prefix}${(this.#count++).toString(RADIX)}-${item.slot.toString(RADIX)}`;
    this.#items[item.slot] = item;
  }

  find(id: string): T | undefined {
    if (!id.startsWith(this.#prefix)) {
      return undefined;
    }
    const item = this.#items[Number.parseInt(id.slice(id.lastIndexOf('-') + 1), RADIX)];
    return item?.id === id ? item : undefined;
  }

  /** False when the item is not in flight. */
  remove(item: T): boolean {
    if (this.#items[item.slot] !== item) {
      return false;
    }
    this.#items[item.slot] = undefined;
    this.#free.push(item.slot);
    return true;
  }

  /** May be changed while one goes through them. */
  values(): T[] {
    return this.#items.filter((item) => item !== undefined);
  }
}
