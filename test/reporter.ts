// Mocha's spec output; leaves the two numbers of the run in the file that MT_COUNTS names, for .ci/run to print.
import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

const { EVENT_RUN_END, EVENT_TEST_PENDING, EVENT_TEST_RETRY } = Mocha.Runner.constants;

/** How much is shown of why a test was tried again. */
const MAX_REASON = 300;

/** A pending test counts as failed: where this reporter runs nothing may be skipped. */
export default class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    let pending = 0;
    runner.on(EVENT_TEST_PENDING, () => {
      pending += 1;
    });
    const retried = new Map<string, string>();
    runner.on(EVENT_TEST_RETRY, (test: { fullTitle(): string }, { message }: Error) =>
      retried.set(test.fullTitle(), message),
    );
    runner.once(EVENT_RUN_END, () => {
      // What passes the second time only is named: a loaded machine, or a test that has to be mended.
      for (const [title, reason] of retried) {
        process.stdout.write(`tried twice: ${title} (${reason.slice(0, MAX_REASON)})\n`);
      }
      const { passes = 0, failures = 0 } = runner.stats ?? {};
      const file = process.env.MT_COUNTS;
      if (file !== undefined) {
        writeFileSync(file, `${passes} passed, ${failures + pending} failed`);
      }
    });
  }
}
