// The newest value of a property: what is known of it, and how old it is.
import type { Catalogue } from '../protocol/catalogue.ts';
import { copyReport, nameProperty, type Report } from '../protocol/reports/index.ts';

/** Where a value came from: a report, the response to a read, or a store that outlived a restart. */
export type ValueSource = 'report' | 'read' | 'stored';

export interface LastValue {
  gateway: string;
  device: string;
  /** As it was reported or asked for. */
  identifier: string;
  /** That of the report, where there is one: the memory of both is counted once. */
  value: unknown;
  /** ISO-8601, as the gateway gave it; undefined where a response had none. */
  time: string | undefined;
  source: ValueSource;
  /** When it was heard, in milliseconds of `performance.now()`; negative for what was heard before this process. */
  heardAt: number;
  /**
   * Milliseconds since the epoch, of what was heard before this process: a machine without a battery for its clock sets it
   * only after the start.
   */
  heard?: number | undefined;
  /** That brought it; undefined for a response. Not to be changed; the next report of the same form takes its place. */
  report: Report | undefined;
  /** In bytes, estimated; set when it is kept. */
  size: number;
}

/** A sample of the past, which the device could not send before. */
export const isLate = ({ report }: LastValue): boolean => report?.backfill === true;

/** Neither a sample that comes late nor what a broker has kept. */
export const isOfNow = (value: LastValue): boolean => !isLate(value) && value.report?.retained !== true;

/** Milliseconds since it was heard; since it came here while that lies ahead: one of the two clocks is wrong. */
export function ageOf({ heard, heardAt }: LastValue): number {
  const epoch = Date.now();
  const age = heard === undefined || heard > epoch ? performance.now() - heardAt : epoch - heard;
  return Math.max(0, age);
}

/** @param maxAge seconds; 0: any age */
export function isTooOld(value: LastValue, { maxAge }: { maxAge: number }): boolean {
  return maxAge > 0 && ageOf(value) > maxAge * 1_000;
}

/** What was reported, by this catalogue: another one may have named it before, and decoded it where it came in hex. */
export function decodedAnew(known: LastValue, catalogue: Catalogue): LastValue {
  const { report, identifier } = known;
  if (report === undefined) {
    return known;
  }
  const { name, unit } = nameProperty(report.form, identifier, catalogue);
  const named = { name: name || undefined, unit };
  if (report.form === 'raw') {
    return typeof report.raw === 'string' ? readAnew(known, report, named, catalogue) : known;
  }
  const isSame = report.name === named.name && report.unit === named.unit;
  return isSame ? known : { ...known, report: withFields(report, named) };
}

function readAnew(known: LastValue, report: Report, named: object, catalogue: Catalogue): LastValue {
  const unread = { value: report.raw, ext: undefined };
  const { value, ext } = catalogue.decode(known.identifier, report.raw as string) ?? unread;
  // Every sample has it, as the interface gives it a default.
  const noExt = report.kind === 'timestamped' ? null : undefined;
  const fields = { ...named, ext: ext ?? noExt };
  const before = [report.name, report.unit, report.ext, known.value];
  return JSON.stringify(before) === JSON.stringify([...Object.values(fields), value])
    ? known
    : { ...known, value, report: withFields({ ...report, value }, fields) };
}

/** A copy with these fields, and without those that are undefined. */
function withFields(report: Report, fields: object): Report {
  const copy = { ...report };
  for (const [field, content] of Object.entries(fields)) {
    if (content === undefined) {
      delete copy[field];
    } else {
      copy[field] = content as unknown;
    }
  }
  return copy;
}

/** A value that a flow may change: a deep copy. */
export const copyValue = (value: unknown): unknown => copyReport({ value } as never).value;

/** A copy that is kept: texts in it are no parts of a response, which would be kept as a whole with them. */
export const ownValue = (value: unknown): unknown => structuredClone(value);
