// Requests that wait to be sent: as many as may wait, and no longer than their time where their gateway cannot be asked.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { ServiceError } from '../../src/errors.ts';
import { AskedGateways } from '../../src/mqtt/asked-gateways.ts';
import type { GatewayRequests, Pending } from '../../src/mqtt/gateway-requests.ts';
import { PublishWindow } from '../../src/mqtt/publish-window.ts';
import { WaitingRequests } from '../../src/mqtt/waiting-requests.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { createPending, TIMEOUT_MS } from './pending.ts';
import { G, G2 } from './scripted.ts';

const SECOND_MS = 1_000;
const MAX_QUEUE = 3;

describe('requests that wait', () => {
  let now = 0;
  /** Of the broker. */
  let transport: {
    connected: boolean;
    broker: string;
    readsSince: number;
    heldMs: number;
    isFilterActive(filter: string): boolean;
  };
  let granted: Set<string>;
  /** How requests have ended: their name, the text of their error, and how many or how long may wait. */
  let ended: string[];
  let window: PublishWindow<GatewayRequests>;
  let gateways: AskedGateways;
  let waiting: WaitingRequests;

  beforeEach(() => {
    now = 0;
    ended = [];
    granted = new Set();
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => now);
    transport = {
      connected: true,
      broker: 'mqtt://broker',
      readsSince: 0,
      heldMs: 0,
      isFilterActive: (filter) => granted.has(filter),
    };
    const filters = {
      ensureFilter() {},
      releaseFilter() {},
      isFilterActive: (filter: string) => granted.has(filter),
      isFilterBlocked: () => false,
    };
    gateways = new AskedGateways(createTopics(''), 2, filters, () => {});
    window = new PublishWindow(
      () => {},
      () => transport.heldMs,
    );
    waiting = new WaitingRequests(MAX_QUEUE, gateways, window, transport);
  });

  afterEach(() => {
    waiting.close();
    gateways.close();
    mock.reset();
  });

  const pass = (seconds: number) => {
    for (let i = 0; i < seconds; i++) {
      now += SECOND_MS;
      mock.timers.tick(SECOND_MS);
    }
  };
  const news = () => ended.splice(0);
  const make = (name: string, id = G, changes: Partial<Pending> = {}): Pending =>
    createPending(changes.gateway ?? gateways.of(id), {
      reject: ({ text: { key, values } }: ServiceError) =>
        void ended.push(`${name} ${key} ${values.limit ?? values.timeout}`),
      ...changes,
    });
  /** As one that was sent by a flow and does not leave at once. @returns it */
  const wait = (...given: Parameters<typeof make>) => {
    const pending = make(...given);
    waiting.add(pending);
    waiting.stay(pending);
    return pending;
  };
  const ack: Partial<Pending> = { trafficClass: 'ack' };
  const grant = (...ids: string[]) => {
    for (const id of ids) {
      granted.add(gateways.of(id).filter);
      waiting.updateDeadlines(gateways.of(id));
    }
  };
  /** All places of the gateway are taken. */
  const fill = (id: string) => {
    gateways.of(id).requestsInFlight = 2;
  };
  const full = (name: string, limit = MAX_QUEUE) => `${name} QUEUE_FULL.waiting ${limit}`;

  it('are none at first, and none when the last has left or ended', () => {
    assert.equal(waiting.isEmpty, true);
    grant(G);
    const first = wait('a');
    const second = wait('b', G, ack);
    assert.equal(waiting.isEmpty, false);
    assert.equal(waiting.next(first.gateway), second);
    assert.equal(waiting.isEmpty, false);
    waiting.reject(first, waiting.unsent(1_000, true));
    waiting.reject(first, waiting.unsent(1_000, true));
    assert.deepEqual([waiting.isEmpty, first.gateway.waiting, ended.length], [true, 0, 1]);
    assert.equal(waiting.next(first.gateway), undefined);
  });

  it('are not none where one waits for the grant alone, or an acknowledgement, each until it leaves', () => {
    wait('a');
    assert.equal(waiting.isEmpty, false);
    wait('b', G, ack);
    grant(G);
    const gateway = gateways.of(G);
    assert.equal(waiting.next(gateway)?.trafficClass, 'ack');
    assert.equal(waiting.isEmpty, false);
    assert.equal(waiting.next(gateway)?.trafficClass, 'request');
    assert.equal(waiting.isEmpty, true);
    wait('c', G, ack);
    assert.equal(waiting.isEmpty, false);
  });

  it('belong to what ends them, until they end', () => {
    const group = new Set<Pending>();
    const first = wait('a', G, { group });
    wait('b', G, { group });
    assert.equal(group.size, 2);
    waiting.reject(first, waiting.unsent(1_000, true));
    assert.deepEqual([group.size, group.has(first)], [1, false]);
  });

  it('can leave where there is a connection and the broker has granted the filter', () => {
    const gateway = gateways.of(G);
    assert.equal(waiting.isOpen(gateway), false);
    grant(G);
    assert.equal(waiting.isOpen(gateway), true);
    transport.connected = false;
    assert.equal(waiting.isOpen(gateway), false);
  });

  it('tell whether their gateway cannot be asked yet', () => {
    const first = make('a');
    waiting.add(first);
    assert.equal(waiting.stay(first), true);
    grant(G);
    const second = make('b');
    waiting.add(second);
    assert.equal(waiting.stay(second), false);
  });

  it('are as many as may wait: one more ends, whatever gateway it is for', () => {
    grant(G, G2);
    for (const [name, id] of [
      ['a', G],
      ['b', G],
      ['c', G2],
    ] as const) {
      fill(id);
      wait(name, id);
    }
    assert.deepEqual(news(), []);
    wait('d', G2);
    assert.deepEqual(news(), [full('d')]);
  });

  it('keep no place from those of a higher priority at their gateway', () => {
    grant(G);
    fill(G);
    for (const [name, priority] of [
      ['a', 0],
      ['b', 0],
      ['c', 2],
      ['d', 4],
      ['e', 4],
      ['f', 0],
    ] as const) {
      wait(name, G, { priority });
    }
    assert.deepEqual(news(), [full('b'), full('a'), full('f')]);
  });

  it('keep no place from others: the newest of the gateway where most wait ends', () => {
    grant(G, G2);
    fill(G);
    fill(G2);
    for (const name of ['a', 'b', 'c']) {
      wait(name, G);
    }
    wait('d', G2);
    wait('e', G);
    assert.deepEqual(news(), [full('c'), full('e')]);
  });

  it('are counted without those that wait for the grant of their filter alone: these could be sent at once', () => {
    for (const name of ['a', 'b']) {
      wait(name, G);
    }
    for (const name of ['c', 'd']) {
      wait(name, G2);
    }
    assert.deepEqual(news(), []);
    // The third at one gateway has no place there.
    for (const name of ['e', 'f', 'g', 'h']) {
      wait(name, G);
    }
    assert.deepEqual(news(), [full('h')]);
    assert.equal(waiting.isEmpty, false);
  });

  it('are all counted where there is no connection, or the broker takes no more', () => {
    for (const close of [
      () => {
        transport.connected = false;
      },
      () => {
        window.reset(1);
        window.take();
      },
    ]) {
      close();
      const names = ['a', 'b', 'c', 'd'].map((name, i) => wait(name, i < 2 ? G : G2));
      assert.equal(news().length, 1);
      for (const one of names) {
        waiting.reject(one, waiting.unsent(1_000, true));
      }
      news();
      transport.connected = true;
      assert.equal(waiting.isEmpty, true);
    }
  });

  it('leave their place to others when one of them ends, and those with a place first', () => {
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => wait(name, G));
    waiting.reject(all[0]!, waiting.unsent(1_000, true));
    news();
    // Two have a place still: of the three that are counted one has taken that of the first.
    assert.equal(gateways.of(G).withPlace, 2);
    wait('f', G);
    assert.deepEqual(news(), []);
    wait('g', G);
    assert.equal(news().length, 1);
    grant(G);
    for (let left = 0; left < 5; left++) {
      assert.ok(waiting.next(gateways.of(G)));
    }
    assert.deepEqual([waiting.isEmpty, gateways.of(G).withPlace], [true, 0]);
  });

  it('end in their time where the broker cannot be reached, or has not granted the filter', () => {
    wait('a', G);
    pass(5);
    wait('b', G2);
    pass(4);
    assert.deepEqual(news(), []);
    pass(1);
    assert.deepEqual(news(), ['a NOT_CONNECTED.notGranted 10 s']);
    transport.connected = false;
    pass(5);
    assert.deepEqual(news(), ['b NOT_CONNECTED.unreachable 10 s']);
  });

  it('end in their time from the loss of the connection on, and wait without limit at an open gateway', () => {
    grant(G);
    fill(G);
    wait('a', G);
    pass(100);
    assert.deepEqual(news(), []);
    transport.connected = false;
    waiting.updateDeadlines(gateways.of(G));
    pass(9);
    assert.deepEqual(news(), []);
    pass(1);
    assert.equal(news().length, 1);
  });

  it('wait without limit once the filter is granted, and anew when it is lost', () => {
    wait('a', G);
    pass(9);
    grant(G);
    pass(100);
    granted.clear();
    waiting.updateDeadlines(gateways.of(G));
    pass(5);
    waiting.updateDeadlines(gateways.of(G));
    pass(4);
    assert.deepEqual(news(), []);
    pass(1);
    assert.equal(news().length, 1);
  });

  it('end in their time after the last sign where the broker acknowledges nothing', () => {
    window.reset(1);
    const acknowledged = window.take();
    grant(G);
    wait('a', G);
    waiting.windowIsFull();
    pass(5);
    acknowledged.acknowledged();
    window.take();
    wait('b', G);
    waiting.windowIsFull();
    pass(9);
    assert.deepEqual(news(), []);
    pass(1);
    assert.deepEqual(news(), [
      'a NOT_CONNECTED.notAcknowledged 10 s',
      'b NOT_CONNECTED.notAcknowledged 10 s',
    ]);
  });

  it('wait as much longer as reports have held up what is read', () => {
    transport.heldMs = 2_000;
    wait('a', G);
    transport.heldMs += 5_000;
    pass(14);
    assert.deepEqual(news(), []);
    pass(1);
    assert.equal(news().length, 1);
  });

  it('wait no longer for what has held up reports before the broker has acknowledged the last one', () => {
    transport.heldMs = 60_000;
    grant(G);
    window.reset(1);
    window.take();
    wait('a', G);
    waiting.windowIsFull();
    pass(9);
    assert.deepEqual(news(), []);
    pass(1);
    assert.equal(news().length, 1);
  });

  it('wait longer by what holds up reports since then', () => {
    grant(G);
    window.reset(1);
    window.take();
    transport.heldMs = 4_000;
    wait('a', G, { heldBefore: 1_000 });
    waiting.windowIsFull();
    pass(12);
    assert.deepEqual(news(), []);
    pass(1);
    assert.equal(news().length, 1);
  });

  it('do not end for what the broker acknowledges while nothing is read', () => {
    wait('a', G);
    pass(5);
    transport.readsSince = now;
    pass(9);
    assert.deepEqual(news(), []);
    pass(1);
    assert.equal(news().length, 1);
  });

  it('end by themselves no more when the client is closed', () => {
    wait('a', G);
    waiting.close();
    pass(100);
    assert.deepEqual(news(), []);
  });

  it('are acknowledgements beside the requests that may wait: 100 000', () => {
    grant(G);
    fill(G);
    const gateway = gateways.of(G);
    for (let i = 0; i < 100_000; i++) {
      wait(`${i}`, G, { ...ack, gateway });
    }
    for (const name of ['a', 'b', 'c']) {
      wait(name, G);
    }
    assert.deepEqual(news(), []);
    wait('one more', G, ack);
    assert.deepEqual(news(), [full('one more', 100_000)]);
  });

  it('are 1 000 acknowledgements at a gateway that answers none, where somebody waits for the response', () => {
    grant(G);
    fill(G);
    const missed = make('missed', G, { ...ack, deadline: TIMEOUT_MS });
    pass(10);
    gateways.of(G).missedAck(missed);
    for (let i = 0; i < 999; i++) {
      wait(`${i}`, G, ack);
    }
    pass(10);
    wait('the last', G, ack);
    assert.deepEqual(news(), []);
    wait('one more', G, ack);
    wait('nobody waits', G, { ...ack, awaitResponse: false });
    wait('a request', G);
    assert.deepEqual(news(), [full('one more', 1_000)]);
    wait('at another one', G2, ack);
    gateways.of(G).answeredAck();
    wait('answers again', G, ack);
    assert.deepEqual(news(), []);
  });
});
