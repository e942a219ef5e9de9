// For how long a device waits for a gateway of which a watch tells nothing: one that is none of its own, or was taken away.
import assert from 'node:assert/strict';
import type { OpenWatch } from '../../src/network/device-watches.ts';
import { D, deviceAt, G, G2, HOUR, MINUTE, S, SETTINGS, World } from './watched-world.ts';

describe('a device whose gateway is gone', () => {
  const NEAR = [1, 2, 3, 4].map((i) => ({ device: deviceAt(10 + i) }));
  const ALL_BY_G = [{ device: D }, ...NEAR];
  const NEAR_BY_G2 = NEAR.map((one) => ({ ...one, gateway: G2 }));
  const DEVICES = ALL_BY_G.map(({ device }) => device);
  let world: World;
  let told: string[];
  let watch: OpenWatch;

  beforeEach(() => {
    world = new World();
    told = [];
  });

  function open(settings: object): void {
    watch = world.watches.open(
      'n',
      { ...SETTINGS, silentAfter: 0, ...settings },
      {
        changed: ({ condition, active, device }) =>
          void told.push(`${active ? '+' : '-'}${condition} ${device}`),
        counted() {},
        full() {},
        follow() {},
      },
    );
  }

  function deploy(settings: object): void {
    world.watches.setPaused(true);
    watch.close(true);
    open(settings);
    world.watches.setPaused(false, () => true);
  }

  function restart(settings: object): void {
    const stored = JSON.parse(JSON.stringify(world.watches.store(1_000))) as unknown;
    world.startAnew();
    world.wait(10 * S);
    open(settings);
    world.watches.restore(stored);
    world.watches.setPaused(false);
    world.listen(true);
  }

  /** @param hours after which it is told: not before, and soon after */
  function isToldAfter(hours: number): void {
    told = [];
    world.run((hours - 0.1) * HOUR, MINUTE, NEAR_BY_G2);
    assert.deepEqual(told, []);
    world.run(0.2 * HOUR, MINUTE, NEAR_BY_G2);
    assert.deepEqual(told, [`+silent ${D}`]);
  }

  for (const silentAfter of [0, 1_800]) {
    it(`which it was stored with, and which is none of the watch after that, is told after four hours, with ${silentAfter} s`, () => {
      open({ silentAfter, gateways: [G], devices: DEVICES });
      world.run(2 * HOUR, MINUTE, ALL_BY_G);
      restart({ silentAfter, gateways: [G2], devices: DEVICES });
      isToldAfter(4);
    });

    it(`and forgotten is told after four hours, also over a restart, with ${silentAfter} s`, () => {
      open({ silentAfter });
      world.run(2 * HOUR, MINUTE, ALL_BY_G);
      world.run(HOUR, MINUTE, NEAR_BY_G2);
      watch.forget(G);
      isToldAfter(3);
      restart({ silentAfter });
      world.run(HOUR, MINUTE, NEAR_BY_G2);
      assert.deepEqual(told, [`+silent ${D}`]);
    });
  }

  it('is told where a person has once seen it listed by a gateway that is none of the watch', () => {
    const settings = { gateways: [G2], devices: DEVICES };
    open(settings);
    world.run(HOUR / 2, MINUTE, [...NEAR_BY_G2]);
    world.run(100 * S, 10 * S, ALL_BY_G);
    restart(settings);
    isToldAfter(4);
  });

  it('is told after four hours where the gateway was not heard often enough to be told silent', () => {
    open({});
    world.run(8 * MINUTE, MINUTE, [{ device: D }]);
    world.hear('heartbeat', {}, { device: deviceAt(11) });
    isToldAfter(4);
  });

  it('is told after four hours, where it is listed, when the gateway has lost its label', () => {
    open({ labels: ['L'], devices: DEVICES });
    watch.setLabelled(new Set([G, G2]));
    world.run(2 * HOUR, MINUTE, ALL_BY_G);
    world.run(HOUR, MINUTE, NEAR_BY_G2);
    watch.setLabelled(new Set([G2]));
    isToldAfter(3);
  });

  describe('where no gateway is told silent', () => {
    const settings = { conditions: ['silent'] };

    beforeEach(() => {
      open(settings);
      world.run(2 * HOUR, MINUTE, ALL_BY_G);
    });

    it('is told by itself, since nothing else would tell that, and is over with its next report', () => {
      world.run(5 * MINUTE, MINUTE, NEAR_BY_G2);
      assert.deepEqual(told, [`+silent ${D}`]);
      world.run(MINUTE, MINUTE, ALL_BY_G);
      assert.deepEqual(told, [`+silent ${D}`, `-silent ${D}`]);
    });

    it('is told by itself also when its gateway was forgotten, or was away over a deploy or a restart', () => {
      watch.forget(G);
      deploy(settings);
      world.run(5 * MINUTE, MINUTE, NEAR_BY_G2);
      assert.deepEqual(told, [`+silent ${D}`]);
      world.run(MINUTE, MINUTE, ALL_BY_G);
      restart(settings);
      told = [];
      world.run(10 * MINUTE, MINUTE, NEAR_BY_G2);
      assert.deepEqual(told, [`+silent ${D}`]);
    });
  });
});
