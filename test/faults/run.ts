// Runs the fault, fuzz and model tests and prints their table; `--long` repeats them as often as the promises say, `--kills` sets the number of kills.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { describeRun, writeResults } from '../docs/results.ts';
import { formatTable, type Row } from './table.ts';

/** These judge memory and time: nothing else may run beside them. */
const ALONE = /(deploys|leaks|overload|growth|sidebar)\.test\.ts$/;

interface Outcome {
  file: string;
  failed: boolean;
  rows: Row[];
}

async function run(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { long: { type: 'boolean', default: false }, kills: { type: 'string', default: '' } },
    allowPositionals: true,
  });
  process.env.MT_FAULTS = values.long ? 'long' : 'short';
  process.env.MT_KILLS = values.kills;
  const isWhole = positionals.length === 0;
  const files = isWhole ? allTests() : positionals;
  const [alone, together] = [
    files.filter((file) => ALONE.test(file)),
    files.filter((file) => !ALONE.test(file)),
  ];
  const outcomes = [
    ...(await runAll(together, Math.min(2, availableParallelism()), values.long)),
    ...(await runAll(alone, 1, values.long)),
  ];
  const failed = outcomes.filter((outcome) => outcome.failed);
  const table = `${await describeRun()}\n\n${formatTable(outcomes.flatMap(({ rows }) => rows))}`;
  console.log(`${table}\n`);
  for (const { file } of failed) {
    console.log(`failed: ${file}`);
  }
  if (values.long && values.kills === '' && isWhole && failed.length === 0) {
    await writeResults('docs/faults.md', table);
  }
  process.exit(failed.length > 0 ? 1 : 0);
}

function allTests(): string[] {
  const files = ['test/faults', 'test/fuzz', 'test/model'].flatMap((folder) =>
    readdirSync(folder).map((file) => `${folder}/${file}`),
  );
  return files.filter((file) => file.endsWith('.test.ts')).sort();
}

/** Each file in a process of its own, so many at a time; in the order of the files. */
async function runAll(files: string[], atOnce: number, isLong: boolean): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const waiting = [...files.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      outcomes[next[0]] = await runFile(next[1], isLong);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return outcomes;
}

async function runFile(file: string, isLong: boolean): Promise<Outcome> {
  const child = fork('test/faults/run-file.ts', [file], { execArgv: ['--import', 'tsx'], silent: true });
  const output: Buffer[] = [];
  // Hours of the long form show how far they are; two files of the short one would be read in each other's lines.
  const take = (data: Buffer) => void (isLong ? process.stdout.write(data) : output.push(data));
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  const rows: Row[] = [];
  child.on('message', (message) => rows.push(...(message as Row[])));
  const [code] = await once(child, 'close');
  console.log(Buffer.concat(output).toString());
  return { file, failed: code !== 0, rows };
}

void run();
