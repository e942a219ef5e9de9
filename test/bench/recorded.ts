// Ratios of a run beside those that a full run has left in the table of docs/performance.md.
import type { Row } from './compare.ts';

/** How much worse than recorded is told: by a tenth, since less is within what pairs of a shared machine scatter. */
const WORSE_FROM = 1.1;

export interface Comparison {
  case: string;
  what: string;
  /** What ours is compared with. */
  against: string;
  ratio: string;
  recorded: string;
  /** The ratio as a part of the recorded one, above 1 for the worse; `undefined` where none is recorded. */
  change: number | undefined;
  isWorse: boolean;
}

type Cells = Pick<Row, 'case' | 'what' | 'against' | 'ratio'>;

/** Without the figure behind it, which is another one each time. */
const nameOf = (against: string): string => against.split(':')[0] as string;

const keyOf = (row: Cells): string => [row.case, row.what, nameOf(row.against)].join('|');

/** The median of a cell such as `0.97 × (0.91–1.04)`. */
function ratioOf(cell: string): number | undefined {
  const [, middle] = /^([\d.]+) ×/.exec(cell) ?? [];
  return middle === undefined ? undefined : Number(middle);
}

/** @param page what stands between the marks of docs/performance.md */
function rowsOf(page: string): Cells[] {
  const lines = page.split('\n').filter((line) => line.startsWith('| '));
  const [names = [], , ...rows] = lines.map((line) => line.slice(2, -2).split(' | '));
  const place = (name: keyof Cells) => names.indexOf(name);
  const cell = (cells: string[], name: keyof Cells) => cells[place(name)] ?? '';
  return rows.map((cells) => ({
    case: cell(cells, 'case'),
    what: cell(cells, 'what'),
    against: cell(cells, 'against'),
    ratio: cell(cells, 'ratio'),
  }));
}

/**
 * The rows that have a ratio, each with the recorded one.
 * @param page what stands between the marks of docs/performance.md
 */
export function compareWithRecorded(rows: Row[], page: string): Comparison[] {
  const recorded = new Map(rowsOf(page).map((row) => [keyOf(row), row.ratio]));
  return rows.flatMap((row) => {
    const now = ratioOf(row.ratio);
    if (now === undefined) {
      return [];
    }
    const cell = recorded.get(keyOf(row)) ?? '';
    const before = ratioOf(cell);
    const isMoreBetter = row.reach.startsWith('≥');
    const change = before === undefined ? undefined : isMoreBetter ? before / now : now / before;
    return [
      {
        ...{ case: row.case, what: row.what, against: nameOf(row.against), ratio: row.ratio, recorded: cell },
        ...{ change, isWorse: change !== undefined && change >= WORSE_FROM },
      },
    ];
  });
}
