// The newest value of each property of each device, by each gateway that brought it; bounded.
import { CostlyResults } from '../collections/costly-results.ts';
import { firstOf } from '../collections/first-of.ts';
import { type RecencyEntry, RecencyMap } from '../collections/recency-map.ts';
import { type Catalogue, differencesOf } from '../protocol/catalogue.ts';
import { isMac } from '../protocol/mac.ts';
import { copyReport, isFailed, KIND_NAMES, KINDS, type Report } from '../protocol/reports/index.ts';
import { decodedAnew, isLate, isOfNow, type LastValue, ownValue } from './last-value.ts';
import { UndatedReports } from './undated-reports.ts';
import { overwriteReport, sizeOf, sizeOfReport } from './value-size.ts';
import { ageOfTime } from './wall-time.ts';

/** The least recently heard go first. */
const MAX_VALUES = 200_000;
/** Bytes of all values together, estimated: as many as 200 000 ordinary ones take. */
const MAX_SIZE = 256 * 1024 * 1024;
/** Gateways whose values of one property of one device are kept; a further one takes the place of the oldest. */
const MAX_GATEWAYS = 16;
/** Longer ones are none of a device, and would cost more memory than they are worth. */
const MAX_IDENTIFIER_LENGTH = 200;

/** Bytes of an entry with its place, besides its report: texts are those of the report. */
const ENTRY_SIZE = 500;
/** The kinds whose reports have values. */
export const VALUE_KINDS: readonly string[] = KIND_NAMES.filter((kind) => KINDS[kind].hasValue);
const WITH_VALUE = new Set(VALUE_KINDS);

/** With more of them, finding the first ones costs what is worth keeping. */
const MANY_VALUES = 10_000;

/** What is asked for; what is left out lets everything pass. */
export interface ValueQuery {
  device?: string | undefined;
  gateway?: string | undefined;
  /** By name or hex id. */
  identifier?: string | undefined;
  /** Only of these. */
  gateways?: ReadonlySet<string> | undefined;
}

/** With what it is sorted by: device and property. */
export type KeyedValue = [key: string, value: LastValue];

/** One property of one device. */
interface Property extends RecencyEntry<Property> {
  /** What it is sorted by: device and property. */
  readonly id: string;
  readonly device: string;
  /** See `#keyOf`. */
  readonly key: string;
  /** By gateway; the newest comes first. A device is heard by few. */
  values: LastValue[];
}

export class LastValues {
  readonly #catalogue: Catalogue;
  readonly #now: () => number;
  readonly #max: number;
  readonly #maxSize: number;
  /** In the order in which they were heard. */
  #properties = new RecencyMap<Property>(Number.POSITIVE_INFINITY);
  #byDevice = new Map<string, Map<string, Property>>();
  #undated = new UndatedReports();
  readonly #firstOnes = new CostlyResults<{ values: LastValue[]; total: number }>();
  #count = 0;
  #size = 0;
  /** Called when a value has changed. */
  onChange: (() => void) | undefined;

  constructor(
    catalogue: Catalogue,
    { now = () => performance.now(), max = MAX_VALUES, maxSize = MAX_SIZE } = {},
  ) {
    this.#catalogue = catalogue;
    this.#now = now;
    this.#max = max;
    this.#maxSize = maxSize;
  }

  /** How many values are kept. */
  get size(): number {
    return this.#count;
  }

