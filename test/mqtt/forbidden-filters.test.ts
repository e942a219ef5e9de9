// Filters for which a broker ends the connection: which are taken for that, and when one of them is asked for again.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ForbiddenFilters, TURNS } from '../../src/mqtt/forbidden-filters.ts';

const SECOND_MS = 1_000;
const isAny = () => true;

describe('the filters for which a broker ends the connection', () => {
  let now = 0;
  let filters: ForbiddenFilters;

  beforeEach(() => {
    now = 0;
    mock.method(performance, 'now', () => now);
    mock.method(Math, 'random', () => 0);
    filters = new ForbiddenFilters();
  });
  afterEach(() => mock.reset());

  const pass = (seconds: number) => {
    now += seconds * SECOND_MS;
  };
  /** Two connections have ended when it was asked for one of these alone. */
  const forbid = (...names: string[]) => {
    for (const name of names) {
      filters.lost([name], 0);
      filters.lost([name], 0);
    }
  };
  const blocked = (...names: string[]) => names.filter((name) => filters.has(name)).join('');
  const turns = (...names: string[]) => names.map((name) => filters.turnOf(name));
  const connect = (...wanted: string[]) => filters.connected(new Set(wanted));
  /** The broker has answered everything. */
  const settle = (...wanted: string[]) => filters.settled(new Map(wanted.map((one) => [one, 1])));
  /** So many connections have ended in a row, each with a filter of its own that nobody wants any more. */
  const search = (losses: number) => {
    for (let n = 0; n < losses; n++) {
      filters.lost([`search ${n}`], 1_000);
    }
    filters.acquit();
  };

  it('are none at first', () => {
    assert.deepEqual([blocked('a'), turns('a'), connect('a')], ['', ['unknown'], []]);
    assert.deepEqual([filters.trialWait, filters.nextWait, filters.isSearching], [0, 0, true]);
    assert.equal(filters.startTrial(isAny), undefined);
  });

  it('are those with which alone two connections have ended', () => {
    assert.equal(filters.lost(['a'], 5), false);
    assert.deepEqual([blocked('a'), turns('a', 'b')], ['', ['doubted', 'unknown']]);
    assert.equal(filters.lost(['a'], 5), true);
    assert.deepEqual([blocked('a', 'b'), turns('a')], ['a', ['unknown']]);
  });

  const needsPlace = (...names: string[]) => filters.needsPlace(new Map(names.map((name) => [name, 1])));

  it('are none that may be one too many beside what a session had kept, until a place is free for them', () => {
    const lose = (name: string, hasPlace = false) => [
      filters.lost([name], 5, hasPlace),
      needsPlace('x', name),
    ];
    assert.deepEqual([lose('a'), lose('a'), turns('a')], [[false, false], [false, true], ['doubted']]);
    filters.lost(['m', 'n'], 5);
    assert.deepEqual([needsPlace('x', 'm'), needsPlace('n', 'a')], [false, true]);
    assert.deepEqual([lose('a', true), blocked('a')], [[true, false], 'a']);
    assert.deepEqual(
      [lose('c', true), lose('c', true)],
      [
        [false, false],
        [true, false],
      ],
    );
    // Some are known: the next one may be the same at once.
    assert.deepEqual([lose('b'), lose('b', true), blocked('b')], [[false, true], [true, false], 'b']);
  });

  it('have places of the others: of what nobody wants, else of what was granted, which is asked for again first', () => {
    const give = (held: string[], wanted: string[], isHolding = false) =>
      filters.givePlace(held, new Map(wanted.map((name) => [name, 1])), isHolding);
    for (const name of ['a', 'b', 'old']) {
      filters.granted(name, 1);
    }
    filters.lost(['new', 'x'], 1);
    filters.lost(['f'], 3, false);
    const held = ['known', 'f', 'a', 'b', 'old'];
    const wanted = ['known', 'f', 'a', 'b'];
    assert.deepEqual(give(held, wanted, true), ['a']);
    assert.deepEqual(give(held, wanted), ['old']);
    assert.deepEqual([give(['b', 'known'], wanted), give(['known'], wanted)], [['b'], ['known']]);
    assert.deepEqual(give(['f'], wanted), []);
    filters.lost(['bad'], 5);
    filters.lost(['bad'], 5);
    assert.deepEqual(turns('f', 'a', 'new'), ['doubted', 'returned', 'suspect']);
    filters.forget('a');
    assert.deepEqual(turns('a'), ['returned']);
    filters.granted('a', 3);
    filters.refused('b');
    assert.deepEqual(turns('a', 'b', 'known', 'old'), ['granted', 'unknown', 'returned', 'unknown']);
    filters.unwanted('known');
    assert.deepEqual(turns('known', 'new'), ['unknown', 'doubted']);
  });

  /** The session holds it, and it gives its place to one in doubt, beside one that is known and a broker that has held more. */
  const giveBack = (name: string) => {
    filters.granted('x', 6);
    forbid('bad');
    filters.lost(['f'], 5, false);
    assert.deepEqual(filters.givePlace([name], new Map([[name, 1]]), false), [name]);
    filters.lost(['f'], 4);
    assert.equal(blocked('f'), 'f');
  };

  it('are not those that have given their place, until two connections have ended with one of these', () => {
    giveBack('good');
    assert.deepEqual([filters.lost(['good'], 4), blocked('good')], [false, '']);
    filters.granted('good', 5);
    assert.deepEqual([filters.lost(['f2'], 5), blocked('f2')], [true, 'f2']);
  });

  it('may be one that has given its place: it is tried first, then behind each of the others, later in turns', () => {
    forbid('old');
    for (const _ of [1, 2, 3]) {
      filters.startTrial(isAny);
      filters.lost(['old'], 0);
      settle();
    }
    giveBack('good');
    filters.lost(['good'], 4);
    assert.deepEqual([filters.lost(['good'], 4), filters.trialWait], [true, 10 * SECOND_MS]);
    assert.equal(
      filters.startTrial(() => false),
      undefined,
    );
    for (const [name, seconds] of [
      ['good', 20],
      ['old', 0],
      ['good', 40],
      ['bad', 0],
      ['good', 80],
      ['f', 0],
      ['good', 160],
      ['old', 0],
      ['good', 300],
      ['bad', 300],
      ['good', 300],
      ['f', 300],
      ['good', 300],
    ] as const) {
      pass(300);
      assert.equal(filters.startTrial(isAny), name);
      filters.lost([name], 4);
      assert.equal(filters.trialWait, seconds * SECOND_MS, name);
      settle('good');
    }
    // Nobody wants it: it makes no other be tried more often.
    assert.equal(
      filters.startTrial((one) => one === 'old'),
      'old',
    );
    filters.lost(['old'], 4);
    assert.equal(filters.trialWait, 300 * SECOND_MS);
  });

  it('may be one that has given its place among many that were set aside: it is tried once in a row of them', () => {
    giveBack('good');
    for (const _ of [1, 2]) {
      filters.lost(['good'], 4);
    }
    search(41);
    connect('x', 'good', ...'abcdefgh');
    const row: string[] = [];
    while (row.length < 12) {
      const name = filters.startTrial(isAny)!;
      row.push(name);
      filters.lost([name], 4);
      settle();
      if (filters.trialWait > 0) {
        row.push('-');
        pass(filters.trialWait / SECOND_MS);
      }
    }
    assert.equal(row.join(' '), 'good - a good b - c good d e g -');
  });

  it('leave those for later that were asked for with others, while one is to be asked for again that gave its place', () => {
    giveBack('good');
    filters.lost(['new', 'x2'], 4);
    assert.deepEqual(turns('new'), ['suspect']);
    for (const _ of [1, 2]) {
      filters.lost(['good'], 4);
    }
    assert.deepEqual(turns('new'), ['doubted']);
  });

  it('have one place at a time, until it is taken', () => {
    const give = () => filters.givePlace(['a'], new Map([['a', 1]]), false);
    assert.deepEqual([filters.hasPlace, give(), filters.hasPlace], [false, ['a'], true]);
    filters.placeTaken();
    assert.equal(filters.hasPlace, false);
    assert.deepEqual([filters.givePlace([], new Map(), false), filters.hasPlace], [[], false]);
  });

  it('are soon told from one too many where one was granted when a place was free', () => {
    const doubt = (name: string) => {
      filters.lost([name], 5, false);
      return needsPlace(name);
    };
    assert.deepEqual([doubt('a'), doubt('a')], [false, true]);
    filters.granted('a', 5);
    assert.equal(doubt('b'), true);
    settle('a');
    assert.equal(doubt('c'), false);
  });

  it('need no place once everything was answered, or the connection lasts, or they were too many', () => {
    for (const end of [() => settle('a'), () => filters.lasted(), () => filters.acquit()]) {
      for (const _ of [1, 2]) {
        filters.lost(['a'], 5, false);
      }
      assert.equal(needsPlace('a'), true);
      end();
      filters.lost(['b'], 5);
      assert.equal(needsPlace('a', 'b'), false);
      filters.granted('a', 5);
      filters.granted('b', 5);
    }
  });

  it('are not those that the broker has held, although it has held more: a place is free for each of them', () => {
    forbid('b');
    filters.granted('x', 6);
    assert.deepEqual([filters.lost(['c'], 5, false), blocked('c')], [false, '']);
    assert.deepEqual([filters.lost(['d'], 5), blocked('d')], [true, 'd']);
  });

  it('are those with which alone one connection has ended where others are known, and the broker has held more', () => {
    filters.granted('x', 6);
    forbid('a');
    filters.granted('y', 4);
    assert.deepEqual([filters.lost(['b'], 6), filters.lost(['c'], 5)], [false, true]);
    assert.equal(blocked('a', 'b', 'c'), 'ac');
    filters.refused('a');
    filters.refused('c');
    assert.equal(filters.lost(['d'], 5), false);
  });

  it('are asked for in their turn: what is in doubt first, what was granted before what is not known', () => {
    assert.deepEqual(TURNS, ['doubted', 'returned', 'granted', 'unknown', 'suspect', 'trial']);
    filters.granted('a', 1);
    filters.lost(['b', 'c'], 1);
    filters.lost(['d'], 1);
    assert.deepEqual(turns('a', 'b', 'c', 'd', 'e'), ['granted', 'suspect', 'suspect', 'doubted', 'unknown']);
    filters.lost(['d'], 1);
    // One is known: of several in a packet one is likely another.
    assert.deepEqual(turns('b', 'c'), ['doubted', 'doubted']);
    filters.startTrial(isAny);
    assert.deepEqual(turns('d'), ['trial']);
  });

  it('are hardly among those that were granted: after one packet of several these are asked for as the others', () => {
    filters.granted('a', 1);
    filters.granted('b', 2);
    assert.equal(filters.lost(['a', 'b', 'c'], 0), false);
    assert.deepEqual(turns('a', 'b', 'c'), ['unknown', 'unknown', 'suspect']);
    assert.equal(filters.lost(['a', 'b'], 0), false);
    assert.deepEqual(turns('a', 'b'), ['suspect', 'suspect']);
    filters.granted('a', 1);
    assert.equal(filters.lost(['a'], 0), false);
    assert.deepEqual(turns('a'), ['doubted']);
  });

  it('are none of those that were too many', () => {
    filters.lost(['a'], 1);
    filters.lost(['b', 'c'], 1);
    filters.acquit();
    assert.deepEqual(turns('a', 'b', 'c'), ['unknown', 'unknown', 'unknown']);
    assert.equal(filters.lost(['a'], 1), false);
  });

  it('are none of those that the broker grants, or refuses as it should', () => {
    filters.lost(['a'], 1);
    filters.granted('a', 1);
    assert.equal(filters.lost(['a'], 1), false);
    filters.refused('a');
    assert.deepEqual([turns('a'), filters.lost(['a'], 1)], [['unknown'], false]);
    forbid('b', 'c');
    assert.equal(filters.granted('b', 1), false);
    filters.refused('c');
    assert.equal(blocked('b', 'c'), '');
  });

  it('are known as granted until the broker does not have them, refuses them or nobody wants them', () => {
    for (const name of ['a', 'b', 'c', 'd']) {
      filters.granted(name, 4);
    }
    filters.forget('a');
    filters.refused('b');
    assert.deepEqual(turns('a', 'b', 'c', 'd'), ['unknown', 'unknown', 'granted', 'granted']);
    settle('d', 'e');
    // Not while as many are wanted: most of them are the same then.
    assert.deepEqual(turns('c', 'd'), ['granted', 'granted']);
    settle('d');
    assert.deepEqual(turns('c', 'd'), ['unknown', 'granted']);
  });

  it('are suspected until the broker has answered everything, those that were alone for longer', () => {
    filters.lost(['a', 'b'], 1);
    filters.lost(['c'], 1);
    settle('a', 'b', 'c');
    assert.deepEqual(turns('a', 'b', 'c'), ['unknown', 'unknown', 'doubted']);
    filters.forget('c');
    assert.equal(filters.lost(['c'], 1), true);
  });

  it('are tried one at a time, of those that are wanted the one that was tried longest ago', () => {
    forbid('a', 'b', 'c');
    assert.equal(
      filters.startTrial((one) => one !== 'a'),
      'b',
    );
    filters.granted('other', 1);
    assert.deepEqual([blocked('a', 'b', 'c'), turns('b')], ['ac', ['trial']]);
    assert.equal(filters.startTrial(isAny), undefined);
    assert.equal(filters.granted('b', 1), true);
    assert.equal(filters.startTrial(isAny), 'a');
    filters.lost(['a'], 1);
    settle();
    assert.equal(filters.startTrial(isAny), 'c');
  });

  it('are tried 10 seconds after they were found', () => {
    filters.lost(['a'], 0);
    pass(5);
    filters.lost(['a'], 0);
    assert.deepEqual([filters.trialWait, filters.nextWait], [10_000, 10_000]);
    pass(9);
    assert.equal(filters.trialWait, 1_000);
    pass(2);
    assert.deepEqual([filters.trialWait, filters.nextWait], [0, 0]);
  });

  it('are tried later each time, until after 5 minutes, and those found meanwhile not sooner', () => {
    forbid('a');
    for (const seconds of [20, 40, 80, 160, 300, 300]) {
      assert.equal(filters.startTrial(isAny), 'a');
      assert.equal(filters.lost(['a'], 0), true);
      assert.deepEqual([blocked('a'), filters.trialWait], ['a', seconds * SECOND_MS]);
      settle();
    }
    forbid('b');
    assert.equal(filters.trialWait, 300_000);
  });

  it('are tried as at first once one is granted in its trial, or none is left', () => {
    const fail = () => {
      settle();
      filters.startTrial(isAny);
      filters.lost(['a'], 0);
      return filters.trialWait / SECOND_MS;
    };
    forbid('a');
    assert.deepEqual([fail(), fail()], [20, 40]);
    forbid('b');
    settle();
    filters.startTrial((one) => one === 'b');
    filters.granted('b', 1);
    assert.deepEqual([fail(), fail()], [20, 40]);
    filters.granted('other', 1);
    assert.equal(fail(), 80);
    filters.refused('a');
    forbid('a');
    assert.equal(fail(), 20);
  });

  it('are not tried after a trial that has cost the connection, until what else is wanted was served', () => {
    forbid('a', 'b');
    filters.startTrial(isAny);
    filters.lost(['a'], 0);
    pass(1_000);
    assert.equal(filters.startTrial(isAny), undefined);
    settle();
    assert.equal(filters.startTrial(isAny), 'b');
  });

  it('are known though a connection has ended for another reason in the middle of a trial', () => {
    forbid('a');
    for (const end of [
      () => filters.interrupted(),
      () => filters.unwanted('a'),
      () => filters.lost(['b'], 0),
    ]) {
      filters.startTrial((one) => one === 'a');
      assert.equal(blocked('a'), '');
      end();
      assert.equal(blocked('a'), 'a');
    }
    filters.unwanted('b');
    filters.startTrial((one) => one === 'a');
    filters.unwanted('b');
    assert.equal(blocked('a'), '');
  });

  it('that find no room are tried 10 seconds later, and another one that is asked for need not wait for that', () => {
    forbid('narrow', 'wide');
    pass(60);
    assert.deepEqual([filters.trialWait, filters.nextWait], [0, 0]);
    assert.equal(filters.startTrial(isAny), 'narrow');
    filters.postponed('wide');
    assert.equal(blocked('narrow'), '');
    filters.postponed('narrow');
    assert.deepEqual([blocked('narrow'), filters.trialWait, filters.nextWait], ['narrow', 0, 10_000]);
    assert.equal(
      filters.startTrial((filter) => filter === 'wide'),
      'wide',
    );
  });

  it('that are all that is wanted are tried at once with a connection, one of them, once', () => {
    forbid('a', 'b', 'c');
    assert.deepEqual(connect(), []);
    assert.deepEqual(connect('a', 'b', 'other'), ['a', 'b']);
    assert.deepEqual(connect('b', 'c'), ['c']);
    filters.interrupted();
    assert.deepEqual(connect('b', 'c'), ['b', 'c']);
    // Once more after something was granted.
    filters.granted('other', 1);
    assert.deepEqual(connect('b', 'c'), ['b']);
  });

  it('are looked for in a row of 40 connections, until one of them lasts', () => {
    search(40);
    assert.equal(filters.isSearching, true);
    assert.deepEqual([connect('a', 'b'), blocked('a', 'b')], [[], '']);
    search(1);
    assert.equal(filters.isSearching, false);
    filters.lasted();
    assert.equal(filters.isSearching, true);
    assert.deepEqual(connect('a', 'b'), []);
  });

  it('may be all that was not granted by then: these are set aside, and tried before the others', () => {
    forbid('bad');
    filters.granted('good', 1);
    filters.lost(['a', 'b'], 1);
    search(41);
    pass(100);
    assert.deepEqual(connect('good', 'bad', 'a', 'b'), ['bad', 'a', 'b']);
    assert.deepEqual([turns('good', 'a'), filters.trialWait], [['granted', 'unknown'], 10_000]);
    for (const name of ['a', 'b', 'bad']) {
      assert.equal(filters.startTrial(isAny), name);
      filters.postponed(name);
      filters.startTrial((one) => one === name);
      filters.lost([name], 1);
      settle('good', 'bad', 'a', 'b');
    }
  });

  it('are tried in a row while there are some that were only set aside: more of them the longer the wait was', () => {
    search(41);
    filters.granted('good', 1);
    connect('good', ...'abcdefghij');
    for (const [name, seconds] of [
      ['a', 20],
      ['b', 0],
      ['c', 40],
      ['d', 0],
      ['e', 0],
      ['f', 0],
      ['g', 80],
      ['h', 0],
      ['i', 0],
      // The last one: from here on one is tried after each wait.
      ['j', 160],
      ['a', 300],
      ['b', 300],
    ] as const) {
      assert.equal(filters.startTrial(isAny), name);
      filters.lost([name], 0);
      assert.equal(filters.trialWait, seconds * SECOND_MS, name);
      settle();
      pass(seconds);
    }
  });

  it('are tried after each wait once those that were set aside are granted, or forgotten', () => {
    const fail = () => {
      pass(300);
      filters.startTrial((one) => one !== 'u');
      filters.lost([last], 0);
      settle();
      return filters.trialWait / SECOND_MS;
    };
    let last = 'v';
    search(41);
    filters.granted('good', 1);
    connect('good', 'u', 'v');
    filters.startTrial(isAny);
    assert.equal(filters.granted('u', 2), true);
    assert.deepEqual([fail(), fail()], [20, 40]);
    filters.refused('v');
    connect('good', 'u', 'w');
    forbid(...Array.from({ length: 10_000 }, (_, n) => `n${n}`));
    assert.equal(blocked('w'), '');
    last = 'n0';
    const first = fail();
    last = 'n1';
    assert.deepEqual([first, fail()], [20, 40]);
  });

  it('are tried later and later though some that were set aside are granted in between', () => {
    search(41);
    filters.granted('good', 1);
    connect('good', 'a', 'b', 'c', 'd');
    filters.startTrial(isAny);
    filters.lost(['a'], 0);
    settle();
    assert.equal(filters.startTrial(isAny), 'b');
    filters.granted('b', 2);
    filters.startTrial(isAny);
    pass(20);
    filters.lost(['c'], 0);
    settle();
    assert.equal(filters.trialWait, 0);
    filters.startTrial(isAny);
    filters.lost(['d'], 0);
    assert.equal(filters.trialWait, 40 * SECOND_MS);
  });

  it('are none of those that were only set aside and that nobody wants any more', () => {
    search(41);
    filters.granted('good', 1);
    connect('good', 'a', 'b', 'c', 'd');
    assert.equal(blocked('a', 'b', 'c', 'd'), 'abcd');
    filters.unwanted('a');
    filters.lasted();
    connect('c', 'd', 'e');
    assert.equal(blocked('a', 'b', 'c', 'd', 'e'), 'cd');
    filters.startTrial(isAny);
    filters.unwanted('c');
    assert.equal(blocked('c', 'd'), 'd');
    // What has been tried is known, also where nobody wants it.
    filters.startTrial(isAny);
    filters.lost(['d'], 0);
    filters.unwanted('d');
    connect('e');
    assert.equal(blocked('d'), 'd');
  });

  it('that were set aside and are granted or refused are as any other from then on', () => {
    search(41);
    connect('a', 'b');
    filters.granted('a', 1);
    filters.refused('b');
    forbid('c');
    filters.startTrial(isAny);
    filters.lost(['c'], 0);
    assert.equal(filters.trialWait, 20_000);
    forbid('a', 'b');
    filters.unwanted('a');
    filters.unwanted('b');
    assert.equal(blocked('a', 'b'), 'ab');
  });

  it('that were set aside are suspected of nothing when they are wanted again', () => {
    search(40);
    filters.lost(['a'], 0);
    filters.granted('good', 1);
    assert.deepEqual(connect('good', 'a'), ['a']);
    filters.unwanted('a');
    assert.deepEqual(turns('a'), ['unknown']);
  });

  it('are 10 000 at most with those that were set aside, of which none is missed then', () => {
    search(41);
    filters.granted('good', 1);
    assert.deepEqual(connect('good', 'aside'), ['aside']);
    for (let n = 0; n < 10_000; n++) {
      forbid(`${n}`);
    }
    assert.equal(filters.has('aside'), false);
    filters.startTrial(isAny);
    filters.lost(['0'], 0);
    assert.equal(filters.trialWait, 20_000);
  });

  it('are 10 000 at most, of which the one is forgotten that was tried or found longest ago', () => {
    forbid('first', 'second');
    filters.startTrial(isAny);
    filters.lost(['first'], 0);
    for (let n = 0; n < 9_998; n++) {
      forbid(`${n}`);
    }
    assert.equal(filters.has('first') && filters.has('second'), true);
    forbid('one more');
    assert.deepEqual(
      [filters.has('first'), filters.has('second'), filters.has('one more')],
      [true, false, true],
    );
  });

  it('are suspected of 10 000 at most, of which the oldest is forgotten', () => {
    filters.lost(['first'], 0);
    filters.lost(['second'], 0);
    const others = Array.from({ length: 9_998 }, (_, n) => `${n}`);
    filters.lost(['first', ...others], 0);
    assert.deepEqual(turns('first', 'second'), ['doubted', 'doubted']);
    filters.lost(['one', 'more'], 0);
    assert.deepEqual(turns('first', 'second', '0', 'one', 'more'), [
      'unknown',
      'unknown',
      'suspect',
      'suspect',
      'suspect',
    ]);
  });

  it('are suspected anew each time, also where they were granted before', () => {
    filters.granted('good', 1);
    filters.lost(['first'], 0);
    filters.lost(['second'], 0);
    filters.lost(['first', 'third'], 0);
    const others = Array.from({ length: 9_997 }, (_, n) => `${n}`);
    filters.lost(others, 0);
    filters.lost(['good'], 0);
    assert.deepEqual(turns('first', 'second', 'good'), ['doubted', 'unknown', 'doubted']);
  });
});
