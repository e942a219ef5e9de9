// Requests of QoS 2 whose exchange with the broker the end of a connection interrupts.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Session } from '../../src/session.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { ALL, Collector, reached } from '../session.ts';
import { G, G2, useScriptedBroker } from './scripted.ts';

const { signal } = new AbortController();

describe('an exchange of QoS 2 that a request has begun', () => {
  const bench = useScriptedBroker();
  let count = 0;
  let clientId: string;

  beforeEach(() => {
    clientId = `mt-exchanges-${process.pid}-${count++}`;
  });
  afterEach(() => mock.restoreAll());

  async function connect(changes: Partial<MqttSettings> = {}): Promise<Session> {
    const session = bench.open({ persistent: true, requestQos: 2, clientId, ...changes });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    return session;
  }

  /** Each is published; nobody answers. */
  async function ask(session: Session, gateways: string[] = [G, G2]): Promise<number[]> {
    const { broker } = bench;
    const before = broker.packets('publish').length;
    for (const gateway of gateways) {
      session.request('apiversion', { gateway }, { signal }).catch(() => {});
    }
    await broker.until(() => broker.packets('publish').length === before + gateways.length);
    return broker
      .packets('publish')
      .slice(before)
      .map(({ messageId }) => messageId as number);
  }

  const begun = () => bench.broker.sessions.get(clientId)?.begun.size;

  for (const protocolVersion of [4, 5] as const) {
    for (const [what, withhold] of [
      ['the reply to it', ['pubrec']],
      ['its completion', ['pubcomp']],
    ] as const) {
      it(`is completed when ${what} is lost with the connection, and no request is sent again (MQTT ${protocolVersion})`, async () => {
        const { broker } = bench;
        const session = await connect({ protocolVersion });
        broker.options.withhold = withhold;
        await ask(session);
        await broker.until(({ withheld }) => withheld.length === 2);
        broker.options.withhold = [];
        broker.drop();
        await broker.until(() => broker.packets('pubrel', clientId).length >= 2 && begun() === 0);
        await reached(session, 'connected');
        assert.equal(broker.packets('publish').length, 2);
      });
    }
  }

  it('is completed after a deploy', async () => {
    const { broker } = bench;
    const session = await connect();
    broker.options.withhold = ['pubrec'];
    await ask(session);
    await session.close();
    assert.equal(begun(), 2);
    await connect();
    await broker.until(() => begun() === 0);
    assert.equal(broker.packets('publish').length, 2);
  });

  it('lends its packet id to nothing else until then', async () => {
    const { broker } = bench;
    // Each connection would begin with the same packet id.
    mock.method(Math, 'random', () => 0.5);
    const session = await connect();
    broker.options.withhold = ['pubrec', 'pubcomp'];
    const old = await ask(session);
    await session.close();
    const ids = await ask(await connect());
    assert.deepEqual(
      ids.filter((id) => old.includes(id)),
      [],
    );
    const { messageId } = broker.packets('subscribe').at(-1) as { messageId: number };
    assert.ok(!old.includes(messageId));
  });

  it('is forgotten where the broker has kept no session', async () => {
    const { broker } = bench;
    const session = await connect();
    broker.options.withhold = ['pubrec'];
    await ask(session);
    await session.close();
    broker.options.keepsSessions = false;
    await (await connect()).close();
    broker.options.keepsSessions = true;
    await (await connect()).close();
    await connect();
    assert.equal(broker.packets('pubrel').length, 0);
  });

  it('is given up when the third connection ends that would complete it', async () => {
    const { broker } = bench;
    const session = await connect();
    broker.options.withhold = ['pubrec'];
    await ask(session, [G]);
    await session.close();
    broker.options.intercept = ({ cmd }, id) => {
      if (cmd === 'pubrel') {
        broker.drop(id);
      }
      return cmd === 'pubrel';
    };
    for (let round = 1; round <= 3; round++) {
      const next = bench.open({ persistent: true, requestQos: 2, clientId });
      next.subscribe(ALL, new Collector());
      await broker.until(() => broker.packets('pubrel').length === round);
      await next.close();
    }
    await connect();
    assert.equal(broker.packets('pubrel').length, 3);
  });
});
