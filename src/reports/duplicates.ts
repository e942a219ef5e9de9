// Recognises the same report heard again within a window, in bounded memory.
import { createHash } from 'node:crypto';
import type { Report } from '../protocol/reports/index.ts';

/** Beyond this many distinct reports in one window the oldest are forgotten: a duplicate then passes. */
const MAX_REPORTS = 100_000;
const MAX_KEY_LENGTH = 300;
/** What is longer is no structure of the catalogue, and sorting it takes longer than all the rest. */
const MAX_SORTED_LENGTH = 10_000;

/**
 * Two reports are the same when device, kind, identifier (by name when known), parent, value, and `seq` (else
 * `time`) are equal; which gateway brought them makes no difference.
 */
export class Duplicates {
  readonly #window: number;
  readonly #now: () => number;
  #young = new Map<string, number>();
  #old = new Map<string, number>();
  #turned: number;

  /** @param window milliseconds */
  constructor(window: number, now: () => number = () => performance.now()) {
    this.#window = window;
    this.#now = now;
    this.#turned = now();
  }

  /**
   * True when the same report was seen less than a window before, or after where time goes back; otherwise it is remembered.
   * @param now when it was heard, in milliseconds
   */
  seen(report: Report, now = this.#now()): boolean {
    const key = keyOf(report);
    const first = this.#young.get(key) ?? this.#old.get(key);
    if (first !== undefined && Math.abs(now - first) <= this.#window) {
      return true;
    }
    if (now - this.#turned > this.#window || this.#young.size >= MAX_REPORTS) {
      this.#turn(now);
    }
    this.#young.set(key, now);
    return false;
  }

  #turn(now: number): void {
    // What is in #old by now was seen at least one window ago, or is pushed out by the bound.
    this.#old = this.#young;
    this.#young = new Map();
    this.#turned = now;
  }
}

/** What is long is remembered by a digest, so that nobody outside decides how much memory it takes. */
function keyOf({ device, kind, topicKind, name, identifier, parent, value, seq, time }: Report): string {
  const place = [device, topicKind ?? kind, name ?? identifier, parent];
  const keyWith = (shown: unknown) => JSON.stringify([...place, shown, seq ?? time]);
  const given = keyWith(value);
  const key =
    typeof value === 'object' && given.length <= MAX_SORTED_LENGTH ? keyWith(withSortedKeys(value)) : given;
  return key.length <= MAX_KEY_LENGTH ? key : createHash('sha1').update(key).digest('base64');
}

/** Two gateways, or a gateway and the catalogue, may name the fields of a structure in another order. */
function withSortedKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(withSortedKeys);
  }
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(fields.map(([name, field]) => [name, withSortedKeys(field)]));
}
