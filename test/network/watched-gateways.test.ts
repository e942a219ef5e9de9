// What watches know of gateways: when each was heard, when it was away, and what waits for it.
import assert from 'node:assert/strict';
import { NetworkState } from '../../src/network/network-state.ts';
import { newWatched, type Watched, waitFor } from '../../src/network/watched.ts';
import { WatchedGateways } from '../../src/network/watched-gateways.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';

const [G, G2] = ['c0141f68fc3d', 'c0141f68fc3e'] as const;
const [D, E] = ['d00000000001', 'd00000000002'] as const;
const S = 1_000;
const MINUTE = 60 * S;
const MAX_GATEWAYS = 10_000;

describe('what watches know of a gateway', () => {
  let now: number;
  let network: NetworkState;
  let gateways: WatchedGateways;
  let due: string[];

  beforeEach(() => {
    now = 1_000;
    due = [];
    network = new NetworkState({ now: () => now });
    network.setListening(true, false);
    gateways = open();
    network.onHeard((_, gateway) => gateways.heard(gateway));
  });

  const open = () =>
    new WatchedGateways(network, (waiting, inMs) => {
      due.push(...[...waiting].map(({ id }) => (inMs === 0 ? id : `${id} in ${inMs} ms`)));
    });
  function hear(device: string = D, gateway: string = G): void {
    network.record(readReportTopic('t', gateway, device, 'heartbeat'), now, { time: 't' } as Report);
  }
  /** One report of each of these every so often. */
  function run(count: number, everyMs: number, ...devices: string[]): void {
    for (let i = 0; i < count; i++) {
      now += everyMs;
      for (const device of devices) {
        hear(device);
      }
    }
  }
  const waiting = (id: string, gateway: string = G): Watched => {
    const entry = newWatched(id, 'device', { check() {} }, 0);
    waitFor(entry, [gateways.need(gateway)]);
    return entry;
  };

  it('is nothing before it is heard or needed, and the same entry after that', () => {
    assert.equal(gateways.get(G), undefined);
    const needed = gateways.need(G);
    assert.deepEqual([needed.state, needed.heardAt, needed.limitMs], [undefined, undefined, MINUTE]);
    hear();
    assert.equal(gateways.get(G), needed);
    assert.equal(gateways.need(G), needed);
    assert.deepEqual([needed.state, needed.heardAt, needed.cameAt], [network.gateway(G), now, now]);
  });

  it('goes on in another session', () => {
    hear();
    const known = gateways.get(G);
    const next = open();
    next.takeOver(gateways);
    assert.equal(next.get(G), known);
  });

  describe('from before the start', () => {
    it('is when it was heard, and how often, until it is heard anew', () => {
      gateways.recall(G, 400, 10 * MINUTE);
      const { heardAt, limitMs } = gateways.get(G)!;
      assert.deepEqual([heardAt, limitMs, gateways.intervalOf(G)], [400, 30 * MINUTE, 10 * MINUTE]);
      gateways.recall(G, 500, undefined);
      assert.deepEqual([gateways.get(G)?.heardAt, gateways.get(G)?.limitMs], [400, 30 * MINUTE]);
      assert.equal(gateways.intervalOf(G), 10 * MINUTE, 'another watch does not know it');
      gateways.recall(G, 500, 5 * MINUTE);
      assert.deepEqual([gateways.get(G)?.limitMs, gateways.intervalOf(G)], [30 * MINUTE, 5 * MINUTE]);
      hear();
      assert.equal(gateways.get(G)?.limitMs, 30 * MINUTE, 'as long as it is not known anew');
      run(10, 10 * S, D);
      assert.equal(gateways.get(G)?.isKnown, true);
    });

    it('is no time where it was silent, and a minute at least', () => {
      gateways.recall(G, undefined, 10 * S);
      assert.deepEqual([gateways.get(G)?.heardAt, gateways.get(G)?.limitMs], [undefined, MINUTE]);
      gateways.recall(G, 300, undefined);
      assert.equal(gateways.get(G)?.heardAt, 300);
    });

    it('is no other time where it was heard since', () => {
      hear();
      gateways.recall(G, 10, 10 * MINUTE);
      assert.deepEqual([gateways.get(G)?.heardAt, gateways.get(G)?.limitMs], [now, MINUTE]);
      assert.equal(gateways.intervalOf(G), 10 * MINUTE);
    });

    it('counts beside what is learned as soon as that is known', () => {
      gateways.recall(G, 10, 10 * MINUTE);
      run(30, 10 * S, D);
      assert.equal(gateways.get(G)?.isKnown, true);
      const learned = gateways.intervalOf(G);
      assert.ok(learned !== undefined && learned > 10 * S, `${learned}`);
      const alone = new NetworkState({ now: () => now });
      alone.setListening(true, false);
      network = alone;
      gateways = open();
      network.onHeard((_, gateway) => gateways.heard(gateway));
      run(30, 10 * S, D);
      assert.equal(gateways.intervalOf(G), 10 * S);
    });

    it('counts less the longer it is heard otherwise', () => {
      gateways.recall(G, 10, 10 * MINUTE);
      run(30, 10 * S, D);
      const first = gateways.intervalOf(G)!;
      run(300, 10 * S, D);
      assert.ok(gateways.intervalOf(G)! < first, `${gateways.intervalOf(G)} of ${first}`);
    });
  });

  it('has no usual interval before it is known how often it is heard', () => {
    assert.equal(gateways.intervalOf(G), undefined);
    gateways.need(G);
    assert.equal(gateways.intervalOf(G), undefined);
    hear();
    assert.equal(gateways.intervalOf(G), undefined);
    run(10, 10 * S, D);
    assert.equal(gateways.intervalOf(G), 10 * S);
  });

  it('has three intervals until it is silent, a minute at least', () => {
    run(10, 10 * S, D);
    assert.equal(gateways.get(G)?.limitMs, MINUTE);
    run(30, 5 * MINUTE, D);
    assert.equal(gateways.get(G)?.limitMs, 3 * gateways.intervalOf(G)!);
    assert.ok(gateways.intervalOf(G)! > MINUTE);
  });

  describe('of its absences', () => {
    it('is that it has come, where it was never heard', () => {
      hear();
      const from = Number.NEGATIVE_INFINITY;
      assert.deepEqual(gateways.get(G)?.absences, [{ from, until: now }]);
      run(10, 10 * S, D, E);
      assert.equal(gateways.get(G)?.absences.length, 1);
      assert.equal(gateways.get(G)?.cameAt, 1_000);
    });

    it('is none where it was there before the start, unless it stays away', () => {
      gateways.recall(G, now, undefined);
      now += 30 * S;
      hear();
      assert.deepEqual([gateways.get(G)?.absences, gateways.get(G)?.cameAt], [[], now]);
      gateways.recall(G2, now, undefined);
      const from = now;
      now += 2 * MINUTE;
      hear(D, G2);
      assert.deepEqual(gateways.get(G2)?.absences, [{ from, until: now }]);
    });

    it('is when it was away, and that it is back', () => {
      run(30, 10 * S, D, E);
      const { absences, cameAt } = gateways.get(G)!;
      const from = now;
      now += 10 * MINUTE;
      hear();
      const backAt = now;
      run(1, S, E, D);
      const after = gateways.get(G)!;
      assert.deepEqual(after.absences, [...absences, { from, until: backAt }]);
      assert.deepEqual([after.cameAt, cameAt < backAt], [backAt, true]);
    });

    it('is one, however many reports come in the moment of its return', () => {
      run(30, 10 * S, D, E);
      const { absences } = gateways.get(G)!;
      const from = now;
      now += 10 * MINUTE;
      for (const device of [D, E, ...Array.from({ length: 20 }, () => D)]) {
        hear(device);
      }
      assert.deepEqual(gateways.get(G)?.absences, [...absences, { from, until: now }]);
      assert.equal(gateways.get(G)?.cameAt, now);
    });

    it('is also one that is too short to be told, where all that it hears often was missed', () => {
      run(30, 40 * S, D, E);
      const { absences } = gateways.get(G)!;
      const from = now;
      now += 100 * S;
      hear();
      assert.ok(now - from < gateways.get(G)!.limitMs);
      assert.deepEqual(gateways.get(G)?.absences, [...absences, { from, until: now }]);
    });

    it('is nothing of a time in which nobody listened', () => {
      run(30, 10 * S, D, E);
      const { absences } = gateways.get(G)!;
      network.setListening(false, false);
      now += 10 * MINUTE;
      network.setListening(true, false);
      hear();
      hear(E);
      const { absences: after, unclear, untold } = gateways.get(G)!;
      assert.deepEqual([after, unclear, untold], [absences, undefined, undefined]);
    });

    it('is the last sixteen of them', () => {
      run(30, 10 * S, D, E);
      const times: number[] = [];
      for (let i = 0; i < 20; i++) {
        now += 26 * 60 * MINUTE;
        times.push(now);
        hear();
        run(30, 10 * S, D, E);
      }
      assert.deepEqual(
        gateways.get(G)?.absences.map(({ until }) => until),
        times.slice(-16),
      );
    });
  });

  describe('of a pause', () => {
    const PAUSES: [
      what: string,
      everyMs: number,
      count: number,
      pauseMs: number,
      first: string,
      is: string,
    ][] = [
      ['of a minute', 5 * S, 30, MINUTE, D, 'nothing'],
      ['of more, when its device is heard again', 5 * S, 30, MINUTE + 1, D, 'an absence'],
      ['of more, when another device is heard for the first time', 5 * S, 2, 10 * MINUTE, E, 'unclear'],
      ['shorter than its interval', 20 * MINUTE, 30, 15 * MINUTE, D, 'nothing'],
      ['longer than its interval', 20 * MINUTE, 30, 50 * MINUTE, D, 'untold'],
      ['as long as it takes to be silent', 20 * MINUTE, 30, 60 * MINUTE, D, 'untold'],
      ['longer than that', 20 * MINUTE, 30, 60 * MINUTE + 1, D, 'an absence'],
    ];
    for (const [what, everyMs, count, pauseMs, first, is] of PAUSES) {
      it(`${what}: ${is}`, () => {
        run(count, everyMs, D);
        const { absences } = gateways.get(G)!;
        const from = now;
        now += pauseMs;
        hear(first);
        const pause = { from, until: now };
        const after = gateways.get(G)!;
        assert.deepEqual(after.absences, is === 'an absence' ? [...absences, pause] : absences);
        assert.deepEqual(after.unclear, is === 'unclear' ? pause : undefined);
        assert.deepEqual(after.untold, is === 'untold' ? pause : undefined);
        assert.equal(after.cameAt === now, is === 'an absence');
      });
    }
  });

  describe('with what waits for it', () => {
    it('is looked at when it is heard, once', () => {
      waiting('a');
      waiting('b');
      waiting('c', G2);
      assert.deepEqual(due, []);
      hear();
      assert.deepEqual(due, ['a', 'b']);
      hear();
      assert.deepEqual(due, ['a', 'b']);
      hear(D, G2);
      assert.deepEqual(due, ['a', 'b', 'c']);
    });

    it('is looked at also where there is no room for the gateway any more, but not at once: it would take that of another one', () => {
      const at = (i: number) => (0xe00000000000 + i).toString(16);
      hear(D, at(0));
      waiting('a', at(0));
      run(10, 10 * S, D);
      waiting('known');
      waiting('never heard', G2);
      for (let i = 1; i < MAX_GATEWAYS; i++) {
        hear(D, at(i));
      }
      assert.deepEqual(due, ['a in 60000 ms']);
      assert.equal(gateways.get(at(0)), undefined, 'it was heard once only');
      assert.deepEqual([gateways.get(G)?.waiting.size, gateways.get(G2)?.waiting.size], [1, 1]);
    });
  });

  it('stays longer the later it was heard', () => {
    const at = (i: number) => (0xe00000000000 + i).toString(16);
    for (let i = 0; i < MAX_GATEWAYS; i++) {
      hear(D, at(i));
    }
    now += 999;
    hear(D, at(0));
    now += 1;
    hear(D, at(1));
    now += S;
    hear(D, at(1));
    hear(D, 'f00000000000');
    hear(D, 'f00000000001');
    assert.deepEqual(
      [0, 1, 2, 3].map((i) => gateways.get(at(i)) !== undefined),
      [false, true, false, true],
      'each second is soon enough to note it',
    );
  });
});
