// Which broker of a list is tried next, and after how long: chance adds nothing here.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Consequence } from '../../src/mqtt/reasons.ts';
import { ReconnectWaits, wasGood } from '../../src/mqtt/reconnect-waits.ts';

describe('the waits between attempts to connect', () => {
  let now = 0;
  let chance: number;

  beforeEach(() => {
    now = 1_000_000;
    chance = 0;
    mock.method(performance, 'now', () => now);
    mock.method(Math, 'random', () => chance);
  });
  afterEach(() => mock.reset());

  /** What each failure is followed by, the time of the wait having passed: the broker that is tried then. */
  const follow = (waits: ReconnectWaits, ...failures: (Consequence | 'search')[]) =>
    failures.map((failure) => {
      const wait = waits.next(failure === 'search' ? 'retry' : failure, failure === 'search');
      now += wait;
      return `${wait}: ${waits.broker}`;
    });
  /** So often the same. */
  const times = <T>(count: number, failure: T): T[] => Array(count).fill(failure);

  it('double from 1 to 60 seconds where there is one broker, whatever it was', () => {
    const waits = new ReconnectWaits(1);
    assert.equal(waits.broker, 0);
    assert.deepEqual(follow(waits, 'retry', 'nextBroker', ...times(6, 'retry' as const)), [
      '1000: 0',
      '2000: 0',
      '4000: 0',
      '8000: 0',
      '16000: 0',
      '32000: 0',
      '60000: 0',
      '60000: 0',
    ]);
  });

  for (const consequence of ['refused', 'longWait'] as const) {
    it(`double from 10 seconds to 5 minutes where there is one broker, after ${consequence}`, () => {
      const waits = new ReconnectWaits(1);
      assert.deepEqual(follow(waits, ...times(7, consequence)), [
        '10000: 0',
        '20000: 0',
        '40000: 0',
        '80000: 0',
        '160000: 0',
        '300000: 0',
        '300000: 0',
      ]);
    });
  }

  it('are up to half as long again, and after a refusal up to a twentieth', () => {
    chance = 1;
    assert.deepEqual(follow(new ReconnectWaits(1), 'retry', 'refused', 'search'), [
      '1500: 0',
      '10500: 0',
      '300: 0',
    ]);
  });

  it('are short while it is searched what the broker must not be asked for', () => {
    const waits = new ReconnectWaits(1);
    assert.deepEqual(follow(waits, 'search', 'search', 'search', 'retry', 'search', 'retry'), [
      '200: 0',
      '300: 0',
      '300: 0',
      '1000: 0',
      '300: 0',
      '2000: 0',
    ]);
  });

  it('are 50 milliseconds within a list, and longer after each round', () => {
    const waits = new ReconnectWaits(3);
    assert.deepEqual(follow(waits, ...times(7, 'nextBroker' as const)), [
      '50: 1',
      '50: 2',
      '1000: 0',
      '50: 1',
      '50: 2',
      '2000: 0',
      '50: 1',
    ]);
  });

  it('are those of a search when one broker of the round was searched', () => {
    const waits = new ReconnectWaits(2);
    assert.deepEqual(follow(waits, 'search', 'retry', 'retry', 'retry'), [
      '50: 1',
      '200: 0',
      '50: 1',
      '1000: 0',
    ]);
  });

  it('begin with the broker that was chosen', () => {
    const waits = new ReconnectWaits(3);
    waits.startAt(1);
    assert.equal(waits.broker, 1);
    assert.deepEqual(follow(waits, 'retry', 'retry'), ['50: 2', '1000: 0']);
  });

  it('leave out a broker that has refused the login until its time has come', () => {
    const waits = new ReconnectWaits(3);
    assert.deepEqual(follow(waits, 'retry', 'refused', 'retry', 'retry', 'retry', 'retry'), [
      '50: 1',
      '50: 2',
      '1000: 0',
      '50: 2',
      '2000: 0',
      '50: 2',
    ]);
  });

  it('go to one that has rested for long enough, and then on with the round', () => {
    const waits = new ReconnectWaits(2);
    assert.deepEqual(
      follow(waits, 'refused', 'retry', 'retry', 'retry'),
      // 50 + 1000 + 2000 + 4000 ms after the refusal.
      ['50: 1', '1000: 1', '2000: 1', '4000: 1'],
    );
    // 10 s after the refusal, within the round of 8 s, of which the rest follows; the next rest is of 20 s.
    assert.deepEqual(follow(waits, 'retry', 'refused', 'retry'), ['2950: 0', '5050: 1', '14950: 0']);
  });

  it('begin a round that became due while one that had rested was tried', () => {
    const waits = new ReconnectWaits(2);
    assert.deepEqual(follow(waits, 'retry', 'refused', 'retry', 'retry', 'retry'), [
      '50: 1',
      '1000: 0',
      '2000: 0',
      '4000: 0',
      '3000: 1',
    ]);
    // The round is due 5 s after this; the attempt takes longer.
    now += 15_000;
    assert.deepEqual(follow(waits, 'refused', 'retry'), ['50: 0', '16000: 0']);

    // With its first broker, whichever had rested.
    const three = new ReconnectWaits(3);
    follow(three, 'retry', 'refused', ...times(7, 'retry' as const));
    assert.equal(three.broker, 1);
    now += 15_000;
    assert.deepEqual(follow(three, 'retry', 'retry'), ['50: 0', '50: 1']);

    const prompt = new ReconnectWaits(3);
    follow(prompt, 'retry', 'refused', ...times(7, 'retry' as const));
    assert.deepEqual([prompt.broker, ...follow(prompt, 'retry')], [1, '5200: 0']);
  });

  it('go on with the round where its first broker was tried before it as one that had rested', () => {
    const waits = new ReconnectWaits(2);
    assert.deepEqual(follow(waits, 'refused'), ['50: 1']);
    now += 10_000;
    assert.deepEqual(follow(waits, 'retry'), ['50: 0'], 'its rest was over while the other one was tried');
    now += 5_000;
    assert.deepEqual(follow(waits, 'retry', 'retry'), ['50: 1', '2000: 0']);
  });

  it('go on with what stands before the first broker of a round, where that does not rest any more', () => {
    const waits = new ReconnectWaits(3);
    assert.deepEqual(follow(waits, 'refused', 'refused', ...times(4, 'retry' as const)), [
      '50: 1',
      '50: 2',
      '1000: 2',
      '2000: 2',
      '4000: 2',
      '2900: 0',
    ]);
    assert.deepEqual(follow(waits, 'refused', 'retry', 'retry', 'retry'), [
      '50: 1',
      '5050: 2',
      '50: 1',
      '14850: 0',
    ]);
  });

  it('are not those of a search any more after a refusal', () => {
    assert.deepEqual(follow(new ReconnectWaits(1), 'search', 'refused', 'retry'), [
      '200: 0',
      '10000: 0',
      '1000: 0',
    ]);
  });

  it('go to the one that has rested for longest where all of them rest', () => {
    const waits = new ReconnectWaits(3);
    assert.deepEqual(follow(waits, 'refused', 'longWait', 'refused', 'refused', 'retry'), [
      '50: 1',
      '50: 2',
      '9900: 0',
      '50: 1',
      '50: 2',
    ]);
  });

  it('are never shorter than 50 milliseconds, also where one has rested by then', () => {
    const waits = new ReconnectWaits(2);
    waits.next('refused', false);
    now += 9_990;
    assert.equal(waits.next('refused', false), 50);
    assert.equal(waits.broker, 0);
  });

  it('do not count a rest that is over just now', () => {
    const waits = new ReconnectWaits(2);
    waits.startAt(1);
    waits.next('refused', false);
    assert.equal(waits.broker, 0);
    now += 10_000;
    assert.equal(waits.next('retry', false), 50);
    assert.equal(waits.broker, 1);
  });

  it('begin anew after a good connection', () => {
    const waits = new ReconnectWaits(2);
    follow(waits, 'refused', 'retry', 'retry', 'search');
    waits.startAt(0);
    waits.startOver();
    assert.deepEqual(follow(waits, 'retry', 'retry', 'search', 'retry', 'refused', 'refused'), [
      '50: 1',
      '1000: 0',
      '50: 1',
      '200: 0',
      '50: 1',
      '9950: 0',
    ]);
  });

  it('at a broker that has refused the login last on while another one is there and goes', () => {
    const waits = new ReconnectWaits(2);
    assert.deepEqual(follow(waits, 'refused'), ['50: 1']);
    for (let time = 0; time < 3; time++) {
      now += 3_000;
      waits.startOver();
      assert.deepEqual(follow(waits, 'retry'), [time < 2 ? '1000: 1' : '50: 0']);
    }
    assert.deepEqual(follow(waits, 'refused'), ['950: 1'], 'with the round');
    now += 15_000;
    waits.startOver();
    assert.deepEqual(follow(waits, 'retry'), ['1000: 1'], 'it rests for twice as long');
  });

  it('do not wait for the next round after a good connection', () => {
    const waits = new ReconnectWaits(2);
    follow(waits, 'refused', ...times(4, 'retry' as const));
    assert.equal(waits.broker, 0);
    waits.startOver();
    assert.deepEqual(follow(waits, 'retry'), ['50: 1']);
  });

  it('are not those of a search after a good connection', () => {
    const waits = new ReconnectWaits(2);
    follow(waits, 'search');
    waits.startOver();
    assert.deepEqual(follow(waits, 'retry'), ['1000: 0']);
  });

  it('take a connection for a good one when it lasted longer than 5 seconds', () => {
    assert.deepEqual([wasGood(now - 5_000), wasGood(now - 5_001)], [false, true]);
  });
});
