// Messages that no device has sent, to try a flow with: what is in them, and what they cannot be.
import assert from 'node:assert/strict';
import { ServiceError } from '../../src/errors.ts';
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { Identifier } from '../../src/protocol/identifiers.ts';
import { type MadeUpFilter, makeUpMessage } from '../../src/protocol/reports/made-up.ts';
import { sampleValue } from '../../src/protocol/reports/sample-values.ts';

const G = 'c0141f68fc3d';
const time = '2020-12-08T08:10:08.880Z';
const catalogue = createCatalogue([{ id: 'ab13', name: 'own-text', type: 'utf8' }]);

type Given = Partial<MadeUpFilter> & { value?: unknown };

const makeUp = ({ value, ...filter }: Given) =>
  makeUpMessage({ kinds: [], form: 'both', identifiers: [], ...filter }, catalogue, {
    ...{ gateway: G, value, time },
  });

describe('a message that is made up', () => {
  const made: [given: Given, rest: string, fields: object][] = [
    [{}, 'measurement-decoded/temperature', { seq: 1, value: 21.5 }],
    [{ form: 'raw' }, 'measurement/8800', { seq: 1, value: '0866' }],
    [{ kinds: ['heartbeat'] }, 'heartbeat/', { seq: 1, status: 0, lastCount: 0 }],
    [{ kinds: ['dfu'] }, 'dfu/', { parent: G, rssi: -60 }],
    [{ kinds: ['rssi'] }, 'rssi/', { parent: G, rssi: -60, channel: 37 }],
    [{ kinds: ['event'] }, 'event-decoded/button-0-counter', { seq: 1, value: 1 }],
    [{ kinds: ['event'], form: 'raw' }, 'event/8113', { seq: 1, value: '' }],
    [{ kinds: ['property'] }, 'property-decoded/battery-level', { seq: 1, value: 80 }],
    [{ kinds: ['property'], form: 'raw' }, 'property/8100', { seq: 1, value: '50' }],
    [{ kinds: ['timestamped'] }, 'timestamped-decoded/temperature', { seq: 1, ack: true, value: 21.5 }],
    [{ kinds: ['timestamped'], form: 'raw' }, 'timestamped/8800', { seq: 1, flags: '08', value: '0866' }],
    [{ kinds: ['measurement-error'] }, 'measurement-error-decoded/temperature', { seq: 1, error: 1 }],
    [{ kinds: ['other'] }, 'other/', {}],
    [{ kinds: ['other'], form: 'decoded', identifiers: ['own'] }, 'other-decoded/own', {}],

    // The kind by which a property is usually reported, where it passes.
    [{ identifiers: ['8802'] }, 'measurement-decoded/humidity', { seq: 1, value: 45 }],
    [{ identifiers: ['Uptime'], form: 'raw' }, 'property/8101', { seq: 1, value: '00015180' }],
    [{ identifiers: ['button-0-counter'] }, 'event-decoded/button-0-counter', { seq: 1, value: 1 }],
    [{ identifiers: ['8120'] }, 'property/8120', { seq: 1, value: '00' }],
    [{ identifiers: ['AB12'] }, 'measurement/ab12', { seq: 1, value: '00' }],
    [{ identifiers: ['own'] }, 'measurement-decoded/own', { seq: 1, value: 1 }],
    [{ identifiers: ['own-text'] }, 'measurement-decoded/own-text', { seq: 1, value: 'test' }],
    [{ kinds: ['property'], identifiers: ['ab13'] }, 'property-decoded/own-text', { seq: 1, value: 'test' }],
    [
      { kinds: ['property', 'measurement'], identifiers: ['8800'] },
      'measurement-decoded/temperature',
      { seq: 1, value: 21.5 },
    ],
    [
      { kinds: ['heartbeat', 'property'], identifiers: ['8800'] },
      'property-decoded/temperature',
      { seq: 1, value: 21.5 },
    ],
    [{ kinds: ['property', 'measurement'] }, 'property-decoded/battery-level', { seq: 1, value: 80 }],
    [
      { form: 'raw', identifiers: ['button-0-counter', '8800'] },
      'measurement/8800',
      { seq: 1, value: '0866' },
    ],
    [
      { form: 'decoded', identifiers: ['ab12', 'button-0-counter'] },
      'event-decoded/button-0-counter',
      { seq: 1, value: 1 },
    ],
    [{ kinds: ['rssi', 'other'], identifiers: ['8800'] }, 'other/8800', {}],
    [{ kinds: ['heartbeat'], identifiers: ['8800'] }, 'heartbeat/', { seq: 1, status: 0, lastCount: 0 }],
    [{ kinds: ['dfu', 'property', 'event'] }, 'dfu/', { parent: G, rssi: -60 }],
    [
      { kinds: ['dfu', 'property'], form: 'decoded' },
      'property-decoded/battery-level',
      { seq: 1, value: 80 },
    ],
    [{ kinds: ['dfu', 'other'], form: 'decoded' }, 'other-decoded/', {}],

    [{ value: 35 }, 'measurement-decoded/temperature', { seq: 1, value: 35 }],
    [{ value: 35, form: 'raw' }, 'measurement/8800', { seq: 1, value: '0dac' }],
    [
      { value: 35, kinds: ['rssi', 'other', 'event'] },
      'event-decoded/button-0-counter',
      { seq: 1, value: 35 },
    ],
    [
      { value: 35, kinds: ['measurement-error', 'timestamped'], form: 'raw' },
      'timestamped/8800',
      { seq: 1, flags: '08', value: '0dac' },
    ],
    [{ value: null, identifiers: ['8100'] }, 'property-decoded/battery-level', { seq: 1, value: null }],
    [{ value: 'ff', identifiers: ['ab12'] }, 'measurement/ab12', { seq: 1, value: 'ff' }],
    [{ value: { a: [1] }, identifiers: ['own'] }, 'measurement-decoded/own', { seq: 1, value: { a: [1] } }],
  ];
  for (const [given, rest, fields] of made) {
    it(`is what the filter lets through: ${JSON.stringify(given)}`, () => {
      const { segment, identifier, body } = makeUp(given);
      assert.deepEqual([`${segment}/${identifier}`, body], [rest, { time, ...fields }]);
    });
  }

  it('has the name that gateways send, where the user calls the property otherwise', () => {
    const own = createCatalogue([{ id: '8800', name: 'heat', type: 's16', divisor: 100 }]);
    const filter = { kinds: [], form: 'both', identifiers: ['heat'] } as const;
    const { segment, identifier } = makeUpMessage(filter, own, { gateway: G, value: 20, time });
    assert.equal(`${segment}/${identifier}`, 'measurement-decoded/temperature');
  });

  it('has a value of the type that an entry of the user’s own gives its property', () => {
    const made = [
      { id: '8800', name: 'temperature', type: 's16' },
      { id: 'ff01', name: 'temperature', type: 'utf8' },
    ].map((entry) => {
      const filter = { kinds: [], form: 'both', identifiers: [entry.id] } as const;
      return makeUpMessage(filter, createCatalogue([entry]), { gateway: G, value: undefined, time }).body
        .value;
    });
    assert.deepEqual(made, [1, 'test']);
  });

  const refused: [given: Given, field: string, shown: unknown, reason: string][] = [
    [{ kinds: ['heartbeat'], value: 1 }, 'value', 1, 'kindWithoutValue'],
    [{ kinds: ['other'], value: 1 }, 'value', 1, 'kindWithoutValue'],
    [{ kinds: ['measurement-error'], value: 1 }, 'value', 1, 'kindWithoutValue'],
    [{ form: 'raw', identifiers: ['own', 'button-0-counter'] }, 'identifiers', 'own', 'noHexId'],
    [{ form: 'decoded', identifiers: ['ab12', '8120'] }, 'identifiers', 'ab12', 'noName'],
    [{ identifiers: ['ab12'], value: 'no hex' }, 'value', 'no hex', 'notHexBytes'],
    [{ identifiers: ['button-0-counter'], value: 'often' }, 'value', 'often', 'notNumber'],
    [{ identifiers: ['8800'], value: 'warm' }, 'value', 'warm', 'notNumber'],
  ];
  for (const [given, field, value, reason] of refused) {
    it(`is refused where none can pass: ${JSON.stringify(given)}`, () => {
      assert.throws(
        () => makeUp(given),
        (error) => {
          assert.ok(error instanceof ServiceError, String(error));
          assert.deepEqual([error.text.key, error.cause], [`INVALID_INPUT.${reason}`, { field, value }]);
          return true;
        },
      );
    });
  }
});

