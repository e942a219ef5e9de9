// What a store holds of watches of how long each was silent, when Node-RED ends without a word.
import assert from 'node:assert/strict';
import type { WatchSettings } from '../../src/network/watch-context.ts';
import { D, deviceAt, HOUR, MINUTE, SETTINGS, World } from './watched-world.ts';

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
  function open(settings: Partial<WatchSettings>): void {
    world.watches.onChange = () => {
      writes++;
      stored = copy();
    };
    world.watches.open(
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

  function start(settings: Partial<WatchSettings>): void {
    world.startAnew();
    open(settings);
    world.watches.restore(stored);
    world.watches.setPaused(false);
    world.listen(true);
  }

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
});
