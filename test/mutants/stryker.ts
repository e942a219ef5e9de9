// Runs Stryker over one source file, in a process of its own; a result that still holds is taken from the run before.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NODE_ARGS, OPTIONS, ROOMS, type Room, STATE, specsOf } from './config.ts';
import type { Window } from './sample.ts';
import { isAlive, type Mutant } from './score.ts';

interface Report {
  files: Record<string, { mutants: Mutant[] }>;
}

/** A digest of everything that results depend on. */
export function digestOfAll(): string {
  const hash = createHash('sha256').update(JSON.stringify([OPTIONS, ROOMS]));
  for (const root of ['src', 'test']) {
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || entry.parentPath.startsWith(join('test', 'mutants'))) {
        continue;
      }
      hash.update(entry.name).update(readFileSync(join(entry.parentPath, entry.name)));
    }
  }
  return hash.digest('hex');
}

export interface RunOptions {
  /** Of `digestOfAll`. */
  digest: string;
  /** Test processes at a time. */
  jobs: number;
  /** Does not trust the run before. */
  isFresh: boolean;
}

/** @throws Error with Stryker's output when it did not get to the end */
export async function mutantsOf(file: string, options: RunOptions): Promise<Mutant[]> {
  const state = join(STATE, file);
  const [report, stamp, config] = ['.report.json', '.digest', '.config.json'].map((end) => state + end) as [
    string,
    string,
    string,
  ];
  const holds = existsSync(stamp) && readFileSync(stamp, 'utf8') === options.digest && !options.isFresh;
  if (!holds) {
    mkdirSync(dirname(state), { recursive: true });
    forgetSurvivors(report);
    writeFileSync(config, JSON.stringify(configOf(file, report, options)));
    await runStryker(config);
    writeFileSync(stamp, options.digest);
  }
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  return files[file]?.mutants ?? [];
}

/** The mutants of some lines of a room, by file; nothing is remembered. @throws as `mutantsOf` */
export async function mutantsIn(
  room: Room,
  windows: readonly Window[],
  jobs: number,
): Promise<Map<string, Mutant[]>> {
  const [config, report] = [join(STATE, 'sample.config.json'), join(STATE, 'sample.json')];
  mkdirSync(STATE, { recursive: true });
  const settings = {
    ...OPTIONS,
    mutate: windows.map(({ file, from, until }) => `${file}:${from}-${until}`),
    mochaOptions: { spec: room.specs },
    ...{ incremental: false, reporters: ['json'], jsonReporter: { fileName: report } },
    ...{ concurrency: jobs, tempDirName: join(STATE, 'sandbox') },
  };
  writeFileSync(config, JSON.stringify(settings));
  await runStryker(config);
  const { files } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  return new Map(Object.entries(files).map(([file, { mutants }]) => [file, mutants]));
}

/** Stryker would run these again only when a test of a new name reaches them; a changed one may have got sharper. */
function forgetSurvivors(report: string): void {
  if (!existsSync(report)) {
    return;
  }
  let content: Report;
  try {
    content = JSON.parse(readFileSync(report, 'utf8')) as Report;
  } catch {
    // A run was ended while it wrote.
    rmSync(report);
    return;
  }
  for (const file of Object.values(content.files)) {
    file.mutants = file.mutants.filter(({ status }) => !isAlive(status));
  }
  writeFileSync(report, JSON.stringify(content));
}

function configOf(file: string, report: string, { jobs, isFresh }: RunOptions): object {
  return {
    ...OPTIONS,
    mutate: [file],
    mochaOptions: { spec: specsOf(file) },
    incrementalFile: report,
    force: isFresh,
    concurrency: jobs,
    tempDirName: join(STATE, 'sandbox'),
  };
}

/** Stryker refuses Node 20, so it runs on the pinned one. */
const NODE = 'node_modules/node/bin/node';

async function runStryker(config: string): Promise<void> {
  const program = 'node_modules/@stryker-mutator/core/bin/stryker.js';
  const child = spawn(NODE, [...NODE_ARGS, program, 'run', config], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => output.push(data));
  child.stderr.on('data', (data: Buffer) => output.push(data));
  const [code] = await once(child, 'close');
  if (code !== 0) {
    throw new Error(Buffer.concat(output).toString());
  }
}
