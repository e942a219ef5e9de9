// A timer that gives what has come during a hold-up its turn.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
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
  const pass = (ms: number, heldMs = 0) => {
    now += ms + heldMs;
    mock.timers.tick(ms);
  };

  it('calls once after its time', () => {
    start();
    pass(499);
    assert.equal(calls, 0);
    pass(1);
    pass(5_000);
    assert.equal(calls, 1);
  });

  for (const [heldMs, later] of [
    [200, 0],
    [201, 1],
  ] as const) {
    it(`calls ${later} s later where it was held up for ${heldMs} ms`, () => {
      start();
      pass(500, heldMs);
      pass(Math.max(0, later * 1_000 - 1));
      assert.equal(calls, 1 - later);
      // Another hold-up changes nothing.
      pass(1, 60_000);
      assert.equal(calls, 1);
    });
  }

  it('does not call when it was ended, before its time or after a hold-up', () => {
    start()();
    const end = start();
    pass(500, 5_000);
    end();
    pass(60_000);
    assert.equal(calls, 0);
  });
});
