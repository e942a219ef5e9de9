// Filters that overlap: each node gets each report once, however the broker sees it, and no more than is wanted comes.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServiceError } from '../../src/errors.ts';
import { SILENT } from '../../src/log.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { Copies } from '../../src/reports/copies.ts';
import { compileCriteria } from '../../src/reports/report-filter.ts';
import { Reports } from '../../src/reports/reports.ts';
import { type ReportFilter, Session } from '../../src/session.ts';
import { G, G2, heartbeat, reportTopic, useScriptedBroker } from '../mqtt/scripted.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';

const numbersOf = (collector: Collector) => collector.reports.map(({ n }) => n);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

/** Resolves when the broker is known to refuse what this looks through. */
async function refusedPreview(preview: () => unknown): Promise<void> {
  for (let isRefused = false; !isRefused; await turn()) {
    try {
      preview();
    } catch (error) {
      isRefused = (error as ServiceError).code === 'NOT_CONNECTED';
    }
  }
}

describe('a node for one kind and a node for one gateway', () => {
  const bench = useScriptedBroker();

  for (const delivery of ['once', 'per-subscription'] as const) {
    it(`get each report once from a broker that delivers ${delivery}, and nothing else is subscribed`, async () => {
      const { broker } = bench;
      broker.options.delivery = delivery;
      const session = bench.open();
      const [kind, gateway] = [new Collector(), new Collector()];
      session.subscribe({ ...ALL, kinds: ['heartbeat'] }, kind);
      session.subscribe({ ...ALL, gateways: [G] }, gateway);
      await reached(session, 'connected');
      for (let n = 0; n < 20; n++) {
        broker.publish(reportTopic('heartbeat'), heartbeat(n));
        assert.equal(broker.publish(reportTopic('rssi', G2), { time: '', parent: G2, rssi: -50 }), 0);
      }
      broker.publish(reportTopic('heartbeat', G2), heartbeat(20));
      await kind.until(({ reports }) => reports.length > 20);
      assert.deepEqual(numbersOf(kind), upTo(21));
      assert.deepEqual(numbersOf(gateway), upTo(20));
    });
  }

  it('get a retained report once, although it comes for each subscription', async () => {
    const { broker } = bench;
    broker.publish(reportTopic('heartbeat'), heartbeat(1), { retain: true });
    broker.publish(reportTopic('dfu'), { time: '', parent: G, rssi: -50 }, { retain: true });
    const session = bench.open();
    const [kind, gateway] = [new Collector(), new Collector()];
    session.subscribe({ ...ALL, kinds: ['heartbeat'] }, kind);
    session.subscribe({ ...ALL, gateways: [G] }, gateway);
    await reached(session, 'connected');
    broker.publish(reportTopic('heartbeat'), heartbeat(2));
    await gateway.until(({ reports }) => reports.at(-1)?.n === 2);
    assert.deepEqual(
      kind.reports.map(({ n, retained }) => [n, retained]),
      [
        [1, true],
        [2, undefined],
      ],
    );
    assert.equal(gateway.reports.length, 3);
  });

  it('ask for the whole network in a shared group, where every other way would double reports', async () => {
    const { broker } = bench;
    const clientId = `mt-copies-${process.pid}`;
    const session = bench.open({ sharedGroup: 'group', clientId });
    session.subscribe({ ...ALL, kinds: ['heartbeat'] }, new Collector());
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    await reached(session, 'connected');
    assert.deepEqual([...broker.subscriptionsOf(clientId).keys()], ['$share/group/mt/gateway/+/device/+/#']);
  });
});

describe('filters that change while reports come', () => {
  const bench = useScriptedBroker();

  it('give a report that came for the filters before once, and those after them once', async () => {
    const { broker } = bench;
    broker.options.delivery = 'per-subscription';
    const session = bench.open();
    const [kind, gateway] = [new Collector(), new Collector()];
    session.subscribe({ ...ALL, gateways: [G] }, gateway);
    let leave = session.subscribe({ ...ALL, kinds: ['rssi'] }, kind);
    await reached(session, 'connected');
    let sent = 0;
    const publish = () => broker.publish(reportTopic('heartbeat'), heartbeat(sent++));
    for (const kinds of [['heartbeat'], ['rssi'], ['heartbeat']]) {
      session.pauseReports();
      leave();
      publish();
      leave = session.subscribe({ ...ALL, kinds }, kind);
      session.resumeReports();
      await gateway.until(({ reports }) => reports.at(-1)?.n === sent - 1);
      for (let n = 1; n < 10; n++) {
        publish();
      }
      await gateway.until(({ reports }) => reports.at(-1)?.n === sent - 1);
    }
    publish();
    await gateway.until(({ reports }) => reports.at(-1)?.n === sent - 1);
    assert.deepEqual(numbersOf(gateway), upTo(sent));
  });
});

