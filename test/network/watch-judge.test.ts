// What is judged of one watched gateway or device by what is known of it, for whom it waits, and when it is looked at again.
import assert from 'node:assert/strict';
import { NO_ERRORS } from '../../src/network/device-errors.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import { WatchAlarms } from '../../src/network/watch-alarms.ts';
import type {
  ConditionChange,
  WatchContext,
  WatchedPlace,
  WatchSettings,
} from '../../src/network/watch-context.ts';
import { WatchJudge } from '../../src/network/watch-judge.ts';
import { WatchSchedule } from '../../src/network/watch-schedule.ts';
import { WatchScope } from '../../src/network/watch-scope.ts';
import { type Alarm, newWatched, type Watched } from '../../src/network/watched.ts';
import { WatchedGateways } from '../../src/network/watched-gateways.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { Condition, Presence } from '../../src/protocol/conditions.ts';
import { type Report, type ReportTopic, readReportTopic } from '../../src/protocol/reports/index.ts';
import { ALL, D, deviceAt, G, G2, HOUR, MINUTE, S, SETTINGS } from './watched-world.ts';

/** Of `SETTINGS`, and of what has no usual interval. */
const LIMIT = MINUTE;
const HOLD_MS = 5 * S;
const ASSUMED = 15 * MINUTE;
const GONE = 4 * HOUR;
const X = deviceAt(2);