  /**
   * Notes what a report says; one of another kind, a sample that has failed, or one that comes late and is older than
   * what is known, changes nothing. The report itself is not kept.
   * @param heardAt in milliseconds of `performance.now()`; undefined: just now
   */
  recordReport(report: Readonly<Report>, heardAt?: number): void {
    const { kind, gateway, device, identifier, time } = report;
    if (!WITH_VALUE.has(kind) || identifier === undefined || isFailed(report)) {
      return;
    }
    const now = heardAt ?? this.#now();
    const isRetained = report.retained === true;
    const property = this.#find(device, identifier);
    if (property && !isRetained && this.#overwrite(property, report, now)) {
      return;
    }
    const since = isRetained ? this.#retainedSince(report, property, now) : now;
    if (since === undefined) {
      return;
    }
    const kept = copyReport(report);
    this.#record({
      gateway,
      device,
      identifier,
      value: kept.value ?? null,
      time,
      source: 'report',
      heardAt: since,
      heard: isRetained && Date.parse(time) > 0 ? Date.parse(time) : undefined,
      report: kept,
      size: 0,
    });
  }

  /** Notes the response to a read; the value is copied, since the flow has it too. */
  recordRead(place: Pick<LastValue, 'gateway' | 'device' | 'identifier' | 'value' | 'time'>): void {
    this.#record({
      ...place,
      value: ownValue(place.value),
      source: 'read',
      heardAt: this.#now(),
      report: undefined,
      size: 0,
    });
  }

  /**
   * Goes on with what another one knows, which records nothing any more. In one step where the catalogue is the same,
   * since with very many values reports would wait.
   */
  takeOver(before: LastValues): void {
    this.#undated = before.#undated;
    const isOther = differencesOf(before.#catalogue, this.#catalogue);
    if (this.#count > 0 || isOther) {
      this.restore([...before.#oldestFirst()], isOther);
      return;
    }
    this.#properties = before.#properties;
    this.#byDevice = before.#byDevice;
    this.#count = before.#count;
    this.#size = before.#size;
  }

  /**
   * Takes what was known before, by the catalogue of now; what is known already and was heard later stays.
   * @param isOther whether an identifier in hex was decoded otherwise before, see `differencesOf`; undefined: none was
   */
  restore(values: Iterable<LastValue>, isOther?: (id: string) => boolean): void {
    const known = [...this.#oldestFirst()];
    for (const value of values) {
      // Of a response nobody knows any more what the device has sent.
      if (value.report || isOther?.(value.identifier) !== true) {
        this.#record(decodedAnew(value, this.#catalogue));
      }
    }
    // What was heard since comes behind what was restored.
    for (const value of known) {
      this.#record(value);
    }
  }

  /** The newest value of each property of each device, in the order of their addresses and properties. */
  all(query: ValueQuery = {}): LastValue[] {
    return sortByKey(this.unsorted(query)).map(([, value]) => value);
  }

  /** As `all`, in any order, each with what it is sorted by. */
  unsorted(query: ValueQuery = {}): KeyedValue[] {
    return [...this.#found(query)];
  }

  *#found(query: ValueQuery): Generator<KeyedValue> {
    const { gateway, gateways } = query;
    const isChosen = (value: LastValue) =>
      (gateway === undefined || value.gateway === gateway) && (gateways?.has(value.gateway) ?? true);
    for (const { id, values } of this.#chosen(query)) {
      const value = values.find(isChosen);
      if (value) {
        yield [id, value];
      }
    }
  }

  /** The first of `all`, and how many there are; where there are very many, those of some seconds ago. */
  first(query: ValueQuery, limit: number): { values: LastValue[]; total: number } {
    if (this.#count < MANY_VALUES) {
      return this.#findFirst(query, limit);
    }
    const key = JSON.stringify([query, query.gateways && [...query.gateways], limit]);
    return this.#firstOnes.get(key, () => this.#findFirst(query, limit));
  }

  #findFirst(query: ValueQuery, limit: number): { values: LastValue[]; total: number } {
    const { first, total } = firstOf(this.#found(query), limit, byKey);
    return { values: first.map(([, value]) => value), total };
  }

  /**
   * Those of the properties that were heard last, which come last.
   * @param max how many values
   * @param maxSize of all of them, in bytes, estimated; what has no room is left out
   */
  newest(max: number, maxSize = Number.POSITIVE_INFINITY): LastValue[] {
    const found: LastValue[] = [];
    let size = 0;
    for (const { values } of this.#properties.newestFirst()) {
      for (const value of values) {
        if (found.length >= max) {
          return found.reverse();
        }
        if (size + value.size <= maxSize) {
          size += value.size;
          found.push(value);
        }
      }
    }
    return found.reverse();
  }

  *#oldestFirst(): Generator<LastValue> {
    for (const { values } of this.#properties.oldestFirst()) {
      yield* values;
    }
  }

  *#chosen({ device, identifier }: ValueQuery): Generator<Property> {
    const wanted = identifier === undefined ? undefined : this.#keyOf(identifier);
    const ofDevice = device === undefined ? undefined : this.#byDevice.get(device);
    if (device !== undefined && wanted !== undefined) {
      const property = ofDevice?.get(wanted);
      if (property) {
        yield property;
      }
      return;
    }
    const all = device === undefined ? this.#properties.oldestFirst() : (ofDevice?.values() ?? []);
    for (const property of all) {
      if (wanted === undefined || property.key === wanted) {
        yield property;
      }
    }
  }

  /** Raw and decoded, by name and by hex id: the same property. */
  #keyOf(identifier: string): string {
    const row = this.#catalogue.find(identifier);
    return row ? row.id || row.name : identifier.toLowerCase();
  }

  #record(value: LastValue): void {
    const { device, identifier } = value;
    if (identifier.length > MAX_IDENTIFIER_LENGTH) {
      return;
    }
    const property = this.#find(device, identifier);
    if (property) {
      this.#replace(property, value);
    } else if (isMac(device)) {
      this.#add(this.#keyOf(identifier), value);
    }
  }

  #find(device: string, identifier: string): Property | undefined {
    return this.#byDevice.get(device)?.get(this.#keyOf(identifier));
  }

  /**
   * When a retained report was heard: a broker keeps it for years, so what was heard just now is the broker. It may be a
   * known one that comes again, and by a clock that is ahead it would be new each time.
   * @returns undefined: what is known stays
   */
  #retainedSince(report: Readonly<Report>, property: Property | undefined, now: number): number | undefined {
    const { gateway, time } = report;
    const made = Date.parse(time);
    if (made <= Date.now()) {
      return now - ageOfTime(time);
    }
    const since = this.#undated.since(report, now);
    const known = property?.values.find((value) => value.gateway === gateway);
    if (known === undefined) {
      // The times of two gateways cannot be compared then: what was heard by itself is newer.
      const [newest] = property?.values ?? [];
      return newest && wasHeard(newest) ? Math.min(since, newest.heardAt - 1) : since;
    }
    const knownMade = Date.parse(known.time ?? '');
    const isNewer = wasHeard(known) ? made > knownMade : !(made < knownMade);
    return isNewer || time === known.time ? since : undefined;
  }

  /**
   * Most reports say the same as the one before them, with another value: what would be made for each of them costs more
   * than to note it.
   * @returns false: it is not like the known one
   */
  #overwrite(property: Property, report: Readonly<Report>, now: number): boolean {
    const [known] = property.values;
    if (
      known?.source !== 'report' ||
      known.report === undefined ||
      property.values.length > 1 ||
      report.backfill === true ||
      known.report.kind !== report.kind ||
      known.gateway !== report.gateway ||
      known.heard !== undefined ||
      now < known.heardAt
    ) {
      return false;
    }
    const growth = overwriteReport(known.report, report);
    if (growth === undefined) {
      return false;
    }
    known.identifier = report.identifier as string;
    known.value = report.value ?? null;
    known.time = report.time;
    known.heardAt = now;
    this.#properties.touch(property);
    this.#resized(known, known.size + growth);
    return true;
  }

  #add(key: string, value: LastValue): void {
    const { device } = value;
    const id = `${device}/${key}`;
    const property: Property = {
      id,
      device,
      key,
      values: [value],
      before: undefined,
      after: undefined,
      list: undefined,
    };
    this.#properties.add(property);
    const ofDevice = this.#byDevice.get(device) ?? new Map<string, Property>();
    this.#byDevice.set(device, ofDevice.set(key, property));
    this.#count++;
    this.#added(value);
  }

  #replace(property: Property, value: LastValue): void {
    const { values } = property;
    const at = values.findIndex(({ gateway }) => gateway === value.gateway);
    const known = values[at];
    if (known && (isSameReport(value, known) ? staysAgain(value, known) : this.#isOlder(value, known))) {
      return;
    }
    if (known && values.length === 1) {
      values[0] = value;
      this.#size -= known.size;
    } else {
      const [replaced] = values.splice(at < 0 ? MAX_GATEWAYS - 1 : at, 1);
      this.#size -= replaced?.size ?? 0;
      this.#count += replaced ? 0 : 1;
      const place = values.findIndex((other) => !this.#isOlder(value, other));
      values.splice(place < 0 ? values.length : place, 0, value);
    }
    this.#properties.touch(property);
    this.#added(value);
  }

  #added(value: LastValue): void {
    value.size = 0;
    this.#resized(value, ENTRY_SIZE + (value.report ? sizeOfReport(value.report) : sizeOf(value.value)));
  }

  #resized(value: LastValue, size: number): void {
    this.#size += size - value.size;
    value.size = size;
    while (this.#count > this.#max || this.#size > this.#maxSize) {
      this.#forget(this.#properties.oldest as Property);
    }
    this.onChange?.();
  }

  #forget(property: Property): void {
    const { device, key, values } = property;
    this.#properties.delete(property);
    this.#count -= values.length;
    this.#size -= values.reduce((sum, { size }) => sum + size, 0);
    const ofDevice = this.#byDevice.get(device);
    ofDevice?.delete(key);
    if (ofDevice?.size === 0) {
      this.#byDevice.delete(device);
    }
  }

  /** Of two the one that was heard later is newer, unless it is a sample that comes late: that is as old as it says. */
  #isOlder(value: LastValue, known: LastValue): boolean {
    // Until its clock is set, a machine may hold what was stored for the newer one.
    const isStored = value.source === 'stored';
    if (isStored !== (known.source === 'stored') && isOfNow(isStored ? known : value)) {
      return isStored;
    }
    const [before, last] = value.heardAt < known.heardAt ? [value, known] : [known, value];
    const newer = isLate(last) && this.#isMadeBefore(last, before) ? before : last;
    return newer !== value;
  }

  /**
   * A clock that is ahead would keep out all that follows: nothing is made after it was heard. Of two that say so it is the
   * clock of this machine that is behind.
   */
  #isMadeBefore(one: LastValue, other: LastValue): boolean {
    const [oneMade, otherMade] = [Date.parse(one.time ?? ''), Date.parse(other.time ?? '')];
    const oneHeard = this.#heardAt(one);
    return oneMade > oneHeard
      ? oneMade < otherMade
      : earlier(oneMade, oneHeard) < earlier(otherMade, this.#heardAt(other));
  }

  /** Milliseconds since the epoch. */
  #heardAt({ heardAt }: LastValue): number {
    return Date.now() - (this.#now() - heardAt);
  }
}

/** A broker has kept it. */
const isKept = ({ report }: LastValue): boolean => report?.retained === true;

/** By itself: it does not come again, and was not stored. */
const wasHeard = (value: LastValue): boolean => !isKept(value) && value.source !== 'stored';

/** One that a broker has kept comes again with every connection. */
const isSameReport = (one: LastValue, other: LastValue): boolean =>
  one.time !== undefined && one.time === other.time && (isKept(one) || isKept(other));

/** It was heard when it came first, also before a restart. */
const staysAgain = (value: LastValue, known: LastValue): boolean =>
  value.source === 'stored' ? value.heardAt >= known.heardAt : isKept(value);

/** @param made NaN where the sample does not tell */
const earlier = (made: number, heard: number): number => (made < heard ? made : heard);

const byKey = ([a]: KeyedValue, [b]: KeyedValue): number => (a < b ? -1 : Number(a > b));

/** Sorts the array itself. */
export function sortByKey(values: KeyedValue[]): KeyedValue[] {
  return values.sort(byKey);
}
