// The topic filters of one node: the narrowest ones that are few enough, found without multiplying the lists of a user.
import assert from 'node:assert/strict';
import { ServiceError } from '../../src/errors.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import { buildAck } from '../../src/protocol/operations/index.ts';
import { readReportTopic } from '../../src/protocol/reports/index.ts';
import type { TopicFilterParts } from '../../src/protocol/topics.ts';
import { Dispatch } from '../../src/reports/dispatch.ts';
import { compileCriteria } from '../../src/reports/report-filter.ts';
import { ALL } from '../session.ts';

const catalogue = createCatalogue();
const macs = (count: number, first = 0xc00000000000) =>
  Array.from({ length: count }, (_, i) => (first + i).toString(16));
const gateways = (count: number) => macs(count);
const devices = (count: number) => macs(count, 0xd00000000000);
const identifiers = (count: number) => Array.from({ length: count }, (_, i) => `property-${i}`);

function wantsOf(filter: Partial<typeof ALL>) {
  return compileCriteria({ ...ALL, ...filter }, catalogue)?.topicFilters ?? [];
}

describe('the filter of a node', () => {
  const DECODED = ['property', 'measurement', 'measurement-error', 'event', 'timestamped'].map(
    (kind) => `${kind}-decoded`,
  );
  const kinds: [kinds: string[], form: typeof ALL.form, segments: string[], wants: TopicFilterParts[]][] = [
    [[], 'both', [], [{}]],
    [[], 'decoded', [...DECODED, 'other/decoded'], [{}]],
    [['heartbeat'], 'both', ['heartbeat'], [{ segment: 'heartbeat', identifier: '' }]],
    [['measurement'], 'raw', ['measurement'], [{ segment: 'measurement' }]],
    [
      ['measurement', 'rssi'],
      'both',
      ['rssi', 'measurement', 'measurement-decoded'],
      [{ segment: 'rssi', identifier: '' }, { segment: 'measurement' }, { segment: 'measurement-decoded' }],
    ],
    [['measurement', 'rssi'], 'decoded', ['measurement-decoded'], [{ segment: 'measurement-decoded' }]],
    [['other'], 'both', ['other/raw', 'other/decoded'], [{}]],
    [['other'], 'raw', ['other/raw'], [{}]],
    [['other', 'heartbeat'], 'decoded', ['other/decoded'], [{}]],
  ];
  for (const [names, form, segments, wants] of kinds) {
    it(`for ${names.join(' and ') || 'any kind'} in the form ${form} is for ${segments.join(', ') || 'all'}`, () => {
      const read = compileCriteria({ ...ALL, kinds: names, form }, catalogue);
      assert.deepEqual([...(read?.route.segments ?? [])], segments);
      assert.deepEqual(read?.topicFilters.map(given), wants);
    });
  }

  it('for heartbeats in decoded form lets nothing through, because there are none', () => {
    assert.equal(compileCriteria({ ...ALL, kinds: ['heartbeat'], form: 'decoded' }, catalogue), undefined);
  });

  const named: [filter: Partial<typeof ALL>, identifiers: string[], wants: TopicFilterParts[]][] = [
    [
      { identifiers: ['8800'] },
      ['8800', 'temperature'],
      [{ identifier: '8800' }, { identifier: 'temperature' }],
    ],
    [
      { identifiers: ['Temperature'], kinds: ['measurement', 'heartbeat'] },
      ['Temperature', 'temperature', '8800'],
      [
        { segment: 'measurement', identifier: '8800' },
        { segment: 'measurement-decoded', identifier: 'Temperature' },
        { segment: 'measurement-decoded', identifier: 'temperature' },
      ],
    ],
    [
      { identifiers: ['EE8001', 'Own'], kinds: ['event'], form: 'raw' },
      ['EE8001', 'ee8001', 'Own', 'own'],
      [
        { segment: 'event', identifier: 'EE8001' },
        { segment: 'event', identifier: 'ee8001' },
      ],
    ],
  ];
  for (const [filter, texts, wants] of named) {
    it(`finds identifiers in every spelling: ${JSON.stringify(filter)}`, () => {
      const read = compileCriteria({ ...ALL, ...filter }, catalogue);
      assert.deepEqual(read?.route.identifiers, new Set(texts));
      assert.deepEqual(read?.topicFilters.map(given), wants);
    });
  }

  const refused: [field: keyof typeof ALL, values: string[], reason: string][] = [
    ['gateways', ['x', '', '+'], 'notMac'],
    ['devices', ['x', '', '#'], 'notMac'],
    ['kinds', ['weather', 'constructor', ''], 'unknownKind'],
    ['identifiers', ['', '+', '#', 'a/#', 'a\0'], 'notIdentifier'],
  ];
  for (const [field, values, reason] of refused) {
    it(`is refused for bad ${field}`, () => {
      for (const value of values) {
        assert.throws(
          () => compileCriteria({ ...ALL, [field]: [value] }, catalogue),
          (error) => {
            assert.ok(error instanceof ServiceError, String(error));
            assert.deepEqual([error.text.key, error.cause.field], [`INVALID_INPUT.${reason}`, field]);
            assert.doesNotMatch(error.message, /__/);
            return true;
          },
        );
      }
    });
  }
});

