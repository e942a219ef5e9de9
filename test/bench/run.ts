// `npm run bench`: runs the cases and prints their table; with all cases it writes docs/performance.md.
import { parseArgs } from 'node:util';
import { coldCases } from './case-cold.ts';
import { confirmCases } from './case-confirm.ts';
import { listCases } from './case-lists.ts';
import { pickerCases } from './case-picker.ts';
import { processCases } from './case-processes.ts';
import { readCases } from './case-reads.ts';
import { reportCases } from './case-reports.ts';
import type { Row } from './compare.ts';
import { tableOf, writePage } from './page.ts';

const HELP = `npm run bench -- [--case P1] [--pairs 5] [--scale 1]
  --case   only this case; may be repeated (all)
  --pairs  how often each variant is measured, in turn (5); P4 twice as often
  --scale  factor on the number of messages, to look quickly (1)`;

export interface Options {
  pairs: number;
  scale: number;
}

const CASES: Record<string, (options: Options) => Promise<Row[]>> = {
  ...reportCases,
  ...coldCases,
  ...confirmCases,
  ...readCases,
  ...listCases,
  ...pickerCases,
  ...processCases,
};

const { values } = parseArgs({
  options: {
    case: { type: 'string', multiple: true },
    pairs: { type: 'string', default: '5' },
    scale: { type: 'string', default: '1' },
    help: { type: 'boolean' },
  },
});

if (values.help) {
  console.log(HELP);
  process.exit();
}

async function main(): Promise<void> {
  const options = { pairs: Number(values.pairs), scale: Number(values.scale) };
  const rows: Row[] = [];
  for (const name of values.case ?? Object.keys(CASES)) {
    const run = CASES[name];
    if (run === undefined) {
      throw new Error(`no case ${name}; there are ${Object.keys(CASES).join(' ')}`);
    }
    process.stderr.write(`${name}\n`);
    const found = await run(options);
    process.stderr.write(`${tableOf(found)}\n`);
    rows.push(...found);
  }
  console.log(tableOf(rows));
  if (values.case === undefined) {
    await writePage(rows, options);
  }
  process.exit(rows.some(({ reached }) => reached === false) ? 1 : 0);
}

void main();
