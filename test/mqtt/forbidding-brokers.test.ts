// Brokers that end the connection where they forbid a topic filter: the others work on, whatever it takes to find it.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { connectAsync } from 'mqtt';
import type { Session } from '../../src/session.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { ALL, Collector, reached } from '../session.ts';
import {
  heartbeat,
  mockTime,
  passRealTime,
  reportTopic,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

const LONG_MS = 60_000;
const TICK_MS = 50;
/** Turns of the event loop in which what was sent within this process arrives. */
const TURNS = 10;
const gateway = (n: number) => `c${n.toString(16).padStart(11, '0')}`;
const reportFilter = (n: number) => `mt/gateway/${gateway(n)}/device/+/#`;
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);
const of = (n: number) => ({ ...ALL, gateways: [gateway(n)] });

/** The broker ends the connection when it is asked for one of these gateways, or for all. */
function forbid(broker: ScriptedBroker, numbers: readonly number[], forbidsAll = false): void {
  broker.options.refuses = (filter) =>
    numbers.some((n) => filter.includes(gateway(n))) || (forbidsAll && filter.includes('gateway/+'));
  broker.options.refusesBy = 'close';
}

const filtersOf = (broker: ScriptedBroker) =>
  [...broker.sessions.values()].flatMap((session) => [...session.subscriptions.keys()]);

/** Every good one is subscribed, and the others are told as refused. */
function isFound(broker: ScriptedBroker, session: Session, all: number, bad: readonly number[]): boolean {
  return filtersOf(broker).length === all - bad.length && bad.every((n) => session.refusalOf(of(n)));
}

describe('a broker that ends the connection for some of 30 filters', function () {
  this.timeout(LONG_MS);
  const bench = useScriptedBroker();

  for (const [count, forbidsAll, persistent] of [
    [1, false, false],
    [3, false, false],
    [5, false, false],
    [5, true, false],
    [16, false, false],
    [1, false, true],
    [5, true, true],
    [12, false, true],
  ] as const) {
    const and = `${forbidsAll ? ', and for wide ones' : ''}${persistent ? ', and keeps the session' : ''}`;
    it(`brings the reports of all others within seconds, where it forbids ${count}${and}`, async () => {
      const { broker } = bench;
      const bad = upTo(count).map((n) => 2 + n * Math.floor(28 / count));
      forbid(broker, bad, forbidsAll);
      const collector = new Collector();
      const session = bench.open({ persistent });
      session.onState(() => broker.notify());
      const start = performance.now();
      session.subscribe({ ...ALL, gateways: upTo(30).map(gateway) }, collector);
      await broker.until(() => isFound(broker, session, 30, bad));
      for (const n of upTo(30)) {
        broker.publish(reportTopic('heartbeat', gateway(n)), heartbeat(n));
      }
      await collector.until(({ reports }) => reports.length === 30 - count);
      const seconds = (performance.now() - start) / 1_000;
      const { length } = broker.connections;
      assert.ok(
        length <= (persistent ? 3 : 2) * count + 5 && seconds < 30,
        `${length} connections in ${seconds} s`,
      );
      assert.equal(session.state.mqtt.name, 'limited');
      const wide = broker
        .packets('subscribe')
        .filter(({ subscriptions }) => subscriptions.some(({ topic }) => topic.includes('gateway/+')));
      assert.deepEqual(wide, []);
    });
  }
});

