// The catalogue: what each row says of a hex string, and that nothing is lost on the way back.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ServiceError } from '../../src/errors.ts';
import { createCatalogue, differencesOf } from '../../src/protocol/catalogue.ts';
import { askedAs, type Identifier } from '../../src/protocol/identifiers.ts';
import { readIdentifier } from '../../src/protocol/operations/identifier.ts';
import type { Field } from '../../src/protocol/structures.ts';
import { INTEGERS, isInteger, WIRE_TYPES } from '../../src/protocol/values.ts';

const catalogue = createCatalogue();

const KEY = '04'.padEnd(130, 'a5');
const PRODUCTION_INFO = [
  '0006c0141f68fc3d',
  '010207db',
  '020101',
  '030403040102',
  `0441${KEY}`,
  '050400000034',
  '060400000001',
  '070400000002',
].join('');

/** Canonical hex strings: each decodes to the value and ext, which encode to it again. */
const SAMPLES: [id: string, hex: string, value: unknown, ext?: Record<string, unknown>][] = [
  ['8000', '07db', 2011],
  ['8001', '03040100', '3.4.1'],
  ['8001', '03040107', '3.4.1-beta.7'],
  ['8002', '0102', '1.2'],
  ['8002', '0000', '0.0'],
  ['8003', 'c0141f68fc3d', 'c0141f68fc3d'],
  [
    '8005',
    PRODUCTION_INFO,
    {
      macAddress: 'c0141f68fc3d',
      modelNumber: 2011,
      variant: 1,
      firmwareVersion: '3.4.1-beta.2',
      publicKey: KEY,
      chip: 0x34,
      chipVariant: 1,
      chipPackage: 2,
    },
  ],
  ['8005', '010207db', { modelNumber: 2011 }],
  ['8005', '010207db0902abcd', { modelNumber: 2011 }, { bytes: '0902abcd' }],
  ['8005', '', {}],
  ['8006', '00000001', 1],
  ['8007', 'ff', 255],
  ['8008', KEY, KEY],
  ['8009', KEY, KEY],
  ['8100', '64', 100],
  ['8100', 'ff', null],
  ['8101', '00015180', 86400],
  ['8102', '08', 8],
  ['8103', '0bb8', 3000],
  ['8110', '01', 'dfu'],
  ['8110', '02', 'connected'],
  ['8110', '03', 'storage'],
  ['8110', '04', 'unconnected'],
  ['8110', '09', 9],
  ['8111', 'c0141f68fc3d04', { mac: 'c0141f68fc3d', mode: 4 }],
  ['8112', '07db', { modelNumber: 2011 }],
  ['8112', '07db01', { modelNumber: 2011, variant: 1 }],
  ['8113', '', null],
  ['8113', 'abcd', null, { bytes: 'abcd' }],
  ['8120', '0102', '0102'],
  ['8121', '', ''],
  ['8122', '01', '01'],
  ['8123', '01', '01'],
  ['8124', '01', '01'],
  ['8130', '01', '01'],
  ['8131', '01', '01'],
  [
    '8200',
    '01020304050607',
    {
      config: 1,
      int1Threshold: 2,
      int1Duration: 3,
      int1Blocking: 4,
      int1Counter: 5,
      int2Threshold: 6,
      int2Duration: 7,
    },
  ],
  ['8300', '', null],
  ['8301', '', null],
  ['8302', '', null],
  ['8303', '006403e80502', { packets: 100, interval: 1000, burst: 5, priority: 2 }],
  ['8303', '006403e8050240', { packets: 100, interval: 1000, burst: 5, priority: 2, msgSize: 64 }],
  [
    '8303',
    '006403e8050240aa',
    { packets: 100, interval: 1000, burst: 5, priority: 2, msgSize: 64 },
    { bytes: 'aa' },
  ],
  [
    '8304',
    '006403e80502c0141f68fc3d',
    { packets: 100, interval: 1000, burst: 5, priority: 2, target: 'c0141f68fc3d' },
  ],
  [
    '8304',
    '006403e80502c0141f68fc3d40',
    { packets: 100, interval: 1000, burst: 5, priority: 2, target: 'c0141f68fc3d', msgSize: 64 },
  ],
  ['8800', '1234', 46.6],
  ['8800', 'fbeb', -10.45],
  ['8800', '8000', -327.68],
  ['8800', '1234ab', 46.6, { bytes: 'ab' }],
  ['8801', '3c64c2d5', 1013.236437],
  ['8802', '01c2', 45],
  ['8803', 'ffff', 65535],
  ['8806', '1000', 4096],
  ['8810', '20', 32],
  ['8810', '110000002a00', 17, { transitionCounter: 42, isTransition: false }],
  ['8810', '10ffffffff01', 16, { transitionCounter: 4294967295, isTransition: true }],
  ['8810', '100000000183', 16, { transitionCounter: 1, isTransition: true, otherFlags: 130 }],
  ['8810', '100000000100beef', 16, { transitionCounter: 1, isTransition: false, bytes: 'beef' }],
  ['8810', '1001', 16, { bytes: '01' }],
  ['8810', '1000000001', 16, { bytes: '00000001' }],
  ['8813', 'ffffffff', 4294967295],
  ['9800', '01', true],
  ['9801', '00', false],
  ['9802', 'ec', -20],
  ['9803', '03e8', 1000],
  ['9804', '006402', { interval: 100, denominator: 2 }],
  ['9805', '001400', { interval: 20, denominator: 0 }],
  ['9806', '2800ff', { interval: 10240, denominator: 255 }],
  ['9807', '006402', { interval: 100, denominator: 2 }],
  ['9808', '003c', 60],
  ['9809', '01', true],
  ['9810', '0001000000ff', { site: 1, group: 255 }],
  ['ff00', '01', 1],
];

