// The rights that docs/brokers.md gives to copy are enough for everything, and for nothing else.
import assert from 'node:assert/strict';
import { connectAsync, type MqttClient } from 'mqtt';
import { brokerLimits } from '../../src/protocol/broker-profiles.ts';
import { nothingMayBeSkipped } from '../requirements.ts';
import { ALL, Collector, openSession, reached } from '../session.ts';
import { GATEWAYS, STRICT_BROKERS, type StrictBroker, USER } from './rights.ts';
import { SUBJECTS, type SubjectName } from './subjects.ts';

const G = 'c0141f68fc3d';
const TIME = '2026-01-01T00:00:00.000Z';
const REPORT = `mt/gateway/${G}/device/d00000000001/heartbeat`;
const REQUEST = `mt/gateway/${G}/request/d00000000001/read/8001`;

for (const name of Object.keys(STRICT_BROKERS) as SubjectName[]) {
  describe(`the rights to copy for ${name}`, function () {
    this.timeout(120_000);
    let broker: StrictBroker;
    let gateways: MqttClient;
    const clients: MqttClient[] = [];
    const connect = async (login: typeof USER) => {
      const client = await connectAsync(broker.url, { ...login, reconnectPeriod: 0 });
      client.on('error', () => {});
      clients.push(client);
      return client;
    };

    before(async function () {
      if (!SUBJECTS[name].isThere() && !nothingMayBeSkipped) {
        this.skip();
      }
      broker = await STRICT_BROKERS[name]();
    });
    beforeEach(async () => {
      gateways = await connect(GATEWAYS);
    });
    afterEach(() => {
      for (const client of clients.splice(0)) {
        client.end(true);
      }
    });
    after(() => broker?.stop());

    for (const persistent of [false, true]) {
      const how = persistent ? ', also with reports that are kept' : '';
      it(`are enough for reports and requests${how}`, async () => {
        const limits = brokerLimits(SUBJECTS[name].profile, { maxSubscriptions: 0, maxUnacknowledged: 0 });
        const session = openSession(broker.url, { ...USER, limits, persistent });
        const collector = new Collector();
        session.subscribe(ALL, collector);
        await reached(session, 'connected');
        gateways.on('message', (topic, payload) => {
          const { id } = JSON.parse(payload.toString()) as { id: string };
          const body = JSON.stringify({ id, time: TIME, status: 0, value: '01' });
          gateways.publish(topic.replace('/request/', '/response/'), body, { qos: 1 });
        });
        await gateways.subscribeAsync('mt/gateway/+/request/#', { qos: 1 });
        const { signal } = new AbortController();
        for (const device of ['d00000000001', G]) {
          const read = { gateway: G, device, identifier: '8001' };
          assert.equal((await session.request('read', read, { signal })).response.value, '01');
        }
        await gateways.publishAsync(REPORT, JSON.stringify({ time: TIME, seq: 1, status: 0 }), { qos: 1 });
        await collector.until(({ reports }) => reports.length === 1);
        assert.equal(session.state.mqtt.name, 'connected');
        await session.close([]);
      });
    }

    for (const [filter, topic] of Object.entries({
      '#': REQUEST,
      'mt/gateway/+/request/#': REQUEST,
      'other/#': 'other/1',
    })) {
      it(`are none to receive what ${filter} brings`, async () => {
        const client = await connect(USER);
        const seen: string[] = [];
        const closed = new Promise<void>((resolve) => client.once('close', resolve));
        const arrived = new Promise<void>((resolve) => {
          client.on('message', (received) => {
            seen.push(received);
            if (received === REPORT) {
              resolve();
            }
          });
        });
        await client.subscribeAsync('mt/gateway/+/device/+/#', { qos: 1 });
        await Promise.race([closed, client.subscribeAsync(filter, { qos: 1 }).catch(() => {})]);
        await gateways.publishAsync(topic, '{}', { qos: 1 });
        await gateways.publishAsync(REPORT, '{}', { qos: 1 });
        await Promise.race([closed, arrived]);
        assert.ok(!seen.includes(topic), `${seen}`);
      });
    }

    it('are none to publish a report', async () => {
      const seen: string[] = [];
      const arrived = new Promise<void>((resolve) => {
        gateways.on('message', (topic) => {
          seen.push(topic);
          if (topic === REQUEST) {
            resolve();
          }
        });
      });
      await gateways.subscribeAsync('mt/gateway/#', { qos: 1 });
      for (const topic of [REPORT, REQUEST]) {
        const client = await connect(USER);
        const closed = new Promise<void>((resolve) => client.once('close', resolve));
        await Promise.race([closed, client.publishAsync(topic, '{}', { qos: 1 }).catch(() => {})]);
      }
      await arrived;
      assert.ok(!seen.includes(REPORT), `${seen}`);
    });
  });
}
