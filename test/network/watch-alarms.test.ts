// How conditions begin, what is told of them and to whom they belong, and how they end.
import assert from 'node:assert/strict';
import type { DeviceState, GatewayState } from '../../src/network/device-state.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { showsEnd, unreported, WatchAlarms } from '../../src/network/watch-alarms.ts';
import type { ConditionChange, WatchContext } from '../../src/network/watch-context.ts';
import { WatchSchedule } from '../../src/network/watch-schedule.ts';
import { WatchScope } from '../../src/network/watch-scope.ts';
import { type Alarm, newWatched, type Watched } from '../../src/network/watched.ts';
import { WatchedGateways } from '../../src/network/watched-gateways.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { Condition, Presence } from '../../src/protocol/conditions.ts';
import { readReportTopic } from '../../src/protocol/reports/index.ts';
import { ALL, D, deviceAt, G, SETTINGS } from './watched-world.ts';

const NOTHING: Presence = {
  ...{ kind: 'device', silentMs: undefined, intervalMs: undefined, error: undefined, battery: undefined },
  ...{ signal: undefined, isDfu: undefined },
};
const SINCE = '2026-01-01T00:00:00.000Z';
const HOLD_MS = 5_000;

describe('the conditions of a watch', () => {
  const catalogue = createCatalogue();
  let now: number;
  let names: Record<string, string>;
  let alarms: WatchAlarms;
  let schedule: WatchSchedule<Watched>;
  let timer: (() => void) | undefined;
  let turns: (() => void)[];
  let changes: ConditionChange[];
  let counts: { counted: number; told: number };

  beforeEach(() => {
    now = 1_000;
    names = {};
    timer = undefined;
    turns = [];
    changes = [];
    counts = { counted: 0, told: 0 };
    const network = new NetworkState({ now: () => now });
    const check = (entry: Watched) => alarms.tellIfDue(entry, entry.alarms[0] as Alarm);
    schedule = new WatchSchedule<Watched>(check, {
      now: () => now,
      startTimer: (call) => {
        timer = call;
        return () => {
          timer = undefined;
        };
      },
      nextTurn: (call) => void turns.push(call),
    });
    schedule.setListening(true);
    const context: WatchContext = {
      ...{ network, catalogue, schedule, nameOf: (mac) => names[mac], now: () => now },
      ...{ gateways: new WatchedGateways(network, () => {}), changed() {}, mayAdd: () => true },
      told: () => void counts.told++,
      isRefused: () => false,
    };
    const listener = {
      changed: (change: ConditionChange) => void changes.push(change),
      counted: () => void counts.counted++,
      full() {},
      follow() {},
    };
    alarms = new WatchAlarms(context, listener, new WatchScope(SETTINGS));
  });

  const entryOf = (id: string = D, kind: Presence['kind'] = 'device', storedGateway?: string) =>
    Object.assign(newWatched(id, kind, { check() {} }, 0), { storedGateway });
  const told = () => changes.splice(0).map(({ condition, active }) => `${active ? '+' : '-'}${condition}`);
  function begin(entry: Watched, condition: Condition, more: Partial<Alarm> = {}): Alarm {
    return Object.assign(alarms.begin(entry, condition), more);
  }
  function tell(entry: Watched, condition: Condition, more: Partial<Alarm> = {}): Alarm {
    const alarm = begin(entry, condition, more);
    now += HOLD_MS;
    alarms.tellIfDue(entry, alarm);
    return alarm;
  }

  it('are told when they have held for five seconds, once', () => {
    const entry = entryOf();
    const alarm = begin(entry, 'error');
    now += HOLD_MS - 1;
    alarms.tellIfDue(entry, alarm);
    assert.deepEqual([changes, alarms.needing, counts], [[], 0, { counted: 0, told: 0 }]);
    now += 1;
    alarms.tellIfDue(entry, alarm);
    alarms.tellIfDue(entry, alarm);
    assert.deepEqual(told(), ['+error']);
    assert.deepEqual([alarms.needing, counts], [1, { counted: 1, told: 1 }]);
  });

  it('begin as what nobody was told of before the start', () => {
    const { isTold, isStored, storedErrors, errors } = begin(entryOf(), 'error');
    assert.deepEqual([isTold, isStored, storedErrors, errors], [false, false, [], []]);
  });

  it('leave nobody in need when they are over', () => {
    const [a, b] = [entryOf(deviceAt(1)), entryOf(deviceAt(2))];
    alarms.passersBy.add(a);
    alarms.passersBy.add(b);
    const first = begin(a, 'error');
    const second = begin(b, 'error');
    alarms.end(b, second, NOTHING);
    assert.equal(alarms.passersBy.first, b);
    alarms.end(a, first, NOTHING);
    alarms.passersBy.delete(b);
    assert.equal(alarms.passersBy.first, a);
  });

  it('are told with what is known of them, and without what is not', () => {
    const bare = tell(entryOf(), 'error');
    names[D] = 'Hall';
    tell(entryOf(D, 'device', G), 'battery-low', { value: 15, limit: 20 });
    tell(entryOf(D, 'device', G), 'weak-signal', { gateway: deviceAt(9) });
    tell(entryOf(G, 'gateway', deviceAt(9)), 'gateway-silent');
    const since = bare.since;
    assert.deepEqual(
      changes.map((change, i) => (i === 0 ? change : { ...change, since })),
      [
        { condition: 'error', active: true, device: D, since },
        {
          ...{ condition: 'battery-low', active: true, gateway: G, device: D, deviceName: 'Hall', since },
          ...{ value: 15, limit: 20 },
        },
        {
          ...{ condition: 'weak-signal', active: true, gateway: deviceAt(9), device: D, deviceName: 'Hall' },
          since,
        },
        { condition: 'gateway-silent', active: true, gateway: G, device: G, since },
      ],
    );
  });

  it('end untold where they were not told, and else with what is said of the end', () => {
    const entry = entryOf();
    alarms.end(entry, begin(entry, 'error'), NOTHING);
    assert.deepEqual([entry.alarms, changes, alarms.needing], [[], [], 0]);
    for (const [condition, value] of [
      ['battery-low', 50],
      ['weak-signal', -60],
      ['error', undefined],
    ] as const) {
      alarms.end(entry, tell(entry, condition, { value: 7 }), { ...NOTHING, battery: 50, signal: -60 });
      const { active, value: said } = changes.at(-1)!;
      assert.deepEqual([active, said], [false, value]);
    }
    assert.deepEqual([alarms.needing, counts], [0, { counted: 6, told: 6 }]);
  });

  it('are counted by those that have any', () => {
    const [entry, other] = [entryOf(), entryOf(deviceAt(2))];
    const first = tell(entry, 'error');
    const second = tell(entry, 'dfu');
    tell(other, 'error');
    assert.equal(alarms.needing, 2);
    alarms.end(entry, first, NOTHING);
    assert.equal(alarms.needing, 2);
    alarms.end(entry, second, NOTHING);
    assert.equal(alarms.needing, 1);
    alarms.forget(entry);
    assert.equal(alarms.needing, 1, 'it has none any more');
    alarms.forget(other);
    assert.equal(alarms.needing, 0);
  });

  it('are listed once they are told, the oldest first, and the first of them with their number', () => {
    const entries = [1, 2, 3].map((i) => entryOf(deviceAt(i)));
    for (const i of [1, 0, 2]) {
      tell(entries[i]!, 'error');
    }
    begin(entries[0]!, 'dfu');
    const ids = (rows: ConditionChange[]) => rows.map(({ device, active }) => `${device} ${active}`);
    const all = [2, 1, 3].map((i) => `${deviceAt(i)} true`);
    assert.deepEqual(ids(alarms.active(entries)), all);
    const { rows, total } = alarms.firstActive(entries, 2);
    assert.deepEqual([ids(rows), total], [all.slice(0, 2), 3]);
  });

  it('end for those who were told when nobody watches any more', () => {
    const entry = entryOf();
    tell(entry, 'error');
    begin(entry, 'dfu');
    changes = [];
    alarms.tellEnds(entry);
    assert.deepEqual(told(), ['-error']);
  });

  it('keep who needs somebody, the longer the later the first of them has begun', () => {
    const [a, b, c] = [1, 2, 3].map((i) => entryOf(deviceAt(i))) as [Watched, Watched, Watched];
    for (const one of [a, b, c]) {
      alarms.passersBy.add(one);
    }
    const first = begin(a, 'error');
    begin(b, 'error');
    begin(a, 'dfu');
    assert.equal(alarms.passersBy.first, c);
    alarms.passersBy.delete(c);
    assert.equal(alarms.passersBy.first, a);
    alarms.end(a, first, NOTHING);
    assert.equal(alarms.passersBy.first, a);
    alarms.passersBy.delete(a);
    assert.equal(alarms.passersBy.first, b);
  });

  it('are told a hundred in a turn: flows have theirs in between', () => {
    for (let i = 0; i < 150; i++) {
      const entry = entryOf(deviceAt(i));
      begin(entry, 'error');
      schedule.set(entry, schedule.time + HOLD_MS);
    }
    now += HOLD_MS;
    timer?.();
    assert.equal(changes.length, 100);
    turns.shift()?.();
    assert.equal(changes.length, 150);
  });

  describe('that cannot be told at once', () => {
    const [A, B] = [deviceAt(11), deviceAt(12)];
    const untold = () => [...alarms.untold].map(({ device }) => device);

    it('wait until flows run, and those of the watch before come first', () => {
      const [one, other] = [entryOf(B), entryOf()];
      tell(one, 'error');
      tell(other, 'dfu');
      turns.shift()?.();
      assert.deepEqual(told(), ['+error', '+dfu']);
      schedule.setPaused(true);
      alarms.tellEnds(one);
      const [change] = alarms.untold;
      alarms.takeOver([{ ...(change as ConditionChange), device: A }]);
      alarms.tellEnds(other);
      turns.shift()?.();
      assert.deepEqual([told(), untold(), counts], [[], [A, B, D], { counted: 2, told: 2 }]);
      schedule.setPaused(false);
      assert.deepEqual([told(), untold()], [['-error', '-error', '-dfu'], []]);
      assert.deepEqual(counts, { counted: 5, told: 5 });
      alarms.tellEnds(other);
      assert.deepEqual(told(), ['-dfu'], 'nothing waits any more');
    });

    it('wait for a turn where that is asked for, and where this one has taken a hundred', () => {
      alarms.wait();
      tell(entryOf(), 'error');
      assert.deepEqual(told(), []);
      turns.shift()?.();
      assert.deepEqual(told(), ['+error']);
      turns.shift()?.();
      for (let i = 0; i < 101; i++) {
        tell(entryOf(deviceAt(i)), 'error');
      }
      assert.deepEqual([told().length, untold()], [100, [deviceAt(100)]]);
      turns.shift()?.();
      assert.equal(told().length, 1);
    });

    it('are left to the watch that goes on, with what comes after the end', () => {
      alarms.wait();
      tell(entryOf(A), 'error');
      alarms.close();
      tell(entryOf(B), 'error');
      turns.shift()?.();
      assert.deepEqual([told(), untold()], [[], [A, B]]);
    });
  });

  describe('that were told before a start', () => {
    const stored = (condition: Condition, more: Partial<Alarm> = {}): Alarm => ({
      ...{ condition, since: SINCE, beganAt: -1_000, dueAt: 0, isTold: true, value: undefined },
      ...{ limit: undefined, gateway: undefined, errors: [], isStored: true, storedErrors: [] },
      ...more,
    });

    it('go on without being told again, as far as they are watched, and the others end', () => {
      const entry = entryOf();
      alarms.restore(entry, [stored('error'), stored('dfu')], ['error']);
      assert.deepEqual(entry.alarms, [stored('error', { dueAt: schedule.time + HOLD_MS })]);
      assert.deepEqual([alarms.needing, schedule.isWaiting], [1, true]);
      assert.deepEqual(
        changes.map(({ condition, active, since }) => ({ condition, active, since })),
        [{ condition: 'dfu', active: false, since: SINCE }],
      );
      alarms.restore(entry, [stored('battery-low')], ALL);
      assert.equal(alarms.needing, 1);
      assert.deepEqual(
        entry.alarms.map(({ condition }) => condition),
        ['error', 'battery-low'],
      );
    });

    it('go on as those of the same name that have begun since, and were not told', () => {
      const entry = entryOf();
      begin(entry, 'dfu');
      const begun = begin(entry, 'error');
      alarms.restore(entry, [stored('battery-low'), stored('error', { storedErrors: ['8800'] })], ALL);
      const { isTold, since, beganAt, isStored, storedErrors } = begun;
      assert.deepEqual(
        [isTold, since, beganAt, isStored, storedErrors],
        [true, SINCE, -1_000, true, ['8800']],
      );
      assert.deepEqual(
        entry.alarms.map((alarm) => [alarm.condition, alarm.isTold]),
        [
          ['dfu', false],
          ['error', true],
          ['battery-low', true],
        ],
      );
      assert.equal(alarms.needing, 1);
    });

    it('go on as what has begun since where they say nothing of errors', () => {
      const entry = entryOf();
      const begun = begin(entry, 'dfu');
      alarms.restore(entry, [stored('dfu')], ALL);
      assert.deepEqual([begun.isTold, begun.isStored, begun.since], [true, false, SINCE]);
    });

    it('change nothing of one that was told since, nor by one that was not told', () => {
      const entry = entryOf();
      const known = tell(entry, 'error');
      const begun = begin(entry, 'dfu');
      const before = [{ ...known }, { ...begun }];
      alarms.restore(entry, [stored('error'), stored('dfu', { isTold: false })], ALL);
      assert.deepEqual(entry.alarms, before);
    });

    it('keep who needs somebody from being left out first', () => {
      const [a, b] = [entryOf(deviceAt(1)), entryOf(deviceAt(2))];
      alarms.passersBy.add(a);
      alarms.passersBy.add(b);
      alarms.restore(a, [stored('error')], ALL);
      assert.equal(alarms.passersBy.first, b);
    });

    const heard = (heardAt: number) => ({ heardAt }) as DeviceState & GatewayState;
    const ENDS: [Condition, Partial<Watched>, Partial<Presence>, Partial<Alarm>, boolean][] = [
      ['silent', {}, {}, {}, false],
      ['silent', { state: heard(99) }, {}, {}, false],
      ['silent', { state: heard(100) }, {}, {}, true],
      ['silent', { gatewayState: heard(100) }, {}, {}, false],
      ['gateway-silent', { kind: 'gateway' }, {}, {}, false],
      ['gateway-silent', { kind: 'gateway', state: heard(100) }, {}, {}, false],
      ['gateway-silent', { kind: 'gateway', gatewayState: heard(99) }, {}, {}, false],
      ['gateway-silent', { kind: 'gateway', gatewayState: heard(100) }, {}, {}, true],
      ['battery-low', {}, { signal: -60 }, {}, false],
      ['battery-low', {}, { battery: 0 }, {}, true],
      ['weak-signal', {}, { battery: 50 }, {}, false],
      ['weak-signal', {}, { signal: -90 }, {}, true],
      ['dfu', {}, {}, {}, false],
      ['dfu', {}, { isDfu: true }, {}, false],
      ['dfu', {}, { isDfu: false }, {}, true],
      ['error', {}, {}, { storedErrors: [null] }, false],
      ['error', {}, {}, {}, true],
    ];
    for (const [condition, known, presence, alarm, isShown] of ENDS) {
      const what = JSON.stringify([known, presence, alarm]);
      it(`are ${isShown ? '' : 'not '}shown to be over: ${condition}, with ${what}`, () => {
        const entry = Object.assign(newWatched(D, 'device', { check() {} }, 100), known);
        assert.equal(showsEnd(stored(condition, alarm), entry, { ...NOTHING, ...presence }), isShown);
      });
    }

    const KEPT: [tail: string, stored: (string | null)[], left: (string | null)[]][] = [
      ['heartbeat', [null, '8800'], ['8800']],
      ['heartbeat', ['8800'], ['8800']],
      ['measurement/8800', [null, '8800', '8802'], [null, '8802']],
      ['measurement-decoded/temperature', ['8800', 'temperature', '8802'], ['8802']],
      ['measurement/8800', ['temperature'], []],
      ['measurement-decoded/own', ['own', null, 'other'], [null, 'other']],
      ['measurement/8800', [null, '8802'], [null, '8802']],
      ['measurement-error/8800', ['8800', null], ['8800', null]],
      ['rssi', ['8800', null], ['8800', null]],
    ];
    for (const [tail, known, left] of KEPT) {
      it(`of ${JSON.stringify(known)} are ${JSON.stringify(left)} after ${tail}`, () => {
        const rest = unreported(known, readReportTopic('t', G, D, tail), catalogue);
        assert.deepEqual(rest, left);
        assert.equal(rest === known, known.length === left.length, 'the same list where these are all');
      });
    }
  });
});