/** Values that cannot be encoded, and the text that says why. */
const REFUSED: [idOrName: string, value: unknown, reason: string][] = [
  ['8800', 327.68, 'outOfRange'],
  ['8800', 327.674, 'outOfRange'],
  ['8800', -327.684, 'outOfRange'],
  ['8800', -327.69, 'outOfRange'],
  ['8800', '21.5', 'notNumber'],
  ['8800', Number.NaN, 'notNumber'],
  ['8800', Number.POSITIVE_INFINITY, 'notNumber'],
  ['8800', null, 'notNumber'],
  ['8800', [1], 'notNumber'],
  ['8000', 1.5, 'notInteger'],
  ['8000', 65536, 'outOfRange'],
  ['8000', -1, 'outOfRange'],
  ['8100', 255, 'outOfRange'],
  ['8806', 4097, 'outOfRange'],
  ['9803', 99, 'outOfRange'],
  ['9803', 25_600, 'outOfRange'],
  ['9803', 150, 'notStep'],
  ['9800', 1, 'notBoolean'],
  ['9800', 'true', 'notBoolean'],
  ['8003', 'c0141f68fc3', 'notMac'],
  ['8001', '3.4', 'notVersion'],
  ['8001', '3.4.256', 'notVersion'],
  ['8001', 341, 'notVersion'],
  ['8001', ['3.4.1'], 'notVersion'],
  ['8001', 'x3.4.1', 'notVersion'],
  ['8001', '3.4.1.2', 'notVersion'],
  ['8001', '3.4.1-beta.7x', 'notVersion'],
  ['8002', '1.2.3', 'notVersion'],
  ['8008', '0102', 'notBytes'],
  ['8008', 'xy', 'notHexBytes'],
  ['8110', 'asleep', 'notWord'],
  ['8110', 'constructor', 'notWord'],
  ['8110', 256, 'outOfRange'],
  ['8300', 1, 'notVoid'],
  ['8120', 5, 'notHexBytes'],
  ['9804', 100, 'notObject'],
  ['9804', [100, 2], 'notObject'],
  ['9804', { interval: 100 }, 'missingPart'],
  ['9804', { interval: 19, denominator: 1 }, 'outOfRange'],
  ['9804', { interval: 10_241, denominator: 1 }, 'outOfRange'],
  ['9804', { interval: 100, denominator: 1, intervall: 1 }, 'unknownPart'],
  ['9804', JSON.parse('{"interval":100,"denominator":1,"__proto__":{}}'), 'unknownPart'],
  ['8304', { packets: 1, interval: 1, burst: 1, priority: 1 }, 'missingPart'],
  ['8304', { packets: 1, interval: 1, burst: 1, priority: 1, target: 'x' }, 'notMac'],
  ['8005', 'text', 'notObject'],
  ['8005', { modelNumber: '2011' }, 'notNumber'],
  ['8005', { model: 2011 }, 'unknownPart'],
  ['button-0-counter', 1, 'notEncodable'],
  ['ee8001', 1, 'notEncodable'],
  ['constructor', 1, 'notEncodable'],
];

