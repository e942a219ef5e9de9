// The question whose session a broker gives to a client id that is new: what it finds, and that it leaves nothing.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { IConnectPacket } from 'mqtt-packet';
import { keptSession, sessionName } from '../../src/mqtt/kept-sessions.ts';
import { askForSession, sessionStays } from '../../src/mqtt/session-question.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { startScriptedBroker } from '../scripted-broker/broker.ts';
import { mqttSettings } from '../session.ts';
import { heartbeat, leaveSession, reportTopic, useScriptedBroker } from './scripted.ts';

/** Longer than any of these questions takes. */
const AMPLE_MS = 20_000;

describe('the question whose session a broker gives to a new client id', () => {
  const bench = useScriptedBroker();

  const settingsOf = (changes: Partial<MqttSettings> = {}) =>
    mqttSettings(bench.broker.url, { persistent: true, ...changes });
  const ask = (
    settings: MqttSettings,
    { ms = AMPLE_MS, signal }: { ms?: number; signal?: AbortSignal } = {},
  ) => askForSession(settings, bench.broker.url, performance.now() + ms, signal && { signal });
  const connects = () => bench.broker.packets('connect') as IConnectPacket[];
  /** Whatever client id is given, the broker takes this one. */
  const takeAs = (clientId: string) => {
    bench.broker.options.intercept = (packet) => {
      if (packet.cmd === 'connect') {
        packet.clientId = clientId;
      }
      return false;
    };
  };
  const refuseTimes = async (settings: MqttSettings, count: number) => {
    bench.broker.options.connackCode = 3;
    for (let n = 0; n < count; n++) {
      await ask(settings);
    }
    bench.broker.options.connackCode = 0;
  };
  const untilLeft = () => bench.broker.until(({ openConnections }) => openConnections.length === 0);

  for (const protocolVersion of [4, 5] as const) {
    it(`finds none where there is none, and ends the one that it has begun, with MQTT ${protocolVersion}`, async () => {
      const { broker } = bench;
      const settings = settingsOf({ protocolVersion });
      assert.equal(await ask(settings), 'none');
      await untilLeft();
      assert.equal(broker.sessions.size, 0);
      const [first, second, ...others] = connects();
      assert.deepEqual([first?.clean, second?.clean, others], [false, true, []]);
      assert.equal(second?.clientId, first?.clientId);
      assert.ok(first?.clientId?.startsWith(settings.clientId.slice(0, 8)));
      assert.notEqual(first?.clientId, settings.clientId);
    });

    it(`finds one where the broker takes another id, and takes nothing of it, with MQTT ${protocolVersion}`, async () => {
      const { broker } = bench;
      const clientId = await leaveSession(broker, [reportTopic('#')]);
      broker.sessions.get(clientId)?.subscribe(reportTopic('#'), 2);
      for (const qos of [1, 2] as const) {
        broker.publish(reportTopic('heartbeat'), heartbeat(qos), { qos });
      }
      const { length } = broker.received;
      takeAs(clientId);
      assert.equal(await ask(settingsOf({ protocolVersion })), 'kept');
      await untilLeft();
      // Whatever else it sent, some of what waits would be taken.
      const sent = broker.received.slice(length).map(({ packet }) => packet.cmd);
      assert.deepEqual(sent, ['connect']);
      assert.equal(broker.subscriptionsOf(clientId).size, 1);
    });
  }

  it('is asked with another id each time, and nothing is remembered of that', async () => {
    const { broker } = bench;
    const marked: string[] = [];
    broker.options.intercept = (packet) => {
      if (packet.cmd === 'connect') {
        const name = sessionName(broker.url, packet.clientId);
        keptSession(name).filters.add('remembered');
        marked.push(name);
      }
      return false;
    };
    const settings = settingsOf();
    await ask(settings);
    await ask(settings);
    assert.deepEqual([marked.length, new Set(marked).size], [4, 2]);
    assert.deepEqual(
      marked.flatMap((name) => [...keptSession(name).filters]),
      [],
    );
  });

  it('leaves the end of its session to who goes on with the same id, and ends it later where that has failed', async () => {
    const { broker } = bench;
    const settings = settingsOf();
    const askAs = (clientId: string) =>
      askForSession(settings, broker.url, performance.now() + AMPLE_MS, { clientId });
    const ids = () => connects().map(({ clientId }) => clientId);
    assert.equal(await askAs('one'), 'none');
    assert.equal(await askAs('two'), 'none');
    assert.deepEqual(ids(), ['one', 'two'], 'both may be connected now');
    sessionStays(settings, broker.url, 'one');
    assert.equal(await askAs('three'), 'none');
    assert.deepEqual(ids(), ['one', 'two', 'three', 'one']);
  });

  it('is asked of this broker alone, though the service has others', async () => {
    const other = await startScriptedBroker();
    try {
      bench.broker.options.connackCode = 3;
      const found = await ask(settingsOf({ brokers: [other.url, bench.broker.url] }));
      assert.ok(typeof found === 'object');
      assert.deepEqual([bench.broker.connections.length, other.connections.length], [1, 0]);
    } finally {
      await other.stop();
    }
  });

  it('is answered by why there is no connection', async () => {
    bench.broker.options.connackCode = 5;
    const found = await ask(settingsOf());
    assert.ok(typeof found === 'object');
    assert.equal(found.key, 'reason.notAuthorized');
    await untilLeft();
    assert.equal(bench.broker.connections.length, 1);
  });

  it('ends in its time where the broker does not answer', async () => {
    bench.broker.options.withhold = ['connack'];
    const found = await ask(settingsOf(), { ms: 50 });
    assert.ok(typeof found === 'object');
    assert.equal(found.key, 'reason.noAnswer');
    await untilLeft();
  });

  it('does not stay at the signal that ends it', async () => {
    const { signal } = new AbortController();
    assert.equal(await ask(settingsOf(), { signal }), 'none');
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('ends when nobody waits any more, with no other connection', async () => {
    const { broker } = bench;
    broker.options.withhold = ['connack'];
    const waiting = new AbortController();
    const asked = ask(settingsOf(), waiting);
    await broker.until(() => broker.withheld.length === 1);
    waiting.abort();
    assert.ok(typeof (await asked) === 'object');
    await untilLeft();
    assert.ok(typeof (await ask(settingsOf(), waiting)) === 'object');
    assert.equal(broker.connections.length, 1);
  });

  it('ends the sessions that earlier ones may have left without an answer, once there is an answer', async () => {
    const settings = settingsOf();
    await refuseTimes(settings, 2);
    const left = connects().map(({ clientId }) => clientId);
    assert.equal(await ask(settings), 'none');
    const [own, ...ended] = connects().slice(2);
    assert.equal(own?.clean, false);
    assert.deepEqual(
      ended.map(({ clean, clientId }) => [clean, clientId]),
      [...left, own?.clientId].map((clientId) => [true, clientId]),
    );
    assert.equal(await ask(settings), 'none');
    assert.equal(connects().length, 8);
  });

  it('ends nothing after a login that was refused: no session has begun with it', async () => {
    const settings = settingsOf();
    bench.broker.options.connackCode = 5;
    await ask(settings);
    bench.broker.options.connackCode = 0;
    assert.equal(await ask(settings), 'none');
    assert.equal(connects().length, 3);
  });

  it('takes half of the time for it at most', async () => {
    const settings = settingsOf();
    await refuseTimes(settings, 2);
    bench.broker.options.intercept = (packet) => packet.cmd === 'connect' && packet.clean === true;
    const deadline = performance.now() + 2_000;
    assert.equal(await askForSession(settings, bench.broker.url, deadline), 'none');
    assert.ok(performance.now() < deadline - 500);
  });

  it('leaves no session after any number without an answer: of these it ends the last 7', async () => {
    const settings = settingsOf();
    await refuseTimes(settings, 9);
    const left = connects().map(({ clientId }) => clientId);
    assert.equal(await ask(settings), 'none');
    await untilLeft();
    assert.equal(bench.broker.sessions.size, 0);
    assert.deepEqual(
      connects()
        .slice(10, -1)
        .map(({ clientId }) => clientId),
      left.slice(2),
    );
  });

  it('ends none where the broker takes another id: it would end the session of flows', async () => {
    const { broker } = bench;
    const settings = settingsOf();
    await refuseTimes(settings, 2);
    takeAs(await leaveSession(broker, [reportTopic('#')]));
    const { length } = connects();
    assert.equal(await ask(settings), 'kept');
    assert.equal(connects().length, length + 1);
    // Under the ids of before there was nothing then, and nothing is to be ended later.
    broker.options.intercept = () => false;
    assert.equal(await ask(settings), 'none');
    assert.equal(connects().length, length + 3);
  });

  it('tries to end them with the next one where that does not go well', async () => {
    const { broker } = bench;
    const settings = settingsOf();
    broker.options.connackCode = ({ clean }) => (clean ? 3 : 0);
    assert.equal(await ask(settings), 'none');
    assert.equal(broker.sessions.size, 1);
    assert.equal(connects().length, 2);
    assert.equal(await ask(settings), 'none');
    assert.equal(connects().length, 4);
    broker.options.connackCode = 0;
    assert.equal(await ask(settings), 'none');
    await untilLeft();
    assert.equal(broker.sessions.size, 0);
  });
});
