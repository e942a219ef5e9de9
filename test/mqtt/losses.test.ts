// The tables of docs/lifecycle.md: which reports are lost under which settings, and how each request ends.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ServiceError } from '../../src/errors.ts';
import type { Session } from '../../src/session.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';
import { answerAll, D, G, G2, heartbeat, reportTopic, requests, useScriptedBroker } from './scripted.ts';

const { signal } = new AbortController();
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);
const codeOf = (request: Promise<unknown>) =>
  request.then(
    () => 'answered',
    ({ code }: ServiceError) => code,
  );

describe('reports that come', () => {
  const bench = useScriptedBroker();
  let count = 0;
  let clientId: string;

  beforeEach(() => {
    clientId = `mt-losses-${process.pid}-${count++}`;
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

  const publish = (n: number) => bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
  const numbersOf = ({ reports }: Collector) => reports.map(({ n }) => n);

  async function listen(settings: Partial<MqttSettings>, collector: Collector): Promise<Session> {
    const session = bench.open({ ...settings, clientId });
    session.subscribe(ALL, collector);
    await reached(session, 'connected');
    return session;
  }

  /** The wait before the next attempt is over. */
  async function comeBack(session: Session): Promise<void> {
    const back = reached(session, 'connected');
    mock.timers.tick(2_000);
    await back;
  }

  /** Each takes the session away, publishes, and brings it or its successor back. */
  const ABSENCES: Record<
    string,
    (session: Session, during: () => void, again: () => Promise<unknown>) => Promise<void>
  > = {
    'while the connection is broken': async (session, during) => {
      const lost = reached(session, 'waiting');
      bench.broker.drop();
      await lost;
      during();
      await comeBack(session);
    },
    'while Node-RED is stopped': async (session, during, again) => {
      await session.close();
      during();
      await again();
    },
    'while a broker that stores sessions is restarted': async (session, during) => {
      const lost = reached(session, 'waiting');
      await bench.broker.kill();
      await lost;
      during();
      await bench.broker.start();
      await comeBack(session);
    },
  };

  const SETTINGS: Record<string, [settings: Partial<MqttSettings>, isKept: boolean]> = {
    'as installed': [{}, false],
    'with a persistent session': [{ persistent: true }, true],
    'with QoS 0': [{ persistent: true, reportQos: 0 }, false],
  };

  for (const [when, absence] of Object.entries(ABSENCES)) {
    for (const [how, [settings, isKept]] of Object.entries(SETTINGS)) {
      it(`${when} are ${isKept ? 'kept by the broker' : 'lost'}, ${how}`, async () => {
        const collector = new Collector();
        const session = await listen(settings, collector);
        publish(0);
        await collector.until(({ reports }) => reports.length === 1);
        // Else it could come twice: the acknowledgement may be lost with the connection.
        await bench.broker.until(({ sessions }) => sessions.get(clientId)?.unacknowledged.length === 0);
        await absence(
          session,
          () => [1, 2, 3].forEach(publish),
          () => listen(settings, collector),
        );
        publish(4);
        await collector.until(({ reports }) => reports.at(-1)?.n === 4);
        assert.deepEqual(numbersOf(collector), isKept ? upTo(5) : [0, 4]);
      });
    }
  }

  for (const [how, [settings]] of Object.entries(SETTINGS)) {
    it(`while a deploy leaves the service alone are kept, ${how}`, async () => {
      const collector = new Collector();
      const session = bench.open({ ...settings, clientId });
      const leave = session.subscribe(ALL, new Collector());
      await reached(session, 'connected');
      session.pauseReports();
      leave();
      // Another node of the deploy takes as long to close as Node-RED allows.
      mock.timers.tick(15_000);
      upTo(300).forEach(publish);
      session.subscribe(ALL, collector);
      session.resumeReports();
      await collector.until(({ reports }) => reports.length === 300);
      assert.deepEqual(numbersOf(collector), upTo(300));
    });
  }

  for (const [how, persistent] of [
    ['come again with a persistent session', true],
    ['are lost as installed', false],
  ] as const) {
    it(`and were not yet handed to a flow when Node-RED stops ${how}`, async () => {
      const session = await listen({ persistent }, new Collector());
      session.pauseReports();
      upTo(3).forEach(publish);
      await session.close();
      const collector = new Collector();
      await listen({ persistent }, collector);
      publish(3);
      await collector.until(({ reports }) => reports.at(-1)?.n === 3);
      assert.deepEqual(numbersOf(collector), persistent ? upTo(4) : [3]);
    });
  }

  it('with QoS 1 to flows that are too slow make the broker wait, and none is lost', async () => {
    const { broker } = bench;
    broker.options.maxInFlight = 20;
    const collector = new Collector();
    const session = await listen({}, collector);
    session.pauseReports();
    upTo(1_000).forEach(publish);
    await turn();
    const kept = broker.sessions.get(clientId);
    assert.deepEqual([kept?.unacknowledged.length, kept?.queued.length], [20, 980]);
    session.resumeReports();
    await collector.until(({ reports }) => reports.length === 1_000);
    assert.deepEqual(numbersOf(collector), upTo(1_000));
  });

  it('with QoS 1 over MQTT 5 wait at the broker beyond 1 000 that are not acknowledged, though it has no such limit', async () => {
    const { broker } = bench;
    const collector = new Collector();
    const session = await listen({ protocolVersion: 5 }, collector);
    session.pauseReports();
    upTo(1_200).forEach(publish);
    const kept = broker.sessions.get(clientId);
    assert.deepEqual([kept?.unacknowledged.length, kept?.queued.length], [1_000, 200]);
    session.resumeReports();
    await collector.until(({ reports }) => reports.length === 1_200);
  });

  it('that are retained do not say where a request without a gateway goes', async () => {
    bench.broker.publish(reportTopic('heartbeat', G2), heartbeat(1), { retain: true });
    const collector = new Collector();
    const session = await listen({}, collector);
    await collector.until(({ reports }) => reports.length === 1);
    const read = () => session.request('read', { device: D, identifier: '8001' }, { signal, timeout: 1 });
    await assert.rejects(read(), { code: 'INVALID_INPUT' });
    assert.deepEqual(session.recent.devices(), []);
    publish(2);
    await collector.until(({ reports }) => reports.length === 2);
    assert.equal(session.network.gatewayOf(D), G);
  });

  it('retained come to a subscriber beside another one with the next connection', async () => {
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1), { retain: true });
    const [first, second] = [new Collector(), new Collector()];
    const session = await listen({}, first);
    await first.until(({ reports }) => reports.length === 1);
    session.subscribe(ALL, second);
    publish(2);
    await second.until(({ reports }) => reports.length === 1);
    const lost = reached(session, 'waiting');
    bench.broker.drop();
    await lost;
    await comeBack(session);
    await second.until(({ reports }) => reports.length === 2);
    assert.deepEqual(numbersOf(second), [2, 1]);
  });

  it('retained come again with every connection, and say so', async () => {
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1), { retain: true });
    const collector = new Collector();
    const session = await listen({}, collector);
    const lost = reached(session, 'waiting');
    bench.broker.drop();
    await lost;
    await comeBack(session);
    await collector.until(({ reports }) => reports.length === 2);
    assert.deepEqual(
      collector.reports.map(({ n, retained }) => [n, retained]),
      [
        [1, true],
        [1, true],
      ],
    );
  });
});

