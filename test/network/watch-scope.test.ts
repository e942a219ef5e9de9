// A watch of some gateways, whose devices others hear as well, for which nobody may listen any more.
import assert from 'node:assert/strict';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import { WatchScope } from '../../src/network/watch-scope.ts';
import { type Alarm, newWatched, type Watched } from '../../src/network/watched.ts';
import { D, deviceAt, G, G2, HOUR, MINUTE, S, SETTINGS, World } from './watched-world.ts';

describe('a watch of one gateway', () => {
  const OWN = [1, 2, 3].map((i) => ({ device: deviceAt(10 + i), gateway: G }));
  const FOREIGN = [1, 2, 3].map((i) => ({ device: deviceAt(20 + i), gateway: G2 }));
  const TAKES: Record<string, (settings: object) => void> = {
    lists: (settings) => open({ ...settings, gateways: [G] }),
    labels: (settings) => open({ ...settings, labels: ['L'] }),
  };
  let world: World;
  let told: string[];

  beforeEach(() => {
    world = new World();
    told = [];
  });

  function open(settings: object): void {
    const watch = world.watches.open(
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
    watch.setLabelled(new Set([G]));
  }

  for (const [name, take] of Object.entries(TAKES)) {
    for (const silentAfter of [0, 600]) {
      describe(`by ${name}, with ${silentAfter} s, whose device was carried to another one`, () => {
        beforeEach(() => {
          take({ silentAfter });
          world.run(2 * HOUR, MINUTE, [{}, ...OWN]);
          world.run(3 * HOUR, MINUTE, [{ gateway: G2 }, ...OWN, ...FOREIGN]);
        });

        it('hears it through that one, too', () => {
          assert.deepEqual(told, []);
        });

        it('tells it silent four hours after the other one was heard last, and its return', () => {
          world.run(3.9 * HOUR, MINUTE, OWN);
          assert.deepEqual(told, []);
          world.run(0.2 * HOUR, MINUTE, OWN);
          assert.deepEqual(told.splice(0), [`+silent ${D}`]);
          world.run(MINUTE, MINUTE, [{}, ...OWN]);
          assert.deepEqual(told, [`-silent ${D}`]);
        });

        it('tells nothing while that is away for an hour, and then its death', () => {
          world.run(HOUR, MINUTE, OWN);
          world.run(HOUR, MINUTE, [{ gateway: G2 }, ...OWN, ...FOREIGN]);
          assert.deepEqual(told, []);
          world.run(HOUR / 2, MINUTE, [...OWN, ...FOREIGN]);
          assert.deepEqual(told, [`+silent ${D}`]);
        });

        it('tells it with its own gateway, where that is away until then, after it', () => {
          world.run(5 * HOUR, MINUTE, []);
          assert.deepEqual(told, [`+gateway-silent ${G}`]);
          world.run(HOUR, MINUTE, OWN);
          assert.deepEqual(told.slice(1), [`-gateway-silent ${G}`, `+silent ${D}`]);
        });
      });
    }
  }

  for (const [which, settings, isHeardBefore] of [
    ['of one that it has heard itself', {}, true],
    ['of a listed one that was heard there alone', { devices: [D] }, false],
  ] as const) {
    it(`tells ${which} what it reports at another gateway of its battery`, () => {
      open({ conditions: ['battery-low'], gateways: [G], ...settings });
      world.hear('heartbeat', {}, isHeardBefore ? {} : { device: deviceAt(2) });
      for (const device of [D, deviceAt(3)]) {
        world.hear('property/8100', { value: 15 }, { gateway: G2, device });
      }
      world.wait(6 * S);
      assert.deepEqual(told, [`+battery-low ${D}`]);
    });
  }

  it('counts on the gateways of before as long as labels are not known', () => {
    const before = new World();
    world = before;
    open({ silentAfter: 600, labels: ['L'] });
    world.run(2 * HOUR, MINUTE, [{}, ...OWN]);
    const stored = world.watches.store(100);
    world.startAnew();
    world.watches.open(
      'n',
      { ...SETTINGS, silentAfter: 600, labels: ['L'] },
      {
        changed: ({ condition, device }) => void told.push(`${condition} ${device}`),
        counted() {},
        full() {},
        follow() {},
      },
    );
    world.watches.restore(stored);
    world.watches.setPaused(false);
    world.listen(true);
    world.run(HOUR, MINUTE, [{}, ...OWN]);
    world.run(6 * HOUR, MINUTE, FOREIGN);
    assert.deepEqual(told, [`gateway-silent ${G}`]);
  });
});

describe('whom a watch looks after', () => {
  const [E, OTHER] = [deviceAt(2), 'c0141f68fc3f'];
  let world: World;

  beforeEach(() => {
    world = new World();
  });

  const scopeOf = (settings: Partial<WatchSettings> = {}) => new WatchScope({ ...SETTINGS, ...settings });
  /** As reports have shown it until now. */
  const entryOf = (id: string = D, more: Partial<Watched> = {}): Watched =>
    Object.assign(newWatched(id, 'device', { check() {} }, 0), {
      state: world.network.device(id),
      ...more,
    });
  function hear(...gateways: string[]): void {
    for (const gateway of gateways) {
      world.time += S;
      world.hear('heartbeat', {}, { gateway });
    }
  }

  it('hears by its lists and labels, and whether all that comes counts', () => {
    const filter = (settings: Partial<WatchSettings>) => scopeOf(settings).filter;
    const others: Partial<WatchSettings>[] = [
      { gateways: [G] },
      { devices: [G] },
      { labels: [G] },
      { conditions: ['error'] },
    ];
    assert.equal(new Set([{}, ...others].map(filter)).size, 5);
    assert.equal(filter({ silentAfter: 5 }), filter({ conditions: ['silent', 'dfu'] }));
  });

  it('are devices of its list, by gateways of its list that carry a label', () => {
    const any = scopeOf();
    assert.deepEqual([any.hasDevices, any.isListed(D), any.passes(D, G)], [false, false, true]);
    const listed = scopeOf({ devices: [D] });
    assert.deepEqual([listed.hasDevices, listed.isListed(D), listed.isListed(E)], [true, true, false]);
    assert.deepEqual([listed.passes(D, G), listed.passes(E, G)], [true, false]);
    const labelled = scopeOf({ gateways: [G, G2], labels: ['L'] });
    assert.equal(labelled.passes(D, G), false, 'while nobody knows who carries it');
    labelled.setLabelled(new Set([G, OTHER]));
    assert.deepEqual(
      [G, G2, OTHER].map((gateway) => labelled.passes(D, gateway)),
      [true, false, false],
    );
  });

  it('are told which gateways have got a label, and that none has got or lost one', () => {
    const scope = scopeOf({ labels: ['L'] });
    assert.deepEqual(scope.setLabelled(new Set([G])), [G]);
    assert.equal(scope.setLabelled(new Set([G])), undefined);
    assert.deepEqual(scope.setLabelled(new Set([G, G2])), [G2]);
    assert.deepEqual(scope.setLabelled(new Set([G2])), []);
    assert.deepEqual(scope.setLabelled(new Set()), []);
    assert.equal(scope.setLabelled(new Set()), undefined);
    assert.deepEqual(scopeOf({ labels: ['L'] }).setLabelled(new Set()), [], 'then it is known at least');
  });

  it('are gateways for their label where no list of gateways says so', () => {
    const labels = ['L'];
    const isGuess = (settings: Partial<WatchSettings>, more: Partial<Watched> = {}) =>
      scopeOf({ labels, ...settings }).isGuess(entryOf(G, { kind: 'gateway', ...more }));
    assert.deepEqual([isGuess({}), isGuess({}, { kind: 'device' })], [true, false]);
    assert.deepEqual([isGuess({ devices: [G] }), isGuess({ gateways: [G] })], [true, false]);
  });

  it('are left out as gateways where they are listed as devices, and others as gateways', () => {
    const isLeftOut = (settings: Partial<WatchSettings>) => scopeOf(settings).isLeftOut(G);
    assert.deepEqual(
      [isLeftOut({ devices: [G], gateways: [G2] }), isLeftOut({ gateways: [G2] })],
      [true, false],
    );
    assert.deepEqual(
      [isLeftOut({ devices: [G], gateways: [G] }), isLeftOut({ devices: [G] })],
      [false, false],
    );
  });

  it('have no gateway outside that nobody knows to be there', () => {
    const scope = scopeOf({ labels: ['L'] });
    assert.equal(scope.isOutside(G), false, 'while the labels are not known');
    scope.setLabelled(new Set([G]));
    assert.deepEqual([scope.isOutside(G), scope.isOutside(G2)], [false, true]);
    scope.forgetGateway(G);
    assert.deepEqual([scope.isOutside(G), [...scope.forgotten]], [true, [G]]);
    scope.heardGateway(G);
    assert.deepEqual([scope.isOutside(G), [...scope.forgotten]], [false, []]);
    assert.equal(scopeOf({ gateways: [G] }).isOutside(G2), true);
  });

  describe('belong to a gateway', () => {
    it('that has heard them last, of those of the watch', () => {
      hear(G, G2, OTHER);
      assert.equal(scopeOf().gatewayOf(entryOf()), OTHER);
      const scope = scopeOf({ gateways: [G, G2] });
      assert.deepEqual([scope.gatewayOf(entryOf()), scope.placeOf(entryOf())], [G2, G2]);
      scope.forgetGateway(G2);
      assert.deepEqual([scope.gatewayOf(entryOf()), scope.placeOf(entryOf())], [G, G]);
    });

    it('of before the start, where none of the watch has heard them since', () => {
      const scope = scopeOf({ gateways: [G] });
      const entry = entryOf(D, { storedGateway: G });
      assert.equal(scope.gatewayOf(entry), G);
      hear(G2);
      assert.deepEqual(
        [scope.gatewayOf(entryOf(D, { storedGateway: G })), scope.placeOf(entryOf())],
        [G, G2],
      );
      scope.forgetGateway(G);
      assert.equal(scope.gatewayOf(entry), undefined);
    });

    it('that has heard them last of those of the watch, though others have taken its place since', () => {
      const scope = scopeOf({ gateways: [G, OTHER] });
      hear(G2);
      assert.equal(scope.gatewayOf(entryOf(D, { chosenBy: OTHER, storedGateway: G })), OTHER);
      scope.forgetGateway(OTHER);
      assert.equal(scope.gatewayOf(entryOf(D, { chosenBy: OTHER, storedGateway: G })), G);
      assert.equal(scope.gatewayOf(entryOf(D, { chosenBy: OTHER })), undefined);
      const listed = scopeOf({ gateways: [OTHER], devices: [D] });
      listed.forgetGateway(OTHER);
      assert.equal(listed.gatewayOf(entryOf(D, { chosenBy: OTHER })), G2);
    });

    it('outside only where they are listed, or nothing is known of the labels', () => {
      hear(G2);
      assert.equal(scopeOf({ gateways: [G] }).gatewayOf(entryOf()), undefined);
      assert.equal(scopeOf({ gateways: [G], devices: [D] }).gatewayOf(entryOf()), G2);
      const scope = scopeOf({ labels: ['L'] });
      assert.equal(scope.gatewayOf(entryOf()), G2);
      scope.setLabelled(new Set([G]));
      assert.equal(scope.gatewayOf(entryOf()), undefined);
      assert.equal(scope.gatewayOf(entryOf(E)), undefined, 'of which nothing is known');
    });

    it('that brought most of them before the start, where no other one is of the watch', () => {
      const scope = scopeOf({ gateways: [G] });
      const entry = entryOf(D, { chosenBy: G2, storedMainGateway: G });
      assert.deepEqual([scope.gatewayOf(entry), scope.takenGatewayOf(entry)], [G, undefined]);
      scope.forgetGateway(G);
      assert.deepEqual([scope.gatewayOf(entry), scope.takenGatewayOf(entry)], [undefined, G]);
      const any = scopeOf();
      assert.equal(any.takenGatewayOf(entryOf(D, { storedGateway: G })), undefined);
      any.forgetGateway(G);
      assert.equal(any.takenGatewayOf(entryOf(D, { storedGateway: G })), G);
    });

    it('that was taken away, where it has heard them last of those that may be of the watch', () => {
      hear(G, G2);
      const scope = scopeOf({ labels: ['L'] });
      const entry = entryOf(D, { chosenBy: G2 });
      assert.equal(scope.takenGatewayOf(entry), undefined);
      scope.forgetGateway(G2);
      assert.equal(scope.takenGatewayOf(entry), G2, 'while the labels are not known');
      scope.setLabelled(new Set([G]));
      assert.equal(scope.takenGatewayOf(entry), undefined);
      scope.forgetGateway(G);
      assert.equal(scope.takenGatewayOf(entry), G);
      scope.setLabelled(new Set([G, G2]));
      assert.equal(scope.takenGatewayOf(entryOf()), G2);
      assert.equal(scope.takenGatewayOf(entryOf(E)), undefined, 'of which nothing is known');
      const stored = entryOf(E, { storedGateway: G, storedMainGateway: G2 });
      assert.equal(scope.takenGatewayOf(stored), G);
    });

    it('that brings most of them, where it has brought any lately', () => {
      hear(...Array.from({ length: 30 }, () => G), G2, OTHER);
      const scope = scopeOf({ gateways: [G, G2] });
      assert.equal(scope.mainGatewayOf(entryOf()), G);
      world.time += 57 * S;
      hear(G2);
      assert.equal(scope.mainGatewayOf(entryOf()), G, '60 s ago');
      world.time += 1;
      hear(G2);
      assert.equal(scope.mainGatewayOf(entryOf()), G2);
    });

    it('that brings most of them, also where another one was first', () => {
      hear(G2, ...Array.from({ length: 30 }, () => G), G2);
      assert.equal(scopeOf({ gateways: [G, G2] }).mainGatewayOf(entryOf()), G);
    });

    it('that has brought most of them before the start, where none of the watch has since', () => {
      const scope = scopeOf({ gateways: [G] });
      const entry = () => entryOf(D, { storedMainGateway: G2 });
      assert.equal(scope.mainGatewayOf(entry()), G2);
      hear(OTHER);
      assert.equal(scope.mainGatewayOf(entry()), G2);
      hear(G);
      assert.equal(scope.mainGatewayOf(entry()), G);
      assert.equal(scopeOf({ gateways: [G2] }).mainGatewayOf(entryOf()), undefined);
      scope.forgetGateway(G2);
      scope.forgetGateway(G);
      assert.equal(scope.mainGatewayOf(entry()), undefined);
    });
  });

  it('have gateways that are followed where devices are listed', () => {
    hear(G, OTHER);
    const entry = entryOf(D, { storedGateway: G2, storedMainGateway: G });
    assert.deepEqual(scopeOf().gatewaysToFollow(entry), []);
    const devices = [D];
    assert.deepEqual(scopeOf({ devices }).gatewaysToFollow(entry), [G2, G, G, OTHER]);
    assert.deepEqual(scopeOf({ devices, gateways: [G] }).gatewaysToFollow(entry), [G, G]);
    const scope = scopeOf({ devices, labels: ['L'] });
    assert.deepEqual(scope.gatewaysToFollow(entry), [G2, G], 'those of before, while labels are not known');
    scope.setLabelled(new Set([OTHER]));
    assert.deepEqual(scope.gatewaysToFollow(entry), [OTHER]);
    const gateway = Object.assign(newWatched(G2, 'gateway', { check() {} }, 0));
    assert.deepEqual(scopeOf({ devices }).gatewaysToFollow(gateway), [G2]);
    assert.deepEqual(scopeOf({ devices }).gatewaysToFollow(entryOf(E)), []);
  });

  describe('go on to be looked after', () => {
    const gateway = (more: Partial<Watched> = {}) =>
      Object.assign(newWatched(G, 'gateway', { check() {} }, 0), more);

    it('where they are on the list of devices, and no other device is', () => {
      const scope = scopeOf({ devices: [D, G], gateways: [G2] });
      hear(G2);
      assert.deepEqual([scope.isChosen(entryOf()), scope.isChosen(entryOf(E))], [true, false]);
      assert.equal(scope.isChosen(entryOf(E, { storedGateway: G2 })), false);
      assert.equal(scope.isChosen(gateway()), true);
      assert.equal(scopeOf({ devices: [D], gateways: [G] }).isChosen(gateway()), true, 'no device');
    });

    it('while the labels are not known, and as gateways as long as these carry one', () => {
      const scope = scopeOf({ labels: ['L'] });
      assert.equal(scope.isChosen(gateway()), true);
      scope.setLabelled(new Set([G2]));
      assert.equal(scope.isChosen(gateway()), false);
      scope.setLabelled(new Set([G]));
      assert.equal(scope.isChosen(gateway()), true);
    });

    it('as gateways whose silence nobody watches only with reports or conditions of their own', () => {
      const scope = scopeOf({ conditions: ['silent'] });
      assert.equal(scope.isChosen(gateway()), false);
      hear(G);
      assert.equal(scope.isChosen(gateway({ state: world.network.device(D) })), true);
      assert.equal(scope.isChosen(gateway({ alarms: [{} as Alarm] })), true);
    });

    it('as devices of which no gateway is known only where all gateways are of the watch', () => {
      assert.equal(scopeOf().isChosen(entryOf()), true);
      assert.equal(scopeOf({ gateways: [G] }).isChosen(entryOf()), false);
      const scope = scopeOf({ labels: ['L'] });
      assert.equal(scope.isChosen(entryOf()), true, 'while the labels are not known');
      scope.setLabelled(new Set([G]));
      assert.equal(scope.isChosen(entryOf()), false);
    });

    it('as devices where any gateway that has heard them is one of the watch', () => {
      const scope = scopeOf({ gateways: [G] });
      hear(G2);
      assert.equal(scope.isChosen(entryOf()), false);
      assert.equal(scope.isChosen(entryOf(D, { storedGateway: G })), true);
      assert.equal(scope.isChosen(entryOf(D, { chosenBy: G })), true);
      assert.equal(scope.isChosen(entryOf(D, { chosenBy: G2 })), false);
      assert.equal(scope.isChosen(entryOf(D, { storedMainGateway: G })), true);
      assert.equal(scope.isChosen(entryOf(E, { storedGateway: G2 })), false);
      hear(G);
      assert.equal(scope.isChosen(entryOf()), true);
    });
  });
});
