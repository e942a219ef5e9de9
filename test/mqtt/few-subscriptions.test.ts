// Brokers that allow few subscriptions: wider filters take the place of narrow ones where they may, and only as long as needed.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { connectAsync } from 'mqtt';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { REASON } from '../scripted-broker/codes.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';
import {
  answerAll,
  heartbeat,
  leaveSession,
  mockTime,
  passRealTime,
  passTimeUntil,
  reportTopic,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const WIDE = 'mt/gateway/+/device/+/#';
const gateway = (n: number) => `c${n.toString(16).padStart(11, '0')}`;
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);
const reportFilter = (n: number) => `mt/gateway/${gateway(n)}/device/+/#`;
const of = (...numbers: number[]) => ({ ...ALL, gateways: numbers.map(gateway) });
const { signal } = new AbortController();

const filtersOf = (broker: ScriptedBroker) =>
  [...broker.sessions.values()].flatMap((session) => [...session.subscriptions.keys()]);

async function turns(): Promise<void> {
  for (const _ of upTo(200)) {
    await turn();
  }
}

describe('a broker that allows 10 subscriptions', () => {
  const bench = useScriptedBroker();

  beforeEach(() => {
    bench.broker.options.maxSubscriptions = 10;
  });

  it('and forbids wide ones keeps the narrow ones that fit, and the rest is told as refused', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter.includes('gateway/+');
    const session = bench.open({ protocolVersion: 5 });
    const collectors = upTo(11).map(() => new Collector());
    for (const n of upTo(10)) {
      session.subscribe(of(n), collectors[n]!);
    }
    await reached(session, 'connected');
    session.subscribe(of(10), collectors[10]!);
    await reached(session, 'limited');
    await broker.until(() => filtersOf(broker).length === 10);
    for (const n of upTo(11)) {
      broker.publish(reportTopic('heartbeat', gateway(n)), heartbeat(n));
    }
    await Promise.all(collectors.slice(0, 10).map((one) => one.until(({ reports }) => reports.length === 1)));
    const refused = upTo(11).filter((n) => session.refusalOf(of(n)));
    assert.deepEqual(refused, [10]);
    // One at most had to make room for the wide one.
    const givenBack = broker.packets('unsubscribe').flatMap(({ unsubscriptions }) => unsubscriptions);
    assert.equal(givenBack.length, 1);
  });

  it('and forbids wide ones is asked for them again with the next connection', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter.includes('gateway/+');
    answerAll(broker, ({ id }) => ({ id, value: '01' }));
    const session = bench.open({ protocolVersion: 5 });
    session.subscribe(of(...upTo(10)), new Collector());
    const ask = (n: number) =>
      session.request('read', { gateway: gateway(n), identifier: '8001' }, { signal, timeout: 10_000 });
    await reached(session, 'connected');
    session.subscribe(of(10), new Collector());
    await reached(session, 'limited');
    broker.options.refuses = () => false;
    broker.drop();
    await broker.until(() => filtersOf(broker).join() === WIDE);
    await Promise.all(upTo(12).map(ask));
    assert.equal(filtersOf(broker).length, 2);
  });

  it('and forbids wide ones gives one place to the responses of a gateway that is asked', async () => {
    const { broker } = bench;
    answerAll(broker, ({ id }) => ({ id, value: '01' }));
    broker.options.refuses = (filter) => filter.includes('gateway/+');
    const session = bench.open({ protocolVersion: 5 });
    session.subscribe(of(...upTo(12)), new Collector());
    await reached(session, 'limited');
    await broker.until(() => filtersOf(broker).length === 10);
    const ask = (n: number) =>
      session.request('read', { gateway: gateway(n), identifier: '8001' }, { signal, timeout: 10_000 });
    await ask(1);
    const responses = () => filtersOf(broker).filter((filter) => filter.includes('/response/'));
    assert.deepEqual([filtersOf(broker).length, responses().length], [10, 1]);
    assert.equal(upTo(12).filter((n) => session.refusalOf(of(n))).length, 3);
    // A second place would take the reports of another gateway away.
    await ask(2);
    await ask(1);
    assert.equal(upTo(12).filter((n) => session.refusalOf(of(n))).length, 3);
    assert.deepEqual([filtersOf(broker).length, responses().length], [10, 1]);
  });

  it('and forbids wide ones and all responses goes on bringing the reports of every gateway that has a place', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => /gateway\/\+|response/.test(filter);
    const session = bench.open({ protocolVersion: 5 });
    session.subscribe(of(...upTo(12)), new Collector());
    await reached(session, 'limited');
    await broker.until(() => filtersOf(broker).length === 10);
    const ask = () => session.request('read', { gateway: gateway(1), identifier: '8001' }, { signal });
    await assert.rejects(ask(), { code: 'NOT_CONNECTED' });
    const { length } = broker.packets('unsubscribe');
    await assert.rejects(ask(), { code: 'NOT_CONNECTED' });
    await broker.until(() => filtersOf(broker).length === 10);
    assert.equal(broker.packets('unsubscribe').length, length);
  });

  it('and forbids one for all responses goes on answering for the gateways that have theirs', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter.includes('gateway/+/response');
    answerAll(broker, ({ id }) => ({ id, value: '01' }));
    const session = bench.open({ protocolVersion: 5 });
    const ask = (n: number) =>
      session.request('read', { gateway: gateway(n), identifier: '8001' }, { signal }).then(
        () => 'answered',
        ({ code }) => code,
      );
    for (const n of upTo(10)) {
      assert.equal(await ask(n), 'answered');
    }
    assert.equal(await ask(10), 'answered');
    assert.deepEqual(await Promise.all(upTo(10).map(ask)), Array(10).fill('answered'));
  });

  it('and is known for it answers for single gateways where one for all responses is forbidden, now or later', async () => {
    const { broker } = bench;
    answerAll(broker, ({ id }) => ({ id, value: '01' }));
    const { limits } = mqttSettings('');
    const session = bench.open({ limits: { ...limits, maxSubscriptions: 10 } });
    const ask = (n: number) =>
      session.request('read', { gateway: gateway(n), identifier: '8001' }, { signal, timeout: 10_000 });
    session.subscribe(of(1), new Collector());
    await ask(1);
    assert.ok(filtersOf(broker).includes('mt/gateway/+/response/#'));
    broker.options.refuses = (filter) => filter.includes('gateway/+/response');
    broker.drop();
    await reached(session, 'waiting');
    await Promise.all([ask(1), ask(2)]);
    await session.close();
    const another = bench.open({ limits: { ...limits, maxSubscriptions: 10 } });
    await another.request('read', { gateway: gateway(3), identifier: '8001' }, { signal });
  });

  it('has the wide one before the narrow ones are given back, and no refusal is told', async () => {
    const { broker } = bench;
    const session = bench.open({ protocolVersion: 5 });
    const names: string[] = [];
    session.onState(({ mqtt }) => names.push(mqtt.name));
    session.subscribe(of(...upTo(10)), new Collector());
    await reached(session, 'connected');
    session.subscribe(of(10), new Collector());
    await broker.until(() => filtersOf(broker).join() === WIDE);
    assert.ok(!names.includes('limited'), names.join(' '));
    const sizes = broker.packets('unsubscribe').map(({ unsubscriptions }) => unsubscriptions.length);
    assert.equal(sizes[0], 1);
    const order = broker.received.map(({ packet }) => packet.cmd).filter((cmd) => cmd.endsWith('subscribe'));
    assert.deepEqual(order.slice(-3), ['unsubscribe', 'subscribe', 'unsubscribe']);
  });

  it('and forbids one wide filter has the others, and the narrow ones in the place of that one', async () => {
    const { broker } = bench;
    const devicesOf = (g: string, count: number) => ({
      ...ALL,
      gateways: [g],
      devices: upTo(count).map((n) => `d${g.slice(-5)}${n.toString(16).padStart(6, '0')}`),
    });
    broker.options.refuses = (filter) => filter === `mt/gateway/${gateway(3)}/device/+/#`;
    const { limits } = mqttSettings('');
    const session = bench.open({ limits: { ...limits, maxSubscriptions: 10 } });
    for (const [n, count] of [
      [1, 5],
      [2, 7],
      [3, 7],
    ] as const) {
      session.subscribe(devicesOf(gateway(n), count), new Collector());
    }
    await reached(session, 'connected');
    const wide = filtersOf(broker).filter((filter) => filter.includes('device/+'));
    assert.deepEqual(
      wide.sort(),
      [1, 2].map((n) => `mt/gateway/${gateway(n)}/device/+/#`),
    );
    assert.equal(filtersOf(broker).length, 9);
  });

  it('is not held against the next broker of the list', async () => {
    const { broker } = bench;
    const other = await startScriptedBroker();
    const session = bench.open({ protocolVersion: 5, brokers: [broker.url, other.url] });
    session.subscribe(of(...upTo(30)), new Collector());
    await reached(session, 'connected');
    assert.deepEqual(filtersOf(broker), [WIDE]);
    broker.options.connackCode = 3;
    broker.drop();
    await other.until(() => filtersOf(other).length === 30);
    await session.close();
    await other.stop();
  });
});

