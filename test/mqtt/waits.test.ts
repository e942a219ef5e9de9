// How long the MQTT half waits, as docs/lifecycle.md says it: the timers are moved by hand, everything else is real.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServiceError } from '../../src/errors.ts';
import type { Logger } from '../../src/log.ts';
import { Session } from '../../src/session.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { startScriptedBroker } from '../scripted-broker/broker.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';
import {
  answerAll,
  G,
  G2,
  heartbeat,
  mockTime,
  passRealTime,
  passTimeUntil,
  reportTopic,
  requests,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

const NOBODY = 'mqtt://127.0.0.1:1';
const { signal } = new AbortController();

describe('waits of the MQTT half', () => {
  const bench = useScriptedBroker();
  const sessions: Session[] = [];
  let warnings: string[];
  /** Warnings and information, in their order. */
  let logged: string[];
  /** What chance says; mocked once, because a mock of a mock would outlive its test. */
  let chance: number;

  beforeEach(() => {
    warnings = [];
    logged = [];
    chance = 0;
    mockTime(1_000_000);
    mock.method(Math, 'random', () => chance);
  });
  afterEach(async () => {
    restoreTime();
    await Promise.all(sessions.splice(0).map((session) => session.close()));
  });

  const tick = (seconds: number) => mock.timers.tick(seconds * 1000);

  function open(changes: Partial<MqttSettings> = {}): Session {
    const log: Logger = {
      info: (text) => void logged.push(text),
      warn(text) {
        warnings.push(text);
        logged.push(text);
      },
      trace() {},
    };
    const session = new Session({ mqtt: mqttSettings(bench.broker.url, changes) }, log);
    sessions.push(session);
    return session;
  }

  async function connect(changes: Partial<MqttSettings> = {}): Promise<Session> {
    const session = open(changes);
    session.attach();
    await reached(session, 'connected');
    return session;
  }

  /** A deploy begins, and a report of QoS 1 waits for its end, so that nothing more is read. */
  async function holdReport(session: Session): Promise<void> {
    session.pauseReports();
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await passRealTime();
  }

  /** Resolves when so many lines of this kind were logged. */
  async function told(pattern: RegExp, count: number): Promise<string[]> {
    for (;;) {
      const found = logged.filter((text) => pattern.test(text));
      if (found.length >= count) {
        return found;
      }
      await turn();
    }
  }

  /** The seconds before each of the next attempts; each is made when its time has come, and not before. */
  async function waitsOf(session: Session, count: number): Promise<number[]> {
    const waits: number[] = [];
    while (waits.length < count) {
      const [text = ''] = (await told(/next attempt in/, waits.length + 1)).slice(-1);
      const wait = Number(/in ([\d.]+) s/.exec(text)?.[1]);
      waits.push(wait);
      const { name } = session.state.mqtt;
      tick(wait - 0.001);
      assert.equal(session.state.mqtt.name, name);
      tick(0.001);
    }
    return waits;
  }

  /** So many seconds later, and not before, the connection is given up. */
  async function isLeftAfter(session: Session, seconds: number): Promise<void> {
    tick(seconds - 0.001);
    await turn();
    assert.equal(session.state.mqtt.name, 'connected');
    const lost = reached(session, 'waiting');
    tick(0.001);
    await lost;
  }

  it('give up an attempt that is not answered after 10 seconds', async () => {
    bench.broker.options.withhold = ['connack'];
    const session = open();
    session.attach();
    await bench.broker.next('connect');
    tick(9.999);
    await turn();
    assert.equal(session.state.mqtt.name, 'connecting');
    const lost = reached(session, 'waiting');
    tick(0.001);
    await lost;
  });

  it('are those of each one where the same sample is acknowledged again while the broker is away', async () => {
    const session = open({ brokers: [NOBODY] });
    const sample = {
      gateway: G,
      device: 'd00000000001',
      identifier: '8800',
      time: '2026-01-01T00:00:00.000Z',
    };
    let now = 0;
    const timeouts = [10, 10, 10, 5];
    const ended = new Map<number, number>();
    for (const [n, timeout] of timeouts.entries()) {
      session
        .acknowledge(sample, { signal, wait: n % 2 === 0, timeout: timeout * 1_000 })
        .catch(({ code }) => code === 'NOT_CONNECTED' && ended.set(n, now));
      tick(1);
      now++;
    }
    while (ended.size < timeouts.length && now < 60) {
      await passRealTime();
      tick(1);
      now++;
      await passRealTime();
    }
    assert.deepEqual([...ended].sort(), [
      [0, 10],
      [1, 11],
      [2, 12],
      [3, 8],
    ]);
  });

  async function pass(seconds: number): Promise<void> {
    for (let step = 0; step < seconds * 10; step++) {
      await passRealTime();
      tick(0.1);
    }
    await passRealTime();
  }

  /** How each of 24 queries for old values of devices at one gateway ends, and after how many seconds. */
  function queryOld(session: Session): string[] {
    const ends: string[] = [];
    const began = Date.now();
    const options = { labels: [], maxAge: 1, tooOld: 'read', timeout: 10_000 } as const;
    for (let n = 0; n < 24; n++) {
      const query = { gateway: G, device: `d000000000${n + 10}` };
      session.lastValues.recordReport(
        { ...query, kind: 'property', form: 'raw', identifier: '8800', time: '', value: '0a01' },
        performance.now() - 60_000,
      );
      void session.values
        .all(query, { ...options, signal: new AbortController().signal })
        .then(({ failure }) => {
          const [first] = (failure?.cause.failures ?? []) as { code: string }[];
          // One turn after the other, each of which may take a step of the time here.
          ends.push(`${first?.code} ${Math.floor((Date.now() - began) / 1_000)}`);
        });
    }
    return ends;
  }

  it('are no longer for queries for old values that wait for others at their gateway while the broker is away', async () => {
    const ends = queryOld(open({ brokers: [NOBODY] }));
    await pass(11);
    assert.deepEqual(new Set(ends), new Set(['NOT_CONNECTED 10']));
    assert.equal(ends.length, 24);
  });

  it('begin with the loss for queries that wait for others at their gateway when the broker goes away', async () => {
    const session = await connect();
    const ends = queryOld(session);
    await bench.broker.until(() => requests(bench.broker).length === 8);
    await pass(6);
    bench.broker.options.withhold = ['connack'];
    const lost = reached(session, 'waiting');
    bench.broker.drop();
    await lost;
    await pass(11);
    assert.deepEqual(
      ends,
      Array.from({ length: 24 }, (_, n) => (n < 8 ? 'TIMEOUT 10' : 'NOT_CONNECTED 16')),
    );
  });

  it('double from 1 second to 60 seconds while nobody listens', async () => {
    const session = open({ brokers: [NOBODY] });
    session.attach();
    assert.deepEqual(await waitsOf(session, 8), [1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('are up to half as long again, by chance, and never longer than 60 seconds', async () => {
    chance = 1 - Number.EPSILON;
    const session = open({ brokers: [NOBODY] });
    session.attach();
    assert.deepEqual(await waitsOf(session, 8), [1.5, 3, 6, 12, 24, 48, 60, 60]);
  });

  it('are no warning at first where nobody listens yet, as while the broker starts', async () => {
    const session = open({ brokers: [NOBODY] });
    session.attach();
    const [first = ''] = await told(/next attempt in/, 1);
    assert.match(first, /nothing answers at 127\.0\.0\.1:1; next attempt in 1 s/);
    assert.equal(session.state.mqtt.name, 'waiting');
    assert.deepEqual(warnings, []);
    tick(1);
    const [, second] = await told(/next attempt in/, 2);
    assert.deepEqual(warnings, [second]);
  });

  it('are a warning at once where the broker was there, and where another one takes its place', async () => {
    const session = await connect();
    const lost = reached(session, 'waiting');
    bench.broker.drop();
    await lost;
    assert.match(warnings.join(), /next attempt in 1 s/);
    open({ brokers: [NOBODY, bench.broker.url] }).attach();
    const [first = ''] = await told(/nothing answers/, 1);
    assert.ok(warnings.includes(first));
  });

  it('are 50 milliseconds between the addresses of a list, and longer after each round', async () => {
    const others = ['mqtt://127.0.0.1:2', 'mqtt://127.0.0.1:3'];
    const session = open({ brokers: [NOBODY, ...others] });
    const tried: string[] = [];
    session.onState(({ mqtt }) => {
      if (mqtt.name === 'connecting') {
        tried.push(mqtt.broker);
      }
    });
    session.attach();
    for (const [attempt, wait] of [0.05, 0.05, 1, 0.05, 0.05, 2].entries()) {
      await told(/next attempt in/, attempt + 1);
      tick(wait - 0.001);
      assert.equal(tried.length, attempt + 1);
      tick(0.001);
      assert.equal(tried.length, attempt + 2);
    }
    assert.deepEqual(tried, [NOBODY, ...others, NOBODY, ...others, NOBODY]);
  });

  it('begin anew after a connection that lasted longer than 5 seconds, and not before', async () => {
    const session = await connect();
    for (const [lasted, wait] of [
      [0, 1],
      [5, 2],
      [5.001, 1],
    ] as const) {
      tick(lasted);
      const lost = reached(session, 'waiting');
      bench.broker.drop();
      await lost;
      tick(wait - 0.001);
      assert.equal(session.state.mqtt.name, 'waiting');
      const back = reached(session, 'connected');
      tick(0.001);
      await back;
    }
  });

  it('begin anew after such a connection also where the clock was set back meanwhile', async () => {
    const session = await connect();
    for (const lasted of [0, 0, 6]) {
      tick(lasted);
      if (lasted > 0) {
        mock.method(Date, 'now', () => 0);
      }
      const lost = reached(session, 'waiting');
      bench.broker.drop();
      await lost;
      const back = reached(session, 'connected');
      tick(lasted > 0 ? 1 : 10);
      await back;
    }
  });

  it('are not needed to notice that a connection is broken', async () => {
    const session = await connect();
    bench.broker.drop();
    await reached(session, 'waiting');
  });

  it('are not needed to leave a broker that says goodbye and does not end the connection', async () => {
    const session = await connect({ protocolVersion: 5 });
    const { broker } = bench;
    broker.options.intercept = () => true;
    const lost = reached(session, 'waiting');
    broker.connections.at(-1)?.send({ cmd: 'disconnect', reasonCode: 0x8b });
    await lost;
  });

  it('are one and a half times the keep-alive until a silent broker is left', async () => {
    bench.broker.options.withhold = ['pingresp'];
    const session = await connect({ keepalive: 60 });
    const asked = bench.broker.next('pingreq');
    tick(60);
    await asked;
    await isLeftAfter(session, 30);
  });

  const ASKED = {
    'a hundred acknowledgements are written': (session: Session, { reports }: Collector) => {
      for (const { delivery } of reports) {
        session.confirm(String(delivery));
      }
    },
    'somebody tests the connection': (session: Session) => void session.probe(),
  };
  for (const [when, ask] of Object.entries(ASKED)) {
    it(`are no longer until a silent broker is left when ${when} meanwhile`, async () => {
      const flow = Object.assign(new Collector(), {
        confirm: { timeoutMs: 600_000, maxAttempts: 20, count() {} },
      });
      const session = open({ keepalive: 60 });
      session.subscribe(ALL, flow, 'node');
      session.resumeReports();
      await reached(session, 'connected');
      for (let n = 0; n < 120; n++) {
        bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
      }
      await flow.until(({ reports }) => reports.length === 120);
      bench.broker.options.withhold = ['pingresp'];
      // Until the reports are known to be held up.
      tick(1);
      tick(49);
      const asked = bench.broker.next('pingreq');
      ask(session, flow);
      await asked;
      await isLeftAfter(session, 40);
    });
  }

  it('double from 10 seconds to 5 minutes while the login is refused, which then heals by itself', async () => {
    bench.broker.options.connackCode = 5;
    const session = open();
    session.attach();
    assert.deepEqual(await waitsOf(session, 7), [10, 20, 40, 80, 160, 300, 300]);
    await told(/next attempt in/, 8);
    bench.broker.options.connackCode = 0;
    const well = reached(session, 'connected');
    tick(300);
    await well;
  });

  it('are 50 milliseconds to the next address when a broker of the list refuses the login', async () => {
    const refusing = await startScriptedBroker({ connackCode: 5 });
    try {
      const session = open({ brokers: [refusing.url, bench.broker.url] });
      session.attach();
      const [first = ''] = await told(/next attempt in/, 1);
      assert.match(first, /in 0\.1 s$/);
      tick(0.05);
      await reached(session, 'connected');
    } finally {
      await refusing.stop();
    }
  });

  it('are short for an address that is away, though another one of the list refuses the login', async () => {
    const refusing = await startScriptedBroker({ connackCode: 5 });
    try {
      const session = open({ brokers: [refusing.url, NOBODY] });
      session.attach();
      const tries = () => refusing.packets('connect').length;
      for (const [n, wait] of [0.05, 1, 2, 4].entries()) {
        const all = await told(/next attempt in/, n + 1);
        assert.match(all[n] ?? '', n === 0 ? /not allowed/ : /127.0.0.1:1: /);
        tick(wait);
      }
      const [text = ''] = (await told(/next attempt in/, 5)).slice(-1);
      assert.match(text, /127.0.0.1:1: .*in (3|2.9) s$/);
      assert.equal(tries(), 1);
      tick(3);
      // That of the other address goes on: 8 seconds, of which 3 have passed.
      assert.match((await told(/next attempt in/, 6)).at(-1) ?? '', /not allowed.*in (5|5.1) s$/);
      assert.equal(tries(), 2);
    } finally {
      await refusing.stop();
    }
  });

  it('are short after a good connection to one address, though another one refuses the login', async () => {
    const refusing = await startScriptedBroker({ connackCode: 5 });
    try {
      const session = open({ brokers: [refusing.url, bench.broker.url] });
      session.attach();
      await told(/next attempt in/, 1);
      tick(0.05);
      await reached(session, 'connected');
      tick(6);
      bench.broker.drop();
      const [, text = ''] = await told(/next attempt in/, 2);
      assert.match(text, /in 1 s$/);
    } finally {
      await refusing.stop();
    }
  });

  it('double from 10 seconds to 5 minutes while subscriptions are refused, and the others work on', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter.includes(G2);
    // The time is moved in one step, so no ping of these minutes would be answered.
    const session = open({ keepalive: 0 });
    const collector = new Collector();
    session.subscribe({ ...ALL, gateways: [G, G2] }, collector);
    for (const [tries, wait] of [10, 20, 40, 80, 160, 300, 300].entries()) {
      await told(/refused the subscription/, tries + 1);
      const before = broker.packets('subscribe').length;
      broker.publish(reportTopic('heartbeat'), heartbeat(tries));
      await collector.until(({ reports }) => reports.length === tries + 1);
      tick(wait - 0.001);
      await turn();
      assert.equal(broker.packets('subscribe').length, before);
      tick(0.001);
    }
    await told(/refused the subscription/, 8);
    broker.options.refuses = () => false;
    const well = reached(session, 'connected');
    tick(300);
    await well;
  });

  it('are 1 second between the last user of the connection and its end', async () => {
    const { broker } = bench;
    const session = open();
    const leave = session.attach();
    await reached(session, 'connected');
    leave();
    tick(0.999);
    session.attach()();
    tick(0.999);
    await turn();
    assert.deepEqual([broker.connections.length, session.state.mqtt.name], [1, 'connected']);
    const disconnected = broker.next('disconnect');
    tick(0.001);
    await disconnected;
    await reached(session, 'idle');
  });

  it('are for the last user of the connection until the flows of a deploy run, and not for ever', async () => {
    const { broker } = bench;
    const session = open();
    const leave = session.attach();
    await reached(session, 'connected');
    session.pauseReports();
    leave();
    tick(15);
    await turn();
    assert.deepEqual([broker.packets('disconnect').length, session.state.mqtt.name], [0, 'connected']);
    const disconnected = broker.next('disconnect');
    session.resumeReports();
    tick(1);
    await disconnected;
    await reached(session, 'idle');
  });

  it('are 1.5 seconds for the DISCONNECT to a broker that has stopped reading', async () => {
    const session = await connect();
    bench.broker.setReading(false);
    let isClosed = false;
    const closed = session.close().then(() => {
      isClosed = true;
    });
    tick(1.499);
    await turn();
    assert.equal(isClosed, false);
    tick(0.001);
    await closed;
  });

  it('are 20 seconds for reports while flows are being replaced and nobody says that they run', async () => {
    const session = await connect();
    const collector = new Collector();
    session.subscribe(ALL, collector);
    await reached(session, 'connected');
    session.pauseReports();
    for (let n = 0; n < 3; n++) {
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(n), { qos: 0 });
    }
    answerAll(bench.broker, ({ id }) => ({ id, version: '2.4.0' }));
    await session.request('apiversion', { gateway: G }, { signal });
    tick(19.999);
    assert.equal(collector.reports.length, 0);
    tick(0.001);
    await collector.until(({ reports }) => reports.length === 3);
  });

  for (const [which, withhold, gateway, code] of [
    ['the response to a request', undefined, G, 'TIMEOUT'],
    ['the subscription to responses', 'suback', G2, 'NOT_CONNECTED'],
    ['the acknowledgement of earlier requests', 'puback', G, 'NOT_CONNECTED'],
  ] as const) {
    it(`for ${which} are anew once a deploy that has held a report lets go of it`, async () => {
      const { broker } = bench;
      const { limits } = mqttSettings('');
      const maxUnacknowledged = withhold === 'puback' ? 1 : Number.POSITIVE_INFINITY;
      const session = await connect({ limits: { ...limits, maxUnacknowledged } });
      session.subscribe(ALL, new Collector());
      await reached(session, 'connected');
      answerAll(broker, ({ id }) => ({ id, version: '2.4.0' }));
      await session.request('apiversion', { gateway: G }, { signal });
      broker.options.intercept = () => false;
      broker.options.withhold = withhold ? [withhold] : [];
      if (withhold === 'puback') {
        session.request('apiversion', { gateway: G }, { signal, timeout: 60_000 }).catch(() => {});
      }
      await holdReport(session);
      let ended: string | undefined;
      session
        .request('apiversion', { gateway }, { signal, timeout: 3_000 })
        .catch((error: ServiceError) => (ended = error.code));
      tick(4);
      session.resumeReports();
      await passRealTime();
      tick(2.999);
      await turn();
      assert.equal(ended, undefined);
      tick(0.001);
      await turn();
      assert.equal(ended, code);
    });
  }

  it('begin with the loss for a request when the broker goes away while a deploy holds a report', async () => {
    const { broker } = bench;
    const session = await connect();
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    await holdReport(session);
    const outcome = session.request('apiversion', { gateway: G }, { signal, timeout: 3_000 });
    let isOver = false;
    outcome.catch(() => (isOver = true));
    tick(4);
    broker.options.withhold = ['connack'];
    const lost = reached(session, 'waiting');
    broker.drop();
    await lost;
    tick(2.999);
    await turn();
    assert.equal(isOver, false);
    tick(0.001);
    // A timer that is late in real time gives what is in the sockets a second more, five times at most.
    const due = Date.now();
    await passTimeUntil(assert.rejects(outcome, { code: 'NOT_CONNECTED', message: /could not be reached/ }));
    assert.ok(Date.now() - due < 6_000, `${Date.now() - due}`);
  });

  it('are no longer for a request during the next deploy when the connection was lost while one held a report', async () => {
    const { broker } = bench;
    const session = await connect();
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    await holdReport(session);
    const lost = reached(session, 'waiting');
    broker.drop();
    await lost;
    const regained = reached(session, 'connected');
    tick(1);
    await regained;
    session.pauseReports();
    const outcome = session.request('apiversion', { gateway: G }, { signal, timeout: 3_000 });
    const ended = assert.rejects(outcome, { code: 'TIMEOUT' });
    await broker.until(() => requests(broker).length === 1);
    tick(3);
    await ended;
  });

  it('are 10 seconds without a further loss until an overload is over, which the log tells', async () => {
    const session = await connect();
    const collector = new Collector();
    session.subscribe(ALL, collector);
    await reached(session, 'connected');
    session.pauseReports();
    const body = { time: '', seq: 1, padding: 'x'.repeat(1_000_000) };
    const overloaded = reached(session, 'overloaded');
    for (let n = 0; n < 80; n++) {
      bench.broker.publish(reportTopic('heartbeat'), { ...body, n }, { qos: 0 });
    }
    await overloaded;
    answerAll(bench.broker, ({ id }) => ({ id, version: '2.4.0' }));
    await session.request('apiversion', { gateway: G }, { signal, timeout: 60_000 });
    session.resumeReports();
    await collector.until(({ reports }) => reports.at(-1)?.n === 79);
    // Within the first ten seconds some were lost, within the next none.
    for (const seconds of [9.999, 0.001, 9.999]) {
      tick(seconds);
      assert.equal(session.state.mqtt.name, 'overloaded');
    }
    tick(0.001);
    assert.equal(session.state.mqtt.name, 'connected');
    const lost = 80 - collector.reports.length;
    assert.equal(collector.reports[0]?.n, lost);
    assert.deepEqual(warnings, [
      'reports arrive faster than the flows take them: the oldest of QoS 0 are lost',
      `the flows keep up again; ${lost} reports of QoS 0 were lost`,
    ]);
  });
});
