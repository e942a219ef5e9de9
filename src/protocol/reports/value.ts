// The value of a property, measurement or event: hex in raw form, JSON in decoded form.

import type { Catalogue } from '../catalogue.ts';
import { isHexBytes } from '../hex.ts';
import { type Body, badReport, fillSeq, type Report, type ReportPlace } from './report.ts';

/** The received hex string of a raw report; undefined when it has none. */
export function rawValue(body: Body, at: ReportPlace): string | undefined {
  const raw = body.value;
  if (raw === undefined) {
    return undefined;
  }
  if (!isHexBytes(raw)) {
    throw badReport('value', at, body);
  }
  return raw;
}

/** Puts `value`, `raw` and `ext` of a raw value; what the catalogue cannot decode stays the hex string. */
export function fillRaw(
  report: Report,
  raw: string,
  at: ReportPlace,
  catalogue: Catalogue | undefined,
): void {
  const decoded = catalogue?.decode(at.identifier as string, raw);
  report.value = decoded === undefined ? raw : decoded.value;
  report.raw = raw;
  if (decoded?.ext !== undefined) {
    report.ext = decoded.ext;
  }
}

/** The fields that property, measurement and event have in common: `seq`, `value`, `raw`, `ext`. */
export function fillValue(
  report: Report,
  body: Body,
  at: ReportPlace,
  catalogue: Catalogue | undefined,
): void {
  fillSeq(report, body, at);
  if (at.form === 'decoded') {
    report.value = body.value;
    return;
  }
  const raw = rawValue(body, at);
  if (raw !== undefined) {
    fillRaw(report, raw, at, catalogue);
  }
}
