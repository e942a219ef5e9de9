// What a persistent session has waiting at a real broker, more than may be unacknowledged at a time.
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { connectAsync } from 'mqtt';
import type { Session } from '../../src/session.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { ALL, Collector, openSession, reached } from '../session.ts';
import { heartbeat, reportTopic } from './scripted.ts';

const COUNT = 3_000;
/** Mosquitto ends the connection to who sends more at once. */
const AT_ONCE = 10;

describe('3 000 reports of QoS 2 that wait for a persistent session, over MQTT 5', function () {
  this.timeout(30_000);

  for (const { title, reportQos, maxLosses } of [
    { title: 'all come over one connection', reportQos: 2, maxLosses: 0 },
    {
      title: 'all come over a second one at the latest where the service asks for QoS 1 meanwhile',
      reportQos: 1,
      maxLosses: 1,
    },
  ] as const) {
    it(title, async function () {
      requirePrograms(this, 'mosquitto');
      const mosquitto = await startMosquitto(['max_queued_messages 0', 'set_tcp_nodelay true']);
      const settings: Partial<MqttSettings> = {
        clientId: `mt-backlog-${process.pid}`,
        protocolVersion: 5,
        persistent: true,
      };
      const flow = new Collector();
      const connect = async (qos: MqttSettings['reportQos'], told: string[]): Promise<Session> => {
        const session = openSession(mosquitto.url, { ...settings, reportQos: qos });
        session.subscribe(ALL, flow);
        session.onState(({ mqtt }) => void (mqtt.name === 'waiting' && told.push(mqtt.reason.key)));
        await reached(session, 'connected');
        return session;
      };
      let session = await connect(2, []);
      await session.close();
      const told: string[] = [];
      const gateway = await connectAsync(mosquitto.url, { reconnectPeriod: 0 });
      (gateway.stream as Socket).setNoDelay();
      try {
        const send = (n: number) =>
          gateway.publishAsync(reportTopic('heartbeat'), JSON.stringify(heartbeat(n)), { qos: 2 });
        for (let n = 0; n < COUNT; n += AT_ONCE) {
          await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => send(n + i)));
        }
        session = await connect(reportQos, told);
        await flow.until(({ reports }) => new Set(reports.map(({ n }) => n)).size === COUNT);
        assert.ok(told.length <= maxLosses, `${told}`);
        assert.ok(
          told.every((reason) => reason === 'reason.sentTooMany'),
          `${told}`,
        );
      } finally {
        gateway.end(true);
        await session.close();
        await mosquitto.stop();
      }
    });
  }
});