describe('a broker that keeps the session, and ends the connection for some filters', () => {
  const bench = useScriptedBroker();

  it('goes on collecting for all others while these are found, but for one at a time', async () => {
    const { broker } = bench;
    const bad = [3, 7, 11];
    const good = upTo(12).filter((n) => !bad.includes(n));
    const clientId = `mt-collecting-${process.pid}`;
    const earlier = await connectAsync(broker.url, { clientId, clean: false });
    for (const n of good) {
      await earlier.subscribeAsync(reportFilter(n), { qos: 1 });
    }
    await earlier.endAsync();
    forbid(broker, bad);
    let fewest = good.length;
    const session = bench.open({ persistent: true, clientId });
    session.onState(() => broker.notify());
    session.subscribe({ ...ALL, gateways: upTo(12).map(gateway) }, new Collector());
    await broker.until(() => {
      fewest = Math.min(fewest, filtersOf(broker).length);
      return isFound(broker, session, 12, bad);
    });
    assert.equal(fewest, good.length - 1);
    const given = broker.packets('unsubscribe').map(({ unsubscriptions }) => unsubscriptions.length);
    assert.deepEqual(given, [1, 1, 1]);
  });
});

describe('a filter for which the broker ends the connection', function () {
  this.timeout(LONG_MS);
  const bench = useScriptedBroker();

  beforeEach(() => mockTime());
  afterEach(restoreTime);

  async function pass(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += TICK_MS) {
      mock.timers.tick(TICK_MS);
      // A connection is made in real time, which the moved one must not leave behind.
      if (!bench.broker.connections.at(-1)?.isOpen) {
        await passRealTime();
        continue;
      }
      for (let turns = 0; turns < TURNS; turns++) {
        await turn();
      }
    }
  }

  /** Moves the timers until this holds. @returns the milliseconds */
  async function passUntil(isDone: () => boolean): Promise<number> {
    let passed = 0;
    while (!isDone()) {
      await pass(TICK_MS);
      passed += TICK_MS;
    }
    return passed;
  }

  it('is tried again alone, after the others and at the cost of one connection, until it is allowed', async () => {
    const { broker } = bench;
    const bad = [1, 3];
    forbid(broker, bad);
    const session = bench.open({ keepalive: 0 });
    session.subscribe({ ...ALL, gateways: upTo(5).map(gateway) }, new Collector());
    await passUntil(() => isFound(broker, session, 5, bad));
    for (const wait of [9_000, 18_000]) {
      const { length } = broker.connections;
      const passed = await passUntil(() => broker.connections.length > length);
      await passUntil(() => isFound(broker, session, 5, bad));
      assert.ok(passed > wait, `after ${passed} ms`);
      assert.equal(broker.connections.length, length + 1);
    }
    forbid(broker, []);
    const { length } = broker.connections;
    await passUntil(() => filtersOf(broker).length === 5 && session.state.mqtt.name === 'connected');
    assert.equal(broker.connections.length, length);
  });

  it('is tried again though another one is now refused in the usual way', async () => {
    const { broker } = bench;
    const bad = [1, 3];
    forbid(broker, bad);
    const session = bench.open({ keepalive: 0 });
    session.subscribe({ ...ALL, gateways: upTo(5).map(gateway) }, new Collector());
    await passUntil(() => isFound(broker, session, 5, bad));
    const { length } = broker.connections;
    broker.options.refuses = (filter) => filter.includes(gateway(1));
    broker.options.refusesBy = 'code';
    await passUntil(() => filtersOf(broker).length === 4);
    assert.ok(session.refusalOf(of(1)));
    broker.options.refuses = () => false;
    await passUntil(() => session.state.mqtt.name === 'connected');
    assert.equal(broker.connections.length, length);
  });

  it('is one of many: they are not all looked for in a row, and yet all are found', async () => {
    const { broker } = bench;
    const bad = upTo(50).map((n) => 10 + n);
    forbid(broker, bad);
    const session = bench.open({ keepalive: 0 });
    session.subscribe({ ...ALL, gateways: upTo(70).map(gateway) }, new Collector());
    await passUntil(() => session.state.mqtt.name === 'limited' && filtersOf(broker).length >= 10);
    await pass(30_000);
    assert.ok(broker.connections.length < 50, `${broker.connections.length} connections`);
    await passUntil(() => isFound(broker, session, 70, bad));
    assert.ok(broker.connections.length < 80, `${broker.connections.length} connections`);
  });

  it('is one of very many: what the search has left is tried in rounds, with longer and longer pauses', async () => {
    const { broker } = bench;
    const bad = upTo(100).map((n) => 10 + n);
    forbid(broker, bad);
    const session = bench.open({ keepalive: 0 });
    session.subscribe({ ...ALL, gateways: upTo(120).map(gateway) }, new Collector());
    await passUntil(() => session.state.mqtt.name === 'limited' && filtersOf(broker).length >= 10);
    let rounds = 0;
    let isRound = false;
    for (let seconds = 0; seconds < 600; seconds += 2) {
      const { length } = broker.connections;
      await pass(2_000);
      const hasEnded = broker.connections.length > length;
      rounds += hasEnded && !isRound ? 1 : 0;
      isRound = hasEnded;
    }
    assert.ok(rounds <= 6, `${rounds} rounds`);
    await passUntil(() => isFound(broker, session, 120, bad));
    assert.ok(broker.connections.length < 130, `${broker.connections.length} connections`);
  });

  it('is told as refused, and the status is not "connected" meanwhile', async () => {
    const { broker } = bench;
    forbid(broker, [1]);
    const session = bench.open({ keepalive: 0 });
    const names: string[] = [];
    session.onState(({ mqtt }) => names.push(mqtt.name));
    session.subscribe(of(1), new Collector());
    await passUntil(() => session.state.mqtt.name === 'limited');
    const { length } = broker.connections;
    await passUntil(() => broker.connections.length === length + 1);
    await passUntil(() => session.state.mqtt.name === 'limited');
    assert.ok(!names.includes('connected'), names.join(' '));
  });

  it('is not asked for while others are, though the broker allows few and the wide ones are forbidden', async () => {
    const { broker } = bench;
    broker.options.maxSubscriptions = 10;
    broker.options.intercept = (packet) => {
      const isForbidden =
        packet.cmd === 'subscribe' && packet.subscriptions.some(({ topic }) => topic.includes('gateway/+'));
      if (isForbidden) {
        broker.drop();
      }
      return isForbidden;
    };
    const session = bench.open({ keepalive: 0, protocolVersion: 5 });
    const collector = new Collector();
    session.subscribe({ ...ALL, gateways: upTo(12).map(gateway) }, collector);
    const { signal } = new AbortController();
    session.request('read', { gateway: gateway(1), identifier: '8001' }, { signal }).catch(() => {});
    await passUntil(() => session.state.mqtt.name === 'limited' && filtersOf(broker).length === 10);
    await pass(5_000);
    const { length } = broker.connections;
    assert.ok(length < 12, `${length} connections`);
    await pass(120_000);
    // After 10, 30 and 70 seconds one is tried.
    const tries = broker.connections.length - length;
    assert.ok(tries <= 3, `${tries} tries`);
    broker.publish(reportTopic('heartbeat', gateway(1)), heartbeat(1));
    await collector.until(({ reports }) => reports.length === 1);
  });

  it('is tried less and less often, also when others that were set aside are not wanted any more', async () => {
    const { broker } = bench;
    forbid(broker, upTo(60));
    const session = bench.open({ keepalive: 0 });
    const leave = session.subscribe({ ...ALL, gateways: upTo(60).map(gateway) }, new Collector());
    // The search was given up.
    await passUntil(() => broker.connections.length > 40 && session.state.mqtt.name === 'limited');
    session.subscribe(of(0), new Collector());
    session.subscribe(of(70), new Collector());
    leave();
    await passUntil(() => isFound(broker, session, 2, [0]));
    const { length } = broker.connections;
    await pass(600_000);
    const more = broker.connections.length - length;
    assert.ok(more <= 7, `${more} connections`);
  });

  it('does not keep others from being tried when nobody wants it any more', async () => {
    const { broker } = bench;
    const bad = [1, 3];
    forbid(broker, bad);
    const session = bench.open({ keepalive: 0 });
    const leaves = upTo(5).map((n) => session.subscribe(of(n), new Collector()));
    await passUntil(() => isFound(broker, session, 5, bad));
    broker.options.withhold = ['suback'];
    session.subscribe(of(9), new Collector());
    await broker.until(() => broker.withheld.length > 0);
    await pass(15_000);
    const isTried = (n: number) => !session.refusalOf(of(n));
    const tried = bad.find(isTried);
    assert.ok(tried !== undefined);
    leaves[tried]?.();
    await pass(TICK_MS);
    forbid(broker, []);
    broker.options.withhold = [];
    broker.release();
    await passUntil(() => filtersOf(broker).length === 5 && session.state.mqtt.name === 'connected');
  });

  it('is told as refused at once when it is wanted again, and costs no connection', async () => {
    const { broker } = bench;
    forbid(broker, [1]);
    const session = bench.open({ keepalive: 0 });
    session.subscribe(of(0), new Collector());
    const leave = session.subscribe(of(1), new Collector());
    await passUntil(() => isFound(broker, session, 2, [1]));
    const { length } = broker.connections;
    leave();
    await passUntil(() => session.state.mqtt.name === 'connected');
    session.subscribe(of(1), new Collector());
    await passUntil(() => session.state.mqtt.name === 'limited');
    assert.equal(broker.connections.length, length);
  });
});

