// Confirmed reports that a broker sends more than once: for several subscriptions, for one of an earlier process, and after losses.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Session } from '../../src/session.ts';
import type { MqttSettings } from '../../src/settings.ts';
import type { ScriptedBroker } from '../scripted-broker/broker.ts';
import { ALL, Collector, reached } from '../session.ts';
import { G, heartbeat, leaveSession, reportTopic, useScriptedBroker } from './scripted.ts';

const LEFT = 'mt/gateway/+/device/+/#';
const WANTED = reportTopic('#', G, '+');
const BACKLOG = 30;
const upTo = (last: number) => Array.from({ length: last + 1 }, (_, n) => n);

let count = 0;

const publishAt = (broker: ScriptedBroker, n: number) =>
  broker.publish(reportTopic('heartbeat'), heartbeat(n));

const numbers = ({ reports }: Collector) => reports.map(({ n }) => n);

/** Once one more has come, behind which no other can. */
async function givesEachOnce(broker: ScriptedBroker, flow: Collector): Promise<void> {
  publishAt(broker, BACKLOG);
  await flow.until(({ reports }) => reports.some(({ n }) => n === BACKLOG));
  assert.deepEqual(numbers(flow), upTo(BACKLOG));
}

/** One after the other, as they come. */
async function confirmEach(session: Session, flow: Collector, work = (): void => {}): Promise<void> {
  for (let at = 0; at < BACKLOG; at++) {
    await flow.until(({ reports }) => reports.length > at);
    work();
    session.confirm(String(flow.reports[at]?.delivery));
  }
}

describe('reports that come for a leftover subscription, too', () => {
  const bench = useScriptedBroker();

  const publish = (n: number) => publishAt(bench.broker, n);

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

  it('are given once, when the connection is lost between the two', async () => {
    const { broker } = bench;
    // The first of a pair without its second.
    broker.options.maxInFlight = 3;
    const clientId = await leaveSession(broker, [LEFT, WANTED]);
    for (let n = 0; n < BACKLOG; n++) {
      publish(n);
    }
    const { session, flow } = await listen(clientId, true);
    await flow.until(({ reports }) => reports.length === 2);
    broker.drop();
    await reached(session, 'waiting');
    await reached(session, 'connected');
    await confirmEach(session, flow);
    await givesEachOnce(broker, flow);
  });

  for (const isConfirming of [false, true]) {
    it(`are given once${isConfirming ? ' to a flow that confirms' : ''}, when many of them have waited at the broker`, async () => {
      const { broker } = bench;
      broker.options.maxInFlight = 5;
      const clientId = await leaveSession(broker, [LEFT, WANTED]);
      for (let n = 0; n < BACKLOG; n++) {
        publish(n);
      }
      const { session, flow } = await listen(clientId, isConfirming);
      if (isConfirming) {
        await confirmEach(session, flow);
      }
      await givesEachOnce(broker, flow);
    });
  }
});

