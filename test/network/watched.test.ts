// What a watch knows of one that it looks after: how often it comes, when it is missed, and what it waits for.
import assert from 'node:assert/strict';
import { NetworkState } from '../../src/network/network-state.ts';
import {
  type Alarm,
  becomes,
  gatewayOf,
  goOn,
  intervalOf,
  isOfSilence,
  isPassing,
  knownGatewaysOf,
  knownIntervalOf,
  limitOf,
  newWatched,
  noteInterval,
  stopWaiting,
  type Watched,
  waitFor,
} from '../../src/network/watched.ts';
import { WatchedGateways } from '../../src/network/watched-gateways.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';
import { ALL, D, G, G2, MINUTE, S, SETTINGS } from './watched-world.ts';

describe('one that is watched', () => {
  let now: number;
  let network: NetworkState;

  beforeEach(() => {
    now = 1_000;
    network = new NetworkState({ now: () => now });
    network.setListening(true, false);
  });

  function run(tail: string, count: number, everyMs: number): void {
    for (let i = 0; i < count; i++) {
      now += everyMs;
      network.record(readReportTopic('t', G, D, tail), now, { time: 't' } as Report);
    }
  }
  const watched = (more: Partial<Watched> = {}, id: string = D): Watched =>
    Object.assign(newWatched(id, 'device', { check() {} }, 100), more);
  const heard = (more: Partial<Watched> = {}) => watched({ state: network.device(D), ...more });

  it('is nobody of whom anything is known at first', () => {
    const { since, place, isExpected, hasBrought, wasAlone, isKnown, hearings, alarms, waitsFor } = watched();
    assert.deepEqual(
      [since, place, isExpected, hasBrought, wasAlone, isKnown, hearings, alarms, waitsFor],
      [100, -1, false, false, false, false, 0, [], []],
    );
    assert.deepEqual([gatewayOf(watched()), intervalOf(watched())], [undefined, undefined]);
  });

  it('goes on over a deploy with all that was known of it but its conditions and since when it counts', () => {
    run('heartbeat', 2, S);
    const known: Partial<Watched> = {
      ...{ kind: 'gateway', state: network.device(D), gatewayState: network.gateway(G), chosenBy: G },
      ...{ storedGateway: G2, storedMainGateway: G, storedIntervalMs: MINUTE, leastStoredMs: S },
      ...{ hearings: 2, isKnown: true, isExpected: true, hasBrought: true, wasAlone: true },
    };
    const before = watched({ ...known, since: 7, alarms: [{} as Alarm] });
    const entry = watched();
    goOn(entry, before);
    assert.deepEqual(entry, { ...watched(known), watch: entry.watch });
    goOn(entry, watched());
    assert.deepEqual([entry.isExpected, entry.kind], [true, 'gateway'], 'as it is listed now');
    assert.equal(entry.hasBrought, true, 'as the store says');
  });

  it('becomes a gateway, of which is not known how often it comes as one', () => {
    const known = { storedIntervalMs: MINUTE, leastStoredMs: S };
    const entry = watched(known);
    becomes(entry, 'device');
    assert.deepEqual(entry, { ...watched(known), watch: entry.watch });
    becomes(entry, 'gateway');
    const anew = { kind: 'gateway', storedIntervalMs: undefined, leastStoredMs: 0 } as const;
    assert.deepEqual(entry, { ...watched(anew), watch: entry.watch });
  });

  it('goes on with what was known of it before another one heard it as a device, but for what it says now', () => {
    run('heartbeat', 2, S);
    const now = network.device(D) as NonNullable<Watched['state']>;
    const before = {
      kind: 'gateway',
      state: { ...now, heardAt: 1 },
      chosenBy: G,
      storedIntervalMs: S,
    } as const;
    const entry = watched({ state: now, chosenBy: G2, storedIntervalMs: MINUTE });
    goOn(entry, watched({ ...before, leastStoredMs: 7 }));
    const { kind, state, chosenBy, storedIntervalMs, leastStoredMs } = entry;
    assert.deepEqual([kind, chosenBy, storedIntervalMs, leastStoredMs], ['gateway', G2, S, 7]);
    assert.equal(state, now);
    const [device, guess, unexpected] = [watched(), watched(), watched()];
    goOn(device, watched({ isExpected: true }));
    goOn(guess, watched({ kind: 'gateway', isExpected: true }), 'device');
    goOn(unexpected, watched());
    assert.deepEqual(
      [device, guess, unexpected].map(({ kind, isExpected }) => [kind, isExpected]),
      [
        ['device', true],
        ['device', false],
        ['device', false],
      ],
    );
    const gateway = watched({ kind: 'gateway', storedIntervalMs: MINUTE, leastStoredMs: 7 });
    goOn(gateway, watched({ storedIntervalMs: S, leastStoredMs: 8 }));
    assert.deepEqual(
      [gateway.storedIntervalMs, gateway.leastStoredMs],
      [MINUTE, 7],
      'a device says nothing of that',
    );
  });

  it('is stored anew when its interval is much longer than the shortest since it was stored', () => {
    const of = { leastStoredMs: 0 };
    const noted = [100, 125, 80, 100, 101, 126, 126].map((ms) => noteInterval(of, ms));
    assert.deepEqual(noted, [true, false, false, false, true, false, false]);
    assert.equal(of.leastStoredMs, 101);
  });

  it('comes as often as it was heard, and else as often as before the start', () => {
    assert.equal(knownIntervalOf(watched({ storedIntervalMs: MINUTE })), MINUTE);
    run('heartbeat', 2, 10 * S);
    assert.equal(knownIntervalOf(heard()), undefined);
    assert.equal(knownIntervalOf(heard({ storedIntervalMs: MINUTE })), MINUTE);
    run('heartbeat', 20, 10 * S);
    assert.equal(knownIntervalOf(heard({ storedIntervalMs: MINUTE })), 10 * S);
  });

  it('comes as often as its gateway is heard, where it is one', () => {
    run('heartbeat', 20, 10 * S);
    const gateway = (more: Partial<Watched>) => watched({ kind: 'gateway', ...more }, G);
    assert.equal(knownIntervalOf(gateway({ gatewayState: network.gateway(G) })), 10 * S);
    assert.equal(knownIntervalOf(gateway({ state: network.device(D) })), undefined);
  });

  it('is missed as if it came every 20 minutes where it is expected and not known', () => {
    assert.equal(intervalOf(watched({ isExpected: true })), 20 * MINUTE);
    assert.equal(intervalOf(watched({ isExpected: true, storedIntervalMs: MINUTE })), MINUTE);
    assert.equal(limitOf(watched({ isExpected: true }), { ...SETTINGS, silentAfter: 0 }), 60 * MINUTE);
    assert.equal(limitOf(watched(), { ...SETTINGS, silentAfter: 0 }), undefined);
    assert.equal(limitOf(watched(), { ...SETTINGS, silentAfter: 60 }), MINUTE);
  });

  it('belongs to the gateway that has heard it last, and else to that of before', () => {
    assert.equal(gatewayOf(watched({ storedGateway: G2 })), G2);
    run('heartbeat', 1, S);
    assert.equal(gatewayOf(heard({ storedGateway: G2 })), G);
  });

  it('is known of all gateways that have heard it, also before the start', () => {
    assert.deepEqual(knownGatewaysOf(watched()), []);
    run('heartbeat', 1, S);
    const before = { chosenBy: 'a', storedGateway: 'b', storedMainGateway: 'c' };
    assert.deepEqual(knownGatewaysOf(heard(before)), [G, 'a', 'b', 'c']);
    assert.deepEqual(knownGatewaysOf(watched({ storedGateway: 'b' })), ['b']);
  });

  it('is missed by nobody after an update under an address that was heard for that only', () => {
    run('dfu', 20, 10 * S);
    assert.deepEqual([isPassing(heard()), knownIntervalOf(heard())], [true, undefined]);
    assert.equal(isPassing(watched()), false, 'of which nothing was heard');
    for (const more of [{ isExpected: true }, { storedIntervalMs: MINUTE }, { kind: 'gateway' }] as const) {
      assert.equal(isPassing(heard(more)), false, JSON.stringify(more));
    }
    run('heartbeat', 20, 10 * S);
    assert.deepEqual([isPassing(heard()), knownIntervalOf(heard())], [false, 10 * S]);
  });

  it('has a silence, where its condition is one', () => {
    assert.deepEqual(
      ALL.filter((condition) => isOfSilence({ condition } as Alarm)),
      ['silent', 'gateway-silent'],
    );
  });

  it('waits for gateways until one of them is heard, or nobody looks after it any more', () => {
    const gateways = new WatchedGateways(network, () => {});
    const [one, other] = [gateways.need(G), gateways.need(G2)];
    const [entry, second] = [watched(), watched()];
    waitFor(entry, []);
    assert.deepEqual(entry.waitsFor, []);
    waitFor(entry, [one, other]);
    waitFor(second, [one]);
    assert.deepEqual(entry.waitsFor, [one, other]);
    assert.deepEqual([one.waiting, other.waiting], [new Set([entry, second]), new Set([entry])]);
    stopWaiting(entry);
    stopWaiting(entry);
    assert.deepEqual([entry.waitsFor, one.waiting, other.waiting], [[], new Set([second]), new Set()]);
  });
});
