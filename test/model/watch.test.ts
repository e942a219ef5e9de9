// Any network and any history of it: who dies is told, who lives is not, and what begins ends.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isLong, record, times } from '../faults/table.ts';
import { WatchLife } from './watch-life.ts';
import { type Plan, plans } from './watch-plan.ts';

const HISTORIES = times(100, 20_000);
/** A failure that cannot be simplified any further by then is shown as it is. */
const SHORT_LIMIT_MS = 40_000;

describe('a device watch in any history', function () {
  this.timeout(isLong ? 0 : 120_000);

  it(`tells each death in time, and of nobody who lives, in ${HISTORIES} histories`, () => {
    const { MT_MODEL_SEED, MT_MODEL_PATH } = process.env;
    let reports = 0;
    const property = fc.property(plans, (plan: Plan) => {
      const life = new WatchLife(plan);
      try {
        life.run();
      } finally {
        reports += life.reports;
      }
    });
    const details = fc.check(property, {
      numRuns: MT_MODEL_PATH ? 1 : HISTORIES,
      seed: MT_MODEL_SEED ? Number(MT_MODEL_SEED) : isLong ? Date.now() % 1_000_000_000 : 1,
      ...(MT_MODEL_PATH ? { path: MT_MODEL_PATH } : {}),
      ...(isLong ? {} : { interruptAfterTimeLimit: SHORT_LIMIT_MS }),
    });
    if (details.failed) {
      const { errorInstance, counterexample, seed, counterexamplePath } = details;
      assert.fail(
        [
          errorInstance instanceof Error ? errorInstance.message : String(errorInstance),
          `with ${JSON.stringify(counterexample?.[0])}`,
          `again: MT_MODEL_SEED=${seed} MT_MODEL_PATH='${counterexamplePath}' npx mocha test/model/watch.test.ts`,
        ].join('\n'),
      );
    }
    record({
      fault: 'model: any history of a network that is watched',
      times: HISTORIES,
      note: `${reports} reports`,
    });
  });
});
