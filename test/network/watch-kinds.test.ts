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

/** A network, and one watch of it that is opened, deployed and started anew. */
class Bench {
  world = new World();
  watch!: OpenWatch;
  readonly told: string[] = [];
  settings: Partial<WatchSettings> = {};
  /** Undefined: the list of devices has not come. */
  labelled: string[] | undefined = [];
}

function useWatch() {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });

  const label = (...gateways: string[]) => {
    bench.labelled = gateways;
    bench.watch?.setLabelled(new Set(gateways));
  };
  const open = (changed: Partial<WatchSettings>) => {
    bench.settings = changed;
    const { told } = bench;
    bench.watch = bench.world.watches.open(
      'n',
      { ...SETTINGS, ...changed },
      {
        changed: ({ condition, active, device }) =>
          void told.push(`${active ? '+' : '-'}${condition} ${device}`),
        counted() {},
        full() {},
        follow() {},
      },
    );
    if (bench.labelled) {
      label(...bench.labelled);
    }
  };
  /** The list of devices does not come with the next start. */
  const withhold = () => {
    bench.labelled = undefined;
  };
  const begin = () => {
    bench.world.listen(true);
    bench.world.watches.setPaused(false);
  };
  const kept = () => JSON.parse(JSON.stringify(bench.world.watches.store(100))) as { n: object[] };
  /** @param labelled that carry the label then */
  const restart = (changed = bench.settings, labelled = bench.labelled) => {
    const known = kept();
    bench.labelled = labelled;
    bench.world.startAnew();
    bench.world.watches.restore(known);
    open(changed);
    begin();
  };
  const deploy = (changed = bench.settings) => {
    bench.watch.close(true);
    open(changed);
    bench.world.takeTurns();
  };
  /** Another gateway hears X. */
  const heard = (tail: string, body: object) => bench.world.hear(tail, body, { device: X });
  const heads = () => bench.told.splice(0);
  /** Of what is active. */
  const places = () => bench.watch.active().map(({ condition, gateway }) => [condition, gateway]);
  return {
    ...{ label, withhold, open, begin, kept, restart, deploy, heard, heads, places },
    get world() {
      return bench.world;
    },
    get watch() {
      return bench.watch;
    },
    get settings() {
      return bench.settings;
    },
  };
}

