import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { TopicFilterParts } from '../../src/protocol/topics.ts';
import {
  limitTopicFilters,
  mergeTopicFilters,
  separateTopicFilters,
  TopicFilterIndex,
} from '../../src/reports/topic-filters.ts';

describe('planning of subscriptions', () => {
  it('subscribes only to heartbeats when only heartbeats are wanted', () => {
    assert.deepEqual(mergeTopicFilters([{ segment: 'heartbeat', identifier: '' }], true), [
      { segment: 'heartbeat', identifier: '' },
    ]);
  });

  it('asks once for what several subscribers want', () => {
    assert.equal(mergeTopicFilters([{ device: 'd' }, { device: 'd' }], true).length, 1);
  });

  it('drops a filter that a wider one covers', () => {
    assert.deepEqual(
      mergeTopicFilters([{ segment: 'rssi', identifier: '' }, {}, { device: 'd', segment: 'event' }], true),
      [{}],
    );
  });

  it('replaces two filters of one gateway that cross by all of this gateway', () => {
    const crossing = [
      { gateway: 'g', segment: 'property' },
      { gateway: 'g', device: 'd' },
    ];
    assert.deepEqual(mergeTopicFilters(crossing, true), [{ gateway: 'g' }]);
  });

  const ACROSS: TopicFilterParts[] = [{ segment: 'heartbeat', identifier: '' }, { gateway: 'g' }];

  it('does not ask for the whole network because one node wants a kind and another one a gateway', () => {
    assert.deepEqual(new Set(mergeTopicFilters(ACROSS, true)), new Set(ACROSS));
  });

  it('asks for the whole network in a shared group, where overlapping filters have different receivers', () => {
    assert.deepEqual(mergeTopicFilters(ACROSS, false), [{}]);
  });

  it('keeps filters apart that cannot match the same topic', () => {
    const apart: TopicFilterParts[] = [
      { segment: 'heartbeat', identifier: '' },
      { identifier: '8800' },
      { segment: 'rssi', identifier: '' },
    ];
    assert.equal(mergeTopicFilters(apart, false).length, 3);
  });

  const part = (...values: string[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
  const want = fc.record({
    gateway: part('g1', 'g2'),
    device: part('d1', 'd2', 'd3'),
    segment: part('property', 'event'),
    identifier: part('8800', '8802'),
  });
  const matches = (filter: TopicFilterParts, topic: TopicFilterParts) =>
    (Object.keys(topic) as (keyof TopicFilterParts)[]).every(
      (key) => filter[key] === undefined || filter[key] === topic[key],
    );

  const topic = fc.record({
    gateway: fc.constantFrom('g1', 'g2', 'g3'),
    device: fc.constantFrom('d1', 'd2', 'd3', 'd4'),
    segment: fc.constantFrom('property', 'event', 'heartbeat'),
    identifier: fc.constantFrom('8800', '8802', '8803'),
  });

  it('serves every want by exactly one filter where overlaps are not allowed, whatever is wanted', () => {
    fc.assert(
      fc.property(fc.array(want, { maxLength: 12 }), topic, (wants, message) => {
        const serving = mergeTopicFilters(wants, false).filter((filter) => matches(filter, message)).length;
        assert.ok(serving <= 1, 'two filters overlap');
        if (wants.some((wanted) => matches(wanted, message))) {
          assert.equal(serving, 1);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('serves every want where overlaps are allowed, knows how many filters match, and brings nothing beyond a wanted gateway or device', () => {
    fc.assert(
      fc.property(fc.array(want, { maxLength: 12 }), topic, (wants, message) => {
        const plan = mergeTopicFilters(wants, true);
        const serving = plan.filter((filter) => matches(filter, message)).length;
        assert.equal(new TopicFilterIndex(plan).count(message), serving);
        const isWanted = wants.some((wanted) => matches(wanted, message));
        if (isWanted) {
          assert.ok(serving >= 1);
        }
        const isNear = wants.some(
          ({ gateway, device }) => gateway === message.gateway || device === message.device,
        );
        if (serving > 0) {
          assert.ok(isWanted || isNear, JSON.stringify(plan));
        }
      }),
      { numRuns: 2000 },
    );
  });

  const isIn = (list: readonly TopicFilterParts[], filter: TopicFilterParts) =>
    new TopicFilterIndex(list).has(filter);

  it('serves every want that is not refused by a filter that is not, where overlaps are allowed', () => {
    fc.assert(
      fc.property(fc.array(want), fc.array(want, { maxLength: 4 }), (wants, refused) => {
        const plan = mergeTopicFilters(wants, true, (filter) => isIn(refused, filter));
        const granted = new TopicFilterIndex(plan.filter((filter) => !isIn(refused, filter)));
        for (const wanted of wants) {
          assert.ok(granted.covers(wanted) || (isIn(refused, wanted) && isIn(plan, wanted)));
        }
        assert.ok(plan.every((filter) => !isIn(refused, filter) || isIn(wants, filter)));
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves the first of those that overlap, and tells what the others have in common with one', () => {
    fc.assert(
      fc.property(fc.array(want, { maxLength: 12 }), topic, (all, message) => {
        const wants = [...new TopicFilterIndex(all)];
        const { apart, common } = separateTopicFilters(wants);
        assert.ok(apart.filter((filter) => matches(filter, message)).length <= 1, 'two filters overlap');
        assert.equal(apart.length + common.length, wants.length);
        assert.deepEqual(apart[0], wants[0]);
        const left = new TopicFilterIndex(common);
        assert.ok(wants.every((wanted) => isIn(apart, wanted) || left.covers(wanted)));
        assert.ok(common.every((filter) => apart.some((one) => new TopicFilterIndex([filter]).covers(one))));
      }),
      { numRuns: 2000 },
    );
  });

  it('knows all that stay, also those that were added after one of other parts was compared with them', () => {
    const [first, second, third] = [{ gateway: 'a' }, { gateway: 'b', device: 'd' }, { gateway: 'c' }];
    const last = { gateway: 'c', device: 'e' };
    const wants = [...new TopicFilterIndex([first, second, third, last, first])];
    assert.deepEqual(new Set(wants), new Set([first, second, third, last]));
    const { apart, common } = separateTopicFilters([first, second, third, last]);
    assert.deepEqual([apart, common], [[first, second, third], [third]]);
  });

  const asTexts = (plan: TopicFilterParts[]) =>
    plan
      .map(({ gateway, device, segment, identifier }) => `${[gateway, device, segment, identifier]}`)
      .sort();

  it('gives the same filters whatever order nodes are deployed in', () => {
    fc.assert(
      fc.property(fc.array(want, { maxLength: 12 }), fc.boolean(), (wants, mayOverlap) => {
        const plans = [wants, wants.toReversed()].map((each) => asTexts(mergeTopicFilters(each, mayOverlap)));
        assert.deepEqual(plans[0], plans[1]);
      }),
      { numRuns: 2000 },
    );
  });

  it('knows whether a filter asks for everything that a node wants', () => {
    fc.assert(
      fc.property(fc.array(want, { maxLength: 4 }), want, (wants, wanted) => {
        const isCovered = wants.some((each) =>
          (['gateway', 'device', 'segment', 'identifier'] as const).every(
            (part) => each[part] === undefined || each[part] === wanted[part],
          ),
        );
        const index = new TopicFilterIndex(wants);
        assert.equal(index.covers(wanted), isCovered);
        const texts = asTexts(wants);
        assert.equal(index.size, new Set(texts).size);
        assert.equal(index.has(wanted), texts.includes(asTexts([wanted])[0] as string));
      }),
      { numRuns: 2000 },
    );
  });

  it('stays within a budget of filters, and asks for everything that is wanted all the same', () => {
    fc.assert(
      fc.property(
        fc.array(want, { maxLength: 12 }),
        topic,
        fc.integer({ min: 1, max: 6 }),
        fc.boolean(),
        (wants, message, max, mayOverlap) => {
          const merged = mergeTopicFilters(wants, mayOverlap);
          const limited = limitTopicFilters(merged, max, mayOverlap);
          assert.ok(limited.length <= max);
          assert.ok(
            mayOverlap || mergeTopicFilters(limited, false).length === limited.length,
            'they are apart',
          );
          const isWanted = merged.some((filter) => matches(filter, message));
          assert.ok(!isWanted || limited.some((filter) => matches(filter, message)));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  const limited = (wants: TopicFilterParts[], max: number) =>
    new Set(limitTopicFilters(mergeTopicFilters(wants, true), max, true));

  it('gives up the identifiers of one gateway before it asks for whole gateways', () => {
    const wants = ['8800', '8801', '8802'].map((identifier) => ({
      gateway: 'g',
      segment: 'event',
      identifier,
    }));
    assert.deepEqual(
      limited([...wants, { gateway: 'h', device: 'd' }], 2),
      new Set([
        { gateway: 'g', segment: 'event' },
        { gateway: 'h', device: 'd' },
      ]),
    );
  });

  const events = (gateway: string, ...identifiers: string[]) =>
    identifiers.map((identifier) => ({ gateway, segment: 'event', identifier }));
  const kindsOf = (place: TopicFilterParts) =>
    ['property', 'event', 'measurement'].map((segment) => ({ ...place, segment }));
  const devices = (parts: TopicFilterParts) => ['1', '2', '3'].map((device) => ({ ...parts, device }));
  const [G, H] = [{ gateway: 'g' }, { gateway: 'h' }];

  const WIDENED: [what: string, wants: TopicFilterParts[], max: number, expected: TopicFilterParts[]][] = [
    [
      'the identifiers of a kind before kinds',
      [...kindsOf({ device: 'x' }), ...events('g', '1', '2', '3')],
      4,
      [...kindsOf({ device: 'x' }), { ...G, segment: 'event' }],
    ],
    [
      'the kinds of a device before devices',
      [...devices(H), ...kindsOf({ ...G, device: 'd' })],
      4,
      [...devices(H), { ...G, device: 'd' }],
    ],
    [
      'the kinds of all devices of a gateway before devices of another one',
      [...devices(H), ...kindsOf(G)],
      4,
      [...devices(H), G],
    ],
    [
      'the devices of a gateway before everything',
      [...devices({}), { ...G, device: 'a' }, { ...G, device: 'b' }, { ...G, device: 'c' }],
      4,
      [...devices({}), G],
    ],
    [
      'no more places than it takes, the largest one first',
      [...events('h', '1', '2'), ...events('g', '1', '2', '3'), ...events('k', '1')],
      4,
      [...events('h', '1', '2'), { ...G, segment: 'event' }, ...events('k', '1')],
    ],
    [
      'several places, but none of one filter',
      [...events('h', '1', '2'), ...events('g', '1', '2', '3'), ...events('k', '1')],
      3,
      [{ ...H, segment: 'event' }, { ...G, segment: 'event' }, ...events('k', '1')],
    ],
    [
      'the devices of two gateways before all kinds of one of them',
      [
        ...['d', 'f'].map((device) => ({ ...G, device, segment: 'event', identifier: '1' })),
        ...['d', 'f'].map((device) => ({ ...H, device, segment: 'event', identifier: '2' })),
        { ...G, segment: 'property', identifier: '1' },
      ],
      3,
      [
        { ...G, segment: 'event', identifier: '1' },
        { ...H, segment: 'event', identifier: '2' },
        { ...G, segment: 'property', identifier: '1' },
      ],
    ],
    [
      'no further than to what all of them have in common',
      [
        { device: 'd', segment: 'property', identifier: '1' },
        { ...G, segment: 'property', identifier: '2' },
      ],
      1,
      [{ segment: 'property' }],
    ],
  ];
  for (const [what, wants, max, expected] of WIDENED) {
    it(`widens ${what}`, () => {
      assert.deepEqual(limited(wants, max), new Set(expected));
      assert.deepEqual(limited([...wants].reverse(), max), new Set(expected));
    });
  }

  it('leaves filters as they are where they are no more than may be', () => {
    const wants = [{ segment: 'heartbeat', identifier: '' }, ...events('g', '1', '2')];
    assert.deepEqual(limitTopicFilters(wants, 3, true), wants);
  });

  for (const [max, expected] of [
    [3, [...events('g', '1', '2'), { ...H, segment: 'event' }]],
    [2, [...events('g', '1', '2'), ...events('h', '1', '2')]],
    [1, [...events('g', '1', '2'), ...events('h', '1', '2')]],
  ] as const) {
    it(`widens others where one is not to be widened, as far as that makes room: ${max}`, () => {
      const wants = [...events('g', '1', '2'), ...events('h', '1', '2')];
      const isAvoided = ({ gateway, identifier }: TopicFilterParts) =>
        gateway !== 'h' && identifier === undefined;
      assert.deepEqual(new Set(limitTopicFilters(wants, max, true, isAvoided)), new Set(expected));
    });
  }

  it('asks for whole gateways only where that saves the most', () => {
    const devicesOf = (gateway: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({ gateway, device: `${gateway}${i}` }));
    const few = devicesOf('a', 2);
    assert.deepEqual(limited([...few, ...devicesOf('b', 40)], 10), new Set([...few, { gateway: 'b' }]));
  });

  it('asks for everything when devices without anything in common are more than the budget', () => {
    assert.deepEqual(limited([{ device: 'a' }, { device: 'b' }, { device: 'c' }], 2), new Set([{}]));
  });

  it('keeps the narrow ones where a wider one is not to take their place, and asks for everything all the same', () => {
    fc.assert(
      fc.property(
        fc.array(want, { maxLength: 12 }),
        topic,
        fc.integer({ min: 1, max: 6 }),
        fc.func(fc.boolean()),
        fc.boolean(),
        (wants, message, max, rule, mayOverlap) => {
          const merged = mergeTopicFilters(wants, mayOverlap);
          const isSame = (a: TopicFilterParts, b: TopicFilterParts) =>
            JSON.stringify(a) === JSON.stringify(b);
          const isAvoided = (filter: TopicFilterParts) => rule(JSON.stringify(filter));
          const limited = limitTopicFilters(merged, max, mayOverlap, isAvoided);
          const wide = limited.filter((filter) => !merged.some((one) => isSame(one, filter)));
          assert.ok(!wide.some(isAvoided));
          assert.ok(
            mayOverlap || mergeTopicFilters(limited, false).length === limited.length,
            'they are apart',
          );
          const isWanted = merged.some((filter) => matches(filter, message));
          assert.ok(!isWanted || limited.some((filter) => matches(filter, message)));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('limits kinds that have no identifier', () => {
    const wants = ['heartbeat', 'rssi', 'dfu'].map((segment) => ({ device: 'd', segment, identifier: '' }));
    assert.deepEqual(limited(wants, 1), new Set([{ device: 'd' }]));
  });

  it('needs no more than a few passes for twenty thousand filters', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ({ gateway: `g${i % 300}`, device: `d${i}` }));
    assert.equal(limitTopicFilters(many, 200, true).length, 1);
    assert.equal(limitTopicFilters(many, 300, true).length, 300);
  });
});
