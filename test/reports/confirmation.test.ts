// What a node confirms: which reports are open at it, which come again, and what is done with those that do not reach its flow.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { ServiceError } from '../../src/errors.ts';
import type { DeferralEvents } from '../../src/protocol/deferral.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';
import { Confirmation } from '../../src/reports/confirmation.ts';
import type { Message } from '../../src/reports/message.ts';
import { OpenReports } from '../../src/reports/open-reports.ts';
import type { ReportListener } from '../../src/reports/receivers.ts';

const TIMEOUT_MS = 1_000;
const [G, D] = ['c0141f68fc3d', 'd00000000001'];

describe('a node that confirms reports', () => {
  let now: number;
  let reports: OpenReports;
  /** What has come to the flow: number, delivery, whether it came before. */
  let got: { n: unknown; delivery: string; redelivered: unknown; heardAt: number | undefined }[];
  let errors: { error: ServiceError; payload: unknown }[];
  let acknowledged: string[];
  let counts: [number, number][];
  /** What stands between lets these through. */
  let isPassed: boolean;
  let isWaiting: boolean;
  let chained: number;
  /** What stands between fails. */
  let isFailing: boolean;
  let abandoned: string[];

  beforeEach(() => {
    now = 0;
    [got, errors, acknowledged, counts, isPassed, isWaiting, chained] = [[], [], [], [], true, false, 0];
    [isFailing, abandoned] = [false, []];
    mock.timers.enable({ apis: ['setInterval'] });
    const fail = (fault: unknown) => assert.fail(String(fault));
    reports = new OpenReports(
      () => false,
      fail,
      (owner, count) => void abandoned.push(`${owner}: ${count}`),
      { now: () => now },
    );
    reports.connected('broker', false);
  });
  afterEach(() => {
    reports.handOver();
    mock.timers.reset();
  });

  const flow: ReportListener = {
    report: ({ n, delivery, redelivered }, _topic, _payload, heardAt) =>
      void got.push({ n, delivery: String(delivery), redelivered, heardAt }),
    error: (error, { payload }) => void errors.push({ error, payload }),
  };

  function open(labels: readonly string[] = [], maxAttempts = 0) {
    const confirmation = new Confirmation(
      ...([reports, flow, { owner: 'node', labels }, { timeoutMs: TIMEOUT_MS, maxAttempts }] as const),
      ([message]) => give(message as Message, 0),
      (count, oldestMs) => void counts.push([count, oldestMs]),
      (topic) => (topic.startsWith('mt/') ? readReportTopic(topic, G, D, 'event/8200') : undefined),
    );
    const { target } = confirmation;
    const chain: ReportListener = {
      report(...args) {
        chained++;
        if (isFailing) {
          throw new Error('no more');
        }
        if (isPassed) {
          target.report(...args);
        }
      },
      error: (...args) => target.error(...args),
    };
    const listener = confirmation.listener(chain, () => isWaiting);
    const give = ({ topic, payload }: Message, heardAt?: number) => {
      const n: unknown = JSON.parse(payload.toString()).n;
      listener.report({ n } as unknown as Report, topic, payload, heardAt);
    };
    confirmation.begin();
    return { confirmation, listener, give };
  }
  type Node = ReturnType<typeof open>;

  function receive({ give }: Node, n: number, topic = 'mt/x'): void {
    const received = { topic, payload: Buffer.from(JSON.stringify({ n })), retained: false, heardAt: now };
    let order = 0;
    const defer = (events: DeferralEvents) => ({
      readOn() {},
      acknowledge() {
        acknowledged.push(`${n}`);
        events.written(++order);
      },
    });
    const outcome = reports.receive(
      received,
      { isResent: false, ackedOrder: 0, isLost: false, mustWait: false, defer },
      () => {
        try {
          give(received);
        } catch {
          // It is no problem of other receivers.
        }
        return 'delivered';
      },
    );
    if (outcome !== 'kept') {
      acknowledged.push(`${n} at once`);
    }
  }
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      now += 500;
      mock.timers.tick(500);
    }
  };
  const numbers = () => got.map(({ n, redelivered }) => [n, redelivered]);

  it('gets each with a delivery by which it is confirmed', () => {
    const node = open();
    receive(node, 1);
    receive(node, 2);
    assert.deepEqual(
      [numbers(), acknowledged],
      [
        [
          [1, undefined],
          [2, undefined],
        ],
        [],
      ],
    );
    assert.notEqual(got[0]?.delivery, got[1]?.delivery);
    assert.equal(reports.confirm(got[1]!.delivery), true);
    assert.deepEqual(acknowledged, ['2']);
  });

  it('gets again what it has not confirmed in time, past what stands between, and says so', () => {
    const node = open();
    receive(node, 1);
    isPassed = false;
    pass(TIMEOUT_MS);
    assert.deepEqual(
      [numbers(), chained],
      [
        [
          [1, undefined],
          [1, true],
        ],
        1,
      ],
    );
    assert.equal(got[1]?.delivery, got[0]?.delivery);
    reports.confirm(got[0]!.delivery);
    pass(10 * TIMEOUT_MS);
    assert.deepEqual([got.length, acknowledged], [2, ['1']]);
  });

  it('confirms itself what is dropped on the way to the flow', () => {
    const node = open();
    isPassed = false;
    receive(node, 1);
    assert.deepEqual([got, acknowledged], [[], ['1 at once']]);
    pass(5 * TIMEOUT_MS);
    assert.deepEqual(got, []);
  });

  it('has what cannot be judged yet come as soon as it can, and not before', () => {
    const node = open();
    isWaiting = true;
    receive(node, 1);
    receive(node, 2);
    assert.deepEqual([got, chained, acknowledged], [[], 0, []]);
    isWaiting = false;
    isPassed = true;
    node.confirmation.ready();
    pass(500);
    assert.deepEqual(
      [numbers(), chained],
      [
        [
          [1, undefined],
          [2, undefined],
        ],
        2,
      ],
    );
    assert.ok(got.every(({ heardAt }) => heardAt === 0));
  });

  it('gets again as new what something has failed on, whatever comes meanwhile', () => {
    const node = open();
    isFailing = true;
    receive(node, 1);
    isFailing = false;
    node.give({ topic: 'mt/x', payload: Buffer.from('{"n":2}'), retained: false, heardAt: 0 }, 0);
    pass(TIMEOUT_MS);
    assert.deepEqual(numbers(), [
      [2, undefined],
      [1, undefined],
    ]);
  });

  it('gets what was received before without a delivery', () => {
    const { give } = open();
    give({ topic: 'mt/x', payload: Buffer.from('{"n":1}'), retained: false, heardAt: 5 }, 5);
    assert.deepEqual(got, [{ n: 1, delivery: 'undefined', redelivered: undefined, heardAt: 5 }]);
    assert.equal(reports.isConfirming && reports.unconfirmed.length, 0);
  });

  it('gives one up that was sent as often as it may be, with its place and what came', () => {
    const node = open([], 2);
    receive(node, 1);
    receive(node, 2, 'elsewhere');
    pass(10 * TIMEOUT_MS);
    assert.deepEqual(numbers().length, 6);
    const [first, second] = errors.map(({ error }) => error);
    const told = 'not acknowledged by the flow, though it was sent to it 2 times more';
    assert.deepEqual([first?.code, first?.message], ['TIMEOUT', told]);
    assert.deepEqual(first?.cause, {
      ...{ gateway: G, device: D, operation: 'confirm', identifier: '8200', topic: 'mt/x' },
      ...{ payload: '{"n":1}', timeout: TIMEOUT_MS, attempts: 2 },
    });
    assert.equal(second?.cause.topic, 'elsewhere');
    assert.deepEqual(
      errors.map(({ payload }) => payload),
      ['{"n":1}', '{"n":2}'],
    );
    assert.deepEqual(acknowledged, ['1', '2']);
  });

  it('is told how many are open and for how long', () => {
    const node = open();
    receive(node, 1);
    pass(500);
    reports.confirm(got[0]!.delivery);
    pass(500);
    assert.deepEqual(counts, [
      [1, 500],
      [0, 0],
    ]);
  });

  it('passes on what cannot be read', () => {
    const { listener } = open();
    listener.error({ code: 'BAD_REPORT' } as ServiceError, { topic: 't', payload: 'p' });
    assert.deepEqual(
      errors.map(({ payload }) => payload),
      ['p'],
    );
  });

  /** A deploy puts another node in the place of this one. */
  function deploy(node: Node, labels: readonly string[]): Node {
    node.confirmation.end(true);
    const next = open(labels);
    reports.resumed();
    pass(500);
    return next;
  }

  it('gets again what the node before it had not confirmed', () => {
    const node = open(['b', 'a']);
    receive(node, 1);
    isPassed = false;
    deploy(node, ['a', 'b']);
    assert.deepEqual(
      [numbers(), chained],
      [
        [
          [1, undefined],
          [1, true],
        ],
        1,
      ],
    );
  });

  it('judges anew what the node before it had where that asked for other labels', () => {
    const node = open(['a']);
    receive(node, 1);
    const next = deploy(node, ['b']);
    assert.deepEqual(
      [numbers(), chained],
      [
        [
          [1, undefined],
          [1, true],
        ],
        2,
      ],
    );
    isPassed = false;
    deploy(next, ['c']);
    assert.deepEqual([got.length, chained, acknowledged], [2, 3, ['1']]);
    pass(500);
    assert.deepEqual([errors, abandoned], [[], ['node: 1']]);
  });

  it('leaves nothing open where it does not come back', () => {
    const node = open();
    receive(node, 1);
    node.confirmation.end(false);
    assert.deepEqual([acknowledged, reports.confirm(got[0]!.delivery)], [['1'], false]);
  });
});
