// What a watch knows of an address whose kind changes: a gateway that others hear, or what was listed as one by mistake.
import assert from 'node:assert/strict';
import type { OpenWatch } from '../../src/network/device-watches.ts';
import { NetworkState } from '../../src/network/network-state.ts';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import { WatchKinds } from '../../src/network/watch-kinds.ts';
import { WatchScope } from '../../src/network/watch-scope.ts';
import { newWatched, type StoredWatched, type Watched } from '../../src/network/watched.ts';
import { type Report, readReportTopic } from '../../src/protocol/reports/index.ts';
import { ALL, deviceAt, G, HOUR, MINUTE, S, SETTINGS, World } from './watched-world.ts';

const X = 'c0141f68fc99';
const LEARNED = { silentAfter: 0 };
/** X is heard by another gateway; it brings a report, too. */
const BY_OTHERS = [{}, { device: X }];
const BY_ALL = [{}, { gateway: X, device: deviceAt(7) }, { gateway: X, device: X }, { device: X }];

describe('a watch of what becomes a gateway', () => {
  let world: World;
  let told: string[];
  let settings: Partial<WatchSettings>;
  let labelled: string[];
  let watch: OpenWatch;

  beforeEach(() => {
    world = new World();
    told = [];
    labelled = [];
  });

  const label = (...gateways: string[]) => {
    labelled = gateways;
    watch.setLabelled(new Set(gateways));
  };
  const open = (changed: Partial<WatchSettings>) => {
    settings = changed;
    watch = world.watches.open(
      'n',
      { ...SETTINGS, ...settings },
      {
        changed: ({ condition, active, device }) =>
          void told.push(`${active ? '+' : '-'}${condition} ${device}`),
        counted() {},
        full() {},
        follow() {},
      },
    );
    label(...labelled);
  };
  const kept = () => JSON.parse(JSON.stringify(world.watches.store(100))) as { n: object[] };
  const begin = () => {
    world.listen(true);
    world.watches.setPaused(false);
  };
  const restart = (changed = settings) => {
    const known = kept();
    world.startAnew();
    world.watches.restore(known);
    open(changed);
    begin();
  };
  const deploy = (changed = settings) => {
    watch.close(true);
    open(changed);
    world.takeTurns();
  };
  const heads = () => told.splice(0);
  const hasSignal = (rssi: number) => world.hear('rssi', { rssi }, { device: X });
  /** X brings what another device sends so seldom; another gateway hears X itself every minute. */
  const bringsSeldom = (times: number) => {
    for (let time = 0; time < times; time++) {
      world.hear('heartbeat', {}, { gateway: X, device: deviceAt(7) });
      world.run(20 * MINUTE, MINUTE, BY_OTHERS);
    }
  };

  it('ends a weak signal of before a restart: nobody hears a gateway', () => {
    open({ conditions: ALL, ...LEARNED });
    world.run(HOUR, MINUTE, BY_OTHERS);
    hasSignal(-92);
    world.run(MINUTE, MINUTE, BY_OTHERS);
    assert.deepEqual(heads(), [`+weak-signal ${X}`]);
    restart();
    world.run(MINUTE, MINUTE, BY_ALL);
    assert.deepEqual(heads(), [`-weak-signal ${X}`]);
  });

  it('has no weak signal of a gateway of before a restart that another one hears first', () => {
    open({ conditions: ALL, ...LEARNED });
    world.run(HOUR, MINUTE, BY_ALL);
    restart();
    hasSignal(-92);
    world.run(30 * S, 10 * S, [{}]);
    world.run(HOUR, MINUTE, BY_ALL);
    assert.deepEqual(heads(), []);
  });

  for (const how of [
    'a restart',
    'a restart after which its label comes',
    'a label that comes with a restart',
  ]) {
    it(`does not miss it by how often it was heard as a device: ${how}`, () => {
      const labels = how === 'a restart' ? [] : ['floor'];
      open({ labels, ...LEARNED });
      label(G);
      world.run(3 * HOUR, MINUTE, labels.length === 0 ? BY_OTHERS : BY_ALL);
      labelled = how === 'a label that comes with a restart' ? [G, X] : [G];
      restart();
      if (how === 'a restart after which its label comes') {
        bringsSeldom(2);
        label(G, X);
      }
      bringsSeldom(9);
      assert.deepEqual(heads(), []);
    });
  }

  it('does not miss it by that where it brings reports before the store comes', () => {
    open(LEARNED);
    world.run(3 * HOUR, MINUTE, BY_OTHERS);
    const known = kept();
    world.startAnew();
    open(LEARNED);
    begin();
    world.run(MINUTE, 10 * S, BY_ALL);
    world.watches.restore(known);
    bringsSeldom(9);
    assert.deepEqual(heads(), []);
  });

  for (const restarts of [1, 2]) {
    it(`takes no device for one that was listed as a gateway by mistake over restarts: ${restarts}`, () => {
      labelled = [G, X];
      open({ labels: ['floor'], ...LEARNED });
      world.run(3 * HOUR, MINUTE, BY_OTHERS);
      for (let count = 0; count < restarts; count++) {
        restart({ ...settings, gateways: [G, X] });
        world.run(2 * HOUR, MINUTE, BY_OTHERS);
      }
      heads();
      deploy({ ...settings, gateways: [] });
      world.run(3 * HOUR, MINUTE, BY_OTHERS);
      assert.deepEqual([heads(), watch.active()], [[`-gateway-silent ${X}`], []]);
      world.run(3 * HOUR, MINUTE, [{}]);
      assert.deepEqual(heads(), [`+silent ${X}`]);
    });
  }

  for (const [title, before] of [
    ['got its label', [G]],
    ['was without its label once', [G, X]],
  ] as const) {
    it(`misses one that is listed and ${title} while another one hears it`, () => {
      labelled = [...before];
      open({ labels: ['floor'], gateways: [G, X], silentAfter: 300 });
      world.run(2 * MINUTE, MINUTE, BY_OTHERS);
      label(G);
      world.run(10 * MINUTE, MINUTE, BY_OTHERS);
      label(G, X);
      world.run(HOUR, MINUTE, BY_OTHERS);
      assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
    });
  }

  it('goes on with what was told of it while it had no label', () => {
    labelled = [G, X];
    open({ labels: ['floor'], conditions: ALL, ...LEARNED });
    world.run(2 * HOUR, MINUTE, BY_ALL);
    restart();
    label(G);
    world.run(5 * MINUTE, MINUTE, BY_OTHERS);
    world.hear('timestamped-decoded/temperature', { errorCode: 7, value: null }, { device: X });
    world.wait(MINUTE);
    assert.deepEqual(heads(), [`+error ${X}`]);
    label(G, X);
    world.wait(MINUTE);
    world.hear('heartbeat', {}, { device: X });
    world.wait(MINUTE);
    assert.deepEqual(heads(), []);
  });

  it('goes on with what was told of a device that a late store takes for a gateway by its label', () => {
    labelled = [G, X];
    open({ labels: ['floor'], conditions: ALL, ...LEARNED });
    world.run(2 * HOUR, MINUTE, [{}]);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
    const known = kept();
    world.startAnew();
    open(settings);
    begin();
    world.hear('property/8100', { value: 10 }, { device: X });
    world.run(MINUTE, MINUTE, BY_OTHERS);
    assert.deepEqual(heads(), [`+battery-low ${X}`]);
    world.watches.restore(known);
    world.run(HOUR, MINUTE, BY_OTHERS);
    assert.deepEqual(heads(), [`-gateway-silent ${X}`]);
    assert.deepEqual(
      watch.active().map(({ condition, gateway }) => [condition, gateway]),
      [['battery-low', G]],
    );
  });
});

