// One list of the server, of which only those rows are here that were looked at.
import type { NetworkRow } from '../../src/protocol/network-row.ts';
import type { Page } from './editor-api.ts';

/** Rows that are kept of a list. */
const MAX_ROWS = 2_000;

export interface ListQuery {
  /** Empty: gateways; `*`: all devices; else the devices of this gateway. */
  parent: string;
  q: string;
  sort: string;
  needs: number;
  /** 1: those that a person may have in the hand come first. */
  near: number;
}

export class PagedList {
  readonly query: ListQuery;
  /** Undefined until the first page is there. */
  total: number | undefined;
  /** How many of them were heard: they stand first. */
  heard = 0;
  readonly #rows = new Map<number, NetworkRow>();
  readonly #indexes = new Map<string, number>();

  constructor(query: ListQuery) {
    this.query = query;
  }

  at(index: number): NetworkRow | undefined {
    return this.#rows.get(index);
  }

  /** Where a row was last; -1 where that is not known. */
  indexOf(id: string): number {
    return this.#indexes.get(id) ?? -1;
  }

  /** @returns how many rows are kept */
  get size(): number {
    return this.#rows.size;
  }

  has(from: number, count: number): boolean {
    const end = Math.min(from + count, this.total ?? Number.POSITIVE_INFINITY);
    for (let index = from; index < end; index++) {
      if (!this.#rows.has(index)) {
        return false;
      }
    }
    return true;
  }

  /** Takes a page as the server has it now; @param isKept rows that stay however far they are */
  set(offset: number, { total, unheard, rows }: Page, isKept: (id: string) => boolean): void {
    this.total = total;
    this.heard = total - unheard;
    for (const [place, row] of rows.entries()) {
      this.#put(offset + place, row);
    }
    for (const index of [...this.#rows.keys()].filter((index) => index >= total)) {
      this.#remove(index);
    }
    this.#evict(offset, offset + rows.length, isKept);
  }

  #put(index: number, row: NetworkRow): void {
    const before = this.#indexes.get(row.id);
    if (before !== undefined && before !== index) {
      this.#remove(before);
    }
    this.#remove(index);
    this.#rows.set(index, row);
    this.#indexes.set(row.id, index);
  }

  #remove(index: number): void {
    const row = this.#rows.get(index);
    if (row) {
      this.#rows.delete(index);
      this.#indexes.delete(row.id);
    }
  }

  #evict(from: number, until: number, isKept: (id: string) => boolean): void {
    for (const [index, { id }] of this.#rows) {
      if (this.#rows.size <= MAX_ROWS) {
        return;
      }
      if ((index < from || index >= until) && !isKept(id)) {
        this.#remove(index);
      }
    }
  }
}
