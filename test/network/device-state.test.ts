// What is known of one device or gateway: which of them are forgotten before others, and by whom a device was heard.
import assert from 'node:assert/strict';
import {
  isOfDfuOnly,
  isPasserBy,
  newDevice,
  newGateway,
  newLink,
  parentOf,
  setCondition,
  setSignal,
} from '../../src/network/device-state.ts';
import { MIN_HEARINGS } from '../../src/network/interval.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';

const DAY = 24 * 3_600_000;
const G = 'c0141f68fc3d';
const NODE = 'e00000000001';

describe('a device', () => {
  it('is forgotten before others where it was heard a few times only, or not for a day', () => {
    const heardAt = 5_000;
    const isPasserByAfter = (ms: number, hearings: number) =>
      isPasserBy({ ...newDevice('d00000000001', heardAt), hearings }, heardAt + ms);
    assert.equal(isPasserByAfter(0, MIN_HEARINGS - 1), true);
    assert.equal(isPasserByAfter(0, MIN_HEARINGS), false);
    assert.equal(isPasserByAfter(DAY, MIN_HEARINGS), false);
    assert.equal(isPasserByAfter(DAY + 1, MIN_HEARINGS), true);
  });

  for (const [parent, by] of [
    [NODE, NODE],
    ['E0:00:00:00:00:01', NODE],
    [G, G],
    ['upstairs', G],
    [7, G],
    [undefined, G],
  ] as const) {
    it(`was heard by its parent, where a report names one, else by the gateway: ${parent}`, () => {
      assert.equal(parentOf({ parent } as unknown as Report, G), by);
    });
  }

  it('has nothing of its own before it has reported anything, and no habits', () => {
    const { links, values, errors, isDfu, hasReported, event, hasHabits, isWanted } = newDevice(NODE, 5_000);
    assert.deepEqual([links, values, errors], [[], [], []]);
    assert.deepEqual([isDfu, hasReported, event], [false, false, undefined]);
    const { quickest, hasHabits: gatewayHasHabits, isWanted: isGatewayWanted } = newGateway(G, 5_000);
    assert.deepEqual(quickest, []);
    assert.deepEqual([hasHabits, isWanted, gatewayHasHabits, isGatewayWanted], [false, false, false, false]);
  });

  describe('that is updated', () => {
    const afterReports = (...kinds: string[]) => {
      const device = newDevice(NODE, 0);
      for (const kind of kinds) {
        setCondition(device, readReportTopic('t', G, NODE, kind), {} as Report, 1);
      }
      return device;
    };

    for (const [kinds, isDfu, isOnly] of [
      [[], false, false],
      [['rssi'], false, false],
      [['dfu'], true, true],
      [['dfu', 'rssi'], true, true],
      [['heartbeat', 'dfu'], true, false],
      [['dfu', 'heartbeat'], false, false],
      [['dfu', 'heartbeat', 'dfu'], true, false],
      [['dfu', 'dfu'], true, true],
    ] as const) {
      it(`is ${isOnly ? '' : 'not '}heard under an address of its update alone: ${kinds.join(', ') || 'no report'}`, () => {
        const device = afterReports(...kinds);
        assert.deepEqual([device.isDfu, isOfDfuOnly(device)], [isDfu, isOnly]);
      });
    }
  });

  describe('has as its last event', () => {
    const eventAfter = (...reports: [rest: string, at: number][]) => {
      const device = newDevice(NODE, 0);
      for (const [rest, at] of reports) {
        setCondition(device, readReportTopic('t', G, NODE, rest), undefined, at);
      }
      return [device.event, device.eventAt];
    };

    it('the one that came last, and when that was', () => {
      assert.deepEqual(eventAfter(['event/0x01', 5], ['event/0x02', 7], ['event/0x02', 9]), ['0x02', 9]);
    });

    it('none of another kind, and none of a name that no device has', () => {
      assert.deepEqual(eventAfter(['property/0x01', 5], ['heartbeat', 6]), [undefined, 0]);
      assert.deepEqual(eventAfter([`event/${'x'.repeat(201)}`, 5], ['event', 6]), [undefined, 0]);
    });
  });

  it('has an error of which it reports, but of no sample that comes late', () => {
    const errorsAfter = (report: object | undefined) => {
      const device = newDevice(NODE, 0);
      setCondition(device, readReportTopic('t', G, NODE, 'heartbeat'), report as Report, 5);
      return device.errors.map(({ code, heardAt }) => [code, heardAt]);
    };
    assert.deepEqual(errorsAfter({ status: 3 }), [[3, 5]]);
    assert.deepEqual(errorsAfter({ status: 3, backfill: false }), [[3, 5]]);
    assert.deepEqual(errorsAfter({ status: 3, backfill: true }), []);
    assert.deepEqual(errorsAfter(undefined), []);
  });
});

describe('a link of a device', () => {
  it('is new with what it follows, and without a signal', () => {
    const first = newLink([], G, NODE, 5);
    assert.deepEqual(first, {
      ...{ gateway: G, parent: NODE, heardAt: 5, reports: 0, lately: 0, before: first.before },
      signal: undefined,
    });
  });

  for (const [what, report, signal] of [
    ['strength, channel and reach', { rssi: -60, channel: 37, unreachable: true }, [-60, 5, 37, true]],
    ['a strength alone', { rssi: -60 }, [-60, 5, 0, false]],
    ['what is no channel and no answer', { rssi: -60, channel: '37', unreachable: 1 }, [-60, 5, 0, false]],
    ['no strength', { channel: 37 }, undefined],
  ] as const) {
    it(`has a signal by its report: ${what}`, () => {
      const link = newLink([], G, NODE, 1);
      setSignal(link, report as unknown as Report, 5);
      const { rssi, heardAt, channel, isUnreachable } = link.signal ?? {};
      assert.deepEqual(link.signal && [rssi, heardAt, channel, isUnreachable], signal);
    });
  }

  it('has the signal of its last report, whatever came before, until one comes with another', () => {
    const link = newLink([], G, NODE, 1);
    setSignal(link, { rssi: -60, channel: 37, unreachable: true } as unknown as Report, 5);
    setSignal(link, {} as Report, 6);
    assert.deepEqual({ ...link.signal }, { rssi: -60, heardAt: 5, channel: 37, isUnreachable: true });
    setSignal(link, { rssi: -70 } as unknown as Report, 7);
    assert.deepEqual({ ...link.signal }, { rssi: -70, heardAt: 7, channel: 0, isUnreachable: false });
  });
});
