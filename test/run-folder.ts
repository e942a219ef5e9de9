// A folder that lasts as long as a run of Mocha, for what its workers share.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAME = 'MT_RUN_FOLDER';

/** Undefined where no run of Mocha has made one. */
export const runFolder = (): string | undefined => process.env[NAME];

/** Workers start with the environment that this leaves. */
export async function mochaGlobalSetup(): Promise<void> {
  process.env[NAME] = await mkdtemp(join(tmpdir(), 'mt-run-'));
}

export async function mochaGlobalTeardown(): Promise<void> {
  await rm(process.env[NAME] as string, { recursive: true, force: true, maxRetries: 5 });
}