describe('a watch of what becomes a gateway', () => {
  const bench = useWatch();
  const { label, open, begin, kept, restart, deploy, heads, heard, places } = bench;
  const hasSignal = (rssi: number) => heard('rssi', { rssi });
  /** X brings what another device sends so seldom; another gateway hears X itself every minute. */
  const bringsSeldom = (times: number) => {
    for (let time = 0; time < times; time++) {
      bench.world.hear('heartbeat', {}, { gateway: X, device: deviceAt(7) });
      bench.world.run(20 * MINUTE, MINUTE, BY_OTHERS);
    }
  };

  it('ends a weak signal of before a restart: nobody hears a gateway', () => {
    open({ conditions: ALL, ...LEARNED });
    bench.world.run(HOUR, MINUTE, BY_OTHERS);
    hasSignal(-92);
    bench.world.run(MINUTE, MINUTE, BY_OTHERS);
    assert.deepEqual(heads(), [`+weak-signal ${X}`]);
    restart();
    bench.world.run(MINUTE, MINUTE, BY_ALL);
    assert.deepEqual(heads(), [`-weak-signal ${X}`]);
  });

  it('has no weak signal of a gateway of before a restart that another one hears first', () => {
    open({ conditions: ALL, ...LEARNED });
    bench.world.run(HOUR, MINUTE, BY_ALL);
    restart();
    hasSignal(-92);
    bench.world.run(30 * S, 10 * S, [{}]);
    bench.world.run(HOUR, MINUTE, BY_ALL);
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
      bench.world.run(3 * HOUR, MINUTE, labels.length === 0 ? BY_OTHERS : BY_ALL);
      restart(bench.settings, how === 'a label that comes with a restart' ? [G, X] : [G]);
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
    bench.world.run(3 * HOUR, MINUTE, BY_OTHERS);
    const known = kept();
    bench.world.startAnew();
    open(LEARNED);
    begin();
    bench.world.run(MINUTE, 10 * S, BY_ALL);
    bench.world.watches.restore(known);
    bringsSeldom(9);
    assert.deepEqual(heads(), []);
  });

  for (const restarts of [1, 2]) {
    it(`takes no device for one that was listed as a gateway by mistake over restarts: ${restarts}`, () => {
      label(G, X);
      open({ labels: ['floor'], ...LEARNED });
      bench.world.run(3 * HOUR, MINUTE, BY_OTHERS);
      for (let count = 0; count < restarts; count++) {
        restart({ ...bench.settings, gateways: [G, X] });
        bench.world.run(2 * HOUR, MINUTE, BY_OTHERS);
      }
      heads();
      deploy({ ...bench.settings, gateways: [] });
      bench.world.run(3 * HOUR, MINUTE, BY_OTHERS);
      assert.deepEqual([heads(), bench.watch.active()], [[`-gateway-silent ${X}`], []]);
      bench.world.run(3 * HOUR, MINUTE, [{}]);
      assert.deepEqual(heads(), [`+silent ${X}`]);
    });
  }

  for (const [title, before] of [
    ['got its label', [G]],
    ['was without its label once', [G, X]],
  ] as const) {
    it(`misses one that is listed and ${title} while another one hears it`, () => {
      label(...before);
      open({ labels: ['floor'], gateways: [G, X], silentAfter: 300 });
      bench.world.run(2 * MINUTE, MINUTE, BY_OTHERS);
      label(G);
      bench.world.run(10 * MINUTE, MINUTE, BY_OTHERS);
      label(G, X);
      bench.world.run(HOUR, MINUTE, BY_OTHERS);
      assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
    });
  }

  it('goes on with what was told of it while it had no label', () => {
    label(G, X);
    open({ labels: ['floor'], conditions: ALL, ...LEARNED });
    bench.world.run(2 * HOUR, MINUTE, BY_ALL);
    restart();
    label(G);
    bench.world.run(5 * MINUTE, MINUTE, BY_OTHERS);
    bench.world.hear('timestamped-decoded/temperature', { errorCode: 7, value: null }, { device: X });
    bench.world.wait(MINUTE);
    assert.deepEqual(heads(), [`+error ${X}`]);
    label(G, X);
    bench.world.wait(MINUTE);
    bench.world.hear('heartbeat', {}, { device: X });
    bench.world.wait(MINUTE);
    assert.deepEqual(heads(), []);
  });

  it('goes on with what was told of a device that a late store takes for a gateway by its label', () => {
    label(G, X);
    open({ labels: ['floor'], conditions: ALL, ...LEARNED });
    bench.world.run(2 * HOUR, MINUTE, [{}]);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
    const known = kept();
    bench.world.startAnew();
    open(bench.settings);
    begin();
    bench.world.hear('property/8100', { value: 10 }, { device: X });
    bench.world.run(MINUTE, MINUTE, BY_OTHERS);
    assert.deepEqual(heads(), [`+battery-low ${X}`]);
    bench.world.watches.restore(known);
    bench.world.run(HOUR, MINUTE, BY_OTHERS);
    assert.deepEqual(heads(), [`-gateway-silent ${X}`]);
    assert.deepEqual(places(), [['battery-low', G]]);
  });
});

