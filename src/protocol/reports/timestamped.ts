// A sample with the device's own timestamp; a raw one carries its state in the bits of `flags`.

import type { Catalogue } from '../catalogue.ts';
import { isHexBytes, readUnsigned } from '../hex.ts';
import { type Body, badReport, fillSeq, type KindRow, type Report, type ReportPlace } from './report.ts';
import { fillRaw, rawValue } from './value.ts';

/** Bits of `flags`, interface section "timestamped payload (raw)". */
const BACKFILL = 0x01;
const TS_SHIFTED = 0x02;
const ERROR_CODE = 0x04;
const ACK = 0x08;
const TS_ACCURACY_SHIFT = 4;
const TS_ACCURACY_MASK = 0x03;

export const timestamped: KindRow = {
  identified: true,
  hasValue: true,
  fill(report, body, at, catalogue) {
    fillSeq(report, body, at);
    if (at.form === 'raw') {
      fillFromRaw(report, body, at, catalogue);
    } else {
      fillFromDecoded(report, body);
    }
  },
};

/** Both forms end in the same fields, with every default of the interface's tables filled in. */
function fillFromDecoded(report: Report, body: Body): void {
  report.value = body.value === undefined ? null : body.value;
  report.ext = body.ext === undefined ? null : body.ext;
  report.errorCode = body.errorCode === undefined ? null : body.errorCode;
  report.errorMeta = body.errorMeta === undefined ? '' : body.errorMeta;
  report.ack = body.ack === undefined ? false : body.ack;
  report.backfill = body.backfill === undefined ? false : body.backfill;
  report.backfillCount = body.backfillCount === undefined ? 0 : body.backfillCount;
  report.tsShifted = body.tsShifted === undefined ? false : body.tsShifted;
  report.tsAccuracy = body.tsAccuracy === undefined ? 0 : body.tsAccuracy;
}

function fillFromRaw(report: Report, body: Body, at: ReportPlace, catalogue: Catalogue | undefined): void {
  if (!isHexBytes(body.flags) || body.flags === '') {
    throw badReport('flags', at, body);
  }
  const flags = readUnsigned(body.flags, 0, 2);
  const raw = rawValue(body, at);
  report.value = null;
  report.ext = null;
  report.errorCode = null;
  report.errorMeta = '';
  report.ack = (flags & ACK) !== 0;
  report.backfill = (flags & BACKFILL) !== 0;
  report.backfillCount = body.backfillCount === undefined ? 0 : body.backfillCount;
  report.tsShifted = (flags & TS_SHIFTED) !== 0;
  report.tsAccuracy = (flags >> TS_ACCURACY_SHIFT) & TS_ACCURACY_MASK;
  report.flags = body.flags;
  if (raw === undefined) {
    return;
  }
  if (flags & ERROR_CODE) {
    fillError(report, raw);
  } else {
    fillRaw(report, raw, at, catalogue);
  }
}

/** Whether a sample brings an error in place of a value; it may have no code. One of 0 beside a value says that there is none. */
export function isFailed({ kind, form, value, errorCode, flags }: Readonly<Report>): boolean {
  const isFine = errorCode === 0 && value !== undefined && value !== null;
  if (errorCode !== undefined && errorCode !== null && !isFine) {
    return true;
  }
  const isRaw = kind === 'timestamped' && form === 'raw' && typeof flags === 'string';
  return isRaw && (readUnsigned(flags, 0, 2) & ERROR_CODE) !== 0;
}

/** The width of the error code is not public: the first byte is assumed, the rest is metadata. */
function fillError(report: Report, raw: string): void {
  report.raw = raw;
  if (raw === '') {
    return;
  }
  report.errorCode = readUnsigned(raw, 0, 2);
  report.errorMeta = raw.slice(2);
}
