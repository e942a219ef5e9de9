// The ways by which a device is heard: which of them are used most, which one goes first, and which one is the best.
import assert from 'node:assert/strict';
import {
  bestSignal,
  chooseGateway,
  countBefore,
  countReport,
  findLink,
  isReplaced,
  isSignal,
  type Link,
  lastHeard,
  leastUseful,
  mostUsed,
  replace,
  shareOf,
} from '../../src/network/links.ts';

const MINUTE = 60_000;
const NOW = 1_000 * MINUTE;

interface Given extends Partial<Omit<Link, 'signal'>> {
  rssi?: number;
  /** When the signal was heard. */
  at?: number;
  isUnreachable?: boolean;
}

/** By default one that was heard just now. */
function linkBy(gateway: string, given: Given = {}): Link {
  const { rssi, at = NOW, isUnreachable = false, ...rest } = given;
  const signal = rssi === undefined ? undefined : { rssi, heardAt: at, channel: 0, isUnreachable };
  return { gateway, parent: gateway, heardAt: NOW, reports: 1, lately: 1, before: 0, ...rest, signal };
}

describe('the links of a device', () => {
  it('are found by gateway and parent', () => {
    const links = [linkBy('a', { parent: 'n' }), linkBy('b', { parent: 'n' }), linkBy('b'), linkBy('a')];
    assert.deepEqual(
      links.map(({ gateway, parent }) => links.indexOf(findLink(links, gateway, parent) as Link)),
      [0, 1, 2, 3],
    );
    assert.equal(findLink(links, 'n', 'n'), undefined);
  });

  it('count half of what was before, after a hundred reports by one of them', () => {
    const [one, other] = [linkBy('a', { lately: 98 }), linkBy('b', { lately: 11, before: 7 })];
    countReport([one, other], one, NOW + 1);
    assert.deepEqual([one.lately, one.reports, one.heardAt], [99, 2, NOW + 1]);
    assert.deepEqual([other.lately, other.before], [11, 7]);
    countReport([one, other], one, NOW + 2);
    assert.deepEqual([one.lately, one.reports], [50, 3]);
    assert.deepEqual([other.lately, other.before, other.reports], [5.5, 3, 1]);
  });

  it('have their share of the reports since they are known, of which a few are left out', () => {
    assert.equal(countBefore([linkBy('a', { lately: 3 })]), 0);
    assert.equal(countBefore([linkBy('a', { lately: 8.75 }), linkBy('b', { lately: 9 })]), 7);
    const links = [10, 20, 35].map((before) => linkBy('b', { lately: 10, before }));
    const all = (link: Link) => [linkBy('a', { lately: 30 }), link];
    assert.deepEqual(
      links.map((link) => shareOf(all(link), link)),
      [1 / 3, 1 / 2, 1],
    );
  });

  it('are used most where a gateway brings the largest share, of those that count', () => {
    const node = linkBy('a', { parent: 'n', lately: 90 });
    const [few, many] = [linkBy('b', { lately: 2 }), linkBy('c', { lately: 3 })];
    assert.equal(mostUsed([node, few, many]), many);
    assert.equal(mostUsed([node, few, many], [node, few]), few);
    assert.equal(mostUsed([node]), undefined);
    assert.equal(mostUsed([few, linkBy('d', { lately: 2 })]), few, 'of equal ones the first');
  });

  it('have signals of less than 0 dBm', () => {
    assert.deepEqual([-60, -0.5].map(isSignal), [true, true]);
    const none = [0, 127, Number.NaN, Number.NEGATIVE_INFINITY, '-60', null, undefined];
    assert.deepEqual(
      none.filter((one) => isSignal(one)),
      [],
    );
  });

  it('say when another one has taken their place', () => {
    const link = linkBy('a', { lately: 0 });
    assert.equal(isReplaced(link), false);
    replace(link);
    assert.equal(isReplaced(link), true);
  });

  describe('give way to a further one', () => {
    const SINCE = NOW - MINUTE;
    const old = { heardAt: SINCE - 1 };
    const node = { parent: 'n' };
    const often = linkBy('often', { lately: 50 });
    for (const [what, links, goes] of [
      [
        'first what was not heard lately',
        [linkBy('a', node), linkBy('b', { ...old, rssi: -30 }), linkBy('c', { heardAt: SINCE })],
        'b',
      ],
      ['then a node between', [linkBy('a', { rssi: -90 }), linkBy('b', { ...node, rssi: -30 })], 'b'],
      [
        'then the one with the worst signal',
        [-50, -70, -60].map((rssi) => linkBy(`${rssi}`, { rssi })),
        '-70',
      ],
      [
        'whatever it has brought, where another one has brought more',
        [linkBy('a', { rssi: -60, lately: 4 }), linkBy('b', { rssi: -70, lately: 5 })],
        'b',
      ],
      ['so one without a signal', [linkBy('a', { rssi: -99 }), linkBy('b')], 'b'],
      [
        'so one that cannot reach the device',
        [linkBy('a', { rssi: -99 }), linkBy('b', { rssi: -30, isUnreachable: true })],
        'b',
      ],
      [
        'so one whose signal is old',
        [linkBy('a', { rssi: -99, at: SINCE }), linkBy('b', { rssi: -30, at: SINCE - 1 })],
        'b',
      ],
      [
        'of equal ones the one that was silent longest',
        [linkBy('a'), linkBy('b', { heardAt: NOW - 2 }), linkBy('c', { heardAt: NOW - 1 })],
        'b',
      ],
      [
        'of two that were not heard lately the one with the worse signal',
        [linkBy('a', { ...old, ...node, rssi: -50 }), linkBy('b', { ...old, rssi: -60 })],
        'b',
      ],
      ['but not the gateway of the further one', [linkBy('own', old), linkBy('a', { rssi: -30 })], 'a'],
      ['but its node', [linkBy('own', old), linkBy('own', node), linkBy('a', { rssi: -30 })], 'own n'],
    ] as [string, Link[], string][]) {
      it(what, () => {
        const goesOf = (all: Link[]) => {
          const { gateway, parent } = all[leastUseful(all, SINCE, 'own')] as Link;
          return gateway === parent ? gateway : [gateway, ...(gateway === 'own' ? [parent] : [])].join(' ');
        };
        assert.equal(goesOf([...links, often]), goes);
        assert.equal(goesOf([often, ...links]), goes);
      });
    }

    it('where one report alone shows no share', () => {
      const [one, other] = [linkBy('a', { ...old, lately: 1 }), linkBy('b', { lately: 0 })];
      assert.equal(leastUseful([one, other], SINCE, 'own'), 0);
      one.lately = 1.5;
      assert.equal(leastUseful([one, other], SINCE, 'own'), 1);
    });
  });

  it('have one best signal, of those that came not long before the newest', () => {
    const links = [
      linkBy('a', { rssi: -50, at: NOW - MINUTE }),
      linkBy('b', { rssi: -40, at: NOW - MINUTE - 1 }),
      linkBy('c', { rssi: -30, isUnreachable: true, at: NOW - 1 }),
      linkBy('d', { rssi: -60 }),
      linkBy('e'),
    ];
    assert.equal(bestSignal(links, MINUTE), -50);
    assert.equal(bestSignal(links, MINUTE + 1), -40);
    assert.equal(bestSignal(links, 0), -60);
    const unreachable = linkBy('f', { rssi: -70, isUnreachable: true, at: NOW + 2 });
    assert.equal(bestSignal([...links, unreachable], 1), -70, 'none can reach it: the newest');
    assert.equal(bestSignal([unreachable, ...links], 1), -70);
    assert.equal(bestSignal([linkBy('a')], MINUTE), undefined);
    assert.equal(bestSignal([], MINUTE), undefined);
  });

  describe('say which gateway reaches it best', () => {
    const choose = (links: Link[], present?: string, intervalMs?: number) =>
      chooseGateway(links, present, NOW, intervalMs);
    const last = linkBy('last', { rssi: -80 });

    it('none where it was never heard, and without a signal the one that heard it last', () => {
      assert.equal(choose([]), undefined);
      assert.equal(choose([linkBy('a', { heardAt: NOW - 1 }), linkBy('b'), linkBy('c')]), 'c');
      const [first, second] = [linkBy('a'), linkBy('b', { heardAt: NOW - 1 })];
      assert.equal(lastHeard([first, second]), first);
      assert.equal(lastHeard([]), undefined);
    });

    it('the first of equal ones, and the present one as long as no other is 6 dB better', () => {
      const links = [linkBy('a', { rssi: -60 }), linkBy('b', { rssi: -60 }), linkBy('c', { rssi: -66 })];
      assert.equal(choose(links), 'a');
      assert.equal(choose(links, 'c'), 'c');
      assert.equal(choose([...links, linkBy('d', { rssi: -59 })], 'c'), 'd');
      assert.equal(choose([linkBy('a', { rssi: -60 }), linkBy('b')], 'b'), 'a');
    });

    it('by signals of the last five minutes through which it can be reached', () => {
      assert.equal(choose([last, linkBy('a', { rssi: -30, at: NOW - 5 * MINUTE })]), 'a');
      assert.equal(choose([last, linkBy('a', { rssi: -30, at: NOW - 5 * MINUTE - 1 })]), 'last');
      assert.equal(choose([last, linkBy('a', { rssi: -30, isUnreachable: true })]), 'last');
      const stale = linkBy('a', { rssi: -60, at: NOW - 5 * MINUTE - 1 });
      assert.equal(choose([last, stale], 'a'), 'last', 'the present one, too');
    });

    it('not one that has missed for a minute what another one has brought, beside the usual interval', () => {
      const late = (ms: number, parent = 'late') =>
        linkBy('late', { parent, rssi: -30, heardAt: NOW - MINUTE - ms });
      assert.equal(choose([last, late(0)]), 'late');
      assert.equal(choose([last, late(1)]), 'last');
      assert.equal(choose([last, late(5_000)], undefined, 5_000), 'late');
      assert.equal(choose([last, late(5_001)], undefined, 5_000), 'last');
      assert.equal(choose([last, late(1, 'n')]), 'last', 'a node whose gateway has brought nothing itself');
      assert.equal(choose([last, linkBy('late'), late(1, 'n')]), 'late', 'a node whose gateway is there');
    });
  });
});