describe('a watch of what was taken for a gateway', () => {
  const bench = useWatch();
  const { label, open, restart, deploy, heads, heard, places } = bench;

  for (const [how, change] of [
    ['a deploy', deploy],
    ['a restart', restart],
  ] as const) {
    for (const conditions of [ALL, ['silent' as const]]) {
      it(`takes it for a device where it is listed as one by ${how}: ${conditions}`, () => {
        open({ conditions, ...LEARNED, gateways: [G, X] });
        bench.world.run(3 * HOUR, MINUTE, BY_OTHERS);
        heads();
        change({ conditions, ...LEARNED, devices: [X] });
        bench.world.run(HOUR, MINUTE, BY_OTHERS);
        assert.deepEqual([heads().filter((one) => one.startsWith('+')), bench.watch.active()], [[], []]);
        bench.world.run(3 * HOUR, MINUTE, [{}]);
        assert.deepEqual(heads(), [`+silent ${X}`]);
      });
    }

    it(`watches a gateway as a device where ${how} lists it as one, and nobody asks for what it brings`, () => {
      open({ ...LEARNED, gateways: [G, X] });
      bench.world.run(HOUR, MINUTE, BY_ALL);
      change({ ...LEARNED, gateways: [G], devices: [X] });
      bench.world.run(3 * HOUR, MINUTE, BY_OTHERS);
      assert.deepEqual(heads(), []);
      bench.world.run(3 * HOUR, MINUTE, [{}]);
      assert.deepEqual(heads(), [`+silent ${X}`]);
    });

    // Who hears it is not known after a restart: then it may be nobody of the list.
    for (const gateways of how === 'a deploy' ? [[], [G]] : [[]]) {
      it(`goes on with its error where ${how} takes it out of the list and leaves so many: ${gateways.length}`, () => {
        open({ conditions: ALL, ...LEARNED, gateways: [G, X] });
        bench.world.run(2 * HOUR, MINUTE, BY_OTHERS);
        heard('property/8100', { value: 10 });
        bench.world.run(MINUTE, MINUTE, BY_OTHERS);
        assert.deepEqual(heads(), [`+gateway-silent ${X}`, `+battery-low ${X}`]);
        change({ conditions: ALL, ...LEARNED, gateways });
        bench.world.run(HOUR, MINUTE, BY_OTHERS);
        assert.deepEqual(heads(), [`-gateway-silent ${X}`]);
        assert.deepEqual(places(), [['battery-low', G]]);
      });
    }
  }

  it('misses it by its devices no more, where it is a gateway that was updated over a restart and does not come back', () => {
    open({ conditions: ALL, ...LEARNED });
    bench.world.run(3 * HOUR, MINUTE, BY_OTHERS);
    restart();
    bench.world.run(5 * S, S, BY_ALL);
    for (let time = 0; time < 2; time++) {
      heard('dfu', {});
      bench.world.wait(10 * S);
    }
    assert.deepEqual(heads(), [`+dfu ${X}`]);
    restart();
    bench.world.run(2 * HOUR, MINUTE, [{}]);
    assert.deepEqual(heads().sort(), [`+gateway-silent ${X}`, `-dfu ${X}`]);
  });

  it('tells the silence of a gateway in place of that of the device as which it was heard', () => {
    open({ conditions: ALL, ...LEARNED });
    bench.world.run(3 * HOUR, MINUTE, BY_OTHERS);
    bench.world.run(HOUR, MINUTE, [{}]);
    assert.deepEqual(heads(), [`+silent ${X}`]);
    restart({ conditions: ALL, ...LEARNED, gateways: [G, X] });
    bench.world.run(3 * HOUR, MINUTE, [{}]);
    assert.deepEqual(heads(), [`-silent ${X}`, `+gateway-silent ${X}`]);
  });

  it('does not watch one that was taken away as a gateway because another one hears its radio', () => {
    open({ conditions: ALL, ...LEARNED });
    bench.world.run(HOUR, MINUTE, BY_ALL);
    bench.world.run(HOUR, MINUTE, BY_OTHERS);
    bench.watch.forget(X);
    heads();
    bench.world.run(HOUR, MINUTE, BY_OTHERS);
    assert.deepEqual(heads(), []);
    bench.world.run(5 * MINUTE, MINUTE, BY_ALL);
    bench.world.run(HOUR, MINUTE, BY_OTHERS);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`], 'it has brought reports since');
  });

  it('tells what a gateway has reported of itself before anybody watched it', () => {
    bench.world.hear('property/8100', { value: 10 }, { gateway: X, device: X });
    open({ conditions: ALL, ...LEARNED, gateways: [X] });
    bench.world.run(MINUTE, MINUTE, [{ gateway: X, device: deviceAt(7) }]);
    assert.deepEqual(heads(), [`+battery-low ${X}`]);
  });

  it('tells nothing that only a gateway outside of the watch has brought of a device', () => {
    heard('property/8100', { value: 10 });
    open({ conditions: ALL, ...LEARNED, gateways: [deviceAt(9)], devices: [X] });
    bench.world.run(MINUTE, MINUTE, [{ gateway: deviceAt(9), device: deviceAt(7) }]);
    assert.deepEqual(heads(), []);
  });

  it('does not watch one that was taken away before anybody watched it either', () => {
    bench.world.run(HOUR, MINUTE, BY_ALL);
    open({ conditions: ALL, ...LEARNED });
    bench.world.run(HOUR, MINUTE, BY_OTHERS);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
    bench.watch.forget(X);
    heads();
    bench.world.run(HOUR, MINUTE, BY_OTHERS);
    assert.deepEqual(heads(), []);
  });

  for (const [how, change] of [
    ['a restart', restart],
    ['a deploy after a restart', (changed: Partial<WatchSettings>) => [restart(), deploy(changed)]],
  ] as const) {
    it(`does not count the silence of a gateway as that of a device, or the other way round: ${how}`, () => {
      const seldom = () => {
        for (let time = 0; time < 12; time++) {
          bench.world.run(10 * MINUTE, MINUTE, [{}]);
          heard('heartbeat', {});
        }
      };
      open({ ...LEARNED, gateways: [G, X] });
      seldom();
      assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
      change({ ...LEARNED, devices: [X] });
      seldom();
      assert.deepEqual(heads(), [`-gateway-silent ${X}`]);
      bench.world.run(5 * HOUR, MINUTE, [{}]);
      assert.deepEqual(heads(), [`+silent ${X}`]);
      change({ ...LEARNED, gateways: [G, X] });
      bench.world.run(10 * MINUTE, MINUTE, [{}]);
      assert.deepEqual(heads(), [`-silent ${X}`]);
    });
  }

  it('misses one that was without its label, and then was not heard by any that has it', () => {
    label(G, X);
    open({ labels: ['floor'], ...LEARNED });
    bench.world.run(HOUR, MINUTE, BY_ALL);
    restart();
    for (const gateways of [[G], []]) {
      label(...gateways);
      bench.world.run(5 * MINUTE, MINUTE, BY_OTHERS);
    }
    heads();
    label(G, X);
    bench.world.run(HOUR, MINUTE, BY_OTHERS);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
  });

  it('misses one that comes back because another one hears it, whatever else is watched', () => {
    open(LEARNED);
    bench.world.run(HOUR, MINUTE, [{}, { gateway: X, device: deviceAt(7) }]);
    deploy({ ...LEARNED, gateways: [G] });
    deploy(LEARNED);
    bench.world.run(2 * HOUR, MINUTE, BY_OTHERS);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
  });

  for (const devices of [[], [X]]) {
    it(`expects what is heard as a device only where it is listed as one: ${devices.length}`, () => {
      label(G, X);
      open({ labels: ['floor'], devices, ...LEARNED });
      bench.world.run(MINUTE, MINUTE, [{}]);
      heard('heartbeat', {});
      bench.world.run(3 * HOUR, MINUTE, [{}]);
      assert.deepEqual(heads(), devices.length > 0 ? [`+silent ${X}`] : []);
    });
  }

  it('takes no device of before a restart for a gateway because it has a label', () => {
    open({ labels: ['floor'], ...LEARNED });
    label(G);
    bench.world.run(HOUR, MINUTE, BY_OTHERS);
    restart();
    label(G, X);
    bench.world.run(2 * HOUR, MINUTE, [{}]);
    assert.deepEqual(heads(), [`+silent ${X}`]);
  });

  it('counts the silence of a gateway from its last report, also where the list of devices came later', () => {
    label(G, X);
    open({ labels: ['floor'] });
    bench.world.run(HOUR, MINUTE, BY_ALL);
    bench.withhold();
    restart();
    bench.world.run(S, S, BY_ALL);
    bench.world.run(50 * S, 10 * S, [{}]);
    label(G, X);
    bench.world.run(20 * S, 10 * S, [{}]);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
  });

  it('misses a dead device whose gateway was without its label while a deploy has changed what it is asked for', () => {
    label(G);
    open({ labels: ['floor'], ...LEARNED });
    bench.world.run(HOUR, MINUTE, [{}, { device: deviceAt(2) }, { device: deviceAt(3) }]);
    const others = [{ device: deviceAt(2) }, { device: deviceAt(3) }];
    bench.world.run(HOUR, MINUTE, others);
    const died = `+silent ${deviceAt(1)}`;
    assert.deepEqual(heads(), [died]);
    label();
    heads();
    deploy({ labels: ['floor', 'roof'], ...LEARNED });
    label(G);
    bench.world.run(HOUR, MINUTE, others);
    assert.deepEqual(heads(), [died]);
  });

  it('misses a gateway that a deploy lists as a device, where no other one hears it, when it is listed no more', () => {
    open({ ...LEARNED, gateways: [G, X] });
    bench.world.run(HOUR, MINUTE, [{}, { gateway: X, device: X }]);
    deploy({ ...LEARNED, gateways: [G], devices: [X] });
    bench.world.run(MINUTE, MINUTE, [{}]);
    deploy(LEARNED);
    bench.world.run(12 * HOUR, MINUTE, [{}]);
    assert.deepEqual(
      heads().map((one) => one.split(' ')[1]),
      [X],
    );
  });

  it('misses one that was without its label while a deploy has changed what it is asked for', () => {
    label(G, X);
    open({ labels: ['floor'], ...LEARNED });
    bench.world.run(HOUR, MINUTE, BY_ALL);
    restart();
    bench.world.run(5 * MINUTE, MINUTE, BY_OTHERS);
    label(G);
    bench.world.run(5 * MINUTE, MINUTE, BY_OTHERS);
    deploy({ labels: ['floor', 'roof'], ...LEARNED });
    heads();
    label(G, X);
    bench.world.run(HOUR, MINUTE, BY_OTHERS);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
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

  it('are none where others hear a guess, or a list says so', () => {
    const asWhat = (more: Partial<Watched> = {}) => kinds.kindOfKept(entryOf(more));
    hear('c0141f68fc98', X);
    const state = network.device(X);
    assert.deepEqual([asWhat(), asWhat({ state })], ['gateway', 'gateway'], 'none of the watch hears it');
    assert.deepEqual(
      [asWhat({ kind: 'device' }), asWhat({ state, hasBrought: true })],
      ['device', 'gateway'],
    );
    for (const known of [{ chosenBy: G }, { storedGateway: G }, { storedMainGateway: G }]) {
      assert.equal(asWhat(known), 'device');
    }
    hear(G, X);
    assert.equal(asWhat({ state }), 'device');
    begin({ devices: [X] });
    assert.deepEqual([asWhat(), asWhat({ hasBrought: true })], ['device', 'gateway']);
    begin({ devices: [X], gateways: [G] });
    assert.deepEqual([asWhat({ hasBrought: true }), asWhat({ kind: 'device' })], ['device', 'device']);
    begin({ devices: [X], gateways: [G, X] });
    assert.equal(asWhat(), 'gateway');
    begin({});
    assert.equal(asWhat(), 'gateway', 'nobody has heard it');
  });

  it('are none where a gateway of the watch hears a guess', () => {
    const [entry, other] = [entryOf({ storedIntervalMs: S }), entryOf()];
    assert.deepEqual([kinds.heardAsDevice(entry, G), entry.kind], [true, 'device']);
    assert.equal(entry.storedIntervalMs, undefined);
    assert.deepEqual([kinds.heardAsDevice(other, 'c0141f68fc98'), other.kind], [false, 'gateway']);
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
