// Values with fields, beyond those that the catalogue has today.
import assert from 'node:assert/strict';
import { ServiceError } from '../../src/errors.ts';
import { type Field, structureCodec } from '../../src/protocol/structures.ts';

const PART = { field: 'value' } as const;

describe('a structure', () => {
  const samples: [title: string, fields: Field[], hex: string, value: Record<string, unknown>][] = [
    [
      'with a version of three bytes at its end',
      [
        { name: 'a', type: 'u16' },
        { name: 'version', type: 'firmware-version' },
      ],
      '0001030401',
      { a: 1, version: '3.4.1' },
    ],
    [
      'with a text at its end',
      [
        { name: 'a', type: 'u16' },
        { name: 'text', type: 'utf8' },
      ],
      '0001c3a4',
      { a: 1, text: 'ä' },
    ],
    [
      'with a field that takes no place',
      [
        { name: 'nothing', type: 'void' },
        { name: 'a', type: 'u8' },
      ],
      '01',
      { nothing: null, a: 1 },
    ],
  ];
  for (const [title, fields, hex, value] of samples) {
    it(`${title} is read to its end, wherever it stands`, () => {
      const codec = structureCodec(fields);
      assert.equal(codec.take(hex.length), hex.length);
      assert.deepEqual(codec.read(hex, 0, hex.length), value);
      assert.deepEqual(codec.read(`ffff${hex}`, 4, 4 + hex.length), value);
    });
  }

  it('holds the limits of a field in its unit', () => {
    const codec = structureCodec([{ name: 'a', type: 's16', divisor: 10 }]);
    assert.equal(codec.write({ a: 3276.7 }, PART), '7fff');
    assert.equal(codec.write({ a: -3276.8 }, PART), '8000');
    for (const a of [3276.8, -3276.9]) {
      assert.throws(
        () => codec.write({ a }, PART),
        (error) => error instanceof ServiceError && error.text.key === 'INVALID_INPUT.outOfRange',
      );
    }
  });
});
