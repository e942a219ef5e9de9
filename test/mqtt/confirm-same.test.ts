// Confirmed reports that have the content, or the packet id, of another one: none of them is taken for that one.
import assert from 'node:assert/strict';
import { ALL, Collector, reached } from '../session.ts';
import { G, heartbeat, reportTopic, TIME, useScriptedBroker } from './scripted.ts';

describe('reports that a flow confirms, of the same content or packet id as another one', () => {
  const bench = useScriptedBroker();
  const COUNT = 6;
  let clientId: string;

  beforeEach(() => {
    clientId = `same-${process.pid}-${Math.random()}`;
  });

  const publishEqual = () => bench.broker.publish(reportTopic('heartbeat'), { time: TIME, status: 0 });
  const publish = (n: number) => bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
  const numbers = ({ reports }: Collector) => reports.map(({ n }) => n);

  async function listen() {
    const confirm = { timeoutMs: 60_000, maxAttempts: 20, count() {} };
    const flow = Object.assign(new Collector(), { confirm });
    const session = bench.open({ clientId, persistent: true });
    session.subscribe({ ...ALL, gateways: [G] }, flow, 'node');
    await reached(session, 'connected');
    const confirmAt = (index: number) => session.confirm(String(flow.reports[index]?.delivery));
    return { session, flow, confirmAt };
  }

  /** What comes is confirmed at once. */
  function confirmAll(session: { confirm(id: string): unknown }, flow: Collector): void {
    const report = flow.report.bind(flow);
    flow.report = (one) => {
      report(one);
      session.confirm(String(one.delivery));
    };
  }

  it('all come after a loss of the connection, where they were sent and none was read', async () => {
    const { session, flow } = await listen();
    confirmAll(session, flow);
    const lost = reached(session, 'waiting');
    for (let i = 0; i < COUNT; i++) {
      publishEqual();
    }
    bench.broker.drop(clientId);
    await lost;
    await flow.until(({ reports }) => reports.length === COUNT);
    await bench.broker.until(({ sessions }) => sessions.get(clientId)?.unacknowledged.length === 0);
  });

  it('all come after a loss of the connection, each once, where one was read and is confirmed or open', async () => {
    for (const isConfirmed of [true, false]) {
      const { broker } = bench;
      const { session, flow, confirmAt } = await listen();
      publishEqual();
      await flow.until(({ reports }) => reports.length === 1);
      broker.options.intercept = ({ cmd }) => cmd === 'puback';
      if (isConfirmed) {
        const told = broker.next('puback');
        confirmAt(0);
        await told;
      }
      const lost = reached(session, 'waiting');
      for (let i = 1; i < COUNT; i++) {
        publishEqual();
      }
      broker.drop(clientId);
      await lost;
      broker.options.intercept = () => false;
      confirmAll(session, flow);
      const other = isConfirmed ? undefined : flow.reports[0]?.delivery;
      await flow.until(({ reports }) => reports.length >= (isConfirmed ? COUNT : 2));
      if (other) {
        session.confirm(String(other));
      }
      await flow.until(({ reports }) => reports.length >= COUNT);
      publish(7);
      await flow.until(({ reports }) => reports.at(-1)?.n === 7);
      assert.equal(flow.reports.length, COUNT + 1);
      await session.close();
      await broker.reset();
    }
  });

  it('come again after a restart, where the broker has used the packet id of one that it had sent twice', async () => {
    const { broker } = bench;
    broker.options.packetIds = 'lowest free';
    const before = await listen();
    publish(1);
    publish(2);
    await before.flow.until(({ reports }) => reports.length === 2);
    const kept = broker.sessions.get(clientId);
    let isFirst = true;
    // Both are on their way: the acknowledgement of the first, and the first and the second once more.
    broker.options.intercept = ({ cmd }) => {
      if (cmd === 'puback' && isFirst) {
        isFirst = false;
        kept?.resend();
      }
      return false;
    };
    before.confirmAt(0);
    await broker.until(() => kept?.unacknowledged.length === 1);
    publish(3);
    await before.flow.until(({ reports }) => reports.length === 3);
    before.confirmAt(1);
    await broker.until(() => kept?.unacknowledged.length === 1);
    publish(4);
    await before.flow.until(({ reports }) => reports.length === 4);
    broker.drop(clientId);
    await before.session.close();
    const after = await listen();
    await after.flow.until(({ reports }) => reports.length === 2);
    assert.deepEqual(
      [before, after].map(({ flow }) => numbers(flow)),
      [
        [1, 2, 3, 4],
        [3, 4],
      ],
    );
  });

  it('come as new ones from a broker that does not mark what it sends again', async () => {
    const { broker } = bench;
    broker.options.marksResent = false;
    const { session, flow, confirmAt } = await listen();
    publish(1);
    publish(2);
    await flow.until(({ reports }) => reports.length === 2);
    confirmAt(1);
    const lost = reached(session, 'waiting');
    broker.drop(clientId);
    await lost;
    await flow.until(({ reports }) => reports.length === 4);
    assert.deepEqual(
      flow.reports.map(({ n, redelivered }) => [n, redelivered]),
      [1, 2, 1, 2].map((n) => [n, undefined]),
    );
  });
});
