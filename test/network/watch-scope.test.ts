// A watch of some gateways, whose devices others hear as well, for which nobody may listen any more.
import assert from 'node:assert/strict';
import { D, deviceAt, G, G2, HOUR, MINUTE, SETTINGS, World } from './watched-world.ts';

describe('a watch of one gateway', () => {
  const OWN = [1, 2, 3].map((i) => ({ device: deviceAt(10 + i), gateway: G }));
  const FOREIGN = [1, 2, 3].map((i) => ({ device: deviceAt(20 + i), gateway: G2 }));
  const TAKES: Record<string, (settings: object) => void> = {
    lists: (settings) => open({ ...settings, gateways: [G] }),
    labels: (settings) => open({ ...settings, labels: ['L'] }),
  };
  let world: World;
  let told: string[];

  beforeEach(() => {
    world = new World();
    told = [];
  });

  function open(settings: object): void {
    const watch = world.watches.open(
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
    watch.setLabelled(new Set([G]));
  }

  for (const [name, take] of Object.entries(TAKES)) {
    for (const silentAfter of [0, 600]) {
      describe(`by ${name}, with ${silentAfter} s, whose device was carried to another one`, () => {
        beforeEach(() => {
          take({ silentAfter });
          world.run(2 * HOUR, MINUTE, [{}, ...OWN]);
          world.run(3 * HOUR, MINUTE, [{ gateway: G2 }, ...OWN, ...FOREIGN]);
        });

        it('hears it through that one, too', () => {
          assert.deepEqual(told, []);
        });

        it('tells it silent four hours after the other one was heard last, and its return', () => {
          world.run(3.9 * HOUR, MINUTE, OWN);
          assert.deepEqual(told, []);
          world.run(0.2 * HOUR, MINUTE, OWN);
          assert.deepEqual(told.splice(0), [`+silent ${D}`]);
          world.run(MINUTE, MINUTE, [{}, ...OWN]);
          assert.deepEqual(told, [`-silent ${D}`]);
        });

        it('tells nothing while that is away for an hour, and then its death', () => {
          world.run(HOUR, MINUTE, OWN);
          world.run(HOUR, MINUTE, [{ gateway: G2 }, ...OWN, ...FOREIGN]);
          assert.deepEqual(told, []);
          world.run(HOUR / 2, MINUTE, [...OWN, ...FOREIGN]);
          assert.deepEqual(told, [`+silent ${D}`]);
        });

        it('tells it with its own gateway, where that is away until then, after it', () => {
          world.run(5 * HOUR, MINUTE, []);
          assert.deepEqual(told, [`+gateway-silent ${G}`]);
          world.run(HOUR, MINUTE, OWN);
          assert.deepEqual(told.slice(1), [`-gateway-silent ${G}`, `+silent ${D}`]);
        });
      });
    }
  }

  it('counts on the gateways of before as long as labels are not known', () => {
    const before = new World();
    world = before;
    open({ silentAfter: 600, labels: ['L'] });
    world.run(2 * HOUR, MINUTE, [{}, ...OWN]);
    const stored = world.watches.store(100);
    world.startAnew();
    world.watches.open(
      'n',
      { ...SETTINGS, silentAfter: 600, labels: ['L'] },
      {
        changed: ({ condition, device }) => void told.push(`${condition} ${device}`),
        counted() {},
        full() {},
        follow() {},
      },
    );
    world.watches.restore(stored);
    world.watches.setPaused(false);
    world.listen(true);
    world.run(HOUR, MINUTE, [{}, ...OWN]);
    world.run(6 * HOUR, MINUTE, FOREIGN);
    assert.deepEqual(told, [`gateway-silent ${G}`]);
  });
});
