// Mocha's spec output; leaves the two numbers of the run in the file that MT_COUNTS names, for .ci/run to print.
import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

/** Time for sockets and processes to go after the last test. */
const PATIENCE = 15_000;

const { EVENT_RUN_END, EVENT_TEST_PENDING } = Mocha.Runner.constants;

/** Where this reporter runs, a pending test counts as failed, and so does whatever keeps the process from ending. */
export default class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    let pending = 0;
    runner.on(EVENT_TEST_PENDING, () => {
      pending += 1;
    });
    runner.once(EVENT_RUN_END, () => {
      const { passes = 0, failures = 0 } = runner.stats ?? {};
      writeCounts(passes, failures + pending);
      setTimeout(() => {
        console.error(`Still open after the last test: ${process.getActiveResourcesInfo().join(', ')}`);
        writeCounts(passes, failures + pending + 1);
        process.exit(1);
      }, PATIENCE).unref();
    });
  }
}

function writeCounts(passed: number, failed: number): void {
  const file = process.env.MT_COUNTS;
  if (file !== undefined) {
    writeFileSync(file, `${passed} passed, ${failed} failed`);
  }
}
