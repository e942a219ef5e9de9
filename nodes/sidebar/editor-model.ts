// The tree as a sequence of rows, of which only the visible ones are asked for: gateways, and below open ones their devices.
import type { NetworkRow } from '../../src/protocol/network-row.ts';
import { type ListQuery, PagedList } from './editor-list.ts';

/** Gateways that are open at a time; each costs a question when it is in view. */
const MAX_OPEN = 200;
/** Rows that are asked for beyond the visible ones, on either side. */
const MARGIN = 20;

/** A row of the tree; `row` is undefined until the server has sent it. */
export interface Item {
  key: string;
  row: NetworkRow | undefined;
  level: number;
  /** The gateway that it is shown below. */
  parent: string;
  /** From 0, among `setSize` siblings. */
  index: number;
  setSize: number;
  /** Undefined: nothing can be opened. */
  isOpen: boolean | undefined;
}

/** A run of rows of one list. */
interface Segment {
  list: PagedList;
  /** Position in the tree. */
  start: number;
  /** Index in the list. */
  from: number;
  count: number;
  parent: string;
}

export interface Range {
  list: PagedList;
  offset: number;
  limit: number;
}

export type Filters = Omit<ListQuery, 'parent'>;

export class TreeModel {
  readonly filters: Filters;
  readonly #roots: PagedList[];
  readonly #open = new Map<string, PagedList>();
  /** Gateways that were open where nothing was looked for. */
  readonly #openBefore: readonly string[] = [];
  #segments: Segment[] | undefined;

  /** @param open gateways that are open from the start, unless devices that stand below them are found for themselves */
  constructor(filters: Filters, open: Iterable<string> = []) {
    this.filters = filters;
    const roots = rootsOf(filters);
    this.#roots = roots.map((parent) => new PagedList({ ...filters, parent }));
    if (roots.includes('*')) {
      this.#openBefore = [...open];
      return;
    }
    for (const id of open) {
      this.open(id);
    }
  }

