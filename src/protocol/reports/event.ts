// An event that a device fired: seq, and optionally value and ext.
import type { KindRow } from './report.ts';
import { fillValue } from './value.ts';

export const event: KindRow = { identified: true, fill: fillValue };
