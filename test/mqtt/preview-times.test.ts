// The connection of people who look, by itself: when it is opened, left, refused and tried again.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { PreviewConnection } from '../../src/mqtt/preview-connection.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { mqttSettings } from '../session.ts';
import {
  heartbeat,
  mockTime,
  passRealTime,
  reportTopic,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

const ALL = 'mt/gateway/+/device/+/#';
const EVENTS = 'mt/gateway/+/device/+/event/+';

describe('the connection of people who look', () => {
  const bench = useScriptedBroker();
  let preview: PreviewConnection;
  let told: string[];
  /** Each time that something has changed: whether the filter of all counts as refused. */
  let refusals: boolean[];

  beforeEach(() => {
    mockTime();
    // Two waits follow each other else, of which both have something added at random.
    mock.method(Math, 'random', () => 0);
    [told, refusals] = [[], []];
  });
  afterEach(async () => {
    await preview.close();
    restoreTime();
  });

  function create(changes: Partial<MqttSettings> = {}): void {
    preview = new PreviewConnection(mqttSettings(bench.broker.url, changes), createTopics(''), {
      asks: () => told.push('asks'),
      asked: (isTaken) => told.push(`asked ${isTaken}`),
      message: (topic, payload, retained) => told.push(`${topic} ${payload} ${retained}`),
      changed: () => refusals.push(preview.isRefused(ALL)),
      quota: (max) => told.push(`quota ${max}`),
    });
  }

  /** Also of what only the client knows of. */
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) {
      await turn();
    }
  };
  const openCount = () => bench.broker.openConnections.length;
  const connects = () => bench.broker.packets('connect').length;
  const isOpen = () => until(() => openCount() === 1 && preview.isGranted(ALL));
  const isLeft = () => until(() => openCount() === 0);
  async function pass(ms: number): Promise<void> {
    mock.timers.tick(ms);
    await passRealTime();
  }
  /** Nothing happens just before, and the connection is opened then. */
  async function opensAfter(ms: number): Promise<void> {
    const before = connects();
    await pass(ms - 1);
    assert.equal(connects(), before);
    mock.timers.tick(1);
    await until(() => connects() > before);
  }
  const begin = async (changes: Partial<MqttSettings> = {}) => {
    create(changes);
    preview.setBeside(bench.broker.url);
    preview.apply([ALL]);
    await isOpen();
  };

  it('is opened where somebody looks and flows are connected, at their broker', async () => {
    create({ brokers: ['mqtt://127.0.0.1:1', bench.broker.url] });
    preview.apply([ALL]);
    await passRealTime();
    preview.apply([]);
    preview.setBeside(bench.broker.url);
    await passRealTime();
    assert.deepEqual([connects(), preview.isGranted(ALL), preview.isRefused(ALL)], [0, false, false]);
    preview.apply([ALL]);
    await isOpen();
    assert.deepEqual([preview.isGranted(EVENTS), preview.isRefused(ALL)], [false, false]);
    bench.broker.publish(reportTopic('heartbeat'), heartbeat(1), { retain: false });
    await until(() => told.length > 0);
    assert.deepEqual(told, [`${reportTopic('heartbeat')} ${JSON.stringify(heartbeat(1))} false`]);
    const [{ clean, clientId } = assert.fail()] = bench.broker.packets('connect');
    assert.deepEqual([clean, clientId === mqttSettings('').clientId], [true, false]);
    const subscribed = bench.broker.packets('subscribe').flatMap(({ subscriptions }) => subscriptions);
    assert.deepEqual(
      subscribed.map(({ topic, qos }) => [topic, qos]),
      [[ALL, 0]],
    );
  });

  it('asks for what is new, and gives back what nobody looks through any more', async () => {
    await begin();
    preview.apply([ALL]);
    preview.apply([EVENTS]);
    await until(() => preview.isGranted(EVENTS) && !preview.isGranted(ALL));
    assert.deepEqual(
      bench.broker.packets('unsubscribe').map(({ unsubscriptions }) => unsubscriptions),
      [[ALL]],
    );
    assert.equal(connects(), 1);
  });

  it('is left 20 seconds after the last has looked', async () => {
    await begin();
    preview.apply([]);
    await pass(19_999);
    preview.apply([ALL]);
    await isOpen();
    await pass(20_000);
    assert.deepEqual([openCount(), connects()], [1, 1]);
    preview.apply([]);
    await pass(19_000);
    // The state of the flows' connection changes, not its address.
    preview.setBeside(bench.broker.url);
    await pass(999);
    assert.equal(openCount(), 1);
    mock.timers.tick(1);
    await isLeft();
    assert.equal(preview.isGranted(ALL), false);
    preview.apply([ALL]);
    await isOpen();
  });

  it('is left with that of flows, and opened again at the broker at which that is next', async () => {
    await begin();
    await pass(10_000);
    preview.setBeside(undefined);
    await isLeft();
    assert.equal(preview.isRefused(ALL), false);
    preview.setBeside(bench.broker.url);
    await isOpen();
  });

  it('rests where that of flows ends soon after it was opened: for an hour the second time', async () => {
    await begin();
    await pass(9_999);
    preview.setBeside(undefined);
    await isLeft();
    assert.equal(preview.isRefused(ALL), false);
    preview.setBeside(bench.broker.url);
    await opensAfter(10_000);
    await isOpen();
    preview.setBeside(undefined);
    await isLeft();
    assert.deepEqual([preview.isRefused(ALL), preview.isRefused(EVENTS)], [true, false]);
    preview.setBeside(bench.broker.url);
    await opensAfter(3_600_000);
    await isOpen();
    assert.equal(preview.isRefused(ALL), false);
  });

  it('counts nothing that flows lose while it rests, nor that they are at another broker now', async () => {
    await begin();
    preview.setBeside('mqtt://127.0.0.1:1');
    await passRealTime();
    assert.equal(preview.isGranted(ALL), true);
    preview.setBeside(undefined);
    await isLeft();
    preview.setBeside(bench.broker.url);
    await pass(5_000);
    preview.setBeside(undefined);
    preview.setBeside(bench.broker.url);
    assert.equal(preview.isRefused(ALL), false);
    await opensAfter(5_000);
    await isOpen();
  });

  it('counts as refused no longer than it rests, also where flows have no connection then', async () => {
    await begin();
    preview.setBeside(undefined);
    await isLeft();
    preview.setBeside(bench.broker.url);
    await opensAfter(10_000);
    await isOpen();
    preview.setBeside(undefined);
    await isLeft();
    await pass(3_599_999);
    assert.equal(preview.isRefused(ALL), true);
    await pass(1);
    assert.equal(preview.isRefused(ALL), false);
  });

  it('that has lasted for a minute beside that of flows begins anew to count what that loses', async () => {
    await begin();
    preview.setBeside(undefined);
    await isLeft();
    preview.setBeside(bench.broker.url);
    await opensAfter(10_000);
    await isOpen();
    await pass(60_000);
    preview.setBeside(undefined);
    await isLeft();
    preview.setBeside(bench.broker.url);
    await isOpen();
    preview.setBeside(undefined);
    await isLeft();
    assert.equal(preview.isRefused(ALL), false);
    preview.setBeside(bench.broker.url);
    await opensAfter(10_000);
  });

  it('that has not lasted for a minute goes on counting', async () => {
    await begin();
    preview.setBeside(undefined);
    await isLeft();
    preview.setBeside(bench.broker.url);
    await opensAfter(10_000);
    await isOpen();
    await pass(59_999);
    preview.setBeside(undefined);
    await isLeft();
    preview.setBeside(bench.broker.url);
    await isOpen();
    preview.setBeside(undefined);
    await isLeft();
    assert.equal(preview.isRefused(ALL), true);
  });

  it('is no reason to rest where nobody looks when that of flows ends', async () => {
    await begin();
    preview.apply([]);
    preview.setBeside(undefined);
    await isLeft();
    preview.setBeside(bench.broker.url);
    preview.apply([ALL]);
    await isOpen();
  });

  for (const [code, isRefused, persistent] of [
    [5, true, false],
    [1, true, false],
    [3, false, false],
    [5, true, true],
    [3, false, true],
  ] as const) {
    it(`${isRefused ? 'counts' : 'does not count'} as refused where CONNECT is answered with ${code}, and rests${persistent ? ', also where it asks' : ''}`, async () => {
      create({ persistent });
      bench.broker.options.connackCode = code;
      preview.setBeside(bench.broker.url);
      preview.apply([ALL]);
      await until(() => connects() === 1);
      for (const seconds of [10, 20, 40, 80, 160, 300, 300]) {
        await isLeft();
        await passRealTime();
        assert.deepEqual([preview.isRefused(ALL), preview.isRefused(EVENTS)], [isRefused, false]);
        assert.deepEqual([preview.isGranted(ALL), refusals.at(-1)], [false, isRefused]);
        await opensAfter(seconds * 1_000);
      }
      bench.broker.options.connackCode = 0;
      await isLeft();
      await passRealTime();
      mock.timers.tick(300_000);
      await isOpen();
      assert.equal(preview.isRefused(ALL), false);
    });
  }

  it('that ends after a minute rests for 10 seconds, as after the first time', async () => {
    await begin();
    for (const [lasted, seconds] of [
      [59_999, 10],
      [59_999, 20],
      [60_000, 10],
    ] as const) {
      await pass(lasted);
      bench.broker.drop();
      await isLeft();
      await passRealTime();
      assert.equal(preview.isRefused(ALL), true);
      await opensAfter(seconds * 1_000);
      await isOpen();
    }
  });

  it('is told how many filters the broker takes', async () => {
    create();
    bench.broker.options.maxSubscriptions = 8;
    preview.setBeside(bench.broker.url);
    const filters = Array.from({ length: 9 }, (_, n) => `mt/gateway/c0141f68fc0${n}/device/+/#`);
    preview.apply(filters);
    await until(() => filters.some((filter) => preview.isRefused(filter)));
    assert.equal(filters.filter((filter) => preview.isGranted(filter)).length, 8);
  });

  it('asks first whose session it gets, where that of flows has one', async () => {
    await begin({ persistent: true });
    assert.deepEqual(told, ['asks', 'asked false']);
    assert.ok(connects() > 1);
    preview.apply([]);
    mock.timers.tick(20_000);
    await isLeft();
    assert.equal(bench.broker.sessions.size, 0);
  });

  it('is none where nobody looks any more when it is known whose session it would get', async () => {
    create({ persistent: true });
    bench.broker.options.withhold = ['connack'];
    preview.setBeside(bench.broker.url);
    preview.apply([ALL]);
    await until(() => bench.broker.withheld.length > 0);
    preview.apply([]);
    bench.broker.options.withhold = [];
    bench.broker.release();
    await until(() => told.length === 2);
    await isLeft();
    const before = connects();
    await passRealTime();
    assert.deepEqual([told, connects()], [['asks', 'asked false'], before]);
    preview.apply([ALL]);
    await isOpen();
  });

  it('asks once, whatever is looked at meanwhile, and again where flows are at another broker by then', async () => {
    create({ persistent: true });
    bench.broker.options.withhold = ['connack'];
    preview.setBeside(bench.broker.url);
    preview.apply([ALL]);
    await until(() => bench.broker.withheld.length > 0);
    preview.apply([ALL, EVENTS]);
    assert.deepEqual(told, ['asks']);
    preview.setBeside('mqtt://127.0.0.1:1');
    bench.broker.options.withhold = [];
    bench.broker.release();
    await until(() => told.length === 3);
    assert.deepEqual(told, ['asks', 'asked false', 'asks']);
    await isLeft();
    const before = connects();
    await passRealTime();
    assert.equal(connects(), before);
  });

  it('rests where that of flows ends while it asks whose session it gets', async () => {
    create({ persistent: true });
    bench.broker.options.withhold = ['connack'];
    preview.setBeside(bench.broker.url);
    preview.apply([ALL]);
    await until(() => bench.broker.withheld.length > 0);
    preview.setBeside(undefined);
    preview.setBeside(bench.broker.url);
    bench.broker.options.withhold = [];
    bench.broker.release();
    await until(() => told.length === 2);
    await isLeft();
    assert.equal(preview.isRefused(ALL), false);
    await opensAfter(10_000);
    await isOpen();
  });

  it('rests where the broker does not say whose session it gives', async () => {
    create({ persistent: true });
    bench.broker.options.withhold = ['connack'];
    preview.setBeside(bench.broker.url);
    preview.apply([ALL]);
    await until(() => bench.broker.withheld.length > 0);
    bench.broker.options.withhold = [];
    let seconds = 0;
    for (; told.length < 2; seconds++) {
      await pass(1_000);
    }
    assert.ok(seconds <= 15, `${seconds} s`);
    assert.deepEqual([told, preview.isGranted(ALL)], [['asks', 'asked false'], false]);
    assert.deepEqual([preview.isRefused(ALL), refusals.at(-1)], [false, false]);
    await isLeft();
    await opensAfter(10_000);
    await isOpen();
  });

  it('is not opened once it is closed, also not by what comes of the question before', async () => {
    create({ persistent: true });
    bench.broker.options.withhold = ['connack'];
    preview.setBeside(bench.broker.url);
    preview.apply([ALL]);
    await until(() => bench.broker.withheld.length > 0);
    await preview.close();
    bench.broker.options.withhold = [];
    const before = connects();
    preview.apply([EVENTS]);
    preview.setBeside(undefined);
    preview.setBeside(bench.broker.url);
    await pass(3_600_000);
    assert.deepEqual([connects(), told, preview.isGranted(ALL)], [before, ['asks', 'asked false'], false]);
  });

  it('brings nothing any more once it is closed, of what has come before either', async () => {
    await begin();
    for (let n = 0; n < 2_000; n++) {
      bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    await until(() => told.length > 0);
    const closed = preview.close();
    const { length } = told;
    await closed;
    await passRealTime();
    assert.ok(length < 2_000);
    assert.equal(told.length, length);
  });
});
