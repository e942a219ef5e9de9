// Persistent sessions that an earlier process left at the broker: what it subscribed to is found and given back.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { brokerLimits } from '../../src/protocol/broker-profiles.ts';
import { ALL, Collector, reached } from '../session.ts';
import {
  answerAll,
  G,
  G2,
  heartbeat,
  leaveSession,
  reportTopic,
  responseFilter,
  useScriptedBroker,
} from './scripted.ts';

describe('a session that an earlier process left at the broker', () => {
  const bench = useScriptedBroker();
  afterEach(() => mock.reset());
  let count = 0;

  const leave = (filters: string[]) => leaveSession(bench.broker, filters);

  it('gives back subscriptions to responses that nobody here has asked for', async () => {
    const clientId = await leave([responseFilter(), responseFilter(G2)]);
    const session = bench.open({ clientId, persistent: true });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    for (const gateway of [G, G2]) {
      bench.broker.publish(`mt/gateway/${gateway}/response/${gateway}/apiversion`, {
        id: 'of another',
        status: 0,
      });
    }
    await bench.broker.until((broker) => broker.subscriptionsOf(clientId).size === 1);
  });

  it('gives back a subscription to the responses of all gateways, and not one that is in use', async () => {
    const all = responseFilter('+');
    const clientId = await leave([all]);
    const { broker } = bench;
    const answerOfOther = () =>
      broker.publish(`mt/gateway/${G2}/response/${G2}/apiversion`, { id: 'of another', status: 0 });
    const limits = brokerLimits('emqx', { maxSubscriptions: 10, maxUnacknowledged: 0 });
    const session = bench.open({ clientId, persistent: true, limits });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    answerOfOther();
    await broker.until(() => !broker.subscriptionsOf(clientId).has(all));
    answerAll(broker, ({ id }) => ({ id }));
    const { signal } = new AbortController();
    await session.request('apiversion', { gateway: G }, { signal });
    answerOfOther();
    await session.request('apiversion', { gateway: G }, { signal });
    assert.ok(broker.subscriptionsOf(clientId).has(all));
  });

  for (const [what, filter, earlier, topicPrefix] of [
    ['a wider subscription', 'mt/gateway/+/device/+/#', '', ''],
    ['one of another shape', reportTopic('#', '+'), '', ''],
    ['one of an earlier topic prefix', `old/site/${reportTopic('#', '+')}`, 'old/site/', ''],
    ['one without the topic prefix of now', reportTopic('#', '+'), '', 'site'],
  ] as const) {
    it(`gives back ${what} to reports that nobody wants any more`, async () => {
      const clientId = await leave([filter]);
      const session = bench.open({ clientId, persistent: true, topicPrefix });
      const collector = new Collector();
      session.subscribe({ ...ALL, gateways: [G2] }, collector);
      await reached(session, 'connected');
      bench.broker.publish(`${earlier}${reportTopic('heartbeat')}`, heartbeat(1));
      await bench.broker.until((broker) => !broker.subscriptionsOf(clientId).has(filter));
      const prefix = topicPrefix && `${topicPrefix}/`;
      bench.broker.publish(`${prefix}${reportTopic('heartbeat', G2)}`, heartbeat(2));
      await collector.until(({ reports }) => reports.length === 1);
    });
  }

  it('gives back what it has asked for without the group that it is in now, before anything has come', async () => {
    const plain = `mt/gateway/${G}/device/+/#`;
    const clientId = await leave([plain]);
    // Nothing else is asked for later: it is known that the broker has groups.
    const limits = brokerLimits('emqx', { maxSubscriptions: 10, maxUnacknowledged: 0 });
    const session = bench.open({ clientId, persistent: true, sharedGroup: 'group', limits });
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    await reached(session, 'connected');
    await bench.broker.until((broker) => !broker.subscriptionsOf(clientId).has(plain));
    assert.ok(bench.broker.subscriptionsOf(clientId).has(`$share/group/${plain}`));
  });

  it('gives it back, too, where the node that asks for it comes later, and once', async () => {
    const plain = [G, G2].map((gateway) => `mt/gateway/${gateway}/device/+/#`);
    const clientId = await leave(plain);
    const limits = brokerLimits('emqx', { maxSubscriptions: 10, maxUnacknowledged: 0 });
    const session = bench.open({ clientId, persistent: true, sharedGroup: 'group', limits });
    const isGone = (filter = '') =>
      bench.broker.until((broker) => !broker.subscriptionsOf(clientId).has(filter));
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    await isGone(plain[0]);
    const leaveReports = session.subscribe({ ...ALL, gateways: [G2] }, new Collector());
    await isGone(plain[1]);
    leaveReports();
    await isGone(`$share/group/${plain[1]}`);
    const given = bench.broker.packets('unsubscribe', clientId).flatMap((packet) => packet.unsubscriptions);
    assert.deepEqual(given.sort(), [...plain, `$share/group/${plain[1]}`].sort());
  });

  it('is no trouble when a topic comes by which nothing can be given back', async () => {
    const clientId = await leave([reportTopic('#', '+')]);
    const session = bench.open({ clientId, persistent: true });
    const collector = new Collector();
    session.subscribe({ ...ALL, gateways: [G2] }, collector);
    await reached(session, 'connected');
    for (const segment of ['#', '+', 'measurement/#']) {
      bench.broker.publish(reportTopic(segment), heartbeat(1));
    }
    bench.broker.publish(reportTopic('heartbeat', G2), heartbeat(2));
    await collector.until(({ reports }) => reports.length === 1);
    session.subscribe({ ...ALL, gateways: [G2], kinds: ['other'] }, new Collector());
    session.subscribe({ ...ALL, devices: [G2] }, new Collector());
    await reached(session, 'connecting');
    await reached(session, 'connected');
  });

  it('gives back what was granted while the connection broke, when nobody wants it any more', async () => {
    const session = bench.open({ clientId: `mt-stale-${process.pid}-${count++}`, persistent: true });
    session.attach();
    await reached(session, 'connected');
    // The broker grants it, and the session does not know: the reply is lost with the connection.
    bench.broker.options.intercept = ({ cmd }) => {
      if (cmd === 'subscribe') {
        process.nextTick(() => bench.broker.drop());
      }
      return false;
    };
    const subscribed = bench.broker.next('subscribe');
    const leaveReports = session.subscribe(ALL, new Collector());
    const { clientId } = await subscribed;
    bench.broker.options.intercept = () => false;
    leaveReports();
    assert.equal(bench.broker.subscriptionsOf(clientId).size, 1);
    await reached(session, 'waiting');
    await bench.broker.until((broker) => broker.subscriptionsOf(clientId).size === 0);
  });

  it('gives each report once, although the broker sends it for the old subscription too', async () => {
    bench.broker.options.delivery = 'per-subscription';
    const clientId = await leave(['mt/gateway/+/device/+/#']);
    const session = bench.open({ clientId, persistent: true });
    const collector = new Collector();
    session.subscribe({ ...ALL, gateways: [G] }, collector);
    await reached(session, 'connected');
    for (let n = 0; n < 50; n++) {
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    await bench.broker.until((broker) => !broker.subscriptionsOf(clientId).has('mt/gateway/+/device/+/#'));
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(50));
    await collector.until(({ reports }) => reports.at(-1)?.n === 50);
    const numbers = collector.reports.map(({ n }) => n);
    assert.deepEqual(
      [...new Set(numbers)],
      Array.from({ length: 51 }, (_, n) => n),
    );
    assert.ok(numbers.length <= 2 * 50 + 1);
    assert.equal(numbers.filter((n) => n === 0).length, 1);
  });

  it('passes on what a sender really sends twice, once nothing is left to give back', async () => {
    const clientId = await leave(['mt/gateway/+/device/+/#']);
    const session = bench.open({ clientId, persistent: true });
    const collector = new Collector();
    session.subscribe({ ...ALL, gateways: [G] }, collector);
    await reached(session, 'connected');
    const twice = (n: number) => {
      for (let i = 0; i < 2; i++) {
        bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
      }
    };
    const givenBack = bench.broker.next('unsubscribe');
    twice(1);
    await givenBack;
    // A response shows that the session has heard of it.
    answerAll(bench.broker, ({ id }) => ({ id, version: '2.4.0' }));
    await session.request('apiversion', { gateway: G }, { signal: new AbortController().signal });
    // What has waited at the broker for the leftover would come at once.
    const { now } = performance;
    mock.method(performance, 'now', () => now.call(performance) + 1_000);
    twice(2);
    await collector.until(({ reports }) => reports.filter(({ n }) => n === 2).length === 2);
  });

  it('believes a sender that sends everything twice after a minute', async () => {
    const clientId = await leave(['mt/gateway/+/device/+/#']);
    const session = bench.open({ clientId, persistent: true });
    const collector = new Collector();
    session.subscribe({ ...ALL, gateways: [G] }, collector);
    await reached(session, 'connected');
    const givenBack = bench.broker.next('unsubscribe');
    const twice = async (n: number) => {
      for (let i = 0; i < 2; i++) {
        bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
      }
      await collector.until(({ reports }) => reports.at(-1)?.n === n);
    };
    await twice(0);
    await givenBack;
    answerAll(bench.broker, ({ id }) => ({ id, version: '2.4.0' }));
    await session.request('apiversion', { gateway: G }, { signal: new AbortController().signal });
    const began = performance.now();
    let halfSeconds = 0;
    mock.method(performance, 'now', () => began + 500 * halfSeconds);
    for (; halfSeconds < 121; halfSeconds++) {
      await twice(halfSeconds + 1);
    }
    const sent = collector.reports.map(({ n }) => n);
    await collector.until(({ reports }) => reports.filter(({ n }) => n === 121).length === 2);
    assert.equal(sent.filter((n) => n === 120).length, 1);
  });

  it('lets the responses of others not fill the queue that the broker keeps for a killed process', async () => {
    const { broker } = bench;
    broker.options.maxQueued = 100;
    const clientId = `mt-stale-${process.pid}-${count++}`;
    const killed = bench.open({ clientId, persistent: true });
    killed.subscribe(ALL, new Collector());
    await reached(killed, 'connected');
    const signal = new AbortController().signal;
    killed.request('apiversion', { gateway: G }, { signal, timeout: 60_000 }).catch(() => undefined);
    await broker.until(() => broker.subscriptionsOf(clientId).has(responseFilter()));
    // Nothing is said to the broker before it sees the end.
    await broker.kill();
    for (let n = 0; n < 500; n++) {
      broker.publish(`mt/gateway/${G}/response/${G}/apiversion`, { id: `${n}` });
    }
    for (let n = 0; n < 50; n++) {
      broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    const kept = broker.sessions.get(clientId);
    assert.equal((kept?.queued.length ?? 0) + (kept?.unacknowledged.length ?? 0), 50);
    assert.deepEqual(broker.lost, []);
    await broker.start();
  });
});
