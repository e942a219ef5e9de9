// What a watch knows over deploys that take long, or that leave it invalid for a while.
import assert from 'node:assert/strict';
import type { OpenWatch } from '../../src/network/device-watches.ts';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import { readReportTopic } from '../../src/protocol/reports/index.ts';
import { D, deviceAt, G, G2, HOUR, MINUTE, S, SETTINGS, World } from './watched-world.ts';

const OTHER = { device: deviceAt(2) };
const LIVING = [{ device: deviceAt(3) }, { device: deviceAt(4) }];
const NAME = 'n';

describe('what a watch has told', () => {
  let world: World;
  let watch: OpenWatch;
  let told: string[];

  beforeEach(() => {
    world = new World();
    told = [];
    open();
    world.run(HOUR, MINUTE, [{}, OTHER, ...LIVING]);
    world.run(30 * MINUTE, MINUTE, [OTHER, ...LIVING]);
    assert.deepEqual(heads(), [`+silent ${D}`]);
  });

  function open(settings: Partial<WatchSettings> = {}, name = NAME): OpenWatch {
    watch = world.watches.open(
      name,
      { ...SETTINGS, silentAfter: 0, ...settings },
      {
        changed: ({ condition, active, device }) =>
          void told.push(`${active ? '+' : '-'}${condition} ${device}`),
        counted() {},
        full() {},
        follow() {},
      },
    );
    return watch;
  }

  const heads = () => told.splice(0);
  const isThere = (owner: string) => owner === NAME;
  const stored = () => JSON.parse(JSON.stringify(world.watches.store(100))) as Record<string, unknown[]>;

  function stop(): void {
    world.watches.setPaused(true);
    watch.close(true);
  }

  /** The flows run, without the watch. */
  function leaveInvalid(ms: number): void {
    stop();
    world.watches.setPaused(false, isThere);
    world.wait(ms);
    world.watches.setPaused(true);
  }

  const DEPLOYS: Record<string, () => void> = {
    'that takes longer than reports wait': () => {
      stop();
      world.wait(20 * S);
      world.watches.setPaused(false, () => true);
      world.wait(3 * S);
    },
    'that leaves it invalid, until it is mended': () => leaveInvalid(MINUTE),
  };
  for (const [deploy, begin] of Object.entries(DEPLOYS)) {
    describe(`goes on over a deploy ${deploy}`, () => {
      beforeEach(() => {
        begin();
        open();
        world.watches.setPaused(false, isThere);
      });

      it('and ends when that is over', () => {
        assert.deepEqual(watch.counts, { watched: 5, active: 1 });
        world.run(MINUTE, 10 * S, [{}, OTHER, ...LIVING]);
        assert.deepEqual(heads(), [`-silent ${D}`]);
      });

      it('and a death meanwhile is told', () => {
        world.run(10 * MINUTE, MINUTE, LIVING);
        assert.deepEqual(heads(), [`+silent ${OTHER.device}`]);
      });
    });
  }

  it('makes nobody silent whom the invalid watch has not heard', () => {
    leaveInvalid(6 * HOUR);
    open();
    world.watches.setPaused(false, isThere);
    world.run(2 * MINUTE, MINUTE, [OTHER, ...LIVING]);
    assert.deepEqual(heads(), []);
    world.wait(10 * MINUTE);
    assert.deepEqual(heads(), [`+gateway-silent ${G}`]);
  });

  it('makes nobody silent either where another watch goes on meanwhile, also over a restart', () => {
    stop();
    const devices = LIVING.map(({ device }) => device);
    open({ devices }, 'beside');
    world.watches.setPaused(false, isThere);
    world.run(6 * HOUR, MINUTE, LIVING);
    const before = stored();
    world.watches.setPaused(true);
    open();
    world.watches.setPaused(false, isThere);
    world.run(2 * MINUTE, MINUTE, LIVING);
    assert.deepEqual(heads(), []);
    world.run(3 * MINUTE, MINUTE, LIVING);
    assert.deepEqual(heads(), [`+silent ${OTHER.device}`]);
    const silent = before[NAME]?.filter((one) => (one as { silent?: number }).silent !== undefined);
    assert.deepEqual(silent, []);
  });

  it('stays in the store while the watch is invalid', () => {
    assert.equal(world.watches.areUsed, true);
    leaveInvalid(MINUTE);
    assert.deepEqual([stored()[NAME]?.length, world.watches.areUsed], [5, true]);
  });

  it('is forgotten with its node, also after a deploy', () => {
    stop();
    open();
    world.watches.setPaused(false, isThere);
    let changes = 0;
    world.watches.onChange = () => changes++;
    watch.close(false);
    assert.deepEqual([stored(), world.watches.areUsed, changes], [{}, false, 1]);
  });

  it('is forgotten where flows run without saying whose node may come back', () => {
    stop();
    world.watches.setPaused(false);
    assert.deepEqual(stored(), {});
  });

  it('goes on in the watch that has taken the place of another one, whenever that ends', () => {
    const before = watch;
    open();
    before.close(false);
    world.run(MINUTE, 10 * S, [{}, OTHER, ...LIVING]);
    assert.equal(world.watches.watch(NAME)?.counts.watched, 5);
    assert.equal(watch.counts.watched, 5, 'it hears what comes');
  });

  it('ends also with a report whose content nobody has asked for', () => {
    world.network.record(readReportTopic('t', G, D, 'heartbeat'), world.time);
    world.wait(MINUTE);
    assert.deepEqual(heads(), [`-silent ${D}`]);
  });

  it('goes on when another watch ends', () => {
    open({}, 'beside').close(false);
    world.run(MINUTE, 10 * S, [{}, OTHER, ...LIVING]);
    assert.deepEqual(heads(), [`-silent ${D}`]);
  });

  it('takes up room until the watch comes back', () => {
    world = new World(7);
    open();
    world.run(10 * MINUTE, MINUTE, [{}, OTHER, ...LIVING]);
    stop();
    open({}, 'beside');
    world.watches.setPaused(false, isThere);
    world.run(10 * MINUTE, MINUTE, [{}, OTHER, ...LIVING]);
    assert.equal(watch.counts.watched, 2);
  });

  it('takes up room also where its gateways have lost their label', () => {
    world = new World(7);
    open({ labels: ['floor'] }).setLabelled(new Set([G]));
    world.run(10 * MINUTE, MINUTE, [{}, OTHER]);
    watch.setLabelled(new Set([]));
    stop();
    open({}, 'beside');
    world.watches.setPaused(false, isThere);
    world.run(
      10 * MINUTE,
      MINUTE,
      [1, 2, 3, 4, 5, 6].map((i) => ({ device: deviceAt(i) })),
    );
    assert.equal(watch.counts.watched, 4);
  });

  it('takes up no room any more where a deploy has taken it off the list', () => {
    world = new World(2);
    open({ devices: [D] });
    stop();
    open({ devices: [OTHER.device] });
    world.watches.setPaused(false, isThere);
    assert.equal(open({ devices: [deviceAt(3)] }, 'beside').counts.watched, 1);
  });

  it('goes on in another session, with what a store holds of watches that are not there yet', () => {
    const before = stored();
    world.startAnew();
    world.watches.restore(before);
    const last = world.startAnew();
    world.watches.takeOver(last.watches);
    assert.deepEqual(stored(), before);
  });

  it('has room in a store beside what waits there, which may be anything', () => {
    const before = stored();
    world.watches.setPaused(true);
    world.watches.restore({ later: before[NAME], text: 'text', nothing: null });
    const names = (max: number) =>
      Object.entries(world.watches.store(max)).map(([name, all]) => [name, all.length]);
    assert.deepEqual(names(7), [
      ['later', 5],
      [NAME, 2],
    ]);
    assert.deepEqual(names(100), [
      ['later', 5],
      [NAME, 5],
    ]);
  });

  it('is answered as far as somebody asks for', () => {
    assert.deepEqual(watch.firstActive(10), { rows: watch.active(), total: 1 });
    assert.deepEqual(watch.firstActive(0), { rows: [], total: 1 });
  });

  it('stays there also where the watch is invalid from the start on', () => {
    const before = stored();
    world.startAnew();
    world.watches.restore(before);
    world.listen(true);
    world.watches.setPaused(false, isThere);
    assert.deepEqual(stored(), before);
    world.watches.setPaused(true);
    open();
    world.watches.setPaused(false, isThere);
    world.run(MINUTE, 10 * S, [{}, OTHER, ...LIVING]);
    assert.deepEqual(heads(), [`-silent ${D}`]);
  });

  it('and is forgotten when the invalid watch is removed', () => {
    leaveInvalid(MINUTE);
    world.watches.setPaused(false, () => false);
    assert.deepEqual([stored(), world.watches.areUsed], [{}, false]);
    open();
    assert.deepEqual(watch.counts, { watched: 0, active: 0 });
  });

  it('and so is what a store holds of one that there is not any more, whenever that is read', () => {
    const before = stored();
    for (const isLate of [false, true]) {
      world.startAnew();
      if (!isLate) {
        world.watches.restore(before);
      }
      world.watches.setPaused(false, () => false);
      if (isLate) {
        world.watches.restore(before);
      }
      assert.deepEqual(stored(), {});
    }
  });

  const NARROWER: Record<string, Partial<WatchSettings>> = {
    'a condition': { conditions: ['gateway-silent'] },
    'a device': { devices: [OTHER.device] },
    'a gateway': { gateways: [G2] },
  };
  for (const [what, settings] of Object.entries(NARROWER)) {
    it(`ends with a deploy that takes away ${what}, once flows run, however many deploys that takes`, () => {
      stop();
      open(settings);
      watch.close(true);
      open(settings);
      assert.deepEqual([heads(), watch.active()], [[], []]);
      world.watches.setPaused(false, isThere);
      assert.deepEqual(heads(), [`-silent ${D}`]);
      stop();
      open(settings);
      world.watches.setPaused(false, isThere);
      world.run(MINUTE, 10 * S, [{}, OTHER, ...LIVING]);
      assert.deepEqual(heads(), []);
    });

    it(`ends so, too, where that is in a flow that is disabled until a later deploy: ${what}`, () => {
      stop();
      open(settings);
      watch.close(true);
      world.watches.setPaused(false, isThere);
      world.watches.setPaused(true);
      open(settings);
      world.watches.setPaused(false, isThere);
      assert.deepEqual(heads(), [`-silent ${D}`]);
    });
  }

  it('ends with a deploy that takes a device off the list of which nothing was ever heard, and names gateways', () => {
    for (const settings of [{ gateways: [G] }, { labels: ['L'] }]) {
      open({ devices: [deviceAt(9)], silentAfter: 60 }, 'beside');
      world.wait(2 * MINUTE);
      assert.ok(heads().includes(`+silent ${deviceAt(9)}`));
      world.watches.setPaused(true);
      watch.close(true);
      open(settings, 'beside').setLabelled(new Set([G]));
      world.watches.setPaused(false, () => true);
      assert.deepEqual([heads(), watch.counts.active], [[`-silent ${deviceAt(9)}`], 0]);
      watch.close(false);
    }
  });

  it('ends where a deploy leaves no room for it', () => {
    world = new World(3);
    const settings: Partial<WatchSettings> = {
      gateways: [G, G2],
      conditions: ['battery-low', 'gateway-silent'],
    };
    const own = open(settings);
    world.hear('property/8100', { value: 5 });
    world.wait(6 * S);
    assert.deepEqual(heads(), [`+battery-low ${D}`]);
    own.forget(G2);
    open({ devices: [OTHER.device] }, 'beside');
    world.watches.setPaused(true);
    own.close(true);
    open(settings);
    assert.deepEqual(heads(), []);
    world.watches.setPaused(false, () => true);
    assert.deepEqual([heads(), watch.counts], [[`-battery-low ${D}`], { watched: 2, active: 0 }]);
  });
});
