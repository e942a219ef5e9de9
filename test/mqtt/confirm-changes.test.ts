// Confirmed reports of which the broker has still copies when filters change, or the service is started anew.
import assert from 'node:assert/strict';
import type { Report } from '../../src/protocol/reports/index.ts';
import type { ReportFilter, Session } from '../../src/session.ts';
import { ALL, Collector, reached } from '../session.ts';
import { G, heartbeat, leaveSession, reportTopic, TIME, useScriptedBroker } from './scripted.ts';

const OF_GATEWAY = { gateways: [G] };
const HEARTBEATS = { kinds: ['heartbeat'] as const };
const SIGNALS = { kinds: ['rssi'] as const };

let count = 0;

describe('reports that a flow confirms', () => {
  const bench = useScriptedBroker();
  let clientId: string;

  const publish = (n: number) => bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
  const publishSignal = (n: number) =>
    bench.broker.publish(reportTopic('rssi'), { time: TIME, parent: G, rssi: -60, n });
  const numbers = ({ reports }: Collector) => reports.map(({ n }) => n);
  const came = (flow: Collector, n: number) =>
    flow.until(({ reports }) => reports.some((report) => report.n === n));
  const confirm = (session: Session, { reports }: Collector, n: number) =>
    session.confirm(String(reports.find((report) => report.n === n)?.delivery));

  beforeEach(() => {
    bench.broker.options.delivery = 'per-subscription';
    clientId = `mt-changes-${process.pid}-${count++}`;
  });

  const open = () => bench.open({ clientId, persistent: true });

  function listen(session: Session, filter: Partial<ReportFilter>, owner: string, flow = new Collector()) {
    const confirming = Object.assign(flow, { confirm: { timeoutMs: 60_000, maxAttempts: 20, count() {} } });
    return { flow, end: session.subscribe({ ...ALL, ...filter }, confirming, owner) };
  }

  it('come once to one that confirms at once, when the connection is lost before the broker hears of it', async () => {
    const { broker } = bench;
    const session = open();
    class AtOnce extends Collector {
      override report(report: Report): void {
        session.confirm(String(report.delivery));
        super.report(report);
      }
    }
    const { flow } = listen(session, OF_GATEWAY, 'node', new AtOnce());
    await reached(session, 'connected');
    broker.options.intercept = ({ cmd }) => cmd === 'puback';
    publish(1);
    await broker.next('puback');
    broker.options.intercept = () => false;
    broker.drop();
    await reached(session, 'waiting');
    await reached(session, 'connected');
    publish(2);
    await came(flow, 2);
    assert.deepEqual(numbers(flow), [1, 2]);
  });

  it('come once, when one of two filters has been given back before the service is started anew', async () => {
    const { broker } = bench;
    const before = open();
    const gateway = listen(before, OF_GATEWAY, 'gateway');
    const { flow } = listen(before, HEARTBEATS, 'kind');
    await reached(before, 'connected');
    publish(0);
    await came(flow, 0);
    const givenBack = broker.next('unsubscribe');
    gateway.end();
    await givenBack;
    await before.close();
    const after = open();
    const kind = listen(after, HEARTBEATS, 'kind');
    publish(1);
    await came(kind.flow, 1);
    assert.deepEqual(numbers(kind.flow), [0, 1]);
  });

  it('come no more, when the broker has the second copy still to send as the service is started anew', async () => {
    const { broker } = bench;
    broker.options.maxInFlight = 1;
    const before = open();
    const flows = [OF_GATEWAY, HEARTBEATS].map((filter, at) => listen(before, filter, `node ${at}`).flow);
    await reached(before, 'connected');
    publish(0);
    await Promise.all(flows.map((flow) => came(flow, 0)));
    const told = broker.next('puback');
    broker.options.maxInFlight = 0;
    assert.deepEqual(
      flows.map((flow) => confirm(before, flow, 0)),
      [true, true],
    );
    await told;
    await before.close();
    broker.options.maxInFlight = 10;
    const after = open();
    const next = [OF_GATEWAY, HEARTBEATS].map((filter, at) => listen(after, filter, `node ${at}`).flow);
    publish(1);
    await Promise.all(next.map((flow) => came(flow, 1)));
    assert.deepEqual(next.map(numbers), [[1], [1]]);
  });

  it('come once for two filters that cross and one that an earlier process has left', async () => {
    const { broker } = bench;
    clientId = await leaveSession(broker, ['mt/gateway/+/device/+/#']);
    const session = open();
    const flows = [OF_GATEWAY, HEARTBEATS].map((filter, at) => listen(session, filter, `node ${at}`).flow);
    await reached(session, 'connected');
    publish(0);
    publish(1);
    publish(2);
    await Promise.all(flows.map((flow) => came(flow, 2)));
    publish(3);
    await Promise.all(flows.map((flow) => came(flow, 3)));
    assert.deepEqual(flows.map(numbers), [
      [0, 1, 2, 3],
      [0, 1, 2, 3],
    ]);
  });

  it('come once, when a filter is given back while their copies wait at the broker behind reports of others', async () => {
    const { broker } = bench;
    broker.options.maxInFlight = 1;
    const session = open();
    const gateway = listen(session, OF_GATEWAY, 'gateway');
    const { flow } = listen(session, SIGNALS, 'kind');
    session.subscribe({ ...ALL, ...HEARTBEATS }, new Collector(), 'plain');
    await reached(session, 'connected');
    session.pauseReports();
    publish(0);
    publishSignal(1);
    gateway.end();
    const givenBack = broker.next('unsubscribe');
    session.resumeReports();
    await Promise.all([givenBack, came(flow, 1)]);
    await reached(session, 'connected');
    confirm(session, flow, 1);
    publishSignal(2);
    await came(flow, 2);
    assert.deepEqual(numbers(flow), [1, 2]);
  });
});
