// The package as a user gets it: packed, then installed by npm into a fresh user directory, once per run.
import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { runFolder } from '../run-folder.ts';

const execute = promisify(execFile);
/** Between two looks at what another worker installs. */
const POLL_MS = 100;
const ROOT = join(import.meta.dirname, '../..');

/** What `npm pack --json` says about the tarball; sizes in bytes. */
export interface Packed {
  filename: string;
  size: number;
  unpackedSize: number;
  files: { path: string; size: number }[];
}

/** The packages of this repository, by their folders. */
export type PackageFolder = '.' | 'simulator';

const packed = new Map<PackageFolder, Promise<{ folder: string; report: Packed }>>();
const installed = new Map<string, Promise<string>>();

/** A folder that lasts as long as this run. */
async function temporaryFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The tarball of the built package; made once per process. */
export function packPackage(of: PackageFolder = '.'): Promise<{ folder: string; report: Packed }> {
  const made = packed.get(of) ?? pack(of);
  packed.set(of, made);
  return made;
}

async function pack(of: PackageFolder): Promise<{ folder: string; report: Packed }> {
  const folder = await temporaryFolder('mt-pack-');
  const { stdout } = await execute(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', folder],
    { cwd: join(ROOT, of), maxBuffer: 2 ** 24 },
  );
  const answer: unknown = JSON.parse(stdout);
  // npm 12 answers with an object by package name, older ones with an array.
  const [report] = Array.isArray(answer) ? answer : Object.values(answer as object);
  return { folder, report: report as Packed };
}

async function install(packages: readonly PackageFolder[]): Promise<string> {
  const shared = runFolder();
  if (shared === undefined) {
    const userDir = await temporaryFolder('mt-user-');
    await installInto(userDir, packages);
    return userDir;
  }
  const userDir = join(shared, `user-${packages.length}`);
  const ready = `${userDir}.ready`;
  while (!existsSync(ready)) {
    const isMine = await mkdir(userDir).then(
      () => true,
      () => false,
    );
    if (!isMine) {
      await wait(POLL_MS);
      continue;
    }
    try {
      await installInto(userDir, packages);
      await writeFile(ready, '');
    } catch (error) {
      await rm(userDir, { recursive: true, force: true });
      throw error;
    }
  }
  return userDir;
}

async function installInto(userDir: string, packages: readonly PackageFolder[]): Promise<void> {
  const tarballs = await Promise.all(packages.map((each) => packPackage(each)));
  await writeFile(
    join(userDir, 'package.json'),
    '{"name":"node-red-project","version":"0.0.1","private":true}',
  );
  const options = ['--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', '--engine-strict'];
  const files = tarballs.map(({ folder, report }) => join(folder, report.filename));
  await execute('npm', ['install', ...options, ...files], { cwd: userDir });
}

/**
 * A user directory of its own that has the packages installed, as the palette manager would do it. The installed modules are
 * shared, since a copy of 2 000 files takes longer than Node-RED to start.
 */
export async function createUserDir(packages: readonly PackageFolder[] = ['.']): Promise<string> {
  const key = packages.join();
  const made = installed.get(key) ?? install(packages);
  installed.set(key, made);
  const userDir = await mkdtemp(join(tmpdir(), 'mt-red-'));
  await Promise.all([
    copyFile(join(await made, 'package.json'), join(userDir, 'package.json')),
    symlink(join(await made, 'node_modules'), join(userDir, 'node_modules'), 'junction'),
  ]);
  return userDir;
}
