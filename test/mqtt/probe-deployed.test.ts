// Test connection over the connection that is deployed, and what a shared group is found to be.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';
import { G, G2, heartbeat, reportTopic, useScriptedBroker } from './scripted.ts';

describe('the test of a broker connection that is deployed', () => {
  const bench = useScriptedBroker();

  it('goes over that connection, and says how many subscriptions are in use', async () => {
    const session = bench.open({ reportQos: 0 });
    const collector = new Collector();
    session.subscribe({ ...ALL, gateways: [G, G2] }, collector);
    await reached(session, 'connected');
    const before = bench.broker.received.length;
    const asked = session.probe();
    for (let n = 0; n < 3; n++) {
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    const result = await asked;
    assert.ok(result?.ok);
    assert.equal(result.gateways, 1);
    assert.deepEqual(result.notes[0], { key: 'check.subscriptions', values: { needed: 2, inUse: 2 } });
    assert.deepEqual(
      bench.broker.received.slice(before).map(({ packet }) => packet.cmd),
      ['pingreq'],
    );
    assert.equal(collector.reports.length, 3);
  });

  it('sends one ping for all who ask at once, and listens once', async () => {
    const session = bench.open();
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    const warnings: string[] = [];
    const onWarning = ({ message }: Error) => warnings.push(message);
    process.on('warning', onWarning);
    const results = await Promise.all(Array.from({ length: 30 }, () => session.probe()));
    process.off('warning', onWarning);
    assert.ok(results.every((result) => result?.ok));
    assert.equal(bench.broker.packets('pingreq').length, 1);
    assert.deepEqual(warnings, []);
  });

  it('ends in its time though the clock is set back meanwhile', async () => {
    const session = bench.open();
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    const probed = session.probe();
    const now = Date.now();
    const clock = mock.method(Date, 'now', () => now - 3_600_000);
    const result = await probed;
    clock.mock.restore();
    assert.ok(result?.ok);
  });

  it('says below which topics nothing was heard', async () => {
    const session = bench.open({ topicPrefix: 'plant' });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    const result = await session.probe();
    assert.deepEqual(
      [result?.ok, result?.text],
      [true, { key: 'check.silent', values: { root: 'plant/mt/gateway/' } }],
    );
  });

  it('does not say below which topics nothing was heard where the nodes ask for a part of them', async () => {
    const session = bench.open();
    session.subscribe({ ...ALL, kinds: ['event'] }, new Collector());
    await reached(session, 'connected');
    const asked = session.probe();
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
    const result = await asked;
    assert.deepEqual([result?.ok, result?.text], [true, { key: 'check.unheard', values: {} }]);
  });

  it('says that the broker is silent when it answers no ping', async () => {
    const session = bench.open();
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    bench.broker.options.withhold = ['pingresp'];
    const result = await session.probe();
    assert.deepEqual([result?.ok, result?.text.key], [false, 'check.noPing']);
  });

  it('says how many are needed where the broker allows fewer', async () => {
    const session = bench.open({
      limits: { ...mqttSettings('').limits, maxSubscriptions: 3 },
    });
    const gateways = Array.from({ length: 6 }, (_, n) => `c0141f68fc0${n}`);
    session.subscribe({ ...ALL, gateways }, new Collector());
    await reached(session, 'connected');
    const { notes } = (await session.probe())!;
    assert.equal(notes[0]!.key, 'check.subscriptionsOf');
    assert.deepEqual(notes[0]!.values, { needed: 6, inUse: 1, max: 3 });
  });

  it('is none while the broker is away', async () => {
    bench.broker.options.connackCode = 3;
    const session = bench.open();
    session.subscribe(ALL, new Collector());
    await reached(session, 'waiting');
    assert.equal(await session.probe(), undefined);
  });
});

describe('a shared group', () => {
  const bench = useScriptedBroker();

  it('that the broker takes for a plain topic is told, and its nodes get no reports', async () => {
    bench.broker.options.sharedSubscriptions = 'plain';
    const session = bench.open({ sharedGroup: 'told' });
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    await reached(session, 'limited');
    const { mqtt } = session.state;
    assert.ok(mqtt.name === 'limited');
    assert.deepEqual(mqtt.reason, { key: 'reason.plainGroup', values: { group: 'told' } });
    assert.ok(session.refusalOf({ ...ALL, gateways: [G] }));
    await bench.broker.reset();
    await reached(session, 'connected');
    assert.ok(!session.refusalOf({ ...ALL, gateways: [G] }));
  });

  it('is tried again after a deploy that came in the middle of it', async () => {
    bench.broker.options.sharedSubscriptions = 'plain';
    const first = bench.open({ sharedGroup: 'again' });
    first.subscribe(ALL, new Collector());
    await bench.broker.next('publish', ({ topic }) => topic.endsWith('check/plain'));
    await first.close();
    const second = bench.open({ sharedGroup: 'again' });
    second.subscribe(ALL, new Collector());
    await reached(second, 'limited');
  });

  it('is tried once at a broker that ends the connection because of it', async () => {
    bench.broker.options.refuses = (filter) => filter.includes('/request/');
    bench.broker.options.refusesBy = 'close';
    const session = bench.open({ sharedGroup: 'ended' });
    const collector = new Collector();
    session.subscribe(ALL, collector);
    await bench.broker.next('subscribe', ({ subscriptions }) =>
      subscriptions.some(({ topic }) => topic.includes('/request/')),
    );
    await reached(session, 'waiting');
    await reached(session, 'connected');
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await collector.until(({ reports }) => reports.length === 1);
    assert.equal(bench.broker.connections.length, 2);
  });
});
