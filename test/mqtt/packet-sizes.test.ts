// How many filters go into one packet: brokers that take fewer than before, and such that do not answer some.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ScriptedBroker } from '../scripted-broker/broker.ts';
import { ALL, Collector, reached } from '../session.ts';
import { mockTime, restoreTime, useScriptedBroker } from './scripted.ts';

const TICK_MS = 500;
/** Turns of the event loop in which what was sent within this process arrives. */
const TURNS = 50;
const gateway = (n: number) => `c${n.toString(16).padStart(11, '0')}`;
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);
const of = (...numbers: number[]) => ({ ...ALL, gateways: numbers.map(gateway) });

const filtersOf = (broker: ScriptedBroker) =>
  [...broker.sessions.values()].flatMap((session) => [...session.subscriptions.keys()]);

/** Moves the timers until this holds. */
async function passUntil(isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    mock.timers.tick(TICK_MS);
    for (const _ of upTo(TURNS)) {
      await turn();
    }
  }
}

describe('topic filters', () => {
  const bench = useScriptedBroker();

  beforeEach(() => mockTime());
  afterEach(restoreTime);

  it('go out fewer at a time when the broker takes fewer than it did before', async () => {
    const { broker } = bench;
    const session = bench.open({ keepalive: 0, persistent: true, clientId: `mt-sizes-${process.pid}` });
    const leave = session.subscribe(of(...upTo(40)), new Collector());
    await reached(session, 'connected');
    broker.options.intercept = (packet) => {
      const isTooLarge = packet.cmd === 'unsubscribe' && packet.unsubscriptions.length > 9;
      if (isTooLarge) {
        broker.drop();
      }
      return isTooLarge;
    };
    session.subscribe(of(50), new Collector());
    leave();
    await passUntil(() => filtersOf(broker).length === 1);
  });

  it('of which one is not answered are asked for one by one: the others bring their reports', async () => {
    const { broker } = bench;
    broker.options.intercept = (packet) =>
      packet.cmd === 'subscribe' && packet.subscriptions.some(({ topic }) => topic.includes(gateway(1)));
    const session = bench.open({ keepalive: 0 });
    session.subscribe(of(...upTo(5)), new Collector());
    await passUntil(() => filtersOf(broker).length === 4);
    await passUntil(() => session.state.mqtt.name === 'limited');
    assert.deepEqual(
      upTo(5).filter((n) => session.refusalOf(of(n))),
      [1],
    );
    assert.equal(broker.connections.length, 1);
  });
});
