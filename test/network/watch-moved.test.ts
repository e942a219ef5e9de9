// A device that only gateways outside of its watch hear any more: it goes on to belong there.
import assert from 'node:assert/strict';
import type { OpenWatch } from '../../src/network/device-watches.ts';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import { D, deviceAt, G, G2, HOUR, MINUTE, S, SETTINGS, World } from './watched-world.ts';

/** More than a device has links: that of its own gateway is left out. */
const NODES = 20;
const OTHERS = [G, G2].flatMap((gateway, i) =>
  [2, 3].map((n) => ({ gateway, device: deviceAt(10 * i + n) })),
);
const TAKES: Record<string, Partial<WatchSettings>> = {
  lists: { gateways: [G] },
  labels: { labels: ['L'] },
};

for (const [name, take] of Object.entries(TAKES)) {
  describe(`a watch by ${name} whose device was carried to where many nodes of another gateway hear it`, () => {
    let world: World;
    let watch: OpenWatch;
    let told: string[];

    beforeEach(() => {
      world = new World();
      told = [];
      open();
      world.run(10 * MINUTE, 30 * S, [{}, ...OTHERS]);
      for (let i = 0; i < 2 * NODES; i++) {
        const parent = (0xe00000000000 + (i % NODES)).toString(16);
        world.hear('rssi', { parent, rssi: -60 }, { gateway: G2 });
        world.run(30 * S, 30 * S, [{ gateway: G2 }, ...OTHERS]);
      }
      assert.equal(
        world.network.device(D)?.links.some(({ gateway }) => gateway === G),
        false,
      );
      world.run(5 * MINUTE, 30 * S, OTHERS);
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    function open(): void {
      watch = world.watches.open(
        'n',
        { ...SETTINGS, silentAfter: 120, ...take },
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

    const heads = () => told.splice(0);

    function deploy(): void {
      world.watches.setPaused(true);
      watch.close(true);
      open();
      world.watches.setPaused(false, () => true);
    }

    function restart(): void {
      const stored: unknown = JSON.parse(JSON.stringify(world.watches.store(100)));
      world.startAnew();
      open();
      world.watches.restore(stored);
      world.listen(true);
      world.watches.setPaused(false, () => true);
    }

    function returns(): void {
      assert.deepEqual([heads(), watch.counts], [[], { watched: 4, active: 1 }]);
      world.run(MINUTE, 30 * S, [{ gateway: G2 }, ...OTHERS]);
      assert.deepEqual([heads(), watch.counts], [[`-silent ${D}`], { watched: 4, active: 0 }]);
    }

    it('goes on with what it has told of it over a deploy, and tells its return', () => {
      deploy();
      world.run(MINUTE, 30 * S, OTHERS);
      returns();
    });

    it('goes on so over a restart and a deploy after it', () => {
      restart();
      world.run(MINUTE, 30 * S, OTHERS);
      deploy();
      returns();
      deploy();
      world.run(5 * MINUTE, 30 * S, OTHERS);
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    describe('and whose own gateway was taken away after that', () => {
      const others = OTHERS.filter(({ gateway }) => gateway === G2);
      const live = () => world.run(5 * MINUTE, 30 * S, [{ gateway: G2 }, ...others]);

      beforeEach(() => {
        watch.forget(G);
        live();
        assert.deepEqual(heads(), [`-silent ${D}`]);
      });

      it('goes on so over restarts and deploys', () => {
        for (let times = 0; times < 2; times++) {
          restart();
          live();
          deploy();
          live();
        }
        heads();
        world.run(4 * MINUTE, 30 * S, others);
        assert.deepEqual(heads(), [`+silent ${D}`]);
      });

      it('waits for that one after no restart', () => {
        restart();
        live();
        restart();
        heads();
        world.run(4 * MINUTE, 30 * S, others);
        assert.deepEqual(heads(), [`+silent ${D}`]);
      });
    });

    if (take.labels) {
      it('tells nothing of it when another gateway gets the label, and its end when its own loses it', () => {
        watch.setLabelled(new Set([G, 'c0141f68fc3f']));
        assert.deepEqual(heads(), []);
        watch.setLabelled(new Set([]));
        assert.deepEqual(heads(), [`-silent ${D}`]);
        world.run(MINUTE, 30 * S, [{ gateway: G2 }, ...OTHERS]);
        assert.deepEqual([heads(), watch.counts.watched], [[], 0]);
      });
    }
  });
}

describe('a watch of two gateways that have heard a device one after the other', () => {
  let world: World;

  beforeEach(() => {
    world = new World();
  });

  const open = (settings: Partial<WatchSettings>) =>
    world.watches.open(
      'n',
      { ...SETTINGS, silentAfter: 120, ...settings },
      { changed() {}, counted() {}, full() {}, follow() {} },
    );

  function restart(settings: Partial<WatchSettings>): OpenWatch {
    const stored: unknown = JSON.parse(JSON.stringify(world.watches.store(100)));
    world.startAnew();
    const watch = open(settings);
    world.watches.restore(stored);
    world.listen(true);
    return watch;
  }

  it('keeps it over a restart by the one that was taken away, also where a deploy takes the other out', () => {
    const watch = open({ gateways: [G, G2] });
    world.run(MINUTE, 10 * S, [{ gateway: G2 }]);
    world.run(MINUTE, 10 * S, [{ gateway: G }]);
    watch.forget(G);
    const next = restart({ gateways: [G, G2] });
    world.watches.setPaused(true);
    next.close(true);
    const last = open({ gateways: [G] });
    world.watches.setPaused(false, () => true);
    assert.equal(last.counts.watched, 2, 'the device and the gateway that is listed');
  });

  describe('by labels', () => {
    const settings: Partial<WatchSettings> = { labels: ['L'], conditions: ['silent'] };
    let watch: OpenWatch;

    beforeEach(() => {
      watch = open(settings);
      watch.setLabelled(new Set([G, G2]));
      world.run(MINUTE, 10 * S, [{ gateway: G2 }]);
      world.run(MINUTE, 10 * S, [{ gateway: G }]);
    });

    /** @returns how many are watched: before and after it, and when none carries a label any more */
    function watchedOver(label: string[]): number[] {
      const before = watch.counts.watched;
      watch = restart(settings);
      watch.setLabelled(new Set(label));
      const after = watch.counts.watched;
      watch.setLabelled(new Set());
      return [before, after, watch.counts.watched];
    }

    it('keeps it over restarts by the one that carries a label, also where both were taken away', () => {
      watch.forget(G);
      watch.forget(G2);
      watch.setLabelled(new Set([G2]));
      assert.equal(restart(settings).counts.watched, 1, 'while labels are not known');
      assert.deepEqual(watchedOver([G2]), [1, 1, 0]);
    });

    it('keeps it so by the one that brought most of it before the start, where only that carries a label', () => {
      world.run(HOUR, MINUTE, [{ gateway: G2 }]);
      world.run(MINUTE, 10 * S, [{ gateway: G }]);
      watch = restart(settings);
      watch.setLabelled(new Set([G2]));
      assert.deepEqual(watchedOver([G2]), [1, 1, 0]);
    });
  });
});