describe('the preview of an open panel', () => {
  const bench = useScriptedBroker();
  const clientId = `mt-preview-${process.pid}`;
  const NARROW = `mt/gateway/${G}/device/+/#`;
  const EVERYTHING = 'mt/gateway/+/device/+/#';

  it('leaves the subscriptions of flows as they are, and asks for more beside them', async () => {
    const { broker } = bench;
    broker.options.delivery = 'per-subscription';
    const session = bench.open({ clientId });
    const collector = new Collector();
    session.subscribe({ ...ALL, gateways: [G] }, collector);
    await reached(session, 'connected');
    session.preview(ALL);
    await broker.until(() => broker.subscriptionsOf(clientId).size === 2);
    assert.deepEqual(
      [...broker.subscriptionsOf(clientId)],
      [
        [NARROW, 1],
        [EVERYTHING, 1],
      ],
    );
    for (let n = 0; n < 5; n++) {
      broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    broker.publish(reportTopic('heartbeat', G2), heartbeat(5));
    await collector.until(({ reports }) => reports.length >= 5);
    assert.deepEqual(numbersOf(collector), upTo(5));
    await broker.until(() => session.preview(ALL).length === 6);
    assert.equal(session.state.mqtt.name, 'connected');
  });

  it('takes a sample of a busy network and gives the subscription back', async () => {
    const { broker } = bench;
    const session = bench.open({ clientId });
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    await reached(session, 'connected');
    session.preview(ALL);
    await broker.until(() => broker.subscriptionsOf(clientId).has(EVERYTHING));
    const givenBack = broker.next('unsubscribe', ({ unsubscriptions }) =>
      unsubscriptions.includes(EVERYTHING),
    );
    for (let n = 0; n < 30; n++) {
      broker.publish(reportTopic('heartbeat', G2), heartbeat(n));
    }
    await givenBack;
    assert.equal(session.preview(ALL).length, 20);
    assert.deepEqual([...broker.subscriptionsOf(clientId)], [[NARROW, 1]]);
  });

  it('takes no more of a busy network when hardly a report passes', async () => {
    const { broker } = bench;
    const session = bench.open({ clientId });
    const filter: ReportFilter = { ...ALL, duplicates: 'drop' };
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    await reached(session, 'connected');
    session.preview(filter);
    await broker.until(() => broker.subscriptionsOf(clientId).has(EVERYTHING));
    const givenBack = broker.next('unsubscribe');
    for (let n = 0; n < 1_000; n++) {
      broker.publish(reportTopic('heartbeat', G2), heartbeat(1));
    }
    await givenBack;
    assert.equal(session.preview(filter).length, 1);
  });

  it('brings no retained report to flows that they have had', async () => {
    let now = 0;
    const seen: string[] = [];
    const at = (name: string) => ({ ...new Collector(), report: () => void seen.push(name), error() {} });
    const filter = (kinds: string[], gateways: string[]) =>
      compileCriteria({ ...ALL, kinds, gateways }, createCatalogue())!;
    const reports = new Reports(createTopics(''), createCatalogue(), new NetworkState(), SILENT, {
      now: () => now,
    });
    const retained = (suffix = 'heartbeat') => {
      seen.length = 0;
      reports.deliver(reportTopic(suffix), Buffer.from('{"time":""}'), true);
      return seen.splice(0);
    };
    reports.add(filter([], [G]), false, at('flow'));
    reports.add(filter(['heartbeat'], []), false, at('panel'), true);
    reports.filters();
    reports.settled();
    assert.deepEqual(retained(), ['flow', 'panel']);
    for (let cycle = 0; cycle < 3; cycle++) {
      // As long as retained reports come one after the other, they may be those that the flow has asked for.
      now += cycle === 0 ? 10_001 : 5_000;
      const end = reports.addPreview(filter(['heartbeat'], []));
      reports.filters();
      reports.settled();
      assert.deepEqual(retained(), ['panel']);
      end();
      reports.filters();
      reports.settled();
      assert.deepEqual(retained(), ['panel'], 'late');
    }
    reports.add(filter(['rssi'], []), false, at('another flow'));
    reports.filters();
    reports.settled();
    assert.deepEqual(retained('rssi').sort(), ['another flow', 'flow']);
  });

  const refusal = (session: Session): string => {
    try {
      session.preview(ALL);
      return '';
    } catch (error) {
      const { code, message } = error as ServiceError;
      assert.doesNotMatch(message, /mt.gateway|127/);
      return code;
    }
  };

  it('is told that the broker refuses its subscription, and nobody else is', async () => {
    const { broker } = bench;
    const [warnings, states]: [string[], Set<string>] = [[], new Set()];
    broker.options.refuses = (filter) => filter === EVERYTHING;
    const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };
    const session = new Session({ mqtt: mqttSettings(broker.url, { clientId }) }, log);
    try {
      const collector = new Collector();
      session.subscribe({ ...ALL, gateways: [G] }, collector);
      await reached(session, 'connected');
      session.onState(({ mqtt }) => void states.add(mqtt.name));
      assert.equal(refusal(session), '');
      while (refusal(session) !== 'NOT_CONNECTED') {
        await turn();
      }
      // What flows receive is shown all the same.
      broker.publish(reportTopic('heartbeat'), heartbeat(1));
      await collector.until(({ reports }) => reports.length === 1);
      assert.equal(session.preview(ALL).length, 1);
      assert.deepEqual([[...states], warnings], [['connected'], []]);
      // A flow that wants the same thing is told.
      session.subscribe(ALL, new Collector());
      await reached(session, 'limited');
    } finally {
      await session.close();
    }
  });

  it('does not cut the connection again and again at a broker that refuses by ending it', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter === EVERYTHING;
    broker.options.refusesBy = 'close';
    const session = bench.open({ clientId });
    const collector = new Collector();
    session.subscribe({ ...ALL, gateways: [G] }, collector);
    await reached(session, 'connected');
    session.preview(ALL);
    await reached(session, 'waiting');
    await reached(session, 'connected');
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await collector.until(({ reports }) => reports.length === 1);
    session.preview(ALL);
    broker.publish(reportTopic('heartbeat'), heartbeat(2));
    await collector.until(({ reports }) => reports.length === 2);
    assert.equal(broker.connections.filter(({ clientId: id }) => id === clientId).length, 2);
  });

  it('rests when it has cost the connection, and so do others: flows keep theirs', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter.includes('00002/') || filter.includes('00003/');
    broker.options.refusesBy = 'close';
    const of = (gateway: string) => ({ ...ALL, gateways: [gateway] });
    const session = bench.open({ clientId });
    const collector = new Collector();
    session.subscribe(of(G), collector);
    await reached(session, 'connected');
    session.preview(of('c00000000002'));
    await reached(session, 'waiting');
    for (const gateway of ['c00000000002', 'c00000000003']) {
      await reached(session, 'connected');
      await refusedPreview(() => session.preview(of(gateway)));
    }
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await collector.until(({ reports }) => reports.length === 1);
    assert.equal(broker.connections.filter(({ clientId: id }) => id === clientId).length, 2);
  });

  it('is asked for again where the connection ended for another reason, and does not count as refused', async () => {
    const { broker } = bench;
    const session = bench.open({ clientId, protocolVersion: 5 });
    const collector = new Collector();
    session.subscribe({ ...ALL, gateways: [G] }, collector);
    await reached(session, 'connected');
    await broker.until(() => broker.subscriptionsOf(clientId).size > 0);
    broker.options.withhold = ['suback'];
    session.preview(ALL);
    await broker.until(() => broker.withheld.length > 0);
    broker.options.withhold = [];
    // It is shut down for a moment.
    broker.disconnect(0x8b);
    await broker.until(() => broker.connections.filter(({ clientId: id }) => id === clientId).length === 2);
    await reached(session, 'connected');
    await broker.until(() => broker.subscriptionsOf(clientId).has(EVERYTHING));
    assert.deepEqual(session.preview(ALL), []);
  });

  it('is not asked for again when another one costs the next connection', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter.includes('00002/') || filter.includes('00003/');
    broker.options.refusesBy = 'close';
    const of = (gateway: string) => ({ ...ALL, gateways: [gateway] });
    const session = bench.open({ clientId });
    session.subscribe(of(G), new Collector());
    await reached(session, 'connected');
    const now = performance.now.bind(performance);
    let passed = 0;
    const clock = mock.method(performance, 'now', () => now() + passed);
    for (const gateway of ['c00000000002', 'c00000000003']) {
      session.preview(of(gateway));
      await reached(session, 'waiting');
      await reached(session, 'connected');
      await refusedPreview(() => session.preview(of(gateway)));
      passed += 16_000;
    }
    await refusedPreview(() => session.preview(of('c00000000002')));
    clock.mock.restore();
    assert.equal(broker.connections.filter(({ clientId: id }) => id === clientId).length, 3);
  });

  it('leaves the retained reports to a flow that wants the same thing later', async () => {
    const { broker } = bench;
    broker.publish(reportTopic('heartbeat'), heartbeat(1), { retain: true });
    const session = bench.open({ clientId });
    session.preview(ALL);
    await broker.until(() => session.preview(ALL).length === 1);
    const collector = new Collector();
    session.subscribe(ALL, collector);
    await collector.until(({ reports }) => reports.length === 1);
    assert.equal(collector.reports[0]?.retained, true);
  });

  it('asks for nothing that flows get anyway', async () => {
    const { broker } = bench;
    const session = bench.open({ clientId });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    session.preview({ ...ALL, gateways: [G] });
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await broker.until(() => session.preview({ ...ALL, gateways: [G] }).length === 1);
    assert.deepEqual([...broker.subscriptionsOf(clientId).keys()], [EVERYTHING]);
  });
});

