// How often something is heard usually: what begins a hearing, how many are needed, and what was known before the start.
import assert from 'node:assert/strict';
import { newDevice, newGateway } from '../../src/network/device-state.ts';
import {
  hear,
  hearGateway,
  hearTime,
  intervalSoFarMs,
  latelyMs,
  recallInterval,
  UNKNOWN_SILENCE_MS,
  usualIntervalMs,
} from '../../src/network/interval.ts';
import { Listening } from '../../src/network/listening.ts';
import type { Report } from '../../src/protocol/reports/index.ts';

const S = 1_000;
const MINUTE = 60 * S;
const HOUR = 60 * MINUTE;
const G = 'c0141f68fc3d';
const D = 'd00000000001';
const OTHER = 'd00000000002';

/** So long after the one before; `what`: kind, and identifier where it has one. */
interface Heard {
  after: number;
  what?: string;
  device?: string;
  isLate?: boolean;
  isWanted?: boolean;
}

/** Each of them, so often. */
const times = (count: number, ...reports: Heard[]): Heard[] =>
  Array.from({ length: count }, () => reports).flat();
const pauses = (...all: number[]): Heard[] => all.map((after) => ({ after }));
/** A heartbeat every so often, five of them. */
const fiveEvery = (after: number): Heard[] => [{ after: 0 }, ...times(4, { after })];
/** Two devices in turn. */
const inTurn = (count: number, after: number): Heard[] =>
  Array.from({ length: count }, (_, i) => ({ after, device: i % 2 ? D : OTHER }));

/** Another property each time. */
const joins = (count: number, after: number): Heard[] =>
  Array.from({ length: count }, (_, i) => ({ after: i ? after : 0, what: `property ${i}` }));

const listened = (): Listening => {
  const listening = new Listening(0);
  listening.set(true, 0);
  return listening;
};
const placeOf = ({ what = 'heartbeat', device = D }: Heard) => {
  const [kind, identifier] = what.split(' ');
  return { device, kind, identifier } as Parameters<typeof hear>[1];
};

/** Seconds; undefined: not known. */
const knownS = (ms: number | undefined): number | undefined => ms && Math.round(ms / S);

function deviceOf(reports: readonly Heard[], listening = listened()) {
  const device = newDevice(D, 0);
  let now = 0;
  for (const report of reports) {
    now += report.after;
    hear(device, placeOf(report), now, report.isWanted ?? true, report.isLate ?? false, listening);
  }
  return device;
}

/** @param quickest of how many of its devices the intervals are known */
function gatewayOf(reports: readonly Heard[], devices = 2, quickest = 2) {
  const gateway = Object.assign(newGateway(G, 0), { devices, quickest: Array(quickest).fill({}) });
  const listening = listened();
  let now = 0;
  for (const report of reports) {
    now += report.after;
    hearGateway(gateway, placeOf(report), now, report.isWanted ?? true, report.isLate ?? false, listening);
  }
  return gateway;
}

