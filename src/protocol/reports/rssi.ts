// Signal strength between a parent and the device: parent, rssi, and optionally channel, seq, unreachable.
import { fillSeq, type KindRow } from './report.ts';

export const rssi: KindRow = { identified: false, fill: fillSeq };
