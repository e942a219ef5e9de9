// A wide filter that the broker refuses: what it covers is subscribed for itself, and works on.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { brokerLimits } from '../../src/protocol/broker-profiles.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';
import {
  G,
  G2,
  heartbeat,
  mockTime,
  passRealTime,
  reportTopic,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

const WIDE = 'mt/gateway/+/device/+/#';
const OWN = `mt/gateway/${G}/device/+/#`;
const OF_G = { ...ALL, gateways: [G] };
const HEARTBEATS = { ...ALL, kinds: ['heartbeat'] };
const HEARTBEATS_FILTER = 'mt/gateway/+/device/+/heartbeat';

describe('a session at a broker that refuses a filter which covers others', () => {
  const bench = useScriptedBroker();
  afterEach(restoreTime);

  const subscribed = () => [...([...bench.broker.sessions.values()][0]?.subscriptions.keys() ?? [])];
  const isGivenBack = (filter: string) =>
    bench.broker.packets('unsubscribe').some(({ unsubscriptions }) => unsubscriptions.includes(filter));
  /** Delivers a report of the gateway and nothing else. */
  const bringsReport = async (collector: Collector, n: number) => {
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
    await collector.until(({ reports }) => reports.at(-1)?.n === n);
  };

  for (const refusesBy of ['code', 'close'] as const) {
    for (const persistent of [false, true]) {
      const how = refusesBy === 'code' ? 'says so' : 'ends the connection';
      const kept = persistent ? 'a kept session' : 'a new session';
      it(`lets the narrow one work on, where it ${how}, also over ${kept}`, async () => {
        const { broker } = bench;
        Object.assign(broker.options, { refuses: (filter: string) => filter === WIDE, refusesBy });
        const session = bench.open({ persistent });
        const [narrow, wide] = [new Collector(), new Collector()];
        session.subscribe(OF_G, narrow);
        await reached(session, 'connected');
        await bringsReport(narrow, 1);
        session.subscribe(ALL, wide);
        await reached(session, 'limited');
        await broker.until(() => subscribed().includes(OWN));
        await bringsReport(narrow, 2);
        assert.equal(isGivenBack(OWN), false);
        assert.equal(session.refusalOf(OF_G), undefined);
        assert.equal(session.refusalOf(ALL)?.values?.filter, WIDE);
        broker.drop();
        await reached(session, 'waiting');
        await reached(session, 'limited');
        await broker.until(() => subscribed().includes(OWN));
        await bringsReport(narrow, 3);
        assert.equal(session.refusalOf(OF_G), undefined);
      });
    }
  }

  it('asks for the wide one again, and takes it in place of the narrow one when it is granted', async () => {
    mockTime(1_000_000);
    const { broker } = bench;
    broker.options.refuses = (filter) => filter === WIDE;
    broker.options.delivery = 'per-subscription';
    const session = bench.open();
    const [narrow, wide] = [new Collector(), new Collector()];
    session.subscribe(OF_G, narrow);
    await reached(session, 'connected');
    session.subscribe(ALL, wide);
    await reached(session, 'limited');
    for (const n of [1, 2, 3, 4]) {
      await bringsReport(narrow, n);
    }
    broker.options.refuses = () => false;
    mock.timers.tick(20_000);
    await broker.until(() => isGivenBack(OWN));
    await passRealTime();
    assert.deepEqual(subscribed(), [WIDE]);
    assert.equal(session.state.mqtt.name, 'connected');
    await bringsReport(narrow, 5);
    assert.deepEqual(
      wide.reports.map(({ n }) => n),
      [1, 2, 3, 4, 5],
    );
  });

  it('forgets the refused one with the node that wanted it', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter === WIDE;
    const session = bench.open();
    session.subscribe(OF_G, new Collector());
    const leave = session.subscribe(ALL, new Collector());
    await reached(session, 'limited');
    leave();
    await reached(session, 'connected');
    assert.deepEqual([session.reportFilters, subscribed()], [[OWN], [OWN]]);
  });

  it('asks for both where what would take the place of two is refused, and shows no refusal', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter === OWN;
    const session = bench.open();
    session.subscribe({ ...OF_G, kinds: ['heartbeat'] }, new Collector());
    session.subscribe({ ...OF_G, devices: ['d00000000001'] }, new Collector());
    await broker.until(() => subscribed().length === 2);
    await reached(session, 'connected');
    assert.deepEqual(subscribed().sort(), [
      `mt/gateway/${G}/device/+/heartbeat`,
      `mt/gateway/${G}/device/d00000000001/#`,
    ]);
  });

  describe('of the type NATS, where copies come far from each other', () => {
    const limits = brokerLimits('nats', { maxSubscriptions: 0, maxUnacknowledged: 0 });

    it('asks for the whole network in place of two that cross', async () => {
      const session = bench.open({ limits });
      session.subscribe(OF_G, new Collector());
      session.subscribe(HEARTBEATS, new Collector());
      await reached(session, 'connected');
      assert.deepEqual(subscribed(), [WIDE]);
    });

    it('asks for both where the whole network is refused, and gives back neither meanwhile', async () => {
      const { broker } = bench;
      Object.assign(broker.options, {
        refuses: (filter: string) => filter === WIDE,
        delivery: 'per-subscription',
      });
      const session = bench.open({ limits });
      const [gateway, kind] = [new Collector(), new Collector()];
      session.subscribe(OF_G, gateway);
      await reached(session, 'connected');
      session.subscribe(HEARTBEATS, kind);
      await broker.until(() => subscribed().includes(HEARTBEATS_FILTER));
      await reached(session, 'connected');
      assert.deepEqual(subscribed().sort(), [HEARTBEATS_FILTER, OWN]);
      assert.equal(isGivenBack(OWN), false);
      assert.equal(session.refusalOf(OF_G) ?? session.refusalOf(HEARTBEATS), undefined);
      for (const n of [1, 2, 3]) {
        await bringsReport(gateway, n);
      }
      await bringsReport(kind, 4);
      assert.deepEqual(
        gateway.reports.map(({ n }) => n),
        [1, 2, 3, 4],
      );
    });
  });

  it('lets the one that works go on in a shared group, where two must not overlap', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter === `$share/g/${WIDE}`;
    for (const [first, second, filter] of [
      [OF_G, HEARTBEATS, OWN],
      [HEARTBEATS, OF_G, HEARTBEATS_FILTER],
    ] as const) {
      const session = bench.open({ sharedGroup: 'g' });
      session.subscribe(first, new Collector());
      await reached(session, 'connected');
      session.subscribe(second, new Collector());
      await reached(session, 'limited');
      await passRealTime();
      const sessions = [...broker.sessions.values()];
      assert.deepEqual([...(sessions.at(-1)?.subscriptions.keys() ?? [])], [`$share/g/${filter}`]);
      assert.equal(session.refusalOf(first), undefined);
      assert.equal(session.refusalOf(second)?.values?.filter, `$share/g/${WIDE}`);
    }
  });

  for (const [count, when] of [
    [8, 'after some seconds'],
    [9, 'over the next connection'],
  ] as const) {
    it(`asks for the wide one again ${when} where the narrow ones take ${count} of 9 subscriptions`, async () => {
      mockTime(1_000_000);
      const { broker } = bench;
      const gateways = Array.from({ length: count }, (_, n) => `d${n.toString(16).padStart(11, '0')}`);
      Object.assign(broker.options, { refuses: (filter: string) => filter === WIDE, maxSubscriptions: 9 });
      const session = bench.open({ protocolVersion: 5 });
      session.subscribe({ ...ALL, gateways }, new Collector());
      await reached(session, 'connected');
      session.subscribe(ALL, new Collector());
      await reached(session, 'limited');
      await passRealTime();
      assert.equal(session.refusalOf({ ...ALL, gateways }), undefined);
      broker.options.refuses = () => false;
      if (count === 9) {
        broker.drop();
        await reached(session, 'waiting');
      }
      mock.timers.tick(20_000);
      await broker.until(() => subscribed().join() === WIDE);
    });
  }

  for (const protocolVersion of [4, 5] as const) {
    it(`makes room at once for the wide one where only room is missing (MQTT ${protocolVersion})`, async () => {
      mockTime(1_000_000);
      const { broker } = bench;
      const gateways = Array.from({ length: 9 }, (_, n) => `d${n.toString(16).padStart(11, '0')}`);
      broker.options.maxSubscriptions = 9;
      const session = bench.open({ protocolVersion });
      session.subscribe({ ...ALL, gateways }, new Collector());
      await reached(session, 'connected');
      session.subscribe(ALL, new Collector());
      await broker.until(() => subscribed().join() === WIDE);
      const [first] = broker.packets('unsubscribe');
      assert.equal(first?.unsubscriptions.length, 1);
    });
  }

  it('is back at the narrow one that made room, once in an hour, where the wide one is refused then', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter === WIDE;
    const gateways = Array.from({ length: 9 }, (_, n) => `d${n.toString(16).padStart(11, '0')}`);
    const session = bench.open();
    session.subscribe({ ...ALL, gateways }, new Collector());
    await reached(session, 'connected');
    session.subscribe(ALL, new Collector());
    await broker.until(() => broker.packets('unsubscribe').length === 1);
    await broker.until(() => subscribed().length === 9);
    await reached(session, 'limited');
    broker.drop();
    await reached(session, 'waiting');
    await reached(session, 'limited');
    await broker.until(() => subscribed().length === 9);
    await passRealTime();
    assert.equal(session.refusalOf({ ...ALL, gateways }), undefined);
    assert.deepEqual([subscribed().length, broker.packets('unsubscribe').length], [9, 1]);
  });

  it('lets narrow ones work on where the refused one would take their place, as its node has gone', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter === WIDE;
    const session = bench.open({ limits: { ...mqttSettings('').limits, maxSubscriptions: 4 } });
    const gateways = Array.from({ length: 6 }, (_, n) => `d${n.toString(16).padStart(11, '0')}`);
    session.subscribe({ ...ALL, gateways: gateways.slice(0, 2) }, new Collector());
    const leave = session.subscribe(ALL, new Collector());
    await reached(session, 'limited');
    session.subscribe({ ...ALL, gateways }, new Collector());
    leave();
    await broker.until(() => subscribed().length === 4);
    await reached(session, 'limited');
    await passRealTime();
    assert.equal(subscribed().length, 4);
  });

  it('makes room for the wide one where the broker ends a kept session at its number', async () => {
    mockTime(1_000_000);
    const { broker } = bench;
    const gateways = Array.from({ length: 9 }, (_, n) => `d${n.toString(16).padStart(11, '0')}`);
    Object.assign(broker.options, { maxSubscriptions: 9, refusesBy: 'close' });
    const session = bench.open({ persistent: true });
    session.subscribe({ ...ALL, gateways }, new Collector());
    await reached(session, 'connected');
    session.subscribe(ALL, new Collector());
    const passUntil = async (isThere: () => boolean) => {
      while (!isThere()) {
        mock.timers.tick(300);
        await passRealTime();
      }
    };
    await passUntil(() => session.state.mqtt.name === 'limited');
    const count = broker.packets('connect').length;
    await passUntil(() => subscribed().join() === WIDE);
    assert.equal(broker.packets('connect').length, count);
  });

  it('shows in a panel what the refused one covers', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter === WIDE;
    const session = bench.open();
    session.subscribe(ALL, new Collector());
    await reached(session, 'limited');
    session.preview({ ...ALL, gateways: [G2] });
    await broker.until(() =>
      [...broker.sessions.values()].some(({ subscriptions }) => subscriptions.has(OWN.replace(G, G2))),
    );
    broker.publish(reportTopic('heartbeat', G2), heartbeat(1));
    while (session.preview({ ...ALL, gateways: [G2] }).length === 0) {
      await passRealTime();
    }
  });
});
