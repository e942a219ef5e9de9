// What a report is, and what every kind of it shares.
import { ServiceError } from '../../errors.ts';
import type { Catalogue } from '../catalogue.ts';

export const FORMS = ['raw', 'decoded'] as const;
export type Form = (typeof FORMS)[number];

/** One message of a device, as flows receive it: Further fields pass through. */
export interface Report {
  gateway: string;
  device: string;
  /** For people: the friendly names of the REST half, where they are known. */
  gatewayName?: string;
  deviceName?: string;
  /** A name of the table of kinds, or `other`. */
  kind: string;
  form: Form;
  /** As it is in the topic: lowercase hex, or a name. */
  identifier?: string;
  name?: string;
  unit?: string;
  /** ISO 8601, as received. */
  time: string;
  seq?: number;
  value?: unknown;
  /** The value's hex string, whenever one was received. */
  raw?: string;
  ext?: unknown;
  /** Of a kind that is not known: the topic segment as it is. */
  topicKind?: string;
  retained?: true;
  [field: string]: unknown;
}

/** A received payload that is an object. */
export type Body = Record<string, unknown>;

/** Where a report arrived: the parsed topic. */
export interface ReportPlace {
  topic: string;
  gateway: string;
  device: string;
  form: Form;
  segment: string;
  identifier?: string;
}

/** The same with what its topic says of the kind, and with names. */
export interface NamedPlace extends ReportPlace {
  /** A name of the table of kinds, or `other`. */
  kind: string;
  /** Of the table of kinds; undefined for `other`. */
  row: KindRow | undefined;
  /** For people, where they are known. */
  deviceName: string | undefined;
  gatewayName: string | undefined;
}

/** A row of the table of kinds. */
export interface KindRow {
  /** Whether the topic goes on with an identifier, or with its name when the segment ends in `-decoded`. */
  identified: boolean;
  /** Whether the catalogue can decode its value. */
  hasValue: boolean;
  /**
   * Puts the kind's own fields into the report. Runs for every message: no closures, no copies.
   * @param catalogue given when raw values are to be decoded
   */
  fill(report: Report, body: Body, at: ReportPlace, catalogue: Catalogue | undefined): void;
}

export type BadReportReason =
  | 'tooLarge'
  | 'tooDeep'
  | 'notObject'
  | 'time'
  | 'mac'
  | 'seq'
  | 'flags'
  | 'value';

export function badReport(reason: BadReportReason, at: ReportPlace, payload: unknown): ServiceError {
  return new ServiceError('BAD_REPORT', reason, { topic: at.topic, payload });
}

const SEQ_TEXT = /^\d{1,3}$/;
const MAX_SEQ = 255;

/** Copies `seq` as a number; the interface's samples show it as a string too (Events, rule 2). */
export function fillSeq(report: Report, body: Body, at: ReportPlace): void {
  const seq = body.seq;
  if (seq === undefined) {
    return;
  }
  const number = typeof seq === 'string' && SEQ_TEXT.test(seq) ? Number(seq) : seq;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > MAX_SEQ) {
    throw badReport('seq', at, body);
  }
  report.seq = number;
}