describe('a watch judges', () => {
  const catalogue = createCatalogue();
  let now: number;
  let network: NetworkState;
  let gateways: WatchedGateways;
  let schedule: WatchSchedule<Watched>;
  let scope: WatchScope;
  let alarms: WatchAlarms;
  let judge: WatchJudge;
  let entries: Map<string, Watched>;
  let isRefused: (place: WatchedPlace) => boolean;
  let changes: ConditionChange[];
  let stores: number;

  beforeEach(() => {
    now = 0;
    network = new NetworkState({ now: () => now });
    network.setListening(true, false);
    gateways = new WatchedGateways(network, () => {});
    network.onHeard((_, gateway) => gateways.heard(gateway));
    schedule = new WatchSchedule<Watched>(() => {}, { now: () => now, startTimer: () => () => {} });
    schedule.setListening(true);
    entries = new Map();
    isRefused = () => false;
    changes = [];
    stores = 0;
    now = HOUR;
    watch();
  });

  function watch(more: Partial<WatchSettings> = {}): void {
    const settings = { ...SETTINGS, ...more };
    const context: WatchContext = {
      ...{ network, catalogue, schedule, gateways, nameOf: () => undefined, now: () => now, told() {} },
      changed: () => void stores++,
      mayAdd: () => true,
      isRefused: (place) => isRefused(place),
    };
    const changed = (change: ConditionChange) => void changes.push(change);
    scope = new WatchScope(settings);
    alarms = new WatchAlarms(context, { changed, counted() {}, full() {}, follow() {} }, scope);
    judge = new WatchJudge(context, settings, scope, alarms, entries);
  }
  function watched(id: string = D, kind: Presence['kind'] = 'device', more: Partial<Watched> = {}): Watched {
    const entry = Object.assign(newWatched(id, kind, { check() {} }, now), more);
    entries.set(id, entry);
    know(id);
    return entry;
  }
  function know(id: string): void {
    const entry = entries.get(id);
    if (entry) {
      entry.state = network.device(id) ?? entry.state;
      entry.gatewayState =
        entry.kind === 'gateway' && scope.watchesGateways ? network.gateway(id) : undefined;
    }
  }
  function hear(rest = 'heartbeat', body: object = {}, { device = D, gateway = G } = {}): ReportTopic {
    const at = readReportTopic('t', gateway, device, rest);
    network.record(at, now, { time: 't', ...body } as Report);
    know(device);
    know(gateway);
    return at;
  }
  const hears = (gateway: string, ...devices: string[]) => {
    for (const device of devices) {
      hear('heartbeat', {}, { gateway, device });
    }
  };
  /** One report each every minute, the last ones now. */
  function run(minutes: number, ...heard: [gateway: string, ...devices: string[]][]): void {
    for (let minute = 0; minute < minutes; minute++) {
      now += MINUTE;
      for (const one of heard) {
        hears(...one);
      }
    }
  }
  const told = () => changes.splice(0).map(({ condition, active }) => `${active ? '+' : '-'}${condition}`);
  /** As the schedule does it. */
  function look(entry: Watched): void {
    schedule.remove(entry);
    judge.judge(entry, undefined);
  }
  /** As long as a condition has to hold. */
  function hold(entry: Watched): void {
    now += HOLD_MS;
    look(entry);
  }
  /** In how many milliseconds it is looked at again; undefined: not before it is heard. */
  const looksIn = ({ place, deadline }: Watched) => (place < 0 ? undefined : deadline - schedule.time);
  const waitsFor = (entry: Watched) => entry.waitsFor.map(({ id }) => id).sort();
  const known = (condition: Condition, more: Partial<Alarm> = {}): Alarm => ({
    ...{ condition, since: '2026-01-01T00:00:00.000Z', beganAt: -1_000, dueAt: 0, isTold: true },
    ...{ value: undefined, limit: undefined, gateway: undefined, errors: NO_ERRORS, isStored: false },
    ...{ storedErrors: [], ...more },
  });
  const conditions = ({ alarms: all }: Watched) => all.map(({ condition }) => condition);

  describe('silence', () => {
    it('from the millisecond after its limit, told after it has held', () => {
      const entry = watched();
      judge.judge(entry, hear());
      assert.equal(looksIn(entry), LIMIT + 1);
      now += LIMIT;
      look(entry);
      assert.deepEqual([conditions(entry), looksIn(entry)], [[], 1]);
      now += 1;
      look(entry);
      assert.deepEqual([conditions(entry), looksIn(entry)], [['silent'], HOLD_MS]);
      hold(entry);
      assert.deepEqual([told(), looksIn(entry)], [['+silent'], undefined]);
      judge.judge(entry, hear());
      assert.deepEqual([told(), looksIn(entry)], [['-silent'], LIMIT + 1]);
    });

    it('where somebody asked for it, and it is known after how long', () => {
      for (const [settings, kind, more, isMissed] of [
        [{}, 'device', {}, true],
        [{ conditions: ['gateway-silent'] }, 'device', {}, false],
        [{ conditions: ['silent'] }, 'device', {}, true],
        [{ conditions: ['silent'] }, 'gateway', {}, false],
        [{ conditions: ['gateway-silent'] }, 'gateway', {}, true],
        [{ silentAfter: 0 }, 'device', {}, false],
        [{ silentAfter: 0 }, 'device', { isExpected: true }, true],
        [{ silentAfter: 0 }, 'device', { storedIntervalMs: MINUTE }, true],
      ] as const) {
        watch(settings);
        const entry = watched(D, kind, more);
        assert.equal(judge.isMissed(entry), isMissed, JSON.stringify([settings, kind, more]));
        now += 2 * HOUR;
        look(entry);
        assert.equal(entry.alarms.length, Number(isMissed));
        assert.equal(judge.silentMs(entry), isMissed ? 2 * HOUR : 0);
      }
    });

    it('of no address for an update only', () => {
      hear('dfu');
      const entry = watched();
      assert.equal(judge.isMissed(entry), false);
      now += HOUR;
      look(entry);
      assert.deepEqual([conditions(entry), looksIn(entry)], [[], undefined]);
      assert.equal(judge.isMissed(watched(D, 'device', { isExpected: true })), true);
    });

    it('of no device whose report is judged just now, whatever is known of its gateways', () => {
      const entry = watched();
      const at = hear();
      now += 2 * MINUTE;
      judge.judge(entry, at);
      assert.deepEqual([conditions(entry), looksIn(entry)], [[], LIMIT + 1]);
    });

    it('of a gateway that only another one hears', () => {
      hears(G, D, G);
      const entry = watched(G, 'gateway');
      now += 2 * MINUTE;
      judge.judge(entry, hear('rssi', { rssi: -60 }, { gateway: G2, device: G }));
      assert.deepEqual(conditions(entry), ['gateway-silent']);
      judge.judge(entry, hear('heartbeat', {}, { device: G }));
      assert.deepEqual(conditions(entry), []);
    });

    it('which has begun, until a report comes, though its gateway is away', () => {
      run(10, [G, D, X]);
      const entry = watched();
      run(2, [G, X]);
      look(entry);
      hold(entry);
      assert.deepEqual(told(), ['+silent']);
      now += HOUR;
      look(entry);
      assert.deepEqual([told(), waitsFor(entry), looksIn(entry)], [[], [], undefined]);
    });
  });

  describe('for whom a device waits', () => {
    const Y = deviceAt(3);

    it('which is its gateway, as long as that may be silent itself, and no gateway where nobody tells of that', () => {
      run(10, [G, D, X]);
      const entry = watched();
      now += 2 * MINUTE;
      look(entry);
      assert.deepEqual([conditions(entry), waitsFor(entry)], [[], [G]]);
      assert.equal(looksIn(entry), GONE - 2 * MINUTE + 1);
      watch({ conditions: ['silent'] });
      look(entry);
      assert.deepEqual([conditions(entry), waitsFor(entry)], [['silent'], []]);
    });

    it('for four hours, or for as long as its limit', () => {
      for (const silentAfter of [60, 5 * 3_600]) {
        watch({ silentAfter });
        const most = Math.max(GONE, silentAfter * S);
        run(10, [G, D, X]);
        const entry = watched(D, 'device', { since: 0 });
        now += most - 1;
        look(entry);
        assert.deepEqual(conditions(entry), [], `${silentAfter}`);
        now += 2;
        look(entry);
        assert.deepEqual([conditions(entry), waitsFor(entry)], [['silent'], []], `${silentAfter}`);
      }
    });

    it('as long as that lasts where the silence of its gateway is told: now and then that is looked at', () => {
      run(10, [G, D, X]);
      watched(G, 'gateway');
      const entry = watched();
      now += GONE + HOUR;
      look(entry);
      assert.deepEqual([conditions(entry), waitsFor(entry), looksIn(entry)], [[], [G], GONE + 1]);
      scope.forgetGateway(G);
      look(entry);
      assert.deepEqual(conditions(entry), ['silent'], 'it was taken away');
    });

    it('no longer where its gateway is watched, and not missed', () => {
      watch({ silentAfter: 0 });
      hears(G, D, X);
      watched(G, 'gateway', { isExpected: false });
      const entry = watched(D, 'device', { storedIntervalMs: MINUTE });
      now += GONE;
      look(entry);
      assert.deepEqual(conditions(entry), ['silent']);
    });

    it('which are all that have heard it about when it was heard last, and that which brings most', () => {
      run(30, [G, D, X]);
      now += HOUR;
      hears('c0141f68fc40', D, Y);
      now += LIMIT + 1;
      hears('c0141f68fc41', D, Y);
      now += 1;
      hears(G2, D, X, Y);
      const entry = watched();
      now += 2 * MINUTE;
      look(entry);
      assert.deepEqual(waitsFor(entry), [G, G2, 'c0141f68fc41'].sort());
      now -= MINUTE;
      look(entry);
      // Heard at the very limit before the last time.
      assert.equal(waitsFor(entry).includes('c0141f68fc40'), false);
    });

    it('which is of those that may be there that which brings most, however much one that is gone has brought', () => {
      const third = 'c0141f68fc40';
      run(60, [G, D]);
      now += GONE;
      run(15, [G2, D, X, Y]);
      now += LIMIT + 1;
      hears(third, D, X, Y);
      const entry = watched();
      now += 2 * MINUTE;
      look(entry);
      assert.deepEqual(waitsFor(entry), [G2, third]);
    });

    it('longer where another gateway brings few of its reports, and no time is set', () => {
      for (const silentAfter of [0, 180]) {
        watch({ silentAfter });
        for (let minute = 0; minute < 60; minute++) {
          run(1, [G, D, X], [G2, X, Y], ...(minute % 3 === 0 ? [[G2, D] as [string, string]] : []));
        }
        const entry = watched(D, 'device', { since: 0 });
        run(6, [G2, X, Y]);
        look(entry);
        assert.deepEqual(conditions(entry), silentAfter > 0 ? ['silent'] : [], `${silentAfter}`);
      }
    });

    it('where it was never heard since the start: that of before, for four hours since the start', () => {
      const entry = watched(D, 'device', { storedGateway: G, isExpected: true });
      now += 2 * MINUTE;
      look(entry);
      assert.deepEqual([conditions(entry), waitsFor(entry)], [[], [G]]);
      assert.equal(looksIn(entry), GONE - HOUR - 2 * MINUTE + 1);
      const other = watched(X, 'device', { isExpected: true });
      now += 2 * MINUTE;
      look(other);
      assert.deepEqual(conditions(other), ['silent'], 'of which no gateway is known');
      now = GONE;
      look(entry);
      assert.deepEqual(conditions(entry), ['silent']);
    });

    it('which is also that which brought most before the start, beside those that have heard it', () => {
      hears(G2, D, X);
      const entry = watched(D, 'device', { storedMainGateway: G });
      now += 2 * MINUTE;
      look(entry);
      assert.deepEqual([conditions(entry), waitsFor(entry)], [[], [G, G2]]);
    });

    it('no more when it is heard', () => {
      run(10, [G, D, X]);
      const entry = watched();
      now += 2 * MINUTE;
      look(entry);
      assert.equal(gateways.get(G)?.waiting.has(entry), true);
      judge.judge(entry, hear());
      assert.deepEqual([waitsFor(entry), gateways.get(G)?.waiting.size], [[], 0]);
    });
  });

  describe('whether a device is alone at its gateways', () => {
    it('by what each of them brings', () => {
      run(10, [G, D]);
      const entry = watched();
      assert.equal(judge.isAlone(entry), true);
      hears(G2, D, X);
      assert.equal(judge.isAlone(entry), false);
    });

    it('by what was known before the start, where it was never heard since, and of a gateway', () => {
      for (const wasAlone of [true, false]) {
        assert.equal(judge.isAlone(watched(D, 'device', { wasAlone })), wasAlone);
      }
      hears(G, G);
      assert.equal(judge.isAlone(watched(G, 'gateway', { wasAlone: false })), false);
      hears(G, X);
      assert.equal(judge.isAlone(watched(G, 'gateway', { wasAlone: true })), true);
    });

    it('not where nothing is known of one of them', () => {
      hears(G, D);
      const entry = watched();
      gateways = new WatchedGateways(network, () => {});
      watch();
      assert.equal(judge.isAlone(entry), false);
    });

    it('hours after the others, by its own limit', () => {
      run(1, [G, X, D]);
      run(5 * 60, [G, D]);
      const entry = watched(D, 'device', { since: 0 });
      assert.equal(judge.isAlone(entry), true);
      watch({ silentAfter: 6 * 3_600 });
      assert.equal(judge.isAlone(entry), false);
      watch({ silentAfter: 0 });
      assert.equal(judge.isAlone(entry), true);
    });
  });

  describe('nobody silent whom the broker does not let be heard', () => {
    const places = (...refused: string[]) => {
      isRefused = ({ gateway = '', device = '' }) => refused.includes(`${gateway}/${device}`);
    };

    it('until that is granted, and everything is settled: then its time begins', () => {
      places(`${G}/${D}`);
      run(10, [G, D, X]);
      const entry = watched();
      run(5, [G, X]);
      look(entry);
      assert.deepEqual([conditions(entry), entry.since, looksIn(entry)], [[], now, undefined]);
      places();
      run(5, [G, X]);
      look(entry);
      assert.deepEqual(conditions(entry), [], 'asked again, with others');
      run(1, [G, X]);
      judge.settled(entries.values(), undefined);
      assert.deepEqual([entry.since, looksIn(entry)], [now, 0]);
      run(1, [G, X]);
      look(entry);
      assert.deepEqual(conditions(entry), []);
      run(1, [G, X]);
      look(entry);
      assert.deepEqual(conditions(entry), ['silent']);
    });

    for (const [what, kind, settings, heardBy, refused, isSpared] of [
      ['a gateway', 'gateway', {}, [], [`${D}/`], true],
      ['another gateway', 'gateway', {}, [], [`${G}/`], false],
      ['a device of any gateway', 'device', {}, [], [`/${D}`], true],
      ['one of a gateway that has not brought it', 'device', {}, [], [`${G}/${D}`], false],
      ['one of listed gateways', 'device', { gateways: [G, G2] }, [], [`${G}/${D}`, `${G2}/${D}`], true],
      ['one of one of them', 'device', { gateways: [G, G2] }, [], [`${G}/${D}`], false],
      ['one of its gateway', 'device', { gateways: [G, G2] }, [G], [`${G}/${D}`], true],
      ['one of one of its gateways', 'device', {}, [G, G2], [`${G}/${D}`], false],
      ['one of both of them', 'device', {}, [G, G2], [`${G}/${D}`, `${G2}/${D}`], true],
    ] as const) {
      it(`which is ${isSpared ? '' : 'not '}so where it refuses ${what}`, () => {
        watch(settings);
        for (const gateway of heardBy) {
          hears(gateway, D);
        }
        const entry = watched(D, kind);
        const other = watched(deviceAt(9), kind);
        places(...refused);
        judge.settled(entries.values(), isRefused);
        places();
        now += 2 * MINUTE;
        judge.settled(entries.values(), isRefused);
        assert.deepEqual([entry.since === now, other.since === now], [isSpared, false]);
        places(...refused);
        now += 2 * MINUTE;
        look(entry);
        assert.deepEqual(conditions(entry).length, isSpared ? 0 : 1);
      });
    }

    it('by its own gateways only, where another one has brought it long before', () => {
      for (const [settings, longMs] of [
        [{}, LIMIT],
        [{ silentAfter: 0 }, ASSUMED],
        [{ conditions: ['error'], silentAfter: 0 }, ASSUMED],
      ] as const) {
        for (const isLong of [true, false]) {
          watch(settings);
          const device = deviceAt(10 + entries.size);
          hears(G2, device);
          now += longMs + (isLong ? 1 : 0);
          run(1, [G, device]);
          now -= MINUTE;
          hears(G, device, device);
          const entry = watched(device);
          places(`${G}/${device}`);
          judge.settled([entry], isRefused);
          now += 1;
          judge.settled([entry], undefined);
          assert.equal(entry.since === now, isLong, JSON.stringify([settings, isLong]));
        }
      }
    });

    it('and leaves what was told as it is', () => {
      for (const [alarm, isAnew] of [
        [known('silent'), false],
        [known('gateway-silent'), false],
        [known('silent', { isTold: false }), true],
        [known('battery-low'), true],
      ] as const) {
        const entry = watched(D, 'device', { alarms: [alarm] });
        const { since } = entry;
        judge.settled([entry], () => true);
        now += 1;
        judge.settled([entry], () => true);
        assert.equal(entry.since, since, 'it is refused still');
        judge.settled([entry], undefined);
        assert.equal(entry.since, isAnew ? now : since, `${alarm.condition} ${alarm.isTold}`);
        now += 1;
        judge.settled([entry], undefined);
        assert.notEqual(entry.since, now, 'only once');
      }
    });

    it('and leaves alone what was heard since', () => {
      const entry = watched();
      const { since } = entry;
      judge.settled([entry], () => true);
      judge.heard(entry);
      now += 1;
      judge.settled([entry], undefined);
      assert.equal(entry.since, since);
    });

    it('and not the silence that was told, which goes on', () => {
      const entry = watched();
      now += 2 * MINUTE;
      look(entry);
      hold(entry);
      assert.deepEqual(told(), ['+silent']);
      isRefused = () => true;
      now += 2 * MINUTE;
      const { since } = entry;
      look(entry);
      assert.deepEqual([told(), entry.since], [[], since]);
    });

    it('and is not asked of what is not silent', () => {
      isRefused = () => true;
      const entry = watched();
      const { since } = entry;
      now += LIMIT;
      look(entry);
      assert.equal(entry.since, since);
    });
  });

  describe('when it is looked at again', () => {
    it('is when the first of what was not told yet is due, or it is silent', () => {
      watch({ conditions: ALL });
      const entry = watched();
      judge.judge(entry, hear('property/8100', { value: 3 }));
      assert.equal(looksIn(entry), HOLD_MS);
      now += 2 * S;
      judge.judge(entry, hear('heartbeat', { status: 3 }));
      assert.equal(looksIn(entry), HOLD_MS - 2 * S);
      now += 3 * S;
      look(entry);
      assert.deepEqual([told(), looksIn(entry)], [['+battery-low'], 2 * S]);
      now += 2 * S;
      look(entry);
      assert.deepEqual([told(), looksIn(entry)], [['+error'], LIMIT + 1 - 2 * S - 3 * S]);
    });

    it('is never while nothing depends on it', () => {
      for (const settings of [
        { conditions: ['battery-low'] },
        { conditions: ALL, silentAfter: 0 },
      ] as const) {
        watch(settings);
        const entry = watched();
        schedule.set(entry, schedule.time + 1);
        judge.judge(entry, hear('property/8100', { value: 3 }));
        hold(entry);
        assert.deepEqual([told(), looksIn(entry)], [['+battery-low'], undefined]);
        entries.clear();
      }
    });

    it('is no later with each report, but at once when that is earlier', () => {
      const entry = watched();
      judge.judge(entry, hear());
      now += 30 * S;
      judge.judge(entry, hear());
      assert.equal(looksIn(entry), LIMIT + 1 - 30 * S);
      watch({ silentAfter: 10 });
      judge.judge(entry, hear());
      assert.equal(looksIn(entry), 10 * S + 1);
    });

    it('is at once where it is silent for longer than somebody looked', () => {
      const entry = watched(D, 'device', { since: now - HOUR, alarms: [known('dfu', { isStored: true })] });
      watch({ conditions: ['dfu'] });
      look(entry);
      assert.deepEqual(conditions(entry), []);
    });

    it('is after its limit when it is known to be heard in another interval', () => {
      run(10, [G, D, X]);
      const entry = watched();
      now += 2 * MINUTE;
      look(entry);
      hear();
      for (const [deadline, expected] of [
        [LIMIT + 2, LIMIT + 1],
        [LIMIT, LIMIT],
        [1, 1],
        [undefined, LIMIT + 1],
      ] as const) {
        schedule.remove(entry);
        if (deadline !== undefined) {
          schedule.set(entry, schedule.time + deadline);
        }
        judge.heardAnew(entry);
        assert.deepEqual([looksIn(entry), waitsFor(entry)], [expected, []]);
      }
      watch({ silentAfter: 0 });
      const other = watched(X);
      Object.assign(other, { state: undefined });
      judge.heardAnew(other);
      assert.equal(looksIn(other), undefined, 'nobody misses it');
    });
  });

  describe('the update mode', () => {
    beforeEach(() => watch({ conditions: ['dfu'], silentAfter: 0 }));

    it('from a report of it until one of anything else, and a signal says nothing of it', () => {
      const entry = watched();
      judge.judge(entry, hear('rssi', { rssi: -60 }));
      assert.deepEqual(conditions(entry), []);
      judge.judge(entry, hear('dfu'));
      hold(entry);
      judge.judge(entry, hear('rssi', { rssi: -60 }));
      assert.deepEqual(told(), ['+dfu']);
      judge.judge(entry, hear());
      assert.deepEqual([told(), looksIn(entry)], [['-dfu'], undefined]);
    });

    it('until nothing was heard for a quarter of an hour, or for its limit', () => {
      for (const [more, limit] of [
        [{}, ASSUMED],
        [{ isExpected: true }, HOUR],
        [{ storedIntervalMs: 7 * MINUTE }, 21 * MINUTE],
      ] as const) {
        const entry = watched(D, 'device', more);
        judge.judge(entry, hear('dfu'));
        hold(entry);
        assert.deepEqual([told(), looksIn(entry)], [['+dfu'], limit + 1 - HOLD_MS]);
        now += limit - HOLD_MS;
        look(entry);
        assert.deepEqual([told(), looksIn(entry)], [[], 1]);
        now += 1;
        look(entry);
        assert.deepEqual([told(), looksIn(entry)], [['-dfu'], undefined]);
        look(entry);
        assert.deepEqual(conditions(entry), [], 'it begins with a report only');
      }
    });

    it('that was told before the start, until something shows that it is over', () => {
      for (const [rest, isOver] of [
        [undefined, false],
        ['rssi', false],
        ['dfu', false],
        ['heartbeat', true],
      ] as const) {
        const entry = watched(D, 'device', { alarms: [known('dfu', { isStored: true })], state: undefined });
        const at = rest && hear(rest, { rssi: -60 });
        judge.judge(entry, at);
        look(entry);
        assert.deepEqual(conditions(entry), isOver ? [] : ['dfu'], rest);
      }
    });

    it('beside other conditions', () => {
      watch({ conditions: ALL });
      const entry = watched();
      judge.judge(entry, hear('rssi', { rssi: -95 }));
      judge.judge(entry, hear('dfu'));
      hold(entry);
      assert.deepEqual([told(), looksIn(entry)], [['+weak-signal', '+dfu'], LIMIT + 1 - HOLD_MS]);
      look(entry);
      assert.deepEqual(conditions(entry), ['weak-signal', 'dfu']);
    });

    it('of a gateway whose silence nobody watches by its own reports, whoever hears them', () => {
      const entry = watched(G2, 'gateway', { since: 0 });
      judge.judge(entry, hear('dfu', {}, { device: G2 }));
      judge.judge(entry, hear('rssi', { rssi: -60 }, { device: G2 }));
      hold(entry);
      assert.deepEqual([told(), looksIn(entry)], [['+dfu'], ASSUMED + 1 - HOLD_MS]);
      now += ASSUMED - HOLD_MS + 1;
      look(entry);
      assert.deepEqual(told(), ['-dfu']);
    });
  });

  describe('the update mode of a gateway that brings nothing meanwhile', () => {
    const [own, other] = [
      { device: G, gateway: G },
      { device: G, gateway: G2 },
    ];
    let entry: Watched;

    /** It has told its silence, is in update mode, and another gateway has heard that just now. */
    beforeEach(() => {
      watch({ conditions: ['gateway-silent', 'dfu'] });
      entry = watched(G, 'gateway');
      hear('heartbeat', {}, own);
      for (let i = 0; i < 12; i++) {
        now += 10 * S;
        hears(G2, X);
        judge.judge(entry, hear('dfu', {}, other));
      }
      assert.deepEqual(told(), ['+dfu', '+gateway-silent']);
    });

    it('lasts until nobody has heard it for its limit', () => {
      look(entry);
      assert.equal(looksIn(entry), LIMIT + 1);
      now += LIMIT - 1;
      hears(G2, X);
      look(entry);
      assert.deepEqual([told(), looksIn(entry)], [[], 2]);
      now += 2;
      hears(G2, X);
      look(entry);
      assert.deepEqual([told(), looksIn(entry)], [['-dfu'], undefined]);
    });

    it('lasts while a signal of it is heard, and ends with any other report', () => {
      now += LIMIT;
      schedule.remove(entry);
      judge.judge(entry, hear('rssi', { rssi: -60 }, other));
      assert.deepEqual([told(), looksIn(entry)], [[], LIMIT + 1]);
      judge.judge(entry, hear('heartbeat', {}, other));
      assert.deepEqual([told(), looksIn(entry)], [['-dfu'], undefined]);
    });

    it('lasts while those that hear it are away, and is looked at when one of them is back', () => {
      now += 2 * LIMIT;
      look(entry);
      assert.deepEqual([told(), waitsFor(entry).includes(G2)], [[], true]);
    });

    it('lasts for its limit after a start, where nobody has heard it since', () => {
      entry = watched(G, 'gateway', { alarms: [known('dfu', { isStored: true })] });
      entry.state = undefined;
      now += LIMIT;
      look(entry);
      assert.deepEqual(conditions(entry), ['dfu']);
      now += LIMIT;
      look(entry);
      assert.deepEqual(conditions(entry), ['gateway-silent']);
    });

    it('depends on nobody once it is over', () => {
      judge.judge(entry, hear('heartbeat', {}, other));
      look(entry);
      assert.deepEqual(
        [told(), conditions(entry), looksIn(entry)],
        [['-dfu'], ['gateway-silent'], undefined],
      );
    });
  });

  describe('what reports have shown', () => {
    beforeEach(() => watch({ conditions: ALL, silentAfter: 0 }));

    it('of a gateway also where nobody asked for its silence, and without its signal', () => {
      watch({ conditions: ['error', 'weak-signal'] });
      const entry = watched(G, 'gateway');
      judge.judge(entry, hear('heartbeat', { status: 3 }, { device: G }));
      judge.judge(entry, hear('rssi', { rssi: -95 }, { device: G, gateway: G2 }));
      assert.deepEqual(conditions(entry), ['error']);
    });

    it('of a device that brings reports, and is no gateway of the watch, as of a device', () => {
      hears(G2, X);
      const entry = watched(G2);
      judge.judge(entry, hear('rssi', { rssi: -95 }, { device: G2 }));
      assert.deepEqual(conditions(entry), ['weak-signal']);
    });

    it('with the value of now', () => {
      const entry = watched();
      judge.judge(entry, hear('property/8100', { value: 15 }));
      hold(entry);
      judge.judge(entry, hear('property/8100', { value: 24 }));
      const [{ value, limit }] = entry.alarms as [Alarm];
      assert.deepEqual([value, limit, told()], [24, 20, ['+battery-low']]);
      judge.judge(entry, hear('property/8100', { value: 25 }));
      assert.deepEqual(told(), ['-battery-low']);
      judge.judge(entry, hear('property/8100', { value: 15 }));
      judge.judge(entry, hear('property/8100', { value: 24 }));
      assert.deepEqual(conditions(entry), [], 'what was not told needs no such margin');
    });

    it('as long as it is known, but what was told of a battery or before the start until it is shown to be over', () => {
      for (const [condition, more, isOver] of [
        ['battery-low', {}, false],
        ['battery-low', { isTold: false }, true],
        ['weak-signal', {}, true],
        ['weak-signal', { isStored: true }, false],
        ['error', { isStored: true, storedErrors: ['8800'] }, false],
        ['error', { isStored: true }, true],
        ['error', {}, true],
      ] as const) {
        const entry = watched(D, 'device', { alarms: [known(condition, more)] });
        look(entry);
        assert.equal(entry.alarms.length, isOver ? 0 : 1, JSON.stringify([condition, more]));
      }
    });

    it('of errors: those of before the start and of now, of which a store is to know', () => {
      const entry = watched(D, 'device', {
        alarms: [known('error', { isStored: true, storedErrors: ['8800', '8802'] })],
      });
      const stored = () => entry.alarms[0]?.storedErrors;
      judge.judge(entry, hear('measurement/8800', { value: 5 }), true);
      assert.deepEqual([stored(), stores], [['8800', '8802'], 0], 'a late sample');
      look(entry);
      judge.judge(entry, hear('rssi', { rssi: -60 }));
      assert.deepEqual([stored(), stores], [['8800', '8802'], 0]);
      judge.judge(entry, hear('measurement/8800', { value: 5 }));
      assert.deepEqual([stored(), stores], [['8802'], 1]);
      judge.judge(entry, hear('heartbeat', { status: 3 }));
      const [alarm] = entry.alarms as [Alarm];
      assert.deepEqual([alarm.errors.map(({ code }) => code), alarm.isStored, stores], [[3], true, 2]);
      judge.judge(entry, hear('measurement/8802', { value: 5 }));
      assert.deepEqual([stored(), alarm.isStored, stores], [[], false, 3]);
      judge.judge(entry, hear('measurement/8802', { value: 5 }));
      assert.equal(stores, 3);
      judge.judge(entry, hear('heartbeat', { status: 0 }));
      assert.deepEqual(told(), ['-error']);
    });

    it('of errors that were not told a store has not to know', () => {
      const entry = watched();
      judge.judge(entry, hear('heartbeat', { status: 3 }));
      judge.judge(entry, hear('measurement-error/8800', { error: 1 }));
      assert.deepEqual([entry.alarms[0]?.errors.length, stores], [2, 0]);
      entries.clear();
      watch({ conditions: ['battery-low'] });
      judge.judge(watched(D, 'device', { alarms: [known('battery-low')] }), hear('heartbeat', { status: 5 }));
      assert.equal(stores, 0, 'nor of those that nobody asked for');
    });
  });

  describe('at which gateway a condition is', () => {
    const begin = (settings: Partial<WatchSettings> = {}): Watched => {
      watch({ conditions: ['battery-low'], ...settings });
      const entry = watched();
      judge.judge(entry, hear('property/8100', { value: 3 }));
      return entry;
    };
    const place = (entry: Watched) => entry.alarms[0]?.gateway;

    for (const [what, settings, limit] of [
      ['the time that is set', {}, LIMIT],
      ['a quarter of an hour', { silentAfter: 0 }, ASSUMED],
    ] as const) {
      it(`which is that where it began until that has not heard it for ${what}`, () => {
        const entry = begin(settings);
        assert.equal(place(entry), G);
        now += limit - 1;
        judge.judge(entry, hear('heartbeat', {}, { gateway: G2 }));
        assert.equal(place(entry), G);
        now += 1;
        const at = hear('heartbeat', {}, { gateway: G2 });
        look(entry);
        assert.equal(place(entry), G, 'without a report nothing moves');
        judge.judge(entry, at);
        assert.equal(place(entry), G2);
      });
    }

    it('which is that where it began also where it hears it again meanwhile', () => {
      const entry = begin();
      for (let times = 0; times < 4; times++) {
        now += LIMIT - 1;
        hear();
        judge.judge(entry, hear('heartbeat', {}, { gateway: G2 }));
        assert.equal(place(entry), G);
      }
      entry.since = now + LIMIT;
      now += 2 * LIMIT - 1;
      judge.judge(entry, hear('heartbeat', {}, { gateway: G2 }));
      assert.equal(place(entry), G, 'nobody listened before');
    });

    it('which is found where none was known, and stays where nothing was heard', () => {
      const entry = watched(D, 'device', { alarms: [known('battery-low')] });
      watch({ conditions: ['battery-low'] });
      const at = readReportTopic('t', G, D, 'heartbeat');
      judge.judge(entry, at);
      assert.equal(place(entry), undefined);
      judge.judge(entry, hear());
      assert.equal(place(entry), G);
      const other = watched(X, 'device', { alarms: [known('battery-low', { gateway: G2 })] });
      other.storedGateway = G;
      judge.judge(other, readReportTopic('t', G, X, 'heartbeat'));
      assert.equal(place(other), G2);
    });
  });
});
