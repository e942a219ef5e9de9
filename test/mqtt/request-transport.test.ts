// What requests do with the broker connection: over a session, as nodes use it.
import assert from 'node:assert/strict';
import { ALL, Collector, reached } from '../session.ts';
import { answerAll, G, G2, responseFilter, useScriptedBroker } from './scripted.ts';

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
});
