// Filters that overlap: each node gets each report once, however the broker sees it, and no more than is wanted comes.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Report } from '../../src/protocol/reports/index.ts';
import { Copies } from '../../src/reports/copies.ts';
import {
  G,
  G2,
  heartbeat,
  mockTime,
  passRealTime,
  reportTopic,
  restoreTime,
  useScriptedBroker,
} from '../mqtt/scripted.ts';
import { ALL, Collector, reached } from '../session.ts';

const numbersOf = (collector: Collector) => collector.reports.map(({ n }) => n);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

describe('a node for one kind and a node for one gateway', () => {
  const bench = useScriptedBroker();

  for (const delivery of ['once', 'per-subscription'] as const) {
    it(`get each report once from a broker that delivers ${delivery}, and nothing else is subscribed`, async () => {
      const { broker } = bench;
      broker.options.delivery = delivery;
      const session = bench.open();
      const [kind, gateway] = [new Collector(), new Collector()];
      session.subscribe({ ...ALL, kinds: ['heartbeat'] }, kind);
      session.subscribe({ ...ALL, gateways: [G] }, gateway);
      await reached(session, 'connected');
      for (let n = 0; n < 20; n++) {
        broker.publish(reportTopic('heartbeat'), heartbeat(n));
        assert.equal(broker.publish(reportTopic('rssi', G2), { time: '', parent: G2, rssi: -50 }), 0);
      }
      broker.publish(reportTopic('heartbeat', G2), heartbeat(20));
      await kind.until(({ reports }) => reports.length > 20);
      assert.deepEqual(numbersOf(kind), upTo(21));
      assert.deepEqual(numbersOf(gateway), upTo(20));
    });
  }

  it('get a retained report once, although it comes for each subscription', async () => {
    const { broker } = bench;
    broker.publish(reportTopic('heartbeat'), heartbeat(1), { retain: true });
    broker.publish(reportTopic('dfu'), { time: '', parent: G, rssi: -50 }, { retain: true });
    const session = bench.open();
    const [kind, gateway] = [new Collector(), new Collector()];
    session.subscribe({ ...ALL, kinds: ['heartbeat'] }, kind);
    session.subscribe({ ...ALL, gateways: [G] }, gateway);
    await reached(session, 'connected');
    broker.publish(reportTopic('heartbeat'), heartbeat(2));
    await gateway.until(({ reports }) => reports.at(-1)?.n === 2);
    assert.deepEqual(
      kind.reports.map(({ n, retained }) => [n, retained]),
      [
        [1, true],
        [2, undefined],
      ],
    );
    assert.equal(gateway.reports.length, 3);
  });

  it('ask for the whole network in a shared group, where every other way would double reports', async () => {
    const { broker } = bench;
    const clientId = `mt-copies-${process.pid}`;
    const session = bench.open({ sharedGroup: 'group', clientId });
    session.subscribe({ ...ALL, kinds: ['heartbeat'] }, new Collector());
    session.subscribe({ ...ALL, gateways: [G] }, new Collector());
    await reached(session, 'connected');
    assert.deepEqual([...broker.subscriptionsOf(clientId).keys()], ['$share/group/mt/gateway/+/device/+/#']);
  });
});

describe('filters that change while reports come', () => {
  const bench = useScriptedBroker();

  it('give a report that came for the filters before once, and those after them once', async () => {
    const { broker } = bench;
    broker.options.delivery = 'per-subscription';
    const session = bench.open();
    const [kind, gateway] = [new Collector(), new Collector()];
    session.subscribe({ ...ALL, gateways: [G] }, gateway);
    let leave = session.subscribe({ ...ALL, kinds: ['rssi'] }, kind);
    await reached(session, 'connected');
    let sent = 0;
    const publish = () => broker.publish(reportTopic('heartbeat'), heartbeat(sent++));
    for (const kinds of [['heartbeat'], ['rssi'], ['heartbeat']]) {
      session.pauseReports();
      leave();
      publish();
      leave = session.subscribe({ ...ALL, kinds }, kind);
      session.resumeReports();
      await gateway.until(({ reports }) => reports.at(-1)?.n === sent - 1);
      for (let n = 1; n < 10; n++) {
        publish();
      }
      await gateway.until(({ reports }) => reports.at(-1)?.n === sent - 1);
    }
    publish();
    await gateway.until(({ reports }) => reports.at(-1)?.n === sent - 1);
    assert.deepEqual(numbersOf(gateway), upTo(sent));
  });
});

