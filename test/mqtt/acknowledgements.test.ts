// Samples that are acknowledged several times, or to a gateway that answers no acknowledgement: what waits, and how long.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ServiceError } from '../../src/errors.ts';
import { Acknowledgements, type Sending, type WaitLimits } from '../../src/mqtt/acknowledgements.ts';
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

const never = new Promise<never>(() => {});
const sending = { sent: Promise.resolve(), delivered: never, responded: never };

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'responded',
    ({ code }: ServiceError) => code,
  );

/** What was sent of one sample: the test says what becomes of it. */
class Sent {
  readonly since: number;
  readonly sending: Sending<string>;
  leave!: () => void;
  arrive!: () => void;
  respond!: (outcome: string) => void;
  fail!: (error: Error) => void;

  constructor(since: number) {
    this.since = since;
    const responded = new Promise<string>((resolve, reject) => {
      this.respond = resolve;
      this.fail = reject;
    });
    const arrived = new Promise<void>((resolve) => {
      this.arrive = resolve;
    });
    const sent = new Promise<void>((resolve) => {
      this.leave = resolve;
    });
    this.sending = { sent, delivered: Promise.race([arrived, responded]), responded };
  }
}

describe('a sample that several acknowledge', () => {
  const MINUTE_MS = 60_000;
  const late = () => new ServiceError('TIMEOUT', 'noAnswer');
  const unsent = () => new ServiceError('NOT_CONNECTED', 'notGranted');
  const failed = () => new ServiceError('REQUEST_FAILED', 'status');
  let acknowledgements: Acknowledgements<string>;
  let all: Sent[];
  /** Name and outcome, or the text of the error; and who was told that the broker has it. */
  let ended: string[];
  let told: string[];

  beforeEach(() => {
    mockTime(5_000);
    acknowledgements = new Acknowledgements();
    [all, ended, told] = [[], [], []];
  });
  afterEach(restoreTime);

  const acknowledge = (
    name: string,
    { sample = 's', wait = true, ...limits }: WaitLimits & { sample?: string; wait?: boolean } = {},
  ) => {
    const send = (since: number) => {
      all.push(new Sent(since));
      return all.at(-1)!.sending;
    };
    acknowledgements
      .once(
        sample,
        wait,
        send,
        () => limits,
        () => void told.push(name),
      )
      .then(
        (outcome) => void ended.push(`${name} ${outcome}`),
        ({ text }: ServiceError) => void ended.push(`${name} ${text.key}`),
      );
  };
  const pass = async (ms: number) => {
    mock.timers.tick(ms);
    await turn();
  };
  const news = async () => {
    await turn();
    return ended.splice(0);
  };

  it('is sent once, and the response is the outcome of all', async () => {
    acknowledge('first');
    acknowledge('second');
    all[0]!.leave();
    all[0]!.arrive();
    assert.deepEqual(await news(), []);
    all[0]!.respond('well');
    assert.deepEqual((await news()).sort(), ['first well', 'second well']);
    acknowledge('third');
    assert.deepEqual(await news(), ['third well']);
    assert.equal(all.length, 1);
  });

  it('is done for those who do not wait once the broker has it, which all are told', async () => {
    acknowledge('first', { wait: false });
    acknowledge('second', { wait: false });
    acknowledge('third');
    all[0]!.leave();
    assert.deepEqual([await news(), told], [[], []]);
    all[0]!.arrive();
    assert.deepEqual((await news()).sort(), ['first undefined', 'second undefined']);
    assert.deepEqual(told.sort(), ['first', 'second', 'third']);
  });

  it('is sent again after a minute, and not before', async () => {
    acknowledge('first', { wait: false });
    all[0]!.arrive();
    await pass(MINUTE_MS - 1);
    acknowledge('second', { wait: false });
    assert.equal(all.length, 1);
    mock.timers.tick(1);
    acknowledge('third', { wait: false });
    assert.equal(all.length, 2);
  });

  it('does not grow old before the broker has it', async () => {
    acknowledge('first', { wait: false });
    acknowledge('other', { sample: 'other', wait: false });
    all[1]!.arrive();
    await pass(MINUTE_MS);
    acknowledge('second', { wait: false });
    all[0]!.arrive();
    assert.deepEqual((await news()).sort(), ['first undefined', 'other undefined', 'second undefined']);
    assert.equal(acknowledgements.size, 1);
    await pass(MINUTE_MS - 1);
    acknowledge('third', { wait: false });
    assert.equal(all.length, 2);
    mock.timers.tick(1);
    acknowledge('fourth', { wait: false });
    assert.equal(all.length, 3);
  });

  it('is sent again by the next in line when it failed, which has waited since then', async () => {
    acknowledge('first');
    mock.timers.tick(10);
    acknowledge('second');
    acknowledge('third');
    all[0]!.leave();
    await pass(10);
    all[0]!.fail(failed());
    assert.deepEqual(await news(), ['first REQUEST_FAILED.status']);
    assert.equal(all.length, 2);
    assert.deepEqual([all[1]!.since, told], [5_020, []]);
    all[1]!.respond('well');
    assert.deepEqual((await news()).sort(), ['second well', 'third well']);
    assert.deepEqual(told.sort(), ['second', 'third']);
  });

  it('is sent again by the next in line when the first failed a minute after another was delivered', async () => {
    acknowledge('first');
    acknowledge('next');
    all[0]!.leave();
    all[0]!.arrive();
    await pass(MINUTE_MS);
    acknowledge('between', { wait: false });
    all[1]!.arrive();
    await pass(MINUTE_MS);
    all[0]!.fail(failed());
    await turn();
    assert.equal(all.length, 3);
  });

  it('is sent again by one who has waited since its arrival, where the first one never left', async () => {
    acknowledge('first');
    mock.timers.tick(10);
    acknowledge('second', { wait: false });
    mock.timers.tick(10);
    all[0]!.fail(unsent());
    await turn();
    assert.deepEqual([all.length, all[1]?.since], [2, 5_010]);
  });

  it('is forgotten as soon as it failed, also with TIMEOUT where the broker never had it', async () => {
    for (const error of [unsent(), late()]) {
      acknowledge('first', { wait: false });
      assert.equal(acknowledgements.size, 1);
      all.at(-1)!.fail(error);
      assert.deepEqual(await news(), [`first ${error.text.key}`]);
      assert.equal(acknowledgements.size, 0);
    }
  });

  for (const [error, isSentAgain] of [
    [failed(), true],
    [Object.assign(new Error('of another kind'), { code: 'TIMEOUT' }), true],
    [late(), false],
  ] as const) {
    it(`is sent ${isSentAgain ? 'again' : 'no more'} for one who does not wait after ${error}`, async () => {
      acknowledge('first');
      all[0]!.leave();
      all[0]!.arrive();
      await turn();
      all[0]!.fail(error);
      await turn();
      acknowledge('second', { wait: false });
      await turn();
      assert.equal(all.length, isSentAgain ? 2 : 1);
      acknowledge('third');
      await turn();
      assert.equal(all.length, 2);
    });
  }

  it('is not forgotten for what becomes of the time before', async () => {
    acknowledge('first');
    all[0]!.arrive();
    await pass(MINUTE_MS);
    acknowledge('second', { wait: false });
    all[1]!.arrive();
    all[0]!.fail(failed());
    await turn();
    acknowledge('third', { wait: false });
    assert.equal(all.length, 2);
  });

  describe('is waited for by those who have not sent it', () => {
    it('until their signal ends it, also where that has ended before', async () => {
      const closing = new AbortController();
      acknowledge('first');
      acknowledge('second', { signal: closing.signal });
      closing.abort();
      acknowledge('third', { signal: closing.signal });
      assert.deepEqual(await news(), ['second CLOSED.stopped', 'third CLOSED.stopped']);
      all[0]!.respond('well');
      assert.deepEqual(await news(), ['first well']);
    });

    it('with a listener at their signal, and no longer', async () => {
      const closing = new AbortController();
      const listeners = () => getEventListeners(closing.signal, 'abort').length;
      acknowledge('first');
      for (const name of ['second', 'third']) {
        acknowledge(name, { signal: closing.signal });
      }
      assert.equal(listeners(), 1);
      all[0]!.respond('well');
      assert.equal((await news()).length, 3);
      assert.equal(listeners(), 0);
    });

    it('for their timeout from when it has left, and not before that', async () => {
      acknowledge('first');
      acknowledge('second', { timeout: 1_000, timeoutError: late });
      await pass(5_000);
      all[0]!.leave();
      await turn();
      await pass(999);
      assert.deepEqual(await news(), []);
      await pass(1);
      assert.deepEqual(await news(), ['second TIMEOUT.noAnswer']);
      acknowledge('third', { timeout: 1_000, timeoutError: late });
      await turn();
      await pass(999);
      assert.deepEqual(await news(), []);
      await pass(1);
      assert.deepEqual(await news(), ['third TIMEOUT.noAnswer']);
    });

    it('for their timeout from their arrival, where it cannot leave', async () => {
      acknowledge('first');
      acknowledge('second', { timeout: 1_000, timeoutError: late, unsentError: unsent });
      await pass(999);
      assert.deepEqual(await news(), []);
      await pass(1);
      assert.deepEqual(await news(), ['second NOT_CONNECTED.notGranted']);
    });

    it('for their timeout from when it has left, although it has waited for nearly as long before', async () => {
      acknowledge('first');
      acknowledge('second', { timeout: 1_000, timeoutError: late, unsentError: unsent });
      await pass(900);
      all[0]!.leave();
      await turn();
      await pass(999);
      assert.deepEqual(await news(), []);
      await pass(1);
      assert.deepEqual(await news(), ['second TIMEOUT.noAnswer']);
    });

    it('without limit while it only waits for its turn', async () => {
      acknowledge('first');
      acknowledge('second', { timeout: 1_000, timeoutError: late, unsentError: () => undefined });
      await pass(5_000);
      assert.deepEqual(await news(), []);
      all[0]!.leave();
      await turn();
      await pass(1_000);
      assert.deepEqual(await news(), ['second TIMEOUT.noAnswer']);
    });

    it('without limit where nothing says how it ends', async () => {
      acknowledge('first');
      acknowledge('second', { timeout: 1_000, unsentError: unsent });
      acknowledge('third', { timeoutError: late, unsentError: unsent });
      all[0]!.leave();
      await turn();
      acknowledge('fourth', { timeout: 1_000, unsentError: unsent });
      await turn();
      await pass(5_000);
      assert.deepEqual(await news(), []);
      all[0]!.respond('well');
      assert.equal((await news()).length, 4);
    });

    it('for their timeout anew when what has come could not be read before', async () => {
      let readsSince = 0;
      acknowledge('first');
      acknowledge('second', { timeout: 1_000, readsSince: () => readsSince, timeoutError: late });
      all[0]!.leave();
      await turn();
      mock.timers.tick(600);
      readsSince = 5_600;
      await pass(999);
      assert.deepEqual(await news(), []);
      await pass(1);
      assert.deepEqual(await news(), ['second TIMEOUT.noAnswer']);
    });

    it('and nobody is asked how it ends before it does, or afterwards', async () => {
      const closing = new AbortController();
      let asked = 0;
      const ask = () => {
        asked++;
        return late();
      };
      let readsSince = 0;
      const limits = {
        timeout: 1_000,
        readsSince: () => readsSince,
        timeoutError: ask,
        unsentError: ask,
      };
      acknowledge('first');
      acknowledge('second', limits);
      acknowledge('third', { ...limits, signal: closing.signal });
      closing.abort();
      await turn();
      all[0]!.leave();
      await turn();
      readsSince = 5_500;
      await pass(1_000);
      assert.equal(asked, 0);
      await pass(500);
      assert.equal(asked, 1);
      acknowledge('fourth', limits);
      await turn();
      all[0]!.respond('well');
      await turn();
      await pass(10_000);
      assert.equal(asked, 1);
    });
  });

  it('is one of the last 100 000, with any that may still wait to be sent', () => {
    const many = new Acknowledgements<number>(() => 0);
    let sent = 0;
    const send = () => {
      sent++;
      return sending;
    };
    for (let n = 0; n < 100_001; n++) {
      void many.once(`${n}`, false, send);
    }
    assert.equal(many.size, 100_000);
    void many.once('100000', false, send);
    assert.equal(sent, 100_001);
    void many.once('0', false, send);
    assert.equal(sent, 100_002);
  });
});

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

  itAtScale('are 100 000 at most', async () => {
    const acknowledgements = new Acknowledgements<number>();
    const closing = new AbortController();
    const join = (sample: string) =>
      codeOf(
        acknowledgements.once(
          sample,
          true,
          () => sending,
          () => ({ signal: closing.signal }),
        ),
      );
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
      const ended = acknowledgements.once('s', true, unanswered, () => ({
        signal,
        timeout,
        timeoutError: late,
      }));
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
