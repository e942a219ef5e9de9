// A service that is connected before the flows run: what its session has at the broker stays until they tell what they want.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { brokerLimits } from '../../src/protocol/broker-profiles.ts';
import { ALL, Collector, reached } from '../session.ts';
import {
  answerAll,
  D,
  G,
  G2,
  heartbeat,
  mockTime,
  passRealTime,
  reportTopic,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

describe('a persistent service that is connected before the flows run', () => {
  const bench = useScriptedBroker();
  const { signal } = new AbortController();
  const AT_G = `mt/gateway/${G}/device/+/#`;
  const AT_G2 = `mt/gateway/${G2}/device/+/#`;
  let count = 0;

  afterEach(() => restoreTime());

  /** What a service leaves that a deploy restarts. @returns the settings of the one that follows */
  async function leave(gateways: readonly string[]) {
    const settings = { persistent: true, clientId: `mt-paused-${process.pid}-${count++}` };
    const before = bench.open(settings);
    for (const gateway of gateways) {
      before.subscribe({ ...ALL, gateways: [gateway] }, new Collector());
    }
    await reached(before, 'connected');
    before.pauseReports();
    await before.close();
    return settings;
  }

  const heldBy = (clientId: string) => [...bench.broker.subscriptionsOf(clientId).keys()].sort();

  it('loses nothing that is published meanwhile', async () => {
    const { broker } = bench;
    const settings = await leave([G]);
    const session = bench.open(settings);
    const collector = new Collector();
    session.pauseReports();
    session.subscribe({ ...ALL, gateways: [G] }, collector);
    answerAll(broker, ({ id }) => ({ id }));
    // The second is answered when all has been done that the connection began with.
    await session.request('apiversion', { gateway: G }, { signal });
    await session.request('apiversion', { gateway: G }, { signal });
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    session.resumeReports();
    await reached(session, 'connected');
    broker.publish(reportTopic('heartbeat'), heartbeat(2));
    await collector.until(({ reports }) => reports.at(-1)?.n === 2);
    assert.deepEqual(
      collector.reports.map(({ n }) => n),
      [1, 2],
    );
    assert.deepEqual(broker.packets('unsubscribe'), []);
  });

  it('gives back then what no flow wants, and what came twice until then comes once', async () => {
    const { broker } = bench;
    broker.options.delivery = 'per-subscription';
    const settings = await leave([G]);
    mockTime(1_000_000);
    const session = bench.open(settings);
    const collector = new Collector();
    session.pauseReports();
    session.subscribe({ ...ALL, devices: [D] }, collector);
    answerAll(broker, ({ id }) => ({ id }));
    await session.request('apiversion', { gateway: G }, { signal });
    await session.request('apiversion', { gateway: G }, { signal });
    broker.options.intercept = (packet) => packet.cmd === 'unsubscribe';
    const isGivenBack = broker.next('unsubscribe');
    session.resumeReports();
    // Both are there for a while.
    await isGivenBack;
    mock.timers.tick(2_000);
    for (let n = 0; n < 10; n++) {
      broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    await collector.until(({ reports }) => reports.at(-1)?.n === 9);
    assert.deepEqual(
      collector.reports.map(({ n }) => n),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
  });

  for (const [how, changes] of [
    ['is known', { limits: brokerLimits('any', { maxSubscriptions: 2, maxUnacknowledged: 0 }) }],
    ['shows itself', { protocolVersion: 5 as const }],
  ] as const) {
    it(`gives none of it to a request where a limit of the broker ${how}, which waits`, async () => {
      const { broker } = bench;
      broker.options.maxSubscriptions = 2;
      const settings = await leave([G, G2]);
      const session = bench.open({ ...settings, ...changes, requestTimeout: 20_000 });
      session.pauseReports();
      const collector = new Collector();
      session.subscribe({ ...ALL, gateways: [G] }, collector);
      answerAll(broker, ({ id }) => ({ id }));
      const isAnswered = session.request('apiversion', { gateway: G }, { signal });
      await broker.until(() => broker.packets('connect').length === 2);
      await passRealTime();
      assert.deepEqual(heldBy(settings.clientId), [AT_G, AT_G2]);
      session.resumeReports();
      await isAnswered;
      assert.equal(heldBy(settings.clientId).includes(AT_G), true);
      assert.equal(heldBy(settings.clientId).includes(AT_G2), false);
    });
  }

  it('gives it back when nobody has said for 20 seconds that they run', async () => {
    const { broker } = bench;
    const settings = await leave([G]);
    mockTime();
    const session = bench.open(settings);
    session.pauseReports();
    session.attach();
    await broker.until(() => broker.packets('connect').length === 2);
    await passRealTime();
    mock.timers.tick(19_999);
    await passRealTime();
    assert.deepEqual(heldBy(settings.clientId), [AT_G]);
    mock.timers.tick(1);
    await broker.until(() => heldBy(settings.clientId).length === 0);
  });

  it('keeps what it has over a loss of the connection meanwhile', async () => {
    const { broker } = bench;
    const settings = await leave([G]);
    const session = bench.open(settings);
    const collector = new Collector();
    session.pauseReports();
    session.subscribe({ ...ALL, gateways: [G] }, collector);
    await broker.until(() => broker.packets('connect').length === 2);
    await passRealTime();
    for (const connection of broker.openConnections) {
      connection.close();
    }
    await broker.until(() => broker.packets('connect').length === 3);
    await passRealTime();
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    session.resumeReports();
    await collector.until(({ reports }) => reports.length === 1);
    assert.deepEqual(broker.packets('unsubscribe'), []);
  });
});
