// Who is watched on when a deploy changes the lists of a watch: each way by which somebody belongs to the new ones.
import assert from 'node:assert/strict';
import { watchedOn } from '../../src/network/watch-successor.ts';
import { newWatched, type Watched } from '../../src/network/watched.ts';
import { D, deviceAt, G, G2, World } from './watched-world.ts';

const X = 'c0141f68fc99';
const Y = deviceAt(9);

interface Lists {
  gateways?: string[];
  devices?: string[];
}

describe('who is watched on after a deploy', () => {
  let world: World;
  let entries: Map<string, Watched>;
  let left: Map<string, Watched>;

  beforeEach(() => {
    world = new World();
    [entries, left] = [new Map(), new Map()];
  });

  const entryOf = (id: string, kind: Watched['kind'], known: Partial<Watched> = {}): Watched => ({
    ...newWatched(id, kind, { check() {} }, 0),
    ...known,
  });
  const known = (id: string, more: Partial<Watched>) => entries.set(id, entryOf(id, 'device', more));
  const isWatchedOn = (entry: Watched, now: Lists & { labels?: string[] }, before: Lists = {}) =>
    watchedOn(
      world.network,
      { gateways: [], devices: [], labels: [], ...now },
      { gateways: [], devices: [], ...before, entries, left },
    )(entry);
  /** That has brought something, as the network knows. */
  const gateway = () => {
    world.hear('heartbeat', {}, { gateway: X, device: Y });
    return entryOf(X, 'gateway', { hasBrought: true });
  };

  it('are all gateways where no device is listed, and where no listed device goes', () => {
    assert.equal(isWatchedOn(gateway(), {}, { devices: [D] }), true);
    assert.equal(isWatchedOn(gateway(), { devices: [D] }, { devices: [D] }), true);
    assert.equal(isWatchedOn(gateway(), { devices: [D, Y] }, { devices: [D] }), true);
    assert.equal(isWatchedOn(gateway(), { devices: [] }, { gateways: [X] }), true);
  });

  it('are no gateways of others where a device goes, or the first one is listed', () => {
    assert.equal(isWatchedOn(gateway(), { devices: [D] }, { devices: [D, Y] }), false);
    assert.equal(isWatchedOn(gateway(), { devices: [D] }, { devices: [Y] }), false);
    assert.equal(isWatchedOn(gateway(), { devices: [D] }), false);
  });

  it('are no gateways of others where the list of gateways is emptied; a shorter one says itself whom it has', () => {
    const before = { gateways: [G, X], devices: [D] };
    assert.equal(isWatchedOn(gateway(), { devices: [D] }, before), false);
    assert.equal(isWatchedOn(gateway(), { gateways: [G], devices: [D] }, before), true);
  });

  it('are gateways of which nobody knows what they brought before the start, where no device goes', () => {
    const stored = entryOf(X, 'gateway', { hasBrought: true });
    const before = { gateways: [G, X], devices: [D] };
    assert.equal(isWatchedOn(stored, { devices: [D] }, before), true);
    assert.equal(isWatchedOn(stored, { devices: [Y] }, before), false);
    assert.equal(isWatchedOn({ ...stored, hasBrought: false }, { devices: [D] }, before), false);
    world.hear('heartbeat', {}, { gateway: X, device: Y });
    assert.equal(isWatchedOn(stored, { devices: [D] }, before), false);
    const gatewayState = world.network.gateway(X)!;
    world = new World();
    assert.equal(isWatchedOn({ ...stored, gatewayState }, { devices: [D] }, before), false);
  });

  it('are gateways that may carry a label, though only a list has asked for them before', () => {
    const before = { gateways: [X] };
    assert.equal(isWatchedOn(entryOf(X, 'gateway'), { labels: ['floor'] }, before), true);
    assert.equal(isWatchedOn(entryOf(X, 'device'), { labels: ['floor'] }, before), false);
  });

  it('are what is listed now, and all that is watched as a device', () => {
    assert.equal(isWatchedOn(gateway(), { devices: [D, X] }), true);
    assert.equal(isWatchedOn(gateway(), { gateways: [X], devices: [D] }), true);
    assert.equal(isWatchedOn(entryOf(Y, 'device', { hasBrought: true }), { devices: [D] }), true);
  });

  const WAYS: Record<string, () => void> = {
    'by which it was heard': () => {
      world.hear('heartbeat', {}, { gateway: X, device: D });
      known(D, { state: world.network.device(D)! });
    },
    'by which it belongs here': () => known(D, { chosenBy: X }),
    'of before the start': () => known(D, { storedGateway: X }),
    'that brought most of it before the start': () => known(D, { storedMainGateway: X }),
    'of before its label went': () => left.set(D, entryOf(D, 'device', { chosenBy: X })),
    'that is known, though it was not watched itself': () =>
      world.hear('heartbeat', {}, { gateway: X, device: D }),
  };
  for (const [way, know] of Object.entries(WAYS)) {
    it(`is the gateway of a listed device ${way}`, () => {
      known(Y, { chosenBy: X });
      know();
      assert.equal(isWatchedOn(gateway(), { devices: [D] }), true);
      assert.equal(isWatchedOn(entryOf(G2, 'gateway'), { devices: [D] }), false);
    });
  }

  for (const list of ['gateways', 'devices'] as const) {
    it(`is nobody whom only ${list} have asked for, and who was never heard`, () => {
      const before = { [list]: [X] };
      for (const kind of ['gateway', 'device'] as const) {
        assert.equal(isWatchedOn(entryOf(X, kind), {}, before), false);
        assert.equal(isWatchedOn(entryOf(X, kind), {}, { [list]: [G] }), true, 'not by that list');
        assert.equal(isWatchedOn(entryOf(X, kind), before, before), true, 'still listed');
      }
      world.hear('heartbeat', {}, { gateway: G, device: D });
      const heard: Partial<Watched>[] = [
        { state: world.network.device(D)! },
        { gatewayState: world.network.gateway(G)! },
        { hasBrought: true },
        { storedIntervalMs: 1_000 },
        { storedGateway: G },
        { chosenBy: G },
      ];
      for (const one of heard) {
        assert.equal(isWatchedOn(entryOf(X, 'gateway', one), {}, before), true, Object.keys(one)[0]);
      }
      world.hear('heartbeat', {}, { gateway: G, device: X });
      assert.equal(isWatchedOn(entryOf(X, 'device'), {}, before), true, 'a device of the network');
      assert.equal(isWatchedOn(entryOf(G, 'gateway'), {}, { [list]: [G] }), true, 'a gateway of the network');
    });
  }
});
