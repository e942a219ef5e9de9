// The connection of people who look, by itself: when it is opened, left, refused and tried again.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { PreviewConnection } from '../../src/mqtt/preview-connection.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { heldOf } from '../memory.ts';
import { mqttSettings } from '../session.ts';
import { ALL, EVENTS, until, usePreview } from './one-preview.ts';
import { heartbeat, passRealTime, reportTopic, useScriptedBroker } from './scripted.ts';

describe('the connection of people who look', () => {
  const bench = useScriptedBroker();
  const { preview, told, refusals, create, look, begin, openCount, connects, ...other } = usePreview(bench);
  const { isOpen, isLeft, pass, opensAfter } = other;

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

  it('tells no change where nobody looks any more before it was opened', async () => {
    create();
    preview.apply([ALL]);
    preview.apply([]);
    await pass(20_000);
    assert.deepEqual(refusals, []);
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

  it('is there again where the process was busy for as long as it rests', async () => {
    await begin();
    preview.setBeside(undefined);
    preview.setBeside(bench.broker.url);
    mock.timers.tick(10_000);
    await passRealTime();
    assert.deepEqual([openCount(), preview.isGranted(ALL)], [1, true]);
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
      bench.broker.options.connackCode = code;
      look({ persistent });
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

  it('tells no change any more once it is closed', async () => {
    await begin();
    preview.apply([]);
    await preview.close();
    const { length } = refusals;
    await pass(20_000);
    preview.setBeside(undefined);
    await passRealTime();
    assert.equal(refusals.length, length);
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

describe('the connection of people who look, in real time,', () => {
  const bench = useScriptedBroker();

  // Mocked time holds what has been asked of it.
  it('is held by nobody any more once it is closed, also while it rests', async () => {
    const closeResting = async () => {
      const events = { asks() {}, asked() {}, message() {}, changed() {}, quota() {} };
      const preview = new PreviewConnection(mqttSettings(bench.broker.url), createTopics(''), events);
      preview.setBeside(bench.broker.url);
      preview.apply([ALL]);
      await until(() => preview.isGranted(ALL));
      preview.setBeside(undefined);
      await bench.broker.until(({ openConnections }) => openConnections.length === 0);
      await preview.close();
      return new WeakRef(preview);
    };
    const closed = await closeResting();
    await passRealTime();
    assert.deepEqual(heldOf([closed]), []);
  });
});
