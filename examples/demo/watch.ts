// Rebuilds the package when its sources change, for `npm run dev`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { join } from 'node:path';

const SOURCES = ['src', 'nodes', 'icons'];
/** An editor saves several files at once. */
const SETTLE_MS = 200;

async function build(root: string): Promise<boolean> {
  const child = spawn(process.execPath, ['build.mjs'], { cwd: root, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return code === 0;
}

/** Calls `rebuilt` after each successful build; changes that come during a build cause one more. */
export function watchSources(root: string, rebuilt: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined;
  let running = false;
  let again = false;
  async function run(): Promise<void> {
    again = running;
    if (running) {
      return;
    }
    running = true;
    process.stdout.write('Building …\n');
    try {
      if (await build(root)) {
        await rebuilt();
      }
    } catch (error) {
      process.stderr.write(`${(error as Error).message}\n`);
    }
    running = false;
    if (again) {
      void run();
    }
  }
  const changed = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), SETTLE_MS);
  };
  const watchers = SOURCES.map((source) => watch(join(root, source), { recursive: true }, changed));
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) {
      watcher.close();
    }
  };
}