describe('reports that come for each of two subscriptions', () => {
  const bench = useScriptedBroker();
  const CROSSING: readonly Partial<typeof ALL>[] = [{ gateways: [G] }, { kinds: ['heartbeat'] }];

  const publish = (n: number) => publishAt(bench.broker, n);

  let clientId: string;

  afterEach(() => mock.reset());
  beforeEach(() => {
    bench.broker.options.delivery = 'per-subscription';
    clientId = `mt-copies-${process.pid}-${count++}`;
  });

  /** Nodes that get each of them. */
  async function listen(settings: Partial<MqttSettings> = {}, filters = CROSSING) {
    const session = bench.open({ clientId, persistent: true, ...settings });
    const ends: ((comesBack: boolean) => void)[] = [];
    const flows = filters.map((filter, at) => {
      const flow = Object.assign(new Collector(), {
        confirm: { timeoutMs: 60_000, maxAttempts: 20, count() {} },
      });
      ends.push(session.subscribe({ ...ALL, ...filter }, flow, `node ${at}`));
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
    return { session, flows, ends, confirm, both };
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

  it('are given once, when the service is started anew between the two and the broker then sends older ones again', async () => {
    const { broker } = bench;
    // Two reports twice, and one of the third.
    broker.options.maxInFlight = 5;
    const before = await listen();
    for (const n of [0, 1, 2]) {
      publish(n);
    }
    await before.both(2);
    before.confirm(2);
    await before.session.close();
    const { session, flows, both } = await listen();
    await both(1);
    // It hears of the third alone, and sends the others again before it sends the other copy of that.
    const kept = broker.sessions.get(clientId);
    broker.options.maxInFlight = 4;
    let heard = 0;
    broker.options.intercept = ({ cmd }) => cmd === 'puback' && ++heard < 5;
    for (const { reports } of flows) {
      for (const { delivery } of reports) {
        assert.equal(session.confirm(String(delivery)), true);
      }
    }
    await broker.until(() => kept?.unacknowledged.length === 4);
    kept?.resend();
    await broker.until(() => kept?.unacknowledged.length === 0);
    publish(3);
    await both(3);
    assert.deepEqual(flows.map(numbers), [
      [0, 1, 3],
      [0, 1, 3],
    ]);
  });

  for (const [when, isOneBefore] of [
    ['a deploy takes away one of the nodes while they wait at the broker', false],
    ['the filter went in the deploy before the one that starts the service anew', true],
  ] as const) {
    it(`are given once, when ${when}`, async () => {
      const { broker } = bench;
      broker.options.maxInFlight = 5;
      const before = await listen();
      for (let n = 0; n < BACKLOG; n++) {
        publish(n);
      }
      await before.both(1);
      if (isOneBefore) {
        const givenBack = broker.next('unsubscribe');
        before.ends[1]?.(false);
        await givenBack;
      }
      await before.session.close();
      const { session, flows } = await listen({}, CROSSING.slice(0, 1));
      const flow = flows[0] as Collector;
      await confirmEach(session, flow);
      await givesEachOnce(broker, flow);
    });
  }

  it('are given once, when a subscription of an earlier process brings them, too, which is given back', async () => {
    const { broker } = bench;
    const left = reportTopic('heartbeat', G, '+');
    clientId = await leaveSession(broker, [left]);
    const { flows, both } = await listen();
    const givenBack = broker.next('unsubscribe');
    for (let n = 0; n < BACKLOG; n++) {
      publish(n);
    }
    await givenBack;
    await broker.until(() => !broker.subscriptionsOf(clientId).has(left));
    publish(BACKLOG);
    await both(BACKLOG);
    assert.deepEqual(flows.map(numbers), [upTo(BACKLOG), upTo(BACKLOG)]);
  });

  it('are given once, when the flow works for minutes on what waited as a deploy took away a node', async () => {
    const { broker } = bench;
    broker.options.maxInFlight = 10;
    const { session, flows, ends, both } = await listen();
    const flow = flows[0] as Collector;
    for (let n = 0; n < BACKLOG; n++) {
      publish(n);
    }
    await both(1);
    const givenBack = broker.next('unsubscribe');
    ends[1]?.(false);
    await givenBack;
    let seconds = 0;
    const { now } = performance;
    mock.method(performance, 'now', () => now.call(performance) + 1_000 * seconds);
    await confirmEach(session, flow, () => {
      seconds += 10;
    });
    await givesEachOnce(broker, flow);
  });

  for (const what of ['the connection is away', 'flows are replaced'] as const) {
    it(`are given once, when ${what} for a while between a deploy that takes away a node and what has waited`, async () => {
      const { broker } = bench;
      broker.options.maxInFlight = 2;
      const before = await listen();
      publish(0);
      publish(1);
      await before.both(0);
      await before.session.close();
      const givenBack = broker.next('unsubscribe');
      const { session, flows } = await listen({}, CROSSING.slice(0, 1));
      const flow = flows[0] as Collector;
      await flow.until(({ reports }) => reports.length === 1);
      await givenBack;
      const { now } = performance;
      const pass = () => mock.method(performance, 'now', () => now.call(performance) + 3_000);
      const confirm = () => session.confirm(String(flow.reports[0]?.delivery));
      if (what === 'flows are replaced') {
        session.pauseReports();
        const next = broker.next('puback');
        confirm();
        await next;
        pass();
        session.resumeReports();
      } else {
        // The broker does not hear of it before the loss.
        broker.options.intercept = ({ cmd }) => cmd === 'puback';
        confirm();
        broker.drop();
        await reached(session, 'waiting');
        broker.options.intercept = () => false;
        pass();
        await reached(session, 'connected');
      }
      publish(2);
      await flow.until(({ reports }) => reports.length >= 2);
      session.confirm(String(flow.reports[1]?.delivery));
      await flow.until(({ reports }) => reports.some(({ n }) => n === 2));
      assert.deepEqual(numbers(flow), [0, 1, 2]);
    });
  }
});
