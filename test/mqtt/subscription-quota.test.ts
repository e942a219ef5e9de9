// How many subscriptions a broker allows: what is evidence of a number, and for how long it is believed.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { SubscriptionQuota } from '../../src/mqtt/subscription-quota.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const NONE = Number.POSITIVE_INFINITY;

describe('the number of subscriptions that a broker allows', () => {
  let now = 0;
  let quota: SubscriptionQuota;

  beforeEach(() => {
    now = 0;
    mock.method(performance, 'now', () => now);
    mock.method(Math, 'random', () => 0);
    quota = new SubscriptionQuota();
  });

  afterEach(() => mock.reset());

  /** One more ended connection with each of the filters alone. @returns whether each was one too many */
  const lose = (held: number, ...filters: string[]) => filters.map((filter) => quota.lost(filter, held));
  /** As `lose`, and each is granted then beside fewer. */
  const loseAndGrant = (held: number, ...filters: string[]) =>
    filters.map((filter) => {
      const isOver = quota.lost(filter, held);
      quota.granted(filter, held - 1);
      return isOver;
    });

  it('is not known at first', () => {
    assert.deepEqual([quota.max, quota.retryWait, quota.room(5)], [NONE, NONE, NONE]);
  });

  it('is what the broker has told, for a minute', () => {
    quota.told(10);
    assert.deepEqual([quota.max, quota.retryWait], [10, MINUTE_MS]);
    now = MINUTE_MS - 1;
    assert.equal(quota.retryWait, 1);
    now = MINUTE_MS + 1;
    assert.equal(quota.retryWait, 0);
  });

  it('is told anew only where it is fewer: that takes longer each time, until an hour', () => {
    quota.told(10);
    now = 1_000;
    quota.told(10);
    quota.told(11);
    assert.deepEqual([quota.max, quota.retryWait], [10, MINUTE_MS - 1_000]);
    quota.told(9);
    assert.deepEqual([quota.max, quota.retryWait], [9, 2 * MINUTE_MS]);
    for (const minutes of [4, 8, 16, 32, 60, 60]) {
      quota.retry();
      quota.told(10);
      assert.deepEqual([quota.max, quota.retryWait], [10, minutes * MINUTE_MS]);
    }
  });

  it('is not known any more when it is tried again', () => {
    quota.told(10);
    quota.retry();
    assert.deepEqual([quota.max, quota.retryWait, quota.room(12)], [NONE, NONE, NONE]);
  });

  it('is tried again soon when what counted may be gone, and not later than it would be', () => {
    quota.retrySoon(10_000);
    assert.equal(quota.retryWait, NONE);
    quota.told(10);
    now = 1_000;
    quota.retrySoon(10_000);
    assert.equal(quota.retryWait, 10_000);
    quota.retrySoon(20_000);
    assert.equal(quota.retryWait, 10_000);
  });

  it('is where three connections have ended with different filters that were granted beside fewer, for an hour', () => {
    assert.deepEqual(loseAndGrant(10, 'a', 'b'), [false, false]);
    assert.equal(quota.max, NONE);
    assert.deepEqual(lose(10, 'c'), [true]);
    assert.deepEqual([quota.max, quota.retryWait], [10, HOUR_MS]);
  });

  it('is one or more: where the first one ends the connection, that is for another reason', () => {
    assert.deepEqual(loseAndGrant(0, 'a', 'b', 'c', 'd'), [false, false, false, false]);
    assert.equal(quota.room(0), NONE);
    assert.deepEqual(loseAndGrant(1, 'a', 'b', 'c'), [false, false, true]);
    assert.equal(quota.max, 1);
  });

  for (const [held, wait] of [
    [1, 60_000],
    [7, 60_000],
    [8, 3_600_000],
  ] as const) {
    it(`is tried again after ${wait / 60_000} minutes where connections have ended at ${held}`, () => {
      loseAndGrant(held, 'a', 'b', 'c');
      assert.ok(quota.retryWait > wait * 0.7 && quota.retryWait <= wait * 1.3, `${quota.retryWait}`);
    });
  }

  it('stays the lower one where the broker has told fewer', () => {
    quota.told(9);
    loseAndGrant(10, 'a', 'b', 'c');
    assert.equal(quota.max, 9);
  });

  for (const [what, happen] of [
    [
      'with one filter again',
      () => {
        loseAndGrant(10, 'a', 'a', 'a', 'a');
      },
    ],
    [
      'with filters that were not granted beside fewer',
      () => {
        lose(10, 'a', 'b', 'c', 'd');
      },
    ],
    [
      'with filters of which others were granted beside fewer',
      () => {
        for (const filter of ['a', 'b', 'c', 'd']) {
          lose(10, filter);
          quota.granted('other', 9);
        }
      },
    ],
    [
      'beside other numbers each time',
      () => {
        loseAndGrant(10, 'a');
        loseAndGrant(11, 'b');
        loseAndGrant(10, 'c');
        loseAndGrant(11, 'd');
      },
    ],
    [
      'and as many were granted meanwhile',
      () => {
        loseAndGrant(10, 'a', 'b');
        quota.granted('other', 10);
        loseAndGrant(10, 'c', 'd');
      },
    ],
    [
      'and one ended beside very few meanwhile',
      () => {
        loseAndGrant(10, 'a', 'b');
        lose(3, 'other');
        loseAndGrant(10, 'c', 'd');
      },
    ],
    [
      'and the last filter was granted beside as many',
      () => {
        loseAndGrant(10, 'a');
        lose(10, 'b');
        quota.granted('b', 10);
        loseAndGrant(10, 'c', 'd');
      },
    ],
  ] as const) {
    it(`is not where connections have ended ${what}`, () => {
      happen();
      assert.equal(quota.max, NONE);
    });
  }

  it('is where connections have ended, though fewer others were granted meanwhile', () => {
    loseAndGrant(10, 'a', 'b');
    quota.granted('other', 9);
    assert.deepEqual(lose(10, 'c'), [true]);
  });

  it('leaves room up to where a connection has ended, and for one filter from there on', () => {
    lose(10, 'a');
    assert.deepEqual(
      [0, 4, 9, 10, 11].map((held) => quota.room(held)),
      [10, 6, 1, 1, 1],
    );
  });

  it('leaves room up to where a packet of several filters has ended a connection, until more are granted', () => {
    lose(10, 'a');
    quota.lostSeveral(6);
    const rooms = () => [2, 6, 7].map((held) => quota.room(held));
    assert.deepEqual(rooms(), [4, 1, 1]);
    quota.granted('b', 5);
    assert.deepEqual(rooms(), [4, 1, 1]);
    quota.granted('b', 6);
    assert.deepEqual(rooms(), [8, 4, 3]);
  });

  it('shown once takes one more connection when it is tried again, whatever a forbidden filter has ended', () => {
    loseAndGrant(10, 'a', 'b');
    assert.deepEqual(lose(10, 'c', 'd'), [true, true]);
    for (const _ of [1, 2]) {
      assert.deepEqual(lose(0, 'wide'), [false]);
      assert.deepEqual(lose(8, 'wide'), [false]);
      quota.retry();
      assert.deepEqual([quota.max, quota.room(4), quota.room(10)], [NONE, 6, 1]);
      assert.deepEqual([...lose(10, 'd'), quota.max], [true, 10]);
    }
    quota.retry();
    assert.deepEqual(lose(8, 'wide'), [false]);
    quota.granted('e', 9);
    assert.deepEqual(lose(0, 'wide'), [false]);
    assert.deepEqual(lose(10, 'f'), [true]);
  });

  it('shown once is no more when as many are granted: it takes three connections again', () => {
    loseAndGrant(10, 'a', 'b');
    lose(10, 'c');
    quota.retry();
    quota.granted('d', 9);
    assert.equal(quota.room(9), 1);
    quota.granted('e', 10);
    assert.equal(quota.room(10), NONE);
    assert.deepEqual(loseAndGrant(10, 'f', 'g', 'h'), [false, false, true]);
  });
});
