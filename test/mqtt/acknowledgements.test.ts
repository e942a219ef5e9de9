// Samples that are acknowledged several times, or to a gateway that answers no acknowledgement: what waits, and how long.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ServiceError } from '../../src/errors.ts';
import { Acknowledgements } from '../../src/mqtt/acknowledgements.ts';
import type { Session } from '../../src/session.ts';
import { itAtScale } from '../at-scale.ts';
import { ALL, Collector, reached } from '../session.ts';
import {
  answerAll,
  D,
  G,
  G2,
  heartbeat,
  mockTime,
  reportTopic,
  requests,
  restoreTime,
  TIME,
  useScriptedBroker,
} from './scripted.ts';

const { signal } = new AbortController();
const sampleAt = (n: number) => ({ gateway: G, device: D, identifier: '8800', time: `${n}` });

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'responded',
    ({ code }: ServiceError) => code,
  );

describe('acknowledgements to a gateway that answers none', () => {
  const bench = useScriptedBroker();

  const acknowledge = (session: Session, n: number, timeout = 60_000) =>
    codeOf(session.acknowledge(sampleAt(n), { signal, wait: true, timeout }));
  const acks = () => requests(bench.broker).filter(({ topic }) => topic.endsWith('/ack/8800'));
  /** Answers the one that was sent as the n-th. */
  const answer = (n: number) => {
    const { topic, body } = acks()[n] as { topic: string; body: { id: string } };
    bench.broker.publish(topic.replace('/request/', '/response/'), { id: body.id, time: TIME, status: 0 });
  };

  it('wait for each other, but not after one has ended with TIMEOUT, until the gateway answers one', async () => {
    const session = bench.open({ maxInFlight: 2 });
    const read = () => session.request('read', { gateway: G, device: D, identifier: '8800' }, { signal });
    answerAll(bench.broker, ({ topic, id }) => (topic.endsWith('/read/8800') ? { id } : undefined));
    await read();
    const first = acknowledge(session, 0, 50);
    const others = Array.from({ length: 10 }, (_, n) => acknowledge(session, n + 1));
    assert.equal(await first, 'TIMEOUT');
    await bench.broker.until(() => acks().length === 11);
    answer(10);
    assert.equal(await others[9], 'responded');
    const later = [11, 12].map((n) => acknowledge(session, n));
    await read();
    assert.equal(acks().length, 12);
    await session.close();
    assert.deepEqual([...new Set(await Promise.all([...others.slice(0, 9), ...later]))], ['CLOSED']);
  });

  it('hold up no report at the broker once it has them and one was not answered, and not before', async () => {
    const { broker } = bench;
    broker.options.maxInFlight = 2;
    answerAll(broker, ({ topic, id }) => (topic.endsWith('/read/8800') ? { id } : undefined));
    const session = bench.open({ requestTimeout: 60_000 });
    const flow = Object.assign(new Collector(), {
      confirm: { timeoutMs: 60_000, maxAttempts: 20, count() {} },
    });
    session.subscribe({ ...ALL, kinds: ['timestamped'] }, flow, 'confirming');
    const beside = new Collector();
    session.subscribe({ ...ALL, kinds: ['heartbeat'] }, beside, 'beside');
    await reached(session, 'connected');
    assert.equal(await acknowledge(session, 9, 50), 'TIMEOUT');
    broker.options.withhold = ['puback'];
    const ended: Promise<string>[] = [];
    flow.report = (report) => {
      const ignored = () => void session.confirm(String(report.delivery));
      ended.push(codeOf(session.acknowledge(report, { signal, wait: true, ignored })));
    };
    for (let n = 0; n < 4; n++) {
      broker.publish(reportTopic('timestamped/8800'), { time: `${n}`, value: '07d0', flags: '08' });
    }
    broker.publish(reportTopic('heartbeat', G2), heartbeat(1));
    await broker.until(() => acks().length === 3);
    await session.request('read', { gateway: G2, device: D, identifier: '8800' }, { signal });
    assert.equal(broker.packets('puback').length, 0);
    broker.options.withhold = [];
    broker.release();
    await beside.until(({ reports }) => reports.length === 1);
    await session.close();
    assert.deepEqual(await Promise.all(ended), Array(4).fill('CLOSED'));
  });
});

describe('messages that wait for the acknowledgement of the same sample', () => {
  const bench = useScriptedBroker();
  afterEach(restoreTime);

  const never = new Promise<never>(() => {});
  const sending = { sent: Promise.resolve(), delivered: never, responded: never };

  itAtScale('are 100 000 at most', async () => {
    const acknowledgements = new Acknowledgements<number>();
    const closing = new AbortController();
    const join = (sample: string) =>
      codeOf(acknowledgements.once(sample, true, () => sending, { signal: closing.signal }));
    const first = [join('a'), join('b')];
    const joined = Array.from({ length: 100_000 }, (_, n) => join(n % 2 === 0 ? 'a' : 'b'));
    assert.equal(await join('a'), 'QUEUE_FULL');
    // A trace for each of so many errors would take most of the time.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    closing.abort();
    Error.stackTraceLimit = stackTraceLimit;
    assert.deepEqual([...new Set(await Promise.all(joined))], ['CLOSED']);
    const again = codeOf(acknowledgements.once('a', true, () => sending));
    assert.equal(await Promise.race([...first, again, turn('waits')]), 'waits');
  });

  it('have its outcome although a deploy holds a report before it for longer than their timeout', async () => {
    const { broker } = bench;
    const session = bench.open({ keepalive: 1 });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    answerAll(broker, ({ id }) => ({ id }));
    await session.request('read', { gateway: G, device: D, identifier: '8800' }, { signal });
    session.pauseReports();
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    // To the other gateway they are not sent before its responses are granted.
    const outcomes = [G, G, G2, G2].flatMap((gateway) =>
      [true, false].map((wait) =>
        codeOf(session.acknowledge({ ...sampleAt(0), gateway }, { signal, wait, timeout: 200 })),
      ),
    );
    // The second ping while nothing is read comes after a second.
    for (let ping = 0; ping < 2; ping++) {
      await broker.next('pingreq');
    }
    session.resumeReports();
    assert.deepEqual([...new Set(await Promise.all(outcomes))], ['responded']);
    assert.equal(requests(broker).length, 1 + 2);
  });

  it('end in their own time, although the next in line sends it again after each TIMEOUT', async () => {
    mockTime();
    const timeout = 10_000;
    const late = () => new ServiceError('TIMEOUT', 'noAnswer');
    const unanswered = () => ({
      sent: Promise.resolve(),
      delivered: Promise.resolve(),
      // A moment before those who joined it: each timer is a turn of its own, but not where time is mocked.
      responded: new Promise<never>((_, reject) => setTimeout(() => reject(late()), timeout - 500)),
    });
    const acknowledgements = new Acknowledgements<number>();
    const waited: number[] = [];
    for (let second = 0; second < 60; second++) {
      const ended = acknowledgements.once('s', true, unanswered, { signal, timeout, timeoutError: late });
      void codeOf(ended).then(() => waited.push(performance.now() / 1_000 - second));
      for (let half = 0; half < 2; half++) {
        await turn();
        mock.timers.tick(500);
      }
      await turn();
    }
    // One of them sends it again when it has waited for another one, and has its time then.
    assert.ok(Math.max(...waited) <= 20, `${waited}`);
    assert.ok(waited.length >= 40, `${waited}`);
  });
});