  /** Those that another view begins with. */
  get openGateways(): string[] {
    return [...new Set([...this.#openBefore, ...this.#open.keys()])];
  }

  /** Undefined until the first pages are there. */
  get size(): number | undefined {
    if (this.#roots.some(({ total }) => total === undefined)) {
      return undefined;
    }
    const last = this.#all().at(-1);
    return last ? last.start + last.count : 0;
  }

  open(gateway: string): void {
    if (this.#open.size < MAX_OPEN) {
      // What was found is shown with all its devices.
      const { needs } = this.filters;
      this.#open.set(gateway, new PagedList({ ...this.filters, q: '', needs, parent: gateway }));
      this.#segments = undefined;
    }
  }

  close(gateway: string): void {
    this.#open.delete(gateway);
    this.#segments = undefined;
  }

  isOpen(gateway: string): boolean {
    return this.#open.has(gateway);
  }

  /** The first rows, as far as they are known. */
  top(count: number): NetworkRow[] {
    const rows = Array.from({ length: count }, (_, position) => this.at(position)?.row);
    return rows.filter((row) => row !== undefined);
  }

  at(position: number): Item | undefined {
    const segment = this.#all().find(({ start, count }) => position >= start && position < start + count);
    return segment && this.#item(segment, segment.from + position - segment.start);
  }

  #item({ list, parent }: Segment, index: number): Item {
    const row = list.at(index);
    const canOpen = row?.kind === 'gateway' && (row.devices ?? 0) > 0;
    return {
      key: row ? keyOf(parent, row.id) : `${parent}#${list.query.parent}#${index}`,
      row,
      level: parent === '' ? 1 : 2,
      parent,
      index,
      setSize: list.total ?? 0,
      isOpen: canOpen ? this.#open.has(row.id) : undefined,
    };
  }

  /** Where a row is now; -1 where that is not known. */
  positionOf(key: string): number {
    const cut = key.indexOf('/');
    const [parent, id] = [key.slice(0, cut), key.slice(cut + 1)];
    for (const segment of this.#all()) {
      const index = segment.parent === parent ? segment.list.indexOf(id) : -1;
      if (index >= segment.from && index < segment.from + segment.count) {
        return segment.start + index - segment.from;
      }
    }
    return -1;
  }

  /** The first row of one, below whichever gateway; -1 where none is known. */
  find(id: string): number {
    for (const { list, start, from, count } of this.#all()) {
      const index = list.indexOf(id);
      if (index >= from && index < from + count) {
        return start + index - from;
      }
    }
    return -1;
  }

  /** What has to be asked for so that these positions can be shown, and a few on either side. */
  rangesOf(first: number, last: number): Range[] {
    // What was empty may have something now.
    const missing = this.#roots.filter(({ total = 0 }) => total === 0);
    const ranges = new Map<PagedList, Range>();
    for (const list of missing) {
      ranges.set(list, { list, offset: 0, limit: last - first + 1 + MARGIN });
    }
    for (const { list, start, from, count, parent } of this.#all()) {
      const [begin, end] = [Math.max(first, start), Math.min(last + 1, start + count)];
      if (begin < end) {
        extend(ranges, list, from + begin - start, from + end - start);
      } else if (count === 0 && parent !== '' && start >= first && start <= last + 1) {
        extend(ranges, list, 0, 1 + last - first);
      }
    }
    return [...ranges.values()];
  }

  /** Whether a gateway here was open from the start and nothing is known of its devices: where it stands had to come first. */
  isWaiting(first: number, last: number): boolean {
    return this.#all().some(
      ({ list, start }) => list.total === undefined && start >= first && start <= last + 1,
    );
  }

  /** A page has come. */
  changed(): void {
    this.#segments = undefined;
  }

  /** Rows that stay in memory: without them it is not known where their devices are. */
  readonly isKept = (id: string): boolean => this.#open.has(id);

  #all(): Segment[] {
    if (!this.#segments) {
      const segments: Segment[] = [];
      const unheard = this.#roots.map((list) => ({ list, from: this.#addHeard(segments, list) }));
      for (const { list, from } of unheard) {
        add(segments, list, from, Math.max(from, list.total ?? 0), '');
      }
      this.#segments = segments;
    }
    return this.#segments;
  }

  /** @returns where in the list that begins which nobody has heard */
  #addHeard(segments: Segment[], list: PagedList): number {
    const opened = list.query.parent === '' ? [...this.#open] : [];
    const places = opened
      .map(([id, devices]) => ({ id, devices, index: list.indexOf(id) }))
      .filter(({ index }) => index >= 0)
      .sort((a, b) => a.index - b.index);
    let from = 0;
    for (const { id, devices, index } of places) {
      add(segments, list, from, index + 1, '');
      add(segments, devices, 0, devices.total ?? 0, id);
      from = index + 1;
    }
    const end = Math.max(from, list.heard);
    add(segments, list, from, end, '');
    return end;
  }
}

function add(segments: Segment[], list: PagedList, from: number, end: number, parent: string): void {
  const before = segments.at(-1);
  const start = before ? before.start + before.count : 0;
  segments.push({ list, start, from, count: end - from, parent });
}

/**
 * Whoever looks for something wants to see it, and not the gateways that he would have to open first. What was never heard
 * stands behind all of them.
 */
function rootsOf({ q, sort, needs, near }: Filters): string[] {
  if (near > 0) {
    return ['*'];
  }
  if (q === '' && needs === 0) {
    return [''];
  }
  // In either direction what has no value stands at the end, as gateways do, which nobody hears.
  return q === '' || /(rssi|battery)$/.test(sort) ? ['*', ''] : ['', '*'];
}

function extend(ranges: Map<PagedList, Range>, list: PagedList, from: number, until: number): void {
  const known = ranges.get(list);
  const offset = Math.max(0, Math.min(from - MARGIN, known?.offset ?? Number.POSITIVE_INFINITY));
  const end = Math.max(until + MARGIN, known ? known.offset + known.limit : 0);
  ranges.set(list, { list, offset, limit: end - offset });
}

/** A device stands below each gateway that hears it. */
export const keyOf = (parent: string, id: string): string => `${parent}/${id}`;
