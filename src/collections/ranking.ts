// Items by a count that changes by one: the highest is at hand, and each step takes constant time.

/** Who is counted; both fields belong to the ranking. */
export interface Ranked {
  count: number;
  /** The place among all with a count above 0, the highest first. */
  rank: number;
}

export class Ranking<T extends Ranked> {
  readonly #items: T[] = [];
  /** By count: how many items have it or a higher one, which is the rank behind them. */
  readonly #reaching: number[] = [];
  #total = 0;

  /** Of all items together. */
  get total(): number {
    return this.#total;
  }

  /** One with the highest count; undefined: all are 0. */
  get first(): T | undefined {
    return this.#items[0];
  }

  increase(item: T): void {
    item.count++;
    this.#total++;
    const rank = this.#reaching[item.count] ?? 0;
    if (item.count === 1) {
      item.rank = this.#items.push(item) - 1;
    }
    this.#swap(item, rank);
    this.#reaching[item.count] = rank + 1;
  }

  /** Not for one with 0. */
  decrease(item: T): void {
    const rank = (this.#reaching[item.count] as number) - 1;
    this.#swap(item, rank);
    this.#reaching[item.count] = rank;
    if (item.count === 1) {
      this.#items.pop();
    }
    item.count--;
    this.#total--;
  }

  #swap(item: T, rank: number): void {
    const other = this.#items[rank] as T;
    this.#items[item.rank] = other;
    other.rank = item.rank;
    this.#items[rank] = item;
    item.rank = rank;
  }
}
