// Test connection at brokers: it says what the service would meet, and the deployed connection goes on as if nothing were.
import assert from 'node:assert/strict';
import { connectAsync } from 'mqtt';
import { ConnectionWatch } from '../../src/mqtt/connection-watch.ts';
import { probeBroker } from '../../src/mqtt/probe.ts';
import { reasonOfLoss } from '../../src/mqtt/reasons.ts';
import type { MqttState } from '../../src/mqtt/state.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { startScriptedBroker } from '../scripted-broker/broker.ts';
import { ALL, Collector, mqttSettings, openSession, reached } from '../session.ts';
import { G, G2, heartbeat, reportTopic, useScriptedBroker } from './scripted.ts';

const notesOf = ({ notes }: { notes: { key: string }[] }) => notes.map(({ key }) => key);

describe('the test of a broker connection', () => {
  const bench = useScriptedBroker();
  const probe = (changes: Partial<MqttSettings> = {}, filters: string[] = []) =>
    probeBroker(mqttSettings(bench.broker.url, changes), filters);
  const clientIds = () => bench.broker.packets('connect').map(({ clientId }) => clientId);

  it('has a client id that begins like the deployed one, is another one, and no longer than brokers take', async () => {
    const deployed = ['mt-0123456789abcdef01', 'plant', 'x'.repeat(40), '工場'.repeat(9)];
    const results = await Promise.all(deployed.map((clientId) => probe({ clientId })));
    assert.ok(results.every(({ ok }) => ok));
    const ids = clientIds();
    for (const clientId of deployed) {
      const id = ids.find((one) => one.startsWith(clientId.slice(0, 5))) ?? '';
      assert.ok(id !== '' && id !== clientId, `${ids}`);
      assert.ok(Buffer.byteLength(id) <= Math.max(23, Buffer.byteLength(clientId)), id);
    }
  });

  it('asks for the filters of the deployed nodes, with their QoS, and for the responses of a gateway', async () => {
    const filters = [G, G2].map((gateway) => `mt/gateway/${gateway}/device/+/#`);
    assert.ok((await probe({ reportQos: 2 }, filters)).ok);
    const asked = bench.broker.packets('subscribe').flatMap(({ subscriptions }) => subscriptions);
    assert.deepEqual(
      asked.slice(0, 2).map(({ topic, qos }) => [topic, qos]),
      filters.map((topic) => [topic, 2]),
    );
    assert.match(asked[2]!.topic, /^mt\/gateway\/02[0-9a-f]{10}\/response\/#$/);
  });

  it('says how many subscriptions the deployed nodes need, and how many this broker has given', async () => {
    const filters = [G, G2].map((gateway) => `mt/gateway/${gateway}/device/+/#`);
    const { notes } = await probe({}, filters);
    assert.deepEqual(notes, [{ key: 'check.subscriptions', values: { needed: 2, inUse: 2 } }]);
  });

  it('says below which topics nothing was heard only where all of them were listened to', async () => {
    const all = 'mt/gateway/+/device/+/#';
    const results = await Promise.all(
      [[], [all], ['mt/gateway/+/device/+/event/+']].map((one) => probe({}, one)),
    );
    assert.deepEqual(
      results.map(({ text }) => text.key),
      ['check.silent', 'check.silent', 'check.unheard'],
    );
  });

  it('says which filter of the nodes is refused', async () => {
    bench.broker.options.refuses = (filter) => filter.includes(G2);
    const { ok, text } = await probe(
      {},
      [G, G2].map((gateway) => `mt/gateway/${gateway}/device/+/#`),
    );
    assert.equal(ok, false);
    assert.match(JSON.stringify(text), new RegExp(G2));
  });

  for (const refusesBy of ['code', 'close'] as const) {
    it(`says that requests would fail where responses are refused by ${refusesBy}`, async () => {
      bench.broker.options.refuses = (filter) => filter.includes('/response/');
      bench.broker.options.refusesBy = refusesBy;
      const result = await probe();
      assert.ok(result.ok);
      assert.deepEqual(notesOf(result), ['check.noResponses']);
    });
  }

  it('tries a shared group with messages of its own, and is no member of it', async () => {
    const result = await probe({ sharedGroup: 'plant' });
    assert.deepEqual([result.ok, notesOf(result)], [true, []]);
    const filters = bench.broker.packets('subscribe').flatMap(({ subscriptions }) => subscriptions);
    const shared = filters.filter(({ topic }) => topic.startsWith('$share/plant/'));
    assert.equal(shared.length, 1);
    assert.match(shared[0]!.topic, /\/request\/02/);
  });

  it('fails where the broker takes a shared group for a plain topic', async () => {
    bench.broker.options.sharedSubscriptions = 'plain';
    const result = await probe({ sharedGroup: 'plant' });
    assert.deepEqual([result.ok, notesOf(result)], [false, ['check.plainGroup']]);
  });

  it('names a group that it could not try', async () => {
    bench.broker.options.refuses = (filter) => filter.includes('/request/');
    const result = await probe({ sharedGroup: 'plant' });
    assert.deepEqual([result.ok, notesOf(result)], [true, ['check.untriedGroup']]);
  });

  it('leaves nothing behind at a broker that keeps sessions', async () => {
    const versions = [4, 5] as const;
    const results = await Promise.all(
      versions.map((protocolVersion) => probe({ persistent: true, protocolVersion })),
    );
    assert.ok(results.every(({ ok }) => ok));
    assert.equal(bench.broker.sessions.size, 0);
  });

  it('goes on to the next broker of a list, however often it is told that the first one is away', () => {
    const brokers = ['mqtt://one.example', 'mqtt://two.example'];
    const ends: unknown[] = [];
    const watch = new ConnectionWatch(mqttSettings('', { brokers }), performance.now() + 5_500, (failure) =>
      ends.push(failure),
    );
    const waiting = (broker: string): MqttState => ({
      ...{ name: 'waiting', broker },
      reason: reasonOfLoss(
        { error: { code: 'ECONNREFUSED' }, wasConnected: false },
        { broker, protocolVersion: 4 },
      ),
    });
    const [first, second] = brokers.map(waiting) as [MqttState, MqttState];
    watch.look(first);
    watch.look(first);
    assert.deepEqual(ends, []);
    watch.look(second);
    assert.deepEqual(ends, ['reason' in second && second.reason]);
  });

  it('begins without a session only at the broker that has said whose it gives', async () => {
    const second = await startScriptedBroker();
    try {
      const { broker } = bench;
      // It is away just then.
      broker.options.connackCode = ({ clean }) => (clean ? 0 : 3);
      const result = await probe({ persistent: true, brokers: [broker.url, second.url] });
      assert.deepEqual([result.ok, result.text.key], [true, 'check.silent']);
      assert.deepEqual(
        [broker, second].map((one) => one.packets('connect').map(({ clean }) => clean)),
        [[false], [false, true, true]],
      );
      assert.equal(second.sessions.size, 0);
    } finally {
      await second.stop();
    }
  });
});

describe('a broker that takes the name of the user for the client id', () => {
  let mosquitto: Mosquitto;
  const login = { username: 'plant', password: 'x', persistent: true };

  before(async function () {
    requirePrograms(this, 'mosquitto');
    mosquitto = await startMosquitto(['use_username_as_clientid true']);
  });
  after(() => mosquitto?.stop());

  for (const protocolVersion of [4, 5] as const) {
    it(`still has for the service what waits there after a test, with MQTT ${protocolVersion}`, async () => {
      const settings = mqttSettings(mosquitto.url, { ...login, protocolVersion });
      const first = openSession(mosquitto.url, settings);
      first.subscribe(ALL, new Collector());
      await reached(first, 'connected');
      await first.close();
      const count = 5;
      const gateway = await connectAsync(mosquitto.url, { username: 'gateway' });
      for (let n = 0; n < count; n++) {
        await gateway.publishAsync(reportTopic('heartbeat'), JSON.stringify(heartbeat(n)), { qos: 1 });
      }
      await gateway.endAsync();
      const { ok, text } = await probeBroker(settings);
      assert.deepEqual([ok, text.key], [true, 'check.keptSession']);

      const second = openSession(mosquitto.url, settings);
      const collector = new Collector();
      second.subscribe(ALL, collector);
      await collector.until(({ reports }) => reports.length === count);
      await second.close([]);
    });
  }
});
