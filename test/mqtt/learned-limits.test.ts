// What is learned of a broker by using it: what goes into the next packet, and whose fault the end of a connection was.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { LearnedLimits } from '../../src/mqtt/learned-limits.ts';

const SECOND_MS = 1_000;
/** The broker has a place for what is asked for. */
const hasPlace = () => true;
const SEARCHED = { isSearch: true, isQuota: false };
const NOTHING = { isSearch: false, isQuota: false };

const upTo = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}/${n}`);
const setOf = (...names: string[]) => new Map(names.map((name) => [name, 1]));

describe('what is learned of a broker', () => {
  let now = 0;
  let learned: LearnedLimits;

  beforeEach(() => {
    now = 0;
    mock.method(performance, 'now', () => now);
    learned = new LearnedLimits();
  });

  afterEach(() => mock.reset());

  /** The packets that ask for these where the broker answers each; it holds as many as it has granted. */
  const packets = (filters: readonly string[], before = 0): string[][] => {
    const sent: string[][] = [];
    let held = before;
    for (const portion of learned.subscribePortions(filters, () => held)) {
      sent.push(portion);
      learned.answered();
      held += portion.length;
    }
    return sent;
  };
  const sizesOf = (...rest: Parameters<typeof packets>) => packets(...rest).map(({ length }) => length);
  /** One packet that is not answered yet. */
  const send = (filters: readonly string[], held = 0) =>
    learned.subscribePortions(filters, () => held).next().value as string[];
  const sendUnsubscribe = (filters: readonly string[]) =>
    learned.unsubscribePortions(filters).next().value as string[];

  it('is how many filters it takes in one packet: more after each answer', () => {
    assert.deepEqual(sizesOf(upTo('a', 60)), [8, 16, 32, 4]);
    assert.deepEqual(sizesOf(upTo('b', 300)), [64, 128, 108]);
    assert.deepEqual(sizesOf(upTo('c', 300)), [200, 100]);
  });

  it('does not concern what was known before', () => {
    learned.portions = { maxCount: 3 };
    assert.deepEqual(sizesOf(upTo('a', 8)), [3, 3, 2]);
  });

  it('is how many filters it takes in one packet that gives them back', () => {
    const list = upTo('a', 60);
    const sent: string[][] = [];
    for (const portion of learned.unsubscribePortions(list)) {
      sent.push(portion);
      learned.answered();
    }
    assert.deepEqual(sent.flat(), list);
    assert.deepEqual(
      sent.map(({ length }) => length),
      [8, 16, 32, 4],
    );
  });

  it('is how many it takes in packets whose answers nobody waits for', () => {
    const sizes = () => [...learned.provenPortions(upTo('a', 40))].map(({ length }) => length);
    assert.deepEqual(sizes(), [8, 8, 8, 8, 8]);
    packets(upTo('b', 24));
    assert.deepEqual(sizes(), [16, 16, 8]);
  });

  it('counts no answer to what was answered before, and none missing where nothing was asked for', () => {
    learned.unanswered();
    learned.answered();
    assert.deepEqual(send(upTo('a', 40)).length, 8);
    learned.answered();
    learned.answered();
    assert.deepEqual(send(upTo('a', 40)).length, 16);
  });

  it('is which filters it does not answer: those of such a packet are asked for one by one, behind others', () => {
    const list = upTo('a', 3);
    send(list);
    learned.unanswered();
    assert.deepEqual(packets([...list, 'b', 'c']), [['b', 'c'], ['a/0'], ['a/1'], ['a/2']]);
  });

  it('is which filters it does not answer, also when they were granted before', () => {
    learned.granted('a', 1, true);
    learned.granted('b', 2, true);
    assert.deepEqual(send(['c', 'a', 'b']), ['a', 'b']);
    learned.unanswered();
    assert.deepEqual(packets(['a', 'c', 'b']), [['c'], ['a'], ['b']]);
  });

  it('is which of them may end the connection: it is asked for first', () => {
    send(upTo('a', 3));
    learned.unanswered();
    send(['a/1']);
    learned.lost(hasPlace);
    assert.deepEqual(packets(['b', 'a/0', 'a/1']), [['a/1'], ['b'], ['a/0']]);
  });

  it('is no filter that was alone in a packet that it does not answer, or given back', () => {
    send(['a']);
    learned.unanswered();
    sendUnsubscribe(['b', 'c']);
    learned.unanswered();
    learned.unanswered();
    assert.deepEqual(packets(['a', 'b', 'c', 'd']).flat(), ['a', 'b', 'c', 'd']);
  });

  for (const [title, forget, sent] of [
    ['is granted', () => learned.granted('a/0', 1, true), [['a/0'], ['b'], ['a/1']]],
    ['is not wanted any more', () => learned.unwanted('a/0'), [['b', 'a/0'], ['a/1']]],
    [
      'is not wanted in the next connection',
      () => learned.connected(setOf('a/1', 'a/2')),
      [['b', 'a/0'], ['a/1']],
    ],
  ] as const) {
    it(`is which filters it does not answer, until one ${title}`, () => {
      send(upTo('a', 3));
      learned.unanswered();
      forget();
      assert.deepEqual(packets(['a/1', 'b', 'a/0']), sent);
    });
  }

  it('is for which filter it ends the connection: twice for one alone, and nothing else is suspected', () => {
    assert.deepEqual(send(['bad', 'good']), ['bad', 'good']);
    assert.deepEqual(learned.lost(hasPlace), SEARCHED);
    assert.deepEqual(packets(['new', 'good']), [['new'], ['good']]);
    learned.granted('good', 1, true);
    for (const isBlocked of [false, true]) {
      assert.deepEqual(send(['bad']), ['bad']);
      assert.deepEqual(learned.lost(hasPlace), isBlocked ? { ...SEARCHED, untaken: 'bad' } : SEARCHED);
      assert.equal(learned.forbidden.has('bad'), isBlocked);
    }
    assert.equal(learned.forbidden.has('good'), false);
  });

  it('is no forbidden filter, where a session may hold others, before there was a place for it', () => {
    for (const isFree of [false, false, true]) {
      assert.equal(learned.forbidden.has('bad'), false);
      send(['bad'], 5);
      learned.lost((filter) => filter === 'bad' && isFree);
    }
    assert.equal(learned.forbidden.has('bad'), true);
    for (const _ of [1, 2]) {
      send(['other'], 5);
      learned.lost(hasPlace);
    }
    assert.equal(learned.forbidden.has('other'), true);
  });

  it('is nothing when the connection ends long after it was asked for something', () => {
    for (const [wait, isBlocked] of [
      [5_001, false],
      [5_000, true],
    ] as const) {
      const lessons = [1, 2].map(() => {
        send(['bad']);
        now += wait;
        return learned.lost(hasPlace);
      });
      assert.deepEqual(lessons, isBlocked ? [SEARCHED, { ...SEARCHED, untaken: 'bad' }] : [NOTHING, NOTHING]);
      assert.equal(learned.forbidden.has('bad'), isBlocked);
    }
  });

  it('is nothing when the connection ends and nothing was asked for, or all was answered', () => {
    assert.deepEqual(learned.lost(hasPlace), NOTHING);
    packets(['a']);
    assert.deepEqual(learned.lost(hasPlace), NOTHING);
    send(['a']);
    assert.deepEqual(learned.interrupted(), NOTHING);
    assert.deepEqual(learned.lost(hasPlace), NOTHING);
    send(['a']);
    learned.lost(hasPlace);
    assert.deepEqual(learned.lost(hasPlace), NOTHING);
    send(['a']);
    learned.unanswered();
    assert.deepEqual(learned.lost(hasPlace), NOTHING);
  });

  it('is only how many it takes when the connection ends where filters were given back', () => {
    assert.equal(sendUnsubscribe(upTo('a', 20)).length, 8);
    assert.deepEqual(learned.lost(hasPlace), NOTHING);
    assert.equal(sendUnsubscribe(upTo('a', 20)).length, 4);
    sendUnsubscribe(['b']);
    learned.lost(hasPlace);
    sendUnsubscribe(['b']);
    learned.lost(hasPlace);
    assert.equal(learned.forbidden.has('b'), false);
  });

  it('is how many it takes where a packet that ended the connection or was not answered was too large', () => {
    for (const end of [() => void learned.lost(hasPlace), () => learned.unanswered()]) {
      learned = new LearnedLimits();
      assert.equal(sendUnsubscribe(upTo('a', 20)).length, 8);
      end();
      assert.equal(send(upTo('b', 20)).length, 4);
      end();
      assert.equal(sendUnsubscribe(upTo('c', 20)).length, 2);
    }
  });

  it('is not how many it takes in one packet once one filter is known to end the connection', () => {
    send(upTo('a', 8));
    learned.lost(hasPlace);
    for (let i = 0; i < 2; i++) {
      send(['a/0']);
      learned.lost(hasPlace);
    }
    assert.equal(sendUnsubscribe(upTo('b', 20)).length, 8);
  });

  it('is how many subscriptions it allows: three connections that end at the same number', () => {
    const lessons = ['a', 'b', 'c'].map((filter) => {
      assert.deepEqual(send([filter], 10), [filter]);
      const lesson = learned.lost(hasPlace);
      // Each is granted where there are fewer, so none is at fault.
      send([filter], 5);
      learned.granted(filter, 6, true);
      learned.answered();
      return lesson;
    });
    assert.deepEqual(lessons, [SEARCHED, SEARCHED, { isSearch: true, isQuota: true, untaken: 'c' }]);
    assert.equal(learned.quota.max, 10);
    assert.equal(learned.forbidden.has('c'), false);
  });

  it('is not how many subscriptions it allows where one is granted that it held before', () => {
    for (const filter of ['a', 'b', 'c']) {
      send([filter], 10);
      learned.lost(hasPlace);
      send([filter], 5);
      learned.granted(filter, 6, false);
      learned.answered();
    }
    assert.equal(learned.quota.max, Number.POSITIVE_INFINITY);
  });

  it('is that nothing is wrong with the filters of these connections', () => {
    for (const filter of ['a', 'b', 'c']) {
      send([filter], 10);
      learned.lost(hasPlace);
      if (filter !== 'c') {
        send([filter], 5);
        learned.granted(filter, 6, true);
        learned.answered();
      }
    }
    assert.deepEqual(packets(['d', 'c'], 5), [['d', 'c']]);
  });

  it('is not how many subscriptions it allows after two connections, beside one that ended with several filters', () => {
    const lessons = [['a', 'x'], ['b'], ['c']].map((filters) => {
      assert.deepEqual(send(filters, 10), filters);
      const { isQuota } = learned.lost(hasPlace);
      const [filter] = filters as [string];
      send([filter], 5);
      learned.granted(filter, 6, true);
      learned.answered();
      return isQuota;
    });
    assert.deepEqual(lessons, [false, false, false]);
  });

  it('is looked for one by one beside as many as a packet of several has ended the connection', () => {
    packets(upTo('a', 24));
    assert.equal(send(upTo('b', 5), 10).length, 5);
    learned.lost(hasPlace);
    const rest = upTo('c', 4);
    assert.deepEqual(sizesOf(rest, 7), [3, 1]);
    send(['d'], 9);
    learned.granted('d', 10, true);
    learned.answered();
    assert.equal(send(rest, 7).length, 3);
    send(['e'], 10);
    learned.granted('e', 11, true);
    learned.answered();
    assert.equal(send(rest, 7).length, 4);
  });

  it('is not how many subscriptions it allows where a filter that ends connections is tried again', () => {
    for (let i = 0; i < 2; i++) {
      send(['bad']);
      learned.lost(hasPlace);
    }
    for (let i = 0; i < 4; i++) {
      now += 400 * SECOND_MS;
      assert.equal(
        learned.forbidden.startTrial(() => true),
        'bad',
      );
      assert.deepEqual(packets(['other', 'more']), [['other', 'more']]);
      assert.deepEqual(send(['bad'], 10), ['bad']);
      assert.equal(learned.lost(hasPlace).isQuota, false);
      learned.forbidden.settled(setOf('bad'));
    }
    assert.equal(learned.quota.room(9), Number.POSITIVE_INFINITY);
  });

  it('is that a filter ends no connection any more when it was tried again', () => {
    for (let i = 0; i < 2; i++) {
      send(['bad']);
      learned.lost(hasPlace);
    }
    learned.forbidden.startTrial(() => true);
    assert.equal(learned.granted('other', 1, true), false);
    assert.equal(learned.granted('bad', 2, true), true);
  });

  it('is that a trial comes to nothing when the connection ends for another reason', () => {
    for (let i = 0; i < 2; i++) {
      send(['bad']);
      learned.lost(hasPlace);
    }
    for (const end of [
      () => learned.interrupted(),
      () => learned.lost(hasPlace),
      () => {
        learned.unwanted('bad');
        return NOTHING;
      },
    ]) {
      learned.forbidden.startTrial(() => true);
      assert.equal(learned.forbidden.has('bad'), false);
      assert.deepEqual(end(), NOTHING);
      assert.equal(learned.forbidden.has('bad'), true);
    }
  });
});
