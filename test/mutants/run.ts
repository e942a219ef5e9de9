// `npm run test:mutants`: changes the sources in small ways, one at a time, and tells which changes no test notices.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { EQUIVALENTS, MIN_SCORE, ROOMS, roomOf, STATE } from './config.ts';
import { chooseWindows, uncertainty } from './sample.ts';
import { type Equivalent, percentOf, type Score, scoreOf } from './score.ts';
import { digestOfAll, mutantsIn, mutantsOf, type RunOptions } from './stryker.ts';

const HELP = `npm run test:mutants -- [file or folder …] [--since origin/main] [--jobs 1] [--fresh] [--sample 400]
  file, folder  only these sources (all)
  --since       only sources that changed since this commit
  --jobs        test processes at a time (half of the cores)
  --fresh       does not take over results of the run before
  --sample      about so many changes, in lines chosen at random: an estimate, in less than an hour`;

const { values, positionals } = parseArgs({
  options: {
    since: { type: 'string' },
    jobs: { type: 'string', default: `${Math.max(1, Math.floor(availableParallelism() / 2))}` },
    fresh: { type: 'boolean', default: false },
    sample: { type: 'string' },
    help: { type: 'boolean' },
  },
  allowPositionals: true,
});

function allSources(): string[] {
  const below = readdirSync('src', { recursive: true, encoding: 'utf8' });
  const files = below.map((file) => join('src', file).replaceAll('\\', '/'));
  return files.filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts')).sort();
}

function changedSince(commit: string): Set<string> {
  const options = ['diff', '--name-only', '--merge-base', commit, '--', 'src'];
  return new Set(execFileSync('git', options, { encoding: 'utf8' }).split('\n'));
}

/** @throws Error for a path that no source lies at or below */
function wantedSources(): string[] {
  const all = allSources();
  const isBelow = (file: string, path: string) => file === path || file.startsWith(`${path}/`);
  const paths = positionals.map((path) => path.replace(/^\.\/|\/$/g, ''));
  for (const path of paths) {
    if (!all.some((file) => isBelow(file, path))) {
      throw new Error(`no sources at ${path}`);
    }
  }
  const named = paths.length === 0 ? all : all.filter((file) => paths.some((path) => isBelow(file, path)));
  if (values.since === undefined) {
    return named;
  }
  const changed = changedSince(values.since);
  return named.filter((file) => changed.has(file));
}

async function judge(file: string, list: readonly Equivalent[], options: RunOptions): Promise<Score> {
  const started = Date.now();
  const score = scoreOf(file, readFileSync(file, 'utf8'), await mutantsOf(file, options), list);
  console.log(`${rowOf(file, [score])}  ${Math.round((Date.now() - started) / 1000)} s`);
  return score;
}

function rowOf(name: string, scores: readonly Score[]): string {
  const sum = (count: (score: Score) => number) => scores.reduce((total, score) => total + count(score), 0);
  const counts = [
    `${sum(({ killed }) => killed)} killed`,
    `${sum(({ survivors }) => survivors.length)} survived`,
    `${sum(({ listed }) => listed)} listed`,
    `${percentOf(scores).toFixed(1)} %`,
  ];
  return `${name.padEnd(44)}${counts.map((count) => count.padStart(14)).join('')}`;
}

/** What to look at, and as rows to be listed in a file beside the state. */
function showSurvivors(scores: readonly Score[]): void {
  const survivors = scores.flatMap((score) => score.survivors);
  for (const { at, mutator, line, code, replacement } of survivors) {
    console.log(`\n${at}  ${mutator}\n    ${line}\n  - ${code}\n  + ${replacement}`);
  }
  const rows = survivors.map(({ file, line, code, replacement }) => ({
    file,
    line,
    code,
    replacement,
    reason: '',
  }));
  mkdirSync(STATE, { recursive: true });
  writeFileSync(join(STATE, 'survivors.json'), `${JSON.stringify(rows, null, 2)}\n`);
}

/** All rooms together have to reach the score: each has few changes in a sample. */
async function estimate(mutants: number, list: readonly Equivalent[]): Promise<boolean> {
  const windows = chooseWindows(wantedSources(), mutants);
  const scores: Score[] = [];
  for (const room of ROOMS) {
    const own = windows.filter(({ file }) => roomOf(file) === room);
    const found = own.length > 0 ? await mutantsIn(room, own, Number(values.jobs)) : [];
    const judged = [...found].map(([file, all]) => scoreOf(file, readFileSync(file, 'utf8'), all, list));
    console.log(rowOf(room.folder, judged));
    scores.push(...judged);
  }
  showSurvivors(scores);
  const share = percentOf(scores);
  const count = scores.reduce((sum, { killed, survivors }) => sum + killed + survivors.length, 0);
  console.log(`\n${rowOf('together', scores)}, ± ${uncertainty(share, count).toFixed(1)}`);
  return share >= MIN_SCORE;
}

async function main(): Promise<void> {
  const list = JSON.parse(readFileSync(EQUIVALENTS, 'utf8')) as Equivalent[];
  if (values.sample !== undefined) {
    process.exit((await estimate(Number(values.sample), list)) ? 0 : 1);
  }
  const options = { digest: digestOfAll(), jobs: Number(values.jobs), isFresh: values.fresh };
  const scores: Score[] = [];
  const sources = wantedSources();
  if (sources.length === 0) {
    console.log('No source was changed.');
  }
  for (const file of sources) {
    scores.push(await judge(file, list, options));
  }
  showSurvivors(scores);
  console.log();
  let isGood = true;
  for (const { folder } of ROOMS) {
    const own = scores.filter(({ file }) => roomOf(file).folder === folder);
    if (own.length === 0) {
      continue;
    }
    console.log(rowOf(folder, own));
    if (percentOf(own) < MIN_SCORE) {
      isGood = false;
      console.log(`${folder}: less than ${MIN_SCORE} %`);
    }
  }
  for (const { file, line, code, replacement } of scores.flatMap(({ stale }) => stale)) {
    isGood = false;
    console.log(`listed, but no survivor: ${file}: ${line}: ${code} → ${replacement}`);
  }
  process.exit(isGood ? 0 : 1);
}

if (values.help) {
  console.log(HELP);
} else {
  main().catch((error: Error) => {
    console.error(error.message);
    process.exit(1);
  });
}
