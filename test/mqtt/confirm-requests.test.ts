// Requests that wait in line while the first node that confirms reports comes: responses are asked for with another QoS.
import assert from 'node:assert/strict';
import { ALL, Collector, reached } from '../session.ts';
import { answerAll, G, requests, useScriptedBroker } from './scripted.ts';

const MAX_IN_FLIGHT = 8;
const COUNT = MAX_IN_FLIGHT + 4;

describe('requests that wait in line while responses are subscribed with another QoS', () => {
  const bench = useScriptedBroker();
  const { signal } = new AbortController();

  /** Sends requests, has the broker withhold its next SUBACK, and brings a node that confirms. @returns their outcomes */
  async function begin(requestTimeout: number): Promise<Promise<string>[]> {
    const { broker } = bench;
    const session = bench.open({ requestTimeout, maxInFlight: MAX_IN_FLIGHT });
    session.subscribe({ ...ALL, kinds: ['rssi'] }, new Collector(), 'other');
    await reached(session, 'connected');
    const outcomes = Array.from({ length: COUNT }, () =>
      session.request('apiversion', { gateway: G }, { signal }).then(
        () => 'answered',
        ({ code }) => code,
      ),
    );
    await broker.until(() => requests(broker).length === MAX_IN_FLIGHT);
    broker.options.withhold = ['suback'];
    const confirm = { timeoutMs: 60_000, maxAttempts: 20, count() {} };
    session.subscribe({ ...ALL, kinds: ['heartbeat'] }, Object.assign(new Collector(), { confirm }), 'node');
    await broker.until(({ withheld }) => withheld.length > 0);
    answerAll(broker, ({ id }) => ({ id, version: '1' }));
    for (const { topic, body } of requests(broker)) {
      const payload = { time: '2026-01-01T00:00:00.000Z', status: 0, version: '1', id: body.id };
      broker.publish(topic.replace('/request/', '/response/'), payload);
    }
    await Promise.all(outcomes.slice(0, MAX_IN_FLIGHT));
    return outcomes;
  }

  it('are sent when the broker has granted it', async () => {
    const { broker } = bench;
    const outcomes = await begin(30_000);
    assert.equal(requests(broker).length, MAX_IN_FLIGHT);
    broker.options.withhold = [];
    broker.release();
    assert.deepEqual(await Promise.all(outcomes), Array(COUNT).fill('answered'));
  });

  it('end where the broker does not confirm it in their time', async () => {
    const outcomes = await begin(1_000);
    assert.deepEqual(await Promise.all(outcomes.slice(MAX_IN_FLIGHT)), [
      ...Array(COUNT - MAX_IN_FLIGHT).fill('NOT_CONNECTED'),
    ]);
  });

  it('end where the broker refuses it', async () => {
    const { broker } = bench;
    const outcomes = await begin(30_000);
    broker.options.refuses = (filter) => filter.includes('/response/');
    broker.options.withhold = [];
    broker.release();
    assert.deepEqual(await Promise.all(outcomes.slice(MAX_IN_FLIGHT)), [
      ...Array(COUNT - MAX_IN_FLIGHT).fill('NOT_CONNECTED'),
    ]);
  });
});
