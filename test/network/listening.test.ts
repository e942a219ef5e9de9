// The times in which reports could be heard, however often they could not.
import assert from 'node:assert/strict';
import { Listening } from '../../src/network/listening.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

describe('the time in which reports could be heard', () => {
  it('is without each pause in it, and without a part of one', () => {
    const listening = new Listening(0);
    listening.set(true, 0);
    listening.set(false, 10 * SECOND);
    listening.set(true, 30 * SECOND);
    listening.set(false, 50 * SECOND);
    assert.equal(listening.listenedMs(0, 60 * SECOND), 30 * SECOND);
    assert.equal(listening.listenedMs(20 * SECOND, 60 * SECOND), 20 * SECOND);
    listening.set(true, 60 * SECOND);
    assert.equal(listening.listenedMs(60 * SECOND, 90 * SECOND), 30 * SECOND);
  });

  it('is without a pause that is known only after another one', () => {
    const listening = new Listening(0);
    listening.set(true, 0);
    listening.set(false, 10 * SECOND);
    listening.set(true, 20 * SECOND);
    listening.set(false, 15 * SECOND);
    listening.set(true, 30 * SECOND);
    assert.equal(listening.listenedMs(0, 40 * SECOND), 20 * SECOND);
  });

  it('is near the truth after tens of thousands of short pauses, of yesterday and of now', () => {
    const listening = new Listening(0);
    listening.set(true, 0);
    let now = 0;
    const pass = (hours: number, awayMs: number) => {
      for (const end = now + hours * HOUR; now < end; now += 5 * SECOND) {
        listening.set(false, now);
        listening.set(true, now + awayMs);
      }
    };
    pass(24, 2_500);
    for (const hours of [0.1, 1, 6]) {
      const since = now;
      pass(hours, 2_500);
      const heard = listening.listenedMs(since, now) / (now - since);
      assert.ok(heard > 0.45 && heard < 0.55, `${hours} h: ${heard}`);
    }
    // A night without the broker tells nothing of the hours after it.
    listening.set(false, now);
    now += 8 * HOUR;
    listening.set(true, now);
    const since = now;
    pass(3, 500);
    const heard = listening.listenedMs(since, now) / (now - since);
    assert.ok(heard > 0.8 && heard <= 0.95, `${heard}`);
  });

  it('has the first minute after each pause, as far as it lasted, in it, up to 15', () => {
    const listening = new Listening(0);
    let now = 0;
    const pass = (times: number, thereMs: number) => {
      for (let i = 0; i < times; i++) {
        listening.set(false, now);
        listening.set(true, now + SECOND);
        now += SECOND + thereMs;
      }
    };
    listening.set(true, 0);
    pass(2, 90 * SECOND);
    pass(1, 20 * SECOND);
    assert.equal(listening.returningMs(-1, now), 140 * SECOND);
    assert.equal(listening.returningMs(0.5 * SECOND, now), 80 * SECOND);
    assert.equal(listening.returningMs(now, now), 0);
    pass(300, SECOND);
    assert.equal(listening.returningMs(-1, now), 440 * SECOND);
    pass(20, 90 * SECOND);
    assert.equal(listening.returningMs(-1, now), 900 * SECOND);
  });
});
