// A measurement that failed: seq, error, and optionally errorExt; the same fields in both forms.
import { fillSeq, type KindRow } from './report.ts';

export const measurementError: KindRow = { identified: true, fill: fillSeq };
