// Leaving the broker: the socket is gone in time, and nothing of the session lives on there.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { SILENT } from '../../src/log.ts';
import { Session } from '../../src/session.ts';
import { startScriptedBroker } from '../scripted-broker/broker.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';
import { answerAll, G, heartbeat, reportTopic, responseFilter, useScriptedBroker } from './scripted.ts';

describe('closing a session', () => {
  const bench = useScriptedBroker();
  const signal = new AbortController().signal;

  it('leaves no socket at a broker that never acknowledges what was sent', async () => {
    const { broker } = bench;
    broker.options.withhold = ['puback'];
    const session = bench.open();
    const failed = session.request('apiversion', { gateway: G }, { signal }).catch((error) => error.code);
    await broker.next('publish');
    await session.close();
    assert.equal(await failed, 'CLOSED');
    await broker.until(() => broker.openConnections.length === 0);
  });

  it('leaves no socket while a report is held that the broker waits for', async () => {
    const { broker } = bench;
    const session = bench.open();
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    session.pauseReports();
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    const failed = session.request('apiversion', { gateway: G }, { signal }).catch((error) => error.code);
    await session.close();
    await failed;
    await broker.until(() => broker.openConnections.length === 0);
  });

  it('leaves no socket at a broker that has stopped reading', async () => {
    const { broker } = bench;
    const session = bench.open({ requestTimeout: 60_000, maxInFlight: 5_000 });
    session.attach();
    await reached(session, 'connected');
    const open = session.request('apiversion', { gateway: G }, { signal }).catch((error) => error.code);
    await broker.next('publish');
    broker.setReading(false);
    const value = 'ab'.repeat(50_000);
    const stuck = Array.from({ length: 200 }, () =>
      session.request('write', { gateway: G, identifier: '7e', value }, { signal }).catch((e) => e.code),
    );
    await session.close();
    assert.equal(await open, 'CLOSED');
    assert.deepEqual([...new Set(await Promise.all(stuck))], ['CLOSED']);
    broker.setReading(true);
    await broker.until(() => broker.openConnections.length === 0);
  });

  it('leaves no socket at a broker that never answers the first packet', async () => {
    const { broker } = bench;
    broker.options.withhold = ['connack'];
    const session = bench.open();
    session.attach();
    await broker.next('connect');
    await session.close();
    await broker.until(() => broker.openConnections.length === 0);
  });

  it('takes nothing of what a shared group still has for others, from the moment it closes', async () => {
    const { broker } = bench;
    const members = ['a', 'b'].map((name) => ({ name, collector: new Collector() }));
    const sessions = members.map(({ collector }) => {
      const session = bench.open({ sharedGroup: 'group', persistent: false });
      session.subscribe(ALL, collector);
      return session;
    });
    await Promise.all(sessions.map((session) => reached(session, 'connected')));
    const [leaving] = sessions;
    // One report is held and not acknowledged, and a request is under way.
    leaving!.pauseReports();
    broker.options.withhold = ['puback'];
    void leaving!.request('apiversion', { gateway: G }, { signal }).catch(() => undefined);
    await broker.next('publish');
    await leaving!.close();
    const staying = members[1]!.collector;
    for (let n = 0; n < 100; n++) {
      broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    await staying.until(({ reports }) => reports.length === 100);
  });

  it('survives an acknowledgement that was read behind a held report, when the connection has ended', async () => {
    const { broker } = bench;
    const session = bench.open({ persistent: true });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    broker.options.withhold = ['puback'];
    void session.request('apiversion', { gateway: G }, { signal }).catch(() => undefined);
    await broker.next('publish');
    session.pauseReports();
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    broker.release('puback');
    // Both leave in one piece, and are read, before the broker ends the connection.
    for (const connection of broker.openConnections) {
      connection.close();
    }
    await reached(session, 'waiting');
    await session.close();
    // What was read is worked through one packet after the other: an exception there would end the process.
    for (let turns = 0; turns < 10; turns++) {
      await turn();
    }
  });

  it('sends DISCONNECT, so that the broker publishes no will and keeps no session', async () => {
    const { broker } = bench;
    const session = bench.open();
    session.attach();
    await reached(session, 'connected');
    const disconnected = broker.next('disconnect');
    await session.close();
    await disconnected;
  });

  it('leaves nothing subscribed in a session that nobody comes back to', async () => {
    const { broker } = bench;
    const settings = mqttSettings(broker.url);
    const session = bench.open({ clientId: settings.clientId, persistent: true });
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    await broker.until(() => broker.subscriptionsOf(settings.clientId).size === 1);
    await session.close([]);
    await broker.until(() => broker.subscriptionsOf(settings.clientId).size === 0);
  });

  for (const isReachable of [true, false]) {
    const what = isReachable ? 'leaves nothing subscribed' : 'names in the log what it cannot reach';
    it(`${what} at an address of before, in a session that nobody comes back to`, async () => {
      const { broker } = bench;
      const first = await startScriptedBroker();
      try {
        const warnings: string[] = [];
        const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };
        const mqtt = mqttSettings('', { brokers: [first.url, broker.url], persistent: true });
        const session = new Session({ mqtt }, log);
        session.subscribe(ALL, new Collector());
        await reached(session, 'connected');
        first.options.connackCode = 3;
        first.drop();
        await reached(session, 'waiting');
        await reached(session, 'connected');
        first.options.connackCode = isReachable ? 0 : 3;
        warnings.length = 0;
        await session.close([]);
        await broker.until(() => broker.subscriptionsOf(mqtt.clientId).size === 0);
        assert.equal(first.subscriptionsOf(mqtt.clientId).size, isReachable ? 0 : 1);
        assert.deepEqual(
          warnings.map((text) => text.includes('goes on collecting')),
          isReachable ? [] : [true],
        );
        await first.until(({ openConnections }) => openConnections.length === 0);
      } finally {
        await first.stop();
      }
    });
  }

  /** Subscribed at each of the addresses, connected to the last of them. */
  async function visitEach(brokers: string[], leave: (n: number) => void) {
    const warnings: string[] = [];
    const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };
    const mqtt = mqttSettings('', { brokers, persistent: true });
    const session = new Session({ mqtt }, log);
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    for (let n = 0; n < brokers.length - 1; n++) {
      leave(n);
      await reached(session, 'waiting');
      await reached(session, 'connected');
    }
    warnings.length = 0;
    return { session, clientId: mqtt.clientId, warnings };
  }

  it('names nothing in the log where several addresses of before lead to one broker', async () => {
    const { broker } = bench;
    const addresses = ['one', 'two', 'three'].map((path) => `${broker.url}/${path}`);
    const { session, clientId, warnings } = await visitEach(addresses, () => broker.drop());
    const { length } = broker.connections;
    await session.close([]);
    assert.equal(broker.connections.length - length, 2);
    assert.deepEqual(warnings, []);
    assert.equal(broker.subscriptionsOf(clientId).size, 0);
  });

  it('gives back at an address of before also where another one does not answer', async () => {
    const [mute, other] = [await startScriptedBroker(), await startScriptedBroker()];
    try {
      const addresses = [mute.url, other.url, bench.broker.url];
      const { session, clientId, warnings } = await visitEach(addresses, (n) => {
        const left = n === 0 ? mute : other;
        left.options.withhold = ['connack'];
        left.drop();
      });
      other.options.withhold = [];
      await session.close([]);
      assert.deepEqual(
        warnings.map((text) => text.split(' ', 1)[0]),
        [mute.url],
      );
      assert.equal(other.subscriptionsOf(clientId).size, 0);
      await mute.until(({ openConnections }) => openConnections.length === 0);
    } finally {
      await Promise.all([mute.stop(), other.stop()]);
    }
  });

  it('leaves alone, and names in the log, an address that is taken from the list while another one stays', async () => {
    const gone = await startScriptedBroker();
    try {
      const { broker } = bench;
      const { session, clientId, warnings } = await visitEach([gone.url, broker.url], () => {
        gone.options.connackCode = 3;
        gone.drop();
      });
      gone.options.connackCode = 0;
      await session.close([`${broker.url}?of-another-day`]);
      const held = [gone, broker].map((at) => at.subscriptionsOf(clientId).size);
      assert.deepEqual([held, warnings.length, gone.openConnections.length], [[1, 1], 1, 0]);
      assert.ok(warnings[0]?.startsWith(`${gone.url} is taken from the list`));
    } finally {
      await gone.stop();
    }
  });

  it('leaves nothing subscribed in a session that nobody comes back to, also where the connection is closed', async () => {
    const { broker } = bench;
    const warnings: string[] = [];
    const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };
    const mqtt = mqttSettings(broker.url, { persistent: true });
    const session = new Session({ mqtt }, log);
    const end = session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    broker.options.connackCode = 3;
    broker.drop();
    await reached(session, 'waiting');
    end();
    await reached(session, 'idle');
    assert.equal(broker.subscriptionsOf(mqtt.clientId).size, 1);
    broker.options.connackCode = 0;
    warnings.length = 0;
    await session.close([]);
    assert.equal(broker.subscriptionsOf(mqtt.clientId).size, 0);
    assert.deepEqual(warnings, []);
  });

  it('gives back what the broker keeps when a deploy brings the service back without a node that wants it', async () => {
    const { broker } = bench;
    const settings = { clientId: mqttSettings(broker.url).clientId, persistent: true };
    const before = bench.open(settings);
    before.subscribe(ALL, new Collector());
    await broker.until(() => broker.subscriptionsOf(settings.clientId).size === 1);
    await before.close();
    assert.equal(broker.subscriptionsOf(settings.clientId).size, 1);
    const after = bench.open(settings);
    after.pauseReports();
    const disconnected = broker.next('disconnect');
    after.resumeReports();
    await disconnected;
    assert.equal(broker.subscriptionsOf(settings.clientId).size, 0);
    await reached(after, 'idle');
    // Nothing is left to give back, so nothing connects.
    const { length } = broker.connections;
    after.resumeReports();
    assert.deepEqual([broker.connections.length, after.state.mqtt.name], [length, 'idle']);
  });

  it('does not leave the subscriptions to responses in a session that the broker keeps', async () => {
    const { broker } = bench;
    const settings = mqttSettings(broker.url);
    const session = bench.open({ clientId: settings.clientId, persistent: true });
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    const failed = session.request('apiversion', { gateway: G }, { signal }).catch((error) => error.code);
    await broker.until(() => broker.subscriptionsOf(settings.clientId).size === 2);
    await session.close();
    await failed;
    await broker.until(() => broker.subscriptionsOf(settings.clientId).size === 1);
    assert.ok(!broker.subscriptionsOf(settings.clientId).has(responseFilter()));
  });

  it('gives subscriptions back in packets as the broker was seen to take', async () => {
    const { broker } = bench;
    broker.options.maxFiltersPerSubscribe = 8;
    answerAll(broker, ({ id }) => ({ id, version: '2.4.0' }));
    const { clientId } = mqttSettings(broker.url);
    const session = bench.open({ clientId, persistent: true, requestTimeout: 10_000 });
    session.subscribe(ALL, new Collector());
    const asked = Array.from({ length: 40 }, (_, n) =>
      session.request('apiversion', { gateway: `c000000000${(n + 16).toString(16)}` }, { signal }),
    );
    await Promise.all(asked);
    broker.options.maxPacketSize = 600;
    await session.close();
    await broker.until(() => broker.subscriptionsOf(clientId).size === 1);
  });
});
