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
    mock.reset();
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

describe('the subscriptions to the responses of many gateways', () => {
  const ALL = responseFilter('+');
  const idOf = (n: number) => `c${n.toString(16).padStart(11, '0')}`;
  const filterOf = (n: number) => responseFilter(idOf(n));
  const own = (...numbers: number[]) => numbers.map(filterOf);

  let now = 0;
  /** What the broker is asked for, and tells what became of it. */
  let asked: Map<string, ((refused: boolean) => void)[]>;
  let granted: Set<string>;
  let isBlocked: boolean;
  /** Gateways that no longer wait for their own filter. */
  let shared: string[];
  let gateways: AskedGateways;

  beforeEach(() => {
    now = 0;
    asked = new Map();
    granted = new Set();
    isBlocked = false;
    shared = [];
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => now);
    const filters = {
      ensureFilter: (filter: string, settled: (refused: boolean) => void) =>
        void asked.set(filter, [...(asked.get(filter) ?? []), settled]),
      releaseFilter(filter: string) {
        assert.ok(asked.delete(filter), `${filter} was not asked for`);
        granted.delete(filter);
      },
      isFilterActive: (filter: string) => granted.has(filter),
      isFilterBlocked: (filter: string) => filter === ALL && isBlocked,
    };
    gateways = new AskedGateways(createTopics(''), 8, filters, ({ id }) => void shared.push(id));
  });

  afterEach(() => {
    gateways.close();
    mock.reset();
  });

  /** Each is asked a millisecond later than the one before. */
  const ask = (...numbers: number[]) =>
    numbers.map((n) => {
      now++;
      return gateways.of(idOf(n));
    });
  const settle = (filter: string, isRefused: boolean) => {
    for (const settled of asked.get(filter) ?? []) {
      settled(isRefused);
    }
  };
  const grant = (...filters: string[]) => {
    for (const filter of filters) {
      granted.add(filter);
      settle(filter, false);
    }
  };
  const filters = () => [...asked.keys()];

  it('are one for each', () => {
    const [first, second] = ask(1, 2, 1);
    assert.deepEqual(filters(), own(1, 2));
    assert.deepEqual([...gateways], [first, second]);
    assert.deepEqual([gateways.size, gateways.find(idOf(2)), gateways.find(idOf(3))], [2, second, undefined]);
  });

  it('are no more than 10 000: one with nothing to do is given back, those that are busy stay', () => {
    const all = ask(...Array.from({ length: 10_000 }, (_, n) => n));
    const [busy] = all;
    busy!.waiting = 1;
    ask(10_000);
    assert.deepEqual(
      [gateways.size, gateways.find(idOf(0)), gateways.find(idOf(1))],
      [10_000, busy, undefined],
    );
    assert.deepEqual([asked.has(filterOf(0)), asked.has(filterOf(1))], [true, false]);
    // Where a hundred are busy in a row, no further one is looked at; with the next one they have had their turn.
    for (const gateway of all.slice(2, 102)) {
      gateway.waiting = 1;
    }
    ask(10_001);
    assert.equal(gateways.size, 10_001);
    ask(10_002);
    assert.deepEqual([gateways.size, gateways.find(idOf(102))], [10_001, undefined]);
    assert.equal(gateways.find(idOf(2)), all[2]);
  });

  it('are not given back any more when the client is closed', () => {
    ask(1);
    gateways.close();
    now += 100 * MINUTE_MS;
    mock.timers.tick(100 * MINUTE_MS);
    assert.deepEqual(filters(), own(1));
  });

  it('are given back when nothing is to be asked, each once', () => {
    const [first, second] = ask(1, 2);
    second!.waiting = 1;
    gateways.releaseIfIdle(first!);
    gateways.releaseIfIdle(first!);
    gateways.releaseIfIdle(second!);
    assert.deepEqual(filters(), own(2));
    const [again] = ask(1);
    gateways.releaseIfIdle(first!);
    assert.equal(gateways.find(idOf(1)), again);
  });

  it('make room for another one: that of the gateway whose requests ended longest ago', () => {
    const [first] = ask(1, 2, 3, 4, 5);
    ask(2);
    first!.waiting = 1;
    assert.equal(gateways.makeRoom(), false);
    grant(...own(1, 2, 4, 5));
    assert.equal(gateways.makeRoom(), true);
    assert.deepEqual(filters(), own(1, 2, 3, 5));
    assert.equal(gateways.makeRoom(), true);
    assert.deepEqual(filters(), own(1, 2, 3));
    assert.equal(gateways.makeRoom(), true);
    assert.equal(gateways.makeRoom(), false);
    assert.deepEqual(filters(), own(1, 3));
  });

  it('become one: that of a gateway with nothing to do makes room for it, the others when it is granted', () => {
    const [first] = ask(1, 2, 3, 4);
    grant(...own(1, 2, 3));
    first!.waiting = 1;
    assert.equal(gateways.share(false), true);
    assert.equal(gateways.share(false), false);
    assert.deepEqual(filters(), [...own(1, 3), ALL]);
    assert.equal(gateways.makeRoom(), false);
    assert.deepEqual(
      [...gateways].map(({ filter }) => filter),
      [filterOf(1), ALL, filterOf(3), ALL],
    );
    ask(5);
    assert.equal(gateways.find(idOf(5))?.filter, ALL);
    grant(ALL);
    assert.deepEqual(filters(), [ALL]);
    assert.deepEqual(shared, [idOf(1), idOf(3)]);
    assert.ok([...gateways].every(({ filter }) => filter === ALL));
  });

  it('become one where all are busy: that of the first makes room for it', () => {
    for (const gateway of ask(1, 2)) {
      gateway.waiting = 1;
    }
    grant(...own(1, 2));
    gateways.share(false);
    assert.deepEqual(filters(), [...own(2), ALL]);
  });

  it('become one with the first gateway, where none was asked yet', () => {
    assert.equal(gateways.share(false), true);
    assert.deepEqual(filters(), []);
    ask(1, 2);
    assert.deepEqual(filters(), [ALL]);
  });

  it('become one only to try it, where it is known to end connections', () => {
    ask(1);
    isBlocked = true;
    assert.equal(gateways.share(false), false);
    assert.deepEqual(filters(), own(1));
    assert.equal(gateways.share(true), true);
    assert.deepEqual(filters(), [ALL]);
  });

  it('that are one are given back with the last gateway', () => {
    const [first, second] = ask(1, 2);
    gateways.share(false);
    gateways.releaseIfIdle(first!);
    assert.deepEqual(filters(), [ALL]);
    gateways.releaseIfIdle(second!);
    assert.deepEqual(filters(), []);
  });

  it('are given back with their gateways while that of all is not granted, and it with the last of them', () => {
    const all = ask(1, 2, 3);
    grant(...own(1, 2, 3));
    gateways.share(false);
    assert.deepEqual(filters(), [...own(2, 3), ALL]);
    for (const [gateway, left] of [
      [all[1], [...own(3), ALL]],
      [all[0], [...own(3), ALL]],
      [all[2], []],
    ] as const) {
      gateways.releaseIfIdle(gateway!);
      assert.deepEqual(filters(), left);
    }
  });

  for (const [title, refuse] of [
    ['is refused when it is asked for', () => settle(ALL, true)],
    ['is refused later', () => gateways.refused(ALL)],
    ['is not needed any more', () => assert.equal(gateways.unshare(), true)],
  ] as const) {
    it(`are one for each again where that of all ${title}`, () => {
      ask(1, 2);
      grant(...own(1, 2));
      gateways.share(false);
      gateways.refused(filterOf(2));
      assert.deepEqual(filters(), [...own(2), ALL]);
      refuse();
      assert.deepEqual(filters().sort(), own(1, 2));
      assert.deepEqual(
        [...gateways].map(({ filter }) => filter),
        own(1, 2),
      );
      assert.deepEqual([gateways.unshare(), shared], [false, []]);
      assert.equal(gateways.share(false), true);
    });
  }

  it('are one for each although that of all is granted or refused after it is not needed any more', () => {
    for (const isRefused of [true, false]) {
      ask(1);
      gateways.share(false);
      const settled = asked.get(ALL);
      gateways.unshare();
      settled?.[0]?.(isRefused);
      gateways.refused(ALL);
      assert.deepEqual([filters(), gateways.find(idOf(1))?.filter], [own(1), filterOf(1)]);
    }
  });

  it('are one for each again, where no gateway is there', () => {
    gateways.share(false);
    assert.equal(gateways.unshare(), true);
    ask(1);
    assert.deepEqual(filters(), own(1));
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
      heldMs: 0,
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