describe('a number of subscriptions that a broker has shown to allow', () => {
  const bench = useScriptedBroker();

  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  it('is tried again after a minute: what was refused once may be allowed then', async () => {
    const { broker } = bench;
    let hasRefused = false;
    broker.options.refuses = (filter) => {
      const isFirst = filter.includes(gateway(5)) && !hasRefused;
      hasRefused ||= isFirst;
      return isFirst && REASON.quotaExceeded;
    };
    const session = bench.open({ protocolVersion: 5, keepalive: 0 });
    session.subscribe(of(1), new Collector());
    await reached(session, 'connected');
    session.subscribe(of(5), new Collector());
    await broker.until(() => filtersOf(broker).join() === WIDE);
    await turns();
    mock.timers.tick(1.5 * MINUTE_MS);
    await broker.until(() => filtersOf(broker).length === 2 && !filtersOf(broker).includes(WIDE));
  });

  it('is tried again soon when leftovers of an earlier process were given back', async () => {
    const { broker } = bench;
    broker.options.maxSubscriptions = 10;
    const clientId = await leaveSession(
      broker,
      upTo(5).map((n) => `mt/gateway/a0000000000${n}/device/+/#`),
    );
    const session = bench.open({ protocolVersion: 5, clientId, persistent: true, keepalive: 0 });
    session.subscribe(of(...upTo(9)), new Collector());
    await broker.until(() => filtersOf(broker).includes(WIDE) && filtersOf(broker).length === 6);
    for (const n of upTo(5)) {
      broker.publish(reportTopic('heartbeat', `a0000000000${n}`), heartbeat(n));
    }
    await broker.until(() => filtersOf(broker).join() === WIDE);
    await turns();
    mock.timers.tick(10_000);
    await broker.until(() => filtersOf(broker).length === 9 && !filtersOf(broker).includes(WIDE));
  });

  it('is what the broker has said, whoever else is heard by a wide one in a session of an earlier process', async () => {
    const { broker } = bench;
    broker.options.maxSubscriptions = 10;
    const clientId = await leaveSession(broker, [reportFilter(0)]);
    const session = bench.open({ protocolVersion: 5, clientId, persistent: true, keepalive: 0 });
    const collector = new Collector();
    session.subscribe(of(...upTo(20)), collector);
    await broker.until(() => filtersOf(broker).join() === WIDE);
    await turns();
    const asked = broker.packets('subscribe').length;
    const givenBack = broker.packets('unsubscribe').length;
    for (const n of upTo(5)) {
      broker.publish(reportTopic('heartbeat', `a0000000000${n}`), heartbeat(n));
    }
    broker.publish(reportTopic('heartbeat', gateway(1)), heartbeat(1));
    await collector.until(({ reports }) => reports.length === 1);
    await broker.until(() => broker.packets('unsubscribe').length > givenBack);
    await turns();
    mock.timers.tick(59_000);
    await turns();
    assert.equal(broker.packets('subscribe').length, asked);
    assert.deepEqual(filtersOf(broker), [WIDE]);
  });

  it('is used again for wide ones an hour after one was refused, though the connection goes on', async () => {
    const { broker } = bench;
    const { limits } = mqttSettings('');
    broker.options.refuses = (filter) => filter === WIDE;
    const session = bench.open({ keepalive: 0, limits: { ...limits, maxSubscriptions: 3 } });
    session.subscribe(of(...upTo(5)), new Collector());
    await broker.until(() => filtersOf(broker).length === 3);
    await reached(session, 'limited');
    broker.options.refuses = () => false;
    await turns();
    mock.timers.tick(HOUR_MS);
    await broker.until(() => filtersOf(broker).join() === WIDE);
    await reached(session, 'connected');
  });

  it('by ending connections is tried again after an hour', async () => {
    const { broker } = bench;
    broker.options.maxSubscriptions = 10;
    broker.options.refusesBy = 'close';
    const session = bench.open({ keepalive: 0 });
    session.subscribe(of(...upTo(20)), new Collector());
    let isWide = false;
    while (!isWide) {
      await turns();
      mock.timers.tick(500);
      isWide = filtersOf(broker).join() === WIDE;
    }
    const { length } = broker.connections;
    assert.ok(length <= 5, `${length} connections`);
    await turns();
    broker.options.maxSubscriptions = 100;
    mock.timers.tick(HOUR_MS);
    await broker.until(() => filtersOf(broker).length === 20);
    assert.equal(broker.connections.length, length);
  });
});

