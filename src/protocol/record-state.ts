// The recording of all reports as the endpoints tell the editor of it.

/** Why a recording ended: somebody has ended it, it is as long or as large as it may be, or nobody asks for it any more. */
export type RecordEnd = 'stopped' | 'time' | 'size' | 'left';

export interface RecordState {
  name: 'none' | 'running' | 'ended';
  /** When it began, as ISO 8601; null while there is none. */
  since: string | null;
  /** How long it has taken. */
  seconds: number;
  lines: number;
  bytes: number;
  /** Reports that were not kept, since the line of each would be longer than a megabyte. */
  tooLong: number;
  end: RecordEnd | null;
}

/** With whether reports come that no flow wants. */
export type HeardRecordState = RecordState & { isHearing: boolean };
