// Which gateways a watch of listed devices follows, and what it would tell if it heard nothing else of them.
import assert from 'node:assert/strict';
import type { OpenWatch } from '../../src/network/device-watches.ts';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import { D, deviceAt, G, G2, HOUR, MINUTE, S, SETTINGS, World } from './watched-world.ts';

describe('a watch of listed devices follows the gateways that it knows', () => {
  let world: World;
  let watch: OpenWatch;
  let followed: Set<string>;
  let told: string[];

  beforeEach(() => {
    world = new World();
    told = [];
  });

  function open(labels: readonly string[], others: Partial<WatchSettings> = {}): void {
    followed = new Set();
    const settings = { ...SETTINGS, devices: [D], labels, silentAfter: 0, ...others };
    watch = world.watches.open('n', settings, {
      changed: ({ condition, active, device }) =>
        void told.push(`${active ? '+' : '-'}${condition} ${device}`),
      counted() {},
      full() {},
      follow: (gateway) => void followed.add(gateway),
    });
  }

  /** Of what a gateway brings beside the listed device only that is heard which is subscribed. */
  function run(ms: number, by: readonly string[]): void {
    for (const end = world.time + ms; world.time < end; ) {
      for (const gateway of by) {
        world.hear('heartbeat', {}, { gateway });
      }
      for (let i = 0; i < 20; i++) {
        for (const gateway of followed) {
          world.hear('heartbeat', {}, { gateway, device: deviceAt((gateway === G ? 10 : 20) + (i % 5)) });
        }
        world.wait(MINUTE);
      }
    }
  }

  const EVENTS: Record<string, (labels: readonly string[]) => void> = {
    'a deploy': (labels) => {
      world.watches.setPaused(true);
      watch.close(true);
      world.wait(S);
      open(labels);
      watch.setLabelled(new Set([G, G2]));
      world.watches.setPaused(false);
    },
    'a restart': (labels) => {
      const stored = JSON.parse(JSON.stringify(world.watches.store(100))) as unknown;
      world.startAnew();
      world.wait(20 * S);
      open(labels);
      world.watches.restore(stored);
      world.watches.setPaused(false);
      world.listen(true);
      world.wait(2 * S);
      watch.setLabelled(new Set([G, G2]));
    },
  };
  for (const [event, happen] of Object.entries(EVENTS)) {
    for (const labels of [[], ['L']]) {
      describe(`after ${event}${labels.length > 0 ? ', with labels as soon as they are known' : ''}`, () => {
        beforeEach(() => {
          open(labels);
          watch.setLabelled(new Set([G, G2]));
        });

        it('also one by which its device has come once', () => {
          run(HOUR, [G, G2]);
          run(5 * HOUR, [G]);
          happen(labels);
          assert.deepEqual([...followed].sort(), [G, G2]);
          run(5 * HOUR, [G]);
          assert.deepEqual(told, []);
        });

        it('so that a death is told in time, whichever gateway has heard the device last', () => {
          run(6 * HOUR, [G, G2]);
          world.wait(S);
          world.hear('heartbeat', {}, { gateway: G2 });
          run(20 * MINUTE, []);
          happen(labels);
          run(HOUR, []);
          assert.deepEqual(told, [`+silent ${D}`]);
        });
      });
    }
  }

  it('while labels are not known, those that carried one before', () => {
    open(['L']);
    watch.setLabelled(new Set([G]));
    run(6 * HOUR, [G, G2]);
    const stored = world.watches.store(100);
    world.startAnew();
    open(['L']);
    world.watches.restore(stored);
    world.watches.setPaused(false);
    world.listen(true);
    run(HOUR, [G, G2]);
    assert.deepEqual([...followed], [G]);
    watch.setLabelled(new Set([G, G2]));
    assert.deepEqual([...followed], [G, G2]);
    assert.deepEqual(told, []);
  });

  it('and none that lacks the label, until it carries it', () => {
    open(['L']);
    watch.setLabelled(new Set([G]));
    run(HOUR, [G, G2]);
    assert.deepEqual([...followed], [G]);
    watch.setLabelled(new Set([G, G2]));
    assert.deepEqual([...followed], [G, G2]);
  });

  describe('also one that is listed itself and brings others only, once it has brought one for anybody,', () => {
    const bring = () => world.hear('heartbeat', {}, { gateway: G, device: deviceAt(10) });

    it('while it is watched', () => {
      open([], { devices: [G] });
      assert.deepEqual([...followed], []);
      bring();
      assert.deepEqual([...followed], [G]);
    });

    it('or before', () => {
      open([]);
      bring();
      watch.close(false);
      open([], { devices: [G, G2] });
      assert.deepEqual([...followed], [G]);
    });

    it('and none that lacks the label, until it carries it', () => {
      open(['L'], { devices: [G] });
      watch.setLabelled(new Set([G2]));
      bring();
      assert.deepEqual([...followed], []);
      watch.setLabelled(new Set([G]));
      assert.deepEqual([...followed], [G]);
    });
  });

  for (const conditions of [['silent'], ['silent', 'gateway-silent']] as const) {
    it(`and takes one that is listed and brings others only for one after a deploy, too: ${conditions}`, () => {
      const others = { devices: [G], conditions };
      const bring = () =>
        world.run(
          20 * MINUTE,
          MINUTE,
          [10, 11, 12].map((i) => ({ gateway: G, device: deviceAt(i) })),
        );
      open([], others);
      world.run(10 * MINUTE, MINUTE, []);
      for (let i = 0; i < 9; i++) {
        bring();
      }
      world.watches.setPaused(true);
      watch.close(true);
      open([], others);
      world.watches.setPaused(false);
      world.wait(MINUTE);
      bring();
      assert.deepEqual(told, []);
    });
  }
});