describe('the usual interval', () => {
  const listening = new Listening(0);
  listening.set(true, 0);
  const at = (device = D) => ({ device, kind: 'heartbeat', identifier: undefined }) as const;

  it('counts what comes within a second as one hearing', () => {
    const device = newDevice(D, MINUTE);
    hear(device, at(), MINUTE, true, false, listening);
    assert.equal(hear(device, at(), MINUTE + S - 1, true, false, listening), false);
    assert.equal(hear(device, at(), MINUTE + S, true, false, listening), true);
    assert.deepEqual([device.hearings, device.reports, device.heardAt], [2, 3, MINUTE + S]);
  });

  it('is known after five hearings, and of a gateway with several devices after twelve', () => {
    const device = newDevice(D, 0);
    const gateway = Object.assign(newGateway(G, 0), { devices: 2 });
    const known: number[][] = [[], []];
    for (let i = 0; i < 20; i++) {
      hear(device, at(), i * MINUTE, true, false, listening);
      hearGateway(gateway, at(i % 2 ? D : G), i * MINUTE, true, false, listening);
      for (const [n, heard] of [device, gateway].entries()) {
        if (intervalSoFarMs(heard) !== undefined) {
          known[n]?.push(heard.hearings);
        }
      }
    }
    assert.deepEqual([known[0]?.[0], known[1]?.[0]], [5, 12]);
    assert.equal(usualIntervalMs(device), MINUTE);
  });

  describe('of a device', () => {
    for (const [title, reports, seconds] of [
      ['is not changed by one long pause', [...fiveEvery(MINUTE), ...pauses(10 * MINUTE, MINUTE)], 60],
      [
        'is the longest pause that came twice',
        [...fiveEvery(MINUTE), ...pauses(10 * MINUTE, MINUTE, 9 * MINUTE)],
        540,
      ],
      [
        'grows at once by an ordinary pause',
        [...fiveEvery(MINUTE), ...pauses(25 * MINUTE, 25 * MINUTE)],
        1_500,
      ],
      ['grows to three times itself by a longer one', [...fiveEvery(MINUTE), ...pauses(HOUR, HOUR)], 180],
      ['and again when it comes again', [...fiveEvery(MINUTE), ...pauses(HOUR, HOUR, HOUR)], 540],
      ['grows to a minute at least', [...fiveEvery(5 * S), ...pauses(HOUR, HOUR)], 60],
      ['is that of its first pauses, however long', fiveEvery(HOUR), 3_600],
      [
        'fades where it comes more often',
        [...fiveEvery(10 * MINUTE), ...times(12 * 60, { after: MINUTE })],
        387,
      ],
      [
        'has faded after some days',
        [...fiveEvery(10 * MINUTE), ...times(3 * 24 * 60, { after: MINUTE })],
        87,
      ],
      [
        'is hardly changed by a day of silence',
        [...fiveEvery(10 * MINUTE), ...pauses(24 * HOUR, MINUTE, MINUTE)],
        599,
      ],
    ] as const) {
      it(title, () => assert.equal(knownS(usualIntervalMs(deviceOf(reports))), seconds));
    }

    for (const [title, reports, hearings, seconds] of [
      ['counts a burst of several properties once', joins(8, 5 * S), 1, undefined],
      ['takes less than ten seconds between them for one', joins(3, 10 * S - 1), 1, undefined],
      ['takes ten seconds for a pause', joins(3, 10 * S), 3, undefined],
      ['counts what goes on for a minute, and again after the next', joins(25, 5 * S), 3, undefined],
      ['counts what comes again alike, though it comes every two seconds', fiveEvery(2 * S), 5, 2],
      [
        'knows nothing before each property came twice',
        [...joins(4, MINUTE), ...times(1, { after: MINUTE })],
        5,
        undefined,
      ],
      [
        'knows it then',
        [{ after: 0 }, ...times(2, { after: MINUTE, what: 'property 1' }), ...pauses(MINUTE, MINUTE)],
        5,
        60,
      ],
      ['knows it after 25 minutes, whatever came', joins(6, 5 * MINUTE), 6, 300],
      ['and not before', joins(6, 5 * MINUTE - 1), 6, undefined],
      [
        'is known by events where nothing else comes',
        [{ after: 0, what: 'event 1' }, ...times(30, { after: MINUTE, what: 'event 1' })],
        31,
        60,
      ],
      [
        'counts a burst of events once, and again after a minute',
        times(13, { after: 5 * S, what: 'event 1' }),
        2,
        undefined,
      ],
      [
        'counts of a burst what it repeats',
        [
          { after: 0, what: 'property 1' },
          { after: MINUTE, what: 'property 2' },
          { after: 5 * S, what: 'property 1' },
          { after: MINUTE, what: 'property 2' },
          ...times(2, { after: MINUTE, what: 'property 3' }),
        ],
        5,
        65,
      ],
      [
        'is known by what people look at, where flows receive nothing',
        times(5, { after: MINUTE, isWanted: false }),
        5,
        60,
      ],
      [
        'begins anew with the first report that is none',
        [...times(9, { after: MINUTE, what: 'event 1' }), ...pauses(MINUTE, MINUTE)],
        2,
        undefined,
      ],
      [
        'is not changed by events beside others',
        [...fiveEvery(MINUTE), ...times(9, { after: 5 * S, what: 'event 1' })],
        5,
        60,
      ],
      [
        'is not changed by samples of the past',
        [...fiveEvery(MINUTE), ...times(9, { after: 5 * S, isLate: true })],
        5,
        60,
      ],
      ['is not known by samples of the past alone', times(40, { after: MINUTE, isLate: true }), 1, undefined],
      [
        'is not changed by what only people look at',
        [...fiveEvery(MINUTE), ...times(9, { after: 5 * S, isWanted: false })],
        5,
        60,
      ],
      [
        'begins anew with the first report that a flow receives',
        [...times(9, { after: MINUTE, isWanted: false }), { after: 0 }, { after: S }],
        2,
        undefined,
      ],
      [
        'begins anew also with an event',
        [...times(9, { after: MINUTE, isWanted: false }), { after: S, what: 'event 1' }, { after: MINUTE }],
        1,
        undefined,
      ],
    ] as const) {
      it(title, () => {
        const device = deviceOf(reports);
        assert.deepEqual([device.hearings, knownS(usualIntervalMs(device))], [hearings, seconds]);
      });
    }

    it('is as long while it is learned as its first pause, and an ordinary one at most', () => {
      for (const [pause, seconds] of [
        [MINUTE, 60],
        [25 * MINUTE, 1_500],
        [HOUR, 1_500],
      ] as const) {
        assert.equal(deviceOf(pauses(0, pause)).intervalMs / S, seconds);
      }
      assert.equal(deviceOf(joins(13, 5 * S)).intervalMs / S, 10, 'of a burst: it had no longer pause');
    });

    it('does not count the time in which nothing could be heard', () => {
      const listening = listened();
      listening.set(false, 10 * S);
      listening.set(true, HOUR);
      assert.equal(knownS(deviceOf(pauses(0, HOUR + MINUTE), listening).intervalMs), 70);
      const soon = deviceOf(pauses(9.5 * S, HOUR - 9.3 * S), listening);
      assert.equal(soon.hearings, 1, 'a second has not passed');
    });
  });

  describe('by the times that gateways give', () => {
    const timeOf = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * S).toISOString();

    /** Of the gateway and the device, when reports with these times come within seconds, as a broker had kept them. */
    function kept(given: readonly string[], gateway = newGateway(G, 0)) {
      const device = newDevice(D, 0);
      const listening = listened();
      for (const [i, time] of given.entries()) {
        const now = i * 2 * S;
        hearTime(gateway, device, { gateway: G, time } as Report, now, listening);
        hearGateway(gateway, placeOf({ after: 0 }), now, true, false, listening);
        hear(device, placeOf({ after: 0 }), now, true, false, listening);
      }
      return [gateway, device].map((heard) => knownS(intervalSoFarMs(heard)));
    }
    const every600 = [0, 600, 1_200, 1_800, 2_400, 3_000].map(timeOf);

    it('is that of the times, of the gateway and of the device', () => {
      // Of whole seconds one may be missing.
      assert.deepEqual(kept(every600), [599, 599]);
    });

    it('is that of the device also where that of the gateway is known', () => {
      assert.deepEqual(kept(every600, gatewayOf(fiveEvery(MINUTE), 1)), [60, 599]);
    });

    it('is that of the reports where they give none', () => {
      assert.deepEqual(kept(every600.map(() => 'noon')), [2, 2]);
      assert.deepEqual(
        kept([timeOf(0), timeOf(0), 'noon', timeOf(600), 'noon']),
        [599, 599],
        'and of those that do',
      );
    });
  });

  describe('of a gateway', () => {
    const alone = (count: number): Heard[] => times(count, { after: MINUTE });
    /** Of other properties each time, by these devices in turn. */
    const burst = (count: number, ...devices: string[]): Heard[] =>
      joins(count, 5 * S).map((one, i) => ({ ...one, device: devices[i % devices.length] as string }));
    const together: Heard[] = [{ after: MINUTE }, { after: 100, device: OTHER }];
    const pause: Heard = { after: 20 * MINUTE };
    const other: Heard = { after: MINUTE, device: OTHER };
    for (const [title, reports, hearings, seconds, devices = 2, quickest = 2] of [
      ['is known after twelve hearings', inTurn(12, MINUTE), 12, 60],
      ['and not before', inTurn(11, MINUTE), 11, undefined],
      ['is known after 36, where one device is known', inTurn(36, 10 * S), 36, 10, 2, 1],
      ['and not before', inTurn(35, 10 * S), 35, undefined, 2, 1],
      ['is known after 25 minutes, where one device is', inTurn(14, 2 * MINUTE), 14, 120, 2, 1],
      ['and not before', inTurn(13, 2 * MINUTE), 13, undefined, 2, 1],
      ['is that of its only device after five hearings', fiveEvery(MINUTE), 5, 60, 1, 0],
      ['is not that of one of its devices', [other, ...alone(20)], 2, undefined],
      ['save where nothing else comes for 20 minutes', [other, ...alone(21)], 3, undefined],
      [
        'is not that of one that reports twice at a time',
        [other, ...times(20, { after: MINUTE }, { after: 100 })],
        2,
        undefined,
      ],
      [
        'is that of both where they report together, whichever comes first',
        [other, { after: MINUTE }, { after: 100, device: OTHER }, { after: MINUTE }],
        3,
        undefined,
      ],
      [
        'does not count what comes within a second as going on with a burst',
        [
          { after: 0, what: 'property 1' },
          { after: MINUTE, what: 'property 2' },
          { after: 100, what: 'property 1' },
          { after: MINUTE, what: 'property 2' },
          ...times(2, { after: MINUTE, what: 'property 3' }),
        ],
        5,
        undefined,
        1,
        0,
      ],
      [
        'is that of both where they report together',
        [{ after: 0 }, other, { after: 100 }, { after: MINUTE }],
        3,
        undefined,
      ],
      ['is not changed by one of its devices alone', [...inTurn(14, MINUTE), ...alone(41)], 16, 60],
      ['counts a burst of one device as it counts that of a device', burst(25, D), 3, undefined, 1, 0],
      [
        'counts a burst of several devices when another one comes ten seconds later',
        burst(25, D, OTHER),
        9,
        undefined,
        2,
        0,
      ],
      [
        'does not count a device for what only went on with a burst',
        [{ after: 0 }, { after: 5 * S, device: OTHER }, other],
        2,
        undefined,
      ],
      [
        'is not changed by an absence in what one device has reported',
        [...inTurn(14, MINUTE), { after: 10 * MINUTE }, ...alone(1), other],
        14,
        60,
      ],
      [
        'is known by what people look at, where flows receive nothing',
        times(7, { ...other, isWanted: false }, { after: MINUTE, isWanted: false }),
        14,
        60,
      ],
      [
        'begins anew with the first that is no event, whatever pauses there were',
        [{ ...other, what: 'event 1' }, ...times(3, { after: MINUTE, what: 'event 1' }), other],
        1,
        undefined,
      ],
      ['counts devices that report together once, in whatever order', times(14, ...together), 14, 60],
      [
        'counts the pause within what one device has reported alone',
        [...inTurn(14, MINUTE), ...pauses(2 * MINUTE, MINUTE), other, ...pauses(2 * MINUTE), other],
        17,
        120,
      ],
      ['is not changed by an absence', [...inTurn(14, MINUTE), pause, other, pause, other], 16, 60],
      [
        'is changed by the third within 90 minutes',
        [...inTurn(14, MINUTE), pause, other, pause, other, pause],
        17,
        1_200,
      ],
      [
        'is not changed by samples of the past',
        [
          ...inTurn(14, MINUTE),
          ...times(9, { after: 5 * S, isLate: true, device: OTHER }, { after: 5 * S, isLate: true }),
        ],
        14,
        60,
      ],
      [
        'is not changed by what only people look at',
        [...inTurn(14, MINUTE), ...times(9, { after: 5 * S, isWanted: false })],
        14,
        60,
      ],
      [
        'begins anew with what a flow receives',
        [...times(14, { after: MINUTE, isWanted: false }), { after: S }],
        1,
        undefined,
      ],
    ] as readonly (readonly [string, readonly Heard[], number, number?, number?, number?])[]) {
      it(`${title}: ${hearings} hearings, ${devices} devices, ${quickest} known`, () => {
        const gateway = gatewayOf(reports, devices, quickest);
        assert.deepEqual([gateway.hearings, knownS(usualIntervalMs(gateway))], [hearings, seconds]);
      });
    }

    it('is learned anew where a second device comes', () => {
      const gateway = gatewayOf(fiveEvery(MINUTE), 1, 0);
      const listening = listened();
      for (let i = 5; i < 20; i++) {
        hearGateway(
          gateway,
          placeOf({ after: 0, device: i % 2 ? OTHER : D }),
          i * MINUTE,
          true,
          false,
          listening,
        );
        gateway.devices = 2;
      }
      assert.deepEqual([gateway.hearings, usualIntervalMs(gateway)], [20, undefined]);
    });

    it('knows when another device than the last one was heard', () => {
      const gateway = gatewayOf([{ after: 0 }, { after: MINUTE }]);
      assert.equal(gateway.othersAt, Number.NEGATIVE_INFINITY, 'none yet');
      const both = gatewayOf([{ after: 0 }, { after: MINUTE }, other, other]);
      assert.deepEqual(
        [both.latest, both.othersAt, both.heardAt, both.reports],
        [OTHER, MINUTE, 3 * MINUTE, 4],
      );
    });
  });

  it('says what was heard lately: three of them, or five minutes', () => {
    const device = newDevice(D, 0);
    assert.equal(latelyMs(device), 5 * MINUTE);
    for (const [intervalMs, lately] of [
      [MINUTE, 5 * MINUTE],
      [2 * MINUTE, 6 * MINUTE],
    ] as const) {
      assert.equal(latelyMs({ ...device, hearings: 5, intervalMs }), lately);
    }
  });

  it('makes an hour a silence where it is not known: each property repeats in 20 minutes', () => {
    assert.equal(UNKNOWN_SILENCE_MS, 3 * 20 * MINUTE);
  });

  it('was at least what was known before the start', () => {
    const heard = () =>
      Object.assign(newGateway(G, 0), { hearings: 5, intervalMs: 2 * MINUTE, pauseMs: MINUTE });
    const [more, less] = [heard(), heard()];
    recallInterval(more, 3 * MINUTE);
    recallInterval(less, 1.5 * MINUTE);
    assert.deepEqual([more.intervalMs, more.pauseMs], [3 * MINUTE, 3 * MINUTE]);
    assert.deepEqual([less.intervalMs, less.pauseMs], [2 * MINUTE, 1.5 * MINUTE]);
    assert.equal(more.longPauses.at(-1)?.ms, 3 * MINUTE, 'its pauses, too');
    const device = newDevice(D, 0);
    recallInterval(device, MINUTE);
    assert.deepEqual([device.intervalMs, device.pauseMs], [MINUTE, MINUTE]);
  });
});
