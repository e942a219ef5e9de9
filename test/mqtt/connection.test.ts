import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { connect, connectAsync } from 'mqtt';
import type { ServiceError } from '../../src/errors.ts';
import type { Session } from '../../src/session.ts';
import { type Broker, startAedes } from '../brokers.ts';
import { type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { startScriptedBroker } from '../scripted-broker/broker.ts';
import { ALL, Collector, openSession, reached } from '../session.ts';

const G = 'c0141f68fc3d';
const D = 'd00000000001';
const TIME = '2026-01-01T00:00:00.000Z';
const HEARTBEAT = `mt/gateway/${G}/device/${D}/heartbeat`;

describe('the broker connection', () => {
  const open: Session[] = [];
  const session = (...args: Parameters<typeof openSession>) => {
    const opened = openSession(...args);
    open.push(opened);
    return opened;
  };
  afterEach(() => Promise.all(open.splice(0).map((one) => one.close())));

  it('says why no attempt is possible, and goes on to the next broker', async () => {
    // Longer than TLS allows, which only the socket checks.
    const tls = { ALPNProtocols: ['x'.repeat(256)] };
    const broker = await startAedes();
    try {
      const one = session('mqtts://127.0.0.1:1', { tls, brokers: ['mqtts://127.0.0.1:1', broker.url] });
      one.subscribe(ALL, new Collector());
      await reached(one, 'waiting');
      assert.match(JSON.stringify(one.state.mqtt), /255/);
      await reached(one, 'connected');
    } finally {
      await Promise.all(open.splice(0).map((each) => each.close()));
      await broker.stop();
    }
  });

  describe('at a broker with opinions', () => {
    let broker: Broker;
    let allowsSubscriptions: boolean;
    const attempts: string[] = [];

    before(async () => {
      broker = await startAedes({
        authenticate: (client, username, password, done) => {
          attempts.push(client.id);
          const isKnown = username === undefined || password?.toString() === 'right';
          done(isKnown ? null : Object.assign(new Error('no'), { returnCode: 4 }), isKnown);
        },
        authorizeSubscribe: (_, subscription, done) => done(null, allowsSubscriptions ? subscription : null),
      });
    });
    after(() => broker.stop());
    beforeEach(() => {
      allowsSubscriptions = true;
      attempts.length = 0;
    });

    it('is refused with a wrong password and does not try again in a hurry', async () => {
      const refused = session(broker.url, { username: 'me', password: 'wrong' });
      refused.attach();
      await reached(refused, 'refused');
      const { mqtt } = refused.state;
      assert.ok(mqtt.name === 'refused' && !JSON.stringify(mqtt).includes('wrong'));
      assert.equal(attempts.length, 1);
    });

    it('logs in with user name and password, or with a password alone', async () => {
      for (const username of ['me', undefined]) {
        const known = session(broker.url, { username, password: 'right' });
        known.attach();
        await reached(known, 'connected');
        const unknown = session(broker.url, { username, password: 'wrong' });
        unknown.attach();
        await reached(unknown, 'refused');
      }
    });

    it('tells that the broker refuses a subscription, and ends requests that need it', async () => {
      allowsSubscriptions = false;
      const limited = session(broker.url);
      limited.subscribe(ALL, new Collector());
      await reached(limited, 'limited');
      await assert.rejects(
        limited.request('apiversion', { gateway: G }, { signal: new AbortController().signal }),
        (error: ServiceError) =>
          error.code === 'NOT_CONNECTED' && /refused the subscription/.test(error.message),
      );
    });

    it('comes back when another client takes its id over', async () => {
      const robbed = session(broker.url);
      robbed.attach();
      await reached(robbed, 'connected');
      const other = await connectAsync(broker.url, { clientId: attempts[0] ?? '', reconnectPeriod: 0 });
      await reached(robbed, 'waiting');
      await reached(robbed, 'connected');
      await other.endAsync(true);
    });

    it('is made when the first user comes and left when the last one has gone', async () => {
      const lazy = session(broker.url);
      assert.equal(lazy.state.mqtt.name, 'idle');
      const [first, second] = [lazy.attach(), lazy.attach()];
      await reached(lazy, 'connected');
      first();
      second();
      await reached(lazy, 'idle');
      lazy.attach();
      await reached(lazy, 'connected');
      assert.equal(attempts.length, 2);
    });
  });

  it('waits longer after each failure when a broker hangs up at once', async () => {
    const times: number[] = [];
    const server: Server = createServer((socket) => {
      times.push(performance.now());
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    session(`mqtt://127.0.0.1:${port}`).attach();
    while (times.length < 3) {
      await once(server, 'connection');
    }
    const [first = 0, second = 0, third = 0] = times;
    assert.ok(third - second > second - first);
    server.close();
  });

  it('closes within its deadline when the broker has stopped answering', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const mute = openSession(`mqtt://127.0.0.1:${port}`);
    mute.attach();
    await once(server, 'connection');
    await mute.close();
    assert.equal(mute.state.mqtt.name, 'closed');
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
  });

  describe('at Mosquitto', () => {
    let mosquitto: Mosquitto;
    before(async function () {
      requirePrograms(this, 'mosquitto', 'mosquitto_pub');
      mosquitto = await startMosquitto();
    });
    after(() => mosquitto?.stop());

    /** A subscription stands when the response to a request has come, which is asked for later. */
    async function listen(target: Session, collector: Collector, filter = ALL): Promise<void> {
      target.subscribe(filter, collector);
      await reached(target, 'connected');
      const probe = await connectAsync(mosquitto.url);
      await probe.subscribeAsync(`#`);
      probe.on('message', (topic, payload) => {
        if (!topic.includes('/request/')) {
          return;
        }
        const { id } = JSON.parse(payload.toString());
        probe.publish(
          topic.replace('/request/', '/response/'),
          JSON.stringify({ id, status: 0, version: '2.4.0' }),
        );
      });
      await target.request('apiversion', { gateway: G }, { signal: new AbortController().signal });
      await probe.endAsync(true);
    }

    for (const protocolVersion of [4, 5] as const) {
      it(`keeps what comes while nobody is there, with MQTT ${protocolVersion} and a persistent session`, async () => {
        const settings = { persistent: true, protocolVersion, clientId: `mt-persistent-${protocolVersion}` };
        const before = openSession(mosquitto.url, settings);
        await listen(before, new Collector());
        await before.close();
        for (let seq = 0; seq < 20; seq++) {
          await mosquitto.publish(HEARTBEAT, { time: TIME, seq });
        }
        const after = session(mosquitto.url, settings);
        const collector = new Collector();
        after.subscribe(ALL, collector);
        await collector.until(({ reports }) => reports.length === 20);
        assert.deepEqual(
          collector.reports.map(({ seq }) => seq),
          Array.from({ length: 20 }, (_, seq) => seq),
        );
      });
    }

    it('drops subscriptions of an earlier deploy that nobody wants any more', async () => {
      const settings = { persistent: true, clientId: 'mt-persistent-narrowed' };
      const before = openSession(mosquitto.url, settings);
      await listen(before, new Collector(), { ...ALL, kinds: ['heartbeat', 'rssi'] });
      await before.close();
      const after = session(mosquitto.url, settings);
      const collector = new Collector();
      await listen(after, collector, { ...ALL, kinds: ['rssi'] });
      const other = new Collector();
      await listen(after, other, { ...ALL, kinds: ['dfu'] });
      await mosquitto.publish(HEARTBEAT, { time: TIME, seq: 1 });
      await mosquitto.publish(HEARTBEAT.replace('heartbeat', 'rssi'), {
        time: TIME,
        seq: 2,
        parent: G,
        rssi: -50,
      });
      await collector.until(({ reports }) => reports.length === 1);
      assert.equal(collector.reports[0]?.seq, 2);
    });

    it('takes back what an earlier process had subscribed and nobody wants any more', async () => {
      const clientId = 'mt-persistent-changed-while-down';
      const earlier = await connectAsync(mosquitto.url, { clientId, clean: false });
      await earlier.subscribeAsync('mt/gateway/+/device/+/heartbeat', { qos: 1 });
      await earlier.endAsync();
      await mosquitto.publish(HEARTBEAT, { time: TIME, seq: 1 });
      const changed = openSession(mosquitto.url, { persistent: true, clientId });
      await listen(changed, new Collector(), { ...ALL, kinds: ['rssi'] });
      await listen(changed, new Collector(), { ...ALL, kinds: ['dfu'] });
      await changed.close();
      await mosquitto.publish(HEARTBEAT, { time: TIME, seq: 2 });
      await mosquitto.publish(HEARTBEAT.replace('heartbeat', 'dfu'), { time: TIME, parent: G, rssi: -50 });
      const later = connect(mosquitto.url, { clientId, clean: false });
      const topic = await new Promise((resolve) => later.once('message', resolve));
      assert.equal(topic, HEARTBEAT.replace('heartbeat', 'dfu'));
      await later.endAsync(true);
    });

    it('shares reports with another instance of the same group, each report once', async () => {
      const collectors = [new Collector(), new Collector()];
      for (const collector of collectors) {
        await listen(session(mosquitto.url, { sharedGroup: 'rules' }), collector);
      }
      for (let seq = 0; seq < 40; seq++) {
        await mosquitto.publish(HEARTBEAT, { time: TIME, seq });
      }
      const all = () => collectors.flatMap(({ reports }) => reports.map(({ seq }) => seq as number));
      await Promise.race(collectors.map((one) => one.until(() => all().length === 40)));
      assert.deepEqual(
        all().sort((a, b) => a - b),
        Array.from({ length: 40 }, (_, seq) => seq),
      );
      assert.ok(collectors.every(({ reports }) => reports.length > 0));
    });

    it('puts the topic prefix before every topic', async () => {
      const collector = new Collector();
      await listen(session(mosquitto.url, { topicPrefix: 'house/7' }), collector);
      await mosquitto.publish(HEARTBEAT, { time: TIME, seq: 1 });
      await mosquitto.publish(`house/7/${HEARTBEAT}`, { time: TIME, seq: 2 });
      await collector.until(({ reports }) => reports.length === 1);
      assert.equal(collector.reports[0]?.seq, 2);
    });

    it('flags a report that the broker had retained', async () => {
      await mosquitto.publish(HEARTBEAT, { time: TIME, seq: 9 }, { retain: true });
      const collector = new Collector();
      session(mosquitto.url).subscribe({ ...ALL, kinds: ['heartbeat'] }, collector);
      await collector.until(({ reports }) => reports.length === 1);
      assert.equal(collector.reports[0]?.retained, true);
      await mosquitto.publish(HEARTBEAT, '', { retain: true });
    });
  });

  it('sends pings as often as the broker wants, though the settings want none', async () => {
    const broker = await startScriptedBroker({ connackProperties: { serverKeepAlive: 1 } });
    const quiet = session(broker.url, { protocolVersion: 5, keepalive: 0 });
    quiet.attach();
    await broker.until(() => broker.packets('pingreq').length === 2);
    await quiet.close();
    await broker.stop();
  });

  for (const [whose, settings, connackProperties] of [
    ['the keep alive', { keepalive: 1 }, {}],
    ['the keep alive that the broker wants', { protocolVersion: 5 }, { serverKeepAlive: 1 }],
    [
      'the one that the broker wants, with none set',
      { protocolVersion: 5, keepalive: 0 },
      { serverKeepAlive: 1 },
    ],
  ] as const) {
    it(`lives on while a report is held for longer than ${whose}`, async () => {
      const broker = await startScriptedBroker({ connackProperties });
      const holding = session(broker.url, settings);
      const collector = new Collector();
      holding.subscribe(ALL, collector);
      await reached(holding, 'connected');
      holding.pauseReports();
      broker.publish(HEARTBEAT, { time: TIME, seq: 1, status: 0 });
      // MQTT.js alone gives up after one and a half times the keep alive without a response.
      await broker.until(() => broker.packets('pingreq').length === 5);
      holding.resumeReports();
      await collector.until(({ reports }) => reports.length === 1);
      assert.equal(broker.connections.length, 1);
      await holding.close();
      await broker.stop();
    });
  }

  it('is noticed to be broken when a report is passed on that was held meanwhile', async () => {
    const broker = await startScriptedBroker();
    const holding = session(broker.url);
    const collector = new Collector();
    holding.subscribe(ALL, collector);
    await reached(holding, 'connected');
    holding.pauseReports();
    broker.publish(HEARTBEAT, { time: TIME, seq: 1, status: 0 });
    broker.disconnect(0x8b);
    holding.resumeReports();
    await collector.until(({ reports }) => reports.length === 1);
    await broker.until(() => broker.connections.length === 2);
    await holding.close();
    await broker.stop();
  });
});
