// What a deploy leaves of a watch whose list of devices is another one: nobody asks any more for what it has left out.
import assert from 'node:assert/strict';
import type { DeviceWatch } from '../../src/network/device-watch.ts';
import type { OpenWatch } from '../../src/network/device-watches.ts';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import { ALL, D, deviceAt, G, G2, HOUR, MINUTE, SETTINGS, World } from './watched-world.ts';

const X = 'c0141f68fc99';
/** That only X brings. */
const Y = deviceAt(9);
const OTHER_OF_G = deviceAt(8);
/** A mistake: there is no such address. */
const TYPO = 'c0141f68fcaa';
const OF_X = [
  { gateway: X, device: Y },
  { gateway: X, device: X },
];
const OF_G = [{}, { gateway: G, device: G }];

for (const labels of [[], ['floor']]) {
  describe(`a watch whose list of devices a deploy changes, ${labels.length > 0 ? 'with' : 'without'} labels`, () => {
    let world: World;
    let watch: OpenWatch;
    let told: string[];
    let followed: string[];
    let labelled: string[];

    beforeEach(() => {
      world = new World();
      labelled = [G, X];
      told = [];
    });

    function open(changed: Partial<WatchSettings>): void {
      followed = [];
      watch = world.watches.open(
        'n',
        { ...SETTINGS, silentAfter: 0, conditions: ALL, labels, ...changed },
        {
          changed: ({ condition, active, device }) =>
            void told.push(`${active ? '+' : '-'}${condition} ${device}`),
          counted() {},
          full() {},
          follow: (gateway) => void followed.push(gateway),
        },
      );
      watch.setLabelled(new Set(labelled));
    }
    function deploy(changed: Partial<WatchSettings>): void {
      watch.close(true);
      open(changed);
      world.takeTurns();
    }
    const heads = () => told.splice(0);

    it('has no gateway of everything any more that brings none of the list', () => {
      open({});
      world.run(HOUR, MINUTE, [...OF_G, ...OF_X]);
      deploy({ devices: [D] });
      assert.deepEqual([watch.counts, followed], [{ watched: 2, active: 0 }, [G]]);
      world.run(2 * HOUR, MINUTE, OF_G);
      assert.deepEqual(heads(), []);
      world.wait(HOUR);
      assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
    });

    it('tells the end of what it has told of a gateway that the list has no more', () => {
      open({ devices: [D, X] });
      world.run(HOUR, MINUTE, [...OF_G, ...OF_X]);
      world.run(HOUR, MINUTE, OF_G);
      assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
      deploy({ devices: [D] });
      assert.deepEqual([heads(), watch.counts], [[`-gateway-silent ${X}`], { watched: 2, active: 0 }]);
    });

    it('misses no gateway whose device the list has no more', () => {
      open({ devices: [D, Y] });
      world.run(HOUR, MINUTE, [...OF_G, ...OF_X]);
      deploy({ devices: [D] });
      world.run(2 * HOUR, MINUTE, OF_G);
      assert.deepEqual(heads(), []);
    });

    it('keeps what it has told of a gateway that has brought a device of the list', () => {
      open({});
      world.run(HOUR, MINUTE, [...OF_G, ...OF_X]);
      world.wait(HOUR);
      assert.deepEqual(heads(), [`+gateway-silent ${G}`, `+gateway-silent ${X}`]);
      deploy({ devices: [D] });
      assert.deepEqual(
        [heads(), watch.active().map(({ device }) => device)],
        [[`-gateway-silent ${X}`], [G]],
      );
    });

    it('keeps all gateways where the list becomes longer, also one that brings none of it any more', () => {
      labelled = [G, G2];
      open({ devices: [D] });
      world.run(HOUR, MINUTE, OF_G);
      world.run(10 * HOUR, MINUTE, [{ gateway: G2 }]);
      assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
      deploy({ devices: [D, Y] });
      assert.deepEqual([heads(), watch.active().map(({ device }) => device)], [[], [G]]);
    });

    it('has no gateway any more that was listed and brings none of the list', () => {
      open({ gateways: [G, X], devices: [D] });
      world.run(2 * HOUR, MINUTE, OF_G);
      assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
      deploy({ devices: [D] });
      assert.deepEqual([heads(), watch.counts.watched], [[`-gateway-silent ${X}`], 2]);
    });

    it('keeps what it has told of the gateway of another device that it has not watched before', () => {
      open({ devices: [D] });
      world.run(HOUR, MINUTE, [...OF_G, { device: OTHER_OF_G }]);
      world.wait(HOUR);
      assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
      deploy({ devices: [OTHER_OF_G] });
      assert.deepEqual([heads(), watch.active().map(({ device }) => device)], [[], [G]]);
    });

    // A gateway that carries a label is expected, and one that carries none has no place here.
    for (const list of labels.length > 0 ? [] : (['gateways', 'devices'] as const)) {
      it(`forgets an address in ${list} that nobody has ever heard when it is taken out`, () => {
        open({ [list]: [TYPO] });
        world.run(2 * HOUR, MINUTE, OF_G);
        assert.deepEqual(
          heads().map((text) => text.split(' ')[1]),
          [TYPO],
        );
        deploy({});
        assert.deepEqual(
          heads().map((text) => [text[0], text.split(' ')[1]]),
          [['-', TYPO]],
        );
        world.run(3 * HOUR, MINUTE, OF_G);
        assert.deepEqual(heads(), []);
        assert.equal(watch.counts.active, 0);
      });

      it(`watches on an address in ${list} that was heard when it is taken out`, () => {
        const [id, report] = list === 'gateways' ? [X, OF_X] : [Y, OF_X];
        open({ [list]: [id] });
        world.run(HOUR, MINUTE, [...OF_G, ...report]);
        deploy({});
        world.run(2 * HOUR, MINUTE, OF_G);
        assert.ok(heads().some((text) => text === `+gateway-silent ${X}`));
      });
    }

    it('has no gateway for anything but its silence that is not on the list', () => {
      open({ devices: [D] });
      world.run(HOUR, MINUTE, OF_G);
      assert.equal(watch.counts.watched, 2);
      deploy({ devices: [D], conditions: ['error'] });
      assert.equal(watch.counts.watched, 1);
      const failed = { errorCode: 7, value: null };
      world.hear('timestamped-decoded/temperature', failed, { gateway: G, device: G });
      world.run(MINUTE, MINUTE, OF_G);
      assert.deepEqual(heads(), []);
    });
  });
}

