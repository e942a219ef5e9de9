// Values of flows and texts from outside: what is JSON passes unchanged, and nothing is nested too deep.
import assert from 'node:assert/strict';
import { ServiceError } from '../../src/errors.ts';
import {
  copyFields,
  copyJson,
  DeepText,
  isJsonObject,
  isObject,
  jsonText,
  parseJson,
  parseReceived,
} from '../../src/protocol/json.ts';

const nested = (open: string, close: string, levels: number, inside = ''): string =>
  open.repeat(levels) + inside + close.repeat(levels);

function assertRefused(run: () => unknown, field: string): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof ServiceError, String(error));
    assert.deepEqual([error.text.key, error.cause.field], ['INVALID_INPUT.notJson', field]);
    return true;
  });
}

describe('a JSON text from outside', () => {
  const long = 'x'.repeat(2_000);
  const texts: [title: string, text: string][] = [
    ['null', 'null'],
    ['a number', '12.5'],
    ['a long text', JSON.stringify(long)],
    ['a long list of small things', JSON.stringify(Array.from({ length: 1_000 }, (_, i) => [null, { i }]))],
    ['an object with a long list', JSON.stringify({ a: null, b: [{ c: [long] }], d: 1 })],
    ['a list of 500 levels', nested('[', ']', 500, `"${long}"`)],
    ['an object of 500 levels', nested('{"a":', '}', 500, '1')],
  ];
  for (const [title, text] of texts) {
    it(`is read: ${title}`, () => assert.deepEqual(parseJson(text), JSON.parse(text)));
  }

  const others: [title: string, text: string][] = [
    ['nothing', ''],
    ['what is no JSON', '{'],
    ['a list of 501 levels', nested('[', ']', 501)],
    ['an object of 501 levels', nested('{"a":', '}', 501, '1')],
    ['a list whose last item is too deep', `[1,"x",null,{},${nested('[', ']', 500)}]`],
    [
      'an object whose last field is too deep',
      `{"a":1,"b":null,"c":[],"d":${nested('[{"e":', '}]', 250, '[]')}}`,
    ],
  ];
  for (const [title, text] of others) {
    it(`is not read: ${title}`, () => assert.equal(parseJson(text), undefined));
  }

  it('is that of an object which is nested too deep', () => {
    for (const text of [nested('{"a":', '}', 501, '1'), `{"a":${nested('[', ']', 500)}}`]) {
      assert.deepEqual(parseReceived(text), new DeepText(text));
    }
    const fine = [nested('{"a":', '}', 500, '1'), '{"a":1}'];
    for (const text of [...fine, nested('[', ']', 501), nested('{"a":', '}', 501), 'x', '"x"', 'null', '']) {
      assert.ok(!(parseReceived(text) instanceof DeepText));
    }
  });
});

describe('a value of a flow', () => {
  const throwing = (key: PropertyKey): object =>
    Object.defineProperty({}, key, {
      enumerable: true,
      get() {
        throw new Error('hands off');
      },
    });

  it('is copied, without the fields that are undefined', () => {
    const value = { a: [1, 'x', null, true, { b: undefined }], c: undefined };
    const copy = copyJson(value, 'value') as typeof value;
    assert.deepEqual(copy, { a: [1, 'x', null, true, {}] });
    assert.notEqual(copy.a, value.a);
  });

  it('is copied with any field that JSON can have', () => {
    for (const value of [{}, { toJSON: 5 }, { a: {}, b: [] }]) {
      assert.deepEqual(copyJson(value, 'value'), value);
    }
  });

  it('is copied down to 100 levels, and refused beyond', () => {
    for (const [open, close, inside] of [
      ['[', ']', '1'],
      ['{"a":', '}', '1'],
    ] as const) {
      const deepest: unknown = JSON.parse(nested(open, close, 100, inside));
      assert.deepEqual(copyJson(deepest, 'value'), deepest);
      const deeper: unknown = JSON.parse(nested(open, close, 101, inside));
      assertRefused(() => copyJson(deeper, 'value'), 'value');
    }
  });

  it('is refused when it would become something else on the way', () => {
    const values = [
      ...[Number.NaN, Number.NEGATIVE_INFINITY, undefined, () => 1, 5n, Symbol('x'), new Date(), new Map()],
      ...[[undefined], { a: new Array(3) }, Object.assign([], { 1: 'behind a hole' })],
      ...[{ a: 1, b: Number.NaN }, { toJSON: () => 1 }, Object.create({ toJSON: () => 1 })],
      throwing('a'),
    ];
    for (const value of values) {
      assertRefused(() => copyJson(value, 'ext'), 'ext');
    }
  });

  it('is an object, or it is not, whatever it says of itself', () => {
    for (const value of [{}, Object.create(null), { a: 1 }]) {
      assert.equal(isJsonObject(value), true);
    }
    for (const value of [null, undefined, [], 'x', new Date(), throwing(Symbol.toStringTag)]) {
      assert.equal(isJsonObject(value), false);
    }
  });

  it('that was parsed is an object, or it is an array, null or something else', () => {
    assert.deepEqual([{}, [], null, 'a', undefined, () => 1].map(isObject), [
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  it('has its fields read once', () => {
    let reads = 0;
    const counting = Object.defineProperty({ b: 2 }, 'a', { enumerable: true, get: () => ++reads });
    assert.deepEqual(copyFields(counting, 'report'), { b: 2, a: 1 });
    assert.equal(reads, 1);
    assertRefused(() => copyFields(throwing('a'), 'report'), 'report');
  });

  const converts = (value: unknown): object => ({ toJSON: () => value });

  it('becomes a JSON text where it says itself what it is in JSON', () => {
    const texts: [value: unknown, text: string][] = [
      [{ at: new Date(0), none: undefined }, '{"at":"1970-01-01T00:00:00.000Z"}'],
      [[converts({ a: [1] })], '[{"a":[1]}]'],
      [converts({ at: new Date(0) }), '{"at":"1970-01-01T00:00:00.000Z"}'],
      [null, 'null'],
      [JSON.parse(nested('[', ']', 500)), nested('[', ']', 500)],
    ];
    for (const [value, text] of texts) {
      assert.equal(jsonText(value), text);
    }
  });

  it('becomes no JSON text where something would get lost', () => {
    const values = [
      ...[undefined, Number.NaN, [undefined], new Map(), new Date(Number.NaN), Buffer.from('a'), () => 1],
      ...[new Uint8Array(1), converts(null), converts(undefined), converts(Number.NaN), converts(new Date())],
      ...[{ a: converts(new Map()) }, converts(converts(1)), throwing('a'), throwing('toJSON')],
      ...[JSON.parse(nested('[', ']', 501)), converts(JSON.parse(nested('[', ']', 500)))],
    ];
    for (const value of values) {
      assert.equal(jsonText(value), undefined, String(typeof value));
    }
  });
});
