import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { InboundQueue } from '../../src/mqtt/inbound-queue.ts';
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
});
