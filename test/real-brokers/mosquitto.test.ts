// What works at a real Mosquitto, with its defaults and with limits in its configuration.
import assert from 'node:assert/strict';
import { connectAsync, type MqttClient } from 'mqtt';
import type { Session } from '../../src/session.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { ALL, Collector, openSession, reached } from '../session.ts';
import { describeBroker } from './run-tests.ts';

describeBroker('Mosquitto');

const TIME = '2026-01-01T00:00:00.000Z';
const macs = (count: number) =>
  Array.from({ length: count }, (_, n) => `c0141f68${n.toString(16).padStart(4, '0')}`);

/** How often the connection is lost from now on. */
function countLosses(session: Session): () => number {
  let losses = 0;
  session.onState(({ mqtt }) => {
    losses += mqtt.name === 'waiting' ? 1 : 0;
  });
  return () => losses;
}

describe('a Mosquitto with limits', function () {
  this.timeout(60_000);
  let mosquitto: Mosquitto;

  before(async function () {
    requirePrograms(this, 'mosquitto');
    mosquitto = await startMosquitto(['max_packet_size 600']);
  });
  after(() => mosquitto?.stop());

  /** Answers every request. */
  async function answeringGateways(): Promise<MqttClient> {
    const gateways = await connectAsync(mosquitto.url, { reconnectPeriod: 0 });
    gateways.on('message', (topic, payload) => {
      const { id } = JSON.parse(payload.toString()) as { id: string };
      const body = JSON.stringify({ id, time: TIME, status: 0, value: '03040100' });
      gateways.publish(topic.replace('/request/', '/response/'), body, { qos: 1 });
    });
    await gateways.subscribeAsync('mt/gateway/+/request/#', { qos: 2 });
    return gateways;
  }

  /** So many requests at once, to five gateways. */
  function askAll(session: Session, count: number): Promise<unknown[]> {
    const { signal } = new AbortController();
    const ask = (_: unknown, n: number) =>
      session.request('read', { gateway: macs(5)[n % 5]!, identifier: '8001' }, { signal });
    return Promise.all(Array.from({ length: count }, ask));
  }

  for (const protocolVersion of [4, 5] as const) {
    it(`of packets brings the reports of 60 devices (MQTT ${protocolVersion})`, async () => {
      const session = openSession(mosquitto.url, { protocolVersion });
      const gateway = await connectAsync(mosquitto.url, { reconnectPeriod: 0 });
      try {
        const losses = countLosses(session);
        const collector = new Collector();
        session.subscribe({ ...ALL, devices: macs(60) }, collector);
        await reached(session, 'connected');
        for (const device of macs(60)) {
          const topic = `mt/gateway/c0141f68fc3d/device/${device}/heartbeat`;
          await gateway.publishAsync(topic, JSON.stringify({ time: TIME, seq: 1, status: 0 }), { qos: 1 });
        }
        await collector.until(({ reports }) => reports.length === 60);
        assert.ok(losses() <= 2, `${losses()} losses`);
      } finally {
        gateway.end(true);
        await session.close();
      }
    });

    it(`of unacknowledged messages answers requests with QoS 2 to 5 gateways (MQTT ${protocolVersion})`, async () => {
      const session = openSession(mosquitto.url, { protocolVersion, requestQos: 2, requestTimeout: 10_000 });
      const gateways = await answeringGateways();
      try {
        const losses = countLosses(session);
        assert.equal((await askAll(session, 40)).length, 40);
        assert.equal(losses(), 0);
      } finally {
        gateways.end(true);
        await session.close();
      }
    });

    it(`gives the reports of QoS 2 that a deploy has found under way to the service behind it, once (MQTT ${protocolVersion})`, async () => {
      const settings: Partial<MqttSettings> = {
        ...{ protocolVersion, persistent: true, reportQos: 2 as const },
        clientId: `mt-under-way-${protocolVersion}`,
      };
      const collector = new Collector();
      const follow = async (session: Session) => {
        session.subscribe(ALL, collector, 'node');
        await reached(session, 'connected');
        return session;
      };
      const other = await connectAsync(mosquitto.url, { reconnectPeriod: 0 });
      let session = await follow(openSession(mosquitto.url, settings));
      try {
        const report = (device: string) => {
          const topic = `mt/gateway/c0141f68fc3d/device/${device}/heartbeat`;
          return other.publishAsync(topic, JSON.stringify({ time: TIME, seq: 1, status: 0 }), { qos: 2 });
        };
        await report('d00000000001');
        await collector.until(({ reports }) => reports.length === 1);
        session.pauseReports();
        for (const device of macs(60)) {
          await report(device);
        }
        await session.close();
        session = await follow(openSession(mosquitto.url, settings));
        await collector.until(({ reports }) => new Set(reports.map(({ device }) => device)).size === 61);
        assert.equal(collector.reports.length, 61);
      } finally {
        other.end(true);
        await session.close();
      }
    });

    it(`of unacknowledged messages answers requests with QoS 2 after those that a deploy has interrupted (MQTT ${protocolVersion})`, async () => {
      const settings: Partial<MqttSettings> = {
        protocolVersion,
        persistent: true,
        requestQos: 2,
        requestTimeout: 10_000,
        clientId: `mt-interrupted-${protocolVersion}`,
      };
      const gateways = await answeringGateways();
      const sessions = [openSession(mosquitto.url, settings), openSession(mosquitto.url, settings)] as const;
      try {
        await askAll(sessions[0], 5);
        mosquitto.freeze();
        const interrupted = Promise.allSettled([askAll(sessions[0], 20)]);
        const closed = sessions[0].close();
        mosquitto.thaw();
        await Promise.all([interrupted, closed]);
        assert.equal((await askAll(sessions[1], 40)).length, 40);
      } finally {
        gateways.end(true);
        await Promise.all(sessions.map((session) => session.close()));
      }
    });
  }
});