describe('a usual value', () => {
  const ROW: Identifier = { id: 'ee8001', name: 'own', type: 'u8', access: ['report'], description: '' };
  const values: [row: Partial<Identifier>, value: unknown][] = [
    [{ min: 0, max: 255, step: 1 }, 1],
    [{ min: 20, max: 255 }, 20],
    [{ min: 0, max: 255, step: 5 }, 5],
    [{ min: 0, max: 0.255, step: 0.001 }, 0.255],
    [{ type: 'number' }, 1],
    [{ type: 'float' }, 1],
    [{ type: 'void' }, null],
    [{ type: 'bool' }, true],
    [{ type: 'utf8' }, 'test'],
    [{ type: 'hex' }, '00'],
    [{ type: 'hex', bytes: 3 }, '000000'],
    [{ type: 'word', words: { 4: 'on', 7: 'off' } }, 'on'],
    [{ type: 'word', words: {} }, null],
    // Built in, each with what decodes it.
    [catalogue.find('8001') as Identifier, '0.0.0'],
    [catalogue.find('8002') as Identifier, '0.0'],
    [catalogue.find('8003') as Identifier, '020000000002'],
    [catalogue.find('8111') as Identifier, { mac: '000000000000', mode: 0 }],
    [catalogue.find('9804') as Identifier, { interval: 20, denominator: 0 }],
    [catalogue.find('9803') as Identifier, 100],
  ];
  for (const [row, value] of values) {
    it(`is of the type of the property: ${row.name ?? JSON.stringify(row)}`, () => {
      assert.deepEqual(sampleValue({ ...ROW, ...row }, catalogue), value);
    });
  }

  it('is one that a person expects to see', () => {
    const usual = [
      'temperature',
      'humidity',
      'pressure',
      'light-intensity',
      'motion',
      'battery-level',
      'vdd',
    ];
    assert.deepEqual(
      usual.map((name) => sampleValue(catalogue.find(name) as Identifier, catalogue)),
      [21.5, 45, 1013.25, 300, 32, 80, 3000],
    );
  });

  it('can be written, whatever the property', () => {
    for (const row of catalogue.rows.filter(({ id }) => id !== '')) {
      assert.match(catalogue.encode(row.id, sampleValue(row, catalogue)), /^(?:[0-9a-f]{2})*$/, row.id);
    }
  });
});
