// The table of the results, on the screen and in docs/performance.md.
import { describeRun, writeResults } from '../docs/results.ts';
import type { Row } from './compare.ts';
import type { Options } from './run.ts';

export const PAGE = 'docs/performance.md';
const COLUMNS = ['case', 'what', 'ours', 'against', 'ratio', 'reach', 'reached'] as const;

function verdict({ reach, reached }: Row): string {
  // Without a goal the figures speak for themselves.
  if (reach === '') {
    return '';
  }
  return reached === undefined ? 'not shown here' : reached ? 'yes' : '**no**';
}

/** A table in Markdown. */
export function markdown(columns: readonly string[], lines: string[][]): string {
  return [[...columns], columns.map(() => '---'), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

export function tableOf(rows: Row[]): string {
  const lines = rows.map((row) => COLUMNS.map((name) => (name === 'reached' ? verdict(row) : row[name])));
  return markdown(COLUMNS, lines);
}

export async function writePage(rows: Row[], { pairs, scale }: Options): Promise<void> {
  const circumstances = `${await describeRun()}, ${pairs} pairs, ${scale === 1 ? 'all' : scale} of the messages`;
  await writeResults(PAGE, `${circumstances}.\n\n${tableOf(rows)}`);
}
