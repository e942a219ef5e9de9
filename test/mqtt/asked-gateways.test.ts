// Subscriptions to responses are given back when a gateway is not asked any more.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { AskedGateways } from '../../src/mqtt/asked-gateways.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { G, G2, responseFilter } from './scripted.ts';

const MINUTE_MS = 60_000;

describe('the subscription to the responses of a gateway', () => {
  let now = 0;
  let held: Set<string>;
  let gateways: AskedGateways;

  beforeEach(() => {
    now = 0;
    held = new Set();
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => now);
    gateways = new AskedGateways(createTopics(''), 8, {
      ensureFilter: (filter) => void held.add(filter),
      releaseFilter: (filter) => void held.delete(filter),
      isFilterActive: (filter) => held.has(filter),
    });
  });

  afterEach(() => {
    gateways.close();
    mock.timers.reset();
    mock.restoreAll();
  });

  const pass = (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++) {
      now += MINUTE_MS;
      mock.timers.tick(MINUTE_MS);
    }
  };

  it('is given back after an hour without a request, and that of others is kept', () => {
    gateways.of(G);
    pass(50);
    gateways.of(G2);
    pass(25);
    assert.deepEqual([...held], [responseFilter(G2)]);
    pass(60);
    assert.deepEqual([held.size, gateways.size], [0, 0]);
    gateways.of(G);
    assert.deepEqual([...held], [responseFilter(G)]);
  });

  it('is kept while a request is under way or waits', () => {
    const gateway = gateways.of(G);
    gateway.waiting = 1;
    pass(200);
    assert.deepEqual([...held], [responseFilter(G)]);
    gateway.waiting = 0;
    pass(20);
    assert.equal(held.size, 0);
  });
});