describe('subscriptions at the broker', () => {
  const bench = useScriptedBroker();
  const gateways = upTo(450).map((n) => (0xc00000000000 + n).toString(16));

  it('are made again after every connect, in packets that grow to 200 while the broker answers', async () => {
    const { broker } = bench;
    broker.options.maxFiltersPerSubscribe = 200;
    const session = bench.open();
    session.subscribe({ ...ALL, gateways }, new Collector());
    await reached(session, 'connected');
    broker.drop();
    await reached(session, 'waiting');
    await reached(session, 'connected');
    const sizes = broker.packets('subscribe').map(({ subscriptions }) => subscriptions.length);
    assert.deepEqual(sizes, [8, 16, 32, 64, 128, 200, 2, 200, 200, 50]);
  });

  it('are made before others are given back when the filters change', async () => {
    const { broker } = bench;
    const session = bench.open();
    const leave = session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    await reached(session, 'connected');
    const givenBack = broker.next('unsubscribe');
    leave();
    session.subscribe(ALL, new Collector());
    await givenBack;
    const changes = broker.received
      .map(({ packet }) => packet.cmd)
      .filter((cmd) => cmd.endsWith('subscribe'));
    assert.deepEqual(changes, ['subscribe', 'subscribe', 'unsubscribe']);
  });

  it('to the responses of a gateway begin with the first request to it', async () => {
    const { broker } = bench;
    answerAll(broker, ({ id }) => ({ id, version: '2.4.0' }));
    const session = bench.open();
    session.attach();
    await reached(session, 'connected');
    assert.deepEqual(broker.packets('subscribe'), []);
    for (const gateway of [G, G, G2]) {
      await session.request('apiversion', { gateway }, { signal });
    }
    assert.equal(broker.packets('subscribe').length, 2);
  });
});

