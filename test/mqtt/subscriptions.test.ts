// What the broker says to subscriptions: refused ones are tried again together, and lower grants are told.
import assert from 'node:assert/strict';
import { connectAsync } from 'mqtt';
import type { Logger } from '../../src/log.ts';
import { NoBrokerResponse, withResponseTimeout } from '../../src/mqtt/broker-response.ts';
import { PingCounts } from '../../src/mqtt/ping-counts.ts';
import type { Reason } from '../../src/mqtt/reasons.ts';
import { Subscriptions } from '../../src/mqtt/subscriptions.ts';
import { Session } from '../../src/session.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';
import { G, G2, useScriptedBroker } from './scripted.ts';

function createLog(): Logger & { warnings: string[] } {
  const warnings: string[] = [];
  return { info() {}, trace() {}, warn: (text) => void warnings.push(text), warnings };
}

describe('subscriptions', () => {
  it('that are refused are tried again together, and the wait grows once for each time', async () => {
    const filters = ['a', 'b', 'c', 'd', 'e', 'f'];
    const log = createLog();
    const [tries, waits]: [string[][], number[]] = [[], []];
    let isHealed = (): void => {};
    const recovered = new Promise<void>((resolve) => {
      isHealed = resolve;
    });
    const events = {
      refusing() {},
      mayGiveWay: () => true,
      refusals: ({ size }: ReadonlyMap<string, Reason>) => size === 0 && isHealed(),
      synced() {},
      quota() {},
      lowerQos() {},
    };
    const backoff = { next: () => waits.push(waits.length) && 1, reset: () => void waits.push(-1) };
    const subscriptions = new Subscriptions(false, log, events, backoff);
    subscriptions.change(filters, 1);
    subscriptions.online(
      {
        subscribe: async (wanted) => {
          tries.push(Object.keys(wanted));
          return filters.map((topic) => ({ topic, qos: tries.length < 3 ? 0x80 : 1 }));
        },
        unsubscribe: async () => {},
      },
      true,
    );
    await recovered;
    assert.deepEqual(tries, [filters, filters, filters]);
    assert.deepEqual(waits, [0, 1, -1]);
    assert.equal(log.warnings.length, 2);
    assert.match(log.warnings[0]!, /a \(128\) and 5 others/);
    subscriptions.offline();
  });
});

describe('a response with fewer codes than filters', () => {
  it('grants none of those that it says nothing of', async () => {
    const log = createLog();
    let refused: string[] = [];
    const events = {
      refusing() {},
      mayGiveWay: () => true,
      refusals(all: ReadonlyMap<string, Reason>) {
        refused = [...all.keys()];
      },
      quota() {},
      lowerQos() {},
    };
    const done = new Promise<void>((synced) => {
      const subscriptions = new Subscriptions(
        false,
        log,
        { ...events, synced },
        { next: () => 1e6, reset() {} },
      );
      subscriptions.change(['a', 'b', 'c'], 1);
      const packet = { granted: [0x80] };
      const subscribe = () => Promise.reject(Object.assign(new Error('refused'), { packet }));
      subscriptions.online({ subscribe, unsubscribe: async () => {} }, true);
    });
    await done;
    assert.deepEqual(refused, ['a', 'b', 'c']);
  });
});

describe('a session at a broker that refuses filters', () => {
  const bench = useScriptedBroker();

  it('is well again at once when the node that wanted the refused one is gone', async () => {
    bench.broker.options.refuses = (filter) => filter.includes(G2);
    const session = bench.open();
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    const leave = session.subscribe({ ...ALL, gateways: [G2] }, new Collector());
    await reached(session, 'limited');
    leave();
    await reached(session, 'connected');
  });

  it('subscribes the others, also when one who listens to its state throws', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter.includes(G2);
    const session = bench.open();
    const others = Array.from({ length: 40 }, (_, n) => `d${n.toString(16).padStart(11, '0')}`);
    session.onState(({ mqtt }) => {
      if (mqtt.name === 'limited') {
        throw new Error('a mistake');
      }
    });
    session.subscribe({ ...ALL, gateways: [G2, ...others] }, new Collector());
    await broker.until(() => [...broker.sessions.values()][0]?.subscriptions.size === others.length);
  });

  it('tells once that the broker grants less than was asked for', async () => {
    bench.broker.options.maxGrantedQos = 0;
    const log = createLog();
    const session = new Session({ mqtt: mqttSettings(bench.broker.url) }, log);
    session.subscribe({ ...ALL, gateways: [G, G2] }, new Collector());
    await reached(session, 'connected');
    session.subscribe({ ...ALL, kinds: ['rssi'] }, new Collector());
    await bench.broker.until((broker) => broker.packets('subscribe').length === 2);
    await session.close();
    const told = log.warnings.filter((text) => /grants QoS 0 where QoS 1/.test(text));
    assert.equal(told.length, 1, log.warnings.join('\n'));
  });
});

describe('a session at a broker that takes only QoS 0', () => {
  const bench = useScriptedBroker();

  it('tells that its reports may be lost, and does not say that more was asked for', async () => {
    bench.broker.options.maxQos = 0;
    const log = createLog();
    const session = new Session({ mqtt: mqttSettings(bench.broker.url, { protocolVersion: 5 }) }, log);
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    await session.close();
    assert.deepEqual(log.warnings, [
      'the broker takes QoS 0 at most where QoS 1 is wanted (mt/gateway/+/device/+/#): it may lose reports',
    ]);
  });
});

