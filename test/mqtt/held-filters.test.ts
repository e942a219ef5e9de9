// What a broker may hold: granted to this connection, or kept of earlier ones where the session is persistent.
import assert from 'node:assert/strict';
import { HeldFilters } from '../../src/mqtt/held-filters.ts';
import { forgetSession } from '../../src/mqtt/kept-sessions.ts';

const SESSION = 'mqtt://localhost mt-held-filters';

describe('the filters that a broker holds', () => {
  afterEach(() => forgetSession(SESSION));

  const connect = (persistent: boolean, isNew = false) => {
    const held = new HeldFilters(persistent);
    held.prepare(SESSION);
    held.connected(isNew);
    return held;
  };
  const stateOf = (held: HeldFilters) => ({
    granted: held.granted,
    count: held.count,
    all: [...held.all()].sort(),
  });

  it('are none before the first is granted, and need to be asked for', () => {
    const held = connect(false);
    assert.deepEqual(stateOf(held), { granted: 0, count: 0, all: [] });
    assert.deepEqual([held.has('a'), held.isGranted('a'), held.isCurrent('a')], [false, false, false]);
  });

  it('are what was granted, with its QoS', () => {
    const held = connect(false);
    held.grant('a', 1);
    held.grant('b', 0);
    assert.deepEqual(stateOf(held), { granted: 2, count: 2, all: ['a', 'b'] });
    assert.deepEqual([held.has('a'), held.isGranted('a'), held.isCurrent('a')], [true, true, true]);
    assert.deepEqual(
      [held.isCurrent('a', 1), held.isCurrent('a', 2), held.isCurrent('b', 0)],
      [true, false, true],
    );
    held.delete('a');
    assert.deepEqual(stateOf(held), { granted: 1, count: 1, all: ['b'] });
    assert.deepEqual([held.has('a'), held.isGranted('a'), held.isCurrent('a')], [false, false, false]);
  });

  it('may be others than those that are wanted', () => {
    const held = connect(false);
    held.grant('a', 1);
    held.guess(['b']);
    assert.equal(
      held.hasOthers(
        new Map([
          ['a', 1],
          ['b', 1],
        ]),
      ),
      false,
    );
    assert.equal(held.hasOthers(new Map([['a', 1]])), true);
    assert.equal(held.hasOthers(new Map([['b', 1]])), true);
  });

  it('stay while one is asked for once more, and are current again when it was granted', () => {
    const held = connect(false);
    assert.equal(held.renew('a'), false);
    held.grant('a', 1);
    assert.equal(held.renew('a'), true);
    assert.equal(held.renew('a'), false);
    assert.deepEqual([held.isCurrent('a'), held.isGranted('a')], [false, true]);
    held.grant('a', 1);
    assert.equal(held.isCurrent('a'), true);
  });

  it('are current when one that was asked for once more is granted after it was gone', () => {
    for (const leave of [
      (held: HeldFilters) => held.delete('a'),
      (held: HeldFilters) => {
        held.disconnected();
        held.connected(true);
      },
    ]) {
      const held = connect(false);
      held.grant('a', 1);
      held.renew('a');
      leave(held);
      held.grant('a', 1);
      assert.equal(held.isCurrent('a'), true);
    }
  });

  it('are gone with the connection where the session is not persistent', () => {
    const held = connect(false);
    held.asked(['asked']);
    assert.equal(held.has('asked'), false);
    held.grant('a', 1);
    held.disconnected();
    assert.deepEqual(stateOf(held), { granted: 0, count: 0, all: [] });
    assert.equal(connect(false).has('a'), false);
  });

  it('are kept over the end of a connection and of a client where the session is persistent', () => {
    const held = connect(true);
    held.asked(['a', 'asked']);
    held.grant('a', 1);
    held.grant('b', 1);
    held.disconnected();
    for (const later of [held, connect(true)]) {
      assert.deepEqual(stateOf(later), { granted: 0, count: 2, all: ['a', 'asked', 'b'] });
      assert.deepEqual([later.has('a'), later.isGranted('a'), later.isCurrent('a')], [true, false, false]);
      assert.equal(later.has('asked'), false);
    }
  });

  it('are still those that are asked for once more when the connection ends before the response', () => {
    connect(true).grant('a', 1);
    const held = connect(true);
    held.asked(['a']);
    held.disconnected();
    assert.deepEqual([held.count, held.has('a'), held.leftovers()], [1, true, []]);
  });

  it('may be what was asked for when the connection ended: where nobody wants that, it is to be given back', () => {
    const held = connect(true);
    held.asked(['a', 'b']);
    const wanted = new Map([['a', 1]]);
    assert.deepEqual([[...held.all(wanted)], held.hasOthers(wanted)], [['b'], true]);
    held.delete('b');
    assert.deepEqual([[...held.all(wanted)], held.hasOthers(wanted)], [[], false]);
    held.asked(['c']);
    held.grant('c', 1);
    assert.deepEqual(held.leftovers(), ['a']);
    held.delete('c');
    held.refused('a');
    assert.deepEqual([...held.all()], []);
  });

  it('may be one of an earlier process, which does not count, in a session that lasts', () => {
    const held = connect(true);
    held.grant('a', 1);
    held.asked(['b']);
    held.guess(['a', 'b', 'c', 'd']);
    held.disconnected();
    for (const later of [held, connect(true)]) {
      assert.deepEqual(stateOf(later), { granted: 0, count: 1, all: ['a', 'b', 'c', 'd'] });
      assert.deepEqual([later.guesses(), later.leftovers(), later.has('c')], [['c', 'd'], ['b'], false]);
      assert.deepEqual(
        [...'abcd'].map((filter) => later.isGuessed(filter)),
        [false, false, true, true],
      );
      assert.deepEqual(later.uncounted(), ['b', 'c', 'd']);
      assert.deepEqual([later.guesses(new Map([['c', 1]])), [...later.counted()]], [['d'], ['a']]);
    }
    // From now on it is known what it is.
    held.asked(['c']);
    held.grant('d', 1);
    assert.deepEqual([held.guesses(), held.leftovers(), held.count], [[], ['b', 'c'], 2]);
    held.guess(['e']);
    held.delete('e');
    assert.deepEqual(held.guesses(), []);
    held.guess(['e']);
    held.connected(true);
    assert.deepEqual(stateOf(held), { granted: 0, count: 0, all: [] });
  });

  it('are gone when the broker says that the session is new', () => {
    const held = connect(true);
    held.asked(['a']);
    held.grant('a', 1);
    held.asked(['b']);
    held.connected(false);
    assert.deepEqual(stateOf(held), { granted: 0, count: 1, all: ['a', 'b'] });
    held.connected(true);
    assert.deepEqual(stateOf(held), { granted: 0, count: 0, all: [] });
  });

  it('are not those that the broker has refused and did not hold before', () => {
    const held = connect(true);
    held.asked(['a']);
    held.refused('a');
    assert.equal(held.has('a'), false);
  });

  it('are not those that were given back, also in the next connection', () => {
    const held = connect(true);
    held.asked(['a']);
    held.grant('a', 1);
    held.delete('a');
    held.disconnected();
    assert.equal(held.has('a'), false);
  });

  it('are not those because of which a connection has ended, unless they are granted or nobody wants them', () => {
    const held = connect(true);
    held.asked(['a', 'b', 'c']);
    for (const filter of ['a', 'b', 'c']) {
      held.untaken(filter);
    }
    held.grant('c', 1);
    held.disconnected();
    const next = connect(true);
    assert.equal(next.count, 1);
    assert.deepEqual([...next.all(new Map([['a', 1]]))].sort(), ['b', 'c']);
    const passing = connect(false);
    passing.untaken('d');
    assert.deepEqual(stateOf(passing).all, []);
  });

  it('are none of those that were granted once, after a connection has ended because of them', () => {
    const held = connect(true);
    held.grant('a', 1);
    held.untaken('a');
    held.disconnected();
    assert.deepEqual([held.has('a'), held.count, [...held.all()]], [false, 0, ['a']]);
  });

  it('are forgotten when nobody comes back', () => {
    const held = connect(true);
    held.asked(['a', 'b']);
    held.grant('a', 1);
    held.clear();
    assert.deepEqual(stateOf(held), { granted: 0, count: 0, all: [] });
    assert.equal(connect(true).has('a'), false);
  });
});