describe('a gateway that nobody has heard', () => {
  it('goes on where a label takes the place of the list that had it', () => {
    const world = new World();
    const told: string[] = [];
    const open = (changed: Partial<WatchSettings>) => {
      const watch = world.watches.open(
        'n',
        { ...SETTINGS, silentAfter: 0, ...changed },
        {
          changed: ({ active, device }) => void told.push(`${active ? '+' : '-'}${device}`),
          counted() {},
          full() {},
          follow() {},
        },
      );
      watch.setLabelled(new Set([G, X]));
      return watch;
    };
    const before = open({ gateways: [G, X] });
    world.run(2 * HOUR, MINUTE, OF_G);
    before.close(true);
    const watch = open({ labels: ['floor'] });
    world.run(2 * HOUR, MINUTE, OF_G);
    assert.deepEqual([told, watch.counts.active], [[`+${X}`], 1]);
  });
});

describe('what waits for its label', () => {
  const X_LABELLED = new Set([G, X]);
  let world: World;
  let watch: OpenWatch;
  const silent = { changed() {}, counted() {}, full() {}, follow() {} };

  beforeEach(() => {
    world = new World();
  });

  function open(changed: Partial<WatchSettings>): DeviceWatch {
    watch = world.watches.open('n', { ...SETTINGS, silentAfter: 0, labels: ['floor'], ...changed }, silent);
    return world.watches.watch('n') as DeviceWatch;
  }

  it('holds nothing of the watch before a deploy', () => {
    open({});
    watch.setLabelled(X_LABELLED);
    world.run(HOUR, MINUTE, [...OF_G, ...OF_X]);
    watch.setLabelled(new Set([G]));
    watch.close(true);
    const now = open({});
    const left = now.kept.left.get(X);
    assert.ok(left);
    assert.equal(left.watch, now);
    assert.deepEqual([left.kind, left.hasBrought, left.isKnown], ['gateway', true, true]);
  });

  it('is given up where the list of devices has nothing of it any more, else it comes back', () => {
    for (const devices of [[D], [D, Y]]) {
      world = new World();
      open({});
      watch.setLabelled(X_LABELLED);
      world.run(HOUR, MINUTE, [...OF_G, ...OF_X]);
      watch.setLabelled(new Set([G]));
      watch.close(true);
      const now = open({ devices });
      assert.equal(now.kept.left.has(X), devices.includes(Y));
    }
  });
});