/** Without the parts that are undefined. */
function given(want: TopicFilterParts): TopicFilterParts {
  return Object.fromEntries(Object.entries(want).filter(([, value]) => value !== undefined));
}

describe('the topic filters of a node', () => {
  it('are 2 000 at most', () => {
    assert.equal(wantsOf({ gateways: gateways(40), devices: devices(50) }).length, 2_000);
    assert.equal(wantsOf({ gateways: gateways(41), devices: devices(50) }).length, 50);
  });

  it('name properties even when there are too many gateways and devices to name', () => {
    const many = { gateways: gateways(3_000), devices: devices(3_000), kinds: ['property'], form: 'decoded' };
    const wants = wantsOf({ ...many, identifiers: identifiers(2_000) } as Partial<typeof ALL>);
    assert.equal(wants.length, 2_000);
    assert.deepEqual(wants[0], { segment: 'property-decoded', identifier: 'property-0' });
    const fewer = wantsOf({ ...many, identifiers: identifiers(2_001) } as Partial<typeof ALL>);
    assert.deepEqual(fewer, [{ segment: 'property-decoded' }]);
  });

  it('name each device under each gateway while they are few', () => {
    assert.equal(wantsOf({ gateways: gateways(10), devices: devices(10) }).length, 100);
  });

  for (const [what, filter, count, example] of [
    ['the devices alone', { gateways: gateways(100), devices: devices(100) }, 100, { device: devices(1)[0] }],
    [
      'the gateways alone',
      { gateways: gateways(100), devices: devices(3_000) },
      100,
      { gateway: gateways(1)[0] },
    ],
    ['neither', { gateways: gateways(3_000), devices: devices(3_000) }, 1, {}],
    [
      'no gateway and no device, but the kind',
      { gateways: gateways(3_000), devices: devices(3_000), kinds: ['heartbeat'] },
      1,
      { segment: 'heartbeat', identifier: '' },
    ],
    [
      'the devices without their properties',
      { devices: devices(1_500), identifiers: identifiers(1_500) },
      1_500,
      { device: devices(1)[0] },
    ],
    [
      'the kind without its properties',
      { kinds: ['property'], form: 'decoded', identifiers: identifiers(2_001) },
      1,
      { segment: 'property-decoded' },
    ],
  ] as const) {
    it(`name ${what} when more than 2 000 would be needed`, () => {
      const wants = wantsOf(filter as Partial<typeof ALL>);
      assert.equal(wants.length, count);
      assert.deepEqual({ ...wants[0] }, { ...wants[0], ...example });
      assert.deepEqual(
        Object.entries(wants[0] ?? {}).filter(([, value]) => value !== undefined),
        Object.entries(example),
      );
    });
  }

  it('are found for lists of 100 000 entries each without stalling Node-RED', () => {
    const filter = {
      gateways: gateways(100_000),
      devices: devices(100_000),
      identifiers: identifiers(100_000),
    };
    const start = performance.now();
    const read = compileCriteria({ ...ALL, ...filter }, catalogue);
    const dispatch = new Dispatch<string>();
    const remove = dispatch.add({ ...read!.route, target: 'node' });
    const at = (gateway: string, device: string, rest: string) => readReportTopic('', gateway, device, rest);
    const [g, d] = [filter.gateways[9]!, filter.devices[9]!];
    assert.deepEqual(dispatch.match(at(g, d, 'property-decoded/property-9')), ['node']);
    assert.deepEqual(dispatch.match(at(g, d, 'property-decoded/other')), []);
    assert.deepEqual(dispatch.match(at(g, d, 'heartbeat')), []);
    assert.deepEqual(dispatch.match(at(d, d, 'property-decoded/property-9')), []);
    assert.deepEqual(dispatch.match(at(g, g, 'property-decoded/property-9')), []);
    remove();
    assert.deepEqual(dispatch.match(at(g, d, 'property-decoded/property-9')), []);
    // 10¹⁵ combinations would never end; the bound leaves room for a busy machine.
    assert.ok(performance.now() - start < 10_000);
  });

  it('name identifiers of up to 1 000 characters', () => {
    const identifier = 'x'.repeat(1_000);
    assert.deepEqual(wantsOf({ identifiers: [identifier] }).map(given), [{ identifier }]);
  });

  for (const identifier of ['8800\t8801', 'a\u0085', 'a\ufffe', '\ud800', 'a+', 'x'.repeat(1_001)]) {
    it(`are refused where brokers would end the connection: ${JSON.stringify(identifier).slice(0, 20)}`, () => {
      assert.throws(
        () => wantsOf({ identifiers: [identifier] }),
        (error: ServiceError) => error.code === 'INVALID_INPUT' && error.cause.field === 'identifiers',
      );
      const sample = { gateway: gateways(1)[0], device: devices(1)[0], identifier, time: '' };
      assert.throws(
        () =>
          buildAck({ ...sample, time: 't' }, { raw: 'ack', decoded: 'ack-decoded', payload: {} }, catalogue),
        (error: ServiceError) => error.code === 'INVALID_INPUT' && error.cause.field === 'identifier',
      );
    });
  }
});
