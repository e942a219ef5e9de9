// Items found by ids that are made here: each ends in the index that the item has in a list.

export interface Identified {
  /** Given by `add`; empty before. */
  id: string;
  /** Given by `add`. */
  slot: number;
}

/**
 * For items that come and go by the thousand in a second. A map by id would be rebuilt for every so many, and V8 keeps each
 * version of it, with all that was in there, until memory is cleared thoroughly.
 */
export class IdentifiedItems<T extends Identified> {
  readonly #prefix: string;
  readonly #items: (T | undefined)[] = [];
  readonly #free: number[] = [];
  #count = 0;

  /** @param prefix what ids begin with, and no other ids do */
  constructor(prefix: string) {
    this.#prefix = `${prefix}-`;
  }

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** Gives the item an id that no other has or had. */
  add(item: T): void {
    item.slot = this.#free.pop() ?? this.#items.length;
    item.id = `${this.#prefix}${this.#count++}-${item.slot}`;
    this.#items[item.slot] = item;
  }

  find(id: string): T | undefined {
    if (!id.startsWith(this.#prefix)) {
      return undefined;
    }
    const item = this.#items[Number(id.slice(id.lastIndexOf('-') + 1))];
    return item?.id === id ? item : undefined;
  }

  /** @returns false: it is not one of them */
  delete(item: T): boolean {
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

  clear(): void {
    this.#items.length = 0;
    this.#free.length = 0;
  }
}