describe('connections that are lost by chance while filters wait for their response', () => {
  const bench = useScriptedBroker();

  /** Cuts the connection at these SUBSCRIBE packets. */
  function cutAt(broker: ScriptedBroker, numbers: readonly number[]): void {
    let count = 0;
    broker.options.intercept = ({ cmd }) => {
      if (cmd !== 'subscribe' || !numbers.includes(++count)) {
        return false;
      }
      broker.drop();
      return true;
    };
  }

  it('delay the only filter by no more than a moment', async () => {
    const { broker } = bench;
    cutAt(broker, [1, 2]);
    const session = bench.open();
    const start = performance.now();
    session.subscribe(ALL, new Collector());
    await broker.until(() => filtersOf(broker).length === 1);
    assert.ok(performance.now() - start < 5_000);
    assert.equal(broker.connections.length, 3);
  });

  it('are not taken for a limit: all filters stay as they are', async () => {
    const { broker } = bench;
    cutAt(broker, [3, 6]);
    const session = bench.open();
    session.subscribe({ ...ALL, gateways: upTo(150).map(gateway) }, new Collector());
    await reached(session, 'connected');
    assert.equal(filtersOf(broker).length, 150);
  });
});

describe('what one broker of a list forbids', () => {
  const bench = useScriptedBroker();
  let other: ScriptedBroker;

  beforeEach(async () => {
    other = await startScriptedBroker();
  });
  afterEach(() => other.stop());

  it('is asked of the next one', async () => {
    const { broker } = bench;
    forbid(broker, [1]);
    other.options.connackCode = 3;
    const session = bench.open({ brokers: [broker.url, other.url] });
    session.subscribe(of(1), new Collector());
    await reached(session, 'limited');
    other.options.connackCode = 0;
    broker.options.connackCode = 3;
    broker.drop();
    await reached(session, 'connected');
    assert.equal(filtersOf(other).length, 1);
  });

  it('is looked for at once, though another one refuses the login', async () => {
    const { broker } = bench;
    broker.options.connackCode = 5;
    forbid(other, [1, 3]);
    const session = bench.open({ brokers: [broker.url, other.url] });
    session.onState(() => other.notify());
    const start = performance.now();
    session.subscribe({ ...ALL, gateways: upTo(5).map(gateway) }, new Collector());
    await other.until(() => isFound(other, session, 5, [1, 3]));
    assert.ok(performance.now() - start < 8_000);
    assert.equal(broker.connections.length, 1);
  });
});
