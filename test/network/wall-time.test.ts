// Times for people: the same for one moment, and right by the clock of this machine.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ageOfTime, wallTime } from '../../src/network/wall-time.ts';

describe('the time of a moment', () => {
  const EPOCH = Date.parse('2026-03-01T00:00:00Z');
  let setBy: number;

  beforeEach(() => {
    setBy = 0;
    mock.method(performance, 'now', () => 10_000);
    mock.method(Date, 'now', () => EPOCH + 10_000 + setBy);
    // Another test has left another clock.
    setBy = 3_600_000;
    wallTime(0);
    setBy = 0;
  });
  afterEach(() => mock.reset());

  it('is that of the clock of this machine, before and after the start', () => {
    assert.deepEqual([2_500, -1_000].map(wallTime), ['2026-03-01T00:00:02.500Z', '2026-02-28T23:59:59.000Z']);
  });

  for (const ms of [500, -500]) {
    it(`stays what it was when both clocks are ${ms} ms further apart`, () => {
      const before = wallTime(2_500);
      setBy = ms;
      assert.equal(wallTime(2_500), before);
    });

    it(`is another one when the clock was set by ${ms + Math.sign(ms)} ms`, () => {
      wallTime(2_500);
      setBy = ms + Math.sign(ms);
      assert.equal(Date.parse(wallTime(2_500)), EPOCH + 2_500 + setBy);
    });
  }

  it('tells how long ago it was, and nothing of what is none or lies ahead', () => {
    assert.equal(ageOfTime('2026-03-01T00:00:03Z'), 7_000);
    for (const time of ['2026-03-01T00:00:11Z', '', 'noon']) {
      assert.equal(ageOfTime(time), 0);
    }
  });
});