describe('reports that wait at the broker until others are confirmed', () => {
  const bench = useScriptedBroker();

  it('come once, although a subscription that had matched them has ended meanwhile', async () => {
    const { broker } = bench;
    Object.assign(broker.options, { delivery: 'per-subscription', maxInFlight: 20 });
    const session = bench.open({ persistent: true });
    const [open, numbers]: [string[], unknown[]] = [[], []];
    const confirm = { timeoutMs: 300_000, maxAttempts: 20, count() {} };
    const storing = {
      report(report: Report) {
        numbers.push(report.n);
        open.push(report.delivery as string);
        broker.notify();
      },
      error() {},
      confirm,
    };
    session.subscribe({ ...ALL, gateways: [G] }, storing, 'storing');
    const leave = session.subscribe({ ...ALL, kinds: ['heartbeat'] }, new Collector(), 'other');
    await reached(session, 'connected');
    for (let n = 0; n < 100; n++) {
      broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    await broker.until(() => open.length === 10);
    session.pauseReports();
    leave(false);
    session.resumeReports();
    await broker.next('unsubscribe');
    while (open.length > 0) {
      session.confirm(open.shift() as string);
      await broker.until(() => open.length > 0 || numbers.length >= 100);
    }
    // All copies of what was published before this one have come when it comes.
    broker.publish(reportTopic('heartbeat'), heartbeat(100));
    await broker.until(() => numbers.includes(100));
    assert.deepEqual(numbers, upTo(101));
  });
});

describe('the same report, 10 seconds later', () => {
  const bench = useScriptedBroker();
  afterEach(restoreTime);

  const publish = (n: number) => bench.broker.publish(reportTopic('heartbeat'), heartbeat(n));

  /** Two nodes that cross, whose time passes by `mock.timers.tick`. @param report called of one of them */
  async function listen(report: (report: Report) => void, options: object = {}) {
    Object.assign(bench.broker.options, options);
    mockTime(1_000_000);
    const session = bench.open({ persistent: true, keepalive: 0 });
    const confirm = { timeoutMs: 3_600_000, maxAttempts: 20, count() {} };
    const numbers: unknown[] = [];
    const subscriber = {
      report(one: Report) {
        numbers.push(one.n);
        report(one);
        bench.broker.notify();
      },
      error() {},
    };
    const isConfirming = 'confirms' in options;
    session.subscribe({ ...ALL, gateways: [G] }, isConfirming ? { ...subscriber, confirm } : subscriber, 'a');
    session.subscribe({ ...ALL, kinds: ['heartbeat'] }, new Collector(), 'b');
    await reached(session, 'connected');
    await passRealTime();
    return { session, numbers };
  }

  it('is what the sender repeats, at a broker that sends once and has not shown it yet', async () => {
    const { numbers } = await listen(() => {});
    for (let n = 0; n < 20; n++) {
      publish(1);
      await bench.broker.until(() => numbers.length === n + 1);
      mock.timers.tick(10_000);
    }
    assert.equal(numbers.length, 20);
  });

  it('is a copy where a deploy has held it meanwhile', async () => {
    let pause = (): void => {};
    const { session, numbers } = await listen(() => pause(), {
      delivery: 'per-subscription',
      maxInFlight: 1,
    });
    pause = () => session.pauseReports();
    publish(1);
    await bench.broker.until(() => numbers.length === 1);
    await passRealTime();
    mock.timers.tick(15_000);
    pause = () => {};
    session.resumeReports();
    publish(2);
    await bench.broker.until(() => numbers.includes(2));
    assert.deepEqual(numbers, [1, 2]);
  });

  it('is a copy where the broker has held it until the flow had confirmed the first', async () => {
    let last: Report | undefined;
    const keep = (report: Report) => {
      last = report;
    };
    const { session, numbers } = await listen(keep, {
      delivery: 'per-subscription',
      maxInFlight: 1,
      confirms: true,
    });
    publish(1);
    await bench.broker.until(() => numbers.length === 1);
    mock.timers.tick(300_000);
    session.confirm(String(last?.delivery));
    publish(2);
    await bench.broker.until(() => numbers.includes(2));
    assert.deepEqual(numbers, [1, 2]);
  });

  it('is a copy where the connection was lost meanwhile', async () => {
    const { broker } = bench;
    const { session, numbers } = await listen(() => {}, { delivery: 'per-subscription', maxInFlight: 1 });
    // The broker has the acknowledgement of the first, and cannot send the second any more.
    broker.options.intercept = ({ cmd }) => cmd === 'puback' && broker.drop() === undefined && false;
    publish(1);
    await reached(session, 'waiting');
    broker.options.intercept = () => false;
    mock.timers.tick(600_000);
    await reached(session, 'connected');
    publish(2);
    await broker.until(() => numbers.includes(2));
    assert.deepEqual(numbers, [1, 2]);
  });
});

describe('copies of a report', () => {
  const payload = (n: number) => Buffer.from(`${n}`);

  /** Which of these messages are taken for copies, at a place where two subscriptions match. */
  const copiesOf = (numbers: number[], copies = new Copies()) =>
    numbers.map((n) => copies.isCopy('t', payload(n), 2, false));

  it('are recognised from the first on where the broker sends one for each subscription', () => {
    assert.deepEqual(copiesOf([1, 1, 2, 2, 3, 3]), [false, true, false, true, false, true]);
  });

  it('are none where the broker has shown that it sends a message once, even if a sender repeats itself', () => {
    assert.deepEqual(copiesOf([1, 2, 3, 3, 4]), [false, false, false, false, false]);
  });

  it('are learnt anew when a broker acts otherwise three times', () => {
    assert.deepEqual(copiesOf([1, 2, 3, 3, 4, 4, 5, 5, 6, 6]), [
      false,
      false,
      false,
      false,
      false,
      false,
      false,
      true,
      false,
      true,
    ]);
  });

  it('are learnt although the broker has refused one of the subscriptions', () => {
    const copies = new Copies();
    const isCopy = (n: number) => copies.isCopy('t', payload(n), 3, false);
    assert.deepEqual([1, 2, 3, 3, 4, 4, 5, 5, 6, 6].map(isCopy).slice(-3), [true, false, true]);
  });

  it('are looked for all the same while subscriptions change, but nothing is learnt from that', () => {
    const copies = new Copies();
    const uncertain = [1, 2, 3, 3].map((n) => copies.isCopy('t', payload(n), 2, false, false));
    assert.deepEqual(uncertain, [false, false, false, true]);
    assert.deepEqual(copiesOf([4, 4], copies), [false, true]);
  });

  it('are recognised behind some other messages, too', () => {
    const copies = new Copies();
    const isCopy = (n: number) => copies.isCopy(`t${n}`, payload(n), 2, false);
    for (let n = 0; n < 1_000; n++) {
      assert.equal(isCopy(n), false);
    }
    for (let n = 0; n < 1_000; n++) {
      assert.equal(isCopy(n), true);
    }
    for (let n = 0; n < 1_001; n++) {
      isCopy(n);
    }
    assert.equal(isCopy(0), false, 'remembered beyond the bound');
  });

  it('are no more than there are subscriptions', () => {
    const copies = new Copies();
    const three = Array.from({ length: 4 }, () => copies.isCopy('t', payload(1), 3, false));
    assert.deepEqual(three, [false, true, true, false]);
  });

  it('are none after 10 seconds, unless they may have waited, and that shows what the broker does', () => {
    let now = 0;
    const copies = new Copies(() => now);
    const isCopy = (n: number, hasCaughtUp: boolean) =>
      copies.isCopy('t', payload(n), 2, false, true, () => hasCaughtUp);
    assert.equal(isCopy(1, true), false);
    now += 9_999;
    assert.equal(isCopy(1, true), true, 'it is sent late');
    copies.connected(false, false);
    assert.equal(isCopy(2, true), false);
    now += 10_000;
    assert.equal(isCopy(2, true), false, 'the sender repeats itself');
    assert.equal(isCopy(2, true), false, 'the broker has shown that it sends once');
    copies.connected(false, false);
    assert.equal(isCopy(3, false), false);
    now += 3_600_000;
    assert.equal(isCopy(3, false), true, 'it has waited');
  });

  it('show what the broker does only within a second: later a sender may repeat itself', () => {
    let now = 0;
    const copies = new Copies(() => now);
    copiesOf([1, 2], copies);
    const repeats = [3, 3, 4, 4, 5, 5, 6, 6, 7, 7].map((n) => {
      now += 1_000;
      return copies.isCopy('t', payload(n), 2, false);
    });
    assert.deepEqual(new Set(repeats), new Set([false]));
  });

  it('are not remembered of another broker', () => {
    const copies = new Copies();
    copiesOf([1, 2, 3], copies);
    copies.connected(false, false);
    assert.deepEqual(copiesOf([4, 4], copies), [false, true]);
  });

  it('of retained reports are remembered for 10 000 topics', () => {
    const copies = new Copies();
    const isCopy = (n: number) => copies.isCopy(`t${n}`, payload(n), 2, true);
    for (let n = 0; n < 10_001; n++) {
      assert.equal(isCopy(n), false);
    }
    assert.deepEqual([isCopy(0), isCopy(9_999), isCopy(10_000)], [true, true, false]);
  });

  const TOPIC = 't';
  /** Whether it is a copy, where two subscriptions match it. */
  const isCopyIn = (copies: Copies, n: number, topic = TOPIC) => copies.isCopy(topic, payload(n), 2, false);
  const isRepeatIn = (copies: Copies, n: number, topic = TOPIC) => copies.isRepeat(topic, payload(n));
  const message = (n: number, topic = TOPIC) => ({ topic, payload: payload(n) });

  it('are none where one subscription brings it, and of topics that no gateway has', () => {
    for (const [length, expected, isSecondCopy] of [
      [1, 1, false],
      [1_000, 2, true],
      [1_001, 2, false],
    ] as const) {
      const copies = new Copies();
      const [first, second] = [1, 1].map((n) =>
        copies.isCopy('t'.repeat(length), payload(n), expected, false),
      );
      assert.deepEqual([first, second], [false, isSecondCopy]);
    }
  });

  it('teach nothing while it is not certain how many are to come, and each but once', () => {
    const copies = new Copies();
    copiesOf([1, 2], copies);
    const uncertain = [3, 3, 4, 4, 5, 5, 6, 6].map((n) => copies.isCopy(TOPIC, payload(n), 2, false, false));
    assert.deepEqual(new Set(uncertain), new Set([false]));
    const thrice = [7, 7, 7, 8, 8, 8].map((n) => copies.isCopy(TOPIC, payload(n), 3, false));
    assert.deepEqual(new Set(thrice), new Set([false]));
  });

  it('have to come three times in a row from a broker that is known to send none', () => {
    const copies = new Copies();
    copiesOf([1, 2], copies);
    assert.deepEqual(new Set(copiesOf([3, 3, 4, 4, 5, 6, 7, 7, 8, 8], copies)), new Set([false]));
    assert.deepEqual(copiesOf([9, 9], copies), [false, true]);
  });

  it('are known of what flows had already, but for what is older than one that was new', () => {
    const recognised = (...ns: number[]) => {
      const copies = new Copies();
      for (const n of ns) {
        copies.recognised(TOPIC, payload(n), 2);
      }
      return copies;
    };
    assert.deepEqual(
      [isCopyIn(recognised(1), 1), isCopyIn(recognised(1, 2), 2), isCopyIn(recognised(1), 2)],
      [true, true, false],
    );
    assert.equal(isRepeatIn(recognised(1), 1), true);
    assert.deepEqual(copiesOf([2, 2], recognised(1)), [false, true], 'it teaches nothing');
    const copies = new Copies();
    isCopyIn(copies, 2);
    copies.connected(true, true);
    copies.recognised(TOPIC, payload(1), 2);
    assert.equal(isCopyIn(copies, 2), true);
    const single = new Copies();
    single.recognised(TOPIC, payload(1), 1);
    assert.equal(isCopyIn(single, 1), false);
  });

  it('are awaited of 1 000 topics that flows had already, too', () => {
    const copies = new Copies();
    for (let n = 0; n < 1_001; n++) {
      copies.recognised(`t${n}`, payload(n), 2);
    }
    copies.recognised('t0', payload(1_001), 2);
    const long = new Copies();
    for (const length of [1_000, 1_001]) {
      long.recognised('t'.repeat(length), payload(1), 2);
      assert.equal(long.isAwaited('t'.repeat(length), payload(1)), length === 1_000);
    }
    assert.deepEqual(
      [isCopyIn(copies, 1_001, 't0'), isCopyIn(copies, 999, 't999'), isCopyIn(copies, 1_000, 't1000')],
      [true, true, false],
    );
  });

  it('are awaited of what flows had already beside what is new, whichever comes first', () => {
    const behind = new Copies();
    // Fewer come than are expected.
    behind.isCopy(TOPIC, payload(1), 3, false);
    behind.isCopy(TOPIC, payload(1), 3, false);
    behind.recognised(TOPIC, payload(2), 2);
    assert.equal(isCopyIn(behind, 2), true);
    const before = new Copies();
    isCopyIn(before, 2);
    before.recognised(TOPIC, payload(1), 2);
    assert.equal(isCopyIn(before, 2), true);
    assert.deepEqual([isCopyIn(before, 3), isCopyIn(before, 1)], [false, false], 'a new one ends it');
  });

  it('are counted once of what is recognised while they are awaited', () => {
    const copies = new Copies();
    isCopyIn(copies, 1);
    copies.recognised(TOPIC, payload(1), 2);
    assert.deepEqual([isCopyIn(copies, 1), isCopyIn(copies, 1)], [true, false]);
    copies.recognised(TOPIC, payload(2), 2);
    assert.equal(copies.isAwaited(TOPIC, payload(2)), true);
    copies.connected(true, true);
    copies.forget(message(2));
    assert.equal(copies.isAwaited(TOPIC, payload(2)), false);
    copies.recognised(TOPIC, payload(3), 2);
    copies.connected(true, false);
    assert.equal(copies.isAwaited(TOPIC, payload(3)), false);
  });

  it('are none of what is forgotten', () => {
    const copies = new Copies();
    isCopyIn(copies, 1);
    isRepeatIn(copies, 1);
    copies.forget(message(2));
    copies.forget(message(1, 'other'));
    assert.deepEqual(
      [copies.isAwaited(TOPIC, payload(1)), copies.isAwaited(TOPIC, payload(2)), isRepeatIn(copies, 1)],
      [true, false, true],
    );
    copies.forget(message(1));
    assert.deepEqual(
      [copies.isAwaited(TOPIC, payload(1)), isRepeatIn(copies, 1), isCopyIn(copies, 1)],
      [false, false, false],
    );
    assert.deepEqual([isCopyIn(copies, 1), copies.isAwaited(TOPIC, payload(1))], [true, false]);
  });

  it('are told from repeats, which come one behind the other', () => {
    const copies = new Copies();
    assert.deepEqual(
      [
        isRepeatIn(copies, 1),
        isRepeatIn(copies, 1),
        isRepeatIn(copies, 2),
        isRepeatIn(copies, 2, 'u'),
        isRepeatIn(copies, 2),
      ],
      [false, true, false, false, false],
    );
  });

  it('come over the next connection where the broker has kept the session, and teach nothing then', () => {
    for (const isPresent of [true, false]) {
      const copies = new Copies();
      const retained = () => copies.isCopy('r', payload(1), 2, true);
      isCopyIn(copies, 1);
      isRepeatIn(copies, 1);
      retained();
      copies.connected(true, isPresent);
      assert.deepEqual([isRepeatIn(copies, 1), retained(), isCopyIn(copies, 1)], [false, false, isPresent]);
    }
    const copies = new Copies();
    isCopyIn(copies, 1);
    copies.connected(true, true);
    assert.deepEqual(copiesOf([2, 2], copies), [false, true]);
  });

  it('are known of the same broker after another connection', () => {
    const copies = new Copies();
    copiesOf([1, 2, 3], copies);
    copies.connected(true, false);
    assert.deepEqual(copiesOf([4, 4], copies), [false, false]);
  });

  it('of retained reports come again where subscriptions have changed', () => {
    const copies = new Copies();
    const retained = () => copies.isCopy(TOPIC, payload(1), 2, true);
    assert.deepEqual([retained(), retained()], [false, true]);
    copies.changed();
    assert.equal(retained(), false);
  });

  it('come within ten seconds where nothing else is known of what the broker had', () => {
    let now = 1_000_000;
    const copies = new Copies(() => now);
    isCopyIn(copies, 1);
    now += 9_999;
    assert.equal(isCopyIn(copies, 1), true);
    isCopyIn(copies, 2);
    now += 10_000;
    assert.equal(isCopyIn(copies, 2), false);
  });
});
