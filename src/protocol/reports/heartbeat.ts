// A device's heartbeat: seq, status (non-zero: error or warning), lastCount (duplicates of the previous seq).
import { fillSeq, type KindRow } from './report.ts';

export const heartbeat: KindRow = { identified: false, fill: fillSeq };
