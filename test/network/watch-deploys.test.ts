// What a watch knows over deploys that take long, or that leave it invalid for a while.
import assert from 'node:assert/strict';
import type { OpenWatch } from '../../src/network/device-watches.ts';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import { D, deviceAt, G, HOUR, MINUTE, S, SETTINGS, World } from './watched-world.ts';

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

  function open(settings: Partial<WatchSettings> = {}): void {
    watch = world.watches.open(
      NAME,
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

  it('stays in the store while the watch is invalid', () => {
    leaveInvalid(MINUTE);
    assert.equal(stored()[NAME]?.length, 5);
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
});
