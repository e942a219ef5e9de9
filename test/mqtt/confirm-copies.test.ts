// Confirmed reports that a broker sends more than once: for several subscriptions, for one of an earlier process, and after losses.
import assert from 'node:assert/strict';
import type { MqttSettings } from '../../src/settings.ts';
import { ALL, Collector, reached } from '../session.ts';
import { G, heartbeat, leaveSession, reportTopic, useScriptedBroker } from './scripted.ts';

const LEFT = 'mt/gateway/+/device/+/#';
const WANTED = reportTopic('#', G, '+');
const BACKLOG = 30;

let count = 0;

describe('reports that come for a leftover subscription, too', () => {
  const bench = useScriptedBroker();

  const publish = (n: number) => bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
  const numbers = ({ reports }: Collector) => reports.map(({ n }) => n);

  async function listen(clientId: string, isConfirming: boolean) {
    const session = bench.open({ clientId, persistent: true });
    const confirm = { timeoutMs: 60_000, maxAttempts: 20, count() {} };
    const flow = Object.assign(new Collector(), isConfirming ? { confirm } : {});
    session.subscribe({ ...ALL, gateways: [G] }, flow, 'node');
    await reached(session, 'connected');
    return { session, flow };
  }

  beforeEach(() => {
    bench.broker.options.delivery = 'per-subscription';
  });

  for (const isStored of [false, true]) {
    it(`are given once, when the connection is lost while one is ${isStored ? 'acknowledged' : 'open'}`, async () => {
      const { broker } = bench;
      const clientId = await leaveSession(broker, [LEFT]);
      const { session, flow } = await listen(clientId, true);
      if (isStored) {
        // The broker does not hear of it before the loss.
        broker.options.intercept = ({ cmd }) => cmd === 'puback';
        void flow
          .until(({ reports }) => reports.length === 1)
          .then(() => session.confirm(String(flow.reports[0]?.delivery)));
      }
      const givenBack = broker.next('unsubscribe');
      publish(1);
      await givenBack;
      if (isStored) {
        await broker.until(() => broker.packets('puback').length === 2);
      }
      broker.options.intercept = () => false;
      broker.drop();
      await reached(session, 'waiting');
      await reached(session, 'connected');
      publish(2);
      await flow.until(({ reports }) => reports.some(({ n }) => n === 2));
      assert.deepEqual(numbers(flow), [1, 2]);
    });
  }

  for (const isConfirming of [false, true]) {
    it(`are given once${isConfirming ? ' to a flow that confirms' : ''}, when many of them have waited at the broker`, async () => {
      const { broker } = bench;
      broker.options.maxInFlight = 5;
      const clientId = await leaveSession(broker, [LEFT, WANTED]);
      for (let n = 0; n < BACKLOG; n++) {
        publish(n);
      }
      const { session, flow } = await listen(clientId, isConfirming);
      for (let at = 0; isConfirming && at < BACKLOG; at++) {
        await flow.until(({ reports }) => reports.length > at);
        session.confirm(String(flow.reports[at]?.delivery));
      }
      publish(BACKLOG);
      await flow.until(({ reports }) => reports.some(({ n }) => n === BACKLOG));
      assert.deepEqual(
        numbers(flow),
        Array.from({ length: BACKLOG + 1 }, (_, n) => n),
      );
    });
  }
});

describe('reports that come for each of two subscriptions', () => {
  const bench = useScriptedBroker();
  const KINDS = ['heartbeat'] as const;

  const publish = (n: number) => bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
  const numbers = ({ reports }: Collector) => reports.map(({ n }) => n);

  let clientId: string;

  beforeEach(() => {
    bench.broker.options.delivery = 'per-subscription';
    clientId = `mt-copies-${process.pid}-${count++}`;
  });

  /** Two nodes that get each of them. */
  async function listen(settings: Partial<MqttSettings> = {}) {
    const session = bench.open({ clientId, persistent: true, ...settings });
    const flows = [{ gateways: [G] }, { kinds: KINDS }].map((filter, at) => {
      const flow = Object.assign(new Collector(), {
        confirm: { timeoutMs: 60_000, maxAttempts: 20, count() {} },
      });
      session.subscribe({ ...ALL, ...filter }, flow, `node ${at}`);
      return flow as Collector & typeof flow;
    });
    await reached(session, 'connected');
    const confirm = (at: number) => {
      for (const { reports } of flows) {
        assert.equal(session.confirm(String(reports[at]?.delivery)), true);
      }
    };
    const both = (n: number) =>
      Promise.all(flows.map((flow) => flow.until(({ reports }) => reports.some((one) => one.n === n))));
    return { session, flows, confirm, both };
  }

  it('are given once, when the connection is lost between the two', async () => {
    const { broker } = bench;
    broker.options.maxInFlight = 1;
    const { session, flows, confirm, both } = await listen();
    publish(0);
    await both(0);
    confirm(0);
    await broker.until(() => broker.packets('puback').length === 2);
    publish(1);
    await both(1);
    // It hears of the first, and the second does not arrive.
    broker.options.intercept = ({ cmd }) => {
      if (cmd === 'puback') {
        broker.options.intercept = () => false;
        broker.options.maxInFlight = 0;
        setImmediate(() => broker.drop());
      }
      return false;
    };
    confirm(1);
    await reached(session, 'waiting');
    broker.options.maxInFlight = 10;
    await reached(session, 'connected');
    publish(2);
    await both(2);
    assert.deepEqual(flows.map(numbers), [
      [0, 1, 2],
      [0, 1, 2],
    ]);
  });

  it('are given once, when the broker sends again what it was just told of', async () => {
    const { broker } = bench;
    const { flows, confirm, both } = await listen({ keepalive: 1 });
    broker.options.maxInFlight = 1;
    publish(1);
    await both(1);
    const told = broker.next('puback');
    broker.options.maxInFlight = 0;
    confirm(0);
    await told;
    // The answer to a ping says that the broker has had the acknowledgement of the first.
    await broker.next('pingreq');
    await broker.next('pingreq');
    broker.options.maxInFlight = 1;
    let withheld = 0;
    broker.options.intercept = ({ cmd }) => cmd === 'puback' && ++withheld === 1;
    const kept = broker.sessions.get(clientId);
    kept?.sendQueued();
    await broker.until(() => withheld === 1);
    kept?.resend();
    await broker.until(() => kept?.unacknowledged.length === 0);
    publish(2);
    await both(2);
    assert.deepEqual(flows.map(numbers), [
      [1, 2],
      [1, 2],
    ]);
  });

  it('are given once, when the service is started anew between the two', async () => {
    const { broker } = bench;
    // The first report twice, and one of the second.
    broker.options.maxInFlight = 3;
    const before = await listen();
    publish(0);
    publish(1);
    await before.both(1);
    before.confirm(1);
    await before.session.close();
    broker.options.maxInFlight = 10;
    const { flows, both } = await listen();
    publish(2);
    await both(2);
    assert.deepEqual(flows.map(numbers), [
      [0, 2],
      [0, 2],
    ]);
  });
});
