// `npm run bench`: runs the cases and prints their table; with all cases it writes docs/performance.md, with `--quick` it compares with it.
import { parseArgs } from 'node:util';
import { allCases } from './case-all.ts';
import { coldCases } from './case-cold.ts';
import { confirmCases } from './case-confirm.ts';
import { editorCases } from './case-editor.ts';
import { listCases } from './case-lists.ts';
import { pickerCases } from './case-picker.ts';
import { processCases } from './case-processes.ts';
import { readCases } from './case-reads.ts';
import { reportCases } from './case-reports.ts';
import type { Row } from './compare.ts';
import { tableOf, writePage } from './page.ts';
import { printComparison } from './quick.ts';

const HELP = `npm run bench -- [--case P1] [--pairs 5] [--scale 1]
  --case   only this case; may be repeated (all)
  --pairs  how often each variant is measured, in turn (5, quick 3); P4 twice as often
  --scale  factor on the number of messages, to look quickly (1)
  --quick  five minutes: ratios only, compared with those of docs/performance.md; never fails because of them`;

export interface Options {
  pairs: number;
  scale: number;
  /** Without core nodes, and of some cases only a part. */
  quick: boolean;
}

/** What a quick run measures: each tells of another part of the package. */
const QUICK = ['P1', 'P1c', 'P2', 'P3'];

const CASES: Record<string, (options: Options) => Promise<Row[]>> = {
  ...reportCases,
  ...coldCases,
  ...confirmCases,
  ...allCases,
  ...readCases,
  ...listCases,
  ...pickerCases,
  ...editorCases,
  ...processCases,
};

const { values } = parseArgs({
  options: {
    case: { type: 'string', multiple: true },
    pairs: { type: 'string' },
    scale: { type: 'string', default: '1' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean' },
  },
});

if (values.help) {
  console.log(HELP);
  process.exit();
}

async function main(): Promise<void> {
  const { quick } = values;
  const options = { pairs: Number(values.pairs ?? (quick ? 3 : 5)), scale: Number(values.scale), quick };
  const rows: Row[] = [];
  for (const name of values.case ?? (quick ? QUICK : Object.keys(CASES))) {
    const run = CASES[name];
    if (run === undefined) {
      throw new Error(`no case ${name}; there are ${Object.keys(CASES).join(' ')}`);
    }
    process.stderr.write(`${name}\n`);
    const found = await run(options);
    process.stderr.write(`${tableOf(found)}\n`);
    rows.push(...found);
  }
  if (quick) {
    await printComparison(rows);
    process.exit();
  }
  console.log(tableOf(rows));
  if (values.case === undefined) {
    await writePage(rows, options);
  }
  process.exit(rows.some(({ reached }) => reached === false) ? 1 : 0);
}

void main();