describe('which of what is watched are gateways', () => {
  let network: NetworkState;
  let scope: WatchScope;
  let kinds: WatchKinds;

  const begin = (settings: Partial<WatchSettings> = { labels: ['floor'] }) => {
    network = new NetworkState({ now: () => 1_000 });
    network.setListening(true, false);
    scope = new WatchScope({ ...SETTINGS, ...settings });
    scope.setLabelled(new Set([G, X]));
    kinds = new WatchKinds(network, scope);
  };
  beforeEach(() => begin());

  const D = deviceAt(1);
  const hear = (gateway: string, device: string) =>
    network.record(readReportTopic('t', gateway, device, 'heartbeat'), 1_000, { time: 't' } as Report);
  const entryOf = (more: Partial<Watched> = {}, id = X): Watched =>
    Object.assign(newWatched(id, 'gateway', { check() {} }, 0), more);

  it('are those that have brought reports, before the start or since, whoever watches them', () => {
    const asked = (entry: Watched) => [kinds.hasBrought(entry), kinds.isGuess(entry)];
    assert.deepEqual(asked(entryOf()), [false, true]);
    assert.deepEqual(asked(entryOf({ hasBrought: true })), [true, false]);
    hear(X, D);
    assert.deepEqual(asked(entryOf()), [true, false]);
    const gatewayState = network.gateway(X);
    assert.deepEqual(
      asked(entryOf({ kind: 'device', gatewayState })),
      [false, false],
      'it is watched as a device',
    );
    begin();
    assert.deepEqual(asked(entryOf({ gatewayState })), [true, false], 'the network has forgotten it');
    begin({ labels: ['floor'], gateways: [X] });
    assert.deepEqual(asked(entryOf()), [false, false], 'it is listed');
  });

  it('are devices when they bring reports, where their label or a list says so, but for others', () => {
    const device = entryOf({ kind: 'device', storedIntervalMs: S });
    assert.deepEqual(
      [kinds.brings(device), device.kind, device.storedIntervalMs],
      [true, 'gateway', undefined],
    );
    assert.deepEqual([kinds.brings(device), kinds.brings(undefined)], [false, false]);
    const other = entryOf({ kind: 'device' }, D);
    assert.deepEqual([kinds.brings(other), other.kind], [false, 'device']);
    assert.equal(kinds.kindOf(X), 'device');
    hear(X, D);
    hear(D, X);
    assert.deepEqual([kinds.kindOf(X), kinds.kindOf(D)], ['gateway', 'device']);
  });

  it('know what they have brought before they were watched', () => {
    hear(X, D);
    const [gateway, device] = [entryOf(), entryOf({ kind: 'device' })];
    for (const entry of [gateway, device]) {
      kinds.recallState(entry);
    }
    assert.deepEqual([gateway.gatewayState, gateway.hasBrought], [network.gateway(X), true]);
    assert.deepEqual([device.gatewayState, device.hasBrought], [undefined, false]);
    const unheard = entryOf({}, G);
    kinds.recallState(unheard);
    assert.equal(unheard.hasBrought, false);
  });

  it('are also those that others have heard as devices meanwhile, but for what was a guess', () => {
    const [gateway, device] = [entryOf({ hasBrought: true }), entryOf({ kind: 'device' })];
    const again = (entry: Watched, before: Watched) => kinds.isGatewayAgain(entry, before);
    assert.deepEqual([again(device, gateway), again(gateway, gateway)], [true, false]);
    assert.deepEqual([again(device, device), again(device, entryOf())], [false, false]);
  });

  describe('by what a store has of them', () => {
    const stored = (more: Partial<StoredWatched> = {}): Omit<StoredWatched, 'alarms'> => ({
      ...{ chosenBy: undefined, storedGateway: undefined, storedMainGateway: undefined },
      ...{ storedIntervalMs: MINUTE, hasBrought: false, wasAlone: false, isExpected: false, ...more },
    });
    const restored = (entry: Watched, kind: Watched['kind'], more: Partial<StoredWatched> = {}) => {
      kinds.restore(entry, kind, stored(more));
      return [entry.kind, entry.storedIntervalMs, entry.hasBrought, entry.isExpected];
    };
    const asDevice = () => {
      hear(G, X);
      return entryOf({ kind: 'device', state: network.device(X) });
    };

    it('are what they were, where nothing was heard of them', () => {
      assert.deepEqual(restored(entryOf({ isExpected: true }), 'device'), ['device', MINUTE, false, true]);
      assert.deepEqual(restored(entryOf(), 'gateway', { isExpected: true }), [
        'gateway',
        MINUTE,
        false,
        true,
      ]);
      const listed = entryOf({ kind: 'device' });
      assert.deepEqual(restored(listed, 'gateway'), ['gateway', MINUTE, false, false]);
      assert.deepEqual(restored(entryOf({ kind: 'device' }), 'device'), ['device', MINUTE, false, false]);
    });

    it('are gateways where they have brought something, whatever has heard them', () => {
      assert.deepEqual(restored(asDevice(), 'gateway', { hasBrought: true }), [
        'gateway',
        MINUTE,
        true,
        false,
      ]);
      const heard = entryOf({ hasBrought: true });
      assert.deepEqual(
        restored(heard, 'device'),
        ['gateway', undefined, true, false],
        'it has brought since',
      );
      begin({ gateways: [X] });
      assert.deepEqual(restored(asDevice(), 'gateway'), ['gateway', MINUTE, false, false], 'it is listed');
    });

    it('are none where that was a guess, and others hear them', () => {
      assert.deepEqual(restored(asDevice(), 'gateway'), ['device', undefined, false, false]);
    });
  });
});
