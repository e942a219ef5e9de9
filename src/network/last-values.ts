// The newest value of each property of each device, by each gateway that brought it; bounded.
import type { Catalogue } from '../protocol/catalogue.ts';
import { isMac } from '../protocol/mac.ts';
import type { Report } from '../protocol/reports/index.ts';

/** The least recently heard go first. */
const MAX_VALUES = 200_000;
/** Gateways whose values of one property of one device are kept; a further one takes the place of the oldest. */
const MAX_GATEWAYS = 16;
/** Longer ones are none of a device, and would cost more memory than they are worth. */
const MAX_IDENTIFIER_LENGTH = 200;

export const VALUE_KINDS = ['property', 'measurement', 'event', 'timestamped'] as const;
const KINDS = new Set<string>(VALUE_KINDS);

/** Where a value came from: a report, the response to a read, or a store that outlived a restart. */
export type ValueSource = 'report' | 'read' | 'stored';

export interface LastValue {
  gateway: string;
  device: string;
  /** As it was reported or asked for. */
  identifier: string;
  value: unknown;
  /** ISO-8601, as the gateway gave it; undefined where a response had none. */
  time: string | undefined;
  source: ValueSource;
  /** When it was heard, in milliseconds of `performance.now()`; negative for what was heard before this process. */
  heardAt: number;
  /** That brought it; undefined for a response. Not to be changed. */
  report: Readonly<Report> | undefined;
}

/** What is asked for; what is left out lets everything pass. */
export interface ValueQuery {
  device?: string | undefined;
  gateway?: string | undefined;
  /** By name or hex id. */
  identifier?: string | undefined;
  /** Only of these. */
  gateways?: ReadonlySet<string> | undefined;
}

/** Of one property of one device, by gateway; the newest comes first. A device is heard by few. */
type Entry = LastValue[];

export class LastValues {
  readonly #catalogue: Catalogue;
  readonly #now: () => number;
  readonly #max: number;
  /** By device and property; the least recently heard comes first. */
  readonly #entries = new Map<string, Entry>();
  #count = 0;
  /** Called when a value has changed. */
  onChange: (() => void) | undefined;

  constructor(catalogue: Catalogue, { now = () => performance.now(), max = MAX_VALUES } = {}) {
    this.#catalogue = catalogue;
    this.#now = now;
    this.#max = max;
  }

  /** How many values are kept. */
  get size(): number {
    return this.#count;
  }

  /**
   * Notes what a report says; one without a value, or with an older sample than is known, changes nothing.
   * @param heardAt in milliseconds of `performance.now()`; undefined: just now
   */
  recordReport(report: Readonly<Report>, heardAt?: number): void {
    const { kind, gateway, device, identifier, time } = report;
    if (!KINDS.has(kind) || identifier === undefined || 'errorCode' in report) {
      return;
    }
    const now = heardAt ?? this.#now();
    this.#record({
      gateway,
      device,
      identifier,
      value: report.value ?? null,
      time,
      source: 'report',
      // A broker keeps it for years: what was heard just now is the broker.
      heardAt: report.retained === true ? now - ageOf(time) : now,
      report,
    });
  }

  /** Notes the response to a read. */
  recordRead(place: Pick<LastValue, 'gateway' | 'device' | 'identifier' | 'value' | 'time'>): void {
    this.#record({ ...place, source: 'read', heardAt: this.#now(), report: undefined });
  }

  /** Takes what was known before; what is known already and was heard later stays. */
  restore(values: Iterable<LastValue>): void {
    const known = [...this.#entries.values()].flat();
    for (const value of values) {
      this.#record(value);
    }
    // What was heard since comes behind what was restored.
    for (const value of known) {
      this.#record(value);
    }
  }

  /** The newest value of a property of a device, also by another gateway unless one is given. */
  find({
    device,
    gateway,
    identifier,
  }: {
    device: string;
    gateway?: string | undefined;
    identifier: string;
  }) {
    const entry = this.#entries.get(this.#keyOf(device, identifier));
    return gateway === undefined ? entry?.[0] : entry?.find((value) => value.gateway === gateway);
  }

  /** The newest value of each property of each device, in the order of their addresses and properties. */
  all(query: ValueQuery = {}): LastValue[] {
    const found: [key: string, value: LastValue][] = [];
    for (const [key, entry] of this.#chosen(query)) {
      const value = entry.find(
        ({ gateway }) =>
          (query.gateway === undefined || gateway === query.gateway) &&
          (query.gateways === undefined || query.gateways.has(gateway)),
      );
      if (value) {
        found.push([key, value]);
      }
    }
    return found.sort(([a], [b]) => (a < b ? -1 : Number(a > b))).map(([, value]) => value);
  }

  /** Those of the properties that were heard last, which come last. @param max how many values */
  newest(max: number): LastValue[] {
    return [...this.#entries.values()]
      .slice(-max)
      .flatMap((entry) => [...entry].reverse())
      .slice(-max);
  }

  *#chosen({ device, identifier }: ValueQuery): Generator<[string, Entry]> {
    if (device !== undefined && identifier !== undefined) {
      const key = this.#keyOf(device, identifier);
      const entry = this.#entries.get(key);
      if (entry) {
        yield [key, entry];
      }
      return;
    }
    const [start, end] = [
      device === undefined ? '' : `${device}/`,
      identifier === undefined ? '' : this.#keyOf('', identifier),
    ];
    for (const pair of this.#entries) {
      if (pair[0].startsWith(start) && pair[0].endsWith(end)) {
        yield pair;
      }
    }
  }

  /** Raw and decoded, by name and by hex id: the same property. */
  #keyOf(device: string, identifier: string): string {
    const row = this.#catalogue.find(identifier);
    return `${device}/${row ? row.id || row.name : identifier.toLowerCase()}`;
  }

  #record(value: LastValue): void {
    if (value.identifier.length > MAX_IDENTIFIER_LENGTH || !isMac(value.device)) {
      return;
    }
    const key = this.#keyOf(value.device, value.identifier);
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      this.#entries.set(key, [value]);
      this.#count++;
      this.#changed();
      return;
    }
    const at = entry.findIndex(({ gateway }) => gateway === value.gateway);
    const known = at < 0 ? undefined : entry[at];
    if (known && isOlder(value, known)) {
      return;
    }
    if (known) {
      entry.splice(at, 1);
    } else if (entry.length >= MAX_GATEWAYS) {
      entry.pop();
    } else {
      this.#count++;
    }
    const place = entry.findIndex((other) => !isOlder(value, other));
    entry.splice(place < 0 ? entry.length : place, 0, value);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    this.#changed();
  }

  #changed(): void {
    while (this.#count > this.#max) {
      const [key, entry] = this.#entries.entries().next().value as [string, Entry];
      this.#entries.delete(key);
      this.#count -= entry.length;
    }
    this.onChange?.();
  }
}

/** Milliseconds since a moment by the clock of this machine; 0 where it is none, or lies ahead. */
function ageOf(time: string): number {
  return Math.max(0, Date.now() - Date.parse(time) || 0);
}

/** Samples come late when nobody has acknowledged them, and what was restored or retained is of before. */
function isOlder(value: LastValue, known: LastValue): boolean {
  const isSample = value.report?.kind === 'timestamped' || known.report?.kind === 'timestamped';
  if (isSample && value.time !== undefined && known.time !== undefined) {
    return Date.parse(value.time) < Date.parse(known.time);
  }
  return value.heardAt < known.heardAt;
}
