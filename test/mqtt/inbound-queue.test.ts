// Reports wait while flows are replaced or cannot keep up: in order, within a bound, and those of QoS 1 at the broker.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { InboundQueue } from '../../src/mqtt/inbound-queue.ts';
import type { Deferrable } from '../../src/protocol/deferral.ts';
import { createTopics } from '../../src/protocol/topics.ts';
import { block } from '../block.ts';

const REPORT = 'mt/gateway/c0141f68fc3d/device/d00000000001/heartbeat';
const RESPONSE = 'mt/gateway/c0141f68fc3d/response/d00000000001/read/8001';

describe('the intake', () => {
  const seen: string[] = [];
  const topics: string[] = [];
  const lost: number[] = [];
  let intake: InboundQueue;

  beforeEach(() => {
    seen.length = 0;
    topics.length = 0;
    lost.length = 0;
    intake = new InboundQueue(createTopics(''), {
      report(topic, payload) {
        topics.push(topic);
        seen.push(payload.toString());
        return false;
      },
      response: () => void seen.push('response'),
      resumed() {},
      drained() {},
      lost: (count) => void lost.push(count),
      failed: (_topic, fault) => assert.fail(String(fault)),
    });
  });
  afterEach(() => intake.discard());

  const take = (text: string, qos: number, done: (error?: Error) => void = () => {}) =>
    intake.receive(REPORT, Buffer.from(text), qos, false, done);

  const queueFor = (take: (topic: string, payload: Buffer) => void) =>
    new InboundQueue(createTopics(''), {
      report(topic, payload) {
        take(topic, payload);
        return false;
      },
      response() {},
      resumed() {},
      drained() {},
      lost() {},
      failed() {},
    });

  it('keeps of a report that waits its own bytes, and not all that came with it', () => {
    let kept = 0;
    const queue = queueFor((_, { buffer }) => {
      kept = buffer.byteLength;
    });
    queue.pause();
    queue.receive(REPORT, Buffer.alloc(1_000_000).subarray(0, 100), 0, false, () => {});
    queue.resume();
    assert.ok(kept > 0 && kept < 1_000_000, `${kept} bytes`);
  });

  it('gives the event loop a turn after some hundred reports and keeps their order', async () => {
    for (let i = 0; i < 1200; i++) {
      take(`${i}`, 0);
    }
    assert.ok(seen.length < 1200);
    while (seen.length < 1200) {
      await nextTurn();
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 1200 }, (_, i) => `${i}`),
    );
    assert.deepEqual(lost, []);
  });

  it('gives slow flows fewer reports at a time, so that others have their turn sooner', async () => {
    const slow = queueFor(() => {
      block(1);
      given++;
    });
    let given = 0;
    for (let i = 0; i < 1500; i++) {
      slow.receive(REPORT, Buffer.from(`${i}`), 0, false, () => {});
    }
    let last = 0;
    for (let before = given; given < 1500; before = given) {
      await nextTurn();
      last = given - before;
    }
    assert.ok(last < 100, `${last} at once`);
    slow.discard();
  });

  it('loses none of 180 000 reports of QoS 0 that come at once', async () => {
    const usual = '{"time":"2026-01-01T00:00:00.000Z","seq":1,"status":0}';
    for (let i = 0; i < 180_000; i++) {
      take(usual, 0);
    }
    while (seen.length < 180_000) {
      await nextTurn();
    }
    assert.deepEqual(lost, []);
  });

  it('loses the oldest reports of QoS 0 beyond 64 MB of waiting ones, and counts them', async () => {
    const sent = 1_000;
    const large = Buffer.alloc(100_000, 'x');
    intake.pause();
    for (let i = 0; i < sent; i++) {
      intake.receive(`${REPORT}/${i}`, large, 0, false, () => {});
    }
    assert.deepEqual(lost, [1]);
    intake.resume();
    while (topics.at(-1) !== `${REPORT}/${sent - 1}`) {
      await nextTurn();
    }
    assert.ok(topics.length > 600 && topics.length < 700, `${topics.length}`);
    assert.equal(topics[0], `${REPORT}/${sent - topics.length}`);
  });

  it('acknowledges a report of QoS 1 only when it was delivered', async () => {
    for (let i = 0; i < 600; i++) {
      take(`${i}`, 0);
    }
    let isAcknowledged = false;
    take('precious', 1, () => {
      isAcknowledged = true;
      assert.equal(seen.at(-1), 'precious');
    });
    assert.equal(isAcknowledged, false);
    while (!isAcknowledged) {
      await nextTurn();
    }
  });

  it('releases what holds up the connection when it is dropped, without an acknowledgement', () => {
    intake.pause();
    const outcomes: unknown[] = [];
    intake.receive(REPORT, Buffer.from('held'), 1, false, (error) => outcomes.push(error));
    intake.discard();
    assert.ok(outcomes[0] instanceof Error);
    intake.resume();
    assert.deepEqual(seen, []);
  });

  it('reads nothing while flows are replaced when a report has waited already, and says since when it does again', () => {
    for (let n = 0; intake.isEmpty; n++) {
      take(`${n}`, 1);
    }
    const { readsSince } = intake;
    assert.ok(readsSince < performance.now(), 'slow flows alone hold up nothing');
    intake.pause();
    const now = performance.now();
    assert.ok(intake.readsSince >= now);
    intake.resume();
    const resumed = intake.readsSince;
    assert.ok(resumed >= now);
    block(2);
    assert.equal(intake.readsSince, resumed);
  });

  it('keeps within the bound, and loses no report of QoS 1 that it has, when the connection is lost meanwhile', async () => {
    const large = Buffer.alloc(100_000, 'x');
    intake.pause();
    take('precious', 1);
    intake.disconnected();
    for (let i = 0; i < 1_000; i++) {
      intake.receive(`${REPORT}/${i}`, large, 0, false, () => {});
    }
    intake.receive(`${REPORT}/precious`, large, 1, false, () => {});
    assert.deepEqual(lost, [1]);
    intake.resume();
    while (!intake.isEmpty) {
      await nextTurn();
    }
    assert.ok(topics.length > 600 && topics.length < 700, `${topics.length}`);
    assert.deepEqual([topics[0], topics.at(-1)], [REPORT, `${REPORT}/precious`]);
    assert.equal(topics[1], `${REPORT}/${1_000 - (topics.length - 2)}`);
  });

  it('goes on when one of the reports that waited cannot be handled', async () => {
    const handled: string[] = [];
    const faults: unknown[] = [];
    const faulty = new InboundQueue(createTopics(''), {
      report(_topic, payload) {
        handled.push(payload.toString());
        if (handled.length === 1) {
          throw new Error('a mistake of ours');
        }
        return false;
      },
      response() {},
      resumed() {},
      drained() {},
      lost() {},
      failed: (topic, fault) => void faults.push([topic, String(fault)]),
    });
    faulty.pause();
    const outcomes: unknown[] = [];
    faulty.receive(REPORT, Buffer.from('first'), 1, false, (error) => outcomes.push(error));
    faulty.receive(REPORT, Buffer.from('second'), 0, false, () => {});
    faulty.resume();
    assert.deepEqual(handled, ['first', 'second']);
    assert.deepEqual(outcomes, [undefined]);
    assert.deepEqual(faults, [[REPORT, 'Error: a mistake of ours']]);
    faulty.discard();
  });

  it('lets answers pass while reports wait', () => {
    intake.pause();
    take('later', 0);
    intake.receive(RESPONSE, Buffer.from('{}'), 1, false, () => {});
    assert.deepEqual(seen, ['response']);
    intake.resume();
    assert.deepEqual(seen, ['response', 'later']);
  });

  it('gives a report as it came, at once where nothing waits, and acknowledges it unless that is done later', () => {
    const given: unknown[] = [];
    let isDeferred = false;
    const queue = new InboundQueue(createTopics(''), {
      report(topic, payload, retained, deferrable) {
        given.push([topic, payload.toString(), retained, deferrable]);
        return isDeferred;
      },
      response: (at, payload, retained, topic) =>
        void given.push([at.gateway, payload.toString(), retained, topic]),
      resumed() {},
      drained: () => assert.fail('nothing has waited'),
      lost() {},
      failed() {},
    });
    const acknowledged: number[] = [];
    const done = (n: number) => () => void acknowledged.push(n);
    const deferrable = {} as Deferrable;
    queue.receive(REPORT, Buffer.from('1'), 1, true, done(1), deferrable);
    isDeferred = true;
    queue.receive(REPORT, Buffer.from('2'), 1, false, done(2));
    queue.receive(RESPONSE, Buffer.from('3'), 1, true, done(3));
    assert.deepEqual(given, [
      [REPORT, '1', true, deferrable],
      [REPORT, '2', false, undefined],
      ['c0141f68fc3d', '3', true, RESPONSE],
    ]);
    assert.deepEqual(acknowledged, [1, 3]);
  });

  describe('while flows are replaced', () => {
    let told: string[];
    let isDeferred: boolean;
    let queue: InboundQueue;
    let now: number;

    beforeEach(() => {
      told = [];
      isDeferred = false;
      now = 1_000;
      mock.timers.enable({ apis: ['setTimeout'] });
      mock.method(performance, 'now', () => now);
      queue = new InboundQueue(
        createTopics(''),
        {
          report(_, payload, retained, deferrable) {
            told.push(
              `${payload.toString().slice(0, 9)}${retained ? ' retained' : ''}${deferrable ? ' deferrable' : ''}`,
            );
            return isDeferred;
          },
          response() {},
          resumed: (isReady) => void told.push(isReady ? 'ready' : 'too late'),
          drained: () => void told.push('drained'),
          lost: (count) => void told.push(`lost ${count}`),
          failed() {},
        },
        1_000,
      );
    });

    afterEach(() => {
      queue.discard();
      mock.reset();
    });

    const pass = (milliseconds: number) => {
      now += milliseconds;
      mock.timers.tick(milliseconds);
    };
    const receive = (text: string, qos = 0, more: { retained?: boolean; deferrable?: Deferrable } = {}) =>
      queue.receive(
        REPORT,
        Buffer.from(text),
        qos,
        more.retained ?? false,
        (error) => void told.push(`${text.slice(0, 9)} ${error ? error.message : 'done'}`),
        more.deferrable,
      );
    const news = () => told.splice(0);
    /** Of which no two fit into the bound. */
    const large = (name: string) => name.padEnd(500);

    it('they wait, and come as they were when flows are ready', () => {
      queue.pause();
      assert.deepEqual([queue.isPaused, queue.isEmpty, queue.isBlocked], [true, true, false]);
      receive('1', 0, { retained: true });
      assert.deepEqual([queue.isEmpty, queue.isBlocked], [false, false]);
      receive('2', 1, { deferrable: {} as Deferrable });
      assert.deepEqual([queue.isEmpty, queue.isBlocked], [false, true]);
      assert.deepEqual(news(), ['1 done']);
      queue.resume();
      assert.deepEqual(news(), ['ready', '1 retained', '2 deferrable', '2 done', 'drained']);
      assert.deepEqual([queue.isPaused, queue.isEmpty, queue.isBlocked], [false, true, false]);
    });

    it('they are not acknowledged where that is done later', () => {
      queue.pause();
      receive('1', 1);
      isDeferred = true;
      queue.resume();
      assert.deepEqual(news(), ['ready', '1', 'drained']);
    });

    it('it goes on after 20 seconds, where nobody says that flows are ready', () => {
      queue.pause();
      receive('1');
      pass(10_000);
      queue.pause();
      pass(19_999);
      assert.deepEqual(news(), ['1 done']);
      pass(1);
      assert.deepEqual(news(), ['too late', '1', 'drained']);
      queue.pause();
      queue.resume();
      pass(100_000);
      assert.deepEqual(news(), ['ready']);
    });

    it('nothing goes on when the client is closed', () => {
      queue.pause();
      receive('1', 1);
      queue.discard();
      assert.deepEqual([queue.isEmpty, queue.isBlocked], [true, false]);
      assert.deepEqual(news(), ['1 the connection is being closed']);
      pass(100_000);
      assert.deepEqual(news(), []);
    });

    it('the oldest are lost beyond the bound, which is told at once, every ten seconds, and when it is over', () => {
      queue.pause();
      for (const name of ['1', '2', '3']) {
        receive(large(name));
      }
      assert.deepEqual(
        news().filter((text) => !text.includes('done')),
        ['lost 1'],
      );
      pass(9_999);
      assert.deepEqual(news(), []);
      pass(1);
      assert.deepEqual(news(), ['lost 2']);
      // The last one still waits.
      pass(9_000);
      queue.resume();
      news();
      pass(1_000);
      assert.deepEqual(news(), ['lost 2', 'lost 0']);
      pass(100_000);
      assert.deepEqual(news(), []);
    });

    it('an overload goes on while some are lost, and is counted anew when it was over', () => {
      queue.pause();
      receive(large('1'));
      receive(large('2'));
      queue.resume();
      pass(5_000);
      queue.pause();
      receive(large('3'));
      receive(large('4'));
      queue.resume();
      news();
      pass(5_000);
      assert.deepEqual(news(), ['lost 2']);
      pass(10_000);
      assert.deepEqual(news(), ['lost 2', 'lost 0']);
      queue.pause();
      receive(large('5'));
      receive(large('6'));
      queue.resume();
      assert.ok(news().includes('lost 1'));
      pass(9_999);
      queue.pause();
      receive(large('7'));
      receive(large('8'));
      queue.resume();
      news();
      pass(1);
      assert.deepEqual(news(), ['lost 2']);
      pass(10_000);
      assert.deepEqual(news(), ['lost 2', 'lost 0']);
    });

    it('nothing is told of an overload when the client is closed', () => {
      queue.pause();
      receive(large('1'));
      receive(large('2'));
      queue.discard();
      news();
      pass(100_000);
      assert.deepEqual(news(), []);
    });

    it('none is lost within the bound, with 250 bytes beside topic and payload', () => {
      const room = 1_000 - 2 * (250 + REPORT.length);
      queue.pause();
      receive('1');
      receive('2'.padEnd(room - 1));
      assert.equal(
        news().some((text) => text.startsWith('lost')),
        false,
      );
      queue.resume();
      queue.pause();
      receive('1');
      receive('2'.padEnd(room));
      assert.equal(
        news().some((text) => text.startsWith('lost')),
        true,
      );
    });

    it('a report of QoS 1 is never lost, nor acknowledged before it is delivered', () => {
      queue.pause();
      receive('1', 1);
      receive(large('2'));
      receive(large('3'));
      assert.deepEqual(
        news().filter((text) => text.includes('lost') || text.startsWith('1')),
        [],
      );
      queue.disconnected();
      assert.equal(queue.isBlocked, false);
      receive('4');
      assert.deepEqual(news(), ['lost 1', '4 done']);
      assert.equal(queue.isEmpty, false);
      queue.resume();
      assert.deepEqual(news(), ['ready', '1', '1 done', '4', 'drained']);
    });

    it('a report of QoS 1 comes also where all others are lost', () => {
      queue.pause();
      receive('1', 1);
      queue.disconnected();
      receive(large('2'));
      assert.equal(queue.isEmpty, false);
      news();
      queue.resume();
      assert.deepEqual(news(), ['ready', '1', '1 done', 'drained']);
    });

    it('the reports that wait are drained when the last one has come, not turn by turn', async () => {
      queue.pause();
      const count = 120;
      for (let n = 0; n < 3; n++) {
        receive(`${n}`);
      }
      queue.resume();
      assert.equal(news().filter((text) => text === 'drained').length, 1);
      for (let n = 0; n < count; n++) {
        receive(`${n}`, 1);
      }
      assert.equal(queue.isBlocked, true);
      assert.equal(news().includes('drained'), false);
      for (; !queue.isEmpty; await nextTurn()) {
        assert.equal(queue.isBlocked, true);
      }
      assert.equal(queue.isBlocked, false);
      assert.deepEqual(
        news().filter((text) => text === 'drained'),
        ['drained'],
      );
    });

    it('the connection has not read since a report of QoS 1 waits for them, and reads when they are ready', () => {
      const reads = () => {
        now += 1_000;
        return queue.readsSince;
      };
      assert.equal(reads(), 0);
      queue.pause();
      receive('1');
      queue.resume();
      assert.equal(reads(), 0);
      while (queue.isEmpty) {
        receive('slow', 1);
      }
      assert.equal(reads(), 0);
      queue.disconnected();
      queue.pause();
      receive('1');
      assert.equal(reads(), 0);
      receive('2', 1);
      assert.equal(reads(), now);
      assert.equal(reads(), now);
      const resumedAt = now;
      queue.resume();
      assert.deepEqual([reads(), reads()], [resumedAt, resumedAt]);
    });

    it('the connection is held up as long as reports of QoS 1 wait turn after turn, all in all', async () => {
      const held = (ms: number) => {
        now += ms;
        return queue.heldMs;
      };
      queue.pause();
      receive('0');
      assert.equal(held(1_000), 0);
      receive('1', 1);
      assert.deepEqual([held(100), held(200)], [100, 300]);
      queue.resume();
      assert.equal(queue.isEmpty, true);
      // Nobody knows yet whether another one waits.
      assert.equal(held(50), 350);
      await nextTurn();
      assert.equal(held(1_000), 350);
      while (!queue.isBlocked) {
        receive('slow', 1);
      }
      for (let turn = 0; turn < 3; turn++) {
        now += 10;
        await nextTurn();
        while (!queue.isBlocked) {
          receive('slow', 1);
        }
      }
      while (!queue.isEmpty) {
        await nextTurn();
      }
      await nextTurn();
      assert.equal(held(1_000), 380);
      while (!queue.isBlocked) {
        receive('slow', 1);
      }
      for (let n = 0; n < 5_000; n++) {
        receive(`${n}`, 0);
      }
      await nextTurn();
      await nextTurn();
      held(0);
      assert.deepEqual([held(1_000), queue.isEmpty], [380, false], 'others do not keep it from reading');
      while (!queue.isEmpty) {
        await nextTurn();
      }
      queue.pause();
      receive('2', 1);
      now += 50;
      queue.disconnected();
      assert.equal(held(1_000), 430);
      receive('3', 1);
      now += 20;
      queue.discard();
      assert.equal(held(1_000), 450);
    });

    it('the next connection reads until it brings a report of QoS 1', () => {
      queue.pause();
      receive('1', 1);
      now += 1_000;
      queue.disconnected();
      const lostAt = now;
      now += 1_000;
      assert.equal(queue.readsSince, lostAt);
      receive('2', 1);
      now += 1_000;
      assert.equal(queue.readsSince, now);
    });
  });
});
