// The times in which reports could be heard, however often they could not.
import assert from 'node:assert/strict';
import { Listening } from '../../src/network/listening.ts';
import { usedMemory } from '../memory.ts';

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

  it('begins when it is said that they can be, and ends with a pause that lasts', () => {
    const listening = new Listening(0);
    assert.equal(listening.listenedMs(0, 10 * SECOND), 0);
    listening.set(true, 10 * SECOND);
    assert.equal(listening.listenedMs(0, 20 * SECOND), 10 * SECOND);
    listening.set(false, 30 * SECOND);
    assert.equal(listening.listenedMs(25 * SECOND, 50 * SECOND), 5 * SECOND);
    assert.equal(listening.listenedMs(35 * SECOND, 50 * SECOND), 0);
  });

  it('is the same however often that is said', () => {
    const listening = new Listening(0);
    listening.set(true, 0);
    listening.set(true, 5 * SECOND);
    listening.set(false, 10 * SECOND);
    listening.set(false, 20 * SECOND);
    listening.set(true, 30 * SECOND);
    listening.set(true, 35 * SECOND);
    assert.equal(listening.listenedMs(0, 40 * SECOND), 20 * SECOND);
    assert.equal(listening.lostUntil(0), 30 * SECOND);
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

  it('can be turned into the moment since which it was so long, the earliest where that is a pause', () => {
    const listening = new Listening(5 * SECOND);
    assert.deepEqual(
      [0, 3].map((seconds) => listening.momentOf(seconds * SECOND, 8 * SECOND)),
      [5 * SECOND, 2 * SECOND],
    );
    listening.set(true, 10 * SECOND);
    listening.set(false, 20 * SECOND);
    listening.set(true, 50 * SECOND);
    const at = (seconds: number) => listening.momentOf(seconds * SECOND, 60 * SECOND) / SECOND;
    assert.deepEqual([0, 4, 10, 12, 20, 23].map(at), [60, 56, 20, 18, 5, 2]);
    let now = 60 * SECOND;
    for (let pause = 0; pause < 500; pause++) {
      now += 10 * SECOND;
      listening.set(false, now - 3 * SECOND);
      listening.set(true, now);
    }
    for (const seconds of [0, 1, 100, 1_000, 3_000]) {
      const moment = listening.momentOf(seconds * SECOND, now);
      assert.ok(Math.abs(listening.listenedMs(moment, now) - seconds * SECOND) < 1, `${seconds} s`);
    }
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

  it('is exact of the last pauses, whatever there was before them', () => {
    const listening = new Listening(0);
    listening.set(true, 0);
    let now = 0;
    const pass = (times: number, everyMs: number, awayMs: number) => {
      for (let i = 0; i < times; i++) {
        listening.set(false, now);
        listening.set(true, now + awayMs);
        now += everyMs;
      }
    };
    pass(200, 5 * SECOND, 2 * SECOND);
    now += 24 * HOUR;
    const since = now;
    pass(10, 3 * SECOND, SECOND);
    assert.equal(listening.listenedMs(since, now), 20 * SECOND);
    assert.equal(listening.listenedMs(since + SECOND, now), 20 * SECOND);
    assert.equal(listening.listenedMs(since + 10 * SECOND, now), 14 * SECOND);
  });

  it('takes no more memory for tens of thousands of pauses', () => {
    const before = usedMemory();
    const listening = new Listening(0);
    for (let i = 0; i < 20_000; i++) {
      listening.set(true, i * HOUR);
      listening.set(false, i * HOUR + SECOND);
    }
    assert.ok(usedMemory() - before < 500_000);
    assert.ok(listening.listenedMs(0, 20_000 * HOUR) > 0);
  });

  it('may have lost reports of what was known before the last pause, and not of what came in it or after', () => {
    const listening = new Listening(10 * SECOND);
    assert.equal(listening.lostUntil(0), undefined);
    listening.set(true, 20 * SECOND);
    assert.equal(listening.lostUntil(10 * SECOND), 20 * SECOND);
    assert.equal(listening.lostUntil(10 * SECOND + 1), undefined);
    listening.set(false, 40 * SECOND);
    assert.equal(listening.lostUntil(30 * SECOND), undefined);
    listening.set(true, 40 * SECOND);
    assert.equal(listening.lostUntil(30 * SECOND), 40 * SECOND, 'however short it was');
    assert.equal(listening.lostUntil(40 * SECOND), undefined);
  });

  it('has the first minute after a pause in it as far as it could be heard, of one that began before', () => {
    const listening = new Listening(0);
    listening.set(true, 10 * SECOND);
    assert.equal(listening.returningMs(0, 40 * SECOND), 30 * SECOND);
    assert.equal(listening.returningMs(1, 40 * SECOND), 0);
    listening.set(false, 30 * SECOND);
    assert.equal(listening.returningMs(0, 60 * SECOND), 20 * SECOND);
    listening.set(true, 60 * SECOND);
    listening.set(false, 90 * SECOND);
    listening.set(true, 90 * SECOND);
    assert.equal(listening.returningMs(90 * SECOND, 100 * SECOND), 0, 'heard at the moment of the return');
    assert.equal(listening.returningMs(90 * SECOND - 1, 100 * SECOND), 10 * SECOND);
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