describe('a subscription that the broker does not answer', () => {
  const bench = useScriptedBroker();
  const client = async (keepalive: number) =>
    connectAsync(bench.broker.url, { keepalive, reconnectPeriod: 0, reschedulePings: false });

  it('is given up when the broker has answered a later ping', async () => {
    bench.broker.options.withhold = ['suback'];
    const one = await client(1);
    await assert.rejects(
      withResponseTimeout(one, new PingCounts(one), one.subscribeAsync('a'), 10),
      NoBrokerResponse,
    );
    // That of the counts.
    assert.equal(one.listenerCount('packetreceive'), 1);
    assert.ok(bench.broker.packets('pingreq').length > 0);
    await one.endAsync(true);
  });

  for (const keepalive of [0, 1_200]) {
    it(`is given up after a ping of its own with a keep alive of ${keepalive} seconds`, async () => {
      bench.broker.options.withhold = ['suback'];
      const one = await client(keepalive);
      await assert.rejects(
        withResponseTimeout(one, new PingCounts(one), one.subscribeAsync('a'), 10),
        NoBrokerResponse,
      );
      assert.equal(bench.broker.packets('pingreq').length, 1);
      await one.endAsync(true);
    });
  }

  it('is waited for though an earlier ping is answered meanwhile', async () => {
    const { broker } = bench;
    broker.options.withhold = ['suback', 'pingresp'];
    const one = await client(0);
    const counts = new PingCounts(one);
    one.sendPing();
    await broker.next('pingreq');
    const granted = withResponseTimeout(one, counts, one.subscribeAsync('a'), 10);
    // The ping that it sends itself: from then on it is late.
    await broker.next('pingreq');
    const answered = new Promise<unknown>((resolve) => one.once('packetreceive', resolve));
    broker.release('pingresp', 1);
    await answered;
    await new Promise(setImmediate);
    broker.release();
    assert.deepEqual(
      (await granted).map(({ topic }) => topic),
      ['a'],
    );
    await one.endAsync(true);
  });

  it('is waited for as long as pings wait, too: its response may stand behind a flood', async () => {
    bench.broker.options.withhold = ['suback', 'pingresp'];
    const one = await client(1);
    const granted = withResponseTimeout(one, new PingCounts(one), one.subscribeAsync('a'), 10);
    await bench.broker.next('pingreq');
    bench.broker.release();
    assert.deepEqual(
      (await granted).map(({ topic }) => topic),
      ['a'],
    );
    // That of the counts.
    assert.equal(one.listenerCount('packetreceive'), 1);
    await one.endAsync(true);
  });

  it('holds up no other, and is tried again with the refused ones', async () => {
    const log = createLog();
    const tries: string[][] = [];
    const refused = new Set<string>();
    let isHealed = (): void => {};
    const recovered = new Promise<void>((resolve) => {
      isHealed = resolve;
    });
    const events = {
      refusing() {},
      mayGiveWay: () => true,
      refusals(all: ReadonlyMap<string, Reason>) {
        for (const { key } of all.values()) {
          refused.add(key);
        }
        if (all.size === 0) {
          isHealed();
        }
      },
      synced() {},
      quota() {},
      lowerQos() {},
    };
    const subscriptions = new Subscriptions(false, log, events, { next: () => 1, reset() {} });
    const settledOnes: boolean[] = [];
    subscriptions.change(['a'], 1);
    subscriptions.whenSettled('a', (isRefused) => void settledOnes.push(isRefused));
    subscriptions.online(
      {
        subscribe: async (wanted) => {
          tries.push(Object.keys(wanted));
          if (tries.length === 1) {
            throw new NoBrokerResponse();
          }
          return Object.entries(wanted).map(([topic, { qos }]) => ({ topic, qos }));
        },
        unsubscribe: async () => {
          throw new NoBrokerResponse();
        },
      },
      true,
    );
    subscriptions.change(['b'], 1);
    await recovered;
    assert.deepEqual(tries, [['a'], ['b'], ['a']]);
    assert.deepEqual([settledOnes, [...refused]], [[true], ['reason.noSuback']]);
    assert.match(log.warnings[0] ?? '', /does not answer the subscription a/);
    subscriptions.offline();
  });
});

describe('a filter that is wanted again while it is being given back', () => {
  it('counts as granted only when the broker has granted it again', async () => {
    const sent: string[] = [];
    let confirm = (): void => {};
    const events = {
      refusing() {},
      mayGiveWay: () => true,
      refusals() {},
      synced() {},
      quota() {},
      lowerQos() {},
    };
    const subscriptions = new Subscriptions(false, createLog(), events);
    const transport = {
      subscribe: async (wanted: Record<string, unknown>) => {
        sent.push(`subscribe ${Object.keys(wanted)}`);
        return Object.keys(wanted).map((topic) => ({ topic, qos: 1 }));
      },
      unsubscribe: (filters: string[]) => {
        sent.push(`unsubscribe ${filters}`);
        return new Promise<void>((resolve) => {
          confirm = resolve;
        });
      },
    };
    subscriptions.online(transport, true);
    subscriptions.change(['a'], 1);
    await new Promise<boolean>((resolve) => subscriptions.whenSettled('a', resolve));
    subscriptions.change([], 1, ['a']);
    while (sent.length < 2) {
      await new Promise(setImmediate);
    }
    subscriptions.change(['a'], 1);
    let isSettled = false;
    const granted = new Promise<void>((resolve) =>
      subscriptions.whenSettled('a', () => {
        isSettled = true;
        resolve();
      }),
    );
    assert.deepEqual([subscriptions.isActive('a'), isSettled], [false, false]);
    confirm();
    await granted;
    assert.equal(subscriptions.isActive('a'), true);
    assert.deepEqual(sent, ['subscribe a', 'unsubscribe a', 'subscribe a']);
    subscriptions.offline();
  });
});
