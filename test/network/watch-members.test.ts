// Who is in a watch: who is added, who waits outside for a label, and who goes when there is no room.
import assert from 'node:assert/strict';
import { NetworkState } from '../../src/network/network-state.ts';
import { WatchAlarms } from '../../src/network/watch-alarms.ts';
import type { WatchContext } from '../../src/network/watch-context.ts';
import { WatchMembers } from '../../src/network/watch-members.ts';
import { WatchSchedule } from '../../src/network/watch-schedule.ts';
import { WatchScope } from '../../src/network/watch-scope.ts';
import { newWatched, type Watched, waitFor } from '../../src/network/watched.ts';
import { WatchedGateways } from '../../src/network/watched-gateways.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { G, SETTINGS } from './watched-world.ts';

describe('the members of a watch', () => {
  let now: number;
  let room: number;
  let events: string[];
  let schedule: WatchSchedule<Watched>;
  let checked: string[];
  let timer: (() => void) | undefined;
  let gateways: WatchedGateways;
  let alarms: WatchAlarms;
  let members: WatchMembers;

  beforeEach(() => {
    now = 1_000;
    room = 3;
    [events, checked] = [[], []];
    timer = undefined;
    const network = new NetworkState({ now: () => now });
    schedule = new WatchSchedule<Watched>(({ id }) => void checked.push(id), {
      now: () => now,
      startTimer: (call) => {
        timer = call;
        return () => {
          timer = undefined;
        };
      },
    });
    schedule.setListening(true);
    gateways = new WatchedGateways(network, () => {});
    const context: WatchContext = {
      ...{ network, schedule, gateways, catalogue: createCatalogue(), nameOf: () => undefined },
      ...{ now: () => now, told() {}, isRefused: () => false },
      changed: () => void events.push('changed'),
      mayAdd: () => members.entries.size + members.left.size < room,
    };
    const listener = {
      changed: ({ condition, active, device }: { condition: string; active: boolean; device: string }) =>
        void events.push(`${active ? '+' : '-'}${condition} ${device}`),
      counted: () => void events.push('counted'),
      full: () => void events.push('full'),
      follow() {},
    };
    alarms = new WatchAlarms(context, listener, new WatchScope(SETTINGS));
    members = new WatchMembers(context, listener, alarms, { check() {} });
  });

  const take = () => events.splice(0);
  const add = (...ids: string[]) => ids.map((id) => members.need(id, 'device')!);
  const ids = () => [...members.entries.keys()];
  function tell(entry: Watched): void {
    const alarm = alarms.begin(entry, 'error');
    now += 5_000;
    alarms.tellIfDue(entry, alarm);
    take();
  }

  it('are added when they are needed, once, which is told', () => {
    const [entry] = add('a');
    assert.deepEqual([entry?.id, entry?.kind, entry?.since], ['a', 'device', now]);
    assert.deepEqual(take(), ['changed', 'counted']);
    assert.equal(members.need('a', 'gateway'), entry);
    assert.deepEqual([take(), ids()], [[], ['a']]);
  });

  it('give way to what is new, those first that were added first', () => {
    add('a', 'b', 'c', 'd');
    assert.deepEqual(ids(), ['b', 'c', 'd']);
  });

  it('that need somebody give way last, and their condition ends then', () => {
    const [a] = add('a', 'b', 'c') as [Watched];
    tell(a);
    add('d', 'e');
    assert.deepEqual(ids(), ['a', 'd', 'e']);
    for (const id of ['d', 'e']) {
      members.keep(members.entries.get(id)!);
    }
    take();
    add('g');
    assert.deepEqual(take(), ['-error a', 'counted', 'changed', 'counted']);
    assert.deepEqual([ids(), alarms.needing], [['d', 'e', 'g'], 0]);
  });

  it('that are expected stay, are looked at now, and the rest finds no room, which is told once', () => {
    for (const id of ['a', 'b', 'c']) {
      members.expect(id, 'device');
    }
    assert.ok([...members.entries.values()].every(({ isExpected }) => isExpected));
    timer?.();
    assert.deepEqual(checked, ['a', 'b', 'c']);
    take();
    assert.equal(members.need('d', 'device'), undefined);
    members.expect('e', 'device');
    assert.deepEqual([take(), ids()], [['full'], ['a', 'b', 'c']]);
  });

  it('that were kept stay, where others are passers-by', () => {
    const [a] = add('a', 'b', 'c') as [Watched];
    members.keep(a);
    add('d');
    assert.deepEqual(ids(), ['a', 'c', 'd']);
  });

  it('that are expected no more are passers-by, but for those that are known', () => {
    for (const id of ['a', 'b', 'c']) {
      members.expect(id, 'device');
    }
    const [a, b, c] = [...members.entries.values()] as [Watched, Watched, Watched];
    a.isKnown = true;
    for (const entry of [a, b, b]) {
      members.expectNoMore(entry);
    }
    assert.deepEqual([a.isExpected, b.isExpected, c.isExpected], [false, false, true]);
    add('d', 'e');
    assert.deepEqual(ids(), ['a', 'c', 'e']);
  });

  it('are gone when they are removed, with what was to be looked at and waited for', () => {
    const [a, b] = add('a', 'b') as [Watched, Watched];
    tell(a);
    schedule.set(a, now);
    waitFor(a, [gateways.need(G)]);
    members.remove(a);
    assert.deepEqual([ids(), alarms.needing, alarms.passersBy.first], [['b'], 0, b]);
    assert.deepEqual([schedule.isWaiting, gateways.need(G).waiting.size, a.waitsFor], [false, 0, []]);
    members.remove(a);
    assert.equal(alarms.needing, 0);
    assert.deepEqual(take(), ['-error a', 'counted'], 'what was told of it ends once');
  });

  describe('that have lost their label', () => {
    beforeEach(() => {
      for (const entry of add('a', 'b', 'c')) {
        tell(entry);
        members.leave(entry);
      }
    });

    it('are remembered without their conditions', () => {
      assert.deepEqual([ids(), [...members.left.keys()], alarms.needing], [[], ['a', 'b', 'c'], 0]);
      assert.ok([...members.left.values()].every((entry) => entry.alarms.length === 0));
      members.forgetLeft('b');
      assert.deepEqual([...members.left.keys()], ['a', 'c']);
    });

    it('come back with it, also those that have come another way', () => {
      room = 4;
      add('b');
      const back = members.takeBack(({ id }) => id !== 'c').map(({ id }) => id);
      assert.deepEqual([back, [...members.left.keys()]], [['a', 'b'], ['c']]);
    });

    it('give way before anybody else', () => {
      add('d', 'e');
      assert.deepEqual([ids(), [...members.left.keys()]], [['d', 'e'], ['c']]);
      add('f', 'g');
      assert.deepEqual([ids(), members.left.size], [['e', 'f', 'g'], 0]);
    });

    it('are remembered as the gateways that they were, whatever hears their radio since', () => {
      const entryOf = (hasBrought: boolean) =>
        Object.assign(newWatched('x', 'gateway', { check() {} }, 0), { hasBrought });
      const [guess, gateway, again] = [entryOf(false), entryOf(true), entryOf(true)];
      for (const [entry, expected] of [
        [guess, guess],
        [gateway, gateway],
        [entryOf(false), gateway],
        [again, again],
      ]) {
        members.rememberLeft(entry as Watched);
        assert.equal(members.left.get('x'), expected);
      }
    });

    it('are remembered where they come from a store', () => {
      const entry = newWatched('x', 'device', { check() {} }, 0);
      members.rememberLeft(entry);
      assert.equal(members.left.get('x'), entry);
    });
  });
});
