// A measurement of a device: seq, value, ext.
import type { KindRow } from './report.ts';
import { fillValue } from './value.ts';

export const measurement: KindRow = { identified: true, fill: fillValue };