describe('a broker that allows few subscriptions, and ends the connection at one more', () => {
  const bench = useScriptedBroker();

  beforeEach(() => mockTime());
  afterEach(restoreTime);

  for (const [max, count] of [
    [1, 2],
    [1, 12],
    [2, 30],
    [5, 12],
    [7, 100],
  ] as const) {
    it(`is found to be so with few connections: ${max} for ${count} gateways`, async () => {
      const { broker } = bench;
      Object.assign(broker.options, { maxSubscriptions: max, refusesBy: 'close' });
      const session = bench.open({ keepalive: 0 });
      session.subscribe(of(...upTo(count)), new Collector());
      await passTimeUntil(broker.until(() => filtersOf(broker).join() === WIDE));
      await passTimeUntil(reached(session, 'connected'));
      const { length } = broker.connections;
      assert.ok(length <= 8, `${length} connections`);
      mock.timers.tick(10 * MINUTE_MS);
      await passRealTime();
      assert.equal(broker.connections.length, length);
    });
  }
});

describe('a broker that keeps sessions, allows few subscriptions, and ends the connection at one more', () => {
  const bench = useScriptedBroker();

  beforeEach(() => mockTime());
  afterEach(restoreTime);

  for (const [max, count, kept] of [
    [10, 30, 0],
    [10, 30, 5],
    [10, 30, 10],
    [10, 11, 10],
    [5, 13, 0],
    [3, 12, 3],
    [5, 7, 5],
    [50, 100, 50],
  ] as const) {
    it(`is found to be so with few connections: ${max} for ${count} gateways, ${kept} in the session`, async () => {
      const { broker } = bench;
      const clientId = `mt-full-${process.pid}-${max}-${count}-${kept}`;
      const earlier = await connectAsync(broker.url, { clientId, clean: false });
      for (const n of upTo(kept)) {
        await earlier.subscribeAsync(reportFilter(n));
      }
      await earlier.endAsync();
      Object.assign(broker.options, { maxSubscriptions: max, refusesBy: 'close' });
      const session = bench.open({ keepalive: 0, clientId, persistent: true, protocolVersion: 4 });
      session.subscribe(of(...upTo(count)), new Collector());
      await passTimeUntil(broker.until(() => filtersOf(broker).join() === WIDE));
      await passTimeUntil(reached(session, 'connected'));
      const { length } = broker.connections;
      assert.ok(length <= 9, `${length} connections`);
      const asked = broker.packets('subscribe').length;
      mock.timers.tick(MINUTE_MS - 1_000);
      await passRealTime();
      // To try whether it allows more may cost the connection.
      assert.equal(broker.packets('subscribe').length, asked);
      mock.timers.tick(10 * MINUTE_MS);
      await passRealTime();
      assert.equal(broker.connections.length, length);
    });
  }

  it('is found to be so with few connections where a restarted service wants others than the session has', async () => {
    const { broker } = bench;
    Object.assign(broker.options, { maxSubscriptions: 10, refusesBy: 'close' });
    const options = {
      keepalive: 0,
      clientId: `mt-full-others-${process.pid}`,
      persistent: true,
      protocolVersion: 4,
    } as const;
    const first = bench.open(options);
    first.subscribe(of(...upTo(10)), new Collector());
    await passTimeUntil(broker.until(() => filtersOf(broker).length === 10));
    await first.close([broker.url]);
    const { length } = broker.connections;
    const session = bench.open(options);
    session.subscribe(of(...upTo(20).slice(10)), new Collector());
    await passTimeUntil(broker.until(() => filtersOf(broker).join() === WIDE));
    await passTimeUntil(reached(session, 'connected'));
    assert.ok(broker.connections.length - length <= 8, `${broker.connections.length - length} connections`);
  });
});

