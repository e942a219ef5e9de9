// What is judged of a gateway or a device: what reports have shown of it, and for how long that counts.
import assert from 'node:assert/strict';
import { NetworkState } from '../../src/network/network-state.ts';
import { presenceOf, signalOf } from '../../src/network/presence.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { type ConditionLimits, DEFAULT_LIMITS, type Presence } from '../../src/protocol/conditions.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';

const [G, G2] = ['c0141f68fc3d', 'c0141f68fc3e'] as const;
const [D, E] = ['d00000000001', 'd00000000002'] as const;
const S = 1_000;
const MINUTE = 60 * S;

describe('what is known of one that is watched', () => {
  const catalogue = createCatalogue();
  let now: number;
  let network: NetworkState;

  beforeEach(() => {
    now = 1_000;
    network = new NetworkState({ now: () => now });
    network.setListening(true, false);
  });

  function hear(rest = 'heartbeat', body: object = {}, { gateway = G as string, device = D as string } = {}) {
    const report = { time: '2026-01-01T12:00:00Z', ...body } as Report;
    network.record(readReportTopic('t', gateway, device, rest), now, report);
  }
  function run(minutes: number, ...devices: string[]): void {
    for (let minute = 0; minute < minutes; minute++) {
      for (const device of devices) {
        hear('heartbeat', {}, { device });
      }
      now += MINUTE;
    }
  }
  const known = (mac: string): Presence | undefined =>
    presenceOf({ network, catalogue }, { gateway: network.gateway(mac), device: network.device(mac) });

  it('is nothing where nothing was heard', () => {
    assert.equal(known(D), undefined);
  });

  it('is of a device its silence, interval, error, charge and signal', () => {
    run(10, D);
    hear('heartbeat', { status: 3 });
    hear('property-decoded/battery-level', { value: 15 });
    hear('rssi', { rssi: -70, parent: G });
    now += 5 * S;
    assert.deepEqual(known(D), {
      ...{ kind: 'device', silentMs: 5 * S, intervalMs: MINUTE, error: 3, battery: 15, signal: -70 },
      isDfu: false,
    });
  });

  it('is of a gateway its silence by all that it brings, and what it reports of itself', () => {
    run(20, D, G);
    hear('heartbeat', { status: 4 }, { device: G });
    hear('property-decoded/battery-level', { value: 30 }, { device: G });
    hear('rssi', { rssi: -70, parent: G2 }, { gateway: G2, device: G });
    now += 5 * S;
    hear();
    now += 2 * S;
    const { silentMs, ...more } = known(G) ?? {};
    assert.equal(silentMs, 2 * S);
    assert.deepEqual(more, {
      ...{ kind: 'gateway', intervalMs: network.intervalMs(network.gateway(G)!) },
      ...{ error: 4, battery: 30, signal: undefined, isDfu: false },
    });
  });

  it('is of a gateway that reports nothing of itself its silence alone', () => {
    hear();
    now += S;
    assert.deepEqual(known(G), {
      ...{ kind: 'gateway', silentMs: S, intervalMs: undefined, error: undefined, battery: undefined },
      ...{ signal: undefined, isDfu: false },
    });
  });

  describe('in DFU mode', () => {
    it('holds for three intervals, and for a quarter of an hour where none is known', () => {
      run(10, D);
      hear('dfu');
      hear('dfu', {}, { device: E });
      now += 3 * MINUTE;
      assert.deepEqual([known(D)?.isDfu, known(E)?.isDfu], [true, true]);
      now += 1;
      assert.deepEqual([known(D)?.isDfu, known(E)?.isDfu], [false, true]);
      now += 12 * MINUTE - 1;
      assert.equal(known(E)?.isDfu, true);
      now += 1;
      assert.equal(known(E)?.isDfu, false);
    });

    it('is no silence of an address that was heard in it alone', () => {
      for (let i = 0; i < 10; i++) {
        hear('dfu');
        now += MINUTE;
      }
      const { silentMs, intervalMs, isDfu } = known(D) ?? {};
      assert.deepEqual([silentMs, intervalMs, isDfu], [undefined, undefined, true]);
      hear();
      now += S;
      assert.equal(known(D)?.silentMs, S);
    });
  });

  describe('of how well it is heard', () => {
    const at = (gateway?: string, limits: Partial<ConditionLimits> = {}) =>
      signalOf(network.device(D)!, gateway, { ...DEFAULT_LIMITS, ...limits });

    it('is the best of all gateways, or that of one', () => {
      hear('rssi', { rssi: -80, parent: G });
      hear('rssi', { rssi: -60, parent: G2 }, { gateway: G2 });
      assert.deepEqual([at(), at(G), at(G2), at(E)], [-60, -80, -60, undefined]);
      assert.equal(known(D)?.signal, -60);
    });

    /** Heard well, and so much later by another gateway, less well. */
    const LATER: [string, ms: number, isKnown: boolean, silentAfter: number][] = [
      ['a quarter of an hour where it is not known how often it is heard', 15 * MINUTE, false, 0],
      ['five minutes where that is known, and is often', 5 * MINUTE, true, 0],
      ['the time that was set, where it is shorter', 30 * S, true, 30],
      ['the time that was set, where it is longer', 20 * MINUTE, true, 1_200],
    ];
    for (const [how, ms, isKnown, silentAfter] of LATER) {
      it(`counts for ${how}, and no longer`, () => {
        if (isKnown) {
          for (let i = 0; i < 10; i++) {
            hear();
            now += 10 * S;
          }
        }
        hear('rssi', { rssi: -60, parent: G });
        now += ms;
        hear('rssi', { rssi: -80, parent: G2 }, { gateway: G2 });
        assert.equal(at(undefined, { silentAfter }), -60);
        now += 1;
        hear('rssi', { rssi: -80, parent: G2 }, { gateway: G2 });
        assert.equal(at(undefined, { silentAfter }), -80);
      });
    }
  });
});
