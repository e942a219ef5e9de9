// The last value of each property of one device, in few bytes: what can be shown at a glance, not whole reports.
import type { Report } from '../protocol/reports/index.ts';
import { cutText, ownText } from '../protocol/text.ts';

export const MAX_VALUES_PER_DEVICE = 200;
/** A longer identifier is none of a device, and would cost more memory than it is worth. */
const MAX_IDENTIFIER_LENGTH = 200;
/** Characters of a text; a longer one tells nothing at a glance. */
const MAX_TEXT_LENGTH = 40;
/** Characters of a structure as JSON; a longer one is cut. What devices are configured with is shorter. */
const MAX_STRUCTURE_LENGTH = 200;
/** Characters of a time as a gateway wrote it. */
const MAX_TIME_LENGTH = 40;

/** What can be shown in a few characters. */
export type ShortValue = string | number | boolean;

export interface PropertyValue {
  /** As it was reported: lowercase hex, or a name. */
  readonly identifier: string;
  /** As flows had it, a structure as JSON; undefined where it is a longer text, or has never come. */
  value: ShortValue | undefined;
  /** As the gateway gave it with the value: ISO 8601. */
  time: string | undefined;
  /** Milliseconds of `performance.now()`; the last report of it, with a value or without. */
  heardAt: number;
  /** As `heardAt`; when a read, or a report before the last one, brought the value. Else absent: there are very many. */
  valueAt?: number;
  reports: number;
}

export function findValue(values: readonly PropertyValue[], identifier: string): PropertyValue | undefined {
  for (const value of values) {
    if (value.identifier === identifier) {
      return value;
    }
  }
  return undefined;
}

export const isPropertyName = (identifier: string): boolean => identifier.length <= MAX_IDENTIFIER_LENGTH;

export function newValue(identifier: string, now: number): PropertyValue {
  return { identifier: ownText(identifier), value: undefined, time: undefined, heardAt: now, reports: 0 };
}

/** Notes what a report says; a sample that comes late is not the last value. */
export function setValue(known: PropertyValue, report: Readonly<Report> | undefined, now: number): void {
  if (report?.value !== undefined && report.backfill !== true) {
    known.value = shortValue(report.value);
    known.time = shortTime(report.time);
    if (known.valueAt !== undefined) {
      known.valueAt = undefined;
    }
  } else {
    known.valueAt ??= known.heardAt;
  }
  known.heardAt = now;
  known.reports++;
}

/** Notes what a device has responded: no report, which would say how often it comes. */
export function setRead(known: PropertyValue, value: unknown, time: string | undefined, now: number): void {
  known.value = shortValue(value);
  known.valueAt = now;
  known.time = time === undefined ? undefined : shortTime(time);
}

/** When its value came, in milliseconds of `performance.now()`: of two ways to report a property the later one counts. */
export const valueTime = ({ valueAt, heardAt }: Readonly<PropertyValue>): number => valueAt ?? heardAt;

/** It was decoded by another catalogue: what it is now shows the next report. */
export function forgetValue(known: PropertyValue): void {
  known.value = undefined;
  known.time = undefined;
}

function shortValue(value: unknown): ShortValue | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') {
    return value;
  }
  if (typeof value === 'object' && value !== null) {
    return cutText(JSON.stringify(value), MAX_STRUCTURE_LENGTH);
  }
  return typeof value === 'string' && value.length <= MAX_TEXT_LENGTH ? value : undefined;
}

function shortTime(time: string): string | undefined {
  return time.length <= MAX_TIME_LENGTH ? time : undefined;
}
