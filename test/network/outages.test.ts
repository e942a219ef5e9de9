// When a gateway was away: how long the devices that it hears most often must be missing, and what that needs.
import assert from 'node:assert/strict';
import { NetworkState } from '../../src/network/network-state.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';

const G = 'c0141f68fc3d';
const [D, E, F, NEW] = ['d00000000001', 'd00000000002', 'd00000000003', 'd00000000004'] as const;
const S = 1_000;

describe('an outage of a gateway', () => {
  let now: number;
  let network: NetworkState;

  beforeEach(() => {
    hasTimes = false;
    now = 1_000;
    network = new NetworkState({ now: () => now });
    network.setListening(true, false);
  });

  /** Whether reports say when they were made. */
  let hasTimes: boolean;
  const hear = (device: string): void => {
    const time = hasTimes ? new Date(now).toISOString() : 't';
    network.record(readReportTopic('t', G, device, 'heartbeat'), now, { time, gateway: G } as Report);
  };
  /** All of them at once, so many times every so often. */
  function run(count: number, everyMs: number, ...devices: string[]): void {
    for (let i = 0; i < count; i++) {
      now += everyMs;
      devices.forEach(hear);
    }
  }
  const gateway = () => network.gateway(G)!;
  const quickest = () => gateway().quickest.map(({ device }) => device.id);
  /** @returns whether the first report after a pause shows that the gateway was away */
  function isBackAfter(pauseMs: number, device: string = D): boolean {
    now += pauseMs;
    hear(device);
    return gateway().backAt === now;
  }

  const PAUSES: [everyMs: number, pauseMs: number, wasAway: boolean][] = [
    [5 * S, 20 * S - 1, false],
    [5 * S, 20 * S, true],
    [10 * S, 22 * S, false],
    [10 * S, 22 * S + 1, true],
  ];
  for (const [everyMs, pauseMs, wasAway] of PAUSES) {
    it(`is ${wasAway ? '' : 'not '}a pause of ${pauseMs} ms, where devices come every ${everyMs} ms`, () => {
      run(20, everyMs, D, E);
      assert.equal(isBackAfter(pauseMs), wasAway);
    });
  }

  it('ends with the one first in the list that was heard first', () => {
    run(20, 10 * S, D, E);
    const other = 'c0141f68fc3e';
    network.record(readReportTopic('t', other, NEW, 'heartbeat'), now, { time: 't' } as Report);
    now += 2 * S;
    network.record(readReportTopic('t', other, NEW, 'heartbeat'), now, { time: 't' } as Report);
    assert.equal(isBackAfter(600 * S), true);
    const ids = (list: Iterable<{ id: string }>) => [...list].map(({ id }) => id);
    assert.deepEqual(ids(network.devices()), [D, NEW, E]);
    assert.deepEqual(ids(network.gateways()), [G, other]);
  });

  it('is shown by a device that was never heard before, too', () => {
    run(20, 10 * S, D, E);
    assert.equal(isBackAfter(30 * S, F), true);
  });

  it('is no pause of its devices, however often it comes', () => {
    for (let i = 0; i < 20; i++) {
      run(20, 10 * S, D, E);
      now += 600 * S;
      hear(D);
      hear(E);
    }
    assert.deepEqual(
      [D, E].map((id) => network.intervalMs(network.device(id)!)),
      [10 * S, 10 * S],
    );
  });

  for (const withTimes of [false, true]) {
    it(`is no pause of one whose interval is not known yet, ${withTimes ? 'also' : 'not'} by the times of its reports`, () => {
      hasTimes = withTimes;
      run(20, 10 * S, D, E);
      run(3, 10 * S, D, E, F);
      now += 600 * S;
      [D, E, F].forEach(hear);
      run(40, 10 * S, D, E, F);
      assert.equal(network.intervalMs(network.device(F)!), 10 * S);
    });
  }

  it('is shown by two devices, not by one', () => {
    run(20, 10 * S, D);
    assert.deepEqual([quickest(), isBackAfter(600 * S)], [[D], false]);
  });

  it('is not shown where one of the two had died before', () => {
    run(20, 10 * S, D, E);
    run(10, 10 * S, D);
    assert.equal(isBackAfter(600 * S), false);
  });

  for (const [intervals, isShown] of [
    [9, false],
    [12, true],
  ] as const) {
    it(`is ${isShown ? '' : 'not '}shown by devices that had no pause for ${intervals} of their intervals`, () => {
      run(20, 10 * S, D, E);
      run(1, 25 * S, D, E, F);
      run(intervals, 10 * S, D, E);
      assert.equal(isBackAfter(600 * S), isShown);
    });
  }

  it('is not the time in which nobody listened', () => {
    run(20, 10 * S, D, E);
    network.setListening(false, false);
    now += 600 * S;
    network.setListening(true, false);
    assert.equal(isBackAfter(10 * S), false);
  });

  describe('is shown by the two that it hears most often', () => {
    it('as soon as it is known how often', () => {
      run(4, 10 * S, D, E);
      assert.deepEqual(quickest(), []);
      run(20, 10 * S, D, E);
      assert.deepEqual(quickest(), [D, E]);
    });

    for (const [everyMs, isQuicker] of [
      [5 * S, false],
      [4 * S, true],
    ] as const) {
      it(`${isQuicker ? 'and then by' : 'and not by'} one that comes every ${everyMs} ms beside some of 10 s`, () => {
        run(20, 10 * S, D, E);
        for (let i = 0; i < 60; i++) {
          now += everyMs;
          hear(F);
          if ((i * everyMs) % (10 * S) < everyMs) {
            hear(D);
            hear(E);
          }
        }
        assert.equal(quickest().includes(F), isQuicker);
      });
    }

    it('and by another one where one of them has died', () => {
      run(20, 10 * S, D, E);
      run(20, 10 * S, D, F);
      assert.deepEqual(quickest().sort(), [D, F]);
    });
  });

  describe('of which nobody can be certain', () => {
    const isMissedAfter = (pauseMs: number, device: string) => {
      now += pauseMs;
      hear(device);
      return gateway().missedAt === now;
    };

    it('is a pause in which one was missed that comes every one and a half of its intervals', () => {
      run(20, 20 * S, D, E);
      assert.equal(isMissedAfter(30 * S, F), false);
      run(20, 20 * S, D, E);
      assert.equal(isMissedAfter(30 * S + 1, NEW), true);
    });

    it('is one in which the one that is left was missed, where another one had died before', () => {
      run(20, 20 * S, D, E);
      run(5, 20 * S, D);
      assert.equal(isMissedAfter(60 * S, NEW), true);
    });

    it('is one that its own device ends late, where no other was there', () => {
      run(20, 20 * S, D);
      assert.equal(isMissedAfter(30 * S, D), false);
      run(20, 20 * S, D);
      assert.equal(isMissedAfter(30 * S + 1, D), true);
    });

    it('is none where the one that would be missed had died before', () => {
      run(20, 20 * S, D, E);
      run(20, 20 * S, F);
      const known = gateway().missedAt;
      now += 25 * S;
      hear(F);
      assert.equal(gateway().missedAt, known);
    });

    it('is none of less than twenty seconds', () => {
      run(20, 5 * S, D, E);
      assert.equal(isMissedAfter(20 * S - 1, D), false);
      run(20, 5 * S, D, E);
      assert.equal(isMissedAfter(20 * S, D), true);
    });
  });
});
