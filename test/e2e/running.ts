// Ends each Node-RED that a test without time has left: it would load the machine, and look for its broker at a port that
// another test's broker may get, until the end of the run.
import type { ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();

export function untilFileEnds(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
}

export const mochaHooks = {
  /** Where files run in parallel: after each of them. */
  afterAll(): void {
    for (const child of running) {
      child.kill('SIGKILL');
    }
  },
};