describe('a request', () => {
  const bench = useScriptedBroker();

  const ask = (session: Session, more: object = {}, gateway = G) =>
    session.request('apiversion', { gateway }, { signal, ...more });

  for (const persistent of [false, true]) {
    it(`that a lost connection interrupts is sent once, and its response may come over the next one${persistent ? ', of a persistent session too' : ''}`, async () => {
      const { broker } = bench;
      broker.options.withhold = ['puback'];
      const session = bench.open({ persistent });
      const outcome = ask(session, { timeout: 30_000 });
      await broker.next('publish');
      broker.drop();
      await reached(session, 'waiting');
      await broker.until(() => broker.packets('subscribe').length === 2);
      await reached(session, 'connected');
      const [{ topic, body }] = requests(broker) as [ReturnType<typeof requests>[0]];
      broker.publish(topic.replace('/request/', '/response/'), { id: body.id, status: 0, version: '2.4.0' });
      assert.equal((await outcome).value, '2.4.0');
      assert.equal(requests(broker).length, 1);
    });
  }

  it('that a lost connection interrupts ends with TIMEOUT when no response comes', async () => {
    const session = bench.open();
    const outcome = codeOf(ask(session, { timeout: 200 }));
    await bench.broker.next('publish');
    bench.broker.drop();
    assert.equal(await outcome, 'TIMEOUT');
  });

  it('has its response although a deploy holds a report before it for longer than the timeout', async () => {
    const session = bench.open({ keepalive: 1 });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    await session.request('apiversion', { gateway: G }, { signal, timeout: 200 }).catch(() => {});
    session.pauseReports();
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
    answerAll(bench.broker, ({ id }) => ({ id, version: '2.4.0' }));
    const outcome = codeOf(session.request('apiversion', { gateway: G }, { signal, timeout: 200 }));
    // The second ping while nothing is read comes after a second.
    for (let ping = 0; ping < 2; ping++) {
      await bench.broker.next('pingreq');
    }
    session.resumeReports();
    assert.equal(await outcome, 'answered');
    // One that has no response ends all the same.
    bench.broker.options.intercept = () => false;
    const silent = session.request('apiversion', { gateway: G }, { signal, timeout: 200 });
    assert.equal(await codeOf(silent), 'TIMEOUT');
  });

  for (const [which, settings] of [
    ['that is the first to its gateway', {}],
    [
      'behind one that the broker has acknowledged',
      { limits: { ...mqttSettings('').limits, maxUnacknowledged: 1 } },
    ],
  ] as const) {
    it(`${which} has its response although a deploy holds a report for longer than the timeout`, async () => {
      const session = bench.open({ ...settings, keepalive: 1 });
      session.subscribe(ALL, new Collector());
      await reached(session, 'connected');
      answerAll(bench.broker, ({ id }) => ({ id, version: '2.4.0' }));
      await session.request('apiversion', { gateway: G }, { signal });
      session.pauseReports();
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(1));
      const outcomes = [G, G, G2].map((gateway) =>
        codeOf(session.request('apiversion', { gateway }, { signal, timeout: 200 })),
      );
      for (let ping = 0; ping < 2; ping++) {
        await bench.broker.next('pingreq');
      }
      session.resumeReports();
      assert.deepEqual([...new Set(await Promise.all(outcomes))], ['answered']);
    });
  }

  it('that the broker refuses ends with NOT_CONNECTED', async () => {
    const { broker } = bench;
    broker.options.intercept = (packet) => {
      if (packet.cmd !== 'publish') {
        return false;
      }
      const { messageId } = packet;
      broker.openConnections[0]?.send({ cmd: 'puback', messageId, reasonCode: 0x87 });
      return true;
    };
    const session = bench.open({ protocolVersion: 5 });
    await assert.rejects(
      ask(session),
      ({ code, message }: ServiceError) => code === 'NOT_CONNECTED' && /refused the request/.test(message),
    );
  });

  it('may wait for its turn longer than its timeout says, which counts from sending', async () => {
    answerAll(bench.broker, ({ n, id }) => (n === 0 ? undefined : { id, version: '2.4.0' }));
    const session = bench.open({ maxInFlight: 1 });
    const first = codeOf(ask(session, { timeout: 400 }));
    await bench.broker.next('publish');
    const second = codeOf(ask(session, { timeout: 200 }));
    assert.deepEqual(await Promise.all([first, second]), ['TIMEOUT', 'answered']);
  });

  it('is one of 8 to its gateway, whatever others have under way', async () => {
    const { broker } = bench;
    const session = bench.open();
    for (const gateway of [G, G2]) {
      for (let n = 0; n < 20; n++) {
        ask(session, {}, gateway).catch(() => {});
      }
    }
    await broker.until(() => requests(broker).length === 16);
    const to = (gateway: string) => requests(broker).filter(({ topic }) => topic.includes(gateway)).length;
    assert.deepEqual([to(G), to(G2)], [8, 8]);
    const [{ topic, body }] = requests(broker) as [ReturnType<typeof requests>[0]];
    broker.publish(topic.replace('/request/', '/response/'), { id: body.id, status: 0, version: '2' });
    await broker.until(() => requests(broker).length === 17);
  });

  it('is not ended by a response to an earlier one that has ended', async () => {
    const { broker } = bench;
    const session = bench.open();
    const stop = new AbortController();
    const first = codeOf(ask(session, { signal: stop.signal }));
    await broker.until(() => requests(broker).length === 1);
    stop.abort();
    assert.equal(await first, 'CLOSED');
    const [{ topic, body }] = requests(broker) as [ReturnType<typeof requests>[0]];
    const reply = (id: unknown, version: string) =>
      broker.publish(topic.replace('/request/', '/response/'), { id, status: 0, version });
    const next = ask(session);
    await broker.until(() => requests(broker).length === 2);
    reply(body.id, 'late');
    reply(requests(broker)[1]?.body.id, 'right');
    assert.equal((await next).value, 'right');
  });
});
