// What a watch tells: whose condition begins and ends, when, how often, and what it costs while nothing happens.
import assert from 'node:assert/strict';
import type { OpenWatch } from '../../src/network/device-watches.ts';
import { MIN_HEARINGS } from '../../src/network/interval.ts';
import type { ConditionChange, WatchSettings } from '../../src/network/watch-context.ts';
import type { Condition } from '../../src/protocol/conditions.ts';
import { itAtScale } from '../at-scale.ts';
import { ALL, D, deviceAt, G, G2, HOUR, MINUTE, S, SETTINGS, TIME, World } from './watched-world.ts';

describe('a watch of devices', () => {
  let world: World;
  let told: ConditionChange[];
  let followed: string[];
  let counted: number;
  /** What was said of what found no room. */
  let full: (number | undefined)[];
  /** As they were when it was said that there are others. */
  let lastCounts: OpenWatch['counts'] | undefined;

  beforeEach(() => {
    world = new World();
    told = [];
    followed = [];
    counted = 0;
    full = [];
  });

  const listener = () => ({
    changed: (one: ConditionChange) => void told.push(one),
    counted() {
      counted++;
      lastCounts = world.watches.watch('n')?.counts;
    },
    full: (unrestored?: number) => void full.push(unrestored),
    follow: (gateway: string) => void followed.push(gateway),
  });
  const open = (settings: Partial<WatchSettings> = {}, owner = 'n') =>
    world.watches.open(owner, { ...SETTINGS, ...settings }, listener());
  const heads = () =>
    told.splice(0).map(({ condition, active, device }) => `${active ? '+' : '-'}${condition} ${device}`);

  const OTHER = { device: deviceAt(2) };

  const stored = (): Record<string, Record<string, unknown>[]> =>
    JSON.parse(JSON.stringify(world.watches.store(100)));
  /** What a store holds of `D`. */
  const storedOfD = () => stored().n?.find(({ id }) => id === D);
  const X = deviceAt(9);

  describe('has a store hold of a device', () => {
    it('which gateway has heard it last, and which brings most of it', () => {
      open({ conditions: ['silent'] });
      world.run(10 * S, S, [{}]);
      world.hear('heartbeat', {}, { gateway: G2 });
      assert.deepEqual([storedOfD()?.gateway, storedOfD()?.main], [G2, G]);
    });

    it('that it is missed though it was heard a few times only, where a time is set', () => {
      const watch = open();
      world.hear();
      assert.equal(storedOfD()?.passing, true);
      watch.close(false);
      open({ silentAfter: 0 });
      world.hear();
      assert.equal(storedOfD(), undefined);
    });

    it('that it is the only one of its gateway', () => {
      open();
      world.hear();
      assert.equal(storedOfD()?.alone, true);
      world.hear('heartbeat', {}, OTHER);
      assert.equal(storedOfD()?.alone, undefined);
    });

    it('no gateway that was taken away, until that is heard again, also over a deploy', () => {
      const watch = open();
      world.hear();
      watch.forget(G);
      assert.equal(storedOfD()?.gateway, undefined);
      watch.close(true);
      open();
      assert.equal(storedOfD()?.gateway, undefined);
      world.hear('heartbeat', {}, OTHER);
      assert.equal(storedOfD()?.gateway, G);
    });
  });

  describe('says of what was taken away', () => {
    it('that it is not counted any more, and that a store holds another thing', () => {
      const watch = open();
      world.hear();
      counted = 0;
      let changes = 0;
      world.watches.onChange = () => void changes++;
      watch.forget(deviceAt(99));
      assert.deepEqual([counted, changes], [0, 0]);
      watch.forget(D);
      assert.deepEqual([counted, changes, watch.counts.watched], [1, 1, 1]);
    });
  });

  describe('finds the first of those that need somebody', () => {
    const openMany = (length: number) => {
      const devices = Array.from({ length }, (_, i) => deviceAt(i));
      const watch = open({ devices, conditions: ['error'] });
      for (const device of devices.slice(0, 2)) {
        world.hear('heartbeat', { status: 3 }, { device });
      }
      world.wait(6 * S);
      return watch;
    };
    /** Several times, as what was found quickly is not kept for long. */
    const keeps = (watch: OpenWatch) =>
      new Set(Array.from({ length: 20 }, () => watch.firstActive(1))).size < 20;

    for (const [length, isKept] of [
      [9_999, false],
      [10_000, true],
    ] as const) {
      it(`${isKept ? 'once in a while' : 'anew'} among ${length}`, () => {
        const watch = openMany(length);
        assert.deepEqual([watch.firstActive(1).rows.length, watch.firstActive(1).total], [1, 2]);
        assert.deepEqual(
          watch.firstActive(2).rows.map(({ device }) => device),
          [deviceAt(0), deviceAt(1)],
        );
        assert.equal(keeps(watch), isKept);
      });
    }
  });

  describe('with labels', () => {
    const labels = ['floor'];
    const openWith = (gateways: readonly string[], settings: Partial<WatchSettings> = {}) => {
      const watch = open({ labels, ...settings });
      watch.setLabelled(new Set(gateways));
      return watch;
    };

    for (const [what, settings, watched] of [
      ['all gateways that carry one', {}, 2],
      ['those of its list', { gateways: [G] }, 1],
      ['none where it does not watch their silence', { conditions: ['silent'] }, 0],
      ['none beside listed devices', { devices: [D] }, 1],
    ] as [string, Partial<WatchSettings>, number][]) {
      it(`watches unheard: ${what}`, () => {
        assert.equal(openWith([G, G2], settings).counts.watched, watched);
      });
    }

    it('says that others are counted, where there are others', () => {
      const watch = openWith([G]);
      counted = 0;
      watch.setLabelled(new Set([G]));
      assert.equal(counted, 0);
      watch.setLabelled(new Set([]));
      assert.deepEqual([counted, watch.counts.watched], [1, 0]);
    });

    it('follows the gateways of what is listed as soon as they carry one', () => {
      const watch = openWith([], { devices: [D] });
      world.hear();
      assert.deepEqual(followed, []);
      watch.setLabelled(new Set([G]));
      assert.deepEqual(followed, [G]);
    });

    it('counts nobody whose gateway had another one before a deploy', () => {
      openWith([G]).close(true);
      const watch = open({ labels: ['other'] });
      watch.setLabelled(new Set([G2]));
      assert.equal(watch.counts.watched, 1);
    });

    describe('that a gateway has lost when a store is read', () => {
      const silent = [
        { id: G, kind: 'gateway', interval: MINUTE, active: [{ condition: 'gateway-silent', since: TIME }] },
        { id: G2, kind: 'gateway', interval: MINUTE },
      ];

      it('ends what was told of it, at once', () => {
        const watch = openWith([G2]);
        world.takeTurns();
        world.watches.restore({ n: silent });
        assert.deepEqual([heads(), watch.counts], [[`-gateway-silent ${G}`], { watched: 1, active: 0 }]);
        watch.setLabelled(new Set([G, G2]));
        assert.equal(watch.counts.watched, 2);
      });

      it('ends it once where it is taken away before flows run', () => {
        const watch = openWith([G2]);
        world.watches.setPaused(true);
        world.watches.restore({ n: silent });
        watch.forget(G);
        assert.deepEqual(heads(), []);
        world.watches.setPaused(false);
        assert.deepEqual(heads(), [`-gateway-silent ${G}`]);
      });

      it('ends it when flows run', () => {
        const watch = openWith([G2]);
        world.watches.setPaused(true);
        world.watches.restore({ n: silent });
        assert.deepEqual(heads(), []);
        world.watches.setPaused(false);
        assert.deepEqual([heads(), watch.counts], [[`-gateway-silent ${G}`], { watched: 1, active: 0 }]);
        world.watches.setPaused(true);
        world.watches.setPaused(false);
        assert.deepEqual(heads(), []);
      });
    });
  });

  it('follows what brings a listed device, and a listed gateway that brings others', () => {
    open({ devices: [D, G2] });
    world.hear('heartbeat', {}, { gateway: G2, device: X });
    assert.deepEqual(followed, [G2]);
    world.hear();
    assert.deepEqual(followed, [G2, G]);
  });

  it('follows the gateway that a store has of a listed device', () => {
    open({ devices: [D] });
    world.watches.restore({ n: [{ id: D, kind: 'device', gateway: G }] });
    assert.deepEqual(followed, [G]);
  });

  it('knows a gateway from a store and from what was heard, and none as a device', () => {
    const kindOf = (mac: string) => stored().n?.find(({ id }) => id === mac)?.kind;
    open({ devices: [G, G2] });
    world.watches.restore({ n: [{ id: G, kind: 'gateway', brought: true }] });
    assert.deepEqual([kindOf(G), kindOf(G2)], ['gateway', 'device']);
    world.watches.restore({ n: [{ id: G, kind: 'device' }] });
    assert.equal(kindOf(G), 'gateway');
    world = new World();
    world.hear('heartbeat', {}, { gateway: G2 });
    open({ conditions: ['error'], silentAfter: 60 });
    for (const device of [G, G2, D]) {
      world.hear('heartbeat', { status: 3 }, { device });
    }
    world.wait(6 * S);
    assert.deepEqual([kindOf(G), kindOf(G2), kindOf(D)], ['gateway', 'gateway', 'device']);
  });

  it('says how many need somebody after a deploy and when a store is read', () => {
    const watch = open();
    const active = [{ condition: 'silent', since: TIME }];
    world.watches.restore({ n: [{ id: D, kind: 'device', active }] });
    assert.deepEqual(lastCounts, { watched: 1, active: 1 });
    watch.close(true);
    lastCounts = undefined;
    open();
    assert.deepEqual(lastCounts, { watched: 1, active: 1 });
  });

  it('ends what a store has and its list has not', () => {
    const watch = open({ devices: [X] });
    world.takeTurns();
    const active = [{ condition: 'silent', since: TIME }];
    world.watches.restore({ n: [{ id: D, kind: 'device', active }] });
    assert.deepEqual([watch.counts, heads()], [{ watched: 1, active: 0 }, [`-silent ${D}`]]);
  });

  it('counts the time anew after a deploy with which it hears others', () => {
    const watch = open({ devices: [D, X] });
    world.wait(50 * S);
    watch.close(true);
    open({ devices: [D] });
    world.wait(50 * S);
    assert.deepEqual(heads(), []);
    world.wait(20 * S);
    assert.deepEqual(heads(), [`+silent ${D}`]);
  });

  it('misses what is listed after a deploy, though it was heard a few times only', () => {
    const watch = open({ silentAfter: 0 });
    world.hear();
    watch.close(true);
    open({ silentAfter: 0, devices: [D] });
    world.run(65 * MINUTE, MINUTE, [OTHER]);
    assert.deepEqual(heads(), [`+silent ${D}`]);
  });

  it('misses what is listed, was forgotten and is heard again, if only once', () => {
    const watch = open({ silentAfter: 0, devices: [D] });
    world.hear();
    watch.forget(D);
    world.hear();
    world.run(65 * MINUTE, MINUTE, [OTHER]);
    assert.deepEqual(heads(), [`+silent ${D}`]);
  });

  it('keeps over a deploy what a store had of what was not heard since', () => {
    const watch = open({ silentAfter: 0 });
    world.watches.restore({ n: [{ id: D, kind: 'device', gateway: G, alone: true }] });
    const before = storedOfD();
    assert.equal(before?.alone, true);
    watch.close(true);
    open({ silentAfter: 0 });
    assert.deepEqual(storedOfD(), before);
  });

  describe('has what passes by give way to what is new', () => {
    const ids = () => stored().n?.map(({ id }) => id);

    it('when it comes from a store, and not what was known there', () => {
      for (const passing of [true, false]) {
        world = new World(1);
        open();
        world.watches.restore({ n: [{ id: D, kind: 'device', ...(passing && { passing }) }] });
        world.hear('heartbeat', {}, OTHER);
        assert.equal(ids()?.includes(D), !passing);
      }
    });

    it('after a deploy, and not who comes often', () => {
      for (const lastsMs of [0, 30 * MINUTE]) {
        world = new World(2);
        const watch = open({ conditions: ['silent'] });
        world.hear();
        world.run(lastsMs, MINUTE, [{}, OTHER]);
        watch.close(true);
        open({ conditions: ['silent'] });
        for (const i of [20, 21, 22]) {
          world.hear('heartbeat', {}, { device: deviceAt(i) });
        }
        const known = [D, OTHER.device];
        assert.deepEqual(ids(), lastsMs > 0 ? known : [deviceAt(21), deviceAt(22)]);
      }
    });

    it('and not who was heard just often enough', () => {
      for (const [hearings, stays] of [
        [MIN_HEARINGS - 1, false],
        [MIN_HEARINGS, true],
      ] as const) {
        world = new World(2);
        open({ conditions: ['silent'] });
        for (let i = 0; i < hearings; i++) {
          world.hear();
          world.wait(MINUTE);
        }
        for (const i of [20, 21]) {
          world.hear('heartbeat', {}, { device: deviceAt(i) });
        }
        assert.equal(ids()?.includes(D), stays, `${hearings}`);
      }
    });

    it('and no gateway, also when it has reported of itself once', () => {
      world = new World(3);
      const watch = open();
      world.run(30 * MINUTE, MINUTE, [{}]);
      world.hear('heartbeat', {}, { device: G });
      watch.close(true);
      open();
      for (const i of [20, 21, 22]) {
        world.hear('heartbeat', {}, { gateway: G2, device: deviceAt(i) });
      }
      assert.equal(ids()?.includes(G), true);
    });
  });

  it('goes by the interval of before the start while a few reports show a shorter one', () => {
    for (const interval of [20 * MINUTE, undefined]) {
      world = new World();
      open({ conditions: ['silent'], silentAfter: 0 });
      world.watches.restore({ n: [{ id: D, kind: 'device', gateway: G, interval, passing: true }] });
      world.run(10 * MINUTE, MINUTE, [{}, OTHER]);
      world.run(10 * MINUTE, MINUTE, [OTHER]);
      assert.deepEqual(heads(), interval === undefined ? [`+silent ${D}`] : []);
    }
  });

  describe('has a store hold other intervals, of two devices and their gateway', () => {
    for (const [what, everyMs, changes] of [
      ['whenever they are much longer than the shortest since', [8 * S, 30 * S, 8 * S, 30 * S], [0, 3, 0, 3]],
      ['not when they are longer by a quarter', [8 * S, 10 * S], [0, 0]],
      ['when they are longer by more than a quarter', [8 * S, 11 * S], [0, 3]],
    ] as const) {
      for (const conditions of [['silent'], ['silent', 'gateway-silent']] as Condition[][]) {
        it(`${what}: ${conditions.join(', ')}`, () => {
          open({ conditions });
          let count = 0;
          world.watches.onChange = () => void count++;
          world.run(10 * MINUTE, everyMs[0], [{}, OTHER]);
          const counts = everyMs.map((ms) => {
            count = 0;
            world.run(10 * HOUR, ms, [{}, OTHER]);
            return count;
          });
          assert.deepEqual(counts, changes);
        });
      }
    }
  });

  it('looks no more after what is taken away while it is told of it', () => {
    const heard: string[] = [];
    const watch = world.watches.open(
      'n',
      { ...SETTINGS, conditions: ALL },
      {
        ...listener(),
        changed({ condition, active, device }) {
          heard.push(`${active ? '+' : '-'}${condition} ${device}`);
          if (active) {
            watch.forget(device);
          }
        },
      },
    );
    world.hear('heartbeat', { status: 3 });
    world.run(5 * MINUTE, 5 * S, [OTHER]);
    assert.deepEqual(heard, [`+error ${D}`, `-error ${D}`]);
  });

  it('follows a listed gateway that is known before', () => {
    world.hear('heartbeat', {}, OTHER);
    open({ devices: [G] }, 'first');
    open({ devices: [G2] }, 'second');
    assert.deepEqual(followed, [G]);
  });

  it('has no room for more than may be watched, whatever is read from a store or kept over a deploy', () => {
    world = new World(1);
    const watch = open();
    const known = { kind: 'device', interval: MINUTE };
    world.watches.restore({
      n: [
        { id: D, ...known },
        { id: X, ...known, active: [{ condition: 'silent', since: TIME }] },
      ],
    });
    world.takeTurns();
    assert.deepEqual([full, heads()], [[1], [`-silent ${X}`]]);
    assert.deepEqual(
      Object.values(stored())
        .flat()
        .map(({ id }) => id),
      [D],
    );
    watch.close(true);
    const again = open({ devices: [X] });
    assert.deepEqual([again.counts.watched, stored().n?.map(({ id }) => id)], [1, [X]]);
  });

  it('ends what a deploy has taken from its list', () => {
    const watch = open({ devices: [D, X] });
    world.wait(70 * S);
    assert.equal(heads().length, 2);
    watch.close(true);
    const again = open({ devices: [X] });
    world.takeTurns();
    assert.deepEqual([again.counts, heads()], [{ watched: 1, active: 1 }, [`-silent ${D}`]]);
    const labelled = open({ devices: [D, X], labels: ['floor'] }, 'labelled');
    world.wait(70 * S);
    heads();
    labelled.close(true);
    const { counts } = open({ devices: [X], labels: ['floor'] }, 'labelled');
    world.takeTurns();
    assert.deepEqual([counts.watched, heads()], [1, [`-silent ${D}`]]);
  });

  describe('tells that a device is silent', () => {
    it('once, when it was not heard for the time that was set, and once that it is back', () => {
      open();
      world.run(10 * S, 5 * S, [{}, OTHER]);
      world.run(55 * S, 5 * S, [OTHER]);
      assert.deepEqual(heads(), []);
      world.run(10 * MINUTE, 5 * S, [OTHER]);
      assert.equal(told.length, 1);
      const [{ condition, active, gateway, device, value = 0, limit }] = told as [ConditionChange];
      assert.deepEqual([condition, active, gateway, device, limit], ['silent', true, G, D, 60]);
      assert.ok(value > 60 && value <= 75, `${value}`);
      assert.match(told[0]?.since ?? '', /^\d{4}-.*Z$/);
      heads();
      world.hear();
      world.run(30 * S, 5 * S, [OTHER]);
      assert.deepEqual(heads(), [`-silent ${D}`]);
    });

    it('by its usual interval where no time is set, but at least after a minute', () => {
      open({ silentAfter: 0 });
      world.run(15 * MINUTE, 60 * S, [{}]);
      world.run(MINUTE, 5 * S, [OTHER]);
      world.run(MINUTE, 5 * S, [OTHER]);
      assert.deepEqual(heads(), [], 'three times a minute are not over');
      world.run(2 * MINUTE, 5 * S, [OTHER]);
      assert.deepEqual(heads(), [`+silent ${D}`]);
      world.wait(5 * MINUTE);
      assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
    });

    it('and misses none that was heard a few times only, unless somebody expects it', () => {
      open({ silentAfter: 0 });
      open({ silentAfter: 0, devices: [D, deviceAt(3)] }, 'expects');
      world.run(4 * S, 2 * S, [{}]);
      world.run(HOUR - 10 * S, 10 * S, [OTHER]);
      assert.deepEqual(heads(), []);
      world.run(MINUTE, 10 * S, [OTHER]);
      assert.deepEqual(
        heads().sort(),
        [`+silent ${D}`, `+silent ${deviceAt(3)}`],
        'of the watch that expects them',
      );
    });

    it('also of one on a list that was never heard, after the time that was set', () => {
      open({ devices: [D], silentAfter: 30 });
      world.wait(36 * S);
      assert.deepEqual(heads(), [`+silent ${D}`]);
      assert.equal(told.length, 0);
    });

    it('and hears it by any of its reports, and by any gateway', () => {
      open({ gateways: [G] });
      world.hear();
      world.run(50 * S, 5 * S, [OTHER]);
      world.hear('rssi', { rssi: -60, parent: G2 }, { gateway: G2 });
      world.run(50 * S, 5 * S, [OTHER]);
      assert.deepEqual(heads(), []);
      assert.deepEqual(open({ gateways: [G2] }, 'other').counts, { watched: 1, active: 0 });
    });

    it('not when it comes back within five seconds', () => {
      open();
      world.run(10 * S, 5 * S, [{}, OTHER]);
      world.run(58 * S, 2 * S, [OTHER]);
      world.hear();
      world.run(30 * S, 2 * S, [OTHER]);
      assert.deepEqual(heads(), []);
    });

    it('not for a time in which the broker was away', () => {
      open();
      world.run(10 * S, 5 * S, [{}, OTHER]);
      world.listen(false);
      assert.equal(world.timers, 0);
      world.wait(10 * HOUR);
      world.listen(true);
      world.run(MINUTE + 45 * S, 5 * S, [OTHER]);
      assert.deepEqual(heads(), []);
      world.run(MINUTE, 5 * S, [OTHER]);
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    it('not for a time in which the broker refused its reports, and anew after that', () => {
      open({ devices: [D, OTHER.device] });
      world.refused.add(D).add(G);
      world.settle();
      world.wait(10 * MINUTE);
      assert.deepEqual(heads(), [`+silent ${OTHER.device}`], 'which the broker does not refuse');
      world.refused.clear();
      world.wait(50 * S);
      world.settle();
      world.wait(55 * S);
      assert.deepEqual(heads(), []);
      world.wait(15 * S);
      assert.deepEqual(heads(), [`+silent ${D}`]);
      world.refused.add(D);
      world.settle();
      world.wait(10 * MINUTE);
      world.refused.clear();
      world.settle();
      world.wait(MINUTE);
      assert.deepEqual(heads(), [], 'what was told is not over');
      world.hear();
      assert.deepEqual(heads(), [`-silent ${D}`]);
      world.refused.add(D);
      world.settle();
      world.wait(HOUR);
      assert.deepEqual(heads(), [`+gateway-silent ${G}`], 'of which the broker refuses nothing now');
    });

    it('of whom the broker refuses no report, however often it is asked again for others', () => {
      open({ devices: [D, OTHER.device] });
      world.refused.add(D).add(G);
      world.settle();
      for (let minute = 0; minute < 10; minute++) {
        world.wait(MINUTE / 2);
        // Asked again, with another connection perhaps: not granted before everything is settled.
        world.refused.clear();
        world.wait(40 * S);
        world.refused.add(D).add(G);
        world.settle();
      }
      assert.deepEqual(heads(), [`+silent ${OTHER.device}`]);
    });

    it('not before its time after a deploy with which the broker grants what it had refused', () => {
      const before = open();
      world.run(20 * S, 5 * S, [{}, OTHER]);
      world.refused.add(D);
      world.settle();
      world.run(5 * MINUTE + 50 * S, 5 * S, [OTHER]);
      before.close(true);
      world.refused.clear();
      open();
      world.settle();
      world.run(55 * S, 5 * S, [OTHER]);
      assert.deepEqual(heads(), []);
      world.run(20 * S, 5 * S, [OTHER]);
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    it('by one of two gateways whose reports are not refused', () => {
      open();
      const [first, second] = [{ gateway: G }, { gateway: G2 }];
      world.run(MINUTE, 10 * S, [first, second, { ...OTHER, gateway: G }, { ...OTHER, gateway: G2 }]);
      world.refused.add(G);
      world.run(5 * MINUTE, 10 * S, [{ ...OTHER, gateway: G2 }]);
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    it('that is heard by one of which nothing is refused, after that by which it was heard before', () => {
      open();
      world.run(MINUTE, 10 * S, [{ gateway: G }]);
      world.refused.add(G);
      world.settle();
      world.wait(10 * MINUTE);
      const other = { ...OTHER, gateway: G2 };
      world.run(10 * MINUTE, 10 * S, [{ gateway: G2 }, other]);
      assert.deepEqual(heads(), []);
      world.run(2 * MINUTE, 10 * S, [other]);
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    it('that was heard last with a sample of the past, by a gateway of which nothing is refused', () => {
      open();
      const other = { ...OTHER, gateway: G2 };
      world.run(MINUTE, 10 * S, [{ gateway: G }, other]);
      world.refused.add(G);
      world.settle();
      world.run(10 * MINUTE, 10 * S, [other]);
      assert.deepEqual(heads(), []);
      world.hear('timestamped-decoded/temperature', { value: 20, backfill: true }, { gateway: G2 });
      world.run(2 * MINUTE, 10 * S, [other]);
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    it('not for the time in which its reports were refused and others watched for it, over a deploy', () => {
      const before = open({ devices: [D], conditions: ['gateway-silent'] });
      world.refused.add(D);
      world.settle();
      world.run(5 * MINUTE, 5 * S, [OTHER]);
      world.refused.clear();
      world.settle();
      before.close(true);
      open({ devices: [D] });
      world.run(55 * S, 5 * S, [OTHER]);
      assert.deepEqual(heads(), []);
      world.run(20 * S, 5 * S, [OTHER]);
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    it('where one moves from gateway to gateway with every report', () => {
      open();
      for (let i = 0; i < 100; i++) {
        const gateway = (0xa00000000000 + (i % 40)).toString(16);
        world.hear('heartbeat', {}, { gateway });
        world.hear('heartbeat', {}, { gateway, ...OTHER });
        world.wait(S);
      }
      assert.deepEqual(heads(), []);
      for (let i = 0; i < 120; i++) {
        world.hear('heartbeat', {}, { gateway: (0xa00000000000 + (i % 40)).toString(16), ...OTHER });
        world.wait(S);
      }
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });
  });

  describe('tells the silence of a gateway from that of its devices', () => {
    const many = (gateway: string, from = 1, count = 200) =>
      Array.from({ length: count }, (_, i) => ({ gateway, device: deviceAt(from + i) }));

    it('as one change, and none for each of its devices', () => {
      open();
      world.run(2 * MINUTE, 10 * S, many(G));
      world.wait(10 * HOUR);
      assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
      // The gateway may be none of the watch any more.
      assert.equal(world.timers, 1);
    });

    it('also when the devices were due before the gateway', () => {
      open();
      world.run(30 * S, 10 * S, many(G));
      world.run(50 * S, 10 * S, many(G, 100, 2));
      world.wait(10 * HOUR);
      assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
    });

    it('and gives its devices their time anew when it is back', () => {
      open();
      world.run(2 * MINUTE, 10 * S, many(G));
      world.wait(10 * HOUR);
      heads();
      world.run(55 * S, 5 * S, many(G, 2, 199));
      assert.deepEqual(heads(), [`-gateway-silent ${G}`]);
      world.run(20 * S, 5 * S, many(G, 2, 199));
      assert.deepEqual(heads(), [`+silent ${deviceAt(1)}`]);
    });

    it('where another gateway that is still there has heard the device, too', () => {
      open();
      world.run(2 * MINUTE, 10 * S, [
        ...many(G, 1, 3),
        { gateway: G2 },
        { gateway: G2, device: deviceAt(9) },
      ]);
      world.run(2 * MINUTE, 10 * S, [{ gateway: G2, device: deviceAt(9) }]);
      assert.deepEqual(heads(), [`+gateway-silent ${G}`, `+silent ${D}`]);
    });

    describe('where another gateway brings one in ten of its reports', () => {
      const others = [
        { gateway: G2, device: deviceAt(8) },
        { gateway: G2, device: deviceAt(9) },
      ];
      /** @param near who hears every report, as long as that goes on */
      function hearTenth(minutes: number, near?: string): void {
        for (let i = 0; i < minutes; i++) {
          world.run(MINUTE / 2, MINUTE / 2, others);
          for (const gateway of [near, i % 10 === 0 ? G2 : undefined]) {
            if (gateway !== undefined) {
              world.hear('heartbeat', {}, { gateway });
            }
          }
          world.run(MINUTE / 2, MINUTE / 2, [...others, ...(near === undefined ? [] : [OTHER])]);
        }
      }

      it('not by that while its own is away', () => {
        open({ silentAfter: 0 });
        hearTenth(3 * 60, G);
        hearTenth(2 * 60);
        hearTenth(60, G);
        assert.deepEqual(heads(), [`+gateway-silent ${G}`, `-gateway-silent ${G}`]);
      });

      it('and tells its death as soon as without that', () => {
        open({ silentAfter: 0 });
        hearTenth(3 * 60, G);
        world.run(4 * MINUTE, MINUTE / 2, [OTHER, ...others]);
        assert.deepEqual(heads(), [`+silent ${D}`]);
      });

      const hearHalf = () => {
        for (let i = 0; i < 50; i++) {
          world.run(10 * S, 10 * S, [{}, OTHER, ...others, ...(i % 2 ? [{ gateway: G2 }] : [])]);
        }
      };

      it('after four times the time by one that brought half as many', () => {
        open({ silentAfter: 0 });
        hearHalf();
        world.run(4 * MINUTE - 10 * S, 10 * S, others);
        assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
        world.run(30 * S, 10 * S, others);
        assert.deepEqual(heads(), [`+silent ${D}`]);
      });

      it('after the time that is set', () => {
        open({ silentAfter: 60 });
        hearHalf();
        world.run(MINUTE + 20 * S, 10 * S, others);
        assert.ok(heads().includes(`+silent ${D}`), heads().join());
      });

      it('within some hours where its own is gone for good, and it has died at the other one', () => {
        open({ silentAfter: 0 });
        hearTenth(24 * 60, G);
        world.run(30 * MINUTE, MINUTE / 2, [...others, { gateway: G2 }]);
        world.run(5 * HOUR, MINUTE / 2, others);
        assert.deepEqual(heads(), [`+gateway-silent ${G}`, `+silent ${D}`]);
      });

      for (const hours of [5, 10]) {
        it(`not by that while the one that has replaced its own ${hours} hours ago is away`, () => {
          open({ silentAfter: 0 });
          const hearFifth = (lastsMs: number, near?: string) => {
            for (let i = 1; i <= lastsMs / (20 * MINUTE); i++) {
              const far = i % 5 === 0 ? [{ gateway: G2 }] : [];
              world.run(MINUTE, MINUTE, near === undefined ? far : [...far, { gateway: near }]);
              const nearOther = near === undefined ? [] : [{ ...OTHER, gateway: near }];
              world.run(19 * MINUTE, MINUTE, [...others, ...nearOther]);
            }
          };
          const next = 'c0141f68fc40';
          hearFifth(72 * HOUR, G);
          hearFifth(hours * HOUR, next);
          hearFifth(100 * MINUTE);
          hearFifth(2 * HOUR, next);
          assert.deepEqual(heads(), [
            `+gateway-silent ${G}`,
            `+gateway-silent ${next}`,
            `-gateway-silent ${next}`,
          ]);
        });
      }

      it('and tells its death where it has moved there, and its own still hears others', () => {
        open({ silentAfter: 0 });
        hearTenth(3 * 60, G);
        world.run(10 * MINUTE, MINUTE / 2, [OTHER, ...others, { gateway: G2 }]);
        world.run(4 * MINUTE, MINUTE / 2, [OTHER, ...others]);
        assert.deepEqual(heads(), [`+silent ${D}`]);
      });
    });

    it('also of a gateway that was known as a device before it brought anything', () => {
      open({ conditions: ALL });
      world.hear('rssi', { rssi: -60, parent: G }, { gateway: G, device: G2 });
      world.run(2 * MINUTE, 10 * S, [...many(G, 1, 2), ...many(G2, 5, 2)]);
      assert.deepEqual(heads(), [], 'what it brings shows that it is there');
      world.run(10 * MINUTE, 10 * S, many(G, 1, 2));
      assert.deepEqual(heads(), [`+gateway-silent ${G2}`]);
    });

    for (const conditions of [['silent', 'gateway-silent'], ALL] as Condition[][]) {
      it(`once, until it brings something, though another one hears its radio: ${conditions.length} conditions`, () => {
        open({ conditions });
        const others = () => {
          world.hear('heartbeat', { status: 0 }, { gateway: G2, device: deviceAt(7) });
          world.hear('rssi', { rssi: -60, parent: G2 }, { gateway: G2, device: G });
        };
        for (let i = 0; i < 60; i++) {
          world.hear();
          world.hear('heartbeat', {}, { device: deviceAt(2) });
          others();
          world.wait(20 * S);
        }
        assert.deepEqual(heads(), []);
        for (let i = 0; i < 300; i++) {
          others();
          world.wait(2 * S);
        }
        assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
        world.hear();
        world.wait(6 * S);
        assert.deepEqual(heads(), [`-gateway-silent ${G}`]);
      });
    }

    for (const first of [G, G2]) {
      it(`and takes a gateway for none of the devices of another that hears it, ${first === G ? 'second' : 'first'}`, () => {
        open({ conditions: ['silent', 'weak-signal'] });
        const radio = () => world.hear('rssi', { rssi: -95, parent: G2 }, { gateway: G2, device: G });
        for (let i = 0; i < 30; i++) {
          const own = () => world.hear('heartbeat', { status: 0 }, { device: G });
          for (const hear of first === G ? [own, radio] : [radio, own]) {
            hear();
          }
          world.hear();
          world.wait(10 * S);
        }
        // Nobody hears its own reports any more, and it brings those of others.
        for (let i = 0; i < 30; i++) {
          world.hear();
          world.wait(10 * S);
        }
        assert.deepEqual(heads(), []);
      });
    }

    it('and takes one that brings only devices for none of those of another that hears it', () => {
      open({ conditions: ['silent', 'weak-signal'] });
      const radio = () => world.hear('rssi', { rssi: -95, parent: G2 }, { gateway: G2, device: G });
      // It has told nothing yet when its radio is heard, and not for a while after that.
      for (let i = 0; i < 30; i++) {
        radio();
        world.wait(10 * S);
      }
      world.run(2 * MINUTE, 10 * S, [{ gateway: G2, device: deviceAt(9) }]);
      assert.deepEqual(heads(), [`+weak-signal ${G}`, `+silent ${G}`]);
      world.hear();
      assert.deepEqual(heads().sort(), [`-silent ${G}`, `-weak-signal ${G}`]);
      for (let i = 0; i < 30; i++) {
        radio();
        world.hear();
        world.hear('heartbeat', {}, { gateway: G2, device: deviceAt(9) });
        world.wait(10 * S);
      }
      assert.deepEqual(heads(), []);
    });

    it('also of a gateway that is on the list of devices, and over a deploy', () => {
      const watch = open({ devices: [D, G2] });
      world.run(2 * MINUTE, 10 * S, [{}, { gateway: G2 }, { gateway: G2, device: G2 }]);
      world.run(3 * MINUTE, 10 * S, [{}]);
      assert.deepEqual(heads(), [`+gateway-silent ${G2}`]);
      watch.close(true);
      const again = open({ devices: [D, G2] });
      world.run(3 * MINUTE, 10 * S, [{}]);
      assert.deepEqual(heads(), [], 'nothing has changed');
      assert.deepEqual(
        again.active().map((one) => [one.condition, one.device]),
        [['gateway-silent', G2]],
      );
    });

    it('and tells both where it brings nothing but that one device', () => {
      open();
      world.run(2 * MINUTE, 10 * S, [{}]);
      world.wait(HOUR);
      assert.deepEqual(heads().sort(), [`+gateway-silent ${G}`, `+silent ${D}`]);
    });

    for (const [who, other] of [
      ['was replaced a day ago', deviceAt(2)],
      ['passed by', deviceAt(3)],
    ] as const) {
      it(`and tells both where a second device ${who}, four hours before the one that is left was heard last`, () => {
        open({ silentAfter: 0 });
        world.run(HOUR, MINUTE, [{}]);
        world.run(who === 'passed by' ? MINUTE : 24 * HOUR, MINUTE, [{}, { device: other }]);
        world.run(5 * HOUR, MINUTE, [{}]);
        const before = told.length;
        world.wait(12 * HOUR);
        assert.deepEqual(heads().slice(before).sort(), [`+gateway-silent ${G}`, `+silent ${D}`]);
      });
    }

    it('and tells the gateway alone, where a second device was heard within four hours', () => {
      open({ silentAfter: 0 });
      world.run(24 * HOUR, MINUTE, [{}, { device: deviceAt(2) }]);
      const before = told.length;
      world.wait(12 * HOUR);
      assert.deepEqual(heads().slice(before), [`+gateway-silent ${G}`]);
    });

    it('which no grant of the broker ends, when only another gateway hears it after that', () => {
      open();
      const second = { gateway: G2, device: deviceAt(9) };
      world.run(2 * MINUTE, 10 * S, [...many(G, 1, 2), second]);
      world.run(2 * MINUTE, 10 * S, [second]);
      assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
      const radio = () => world.hear('rssi', { rssi: -60, parent: G2 }, { gateway: G2, device: G });
      for (const isRefused of [true, true, false]) {
        world.refused = new Set(isRefused ? [G] : []);
        world.settle();
        radio();
        world.run(MINUTE, 10 * S, [second]);
      }
      assert.deepEqual(heads(), []);
      world.hear();
      assert.deepEqual(heads(), [`-gateway-silent ${G}`]);
    });

    it('and in its time where it has brought something since the broker refused it', () => {
      open({ conditions: ['gateway-silent'] });
      const second = { gateway: G2, device: G2 };
      world.run(10 * MINUTE, 10 * S, [{}, second]);
      world.refused.add(G);
      world.settle();
      world.hear();
      world.run(50 * S, 10 * S, [second]);
      world.refused.clear();
      world.settle();
      world.run(20 * S, 10 * S, [second]);
      assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
    });

    for (const refusedMs of [5 * MINUTE, 5 * MINUTE + 25 * S, 5 * MINUTE + 45 * S]) {
      it(`and not before its time after the broker has granted what another one heard meanwhile: ${refusedMs} ms`, () => {
        open();
        const second = { gateway: G2, device: G2 };
        world.run(10 * MINUTE, 10 * S, [{ gateway: G, device: G }, second]);
        world.refused.add(G);
        world.settle();
        for (const end = world.time + refusedMs; world.time < end; world.wait(5 * S)) {
          world.hear('heartbeat', {}, second);
          world.hear('rssi', { rssi: -60, parent: G2 }, { gateway: G2, device: G });
        }
        world.refused.clear();
        world.settle();
        world.run(50 * S, 10 * S, [second]);
        assert.deepEqual(heads(), []);
        world.run(MINUTE, 10 * S, [second]);
        assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
      });
    }

    it('and a silence that was told goes on when the gateway goes and comes', () => {
      open();
      world.run(2 * MINUTE, 10 * S, many(G, 1, 3));
      world.run(2 * MINUTE, 10 * S, many(G, 2, 2));
      assert.deepEqual(heads(), [`+silent ${D}`]);
      world.wait(HOUR);
      world.run(2 * MINUTE, 10 * S, many(G, 2, 2));
      assert.deepEqual(heads(), [`+gateway-silent ${G}`, `-gateway-silent ${G}`]);
    });
  });

  describe('tells of what devices report', () => {
    const battery = (value: number) => world.hear('property/8100', { value });

    it('when the battery, the signal, an error or the mode says so, and when that is over', () => {
      open({ conditions: ALL });
      battery(15);
      world.hear('rssi', { rssi: -90, parent: G });
      world.hear('heartbeat', { status: 3 });
      world.wait(6 * S);
      assert.deepEqual(
        told.map(({ condition, value, limit }) => [condition, value, limit]),
        [
          ['error', 3, undefined],
          ['battery-low', 15, 20],
          ['weak-signal', -90, -85],
        ],
      );
      heads();
      battery(90);
      world.hear('rssi', { rssi: -50, parent: G });
      world.hear('heartbeat', { status: 0 });
      assert.deepEqual(
        told.map(({ condition, active, value }) => [condition, active, value]),
        [
          ['battery-low', false, 90],
          ['weak-signal', false, -50],
          ['error', false, undefined],
        ],
      );
      heads();
      world.hear('dfu', { rssi: -50, parent: G });
      world.wait(6 * S);
      world.hear();
      assert.deepEqual(heads(), [`+dfu ${D}`, `-dfu ${D}`]);
    });

    describe('in update mode', () => {
      const UPDATED = { device: deviceAt(7) };
      /** A device may advertise with its address + 1. */
      function update(ms = MINUTE): void {
        for (const end = world.time + ms; world.time < end; world.wait(5 * S)) {
          world.hear('dfu', { rssi: -60, parent: G }, UPDATED);
          world.hear('heartbeat', {}, OTHER);
        }
      }

      it('which is over when the advertisements have ended, also under an address of its own, that nobody misses', () => {
        open({ conditions: ALL, silentAfter: 0 });
        open({ silentAfter: 120 }, 'silences');
        world.run(20 * MINUTE, 30 * S, [{}, OTHER]);
        update();
        assert.deepEqual(heads(), [`+dfu ${UPDATED.device}`]);
        world.run(14 * MINUTE, 30 * S, [{}, OTHER]);
        assert.deepEqual(heads(), []);
        world.run(2 * MINUTE, 30 * S, [{}, OTHER]);
        assert.deepEqual(heads(), [`-dfu ${UPDATED.device}`]);
        world.wait(5 * MINUTE);
        world.run(HOUR, 30 * S, [{}, OTHER]);
        assert.deepEqual(
          heads().filter((head) => head.includes(UPDATED.device)),
          [],
        );
      });

      for (const every of [5 * S, 20 * S, 40 * S]) {
        it(`which lasts while another gateway hears it of one that brings nothing meanwhile: every ${every} ms`, () => {
          open({ conditions: ALL, silentAfter: 0 });
          const [own, other] = [
            { gateway: G, device: G },
            { gateway: G2, device: G2 },
          ];
          world.run(30 * MINUTE, 10 * S, [own, other]);
          const updateFor = (ms: number) => {
            for (const end = world.time + ms; world.time < end; ) {
              world.hear('dfu', { rssi: -60, parent: G2 }, { ...other, device: G });
              world.run(every, 10 * S, [other]);
            }
          };
          updateFor(2 * MINUTE);
          assert.deepEqual(heads(), [`+dfu ${G}`, `+gateway-silent ${G}`]);
          updateFor(10 * MINUTE);
          assert.deepEqual(heads(), []);
          world.run(3 * MINUTE, 10 * S, [other]);
          assert.deepEqual(heads(), [`-dfu ${G}`]);
          world.run(MINUTE, 10 * S, [own, other]);
          assert.deepEqual(heads(), [`-gateway-silent ${G}`]);
        });
      }

      it('which leaves nothing to look after when it is over', () => {
        open({ conditions: ['dfu'], silentAfter: 0 });
        world.run(MINUTE, 5 * S, [OTHER]);
        update();
        world.run(HOUR, 30 * S, [OTHER]);
        assert.deepEqual(heads(), [`+dfu ${UPDATED.device}`, `-dfu ${UPDATED.device}`]);
        assert.deepEqual([world.timers, world.watches.isWaiting], [0, false]);
      });

      it('which lasts while it cannot be heard', () => {
        open({ conditions: ALL, silentAfter: 0 });
        world.run(20 * MINUTE, 30 * S, [{}, OTHER]);
        update();
        heads();
        world.listen(false);
        world.wait(10 * HOUR);
        world.listen(true);
        world.run(MINUTE, 30 * S, [{}, OTHER]);
        assert.deepEqual(heads(), []);
      });

      it('also over a restart, however often, and never silent after it', () => {
        open({ conditions: ALL, silentAfter: 0 });
        world.run(20 * MINUTE, 30 * S, [{}, OTHER]);
        update();
        for (let start = 0; start < 3; start++) {
          const stored: unknown = JSON.parse(JSON.stringify(world.watches.store(10_000)));
          world.startAnew();
          open({ conditions: ALL, silentAfter: 0 });
          world.watches.restore(stored);
          world.listen(true);
          world.watches.setPaused(false);
          world.run(5 * MINUTE, 30 * S, [{}, OTHER]);
        }
        assert.deepEqual(heads(), [`+dfu ${UPDATED.device}`]);
        world.run(3 * HOUR, 30 * S, [{}, OTHER]);
        assert.deepEqual(heads(), [`-dfu ${UPDATED.device}`]);
      });

      it('also of a gateway whose silence nobody watches', () => {
        open({ conditions: ['dfu'], silentAfter: 0 });
        world.run(20 * MINUTE, 30 * S, [{}, { gateway: G2 }]);
        for (let times = 0; times < 120; times++) {
          world.hear('dfu', { rssi: -60, parent: G }, { device: G2 });
          world.hear('rssi', { rssi: -60, parent: G }, { device: G2 });
          world.wait(10 * S);
        }
        assert.deepEqual(heads(), [`+dfu ${G2}`]);
        world.wait(15 * MINUTE);
        assert.deepEqual(heads(), [`-dfu ${G2}`]);
      });

      it('and is missed as before when its own address does not report any more', () => {
        open({ conditions: ALL, silentAfter: 0 });
        world.run(20 * MINUTE, 30 * S, [UPDATED, OTHER]);
        update();
        world.run(10 * MINUTE, 30 * S, [OTHER]);
        assert.deepEqual(heads().sort(), [
          `+dfu ${UPDATED.device}`,
          `+silent ${UPDATED.device}`,
          `-dfu ${UPDATED.device}`,
        ]);
      });
    });

    it('once, however often it is reported, and not when it comes and goes within five seconds', () => {
      open({ conditions: ALL });
      for (let i = 0; i < 20; i++) {
        battery(15);
        world.wait(S);
      }
      assert.deepEqual(heads(), [`+battery-low ${D}`]);
      battery(80);
      heads();
      for (let i = 0; i < 20; i++) {
        battery(i % 2 === 0 ? 15 : 80);
        world.wait(4 * S);
      }
      assert.deepEqual(heads(), []);
    });

    it('of errors from the first until the last of them is over: heartbeat and each property', () => {
      open({ conditions: ['error'] });
      const wait = () => {
        world.wait(6 * S);
        return heads();
      };
      world.hear('heartbeat', { status: 3 });
      assert.deepEqual(wait(), [`+error ${D}`]);
      world.hear('measurement-error/8800', { error: 1 });
      world.hear('measurement-error/8802', { error: 1 });
      world.hear('measurement/8800', { value: 20 });
      assert.deepEqual(wait(), []);
      assert.equal(world.watches.watch('n')?.active()[0]?.value, 1);
      world.hear('heartbeat', { status: 0 });
      assert.deepEqual(wait(), []);
      world.hear('measurement/8802', { value: 20 });
      assert.deepEqual(wait(), [`-error ${D}`]);
    });

    it('of a signal around its limit once, until it is 3 dB better', () => {
      open({ conditions: ['weak-signal'] });
      const hear = (rssi: number) => {
        world.hear('rssi', { rssi, parent: G });
        world.wait(MINUTE);
      };
      hear(-86);
      assert.deepEqual(heads(), [`+weak-signal ${D}`]);
      for (const rssi of [-84, -87, -85, -83]) {
        hear(rssi);
      }
      assert.deepEqual(heads(), []);
      hear(-82);
      assert.deepEqual(
        told.splice(0).map(({ active, value, limit }) => [active, value, limit]),
        [[false, -82, -85]],
      );
      hear(-84);
      assert.deepEqual(heads(), [], 'it is not weak before it is below the limit again');
    });

    it('of a battery around its limit once, until it has the level from which it is fine', () => {
      const hear = (value: unknown) => {
        world.hear('property/8100', { value });
        world.wait(MINUTE);
      };
      for (const [limits, levels, end] of [
        [{}, [20, 24, 19, 23], 25],
        [{ batteryFine: 40 }, [25, 39, 15], 40],
        [{ batteryBelow: 98 }, [98, 99, 97], 100],
      ] as const) {
        const watch = open({ conditions: ['battery-low'], ...limits });
        hear(3);
        assert.deepEqual(heads(), [`+battery-low ${D}`]);
        for (const value of levels) {
          hear(value);
        }
        assert.deepEqual(heads(), [], JSON.stringify(limits));
        hear(end);
        const { batteryBelow } = { ...SETTINGS, ...limits };
        assert.deepEqual(
          told.splice(0).map(({ active, value, limit }) => [active, value, limit]),
          [[false, end, batteryBelow]],
        );
        watch.close(false);
      }
    });

    it('by a level that a battery can have: none other begins or ends anything', () => {
      open({ conditions: ['battery-low'] });
      const all = (values: readonly unknown[]) => {
        for (const value of values) {
          world.hear('property/8100', { value });
          world.wait(MINUTE);
        }
      };
      const odd = [-1, 255, 101, null, undefined, 'low', '5', '99', false, [], Number.NaN];
      all(odd);
      assert.deepEqual(heads(), []);
      battery(10);
      world.hear('property/8100', { value: 255 });
      world.wait(MINUTE);
      assert.deepEqual([heads(), world.timers], [[], 0], 'it is not told before it is known again');
      all([10, ...odd]);
      assert.deepEqual(heads(), [`+battery-low ${D}`]);
      all([100]);
      assert.deepEqual(heads(), [`-battery-low ${D}`]);
    });

    it('only where it was asked for', () => {
      open({ conditions: ['battery-low'], batteryBelow: 10 });
      battery(15);
      world.hear('dfu', { rssi: -99, parent: G });
      world.wait(HOUR);
      assert.deepEqual(heads(), []);
      battery(9);
      world.wait(6 * S);
      assert.deepEqual(heads(), [`+battery-low ${D}`]);
    });
  });

  describe('names with a condition the gateway where it began', () => {
    const battery = (value: number, gateway: string) => world.hear('property/8100', { value }, { gateway });
    const places = () => told.splice(0).map(({ active, gateway }) => [active, gateway]);

    it('also where another one hears the device, as long as its own still does', () => {
      const watch = open({ conditions: ['battery-low'] });
      for (let i = 0; i < 100; i++) {
        battery(15, G);
        world.wait(20 * S);
        battery(15, G2);
        world.wait(20 * S);
      }
      assert.deepEqual(
        watch.active().map(({ gateway }) => gateway),
        [G],
      );
      battery(90, G2);
      assert.deepEqual(places(), [
        [true, G],
        [false, G],
      ]);
    });

    it('until its own has not heard it for the time of a silence, and then another one', () => {
      const watch = open({ conditions: ['battery-low'] });
      const now = () => watch.active().map(({ gateway }) => gateway);
      battery(15, G);
      world.wait(6 * S);
      for (const [wanted, ms] of [
        [G, 50 * S],
        [G2, 10 * S],
      ] as const) {
        world.wait(ms);
        battery(15, G2);
        assert.deepEqual(now(), [wanted]);
      }
      battery(15, G);
      assert.deepEqual(now(), [G2], 'who hears it again does not take it back');
      battery(90, G);
      assert.deepEqual(places(), [
        [true, G],
        [false, G2],
      ]);
    });

    it('of those that it watches, though another one has heard it last', () => {
      const watch = open({ conditions: ['battery-low', 'error'], gateways: [G] });
      battery(90, G);
      battery(15, G2);
      world.hear('heartbeat', { status: 3 }, { gateway: G2 });
      world.wait(6 * S);
      assert.deepEqual(
        watch.active().map(({ gateway }) => gateway),
        [G, G],
      );
    });

    it('and a time without the broker moves nothing', () => {
      const watch = open({ conditions: ['battery-low'] });
      battery(15, G);
      world.wait(6 * S);
      world.listen(false);
      world.wait(HOUR);
      world.listen(true);
      battery(15, G2);
      assert.equal(watch.active()[0]?.gateway, G);
    });

    it('over a deploy and a restart', () => {
      const settings = { conditions: ['battery-low'] } as const;
      let watch = open(settings);
      battery(15, G);
      world.wait(6 * S);
      battery(15, G2);
      watch.close(true);
      watch = open(settings);
      assert.equal(watch.active()[0]?.gateway, G);
      const stored = JSON.parse(JSON.stringify(world.watches.store(10))) as unknown;
      world.startAnew();
      world.listen(true);
      world.watches.setPaused(false);
      watch = open(settings);
      world.watches.restore(stored);
      assert.equal(watch.active()[0]?.gateway, G);
      battery(15, G2);
      assert.equal(watch.active()[0]?.gateway, G);
      world.wait(61 * S);
      battery(15, G2);
      assert.equal(watch.active()[0]?.gateway, G2);
    });
  });

  it('answers with what is active, the oldest first, and counts what needs somebody', () => {
    const watch = open({ conditions: ALL });
    world.hear('property/8100', { value: 10 }, OTHER);
    world.wait(6 * S);
    world.hear('heartbeat', { status: 3 });
    world.wait(S);
    world.hear('heartbeat', { status: 7 }, OTHER);
    assert.deepEqual(
      watch.counts,
      { watched: 3, active: 1 },
      'what holds for less than five seconds is not told',
    );
    world.wait(6 * S);
    const rows = watch.active().map(({ condition, device, active }) => [condition, device, active]);
    assert.deepEqual(rows, [
      ['battery-low', deviceAt(2), true],
      ['error', D, true],
      ['error', deviceAt(2), true],
    ]);
    assert.deepEqual(watch.counts, { watched: 3, active: 2 });
  });

  it('does not miss a forgotten gateway again because another one gets or loses the label', () => {
    const watch = open({ labels: ['floor'] });
    watch.setLabelled(new Set([G, G2]));
    watch.forget(G);
    watch.setLabelled(new Set([G, G2, deviceAt(9)]));
    watch.setLabelled(new Set([G]));
    world.wait(2 * MINUTE);
    assert.deepEqual(heads(), []);
    watch.setLabelled(new Set([]));
    watch.setLabelled(new Set([G]));
    world.wait(2 * MINUTE);
    assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
  });

  for (const [what, settings, id] of [
    ['device', { devices: [D], conditions: ['silent'] }, D],
    ['gateway', { gateways: [G], conditions: ['gateway-silent'] }, G],
  ] as [string, Partial<WatchSettings>, string][]) {
    it(`misses what was forgotten again after a deploy where it is listed: a ${what}`, () => {
      const watch = open(settings);
      const condition = settings.conditions?.[0];
      const others = () => world.run(2 * MINUTE, 10 * S, [{ gateway: G2, device: deviceAt(9) }]);
      others();
      assert.deepEqual(heads(), [`+${condition} ${id}`]);
      watch.forget(id);
      others();
      assert.deepEqual(heads(), [`-${condition} ${id}`]);
      watch.close(true);
      open(settings);
      others();
      assert.deepEqual(heads(), [`+${condition} ${id}`]);
    });
  }

  it('watches the gateways of a label from the start, and no more those that lose it', () => {
    const watch = open({ labels: ['floor'] });
    world.hear();
    assert.equal(watch.counts.watched, 0, 'nobody knows yet who carries it');
    watch.setLabelled(new Set([G, G2]));
    world.run(2 * MINUTE, 10 * S, [{}, OTHER, { gateway: 'a00000000001', device: deviceAt(5) }]);
    assert.deepEqual(heads(), [`+gateway-silent ${G2}`]);
    assert.deepEqual(watch.counts, { watched: 4, active: 1 });
    watch.setLabelled(new Set([G]));
    assert.deepEqual(heads(), [`-gateway-silent ${G2}`]);
    assert.deepEqual(watch.counts, { watched: 3, active: 0 });
  });

  it('takes no device for a gateway because it carries the label, whenever it is heard', () => {
    const [early, late, own] = [D, deviceAt(2), deviceAt(3)];
    const watch = open({ labels: ['floor'], conditions: ALL });
    world.hear();
    watch.setLabelled(new Set([G, early, late, deviceAt(4)]));
    for (const device of [early, late, own]) {
      world.hear('heartbeat', { status: 3 }, { device });
    }
    world.wait(10 * S);
    const error = told.map(({ condition, device, gateway }) => [condition, device, gateway]);
    assert.deepEqual(
      error.sort(),
      [early, late, own].map((device) => ['error', device, G]),
    );
    told = [];
    // Of one that was never heard nobody knows that it is none.
    assert.deepEqual(watch.counts, { watched: 5, active: 3 });
    world.run(2 * MINUTE, 10 * S, [{ device: own }]);
    assert.deepEqual(
      heads().sort(),
      [`+gateway-silent ${deviceAt(4)}`, `+silent ${early}`, `+silent ${late}`].sort(),
    );
    // It is no gateway, and no gateway of the label has heard it.
    world.hear('heartbeat', {}, { gateway: G2, device: deviceAt(4) });
    assert.deepEqual([heads(), watch.counts.watched], [[`-gateway-silent ${deviceAt(4)}`], 4]);
    // It is a gateway after all.
    world.hear('heartbeat', {}, { gateway: late, device: own });
    world.run(10 * S, S, [{ device: own }]);
    world.run(2 * MINUTE, 10 * S, [{ device: own }]);
    assert.deepEqual(
      heads().filter((one) => one.includes(late)),
      [`-silent ${late}`, `+gateway-silent ${late}`],
    );
  });

  describe('whose label comes back', () => {
    const HEARD = [OTHER, { device: deviceAt(3) }];
    /** Two gateways with the label; D and G2 die. */
    function openLabelled(settings: Partial<WatchSettings> = {}): OpenWatch {
      const watch = open({ labels: ['floor'], silentAfter: 0, ...settings });
      watch.setLabelled(new Set([G, G2]));
      world.run(HOUR, MINUTE, [...HEARD, {}, { device: deviceAt(9), gateway: G2 }]);
      world.run(HOUR, MINUTE, HEARD);
      assert.deepEqual(dead(), ALL_DEAD);
      return watch;
    }
    const dead = () => heads().sort();
    const ALL_DEAD = [`+gateway-silent ${G2}`, `+silent ${D}`, `+silent ${deviceAt(9)}`];

    it('misses again what was dead when it lost it, after the time of a silence', () => {
      const watch = openLabelled();
      watch.setLabelled(new Set());
      assert.deepEqual([dead().length, watch.counts], [3, { watched: 0, active: 0 }]);
      world.run(5 * MINUTE, MINUTE, HEARD);
      watch.setLabelled(new Set([G, G2]));
      assert.deepEqual(watch.counts, { watched: 6, active: 0 });
      world.run(2 * MINUTE, MINUTE, HEARD);
      assert.deepEqual(dead(), [], 'nobody was listened to in that time');
      world.run(3 * HOUR, MINUTE, HEARD);
      assert.deepEqual(dead(), ALL_DEAD);
    });

    it('also after a deploy', () => {
      const watch = openLabelled();
      watch.setLabelled(new Set());
      heads();
      watch.close(true);
      const again = open({ labels: ['floor'], silentAfter: 0 });
      again.setLabelled(new Set());
      again.setLabelled(new Set([G, G2]));
      world.run(3 * HOUR, MINUTE, HEARD);
      assert.deepEqual(dead(), ALL_DEAD);
    });

    it('but not what was forgotten meanwhile', () => {
      const watch = openLabelled();
      watch.setLabelled(new Set());
      heads();
      watch.forget(D);
      watch.setLabelled(new Set([G, G2]));
      world.run(3 * HOUR, MINUTE, HEARD);
      assert.deepEqual(
        dead(),
        ALL_DEAD.filter((one) => !one.includes(D)),
      );
    });

    it('and ends nothing of one that another gateway has brought meanwhile', () => {
      const watch = openLabelled();
      watch.setLabelled(new Set([G2]));
      heads();
      const ninth = { device: deviceAt(9), gateway: G2 };
      world.run(HOUR, MINUTE, [ninth, { ...OTHER, gateway: G2 }]);
      heads();
      world.run(6 * HOUR, MINUTE, [ninth]);
      assert.deepEqual(dead(), [`+silent ${OTHER.device}`]);
      watch.setLabelled(new Set([G, G2]));
      world.run(2 * MINUTE, MINUTE, [ninth]);
      assert.deepEqual([dead(), watch.counts], [[], { watched: 6, active: 1 }]);
    });

    it('and what has left takes up room, and gives way to what is new in its watch', () => {
      world = new World(100);
      const watch = open({ labels: ['floor'] });
      const hear = (gateway: string, first: number) => {
        for (let index = first; index < first + 50; index++) {
          world.hear('heartbeat', {}, { gateway, device: deviceAt(index) });
        }
      };
      const G3 = deviceAt(999);
      watch.setLabelled(new Set([G]));
      hear(G, 1);
      for (const [gateway, first] of [
        [G2, 100],
        [G3, 200],
      ] as const) {
        watch.setLabelled(new Set([gateway]));
        hear(gateway, first);
        assert.equal(watch.counts.watched, 51);
      }
      const other = open({}, 'other');
      hear(deviceAt(998), 300);
      assert.equal(other.counts.watched, 0, 'what has left counts towards the bound');
      watch.setLabelled(new Set([G, G2, G3]));
      assert.equal(watch.counts.watched, 100);
    });
  });

  it('watches what was forgotten as before when it is heard again, also where it is listed', () => {
    for (const devices of [[], [D]]) {
      world = new World();
      const watch = open({ devices, silentAfter: 0 });
      world.run(2 * MINUTE, 10 * S, [{}, OTHER]);
      watch.forget(D);
      world.run(2 * MINUTE, 10 * S, [OTHER]);
      assert.deepEqual(heads(), []);
      world.run(2 * MINUTE, 10 * S, [{}, OTHER]);
      world.run(2 * MINUTE, 10 * S, [OTHER]);
      assert.deepEqual(heads(), [`+silent ${D}`], devices.join());
    }
  });

  describe('goes on over a deploy', () => {
    it('telling nothing twice, and what has ended meanwhile', () => {
      const watch = open({ conditions: ALL });
      world.run(2 * MINUTE, 10 * S, [{}, OTHER]);
      world.hear('property/8100', { value: 10 }, OTHER);
      world.run(2 * MINUTE, 10 * S, [OTHER]);
      assert.deepEqual(heads(), [`+battery-low ${deviceAt(2)}`, `+silent ${D}`]);
      const { since } = watch.active()[1]!;
      watch.close(true);
      world.hear('property/8100', { value: 60 }, OTHER);
      const again = open({ conditions: ALL });
      world.run(MINUTE, 10 * S, [OTHER]);
      assert.deepEqual(heads(), [`-battery-low ${deviceAt(2)}`]);
      assert.deepEqual(
        again.active().map((one) => [one.device, one.since]),
        [[D, since]],
      );
      world.hear();
      assert.deepEqual(heads(), [`-silent ${D}`]);
    });

    it('with the time that a device was silent before it', () => {
      const watch = open();
      world.run(2 * MINUTE, 10 * S, [{}, OTHER]);
      world.run(50 * S, 10 * S, [OTHER]);
      watch.close(true);
      open();
      world.run(30 * S, 10 * S, [OTHER]);
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    it('also of the service, whose time without the broker does not count', () => {
      const watch = open();
      world.run(2 * MINUTE, 10 * S, [{}, OTHER]);
      world.run(40 * S, 10 * S, [OTHER]);
      const before = world.startAnew();
      world.network.takeOver(before.network);
      world.watches.takeOver(before.watches);
      watch.close(true);
      open();
      world.wait(HOUR);
      world.listen(true);
      world.watches.setPaused(false);
      world.run(MINUTE + 10 * S, 5 * S, [OTHER]);
      assert.deepEqual(heads(), []);
      world.run(30 * S, 5 * S, [OTHER]);
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    it('telling nothing while flows are replaced', () => {
      open({ devices: [D] });
      world.watches.setPaused(true);
      world.wait(HOUR);
      assert.deepEqual(heads(), []);
      world.watches.setPaused(false);
      world.wait(HOUR);
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    it('telling after it what the labels have ended, when somebody receives it', () => {
      const watch = open({ labels: ['floor'] });
      watch.setLabelled(new Set([G, G2]));
      world.run(2 * MINUTE, 10 * S, [{}, OTHER]);
      assert.deepEqual(heads(), [`+gateway-silent ${G2}`]);
      world.watches.setPaused(true);
      watch.close(true);
      const again = open({ labels: ['floor'] });
      again.setLabelled(new Set([G]));
      assert.deepEqual(heads(), []);
      world.watches.setPaused(false);
      assert.deepEqual([heads(), again.counts], [[`-gateway-silent ${G2}`], { watched: 3, active: 0 }]);
    });

    it('with the labels as they are when it ends, whatever a list lacked meanwhile', () => {
      const watch = open({ labels: ['floor'] });
      watch.setLabelled(new Set([G, G2]));
      world.run(2 * MINUTE, 10 * S, [{}, OTHER]);
      assert.deepEqual(heads(), [`+gateway-silent ${G2}`]);
      world.watches.setPaused(true);
      watch.setLabelled(new Set([G]));
      watch.setLabelled(new Set([G, G2]));
      world.watches.setPaused(false);
      world.takeTurns();
      assert.deepEqual([heads(), watch.counts], [[], { watched: 4, active: 1 }]);
    });

    it('and not when the node is gone', () => {
      const watch = open({ devices: [D] });
      world.wait(70 * S);
      assert.deepEqual(heads(), [`+silent ${D}`]);
      watch.close(false);
      assert.deepEqual([world.timers, open().counts], [0, { watched: 0, active: 0 }]);
    });

    it('ending the conditions that are not watched any more', () => {
      const watch = open({ conditions: ALL });
      world.hear('heartbeat', { status: 3 });
      world.wait(6 * S);
      heads();
      watch.close(true);
      const again = open();
      world.run(30 * S, 5 * S, [{}, OTHER]);
      assert.deepEqual([again.active(), again.counts.active, heads()], [[], 0, [`-error ${D}`]]);
    });
  });

  describe('goes on over a restart', () => {
    function restart(settings: Partial<WatchSettings> = {}) {
      const stored: unknown = JSON.parse(JSON.stringify(world.watches.store(10_000)));
      world.startAnew();
      world.wait(HOUR);
      const watch = open(settings);
      world.watches.restore(stored);
      world.listen(true);
      world.watches.setPaused(false);
      return watch;
    }

    it('with what was told and the usual intervals, telling nothing twice', () => {
      const others = [OTHER, { device: deviceAt(3) }];
      open({ conditions: ALL, silentAfter: 0 });
      world.run(10 * MINUTE, MINUTE, [{}, ...others]);
      world.hear('property/8100', { value: 10 }, OTHER);
      world.run(5 * MINUTE, MINUTE, others);
      assert.deepEqual(heads(), [`+battery-low ${deviceAt(2)}`, `+silent ${D}`]);
      const watch = restart({ conditions: ALL, silentAfter: 0 });
      world.run(10 * MINUTE, MINUTE, [OTHER]);
      assert.deepEqual(heads(), [`+silent ${deviceAt(3)}`]);
      const active = watch.active().map(({ condition, device }) => `${condition} ${device}`);
      assert.deepEqual(active.sort(), [`battery-low ${deviceAt(2)}`, `silent ${D}`, `silent ${deviceAt(3)}`]);
    });

    it('has a store hold soon what is told, and what has ended', () => {
      open({ conditions: ['battery-low'] });
      const told: string[] = [];
      world.watches.onTold = () => told.push(heads().join());
      for (const value of [10, 60]) {
        world.hear('property/8100', { value }, OTHER);
        world.run(MINUTE, 10 * S, [OTHER]);
      }
      assert.equal(told.length, 2);
    });

    it('also of what was known to come often only after a while, whatever is watched', () => {
      for (const conditions of [['silent'], ['silent', 'battery-low']] as Condition[][]) {
        world = new World();
        open({ conditions, silentAfter: 0 });
        world.run(MINUTE, 2 * MINUTE, [{}]);
        let changes = 0;
        world.watches.onChange = () => changes++;
        world.run(HOUR, 2 * MINUTE, [{}]);
        assert.equal(changes, 2, `of the device and its gateway: ${conditions.join()}`);
      }
    });

    it('also where its interval has grown since, and with it what a store must hold', () => {
      open({ conditions: ['silent'], silentAfter: 0 });
      world.run(MINUTE, 10 * S, [{}]);
      let stored = world.watches.store(1_000);
      world.watches.onChange = () => {
        stored = world.watches.store(1_000);
      };
      for (const minutes of [1, 2, 5, 10, 20]) {
        world.run(3 * minutes * MINUTE, minutes * MINUTE, [{}]);
        const [{ interval = 0 } = {}] = Object.values(stored).flat();
        assert.ok(interval >= minutes * 45 * S, `${minutes}: ${interval}`);
      }
      world.watches.onChange = () => assert.fail('nothing has changed');
      world.run(6 * HOUR, 20 * MINUTE, [{}]);
      world.run(6 * HOUR, 10 * S, [{}]);
    });

    it('tells what has ended meanwhile, and no end of what nobody knows yet', () => {
      open({ conditions: ALL });
      world.run(2 * MINUTE, 10 * S, [{}, OTHER]);
      world.hear('property/8100', { value: 10 }, OTHER);
      world.hear('measurement-error/8800', { error: 3 }, OTHER);
      world.run(2 * MINUTE, 10 * S, [OTHER]);
      heads();
      const watch = restart({ conditions: ALL });
      assert.deepEqual(watch.counts, { watched: 3, active: 2 });
      world.run(30 * S, 10 * S, [OTHER]);
      world.hear('measurement/8802', { value: 1 }, OTHER);
      assert.deepEqual(heads(), []);
      world.hear('property/8100', { value: 90 }, OTHER);
      world.hear('measurement/8800', { value: 1 }, OTHER);
      world.hear();
      assert.deepEqual(heads(), [`-battery-low ${deviceAt(2)}`, `-error ${deviceAt(2)}`, `-silent ${D}`]);
      assert.equal(watch.counts.active, 0);
    });

    it('and not with what was forgotten', () => {
      const watch = open({ silentAfter: 0 });
      world.run(10 * MINUTE, 30 * S, [{}, OTHER]);
      world.run(5 * MINUTE, 30 * S, [OTHER]);
      watch.forget(D);
      watch.forget(deviceAt(9));
      assert.deepEqual(heads(), [`+silent ${D}`, `-silent ${D}`]);
      assert.deepEqual(watch.counts, { watched: 2, active: 0 });
      restart({ silentAfter: 0 });
      world.run(3 * HOUR, 30 * S, [OTHER]);
      assert.deepEqual(heads(), []);
    });

    for (const settings of [{ gateways: [G] }, { labels: ['floor'] }]) {
      const label = (watch: OpenWatch) => 'labels' in settings && watch.setLabelled(new Set([G]));
      const others = [OTHER, { gateway: G2, device: deviceAt(3) }];
      /** Heard by both, by the one that is none of the watch last. */
      function byBoth(): void {
        for (let i = 0; i < 5; i++) {
          world.hear();
          world.wait(1);
          world.hear('heartbeat', {}, { gateway: G2 });
          world.run(10 * S, 5 * S, others);
        }
      }

      it(`with what a gateway outside of its ${Object.keys(settings).join()} heard last`, () => {
        label(open(settings));
        byBoth();
        label(restart(settings));
        world.run(3 * MINUTE, 5 * S, others);
        assert.deepEqual(heads(), [`+silent ${D}`], 'it has died with the restart');
        const watch = restart(settings);
        label(watch);
        assert.equal(watch.active().length, 1);
        world.run(MINUTE, 5 * S, others);
        assert.deepEqual(heads(), []);
        world.hear('heartbeat', {}, { gateway: G2 });
        assert.deepEqual(heads(), [`-silent ${D}`]);
      });
    }

    it('with the error of a gateway whose silence nobody watches', () => {
      const settings = { conditions: ['error'] } as const;
      const own = { device: G };
      open(settings);
      world.hear('heartbeat', { status: 5 }, own);
      world.wait(6 * S);
      assert.deepEqual(heads(), [`+error ${G}`]);
      assert.equal(restart(settings).active().length, 1);
      world.hear('heartbeat', { status: 5 }, own);
      world.wait(6 * S);
      assert.deepEqual(heads(), []);
      restart(settings);
      world.hear('heartbeat', { status: 0 }, own);
      assert.deepEqual(heads(), [`-error ${G}`]);
    });

    it('with errors that end one by one, by name or by hex id', () => {
      open({ conditions: ['error'] });
      world.hear('heartbeat', { status: 3 });
      world.hear('measurement-error/8800', { error: 1 });
      world.wait(6 * S);
      world.hear('measurement-error/8802', { error: 2 });
      assert.deepEqual(heads(), [`+error ${D}`]);
      restart({ conditions: ['error'] });
      world.hear('measurement-decoded/temperature', { value: 20 });
      // A new one, which is over before those of before the start.
      world.hear('measurement-error/8803', { error: 2 });
      world.wait(6 * S);
      world.hear('measurement/8803', { value: 20 });
      world.hear('heartbeat', { status: 0 });
      world.wait(6 * S);
      assert.deepEqual(heads(), []);
      restart({ conditions: ['error'] });
      world.hear('heartbeat', { status: 0 });
      world.wait(6 * S);
      assert.deepEqual(heads(), []);
      world.hear('measurement-decoded/humidity', { value: 20 });
      assert.deepEqual(heads(), [`-error ${D}`]);
    });

    it('with the errors that only late samples have followed: they say nothing of now', () => {
      open({ conditions: ['error'] });
      world.hear('timestamped-decoded/temperature', { errorCode: 7, value: null });
      world.wait(6 * S);
      assert.deepEqual(heads(), [`+error ${D}`]);
      restart({ conditions: ['error'] });
      world.hear('timestamped-decoded/temperature', { errorCode: null, value: 20, backfill: true });
      world.wait(6 * S);
      assert.deepEqual(heads(), []);
      world.hear('timestamped-decoded/temperature', { errorCode: null, value: 20, backfill: false });
      assert.deepEqual(heads(), [`-error ${D}`]);
    });

    it('with an error that began anew before the store was read, and ends with those in it', () => {
      open({ conditions: ['error'] });
      world.hear('measurement-error/8800', { error: 1 });
      world.wait(6 * S);
      assert.deepEqual(heads(), [`+error ${D}`]);
      const stored: unknown = JSON.parse(JSON.stringify(world.watches.store(10_000)));
      world.startAnew();
      open({ conditions: ['error'] });
      world.listen(true);
      world.watches.setPaused(false);
      world.hear('measurement-error/8802', { error: 1 });
      world.watches.restore(stored);
      world.wait(6 * S);
      world.hear('measurement/8802', { value: 1 });
      assert.deepEqual(heads(), []);
      world.hear('measurement/8800', { value: 1 });
      assert.deepEqual(heads(), [`-error ${D}`]);
    });

    it('and misses who was heard before and is not any more, but not for a gateway that is not there', () => {
      open({ silentAfter: 0 });
      world.run(15 * MINUTE, MINUTE, [
        {},
        OTHER,
        { gateway: G2, device: deviceAt(8) },
        { gateway: G2, device: deviceAt(9) },
      ]);
      restart({ silentAfter: 0 });
      assert.deepEqual(heads(), []);
      world.run(5 * MINUTE, 30 * S, [OTHER]);
      assert.deepEqual(heads().sort(), [`+gateway-silent ${G2}`, `+silent ${D}`]);
    });

    it('and gives devices their time anew when their gateway comes back long after it', () => {
      const all = Array.from({ length: 20 }, (_, i) => ({ device: deviceAt(i + 1) }));
      open({ silentAfter: 0 });
      world.run(15 * MINUTE, MINUTE, all);
      restart({ silentAfter: 0 });
      world.wait(30 * MINUTE);
      assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
      for (const one of all) {
        world.hear('heartbeat', {}, one);
        world.wait(3 * S);
      }
      assert.deepEqual(heads(), [`-gateway-silent ${G}`]);
      world.run(5 * MINUTE, MINUTE, all.slice(1));
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    it('and tells a death in time, also when each process is over before', () => {
      const settings = { silentAfter: 24 * 3_600 };
      open(settings);
      world.run(HOUR, MINUTE, [{}, OTHER]);
      for (let times = 0; times < 3; times++) {
        world.run(7 * HOUR, MINUTE, [OTHER]);
        assert.deepEqual(heads(), []);
        restart(settings);
      }
      world.run(4 * HOUR, MINUTE, [OTHER]);
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    it('and tells a death also where Node-RED starts more often than its device reports', () => {
      for (const silentAfter of [0, 3_000]) {
        world = new World();
        const settings = { silentAfter };
        open(settings);
        world.run(5 * HOUR, 20 * MINUTE, [{}]);
        const others = { every: MINUTE, devices: [OTHER] };
        world.run(HOUR, others.every, [{}, OTHER]);
        for (let times = 0; times < 12; times++) {
          world.run(15 * MINUTE, others.every, others.devices);
          restart(settings);
        }
        assert.deepEqual(heads(), [`+silent ${D}`]);
      }
    });

    it('and tells a death in time where a second device of its gateway comes late', () => {
      const settings = { silentAfter: 3_000 };
      const seldom = { device: deviceAt(3) };
      open(settings);
      for (let times = 0; times < 6; times++) {
        world.run(45 * MINUTE, 5 * MINUTE, [{}, OTHER]);
        world.hear('heartbeat', {}, seldom);
      }
      restart(settings);
      world.run(40 * MINUTE, 5 * MINUTE, [OTHER]);
      world.hear('heartbeat', {}, seldom);
      world.run(30 * MINUTE, 5 * MINUTE, [OTHER]);
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    it('and takes nobody for silent who comes as often as ever, however often Node-RED starts', () => {
      const all = Array.from({ length: 8 }, (_, i) => ({ device: deviceAt(i + 1) }));
      open({ silentAfter: 0 });
      // Each comes every 16 minutes.
      for (let times = 0; times < 80; times++) {
        world.hear('heartbeat', {}, all[times % 8]);
        world.wait(2 * MINUTE);
        if (times > 40 && times % 7 === 0) {
          restart({ silentAfter: 0 });
        }
      }
      assert.deepEqual(heads(), []);
    });

    it('as soon as without one where a gateway has few devices, whether or not its own silence is watched', () => {
      const all = Array.from({ length: 4 }, (_, i) => ({ device: deviceAt(i + 1) }));
      for (const conditions of [['silent', 'gateway-silent'], ['silent']] as Condition[][]) {
        world = new World();
        open({ conditions, silentAfter: 0 });
        // Each comes every 20 minutes, until one dies.
        const hear = (times: number) => {
          if (times < 120 || times % 4 > 0) {
            world.hear('heartbeat', {}, all[times % 4]);
          }
          world.wait(5 * MINUTE);
        };
        for (let times = 0; times < 134; times++) {
          if ([122, 124, 126, 128].includes(times)) {
            restart({ conditions, silentAfter: 0 });
          }
          hear(times);
        }
        assert.deepEqual(heads(), [`+silent ${D}`], conditions.join());
      }
    });

    it('with the interval of a gateway whose silence nobody watches, stored as soon as it is known', () => {
      const all = Array.from({ length: 2 }, (_, i) => ({ device: deviceAt(i + 1) }));
      const settings: Partial<WatchSettings> = { conditions: ['silent'], silentAfter: 0 };
      const intervals = () =>
        Object.values(world.watches.store(1_000))
          .flat()
          .map(({ gatewayInterval = 0 }) => Math.round(gatewayInterval / MINUTE));
      let stored: number[] = [];
      open(settings);
      world.watches.onChange = () => {
        stored = intervals();
      };
      world.run(3 * HOUR, 10 * MINUTE, all);
      assert.deepEqual(stored, [10, 10]);
      // What the first reports after a start show is less.
      restart(settings);
      world.run(HOUR, 2 * MINUTE, all);
      assert.deepEqual(intervals(), [10, 10]);
    });

    it('and with the interval of a gateway that was silent: it is back once, not with each report', () => {
      const all = Array.from({ length: 4 }, (_, i) => ({ device: deviceAt(i + 1) }));
      const run = (reports: number, one: (times: number) => object | undefined) => {
        for (let times = 0; times < reports; times++) {
          const from = one(times);
          if (from) {
            world.hear('heartbeat', {}, from);
          }
          world.wait(5 * MINUTE);
        }
      };
      open({ silentAfter: 0 });
      // Each comes every 20 minutes.
      run(120, (times) => all[times % 4]);
      world.wait(HOUR);
      assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
      restart({ silentAfter: 0 });
      run(15, (times) => (times % 4 > 0 ? all[times % 4] : undefined));
      assert.deepEqual(heads(), [`-gateway-silent ${G}`, `+silent ${D}`]);
    });

    it('and gives devices their time anew with a gateway that was silent before, and is back at once', () => {
      const all = Array.from({ length: 20 }, (_, i) => ({ device: deviceAt(i + 1) }));
      open({ silentAfter: 0 });
      world.run(15 * MINUTE, MINUTE, all);
      world.run(2 * MINUTE, MINUTE, all.slice(1));
      world.wait(10 * MINUTE);
      restart({ silentAfter: 0 });
      assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
      world.run(2 * MINUTE, MINUTE, all.slice(1));
      assert.deepEqual(heads(), [`-gateway-silent ${G}`]);
      world.run(3 * MINUTE, MINUTE, all.slice(1));
      assert.deepEqual(heads(), [`+silent ${D}`]);
    });

    it('as long as somebody was silent, whatever stands there for it', () => {
      for (const [silent, isTold] of [
        [30 * MINUTE, true],
        [Number.MAX_VALUE, true],
        [-HOUR, false],
        ['x', false],
        [undefined, false],
      ] as const) {
        const watch = open({ silentAfter: 60 * 60 });
        const interval = MINUTE;
        const entries = [D, OTHER.device].map((id) => ({ id, kind: 'device', gateway: G, interval }));
        world.watches.restore({ n: [{ ...entries[0], silent }, entries[1]] });
        world.run(40 * MINUTE, MINUTE, [OTHER]);
        assert.deepEqual(heads(), isTold ? [`+silent ${D}`] : [], `${silent}`);
        watch.close(false);
        world.startAnew();
        world.listen(true);
        world.watches.setPaused(false);
      }
    });

    it('with what somebody else has written into the store', () => {
      open({ devices: [D] });
      const active = [
        { condition: 'silent', since: 7 },
        { condition: 'x', since: TIME },
        5,
        { condition: 'dfu', since: 'never' },
      ];
      for (const stored of [
        null,
        7,
        { n: 7 },
        {
          n: [
            {
              id: D,
              kind: 'device',
              active: [{ condition: 'error', since: TIME, errors: ['x'.repeat(201), 7] }],
            },
          ],
        },
        { n: [null, 7, { id: 'x' }, { id: D, kind: 'device', active, interval: 'x', gateway: {} }] },
      ]) {
        world.watches.restore(stored);
      }
      assert.deepEqual(world.watches.watch('n')?.active(), []);
      assert.equal(world.watches.watch('n')?.counts.watched, 1);
    });

    it('of so many devices at most, first of those that need somebody', () => {
      open();
      world.run(2 * MINUTE, 10 * S, [{}, OTHER, { device: deviceAt(3) }]);
      world.run(2 * MINUTE, 10 * S, [{}, OTHER]);
      const { n = [] } = world.watches.store(2);
      assert.deepEqual([n.length, n[0]?.id], [2, deviceAt(3)]);
    });
  });

  describe('costs little', () => {
    it('no timer while nothing can change, however many watch', () => {
      for (let i = 0; i < 100; i++) {
        open({}, `n${i}`);
      }
      assert.equal(world.timers, 0);
      world.hear();
      world.wait(0);
      assert.equal(world.timers, 1, 'one for all of them');
      world.wait(HOUR);
      assert.equal(world.timers, 0);
    });

    it('no timer while the broker refuses all that could be silent, over a deploy too, until it grants that', () => {
      let watch = open({ devices: [D] });
      world.refused.add(D);
      world.settle();
      for (let times = 0; times < 2; times++) {
        world.wait(3 * MINUTE);
        assert.equal(world.timers, 0);
        watch.close(true);
        watch = open({ devices: [D] });
        assert.equal(world.timers, 1);
      }
      world.wait(3 * MINUTE);
      world.refused.clear();
      world.settle();
      world.wait(MINUTE);
      assert.deepEqual(heads(), []);
      world.wait(6 * S);
      assert.deepEqual([heads(), world.timers], [[`+silent ${D}`], 0]);
    });

    it('no look after look at a gateway in update mode, while nobody is there who could hear it', () => {
      open({ conditions: [...SETTINGS.conditions, 'dfu'], silentAfter: 0 });
      world.hear('heartbeat', {}, { gateway: G2, device: X });
      world.run(HOUR, MINUTE, [{}, OTHER]);
      world.hear('dfu', {}, { device: G2 });
      world.run(MINUTE, MINUTE, [{}, OTHER]);
      world.wait(HOUR);
      assert.deepEqual(heads(), [`+dfu ${G2}`, `+gateway-silent ${G}`]);
      const { looks } = world;
      world.wait(24 * HOUR);
      assert.ok(world.looks - looks < 24, `${world.looks - looks}`);
      world.run(HOUR, MINUTE, [{}, OTHER]);
      assert.deepEqual(heads(), [`-gateway-silent ${G}`, `-dfu ${G2}`]);
    });

    it('no look after look at such a gateway either while the broker refuses what it brings', () => {
      open({ conditions: [...SETTINGS.conditions, 'dfu'] });
      world.run(MINUTE, 10 * S, [{}, OTHER, { gateway: G2, device: X }]);
      world.refused.add(G2);
      world.settle();
      world.hear('dfu', {}, { device: G2 });
      world.run(10 * MINUTE, 10 * S, [{}, OTHER]);
      // Others have heard it, and would.
      assert.ok(heads().includes(`-dfu ${G2}`));
      world.wait(HOUR);
      const { looks } = world;
      world.wait(24 * HOUR);
      assert.ok(world.looks - looks < 24, `${world.looks - looks}`);
    });

    it('no timer when the last that could be silent is forgotten', () => {
      const watch = open();
      world.run(MINUTE, 10 * S, [{}]);
      watch.forget(D);
      assert.equal(world.timers, 1);
      watch.forget(G);
      assert.equal(world.timers, 0);
    });

    itAtScale(
      'a message for each of 20 000 devices that are silent at once, in their order, in many turns',
      () => {
        open();
        const devices = Array.from({ length: 20_000 }, (_, i) => ({ device: deviceAt(100 + i) }));
        world.run(2 * S, S, devices);
        world.run(70 * S, 10 * S, [OTHER]);
        assert.deepEqual(
          told.map(({ device }) => device),
          devices.map(({ device }) => device),
        );
        assert.ok(world.turns >= 199, `${world.turns}`);
        assert.deepEqual(world.watches.watch('n')?.counts, { watched: 20_002, active: 20_000 });
      },
    );

    it('no more memory than for its bound in a flood of new devices, and keeps who was there', () => {
      for (const conditions of [SETTINGS.conditions, ALL]) {
        world = new World(1_000);
        const watch = open({ conditions, silentAfter: 0 });
        world.run(MINUTE, 5 * S, [{}, OTHER]);
        for (let i = 0; i < 5_000; i++) {
          world.hear('heartbeat', {}, { device: deviceAt(1_000 + i) });
        }
        assert.equal(watch.counts.watched, 1_000);
        world.run(2 * MINUTE, 5 * S, [OTHER]);
        assert.deepEqual(heads(), [`+silent ${D}`]);
      }
    });

    it('no place for good of those that need somebody, were heard a few times and are expected by nobody', () => {
      world = new World(100);
      const watch = open({ conditions: ['weak-signal', 'silent'], silentAfter: 0 });
      const near = [deviceAt(1), deviceAt(2), deviceAt(3)];
      const pass = (rssi: number, devices: readonly string[]) => {
        for (const device of devices) {
          world.hear('rssi', { rssi }, { device });
        }
      };
      const far = Array.from({ length: 97 }, (_, i) => deviceAt(100 + i));
      const [first = '', second = '', third = ''] = far;
      pass(-50, near);
      pass(-100, far);
      world.wait(10 * S);
      assert.equal(heads().length, 97);
      pass(-50, [second]);
      assert.deepEqual(heads(), [`-weak-signal ${second}`]);
      pass(-50, [deviceAt(4), deviceAt(5), deviceAt(6), deviceAt(7)]);
      assert.deepEqual(heads(), [], 'those go first that need nobody');
      const late = Array.from({ length: 97 }, (_, i) => deviceAt(300 + i));
      pass(-100, late.slice(0, 4));
      world.wait(10 * S);
      assert.deepEqual(
        heads(),
        late.slice(0, 4).map((device) => `+weak-signal ${device}`),
      );
      world.run(2 * MINUTE, 5 * S, [{}]);
      assert.deepEqual(heads(), [`-weak-signal ${first}`], 'then those that need somebody for longest');
      world.run(2 * MINUTE, 5 * S, [OTHER]);
      assert.deepEqual(heads(), [`-weak-signal ${third}`, `+silent ${D}`]);
      assert.equal(watch.counts.watched, 100);
    });

    itAtScale('no more for a report of a new address where all that passed by need somebody', () => {
      world = new World(100_000);
      open({ conditions: ['weak-signal'] });
      for (let i = 0; i < 100_000; i++) {
        world.hear('rssi', { rssi: -100 }, { device: deviceAt(100 + i) });
      }
      const startedAt = performance.now();
      for (let i = 0; i < 10_000; i++) {
        world.hear('rssi', { rssi: -100 }, { device: deviceAt(200_000 + i) });
      }
      const ms = performance.now() - startedAt;
      assert.ok(ms < 5_000, `${ms.toFixed(0)} ms`);
    });
  });
});
