// How a sequence of commands is run that was run before: what a failure prints, and what is read of the environment.
import type fc from 'fast-check';
import { isLong } from '../faults/table.ts';

export interface Replay {
  seed: number;
  path?: string | undefined;
  replayPath?: string | undefined;
}

/**
 * As printed by a failure; else the same sequences in every short run, and others in every long one.
 * @param workers how many run beside each other
 */
export function replays(workers: number): Replay[] {
  const { MT_MODEL_SEED, MT_MODEL_PATH, MT_MODEL_REPLAY } = process.env;
  if (MT_MODEL_SEED) {
    return [{ seed: Number(MT_MODEL_SEED), path: MT_MODEL_PATH, replayPath: MT_MODEL_REPLAY }];
  }
  const first = isLong ? Date.now() % 1_000_000_000 : 1;
  return Array.from({ length: workers }, (_, worker) => ({ seed: first + worker }));
}

type Failure = Pick<
  fc.RunDetails<[unknown, Iterable<unknown>]>,
  'seed' | 'counterexamplePath' | 'counterexample' | 'errorInstance' | 'numShrinks'
>;

/** What has failed, with which settings and commands, and how to see it again. @param file of the test */
export function explain(details: Failure, file: string): string {
  const { seed, counterexamplePath, counterexample, errorInstance, numShrinks } = details;
  const [setup, sequence] = counterexample ?? [];
  const text = String(sequence);
  const replayPath = /replayPath="([^"]*)"/.exec(text)?.[1] ?? '';
  return [
    `${errorInstance instanceof Error ? errorInstance.message : String(errorInstance)}`,
    `after ${numShrinks} simplifications, with ${JSON.stringify(setup)}:`,
    ...text.split(/,(?=[a-z]+\()/).map((line) => `  ${line}`),
    'again:',
    `  MT_MODEL_SEED=${seed} MT_MODEL_PATH='${counterexamplePath}' MT_MODEL_REPLAY='${replayPath}' \\`,
    `    npx mocha ${file}`,
  ].join('\n');
}