const REFUSED_EXT: [id: string, value: unknown, ext: unknown, reason: string][] = [
  ['8800', 20, 'ab', 'notExt'],
  ['8800', 20, ['ab'], 'notExt'],
  ['8800', 20, { bytes: 'a' }, 'notHexBytes'],
  ['8800', 20, { byte: 'ab' }, 'unknownPart'],
  ['8810', 16, { transitionCounter: -1 }, 'outOfRange'],
  ['8810', 16, { transitionCounter: 1, isTransition: 1 }, 'notBoolean'],
  ['8810', 16, { transitionCounter: 1, otherFlags: 256 }, 'outOfRange'],
  ['8810', 16, { isTransition: true }, 'missingPart'],
  ['8303', { packets: 1, interval: 1, burst: 1, priority: 1 }, { bytes: 'ab' }, 'noExt'],
  ['8120', '01', { bytes: 'ab' }, 'noExt'],
  ['8005', {}, 'ab', 'notExt'],
];

function assertRefused(run: () => unknown, field: string, reason: string): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.text.key, `INVALID_INPUT.${reason}`);
    assert.equal(error.cause.field, field);
    assert.doesNotMatch(error.message, /__\w+__(?<!__proto__)|INVALID/);
    return true;
  });
}

const hexBytes = (bytes: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((array) => Buffer.from(array).toString('hex'));

function fieldArbitrary({ type, bytes = 6, min, max }: Field): fc.Arbitrary<unknown> {
  if (type === 'firmware-version') {
    return version(4);
  }
  if (isInteger(type)) {
    return fc.integer({ min: min ?? INTEGERS[type].min, max: max ?? INTEGERS[type].max });
  }
  return hexBytes(bytes);
}

function version(parts: number): fc.Arbitrary<string> {
  const part = fc.nat(255);
  return parts === 2
    ? fc.tuple(part, part).map((numbers) => numbers.join('.'))
    : fc
        .tuple(fc.tuple(part, part, part), part)
        .map(([numbers, beta]) => `${numbers.join('.')}${beta ? `-beta.${beta}` : ''}`);
}

function numberArbitrary(row: Identifier): fc.Arbitrary<unknown> {
  const { divisor = 1, min = 0, max = 0, step = 1, absent } = row;
  const scale = Math.round(step * divisor);
  const wire = fc.integer({
    min: Math.round((min * divisor) / scale),
    max: Math.round((max * divisor) / scale),
  });
  const value = wire.map((number) => (number * scale) / divisor);
  return absent === undefined ? value : fc.oneof(value, fc.constant(null));
}

/** Any value that a row can carry. */
function arbitrary(row: Identifier): fc.Arbitrary<unknown> {
  if (isInteger(row.type)) {
    return numberArbitrary(row);
  }
  const fields = row.fields ?? [];
  const model = Object.fromEntries(fields.map((field) => [field.name, fieldArbitrary(field)]));
  switch (row.type) {
    case 'structure':
      return fc.record(model, {
        requiredKeys: fields.filter(({ optional }) => !optional).map(({ name }) => name),
      });
    case 'dictionary':
      return fc.record(model, { requiredKeys: [] });
    case 'word':
      return fc.oneof(fc.constantFrom(...Object.values(row.words ?? {})), fc.integer({ min: 5, max: 255 }));
    case 'firmware-version':
      return version(4);
    case 'hardware-version':
      return version(2);
    case 'void':
      return fc.constant(null);
    case 'bool':
      return fc.boolean();
    case 'float':
      return fc.float({ noNaN: true, noDefaultInfinity: true });
    case 'utf8':
      return fc.string({ unit: 'grapheme' });
    case 'mac':
      return hexBytes(6);
    default:
      return row.bytes ? hexBytes(row.bytes) : fc.nat(40).chain(hexBytes);
  }
}

function extArbitrary(row: Identifier): fc.Arbitrary<Record<string, unknown> | undefined> {
  const bytes = fc.integer({ min: 1, max: 9 }).chain(hexBytes);
  const none = fc.constant(undefined);
  const isOpen = row.type === 'utf8' || (row.type === 'hex' && !row.bytes);
  if (isOpen || row.type === 'dictionary' || row.fields?.some(({ optional }) => optional)) {
    return none;
  }
  if (row.extension !== 'motion') {
    return fc.oneof(none, fc.record({ bytes }));
  }
  const motion = {
    transitionCounter: fc.nat(0xffffffff),
    isTransition: fc.boolean(),
    otherFlags: fc.integer({ min: 1, max: 127 }).map((flags) => flags * 2),
    bytes,
  };
  return fc.oneof(none, fc.record(motion, { requiredKeys: ['transitionCounter', 'isTransition'] }));
}

/** Encoding what was decoded gives the same hex, and decoding what was encoded the same JSON. */
function holdsBothWays(own: typeof catalogue, row: Identifier): void {
  fc.assert(
    fc.property(arbitrary(row), extArbitrary(row), (value, ext) => {
      const hex = own.encode(row.id, value, ext);
      assert.match(hex, /^(?:[0-9a-f]{2})*$/);
      const decoded = own.decode(row.id, hex);
      // 0 and -0 are one number on the wire, unless it is a float.
      assert.deepEqual(JSON.parse(JSON.stringify(decoded)), JSON.parse(JSON.stringify({ value, ext })));
      assert.equal(own.encode(row.id, decoded?.value, decoded?.ext), hex);
    }),
  );
}

describe('the catalogue', () => {
  for (const [id, hex, value, ext] of SAMPLES) {
    const title = `${id} ${hex.length > 40 ? `${hex.slice(0, 40)}…` : hex}`;
    it(`decodes and encodes ${title}`, () => {
      assert.deepEqual(catalogue.decode(id, hex), ext === undefined ? { value } : { value, ext });
      assert.equal(catalogue.encode(id, value, ext), hex);
      const name = catalogue.find(id)?.name;
      if (name) {
        assert.equal(catalogue.encode(name, value, ext), hex);
      }
    });
  }

  it('has a sample of every row that has an identifier', () => {
    const sampled = new Set(SAMPLES.map(([id]) => id));
    assert.deepEqual(
      catalogue.rows.filter(({ id }) => id !== '' && !sampled.has(id)),
      [],
    );
  });

  for (const row of catalogue.rows.filter(({ id }) => id !== '')) {
    it(`loses nothing of ${row.id} ${row.name}`, () => holdsBothWays(catalogue, row));
  }

  for (const [idOrName, value, reason] of REFUSED) {
    it(`refuses ${JSON.stringify(value)} for ${idOrName}: ${reason}`, () =>
      assertRefused(() => catalogue.encode(idOrName, value), 'value', reason));
  }

  for (const [id, value, ext, reason] of REFUSED_EXT) {
    it(`refuses the extension ${JSON.stringify(ext)} for ${id}: ${reason}`, () =>
      assertRefused(() => catalogue.encode(id, value, ext), 'ext', reason));
  }

  const shown: [id: string, value: unknown, ext: unknown, text: RegExp][] = [
    ['9804', { interval: 5, denominator: 1 }, undefined, /from 20 to 10240: interval: 5/],
    ['9804', 100, undefined, /with interval, denominator/],
    ['8005', 100, undefined, /with macAddress, modelNumber, variant/],
    ['8110', 'asleep', undefined, /dfu, connected, storage, unconnected/],
    ['8001', '3.4', undefined, /3\.4\.1/],
    ['8002', '3', undefined, /1\.2/],
    ['8810', 16, { transitionCounter: -1 }, /transitionCounter: -1/],
    ['8810', 16, { isTransition: true }, /transitionCounter/],
    ['8810', 16, { transitionCounter: 1, isTransition: 2 }, /isTransition: 2/],
    ['8810', 16, { transitionCounter: 1, otherFlags: 256 }, /otherFlags: 256/],
    ['8000', 70_000, undefined, /65535: 70000$/],
    ['8800', 20, { bytes: 'a' }, /bytes: a/],
    ['8800', 20, { byte: 'ab' }, /byte: ab/],
  ];
  for (const [id, value, ext, text] of shown) {
    it(`tells what is wrong with ${JSON.stringify(ext ?? value)} for ${id}`, () => {
      assert.throws(() => catalogue.encode(id, value, ext), text);
    });
  }

  it('writes a value whose extension is null as one without', () => {
    assert.equal(catalogue.encode('8800', 46.6, null), '1234');
    assert.equal(catalogue.encode('8005', { modelNumber: 2011 }, null), '010207db');
  });

  it('writes a motion whose extension does not say whether it is a transition as one that is not', () => {
    assert.equal(catalogue.encode('8810', 16, { transitionCounter: 1 }), '100000000100');
  });

  it('rounds a calculated quantity to the nearest step', () => {
    assert.equal(catalogue.encode('temperature', 0.1 + 0.2), '001e');
  });

  it('leaves a value raw that is too short for its type', () => {
    const types = catalogue.rows.filter(
      ({ id, type }) => id !== '' && type !== 'void' && type !== 'dictionary',
    );
    for (const { id, type, bytes } of types) {
      if (type === 'hex' && bytes === undefined) {
        continue;
      }
      assert.equal(catalogue.decode(id, ''), undefined, id);
    }
    for (const [id, hex] of [
      ['8800', '12'],
      ['8001', '0304'],
      ['8303', '006403e805'],
      ['8005', '01'],
      ['8005', '010207'],
    ] as const) {
      assert.equal(catalogue.decode(id, hex), undefined, `${id} ${hex}`);
    }
  });

  const spellings: [id: string, hex: string, value: unknown][] = [
    ['8003', 'C0141F68FC3D', 'c0141f68fc3d'],
    ['8008', KEY.toUpperCase(), KEY],
    ['8120', 'AB', 'ab'],
    ['8103', '0BB8', 3000],
    ['9800', '02', true],
  ];
  for (const [id, hex, value] of spellings) {
    it(`decodes ${hex.slice(0, 20)} of ${id}, which it would write in another way`, () => {
      assert.deepEqual(catalogue.decode(id, hex), { value });
    });
  }

  it('writes hex and MACs in lower case, and a command without a value', () => {
    assert.equal(catalogue.encode('8003', 'C0-14-1F-68-FC-3D'), 'c0141f68fc3d');
    assert.equal(catalogue.encode('8008', KEY.toUpperCase()), KEY);
    for (const nothing of [null, undefined, '']) {
      assert.equal(catalogue.encode('8300', nothing), '');
    }
  });

  it('reads a firmware version without the beta byte', () => {
    assert.deepEqual(catalogue.decode('8001', '030401'), { value: '3.4.1' });
  });

  it('reads a firmware version without the beta byte in a dictionary', () => {
    assert.deepEqual(catalogue.decode('8005', '0303030401'), { value: { firmwareVersion: '3.4.1' } });
  });

  it('keeps dictionary entries that it cannot express', () => {
    assert.deepEqual(catalogue.decode('8005', '0900'), { value: {}, ext: { bytes: '0900' } });
    assert.deepEqual(catalogue.decode('8005', '0901FF0101aa020105020106'), {
      value: { variant: 5 },
      ext: { bytes: '0901ff0101aa020106' },
    });
  });

  it('knows nothing of an identifier without a row', () => {
    for (const text of ['ee8001', '', 'constructor', '__proto__']) {
      assert.equal(catalogue.find(text), undefined);
      assert.equal(catalogue.decode(text, '00'), undefined);
    }
  });

  it('finds a row by id and by name in any letter case', () => {
    assert.equal(catalogue.find('FF00')?.name, 'scan-mode');
    assert.equal(catalogue.find('Temperature')?.id, '8800');
  });

  it('gives the limits of every number in its unit', () => {
    const { min, max, step, unit } = catalogue.find('temperature') as Identifier;
    assert.deepEqual({ min, max, step, unit }, { min: -327.68, max: 327.67, step: 0.01, unit: '°C' });
  });

  it('tells hex identifiers from names by their last byte', () => {
    for (const text of ['05', '7e', '8000', 'EF10', 'ee8001', 'ffffff7f']) {
      assert.equal(catalogue.isHexId(text), true, text);
    }
    for (const text of ['', '0', '80', 'dead', '0505', '800', 'ffffffff7f', '8g', 'temperature']) {
      assert.equal(catalogue.isHexId(text), false, text);
    }
  });

  it('survives any bytes for any row', () => {
    const ids = catalogue.rows.map(({ id, name }) => id || name);
    fc.assert(
      fc.property(fc.constantFrom(...ids), fc.nat(90).chain(hexBytes), (id, hex) => {
        catalogue.decode(id, hex);
      }),
      { numRuns: 2000 },
    );
  });
});

describe("the user's own identifiers", () => {
  const entry = { id: 'ee8001', name: 'radon-level', type: 'u16', divisor: 10, unit: 'Bq/m³' };

  it('extend the catalogue, as a list or as JSON text', () => {
    for (const custom of [[entry], JSON.stringify([entry])]) {
      const own = createCatalogue(custom);
      assert.deepEqual(own.decode('ee8001', '04d2'), { value: 123.4 });
      assert.equal(own.encode('radon-level', 123.4), '04d2');
      assert.equal(own.find('ee8001')?.unit, 'Bq/m³');
    }
  });

  it('take the place of a row with their id or their name', () => {
    const own = createCatalogue([
      { id: '8800', name: 'heat', type: 's16', divisor: 10 },
      { id: 'ee8001', name: 'button-0-counter', type: 'u32' },
    ]);
    assert.deepEqual(own.decode('8800', '0064'), { value: 10 });
    assert.equal(own.find('button-0-counter')?.id, 'ee8001');
    assert.equal(own.rows.length, catalogue.rows.length);
  });

  it('keep the name by which gateways know a property that they name otherwise, unless it is of another one', () => {
    const heat = { id: '8800', name: 'heat', type: 's16', divisor: 10 };
    const own = createCatalogue([heat]);
    assert.equal(own.find('temperature'), own.find('8800'));
    assert.equal(own.find('temperature')?.name, 'heat');
    const twice = createCatalogue([heat, { ...heat, name: 'warmth' }]);
    assert.deepEqual(
      [twice.find('temperature')?.name, twice.find('heat')],
      ['warmth', undefined],
      'what was overridden again is known by no name of before',
    );
    const taken = createCatalogue([heat, { id: 'ee8001', name: 'temperature', type: 'u8' }]);
    assert.deepEqual([taken.find('temperature')?.id, taken.find('8800')?.name], ['ee8001', 'heat']);
    assert.equal(taken.find('8800')?.builtInName, undefined, 'nor is it sent for it');
    const same = createCatalogue([{ ...heat, name: 'temperature' }]);
    assert.equal(same.find('8800')?.builtInName, undefined);
    assert.deepEqual(readIdentifier({ identifier: '8800', form: 'decoded' }, own), {
      form: 'decoded',
      identifier: 'temperature',
    });
  });

  it('can be used as the row of the interface that they name otherwise, and in every way where there is none', () => {
    const own = createCatalogue([
      { id: '8800', name: 'heat', type: 's16' },
      { id: '8301', name: 'wipe', type: 'void' },
      entry,
    ]);
    assert.deepEqual(
      ['8800', '8301', 'ee8001'].map((id) => own.find(id)?.access),
      [catalogue.find('8800')?.access, ['command'], ['report', 'read', 'write', 'event']],
    );
  });

  it('that have one name, or that of another row, leave what is known by the id of each', () => {
    const own = createCatalogue([
      { id: '8800', name: 'climate', type: 's16', divisor: 10 },
      { id: '8802', name: 'climate', type: 'u8' },
      { id: 'ee8001', name: 'pressure', type: 'u8' },
    ]);
    assert.deepEqual(own.decode('8800', '0064'), { value: 10 });
    assert.deepEqual([own.find('climate')?.id, own.find('temperature')?.id], ['8802', '8800']);
    const pressure = catalogue.find('pressure')!;
    assert.deepEqual(
      [own.find('pressure')?.id, own.find(pressure.id)],
      ['ee8001', { ...pressure, name: '' }],
    );
    assert.equal(own.find('8800')?.name, '', 'a name is of one property');
    assert.deepEqual(createCatalogue(own.own).rows, own.rows);
  });

  it('are asked for by their id, which gateways know, and those of the interface by their name', () => {
    const own = createCatalogue([entry, { id: '8800', name: 'heat', type: 's16' }]);
    assert.deepEqual(
      ['ee8001', '8800', '8801', 'button-0-counter'].map((text) => {
        const row = own.find(text);
        return row && askedAs(row);
      }),
      ['ee8001', '8800', own.find('8801')?.name, 'button-0-counter'],
    );
    assert.ok(catalogue.rows.every((row) => askedAs(row) === (row.name || row.id)));
  });

  const changes: [title: string, before: unknown[], after: unknown[], different: string[], same: string[]][] =
    [
      ['added', [], [entry], ['ee8001', 'EE8001'], ['8800', 'ee8002']],
      ['taken away', [entry], [], ['ee8001'], ['8800']],
      ['decoded otherwise', [entry], [{ ...entry, divisor: 100 }], ['ee8001'], ['8800']],
      ['named otherwise', [], [{ id: '8800', name: 'heat', type: 's16', divisor: 100 }], ['8800'], ['8801']],
    ];
  for (const [title, before, after, different, same] of changes) {
    it(`that were ${title} are told from those that stayed as they were`, () => {
      const isDifferent = differencesOf(createCatalogue(before), createCatalogue(after));
      assert.deepEqual(
        [...different, ...same].filter((id) => isDifferent?.(id)),
        different,
      );
    });
  }

  it('that are the same as before differ in nothing', () => {
    assert.equal(differencesOf(createCatalogue([entry]), createCatalogue([entry])), undefined);
  });

  for (const type of WIRE_TYPES) {
    it(`of the type ${type} lose nothing`, () => {
      const own = createCatalogue([{ id: 'ee8001', name: 'own', type }]);
      holdsBothWays(own, own.find('ee8001') as Identifier);
    });
  }

  for (const type of ['u48', 's32', 'u32', 's8'] as const) {
    it(`of the type ${type} with a divisor lose nothing`, () => {
      const own = createCatalogue([{ id: 'ee8001', name: 'own', type, divisor: 1000 }]);
      holdsBothWays(own, own.find('ee8001') as Identifier);
    });
  }

  const ranges: [type: string, least: [number, string], most: [number, string]][] = [
    ['u8', [0, '00'], [255, 'ff']],
    ['s8', [-128, '80'], [127, '7f']],
    ['u16', [0, '0000'], [65_535, 'ffff']],
    ['s16', [-32_768, '8000'], [32_767, '7fff']],
    ['u32', [0, '00000000'], [4_294_967_295, 'ffffffff']],
    ['s32', [-2_147_483_648, '80000000'], [2_147_483_647, '7fffffff']],
    ['u48', [0, '000000000000'], [281_474_976_710_655, 'ffffffffffff']],
  ];
  for (const [type, least, most] of ranges) {
    it(`of the type ${type} go from ${least[0]} to ${most[0]}, and not beyond`, () => {
      for (const divisor of [1, 10]) {
        const own = createCatalogue([{ id: 'ee8001', name: 'own', type, divisor }]);
        const { min, max, step } = own.find('own') as Identifier;
        assert.deepEqual([min, max, step], [least[0] / divisor, most[0] / divisor, 1 / divisor]);
        for (const [number, hex] of [least, most]) {
          assert.equal(own.encode('own', number / divisor), hex);
          assert.deepEqual(own.decode('own', hex), { value: number / divisor });
        }
        assertRefused(() => own.encode('own', (least[0] - 1) / divisor), 'value', 'outOfRange');
        assertRefused(() => own.encode('own', (most[0] + 1) / divisor), 'value', 'outOfRange');
      }
    });
  }

  it('of the type float go as far as 32 bits do', () => {
    const most = 3.4028234663852886e38;
    for (const divisor of [1, 10]) {
      const own = createCatalogue([{ id: 'ee8001', name: 'own', type: 'float', divisor }]);
      assert.equal(own.encode('own', 15 / divisor), '41700000');
      assert.deepEqual(own.decode('own', '41700000'), { value: 15 / divisor });
      assert.equal(own.encode('own', most / divisor), '7f7fffff');
      assert.equal(own.encode('own', -most / divisor), 'ff7fffff');
      for (const value of [3.41e38 / divisor, -3.41e38 / divisor]) {
        assertRefused(() => own.encode('own', value), 'value', 'outOfRange');
      }
      for (const value of ['1', null, Number.NaN, Number.POSITIVE_INFINITY]) {
        assertRefused(() => own.encode('own', value), 'value', 'notNumber');
      }
    }
  });

  it('of the type utf8 keep every character, and a mark of the byte order', () => {
    const own = createCatalogue([{ id: 'ee8001', name: 'own', type: 'utf8' }]);
    for (const [text, hex] of [
      ['ä°', 'c3a4c2b0'],
      ['\ufeffa', 'efbbbf61'],
    ] as const) {
      assert.equal(own.encode('own', text), hex);
      assert.deepEqual(own.decode('own', hex), { value: text });
    }
    for (const value of [5, null, ['a']]) {
      assertRefused(() => own.encode('own', value), 'value', 'notText');
    }
  });

  it('leave what is no text and no number raw', () => {
    const own = createCatalogue([
      { id: '05', name: 'text', type: 'utf8' },
      { id: '06', name: 'real', type: 'float' },
    ]);
    assert.equal(own.decode('text', 'ff'), undefined);
    assert.equal(own.decode('real', '7fc00000'), undefined);
    assertRefused(() => own.encode('text', '\ud800'), 'value', 'notText');
    assertRefused(() => own.encode('real', 1e39), 'value', 'outOfRange');
  });

  it('may be left out', () => {
    for (const custom of [undefined, null, '', '  ', '[]', []]) {
      assert.equal(createCatalogue(custom).rows.length, catalogue.rows.length);
    }
  });

  it('become rows that can be used in every way', () => {
    const custom = [entry, { id: 'EE8002', name: 'own', type: 'hex' }];
    const access = ['report', 'read', 'write', 'event'];
    assert.deepEqual(createCatalogue(custom).rows.slice(-2), [
      { ...entry, min: 0, max: 6553.5, step: 0.1, access, description: '' },
      { id: 'ee8002', name: 'own', type: 'hex', access, description: '' },
    ]);
  });

  const bad: [unknown, string][] = [
    ['{', 'notJson'],
    ['{}', 'notList'],
    [{}, 'notList'],
    [5, 'notList'],
  ];
  for (const [custom, reason] of bad) {
    it(`are refused: ${JSON.stringify(custom)}`, () =>
      assertRefused(() => createCatalogue(custom), 'identifiers', reason));
  }

  const badParts: [part: string, entries: unknown[]][] = [
    ['entry', [null, '8800', 5]],
    [
      'id',
      [
        { ...entry, id: 'dead' },
        { ...entry, id: undefined },
        { ...entry, id: 5 },
      ],
    ],
    ['name', ['Radon level', '8800', '', 5].map((name) => ({ ...entry, name }))],
    ['type', ['u24', 'structure', 5].map((type) => ({ ...entry, type }))],
    ['divisor', [0, -1, '10'].map((divisor) => ({ ...entry, divisor }))],
    ['divisor', ['utf8', 'bool', 'hex'].map((type) => ({ ...entry, type }))],
    ['unit', [{ ...entry, unit: 5 }]],
  ];
  for (const [part, entries] of badParts) {
    it(`are refused for their ${part}: ${JSON.stringify(entries)}`, () => {
      for (const custom of entries) {
        assert.throws(
          () => createCatalogue([custom]),
          (error) => {
            assert.ok(error instanceof ServiceError, String(error));
            const { key, values } = error.text;
            assert.deepEqual([key, values.part], ['INVALID_INPUT.badEntry', part]);
            return true;
          },
        );
      }
    });
  }
});
