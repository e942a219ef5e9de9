// Which gateways a watch takes for such where others hear their radio, and what carries a label may be a device as well.
import assert from 'node:assert/strict';
import type { OpenWatch } from '../../src/network/device-watches.ts';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import { ALL, D, deviceAt, G, G2, HOUR, MINUTE, S, SETTINGS, World } from './watched-world.ts';

describe('a watch of a gateway whose radio another one hears', () => {
  let world: World;
  let told: string[];
  let counted: number;
  /** As they were when it was said that there are others. */
  let lastCounts: OpenWatch['counts'] | undefined;

  beforeEach(() => {
    world = new World();
    told = [];
    counted = 0;
  });

  const open = (settings: Partial<WatchSettings> = {}, owner = 'n') =>
    world.watches.open(
      owner,
      { ...SETTINGS, ...settings },
      {
        changed: ({ condition, active, device }) =>
          void told.push(`${active ? '+' : '-'}${condition} ${device}`),
        counted() {
          counted++;
          lastCounts = world.watches.watch('n')?.counts;
        },
        full() {},
        follow() {},
      },
    );
  const heads = () => told.splice(0);

  const X = 'c0141f68fc99';
  const byAll = [{}, { gateway: X, device: deviceAt(7) }, { gateway: X, device: X }, { device: X }];
  const byOthers = [{}, { device: X }];
  const labelled = (watch: OpenWatch) => watch.setLabelled(new Set([G, X]));
  const restart = (settings: Partial<WatchSettings>, isStoreLate = false) => {
    const known: unknown = JSON.parse(JSON.stringify(world.watches.store(100)));
    world.startAnew();
    const watch = open(settings);
    if (isStoreLate) {
      labelled(watch);
      world.watches.restore(known);
    } else {
      world.watches.restore(known);
      labelled(watch);
    }
    world.listen(true);
    world.watches.setPaused(false);
    return watch;
  };

  for (const settings of [
    {},
    { labels: ['floor'] },
    { gateways: [G, X] },
    { devices: [X], labels: ['floor'] },
  ]) {
    it(`misses it over a restart: ${JSON.stringify(settings)}`, () => {
      labelled(open(settings));
      world.run(5 * MINUTE, 10 * S, byAll);
      world.run(5 * MINUTE, 10 * S, byOthers);
      assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
      const watch = restart(settings);
      world.run(20 * MINUTE, 10 * S, byOthers);
      assert.deepEqual([heads(), watch.counts.active], [[], 1]);
    });

    it(`misses it where it dies while nobody listens: ${JSON.stringify(settings)}`, () => {
      labelled(open(settings));
      world.run(5 * MINUTE, 10 * S, byAll);
      restart(settings);
      world.run(20 * MINUTE, 10 * S, byOthers);
      assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
    });
  }

  for (const settings of [
    { conditions: ALL },
    { conditions: ALL, labels: ['floor'] },
    { conditions: ['battery-low' as const], labels: ['floor'] },
  ]) {
    it(`ends nothing that was told of it before a restart: ${JSON.stringify(settings)}`, () => {
      labelled(open(settings));
      world.hear('property/8100', { value: 10 }, { gateway: X, device: X });
      world.run(MINUTE, 10 * S, byAll);
      assert.deepEqual(heads(), [`+battery-low ${X}`]);
      restart(settings);
      world.run(MINUTE, 10 * S, [{ device: X }, ...byAll]);
      assert.deepEqual(heads(), []);
    });
  }

  for (const isStoreLate of [false, true]) {
    const how = isStoreLate ? ' whose store comes after the list' : '';
    it(`misses it over a restart${how} where it was heard a few times only`, () => {
      const settings = { labels: ['floor'] };
      labelled(open(settings));
      world.run(MINUTE, 10 * S, byAll);
      world.run(5 * MINUTE, 10 * S, byOthers);
      assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
      const watch = restart(settings, isStoreLate);
      world.run(20 * MINUTE, 10 * S, byOthers);
      assert.deepEqual([heads(), watch.counts.active], [[], 1]);
    });
  }

  it('misses it over a restart where it was there before it was watched', () => {
    const settings = { labels: ['floor'] };
    world.run(MINUTE, 10 * S, byAll);
    labelled(open(settings));
    restart(settings);
    world.run(20 * MINUTE, 10 * S, byOthers);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
  });

  it('misses it over a deploy after a restart where nothing of it came since', () => {
    const settings = { labels: ['floor'] };
    labelled(open(settings));
    world.run(MINUTE, 10 * S, byAll);
    restart(settings).close(true);
    labelled(open(settings));
    world.run(20 * MINUTE, 10 * S, byOthers);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
  });

  it('misses it as all with the label where the other one hears it first', () => {
    const settings = { labels: ['floor'], silentAfter: 0 };
    labelled(open(settings));
    world.run(5 * MINUTE, MINUTE, [...byOthers, ...byAll.slice(1)]);
    world.run(2 * HOUR, MINUTE, byOthers);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
  });

  it('does not expect it beside devices that are listed, or without a label', () => {
    const watches = [
      open({ labels: ['floor'], devices: [deviceAt(7)], silentAfter: 0 }),
      open({ silentAfter: 0 }, 'n2'),
    ];
    labelled(watches[0] as OpenWatch);
    world.run(5 * MINUTE, MINUTE, byAll);
    heads();
    world.run(2 * HOUR, MINUTE, byOthers);
    assert.deepEqual(
      heads().filter((head) => head.includes('gateway-silent')),
      [],
    );
  });

  it('misses it again when its label comes back', () => {
    const watch = open({ labels: ['floor'] });
    labelled(watch);
    world.run(5 * MINUTE, 10 * S, byAll);
    world.run(5 * MINUTE, 10 * S, byOthers);
    watch.setLabelled(new Set([G]));
    world.run(5 * MINUTE, 10 * S, byOthers);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`, `-gateway-silent ${X}`]);
    labelled(watch);
    world.run(5 * MINUTE, 10 * S, byOthers);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
  });

  it('misses it again when its label comes back after a restart', () => {
    const settings = { labels: ['floor'] };
    labelled(open(settings));
    world.run(MINUTE, 10 * S, byAll);
    world.run(5 * MINUTE, 10 * S, byOthers);
    const watch = restart(settings);
    watch.setLabelled(new Set([G]));
    world.run(5 * MINUTE, 10 * S, byOthers);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`, `-gateway-silent ${X}`]);
    labelled(watch);
    world.run(50 * S, 10 * S, byOthers);
    assert.deepEqual(heads(), [], 'its time counts anew');
    world.run(5 * MINUTE, 10 * S, byOthers);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
  });

  for (const settings of [
    { labels: ['floor'] },
    { labels: ['floor'], conditions: ['silent' as const] },
    { gateways: [G, X], conditions: ['silent' as const] },
  ]) {
    it(`does not miss it while it lives, whatever it was taken for before: ${JSON.stringify(settings)}`, () => {
      const watch = open(settings);
      watch.setLabelled(new Set([G]));
      world.run(10 * MINUTE, 10 * S, byAll);
      watch.close(true);
      world.wait(10 * S);
      labelled(open({ ...settings, conditions: SETTINGS.conditions }));
      world.wait(20 * S);
      world.run(5 * MINUTE, 10 * S, byAll);
      assert.deepEqual(heads(), []);
    });
  }

  it('does not miss it while it lives when it gets its label', () => {
    const watch = open({ labels: ['floor'] });
    watch.setLabelled(new Set([G]));
    world.run(10 * MINUTE, 10 * S, byAll);
    labelled(watch);
    world.wait(20 * S);
    world.run(5 * MINUTE, 10 * S, byAll);
    assert.deepEqual(heads(), []);
  });

  it('is one for no list of before, where it was never heard itself', () => {
    labelled(open({ gateways: [G, X], labels: ['floor'] }));
    world.run(5 * MINUTE, 10 * S, byOthers);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
    restart({ labels: ['floor'] });
    world.run(5 * MINUTE, 10 * S, byOthers);
    assert.deepEqual(heads(), [`-gateway-silent ${X}`]);
  });

  it('is no gateway for the interval that it had as a device', () => {
    const settings = { labels: ['floor'], silentAfter: 0 };
    labelled(open(settings));
    world.run(2 * HOUR, MINUTE, byOthers);
    restart({ ...settings, gateways: [G, X] }).close(true);
    labelled(open(settings));
    world.run(2 * HOUR, MINUTE, byOthers);
    assert.deepEqual(heads(), []);
  });

  it('ends what was told of it as a gateway where that is not watched any more, and it is a device', () => {
    labelled(open({ labels: ['floor'] }));
    world.run(5 * MINUTE, 10 * S, [{}]);
    const watch = restart({ labels: ['floor'], conditions: ['silent'] });
    heads();
    world.run(MINUTE, 10 * S, byOthers);
    world.run(5 * MINUTE, 10 * S, [{}]);
    assert.deepEqual([heads(), watch.counts.active], [[`+silent ${X}`], 1]);
  });

  it('is no gateway any more where a deploy takes the labels out, once it is heard as a device', () => {
    const watch = open({ labels: ['floor'] });
    labelled(watch);
    world.run(5 * MINUTE, 10 * S, [{}]);
    watch.close(true);
    open();
    world.run(MINUTE, 10 * S, byOthers);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`, `-gateway-silent ${X}`]);
  });

  it('has its time count anew with its label where it was forgotten meanwhile', () => {
    const watch = open({ labels: ['floor'] });
    labelled(watch);
    world.run(5 * MINUTE, 10 * S, byAll);
    watch.setLabelled(new Set([G]));
    watch.forget(X);
    world.run(5 * MINUTE, 10 * S, byOthers);
    labelled(watch);
    world.run(50 * S, 10 * S, byOthers);
    assert.deepEqual(heads(), []);
    world.run(MINUTE, 10 * S, byOthers);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
  });

  for (const conditions of [ALL, ['battery-low' as const]]) {
    it(`is one also where the network knows nothing of it any more: ${conditions}`, () => {
      world.hear('property/8100', { value: 10 }, { gateway: X, device: X });
      const watch = open({ labels: ['floor'], conditions, silentAfter: 0 });
      labelled(watch);
      world.hear('property/8100', { value: 10 }, { device: X });
      world.run(MINUTE, 10 * S, byOthers);
      assert.deepEqual(heads(), [`+battery-low ${X}`]);
      world.wait(25 * HOUR);
      for (let i = 0; i < 10_000; i++) {
        world.hear('heartbeat', {}, { gateway: (0xa00000000000 + i).toString(16), device: D });
      }
      assert.equal(world.network.gateway(X), undefined);
      world.hear('heartbeat', {}, { device: X });
      assert.deepEqual(
        heads().filter((head) => head.includes('battery-low')),
        [],
      );
    });
  }

  it('takes a device with the label for none after a restart whose store comes after the list', () => {
    const settings = { labels: ['floor'], silentAfter: 0 };
    labelled(open(settings));
    world.run(2 * HOUR, MINUTE, byOthers);
    heads();
    const watch = restart(settings, true);
    world.run(2 * HOUR, MINUTE, [{}]);
    assert.deepEqual(heads(), [`+silent ${X}`]);
    world.run(MINUTE, MINUTE, byOthers);
    assert.deepEqual([heads(), watch.counts.active], [[`-silent ${X}`], 0]);
  });

  it('takes what was never heard for none over a restart, once it is heard as a device', () => {
    const settings = { labels: ['floor'] };
    labelled(open(settings));
    world.run(5 * MINUTE, 10 * S, [{}]);
    assert.deepEqual(heads(), [`+gateway-silent ${X}`]);
    restart(settings);
    world.run(5 * MINUTE, 10 * S, [{}]);
    assert.deepEqual(heads(), [], 'nobody knows');
    world.run(MINUTE, 10 * S, byOthers);
    assert.deepEqual(heads(), [`-gateway-silent ${X}`]);
  });

  it('watches it where it is listed, though it was never heard itself', () => {
    const lists = [
      { devices: [X], labels: ['floor'] },
      { gateways: [X], labels: ['floor'] },
    ];
    const counts = lists.map((settings, i) => {
      const watch = open(settings, `n${i}`);
      labelled(watch);
      world.hear('heartbeat', {}, { gateway: G2, device: X });
      return watch.counts.watched;
    });
    assert.deepEqual(counts, [1, 1]);
  });

  it('watches it no more, and says so, where only its label says that it is one', () => {
    const watch = open({ labels: ['floor'] });
    labelled(watch);
    const [before, changes] = [counted, world.watches.onChange];
    let changed = 0;
    world.watches.onChange = () => void changed++;
    world.hear('heartbeat', {}, { gateway: G2, device: X });
    world.watches.onChange = changes;
    assert.deepEqual([lastCounts?.watched, counted > before, changed > 0], [1, true, true]);
    watch.setLabelled(new Set([G]));
    labelled(watch);
    world.run(5 * MINUTE, 10 * S, [{}]);
    assert.deepEqual(heads(), []);
  });

  it('does not take it back as one with its label where it was heard as a device meanwhile', () => {
    const watch = open({ labels: ['floor'] });
    labelled(watch);
    world.hear();
    watch.setLabelled(new Set([G]));
    world.hear('heartbeat', {}, { gateway: G2, device: X });
    labelled(watch);
    world.run(5 * MINUTE, 10 * S, [{}]);
    assert.deepEqual([heads(), watch.counts.watched], [[], 2]);
  });
});
