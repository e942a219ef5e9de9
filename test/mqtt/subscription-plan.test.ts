// What is subscribed or given back next: a change of filters loses no report where the broker has room for both.
import assert from 'node:assert/strict';
import { GivenPlaces } from '../../src/mqtt/given-places.ts';
import { HeldFilters } from '../../src/mqtt/held-filters.ts';
import { type Step, SubscriptionPlan } from '../../src/mqtt/subscription-plan.ts';

const NONE = Number.POSITIVE_INFINITY;

describe('what is asked of a broker next', () => {
  /** `wanted` may change; `held` was granted. */
  const open = (wanted: string[], held: string[], persistent = false) => {
    const wants = new Map(wanted.map((filter) => [filter, 1]));
    const filters = new HeldFilters(persistent);
    for (const filter of held) {
      filters.grant(filter, 1);
    }
    let madeRoom = 0;
    const places = new GivenPlaces((filter) => filter.startsWith('report/'));
    const plan = new SubscriptionPlan(wants, filters, places, () => {
      madeRoom++;
    });
    const next = (max = NONE) => {
      const missing = [...wants.keys()].filter((filter) => !filters.isGranted(filter));
      return plan.next(missing, max);
    };
    /** Does as it says. @returns what it was */
    const follow = (max = NONE) => {
      const step = next(max);
      for (const filter of step?.subscribe ?? []) {
        filters.grant(filter, 1);
      }
      for (const filter of step?.unsubscribe ?? []) {
        filters.delete(filter);
      }
      return step;
    };
    return { plan, wants, filters, next, follow, madeRoom: () => madeRoom };
  };
  const step = (changes: Partial<Step>): Step => ({ subscribe: [], refuse: [], unsubscribe: [], ...changes });

  it('is nothing where it has what is wanted', () => {
    assert.equal(open(['a'], ['a']).next(), undefined);
    assert.equal(open([], []).next(), undefined);
  });

  it('is what is missing first, then what is not wanted any more is given back', () => {
    const { follow, madeRoom } = open(['a', 'b'], ['b', 'old']);
    assert.deepEqual(follow(), step({ subscribe: ['a'] }));
    assert.deepEqual(follow(), step({ unsubscribe: ['old'] }));
    assert.equal(follow(), undefined);
    assert.equal(madeRoom(), 0);
  });

  it('leaves alone what a node may want that cannot work, but where others need its room', () => {
    const { plan, wants, follow } = open(['a'], ['a', 'old/1', 'old/2']);
    plan.isKeeping = true;
    assert.equal(follow(3), undefined);
    wants.set('b', 1);
    assert.deepEqual(follow(3), step({ unsubscribe: ['old/1'] }));
    assert.deepEqual(follow(3), step({ subscribe: ['b'] }));
    assert.equal(follow(3), undefined);
    plan.isKeeping = false;
    assert.deepEqual(follow(3), step({ unsubscribe: ['old/2'] }));
  });

  it('is as many as have room, then the old ones make room for the others', () => {
    const { plan, follow, madeRoom } = open(['a', 'b', 'c'], ['old/1', 'old/2', 'old/3']);
    assert.deepEqual(follow(4), step({ subscribe: ['a'] }));
    assert.deepEqual([plan.makesRoom, madeRoom()], [false, 0]);
    assert.deepEqual(follow(4), step({ unsubscribe: ['old/1'] }));
    assert.deepEqual([plan.makesRoom, madeRoom()], [true, 1]);
    assert.deepEqual(follow(4), step({ subscribe: ['b'] }));
    assert.deepEqual(follow(4), step({ unsubscribe: ['old/2'] }));
    assert.deepEqual(follow(4), step({ subscribe: ['c'] }));
    assert.deepEqual(follow(4), step({ unsubscribe: ['old/3'] }));
    assert.equal(madeRoom(), 2);
    plan.settled();
    assert.equal(plan.makesRoom, false);
  });

  it('is to give back 1, 2, 4 … at a time where many make room, and no more than are needed', () => {
    const upTo = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}/${n}`);
    const { plan, wants, follow } = open(upTo('new', 9), upTo('old', 12));
    const given = () => {
      const counts: number[] = [];
      for (let found = follow(12); found; found = follow(12)) {
        if (found.unsubscribe.length > 0) {
          counts.push(found.unsubscribe.length);
        }
      }
      return counts;
    };
    // The rest is what nobody wants when all that is wanted is there.
    assert.deepEqual(given(), [1, 2, 4, 2, 3]);
    plan.settled();
    plan.startOver();
    wants.clear();
    for (const filter of upTo('other', 12)) {
      wants.set(filter, 1);
    }
    // First those for which there is room, then few again.
    assert.deepEqual(given(), [1, 2, 4, 2]);
  });

  it('is to ask first for those again that made room', () => {
    const { plan, wants, follow } = open(['a', 'b'], ['old/1', 'old/2']);
    assert.deepEqual(follow(2), step({ unsubscribe: ['old/1'] }));
    wants.set('old/1', 1);
    assert.deepEqual(follow(2), step({ subscribe: ['old/1'] }));
    plan.settled();
    wants.set('c', 1);
    assert.deepEqual(follow(3), step({ subscribe: ['a'] }));
  });

  it('is to ask for those in their order once all was settled', () => {
    const { plan, wants, filters, follow } = open(['a'], ['old']);
    follow(1);
    follow(1);
    plan.settled();
    filters.delete('a');
    wants.set('old', 1);
    assert.deepEqual(follow(1), step({ subscribe: ['a'] }));
  });

  it('is to make room for one first, where their number may be too high', () => {
    const { plan, follow, madeRoom } = open(['a', 'b'], ['old/1', 'old/2']);
    plan.makeRoomFirst();
    assert.deepEqual(follow(), step({ unsubscribe: ['old/1'] }));
    assert.equal(madeRoom(), 1);
    assert.deepEqual(follow(), step({ subscribe: ['a', 'b'] }));
  });

  it('is not to make room first once all was settled, or where nothing can be given back', () => {
    const settled = open(['a'], ['old']);
    settled.plan.makeRoomFirst();
    settled.plan.settled();
    assert.deepEqual(settled.next(), step({ subscribe: ['a'] }));
    const without = open(['a'], ['b']);
    without.wants.set('b', 1);
    without.plan.makeRoomFirst();
    assert.deepEqual(without.next(), step({ subscribe: ['a'] }));
  });

  it('is to give one back first, once, where one that may be too many is to have a place', () => {
    const { plan, follow, madeRoom } = open(['a', 'b', 'c'], ['a', 'b']);
    plan.giveBackFirst(['a']);
    assert.deepEqual(follow(), step({ unsubscribe: ['a'] }));
    assert.deepEqual([madeRoom(), plan.makesRoom], [1, true]);
    assert.deepEqual(follow(), step({ subscribe: ['a', 'c'] }));
    plan.giveBackFirst(['b']);
    plan.settled();
    assert.deepEqual([plan.makesRoom, follow()], [false, undefined]);
  });

  it('is what it may hold and nobody wants, all at once, where it allows a number, before others make room', () => {
    const { plan, filters, follow, madeRoom } = open(['wide'], ['old/1', 'old/2'], true);
    filters.asked(['left/1', 'left/2']);
    plan.isHolding = true;
    assert.equal(follow(2), undefined);
    plan.isHolding = false;
    assert.deepEqual([follow(2), madeRoom()], [step({ unsubscribe: ['left/1', 'left/2'] }), 0]);
    assert.deepEqual(follow(2), step({ unsubscribe: ['old/1'] }));
    assert.deepEqual(follow(2), step({ subscribe: ['wide'] }));
    filters.asked(['left/3']);
    assert.deepEqual(follow(), step({ unsubscribe: ['old/2', 'left/3'] }));
  });

  it('is not to give back anything while flows are about to tell what they want', () => {
    const { plan, follow } = open(['a', 'b'], ['old']);
    plan.isHolding = true;
    plan.makeRoomFirst();
    assert.deepEqual(follow(2), step({ subscribe: ['a'] }));
    assert.equal(follow(2), undefined);
    plan.settled();
    plan.isHolding = false;
    assert.deepEqual(follow(2), step({ unsubscribe: ['old'] }));
    assert.deepEqual(follow(2), step({ subscribe: ['b'] }));
    plan.isHolding = true;
    assert.equal(follow(2), undefined);
  });

  it('is what the broker may hold already, although there is no room', () => {
    const { filters, next } = open(['a', 'b'], ['b'], true);
    filters.disconnected();
    assert.deepEqual(next(1), step({ subscribe: ['b'] }));
  });

  it('is as if those were not there of which one may be of an earlier process, until there is no room', () => {
    const { filters, wants, follow, madeRoom } = open(['a', 'b'], []);
    filters.guess(['b', 'x', 'y', 'z']);
    assert.deepEqual(follow(2), step({ subscribe: ['a', 'b'] }));
    wants.set('c', 1);
    assert.deepEqual(follow(2), step({ unsubscribe: ['x', 'y', 'z'] }));
    assert.equal(madeRoom(), 0);
    assert.deepEqual(follow(2), step({ refuse: ['c'] }));
  });

  it('is to give back those of which one may be of an earlier process, after what is asked for', () => {
    const { filters, follow } = open(['a'], []);
    filters.guess(['x', 'y']);
    assert.deepEqual(follow(), step({ subscribe: ['a'] }));
    assert.deepEqual(follow(), step({ unsubscribe: ['x', 'y'] }));
    assert.equal(follow(), undefined);
  });

  describe('where the broker has no place for more', () => {
    it('is to give back at once what it was not counted to hold, and once a round', () => {
      const { plan, filters, follow } = open(['a'], [], true);
      filters.asked(['left', 'a']);
      filters.guess(['x', 'y']);
      assert.equal(plan.giveBackUncounted(), true);
      // Of several packets each may say so.
      assert.equal(plan.giveBackUncounted(), true);
      assert.deepEqual(follow(), step({ unsubscribe: ['left', 'x', 'y'] }));
      filters.guess(['z']);
      assert.equal(plan.giveBackUncounted(), false);
      assert.deepEqual(follow(), step({ subscribe: ['a'] }));
      plan.settled();
      assert.equal(plan.giveBackUncounted(), true);
      plan.settled();
      assert.deepEqual(follow(), step({ unsubscribe: ['z'] }));
    });

    it('is to give back nothing of that where there is none, or flows are about to tell what they want', () => {
      const { plan, wants, filters, next } = open(['a', 'b'], []);
      assert.equal(plan.giveBackUncounted(), false);
      filters.guess(['b', 'x']);
      plan.isHolding = true;
      assert.equal(plan.giveBackUncounted(), false);
      plan.isHolding = false;
      assert.equal(plan.giveBackUncounted(), true);
      plan.isHolding = true;
      assert.deepEqual(next(), step({ subscribe: ['a', 'b'] }));
      plan.isHolding = false;
      plan.settled();
      assert.equal(plan.giveBackUncounted(), true);
      // Now it is wanted: an UNSUBSCRIBE without filters is against the protocol.
      wants.set('x', 1);
      assert.deepEqual(next(), step({ subscribe: ['a', 'b', 'x'] }));
    });
  });

  it('is to refuse what has no room', () => {
    const { next } = open(['a', 'b', 'report/1'], ['a']);
    assert.deepEqual(next(2), step({ subscribe: ['b'] }));
    assert.deepEqual(next(1), step({ refuse: ['b', 'report/1'] }));
    assert.deepEqual(next(0), step({ refuse: ['b', 'report/1'] }));
  });

  it('is to let one of the reports give way to responses that have no room', () => {
    const { next } = open(['report/1', 'report/2', 'response'], ['report/1', 'report/2']);
    assert.deepEqual(next(2), step({ refuse: ['report/2'], unsubscribe: ['report/2'] }));
  });
});
