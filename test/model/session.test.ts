// Any order of what can happen to a session, at a broker that does it: nothing is lost, doubled or left behind.
import assert from 'node:assert/strict';
import { openResources } from '../faults/resources.ts';
import { isLong, record, times } from '../faults/table.ts';
import { replays } from './replay.ts';
import { newTotals, runSequences } from './run.ts';

/** Beside each other, since much of a sequence is waiting. */
const WORKERS = 4;
const SEQUENCES = times(300, 10_000);

describe('a session in any order of events', function () {
  this.timeout(isLong ? 0 : 240_000);

  it(`loses, doubles and leaves behind nothing in ${SEQUENCES} sequences of commands`, async () => {
    const before = await openResources();
    const workers = replays(WORKERS);
    const totals = newTotals();
    const failures = await Promise.all(
      workers.map((replay) => runSequences(Math.ceil(SEQUENCES / workers.length), totals, replay)),
    );
    const text = failures.filter((failure) => failure !== undefined).join('\n\n');
    if (text !== '') {
      assert.fail(text);
    }
    assert.deepEqual(await openResources(), before);
    const { commands, connections, reports, deliveries, answered, failed } = totals;
    record({
      fault: 'model: any order of events',
      times: SEQUENCES,
      requests: { answered, failed, hanging: 0 },
      note: `${commands} events, ${connections} connections, ${reports} reports given ${deliveries} times`,
    });
  });
});