describe('a broker that allows one subscription', () => {
  const bench = useScriptedBroker();

  it('and ends the connection at a second one is found to be so: a request ends, and reports go on', async () => {
    const { broker } = bench;
    Object.assign(broker.options, { maxSubscriptions: 1, refusesBy: 'close' });
    const session = bench.open();
    const collector = new Collector();
    session.subscribe(ALL, collector);
    await reached(session, 'connected');
    const ask = () => session.request('read', { gateway: gateway(1), identifier: '8001' }, { signal });
    // It may have been sent while its responses had the one place.
    await assert.rejects(ask());
    await broker.until(() => filtersOf(broker).join() === WIDE);
    const { length } = broker.connections;
    assert.ok(length <= 6, `${length} connections`);
    await assert.rejects(ask(), { code: 'NOT_CONNECTED' });
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await collector.until(({ reports }) => reports.length === 1);
    assert.equal(broker.connections.length, length);
  });

  it('and is known for it is not asked for a second one: the request ends, and reports go on', async () => {
    const { broker } = bench;
    Object.assign(broker.options, { maxSubscriptions: 1, refusesBy: 'close' });
    const { limits } = mqttSettings('');
    const session = bench.open({ limits: { ...limits, maxSubscriptions: 1 } });
    const collector = new Collector();
    session.subscribe(ALL, collector);
    await reached(session, 'connected');
    const request = session.request('read', { gateway: gateway(1), identifier: '8001' }, { signal });
    await assert.rejects(request, { code: 'NOT_CONNECTED' });
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await collector.until(({ reports }) => reports.length === 1);
    assert.equal(broker.connections.length, 1);
  });
});
