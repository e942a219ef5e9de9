// What the broker says to subscriptions: refused ones are tried again together, and lower grants are told.
import assert from 'node:assert/strict';
import type { Logger } from '../../src/log.ts';
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
    const healed = new Promise<void>((resolve) => {
      isHealed = resolve;
    });
    const events = { refused() {}, synced() {}, healed: () => isHealed() };
    const backoff = { next: () => waits.push(waits.length) && 1, reset: () => void waits.push(-1) };
    const subscriptions = new Subscriptions('client', false, log, events, backoff);
    subscriptions.change(filters, 1);
    subscriptions.online({
      subscribe: async (wanted) => {
        tries.push(Object.keys(wanted));
        return filters.map((topic) => ({ topic, qos: tries.length < 3 ? 0x80 : 1 }));
      },
      unsubscribe: async () => {},
    });
    await healed;
    assert.deepEqual(tries, [filters, filters, filters]);
    assert.deepEqual(waits, [0, 1, -1]);
    assert.equal(log.warnings.length, 2);
    assert.match(log.warnings[0]!, /a \(128\) and 5 others/);
    subscriptions.offline();
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