describe('copies of a report', () => {
  const payload = (n: number) => Buffer.from(`${n}`);

  /** Which of these messages are taken for copies, at a place where two subscriptions match. */
  const copiesOf = (numbers: number[], copies = new Copies()) =>
    numbers.map((n) => copies.isCopy('t', payload(n), 2, false));

  it('are recognised from the first on where the broker sends one for each subscription', () => {
    assert.deepEqual(copiesOf([1, 1, 2, 2, 3, 3]), [false, true, false, true, false, true]);
  });

  it('are none where the broker has shown that it sends a message once, even if a sender repeats itself', () => {
    assert.deepEqual(copiesOf([1, 2, 3, 3, 4]), [false, false, false, false, false]);
  });

  it('are learnt anew when a broker acts otherwise three times', () => {
    assert.deepEqual(copiesOf([1, 2, 3, 3, 4, 4, 5, 5, 6, 6]), [
      false,
      false,
      false,
      false,
      false,
      false,
      false,
      true,
      false,
      true,
    ]);
  });

  it('are learnt although the broker has refused one of the subscriptions', () => {
    const copies = new Copies();
    const isCopy = (n: number) => copies.isCopy('t', payload(n), 3, false);
    assert.deepEqual([1, 2, 3, 3, 4, 4, 5, 5, 6, 6].map(isCopy).slice(-3), [true, false, true]);
  });

  it('are looked for all the same while subscriptions change, but nothing is learnt from that', () => {
    const copies = new Copies();
    const uncertain = [1, 2, 3, 3].map((n) => copies.isCopy('t', payload(n), 2, false, false));
    assert.deepEqual(uncertain, [false, false, false, true]);
    assert.deepEqual(copiesOf([4, 4], copies), [false, true]);
  });

  it('are recognised behind some other messages, too', () => {
    const copies = new Copies();
    const isCopy = (n: number) => copies.isCopy(`t${n}`, payload(n), 2, false);
    for (let n = 0; n < 1_000; n++) {
      assert.equal(isCopy(n), false);
    }
    for (let n = 0; n < 1_000; n++) {
      assert.equal(isCopy(n), true);
    }
    for (let n = 0; n < 1_001; n++) {
      isCopy(n);
    }
    assert.equal(isCopy(0), false, 'remembered beyond the bound');
  });

  it('are no more than there are subscriptions', () => {
    const copies = new Copies();
    const three = Array.from({ length: 4 }, () => copies.isCopy('t', payload(1), 3, false));
    assert.deepEqual(three, [false, true, true, false]);
  });

  it('are not remembered of another broker', () => {
    const copies = new Copies();
    copiesOf([1, 2, 3], copies);
    copies.connected(false);
    assert.deepEqual(copiesOf([4, 4], copies), [false, true]);
  });

  it('of retained reports are remembered for 10 000 topics', () => {
    const copies = new Copies();
    const isCopy = (n: number) => copies.isCopy(`t${n}`, payload(n), 2, true);
    for (let n = 0; n < 10_001; n++) {
      assert.equal(isCopy(n), false);
    }
    assert.deepEqual([isCopy(0), isCopy(9_999), isCopy(10_000)], [true, true, false]);
  });
});
