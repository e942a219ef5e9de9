// What works at a real NATS.
import assert from 'node:assert/strict';
import { connectAsync } from 'mqtt';
import { inEnglish, type ServiceError } from '../../src/errors.ts';
import { brokerLimits } from '../../src/protocol/broker-profiles.ts';
import { type Nats, startNats } from '../nats.ts';
import { requirePrograms } from '../requirements.ts';
import { ALL, Collector, openSession, reached } from '../session.ts';
import { describeBroker } from './run-tests.ts';

describeBroker('NATS');

describe('a NATS that waits for the acknowledgement of a report', function () {
  this.timeout(120_000);
  let nats: Nats;

  before(async function () {
    requirePrograms(this, 'nats-server');
    nats = await startNats([], undefined, '500ms');
  });
  after(() => nats?.stop());

  it('sends it again and again, and no flow has it twice', async () => {
    const topic = 'mt/gateway/c0141f68fc3d/device/d00000000001/heartbeat';
    const heartbeat = (n: number) => JSON.stringify({ time: '2026-01-01T00:00:00.000Z', seq: n, n });
    const confirm = { timeoutMs: 300_000, maxAttempts: 20, count() {} };
    const collector = Object.assign(new Collector(), { confirm });
    const session = openSession(nats.url, { persistent: true });
    session.subscribe(ALL, collector, 'node');
    await reached(session, 'connected');
    const witness = await connectAsync(nats.url, { reconnectPeriod: 0 });
    try {
      let copies = 0;
      const comesAgain = new Promise<void>((resolve) => {
        witness.handleMessage = ({ dup }, callback) => {
          copies += dup ? 1 : 0;
          if (copies === 3) {
            resolve();
          }
          // Read on, but do not acknowledge.
          callback(new Error('never'));
        };
      });
      await witness.subscribeAsync(topic, { qos: 1 });
      await witness.publishAsync(topic, heartbeat(1), { qos: 1 });
      await comesAgain;
      await witness.publishAsync(topic, heartbeat(2), { qos: 1 });
      await collector.until(({ reports }) => reports.some(({ n }) => n === 2));
      assert.deepEqual(
        collector.reports.map(({ n }) => n),
        [1, 2],
      );
    } finally {
      witness.end(true);
      await session.close([]);
    }
  });
});

describe('a NATS that does not permit to hear the whole network', function () {
  this.timeout(60_000);
  let nats: Nats;
  const G = 'c0141f68fc3d';
  const permissions = `{
    subscribe: ["mt.gateway.${G}.device.>", "mt.gateway.*.device.*.heartbeat", "$MQTT.sub.>"],
    publish: ["mt.gateway.>", "$MQTT.>", "$JS.>"]
  }`;

  before(async function () {
    requirePrograms(this, 'nats-server');
    nats = await startNats(
      [],
      `authorization { users: [{ user: u, password: p, permissions: ${permissions} }] }`,
    );
  });
  after(() => nats?.stop());

  it('serves two nodes that cross by a subscription each', async () => {
    const login = { username: 'u', password: 'p' };
    const limits = brokerLimits('nats', { maxSubscriptions: 0, maxUnacknowledged: 0 });
    const session = openSession(nats.url, { ...login, limits });
    const publisher = await connectAsync(nats.url, { ...login, reconnectPeriod: 0 });
    const [gateway, kind] = [new Collector(), new Collector()];
    try {
      session.subscribe({ ...ALL, gateways: [G] }, gateway);
      session.subscribe({ ...ALL, kinds: ['heartbeat'] }, kind);
      await reached(session, 'connected');
      const publish = (place: string, body: object) =>
        publisher.publishAsync(
          `mt/gateway/${place}`,
          JSON.stringify({ time: '2026-01-01T00:00:00.000Z', ...body }),
          { qos: 1 },
        );
      await publish(`${G}/device/d00000000001/rssi`, { parent: G, rssi: -50 });
      await publish('c0141f68fc3e/device/d00000000001/heartbeat', { seq: 1 });
      await gateway.until(({ reports }) => reports.some((report) => report.kind === 'rssi'));
      await kind.until(({ reports }) => reports.some((report) => report.gateway === 'c0141f68fc3e'));
    } finally {
      publisher.end(true);
      await session.close([]);
    }
  });
});

describe('a NATS of which the service does not know the type', function () {
  this.timeout(60_000);
  let nats: Nats;

  before(async function () {
    requirePrograms(this, 'nats-server');
    nats = await startNats([]);
  });
  after(() => nats?.stop());

  it('takes what it has room for, and of the rest the service says that it may be too much, and what to choose', async () => {
    const session = openSession(nats.url);
    const gateways = Array.from({ length: 60 }, (_, n) => `c0141f68${n.toString(16).padStart(4, '0')}`);
    try {
      session.subscribe({ ...ALL, gateways }, new Collector());
      await reached(session, 'limited');
      const { mqtt } = session.state;
      assert.ok(mqtt.name === 'limited');
      assert.match(inEnglish(mqtt.reason), /beside 3\d others.*choose the broker's type/);
      const signal = AbortSignal.timeout(30_000);
      await assert.rejects(
        session.request('apiversion', { gateway: gateways[0]! }, { signal }),
        (error: ServiceError) =>
          error.code === 'NOT_CONNECTED' && /choose the broker's type/.test(error.message),
      );
    } finally {
      await session.close([]);
    }
  });
});
