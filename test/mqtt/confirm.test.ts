// Reports that the broker keeps until the flow has stored them: acknowledged late, in order, and sent to the flow again.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServiceError } from '../../src/errors.ts';
import type { Session } from '../../src/session.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { ALL, Collector, reached } from '../session.ts';
import {
  answerAll,
  D,
  G,
  heartbeat,
  reportTopic,
  responseFilter,
  TIME,
  useScriptedBroker,
} from './scripted.ts';

let count = 0;

describe('reports that a flow confirms', () => {
  const bench = useScriptedBroker();
  let clientId: string;

  beforeEach(() => {
    clientId = `mt-confirm-${process.pid}-${count++}`;
  });

  const publish = (n: number) => bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
  const acknowledged = () => bench.broker.packets('puback').length;

  /** A collector that confirms nothing by itself. */
  function confirming(timeoutMs = 60_000, maxAttempts = 20) {
    const counts: number[] = [];
    const collector = Object.assign(new Collector(), {
      confirm: { timeoutMs, maxAttempts, count: (open: number) => void counts.push(open) },
    });
    return { collector, counts };
  }

  async function listen(
    collector: Collector,
    settings: Partial<MqttSettings> = {},
    filter: Partial<typeof ALL> = {},
  ): Promise<Session> {
    const session = bench.open({ clientId, ...settings });
    session.subscribe({ ...ALL, ...filter }, collector, 'node');
    await reached(session, 'connected');
    return session;
  }

  const delivery = ({ reports }: Collector, at: number) => String(reports[at]?.delivery);
  const numbers = ({ reports }: Collector) => reports.map(({ n }) => n);

  for (const protocolVersion of [4, 5] as const) {
    it(`are all at the flow, and none is acknowledged before (MQTT ${protocolVersion})`, async () => {
      const { collector } = confirming();
      const session = await listen(collector, { protocolVersion });
      for (let n = 0; n < 10; n++) {
        publish(n);
      }
      await collector.until(({ reports }) => reports.length === 10);
      assert.equal(acknowledged(), 0);
      for (const { delivery } of collector.reports) {
        assert.equal(session.confirm(String(delivery)), true);
        assert.equal(session.confirm(String(delivery)), false);
      }
      await bench.broker.until(() => acknowledged() === 10);
    });
  }

  it('are acknowledged in the order in which they came, others that are done wait', async () => {
    const { collector } = confirming();
    const session = await listen(collector);
    for (let n = 0; n < 4; n++) {
      publish(n);
    }
    await collector.until(({ reports }) => reports.length === 4);
    const ids = bench.broker.packets('publish').map(({ messageId }) => messageId);
    for (const at of [3, 1, 0]) {
      session.confirm(delivery(collector, at));
    }
    await bench.broker.until(() => acknowledged() === 2);
    session.confirm(delivery(collector, 2));
    await bench.broker.until(() => acknowledged() === 4);
    const sent = bench.broker.sent
      .filter(({ packet }) => packet.cmd === 'publish')
      .map(({ packet }) => (packet as { messageId?: number }).messageId);
    assert.deepEqual(
      bench.broker.packets('puback').map(({ messageId }) => messageId),
      sent,
      JSON.stringify(ids),
    );
  });

  it('hold up neither the responses to requests nor the reports of other nodes', async () => {
    answerAll(bench.broker, ({ id }) => ({ id, value: '0866' }));
    const { collector } = confirming();
    const session = await listen(collector);
    const other = new Collector();
    session.subscribe(ALL, other, 'other');
    for (let n = 0; n < 5; n++) {
      publish(n);
    }
    await collector.until(({ reports }) => reports.length === 5);
    await other.until(({ reports }) => reports.length === 5);
    assert.ok(other.reports.every((report) => report.delivery === undefined));
    const { signal } = new AbortController();
    await session.request('read', { gateway: G, device: D, identifier: '8800' }, { signal });
    assert.equal(acknowledged(), 0);
  });

  it('hold up no response to a gateway that was asked before a node began to confirm', async () => {
    answerAll(bench.broker, ({ id }) => ({ id, value: '0866' }));
    bench.broker.options.maxInFlight = 5;
    const session = bench.open({ clientId });
    session.subscribe(ALL, new Collector(), 'other');
    await reached(session, 'connected');
    const { signal } = new AbortController();
    const read = () => session.request('read', { gateway: G, device: D, identifier: '8800' }, { signal });
    await read();
    const { collector } = confirming();
    const end = session.subscribe(ALL, collector, 'node');
    await bench.broker.until((broker) => broker.subscriptionsOf(clientId).get(responseFilter()) === 0);
    const before = acknowledged();
    for (let n = 0; n < 10; n++) {
      publish(n);
    }
    await collector.until(({ reports }) => reports.length === 5);
    await read();
    assert.equal(acknowledged(), before);
    end(false);
    await bench.broker.until((broker) => broker.subscriptionsOf(clientId).get(responseFilter()) === 1);
  });

  it('hold up no ping when as many are open as may be, or the broker would end the connection', async () => {
    const { collector } = confirming();
    const session = await listen(collector, { keepalive: 1 });
    const payload = JSON.stringify({ ...heartbeat(0), ext: 'x'.repeat(1_000_000) });
    for (let n = 0; n < 60; n++) {
      bench.broker.publish(reportTopic('heartbeat'), payload);
    }
    await collector.until(({ reports }) => reports.length === 60);
    session.pauseReports();
    bench.broker.publish(reportTopic('heartbeat'), payload);
    const before = bench.broker.packets('pingreq').length;
    await bench.broker.until((broker) => broker.packets('pingreq').length > before + 1);
    session.resumeReports();
    await collector.until(({ reports }) => reports.length === 61);
    const pings = bench.broker.packets('pingreq').length;
    await bench.broker.until((broker) => broker.packets('pingreq').length > pings + 3);
    assert.equal(bench.broker.connections.length, 1);
    assert.equal(acknowledged(), 0);
  });

  it('are confirmed when each of the nodes that must has confirmed its own', async () => {
    const [first, second] = [confirming().collector, confirming().collector];
    const session = await listen(first);
    session.subscribe(ALL, second, 'second');
    publish(1);
    await first.until(({ reports }) => reports.length === 1);
    await second.until(({ reports }) => reports.length === 1);
    session.confirm(delivery(first, 0));
    await turn();
    assert.equal(acknowledged(), 0);
    session.confirm(delivery(second, 0));
    await bench.broker.until(() => acknowledged() === 1);
  });

  it('come again, marked, until they are confirmed, and any copy counts', async () => {
    const { collector, counts } = confirming(1);
    const session = await listen(collector);
    publish(1);
    await collector.until(({ reports }) => reports.length === 3);
    assert.deepEqual(
      collector.reports.map(({ n, redelivered }) => [n, redelivered]),
      [
        [1, undefined],
        [1, true],
        [1, true],
      ],
    );
    assert.equal(new Set(collector.reports.map((report) => report.delivery)).size, 1);
    assert.equal(session.confirm(delivery(collector, 0)), true);
    await bench.broker.until(() => acknowledged() === 1);
    while (counts.at(-1) !== 0) {
      await turn();
    }
    assert.equal(counts[0], 1);
  });

  it('that can never be stored are an error with all that was received, and then confirmed', async () => {
    const { collector } = confirming(1, 2);
    await listen(collector);
    publish(7);
    await collector.until(({ errors }) => errors.length === 1);
    assert.equal(collector.reports.length, 3);
    const [{ code, topic, payload } = { code: '', topic: '', payload: '' }] = collector.errors;
    assert.deepEqual([code, topic, JSON.parse(String(payload)).n], ['TIMEOUT', reportTopic('heartbeat'), 7]);
    await bench.broker.until(() => acknowledged() === 1);
  });

  it('that are given up tell the gateway, the device and the property of their topic', async () => {
    const { collector } = confirming(1, 1);
    const causes: Record<string, unknown>[] = [];
    const error = (...[fault, message]: Parameters<Collector['error']>) => {
      causes.push((fault as ServiceError).cause);
      Collector.prototype.error.call(collector, fault, message);
    };
    await listen(Object.assign(collector, { error }), { topicPrefix: 'mt/gateway/house' });
    const told = { gateway: G, device: D, operation: 'confirm', timeout: 1, attempts: 1 };
    for (const [suffix, identifier] of [
      ['measurement/8800', '8800'],
      ['heartbeat', undefined],
    ] as const) {
      const topic = `mt/gateway/house/${reportTopic(suffix)}`;
      const payload = { ...heartbeat(1), value: '0019' };
      bench.broker.publish(topic, payload);
      await collector.until(() => causes.length === 1);
      assert.deepEqual({ ...causes.pop() }, { ...told, identifier, topic, payload: JSON.stringify(payload) });
    }
  });

  it('are confirmed, or come again, also when an acknowledge node of another service had them', async () => {
    const { collector } = confirming();
    const session = await listen(collector);
    const other = bench.open();
    publish(1);
    await collector.until(({ reports }) => reports.length === 1);
    assert.equal(other.sendAgain(delivery(collector, 0), 0), true);
    await collector.until(({ reports }) => reports.length === 2);
    assert.equal(other.confirm(delivery(collector, 0)), true);
    await bench.broker.until(() => acknowledged() === 1);
    publish(2);
    await collector.until(({ reports }) => reports.length === 3);
    await session.close();
    assert.equal(other.confirm(delivery(collector, 2)), false);
  });

  it('come again when the flow wants them again', async () => {
    const { collector } = confirming();
    const session = await listen(collector);
    publish(1);
    await collector.until(({ reports }) => reports.length === 1);
    assert.equal(session.sendAgain(delivery(collector, 0), 0), true);
    await collector.until(({ reports }) => reports.length === 2);
    assert.equal(collector.reports[1]?.redelivered, true);
    assert.equal(session.sendAgain('no such', 0), false);
  });

  it('that are dropped on the way are no business of the flow: repeats', async () => {
    const { collector } = confirming();
    const session = await listen(collector, {}, { duplicates: 'drop' });
    publish(1);
    publish(1);
    await bench.broker.until(
      () => bench.broker.sent.filter(({ packet }) => packet.cmd === 'publish').length === 2,
    );
    await collector.until(({ reports }) => reports.length === 1);
    session.confirm(delivery(collector, 0));
    await bench.broker.until(() => acknowledged() === 2);
    assert.equal(collector.reports.length, 1);
  });

  it('are not given to the flow twice over a loss of the connection, and what was confirmed meanwhile is done', async () => {
    const { collector } = confirming();
    const session = await listen(collector, { persistent: true });
    for (const n of [1, 2, 3]) {
      publish(n);
    }
    await collector.until(({ reports }) => reports.length === 3);
    const lost = reached(session, 'waiting');
    bench.broker.drop();
    await lost;
    session.confirm(delivery(collector, 1));
    await reached(session, 'connected');
    publish(4);
    await collector.until(({ reports }) => reports.length === 4);
    assert.deepEqual(numbers(collector), [1, 2, 3, 4]);
    for (const at of [0, 2, 3]) {
      session.confirm(delivery(collector, at));
    }
    await bench.broker.until(() => acknowledged() === 4);
  });

  it('that are confirmed while the connection is lost are not given to the flow again, the oldest neither', async () => {
    const { collector } = confirming();
    const session = await listen(collector, { persistent: true });
    publish(1);
    publish(2);
    await collector.until(({ reports }) => reports.length === 2);
    const lost = reached(session, 'waiting');
    bench.broker.drop();
    await lost;
    session.confirm(delivery(collector, 0));
    await reached(session, 'connected');
    publish(3);
    await collector.until(({ reports }) => reports.map(({ n }) => n).includes(3));
    assert.deepEqual(numbers(collector), [1, 2, 3]);
    assert.equal(acknowledged(), 1);
  });

  it('are not given twice after a loss where the broker sends a copy for each of several subscriptions', async () => {
    bench.broker.options.delivery = 'per-subscription';
    const { collector } = confirming();
    const session = await listen(collector, { persistent: true }, { gateways: [G] });
    const other = new Collector();
    session.subscribe({ ...ALL, devices: [D] }, other, 'other');
    await bench.broker.until((broker) => broker.subscriptionsOf(clientId).size === 2);
    publish(1);
    publish(2);
    await collector.until(({ reports }) => reports.length === 2);
    const lost = reached(session, 'waiting');
    bench.broker.drop();
    await lost;
    await reached(session, 'connected');
    publish(3);
    await collector.until(({ reports }) => reports.map(({ n }) => n).includes(3));
    assert.deepEqual(
      [numbers(collector), numbers(other)],
      [
        [1, 2, 3],
        [1, 2, 3],
      ],
    );
    for (const at of [0, 1, 2]) {
      session.confirm(delivery(collector, at));
    }
    await bench.broker.until(() => acknowledged() === 6);
  });

  it('are not given twice that were waiting for the end of a deploy when the connection was lost', async () => {
    const { collector } = confirming();
    const session = await listen(collector, { persistent: true });
    session.pauseReports();
    const sent = () => bench.broker.sent.filter(({ packet }) => packet.cmd === 'publish').length;
    publish(1);
    // What follows the report in the stream is not read before it.
    const other = bench.open();
    other.subscribe(ALL, new Collector());
    await reached(other, 'connected');
    bench.broker.drop(clientId);
    await bench.broker.until(() => sent() === 2);
    session.resumeReports();
    publish(2);
    await collector.until(({ reports }) => reports.map(({ n }) => n).includes(2));
    assert.deepEqual(numbers(collector), [1, 2]);
    for (const at of [0, 1]) {
      session.confirm(delivery(collector, at));
    }
    await bench.broker.until(() => bench.broker.packets('puback', clientId).length === 2);
  });

  it('are not given to any flow twice by a broker that sends them again while it waits', async () => {
    const { collector } = confirming();
    const session = await listen(collector);
    const other = new Collector();
    session.subscribe({ ...ALL, kinds: ['rssi'] }, other, 'other');
    publish(1);
    const signal = { time: TIME, parent: G, rssi: -60 };
    bench.broker.publish(reportTopic('rssi'), signal);
    await collector.until(({ reports }) => reports.length === 2);
    for (let time = 0; time < 3; time++) {
      bench.broker.sessions.get(clientId)?.resend();
    }
    publish(2);
    await collector.until(({ reports }) => reports.some(({ n }) => n === 2));
    assert.equal(collector.reports.length, 3);
    assert.equal(other.reports.length, 1);
    for (const at of [0, 1, 2]) {
      session.confirm(delivery(collector, at));
    }
    await bench.broker.until(() => acknowledged() === 3);
    publish(3);
    await collector.until(({ reports }) => reports.length === 4);
    assert.equal(bench.broker.sessions.get(clientId)?.unacknowledged.length, 1);
    assert.equal(acknowledged(), 3);
  });

  for (const [when, maxInFlight, before] of [
    ['of another report', 3, [1, 2]],
    ['of the same report', 1, [1]],
  ] as const) {
    it(`are not given twice where one that was just acknowledged is sent again between two copies ${when}`, async () => {
      Object.assign(bench.broker.options, { delivery: 'per-subscription', maxInFlight });
      const { collector } = confirming();
      const session = await listen(collector, {}, { gateways: [G] });
      const other = new Collector();
      session.subscribe({ ...ALL, kinds: ['heartbeat'] }, other, 'other');
      await bench.broker.until((broker) => broker.subscriptionsOf(clientId).size === 2);
      before.forEach(publish);
      await collector.until(({ reports }) => reports.length === before.length);
      // The acknowledgement is on its way when the broker sends again what it does not know to be acknowledged.
      session.confirm(delivery(collector, 0));
      bench.broker.sessions.get(clientId)?.resend();
      const last = before.length + 1;
      publish(last);
      await collector.until(({ reports }) => reports.some(({ n }) => n === last));
      await other.until(({ reports }) => reports.some(({ n }) => n === last));
      assert.deepEqual(
        [numbers(collector), numbers(other)],
        [
          [...before, last],
          [...before, last],
        ],
      );
    });
  }

  it('that wait for one before them are not given twice over several losses', async () => {
    const { collector } = confirming();
    const session = await listen(collector, { persistent: true });
    publish(1);
    publish(2);
    await collector.until(({ reports }) => reports.length === 2);
    session.confirm(delivery(collector, 1));
    for (const n of [3, 4]) {
      const lost = reached(session, 'waiting');
      bench.broker.drop();
      await lost;
      await reached(session, 'connected');
      publish(n);
      await collector.until(({ reports }) => reports.some((report) => report.n === n));
    }
    assert.deepEqual(numbers(collector), [1, 2, 3, 4]);
    session.confirm(delivery(collector, 0));
    await bench.broker.until(() => acknowledged() === 2);
  });

  it('hold up others that no flow has twice over a loss, whether it confirms or not', async () => {
    const { collector } = confirming();
    const session = await listen(collector, { persistent: true }, { kinds: ['heartbeat'] });
    const other = new Collector();
    session.subscribe({ ...ALL, kinds: ['rssi'] }, other, 'other');
    await bench.broker.until((broker) => broker.subscriptionsOf(clientId).size === 2);
    publish(1);
    const signal = (n: number) =>
      bench.broker.publish(reportTopic('rssi'), { time: TIME, parent: G, rssi: -60, n });
    signal(1);
    signal(2);
    await other.until(({ reports }) => reports.length === 2);
    const lost = reached(session, 'waiting');
    bench.broker.drop();
    await lost;
    await reached(session, 'connected');
    signal(3);
    await other.until(({ reports }) => reports.some(({ n }) => n === 3));
    assert.deepEqual(numbers(other), [1, 2, 3]);
    session.confirm(delivery(collector, 0));
    await bench.broker.until(() => acknowledged() === 4);
  });

  it('with the content of one that the broker has lost are reports of their own', async () => {
    const { collector } = confirming();
    const session = await listen(collector, { persistent: true });
    publish(1);
    publish(2);
    await collector.until(({ reports }) => reports.length === 2);
    const lost = reached(session, 'waiting');
    bench.broker.drop();
    await lost;
    session.confirm(delivery(collector, 1));
    for (const id of [1, 2]) {
      bench.broker.sessions.get(clientId)?.acknowledge(id);
    }
    await reached(session, 'connected');
    publish(2);
    publish(3);
    await collector.until(({ reports }) => reports.map(({ n }) => n).includes(3));
    assert.deepEqual(numbers(collector), [1, 2, 2, 3]);
  });

  it('come again to the node that a deploy has put in the place of another', async () => {
    const { collector } = confirming();
    const session = bench.open({ clientId });
    const end = session.subscribe(ALL, collector, 'node');
    await reached(session, 'connected');
    publish(1);
    await collector.until(({ reports }) => reports.length === 1);
    session.pauseReports();
    end(true);
    const { collector: next } = confirming();
    session.subscribe(ALL, next, 'node');
    session.resumeReports();
    await next.until(({ reports }) => reports.length === 1);
    assert.equal(next.reports[0]?.redelivered, true);
    session.confirm(delivery(next, 0));
    await bench.broker.until(() => acknowledged() === 1);
  });

  it('come again also to a node that a deploy brings back after more time than reports wait', async () => {
    const { collector } = confirming();
    const session = bench.open({ clientId });
    const end = session.subscribe(ALL, collector, 'node');
    await reached(session, 'connected');
    publish(1);
    await collector.until(({ reports }) => reports.length === 1);
    mock.timers.enable({ apis: ['setTimeout'] });
    session.pauseReports();
    end(true);
    mock.timers.tick(21_000);
    mock.timers.reset();
    const { collector: next } = confirming();
    session.subscribe(ALL, next, 'node');
    session.resumeReports();
    await next.until(({ reports }) => reports.length === 1);
    assert.equal(acknowledged(), 0);
    session.confirm(delivery(next, 0));
    await bench.broker.until(() => acknowledged() === 1);
  });

  it('leave the QoS of everything as the service has it when a deploy ends the confirming', async () => {
    answerAll(bench.broker, ({ id }) => ({ id, value: '0866' }));
    const { collector } = confirming();
    const session = bench.open({ clientId, reportQos: 2 });
    const end = session.subscribe(ALL, collector, 'node');
    await reached(session, 'connected');
    const { signal } = new AbortController();
    await session.request('read', { gateway: G, device: D, identifier: '8800' }, { signal });
    const qos = () => [...bench.broker.subscriptionsOf(clientId).values()];
    assert.deepEqual(qos(), [1, 0]);
    publish(1);
    await collector.until(({ reports }) => reports.length === 1);
    session.pauseReports();
    end(true);
    session.subscribe(ALL, new Collector(), 'node');
    session.resumeReports();
    await bench.broker.until(() => acknowledged() === 1);
    await bench.broker.until(() => qos().join() === '2,1');
  });

  it('of a node that was removed are nobody’s any more', async () => {
    const { collector } = confirming();
    const session = bench.open({ clientId });
    const end = session.subscribe(ALL, collector, 'node');
    session.subscribe(ALL, new Collector(), 'other');
    await reached(session, 'connected');
    publish(1);
    await collector.until(({ reports }) => reports.length === 1);
    end(false);
    await bench.broker.until(() => acknowledged() === 1);
  });

  it('come again from the broker to the next process', async () => {
    const { collector } = confirming();
    const session = await listen(collector, { persistent: true });
    publish(1);
    publish(2);
    await collector.until(({ reports }) => reports.length === 2);
    session.confirm(delivery(collector, 0));
    await bench.broker.until(() => acknowledged() === 1);
    await session.close();
    const { collector: next } = confirming();
    await listen(next, { persistent: true });
    await next.until(({ reports }) => reports.length === 1);
    assert.deepEqual(numbers(next), [2]);
  });

  it('are asked for with QoS 1 where the service has 2, of which a broker keeps only the number', async () => {
    const { collector } = confirming();
    const session = await listen(collector, { reportQos: 2 });
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1), { qos: 2 });
    await collector.until(({ reports }) => reports.length === 1);
    session.confirm(delivery(collector, 0));
    await bench.broker.until(() => acknowledged() === 1);
  });
});
