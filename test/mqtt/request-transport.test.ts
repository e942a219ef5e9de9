// What requests do with the broker connection: over a session, as nodes use it.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ALL, Collector, mqttSettings, reached } from '../session.ts';
import {
  answerAll,
  G,
  G2,
  mockTime,
  passTimeUntil,
  responseFilter,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

/** No trial of what has ended a connection waits longer. */
const MAX_WAIT_MS = 300_000;
const { signal } = new AbortController();

describe('requests over a broker connection', () => {
  const bench = useScriptedBroker();

  /** How the broker was asked for the responses of the gateway, each time. */
  const asked = (gateway = G) =>
    bench.broker
      .packets('subscribe')
      .flatMap(({ subscriptions }) => subscriptions)
      .filter(({ topic }) => topic === responseFilter(gateway))
      .map(({ qos }) => qos);

  for (const [persistent, qos] of [
    [false, 1],
    [true, 0],
  ] as const) {
    it(`have responses of QoS ${qos} where the broker ${persistent ? 'keeps' : 'ends'} the session`, async () => {
      const session = bench.open({ persistent });
      answerAll(bench.broker, ({ id }) => ({ id, version: '2.4.0' }));
      const { value } = await session.request('apiversion', { gateway: G }, { signal });
      assert.deepEqual([value, asked()], ['2.4.0', [qos]]);
    });
  }

  it('wait for the connection, and say which broker has not been reached', async () => {
    const { broker } = bench;
    broker.options.withhold = ['connack'];
    const session = bench.open();
    await assert.rejects(session.request('apiversion', { gateway: G }, { signal, timeout: 50 }), {
      code: 'NOT_CONNECTED',
      message: `the broker ${broker.url} could not be reached within 50 ms`,
    });
    answerAll(broker, ({ id }) => ({ id, version: '2.4.0' }));
    const outcome = session.request('apiversion', { gateway: G }, { signal });
    broker.options.withhold = [];
    broker.release();
    assert.equal((await outcome).value, '2.4.0');
  });

  it('say why the broker refuses their responses, which are asked for again with the next', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter === responseFilter() && 0x87;
    const session = bench.open({ protocolVersion: 5 });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    for (let round = 1; round <= 2; round++) {
      await assert.rejects(session.request('apiversion', { gateway: G }, { signal }), {
        code: 'NOT_CONNECTED',
        message: /refused the subscription .*: not allowed for this user$/,
      });
      assert.equal(asked().length, round);
    }
    answerAll(broker, ({ id }) => ({ id, version: '2.4.0' }));
    assert.equal((await session.request('apiversion', { gateway: G2 }, { signal })).value, '2.4.0');
    const others = [responseFilter(), responseFilter(G2)];
    const reports = broker.packets('subscribe').flatMap(({ subscriptions }) => subscriptions);
    const topics = new Set(reports.map(({ topic }) => topic).filter((topic) => !others.includes(topic)));
    assert.deepEqual([...topics], ['mt/gateway/+/device/+/#']);
  });

  it('cost no connection again for one filter of all responses, where few are allowed and it has ended some', async () => {
    mockTime();
    try {
      const { broker } = bench;
      broker.options.refuses = (filter) => filter === responseFilter('+');
      broker.options.refusesBy = 'close';
      answerAll(broker, ({ id }) => ({ id, version: '2.4.0' }));
      const limits = { ...mqttSettings('').limits, maxSubscriptions: 10 };
      const session = bench.open({ limits, keepalive: 0 });
      session.attach();
      const ask = () =>
        passTimeUntil(session.request('apiversion', { gateway: G }, { signal, timeout: 60_000 }));
      assert.equal((await ask()).value, '2.4.0');
      const { length } = asked('+');
      assert.ok(length > 0);
      mock.timers.tick(MAX_WAIT_MS);
      const lost = reached(session, 'waiting');
      broker.drop();
      await lost;
      assert.equal((await ask()).value, '2.4.0');
      assert.equal(asked('+').length, length);
    } finally {
      restoreTime();
    }
  });
});
