// How many subscriptions a broker allows is told when it changes, and tried again while there is a connection.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { SubscriptionLimit } from '../../src/mqtt/subscription-limit.ts';
import { SubscriptionQuota } from '../../src/mqtt/subscription-quota.ts';

const NONE = Number.POSITIVE_INFINITY;
/** Beyond the first wait of a number that a broker has told, with its share of chance. */
const RETRY_MS = 100_000;

describe('the number of subscriptions that a broker allows', () => {
  let now = 0;
  let told: number[];
  let retries: number;
  let quota: SubscriptionQuota;
  let limit: SubscriptionLimit;

  beforeEach(() => {
    now = 0;
    told = [];
    retries = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => now);
    quota = new SubscriptionQuota();
    limit = new SubscriptionLimit(quota, {
      changed: (max) => void told.push(max),
      retry: () => {
        retries++;
      },
    });
  });

  afterEach(() => {
    limit.disconnected();
    mock.reset();
  });

  const pass = (milliseconds: number) => {
    now += milliseconds;
    mock.timers.tick(milliseconds);
  };
  const connect = (known = NONE) => {
    limit.prepare(quota, known);
    limit.connected();
  };

  it('is not known before the broker refuses one, and told once then', () => {
    connect();
    assert.deepEqual([limit.max, told], [NONE, []]);
    limit.reached(10);
    limit.reached(10);
    assert.deepEqual([limit.max, told], [10, [10]]);
  });

  it('is the one that is known beforehand, or fewer', () => {
    connect(20);
    assert.deepEqual([limit.max, told], [20, [20]]);
    limit.reached(10);
    limit.reached(30);
    assert.deepEqual([limit.max, told], [10, [20, 10]]);
  });

  it('is that of the broker of the connection', () => {
    connect();
    limit.reached(10);
    limit.disconnected();
    limit.prepare(new SubscriptionQuota(), NONE);
    assert.deepEqual([limit.max, told], [NONE, [10, NONE]]);
  });

  it('is tried again after a while, which is told before anything is asked for', () => {
    connect();
    limit.reached(10);
    pass(59_999);
    assert.equal(retries, 0);
    pass(RETRY_MS);
    assert.deepEqual([limit.max, told, retries], [NONE, [10, NONE], 1]);
    pass(10 * RETRY_MS);
    assert.equal(retries, 1);
  });

  it('is tried again once, although more was refused meanwhile', () => {
    connect();
    limit.reached(10);
    limit.reached(9);
    limit.tell();
    pass(10 * RETRY_MS);
    assert.equal(retries, 1);
  });

  it('is tried soon when what counted may be gone', () => {
    connect();
    limit.reached(10);
    limit.retrySoon(1_000);
    pass(999);
    assert.equal(retries, 0);
    pass(1);
    assert.deepEqual([retries, limit.max], [1, NONE]);
  });

  it('is not tried while there is no connection', () => {
    connect();
    limit.reached(10);
    limit.disconnected();
    pass(10 * RETRY_MS);
    limit.retrySoon(1_000);
    pass(10 * RETRY_MS);
    assert.deepEqual([retries, limit.max], [0, 10]);
  });

  it('is not tried before the broker has taken the connection', () => {
    limit.prepare(quota, NONE);
    limit.reached(10);
    pass(10 * RETRY_MS);
    assert.equal(retries, 0);
  });

  it('is tried with the next connection, where the wait is over then', () => {
    connect();
    limit.reached(10);
    limit.disconnected();
    pass(RETRY_MS);
    connect();
    assert.deepEqual([limit.max, told], [NONE, [10, NONE]]);
  });

  it('is tried over the next connection, where the wait is not over before', () => {
    connect();
    limit.reached(10);
    limit.disconnected();
    connect();
    assert.equal(limit.max, 10);
    pass(RETRY_MS);
    assert.deepEqual([limit.max, retries], [NONE, 1]);
  });
});
