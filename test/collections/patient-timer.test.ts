// A timer that gives what has come during a hold-up its turn.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { startPatientTimer } from '../../src/collections/patient-timer.ts';

describe('a patient timer', () => {
  let now: number;
  let calls: number;

  beforeEach(() => {
    now = 1_000;
    calls = 0;
    mock.method(performance, 'now', () => now);
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => {
    mock.timers.reset();
    mock.reset();
  });

  const start = () => startPatientTimer(() => calls++, 500);
  /** @param heldMs before its timers are looked at */
  const pass = async (ms: number, heldMs = 0) => {
    now += ms + heldMs;
    mock.timers.tick(ms);
    await turn();
  };

  it('calls once after its time, and the turn of the sockets', async () => {
    start();
    await pass(499);
    assert.equal(calls, 0);
    await pass(1);
    await pass(5_000);
    assert.equal(calls, 1);
  });

  for (const [heldMs, later] of [
    [20, 0],
    [21, 1],
  ] as const) {
    it(`calls ${later} s later where it was held up for ${heldMs} ms`, async () => {
      start();
      await pass(500, heldMs);
      await pass(Math.max(0, later * 1_000 - 1));
      assert.equal(calls, 1 - later);
      // Another hold-up changes nothing.
      await pass(1, 60_000);
      assert.equal(calls, 1);
    });
  }

  it('does not call when it was ended, before its time or after a hold-up', async () => {
    start()();
    const ends = [start(), start()] as const;
    now += 500;
    mock.timers.tick(500);
    ends[0]();
    await turn();
    assert.equal(calls, 1);
    calls = 0;
    const end = start();
    await pass(500, 5_000);
    end();
    await pass(60_000);
    assert.equal(calls, 0);
  });
});
