// People who look: what they see comes over a connection of their own, at the cost of no flow.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { SILENT } from '../../src/log.ts';
import { type ReportFilter, Session } from '../../src/session.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';
import { CLIENT_ID, numbersOf, upTo, useLooking } from './looking.ts';
import { G, G2, heartbeat, mockTime, reportTopic, restoreTime, useScriptedBroker } from './scripted.ts';

const NARROW = `mt/gateway/${G}/device/+/#`;
const EVERYTHING = 'mt/gateway/+/device/+/#';

describe('the preview of an open panel', () => {
  const bench = useScriptedBroker();
  const {
    open,
    isBeside,
    isOfFlows,
    looked,
    connectionsOf,
    refusal,
    untilRefused,
    passTime,
    passSeconds,
    untilShown,
    openFlow,
  } = useLooking(bench);

  it('leaves the subscriptions of flows as they are, and asks for more over a connection of its own', async () => {
    const { broker } = bench;
    broker.options.delivery = 'per-subscription';
    const { session, collector } = await openFlow();
    session.preview(ALL);
    await broker.until(() => looked().length > 0);
    assert.deepEqual([[...broker.subscriptionsOf(CLIENT_ID)], looked()], [[[NARROW, 1]], [[EVERYTHING, 0]]]);
    for (let n = 0; n < 5; n++) {
      broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    broker.publish(reportTopic('heartbeat', G2), heartbeat(5));
    await collector.until(({ reports }) => reports.length >= 5);
    await untilShown(session, 6);
    assert.deepEqual(numbersOf(collector), upTo(5));
    assert.equal(session.state.mqtt.name, 'connected');
  });

  it('costs no report that the broker keeps for a flow while the connection is away', async () => {
    const { broker } = bench;
    const { session, collector } = await openFlow({ persistent: true });
    session.allReports.listen();
    await broker.until(() => looked().length > 0);
    broker.options.maxQueued = 100;
    broker.options.onFullQueue = 'drop oldest';
    await broker.kill();
    for (let n = 0; n < 100; n++) {
      broker.publish(reportTopic('heartbeat'), heartbeat(n));
      for (let other = 0; other < 10; other++) {
        broker.publish(reportTopic('heartbeat', G2), heartbeat(other));
      }
    }
    await broker.start();
    await collector.until(({ reports }) => reports.length === 100);
    assert.deepEqual([numbersOf(collector), broker.lost.length], [upTo(100), 0]);
  });

  it('takes a sample of a busy network and gives the subscription back', async () => {
    const { broker } = bench;
    const { session } = await openFlow();
    session.preview(ALL);
    await broker.until(() => looked().length > 0);
    const givenBack = broker.next('unsubscribe', (_packet, clientId) => isBeside(clientId));
    for (let n = 0; n < 30; n++) {
      broker.publish(reportTopic('heartbeat', G2), heartbeat(n));
    }
    assert.deepEqual((await givenBack).packet.unsubscriptions, [EVERYTHING]);
    // What was on its way by then is shown, too.
    await untilShown(session, 30);
    await broker.until(() => looked().length === 0);
  });

  it('takes no more of a busy network when hardly a report passes', async () => {
    const { broker } = bench;
    const { session } = await openFlow();
    const filter: ReportFilter = { ...ALL, duplicates: 'drop' };
    session.preview(filter);
    await broker.until(() => looked().length > 0);
    const givenBack = broker.next('unsubscribe', (_packet, clientId) => isBeside(clientId));
    for (let n = 0; n < 1_000; n++) {
      broker.publish(reportTopic('heartbeat', G2), heartbeat(1));
    }
    await givenBack;
    assert.equal(session.preview(filter).length, 1);
  });

  it('shows retained reports, which flows are not given again because of it', async () => {
    const { broker } = bench;
    broker.publish(reportTopic('heartbeat'), heartbeat(0), { retain: true });
    broker.publish(reportTopic('heartbeat', G2), heartbeat(1), { retain: true });
    const { session, collector } = await openFlow();
    await collector.until(({ reports }) => reports.length === 1);
    session.preview(ALL);
    await untilShown(session, 2);
    broker.publish(reportTopic('heartbeat'), heartbeat(2));
    await collector.until(({ reports }) => reports.length > 1);
    assert.deepEqual(numbersOf(collector), [0, 2]);
  });

  it('leaves the retained reports to a flow that wants the same thing later', async () => {
    const { broker } = bench;
    broker.publish(reportTopic('heartbeat'), heartbeat(1), { retain: true });
    const session = open();
    session.preview(ALL);
    await untilShown(session, 1);
    const collector = new Collector();
    session.subscribe(ALL, collector);
    await collector.until(({ reports }) => reports.length === 1);
    assert.equal(collector.reports[0]?.retained, true);
  });

  it('asks for nothing that flows get anyway, and opens no connection for that', async () => {
    const { broker } = bench;
    const session = open();
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    session.preview({ ...ALL, gateways: [G] });
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await broker.until(() => session.preview({ ...ALL, gateways: [G] }).length === 1);
    assert.deepEqual(
      [[...broker.subscriptionsOf(CLIENT_ID).keys()], connectionsOf(isBeside)],
      [[EVERYTHING], 0],
    );
  });

  it('is told that the broker refuses its subscription, and nobody else is', async () => {
    const { broker } = bench;
    const [warnings, states]: [string[], Set<string>] = [[], new Set()];
    broker.options.refuses = (filter) => filter === EVERYTHING;
    const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };
    const session = new Session({ mqtt: mqttSettings(broker.url, { clientId: CLIENT_ID }) }, log);
    try {
      const collector = new Collector();
      session.subscribe({ ...ALL, gateways: [G] }, collector);
      await reached(session, 'connected');
      session.onState(({ mqtt }) => void states.add(mqtt.name));
      assert.equal(refusal(session), '');
      await untilRefused(session);
      assert.equal(session.allReports.listen().isHearing, false);
      // What flows receive is shown all the same.
      broker.publish(reportTopic('heartbeat'), heartbeat(1));
      await collector.until(({ reports }) => reports.length === 1);
      assert.equal(session.preview(ALL).length, 1);
      assert.deepEqual([[...states], warnings], [['connected'], []]);
      // A flow that wants the same thing is told.
      session.subscribe(ALL, new Collector());
      await reached(session, 'limited');
    } finally {
      await session.close();
    }
  });

  for (const [how, prepare] of [
    [
      'refuses its subscription by ending the connection',
      () =>
        Object.assign(bench.broker.options, {
          refuses: (filter: string) => filter === EVERYTHING,
          refusesBy: 'close',
        }),
    ],
    [
      'takes no second connection',
      () => {
        bench.broker.options.connackCode = ({ clientId }) => (isBeside(clientId ?? '') ? 5 : 0);
      },
    ],
  ] as const) {
    it(`rests for 10 seconds, doubling to 5 minutes, at a broker that ${how}; flows keep theirs`, async () => {
      const { broker } = bench;
      mockTime();
      // Two waits follow each other, and what both add at random would be more than what is allowed below.
      mock.method(Math, 'random', () => 0);
      try {
        prepare();
        const { session, collector } = await openFlow();
        let tries = 0;
        for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
          await untilRefused(session);
          tries++;
          assert.equal(connectionsOf(isBeside), tries);
          for (let passed = 0; passed < seconds * 1_000; passed += 5_000) {
            assert.equal(connectionsOf(isBeside), tries, `${passed} ms of ${seconds} s`);
            await passTime(session, 5_000);
          }
          // What has ended several connections is not asked for at once on the next one.
          for (let passed = 0; connectionsOf(isBeside) === tries; passed += 1_000) {
            assert.ok(passed <= seconds * 500, `${seconds} s`);
            await passTime(session, 1_000);
          }
        }
        broker.publish(reportTopic('heartbeat'), heartbeat(1));
        await collector.until(({ reports }) => reports.length === 1);
        assert.deepEqual([connectionsOf(isOfFlows), session.state.mqtt.name], [1, 'connected']);
      } finally {
        restoreTime();
      }
    });
  }

  it('costs flows two losses, and then none for an hour, at a broker that allows one connection', async () => {
    const { broker } = bench;
    broker.options.intercept = (packet, clientId) => {
      if (packet.cmd === 'connect' && isBeside(clientId)) {
        broker.drop(CLIENT_ID);
      }
      return false;
    };
    mockTime();
    try {
      const { session } = await openFlow();
      // For an hour less a few minutes.
      for (let seconds = 0; seconds < 3_300; ) {
        // While connections are made, real time has to pass beside that of their timeouts.
        const step = seconds < 60 ? 0.25 : 10;
        await passTime(session, step * 1_000);
        seconds += step;
      }
      assert.deepEqual([connectionsOf(isOfFlows), connectionsOf(isBeside)], [3, 2]);
      await untilRefused(session);
      await reached(session, 'connected');
    } finally {
      restoreTime();
    }
  });

  it('is no reason to rest that flows need no connection any more when nobody looks', async () => {
    const { broker } = bench;
    mockTime();
    try {
      const session = open();
      for (let round = 0; round < 3; round++) {
        // The connection of flows takes long, so that the other one is opened late.
        broker.options.withhold = ['connack'];
        session.preview(ALL);
        await broker.until(() => broker.withheld.length === 1);
        await passSeconds(8);
        broker.options.withhold = [];
        broker.release();
        await broker.until(() => looked().length > 0);
        await passSeconds(12);
        await broker.until(() => broker.openConnections.length === 0);
      }
    } finally {
      restoreTime();
    }
  });

  it('is asked for again where the connection ended for another reason, and does not count as refused', async () => {
    const { broker } = bench;
    const { session } = await openFlow({ protocolVersion: 5 });
    session.preview(ALL);
    await broker.until(() => looked().length > 0);
    mockTime();
    try {
      // It is shut down for a moment.
      broker.disconnect(0x8b);
      await broker.until(() => broker.openConnections.length === 0);
      while (looked().length === 0) {
        assert.equal(refusal(session), '');
        await passTime(session, 1_000);
      }
    } finally {
      restoreTime();
    }
  });

  it('leaves its connection when nobody has looked for 35 seconds, and with the service', async () => {
    const { broker } = bench;
    const { session } = await openFlow();
    mockTime();
    try {
      session.preview(ALL);
      await broker.until(() => looked().length > 0);
      mock.timers.tick(15_000);
      await broker.until(() => looked().length === 0);
      assert.equal(broker.openConnections.length, 2);
      mock.timers.tick(20_000);
      await broker.until(() => broker.openConnections.length === 1);
      session.preview(ALL);
      await broker.until(() => looked().length > 0);
    } finally {
      restoreTime();
    }
    await session.close();
    await broker.until(() => broker.openConnections.length === 0);
  });
});
