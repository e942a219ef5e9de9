// Subscriptions to responses are given back when a gateway is not asked any more.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { AskedGateways } from '../../src/mqtt/asked-gateways.ts';
import { Requests } from '../../src/mqtt/requests.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { buildRequest } from '../../src/protocol/operations/index.ts';
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
    const filters = {
      ensureFilter: (filter: string) => void held.add(filter),
      releaseFilter: (filter: string) => void held.delete(filter),
      isFilterActive: (filter: string) => held.has(filter),
      isFilterBlocked: () => false,
      refusalOf: () => undefined,
    };
    gateways = new AskedGateways(createTopics(''), 8, filters, () => {});
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

describe('a request that waits for the subscription of its own gateway', () => {
  it('leaves when that for all gateways is granted first', () => {
    const granted = new Set<string>();
    const waiting = new Map<string, ((refused: boolean) => void)[]>();
    const sent: string[] = [];
    const topics = createTopics('');
    const requests = new Requests({ maxInFlight: 8, maxQueue: 10, qos: 0 }, topics, {
      connected: true,
      broker: 'mqtt://broker',
      readsSince: 0,
      publish: (topic) => void sent.push(topic),
      isFilterActive: (filter) => granted.has(filter),
      isFilterBlocked: () => false,
      refusalOf: () => undefined,
      ensureFilter(filter, settled) {
        if (granted.has(filter)) {
          settled(false);
        } else {
          waiting.set(filter, [...(waiting.get(filter) ?? []), settled]);
        }
      },
      releaseFilter(filter) {
        granted.delete(filter);
        waiting.delete(filter);
      },
    });
    const grant = (filter: string) => {
      granted.add(filter);
      const all = waiting.get(filter) ?? [];
      waiting.delete(filter);
      for (const settled of all) {
        settled(false);
      }
    };
    const send = (gateway: string) => {
      const context = { catalogue: createCatalogue([]), ack: { raw: 'ack', decoded: 'ack', payload: {} } };
      const request = buildRequest('apiversion', { gateway }, context);
      const { signal } = new AbortController();
      const options = { timeout: 60_000, signal, trafficClass: 'request', awaitResponse: true } as const;
      requests.send(request, options).catch(() => {});
    };
    send(G);
    send(G2);
    grant(responseFilter(G));
    grant(responseFilter(G2));
    requests.shareFilter(true);
    // As after a loss.
    granted.clear();
    send(G2);
    assert.equal(sent.length, 2);
    grant(responseFilter('+'));
    assert.equal(sent.length, 3);
    requests.close();
  });
});
