// A device that advertises in DFU mode: parent, rssi. Its MAC may be one higher than usual.
import { fillSeq, type KindRow } from './report.ts';

export const dfu: KindRow = { identified: false, fill: fillSeq };
