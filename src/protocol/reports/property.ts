// A property that a device reported: value, ext, and optionally seq.
import type { KindRow } from './report.ts';
import { fillValue } from './value.ts';

export const property: KindRow = { identified: true, fill: fillValue };
