// Reports that are open at nodes: when each comes again, at which node, how often, and when it is given up.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { OpenDeliveries } from '../../src/reports/open-deliveries.ts';
import { OpenMessage } from '../../src/reports/open-message.ts';
import { type Confirmer, waitAfter } from '../../src/reports/open-report.ts';
import { itAtScale } from '../at-scale.ts';
import { usedMemory } from '../memory.ts';

const MINUTE_MS = 60_000;

describe('reports that are open at nodes', () => {
  let now: number;
  let isPaused: boolean;
  let deliveries: OpenDeliveries;
  /** What was sent again, as node and topic. */
  let sent: string[];
  let givenUp: string[];
  let abandoned: string[];
  let counts: string[];
  let faults: unknown[];
  /** The nodes that do not ask for what they get any more. */
  let refusing: Set<string>;

  beforeEach(() => {
    [now, isPaused, sent, givenUp, abandoned, counts, faults] = [1_000, false, [], [], [], [], []];
    refusing = new Set();
    deliveries = new OpenDeliveries('prefix', {
      isPaused: () => isPaused,
      now: () => now,
      confirm: (id) => void deliveries.take(id),
      failed: (fault) => void faults.push(fault),
      abandoned: (owner, count) => void abandoned.push(`${owner}: ${count}`),
    });
  });
  afterEach(() => deliveries.close());

  const node = (owner: string, { maxAttempts = 0, timeoutMs = 1_000, labels = '' } = {}): Confirmer => ({
    ...{ owner, labels, timeoutMs, maxAttempts },
    again: ({ message }) => {
      sent.push(`${owner} ${message.topic}`);
      return !refusing.has(owner);
    },
    givenUp: ({ message, attempts }) => void givenUp.push(`${owner} ${message.topic} ${attempts}`),
    count: (open, oldestMs) => void counts.push(`${owner} ${open} ${oldestMs}`),
  });
  const begin = (...args: Parameters<typeof node>) => {
    const confirmer = node(...args);
    deliveries.add(confirmer);
    return confirmer;
  };
  /** One that the flow of this node has had. */
  const open = (confirmer: Confirmer, topic: string, hasReached = true) => {
    const events = { written() {}, settled() {} };
    const received = { topic, payload: Buffer.from('{}'), retained: false, heardAt: now };
    const delivery = deliveries.open(confirmer, new OpenMessage(received, 'broker', events), now);
    delivery.hasReached = hasReached;
    return delivery;
  };
  /** What is sent again at this moment. */
  const look = (at: number): string[] => {
    now = at;
    deliveries.look();
    return sent.splice(0);
  };

  it('wait ever longer, up to ten minutes or what is set', () => {
    assert.deepEqual(
      [0, 1, 3, 4, 5, 9, 10, 50].map((attempts) => waitAfter(attempts, 10_000)),
      [10_000, 10_000, 10_000, 20_000, 40_000, 10 * MINUTE_MS, 10 * MINUTE_MS, 10 * MINUTE_MS],
    );
    assert.deepEqual(
      [waitAfter(0, 20 * MINUTE_MS), waitAfter(9, 20 * MINUTE_MS)],
      [20 * MINUTE_MS, 20 * MINUTE_MS],
    );
  });

  it('are those that have not reached the flow yet, of nodes that are there', () => {
    assert.equal(deliveries.hasConfirmers, false);
    const one = begin('one');
    const events = { written() {}, settled() {} };
    const received = { topic: 'a', payload: Buffer.from('{}'), retained: false, heardAt: now };
    const { hasReached, attempts } = deliveries.open(one, new OpenMessage(received, 'broker', events), now);
    assert.deepEqual([deliveries.hasConfirmers, hasReached, attempts], [true, false, 0]);
  });

  it('belong to the node that has taken the place of another one', () => {
    const former = begin('one');
    open(former, 'a', false);
    begin('one');
    assert.deepEqual(look(1_001), ['one a']);
    deliveries.hurry(former);
    assert.deepEqual(look(1_002), []);
    deliveries.remove(former, false);
    assert.equal(deliveries.size, 1);
  });

  it('are not sent any more where one before them has confirmed them', () => {
    const one = begin('one');
    open(one, 'a');
    const { id } = open(one, 'b');
    const { again } = one;
    one.again = (report) => {
      deliveries.take(id);
      return again(report);
    };
    assert.deepEqual(look(2_000), ['one a']);
  });

  itAtScale('leave nothing behind of nodes that are no more', () => {
    const comeAndGo = (n: number) => {
      const one = begin(`node ${n}`);
      deliveries.take(open(one, 'a').id);
      deliveries.remove(one, false);
      deliveries.resumed(() => false);
    };
    comeAndGo(0);
    const before = usedMemory();
    for (let n = 1; n <= 30_000; n++) {
      comeAndGo(n);
    }
    assert.ok(usedMemory() - before < 1_500_000);
  });

  it('come again when their time is over, until they are confirmed', () => {
    const one = begin('one');
    const first = open(one, 'a');
    now = 1_500;
    open(one, 'b');
    assert.deepEqual([look(1_999), look(2_000), look(2_499), look(2_500)], [[], ['one a'], [], ['one b']]);
    assert.deepEqual([first.attempts, deliveries.size], [1, 2]);
    assert.equal(deliveries.take(first.id), first);
    assert.deepEqual(
      [deliveries.take(first.id), deliveries.take('prefix-none'), deliveries.size],
      [undefined, undefined, 1],
    );
    assert.deepEqual(look(10_000), ['one b']);
  });

  it('are given up when they have come as often as they may, once they have reached the flow', () => {
    const one = begin('one', { maxAttempts: 2 });
    open(one, 'a');
    open(one, 'held', false);
    const all = [2, 3, 4, 5].map((seconds) => look(seconds * 1_000).sort());
    assert.deepEqual(all, [['one a', 'one held'], ['one a', 'one held'], ['one held'], ['one held']]);
    assert.deepEqual([givenUp, deliveries.size], [['one a 2'], 1]);
  });

  it('come again when the flow says so, later after several times', () => {
    const one = begin('one');
    const first = open(one, 'a');
    assert.equal(deliveries.sendAgain(first.id, 100), true);
    assert.deepEqual([look(1_099), look(1_100)], [[], ['one a']]);
    for (const [attempts, ms] of [
      [3, 100],
      [4, 2_000],
      [5, 4_000],
    ] as const) {
      first.attempts = attempts;
      const from = now;
      deliveries.sendAgain(first.id, 100);
      assert.deepEqual([look(from + ms - 1), look(from + ms)], [[], ['one a']]);
    }
    assert.equal(deliveries.sendAgain('prefix-none', 100), false);
  });

  it('that wait for something come at the next look', () => {
    const [one, other] = [begin('one'), begin('other')];
    open(one, 'a');
    open(one, 'held', false);
    open(other, 'held', false);
    deliveries.hurry(one);
    assert.deepEqual(look(1_001), ['one held']);
  });

  it('come at once at the node that a deploy puts there, which is none of their times', () => {
    const one = begin('one', { maxAttempts: 1 });
    const first = open(one, 'a');
    deliveries.remove(one, true);
    assert.deepEqual([look(10_000), deliveries.hasConfirmers], [[], false]);
    begin('one', { maxAttempts: 1 });
    assert.deepEqual(
      [look(10_001), first.attempts, first.hasReached, first.wasWithOther],
      [['one a'], 0, true, false],
    );
    assert.deepEqual([look(11_001), look(12_001), givenUp], [['one a'], [], ['one a 1']]);
  });

  it('have not reached the flow of a node that asks for other labels', () => {
    const one = begin('one', { labels: 'a' });
    const [first, held] = [open(one, 'a'), open(one, 'held', false)];
    deliveries.remove(one, true);
    begin('one', { labels: 'b' });
    assert.deepEqual(
      [first, held].map(({ hasReached, wasWithOther }) => [hasReached, wasWithOther]),
      [
        [false, true],
        [false, false],
      ],
    );
  });

  it('are at a node that is there, also at the one that has taken its place', () => {
    const confirmer = begin('a');
    const { id } = open(confirmer, 't');
    assert.equal(deliveries.isThere(id), true);
    deliveries.remove(confirmer, true);
    assert.equal(deliveries.isThere(id), false);
    begin('a');
    assert.equal(deliveries.isThere(id), true);
    deliveries.take(id);
    assert.equal(deliveries.isThere(id), undefined);
  });

  it("are nobody's where their node does not come back", () => {
    const [one, other] = [begin('one'), begin('other')];
    open(one, 'a');
    open(other, 'b');
    deliveries.remove(one, false);
    assert.deepEqual([deliveries.size, look(10_000), abandoned], [1, ['other b'], ['one: 1']]);
  });

  it('are given up after a deploy that has no node for them, unless one is waited for', () => {
    const [one, other, third] = [begin('one'), begin('other'), begin('third')];
    for (const [confirmer, topic] of [
      [one, 'a'],
      [one, 'b'],
      [other, 'c'],
      [third, 'd'],
    ] as const) {
      open(confirmer, topic);
    }
    deliveries.remove(one, true);
    deliveries.remove(other, true);
    deliveries.resumed((owner) => owner === 'other');
    assert.deepEqual([abandoned, deliveries.size], [['one: 2'], 2]);
    begin('other');
    assert.deepEqual(look(1_001), ['other c']);
  });

  it('are given up where their node does not ask for them any more, which is told once for many', () => {
    const one = begin('one');
    open(one, 'a');
    open(one, 'b');
    refusing.add('one');
    assert.deepEqual([look(2_000), deliveries.size, abandoned], [['one a', 'one b'], 0, []]);
    look(2_500);
    assert.deepEqual(abandoned, ['one: 2']);
    open(one, 'c');
    look(4_000);
    deliveries.rest();
    assert.deepEqual(abandoned, ['one: 2', 'one: 1']);
  });

  it('are sent node by node, another one first each time, and those that were sent come last', async () => {
    const [one, other] = [begin('one', { timeoutMs: 100 }), begin('other', { timeoutMs: 100 })];
    for (let n = 0; n < 400; n++) {
      open(one, `${n}`);
      open(other, `${n}`);
    }
    const sentOf = async () => {
      const all = look(now + 200);
      for (let turns = 0; turns < 40; turns++) {
        await turn();
      }
      return [...all, ...sent.splice(0)];
    };
    const [first, second] = [await sentOf(), await sentOf()];
    const names = (from: string, to: number, owner: string) =>
      Array.from({ length: to - Number(from) }, (_, n) => `${owner} ${n + Number(from)}`);
    assert.deepEqual(first, [...names('0', 400, 'one'), ...names('0', 100, 'other')]);
    assert.deepEqual(second, [
      ...names('100', 400, 'other'),
      ...names('0', 100, 'other'),
      ...names('0', 100, 'one'),
    ]);
  });

  it('are not sent while flows are replaced', () => {
    open(begin('one'), 'a');
    isPaused = true;
    assert.deepEqual(look(5_000), []);
    isPaused = false;
    assert.deepEqual(look(5_001), ['one a']);
  });

  it('are no problem of the others where their node fails', () => {
    const [one, other] = [begin('one'), begin('other')];
    Object.assign(one, {
      again: () => {
        throw new Error('no more');
      },
    });
    open(one, 'a');
    open(other, 'b');
    assert.deepEqual(
      [look(2_000), faults.map(String), deliveries.size],
      [['other b'], ['Error: no more'], 2],
    );
  });

  it('are counted for their nodes', () => {
    const one = begin('one');
    const [first] = [open(one, 'a'), open(one, 'b')];
    look(1_400);
    deliveries.take(first.id);
    look(1_500);
    assert.deepEqual(counts.splice(0), ['one 2 400', 'one 1 500']);
    deliveries.remove(one, true);
    begin('one');
    look(1_600);
    assert.deepEqual(counts, ['one 1 600']);
  });

  it('are gone when it closes', () => {
    const one = begin('one');
    const { id } = open(one, 'a');
    deliveries.close();
    assert.deepEqual(
      [deliveries.size, deliveries.hasConfirmers, deliveries.take(id), look(5_000)],
      [0, false, undefined, []],
    );
    begin('one');
    assert.deepEqual(look(5_001), []);
  });
});
