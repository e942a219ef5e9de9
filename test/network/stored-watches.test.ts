// What a store holds of how long each was silent: when Node-RED ends without a word, and of what comes seldom.
import assert from 'node:assert/strict';
import type { OpenWatch } from '../../src/network/device-watches.ts';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import { D, deviceAt, G, G2, HOUR, MINUTE, SETTINGS, World } from './watched-world.ts';

const OTHERS = [2, 3, 4].map((i) => ({ device: deviceAt(i) }));

describe('what a store holds of watches', () => {
  let world: World;
  let told: string[];
  let stored: unknown;
  let writes = 0;

  beforeEach(() => {
    world = new World();
    told = [];
  });

  const copy = () => JSON.parse(JSON.stringify(world.watches.store(100))) as unknown;

  /** Writes each change at once. */
  function open(settings: Partial<WatchSettings>): OpenWatch {
    world.watches.onChange = () => {
      writes++;
      stored = copy();
    };
    return world.watches.open(
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
  }

  function start(settings: Partial<WatchSettings>): OpenWatch {
    world.startAnew();
    const watch = open(settings);
    world.watches.restore(stored);
    world.watches.setPaused(false);
    world.listen(true);
    return watch;
  }

  it('is also what brought most reports of a device, where a deploy leaves no other gateway', () => {
    open({ silentAfter: 0 });
    world.run(12 * HOUR, 20 * MINUTE, [{ gateway: G }, ...OTHERS]);
    world.run(20 * MINUTE, 20 * MINUTE, [{ gateway: G }, { gateway: G2 }, ...OTHERS]);
    stored = copy();
    const watch = start({ silentAfter: 0 });
    world.watches.setPaused(true);
    watch.close(true);
    open({ silentAfter: 0, gateways: [G] });
    world.watches.setPaused(false);
    world.run(6 * HOUR, 20 * MINUTE, OTHERS);
    assert.deepEqual(told, [`+silent ${D}`]);
  });

  it('is also what only a gateway outside of the watch brings since its own was forgotten', () => {
    const settings: Partial<WatchSettings> = {
      gateways: [G],
      conditions: ['silent', 'error'],
      silentAfter: 0,
    };
    const watch = open(settings);
    const outside = [{ gateway: G2 }, ...OTHERS.map((one) => ({ ...one, gateway: G2 }))];
    world.run(20 * MINUTE, MINUTE / 3, [{}, ...OTHERS, ...outside]);
    world.hear('measurement-error/8800', { error: 3 });
    world.run(MINUTE, MINUTE / 3, outside);
    assert.deepEqual(told.splice(0), [`+error ${D}`]);
    watch.forget(G);
    world.run(MINUTE, MINUTE / 3, outside);
    stored = copy();
    const again = start(settings);
    world.run(10 * MINUTE, MINUTE / 3, outside);
    assert.deepEqual([again.counts, again.active().length], [{ watched: 4, active: 1 }, 1]);
    world.hear('measurement/8800', { value: '1234' }, { gateway: G2 });
    world.run(MINUTE, MINUTE / 3, outside);
    assert.deepEqual(told, [`-error ${D}`]);
  });

  describe('of a gateway that has lost its label meanwhile ends', () => {
    const labels = ['L'];
    let before: unknown;
    const TWO = [{ device: deviceAt(1) }, ...OTHERS, { gateway: G2, device: deviceAt(5) }];

    beforeEach(() => {
      open({ labels }).setLabelled(new Set([G, G2]));
      world.run(10 * MINUTE, MINUTE / 6, [...TWO, { gateway: G2, device: deviceAt(6) }]);
      world.run(10 * MINUTE, MINUTE / 6, [{ gateway: G2, device: deviceAt(6) }]);
      assert.deepEqual(told.splice(0).sort(), [`+gateway-silent ${G}`, `+silent ${deviceAt(5)}`]);
      before = copy();
      world.startAnew();
    });

    for (const order of ['before', 'after']) {
      it(`where the store is read ${order} the list of devices`, () => {
        const watch = open({ labels });
        const read = () => world.watches.restore(before);
        world.watches.setPaused(false);
        world.listen(true);
        if (order === 'before') {
          read();
        }
        watch.setLabelled(new Set([G2]));
        if (order === 'after') {
          read();
        }
        assert.deepEqual(told, [`-gateway-silent ${G}`]);
        assert.equal(watch.counts.active, 1);
        world.run(HOUR, MINUTE / 6, [{ gateway: G2, device: deviceAt(6) }]);
        watch.setLabelled(new Set([G, G2]));
        world.run(2 * MINUTE, MINUTE / 6, [{ gateway: G2, device: deviceAt(6) }]);
        assert.deepEqual(told.slice(1), [`+gateway-silent ${G}`]);
      });
    }

    /** Its gateway has lost its label, and the store is read while flows are replaced. */
    function openDuringDeploy() {
      const watch = open({ labels });
      world.watches.setPaused(false);
      world.listen(true);
      watch.setLabelled(new Set([G2]));
      world.watches.setPaused(true);
      world.watches.restore(before);
      return watch;
    }

    it('where the store is read during a deploy, when flows run again', () => {
      const watch = openDuringDeploy();
      assert.deepEqual(told, []);
      world.watches.setPaused(false);
      assert.deepEqual([told, watch.counts.active], [[`-gateway-silent ${G}`], 1]);
    });

    it('and does not come back with the label where it was forgotten during that deploy', () => {
      const watch = openDuringDeploy();
      watch.forget(deviceAt(1));
      world.watches.setPaused(false);
      const { watched } = watch.counts;
      watch.setLabelled(new Set([G, G2]));
      // The gateway and three of its four devices.
      assert.equal(watch.counts.watched - watched, 4);
    });
  });

  it('is at most an hour old where Node-RED is killed and nothing but silence has changed', () => {
    const settings = { silentAfter: (24 * HOUR) / 1_000 };
    open(settings);
    world.run(12 * HOUR, 20 * MINUTE, [{}, ...OTHERS]);
    for (let times = 0; times < 3; times++) {
      world.run(8 * HOUR, 20 * MINUTE, OTHERS);
      start(settings);
    }
    assert.deepEqual(told, []);
    world.run(4 * HOUR, 20 * MINUTE, OTHERS);
    assert.deepEqual(told, [`+silent ${D}`]);
  });

  it('is written once an hour at most for that, and not where all are heard, or none', () => {
    open({ silentAfter: (24 * HOUR) / 1_000 });
    const writesIn = (run: () => void) => {
      const before = writes;
      run();
      return writes - before;
    };
    const all = [{}, ...OTHERS];
    writesIn(() => world.run(12 * HOUR, 20 * MINUTE, all));
    assert.equal(
      writesIn(() => world.run(12 * HOUR, 20 * MINUTE, all)),
      0,
    );
    const whileSilent = writesIn(() => world.run(12 * HOUR, MINUTE, OTHERS));
    assert.ok(whileSilent === 11 || whileSilent === 12, `${whileSilent}`);
    writesIn(() => world.run(13 * HOUR, MINUTE, OTHERS));
    assert.deepEqual(told, [`+silent ${D}`]);
    assert.equal(
      writesIn(() => world.run(12 * HOUR, MINUTE, OTHERS)),
      0,
      'it was told',
    );
    assert.equal(
      writesIn(() => world.wait(12 * HOUR)),
      0,
    );
  });

  describe('of one that has come too seldom since the start to know how often it comes', () => {
    /** It comes every 8 hours until it dies; Node-RED starts every 16 hours. */
    function dieBetweenStarts(settings: Partial<WatchSettings>): void {
      open(settings);
      for (let hours = 0; hours < 96; hours += 8) {
        world.run(8 * HOUR, 20 * MINUTE, OTHERS);
        if (hours % 16 === 0) {
          stored = copy();
          start(settings);
        }
        if (hours < 48) {
          world.hear();
        }
      }
    }

    it('is its silence, where a time is set', () => {
      dieBetweenStarts({ silentAfter: (24 * HOUR) / 1_000 });
      assert.deepEqual(told, [`+silent ${D}`]);
    });

    it('is nothing, where none is set', () => {
      dieBetweenStarts({ silentAfter: 0 });
      assert.deepEqual(told, []);
    });

    it('is its silence until no time is set any more: then it is not expected', () => {
      open({ silentAfter: (24 * HOUR) / 1_000 });
      world.run(12 * HOUR, 20 * MINUTE, OTHERS);
      world.hear();
      stored = copy();
      start({ silentAfter: 0 });
      world.run(24 * HOUR, 20 * MINUTE, OTHERS);
      assert.deepEqual(told, []);
    });

    it('comes after what is known, where there is no room for all', () => {
      open({ silentAfter: (24 * HOUR) / 1_000 });
      world.hear('heartbeat', {}, { device: deviceAt(9) });
      world.run(12 * HOUR, 20 * MINUTE, [{}]);
      const ids = (max: number) =>
        Object.values(world.watches.store(max))
          .flat()
          .map(({ id }) => id);
      assert.ok(ids(100).includes(deviceAt(9)));
      assert.ok(!ids(ids(100).length - 1).includes(deviceAt(9)));
    });
  });
});
