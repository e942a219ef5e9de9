// The table of the fault tests: a row for each fault, printed at the end of `npm run test:faults`.

/** What one fault did, all its times together. Reports and requests left out: the fault has nothing to do with them. */
export interface Row {
  fault: string;
  times: number;
  reports?: { sent: number; arrived: number; lost: number; duplicated: number };
  requests?: { answered: number; failed: Record<string, number>; hanging: number };
  /** Milliseconds from the end of the fault until everything works again: the longest time. */
  recovered?: number;
  note?: string;
}

/** The long form repeats as often as the promise says, the short one as often as a test run can wait for. */
export const isLong = process.env.MT_FAULTS === 'long';

/** `short` times in `npm test`, `long` times in the long form. */
export const times = (short: number, long: number): number => (isLong ? long : short);

/** How often a process is killed: as `times`, or as often as `npm run test:faults -- --kills` says. */
export const kills = (short: number, long: number): number =>
  Number(process.env.MT_KILLS || times(short, long));

const rows: Row[] = [];

export function record(row: Row): void {
  rows.push(row);
}

/** The rows of this process so far. */
export function recorded(): readonly Row[] {
  return rows;
}

const HEAD = [
  'fault',
  'times',
  'reports sent',
  'arrived',
  'lost',
  'duplicated',
  'requests answered',
  'failed with code',
  'hanging',
  'time to recover',
  'note',
];

/** The table in Markdown. */
export function formatTable(all: readonly Row[]): string {
  const lines = [HEAD, HEAD.map(() => '---'), ...all.map(cellsOf)];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cellsOf({ fault, times: count, reports, requests, recovered, note }: Row): (string | number)[] {
  const { sent = '–', arrived = '–', lost = '–', duplicated = '–' } = reports ?? {};
  return [
    ...[fault, count, sent, arrived, lost, duplicated],
    requests?.answered ?? '–',
    requests ? showCodes(requests.failed) : '–',
    requests?.hanging ?? '–',
    recovered === undefined ? '–' : `${(recovered / 1000).toFixed(1)} s`,
    note ?? '',
  ];
}

function showCodes(failed: Record<string, number>): string {
  const codes = Object.entries(failed);
  return codes.length === 0 ? '0' : codes.map(([code, count]) => `${count} ${code}`).join(', ');
}
