// What flows put into REST calls, field by field: what is accepted as it is, and why the rest is refused.
import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import { ServiceError } from '../../src/errors.ts';
import { HTTP_METHODS } from '../../src/protocol/http-methods.ts';
import { readBody, readDevice, readLabel, readMethod, readName } from '../../src/rest/inputs.ts';

/** The reason, the field and the text of a refusal. */
function refusal(read: (value: unknown) => unknown, value: unknown): [string, unknown, string] {
  try {
    read(value);
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'INVALID_INPUT', String(error));
    return [error.text.key.replace('INVALID_INPUT.', ''), error.cause.field, error.message];
  }
  return assert.fail('was not refused');
}

const FIELDS = { device: readDevice, name: readName, label: readLabel, method: readMethod } as const;

describe('inputs of REST calls', () => {
  for (const [field, read] of Object.entries(FIELDS)) {
    for (const [value, reason] of [
      [undefined, 'missing'],
      [null, 'missing'],
      ['', 'missing'],
      [' \t', 'missing'],
      [5, 'notText'],
      [false, 'notText'],
      [0, 'notText'],
      ['a\u0000', 'control'],
      ['a\u001fb', 'control'],
      ['\u007fa', 'control'],
      ['x'.repeat(2001), 'tooLong'],
    ] as const) {
      it(`say of ${field} = ${JSON.stringify(value)?.slice(0, 20)}: ${reason}`, () => {
        const [given, named, text] = refusal(read, value);
        assert.deepEqual([given, named], [reason, field]);
        assert.doesNotMatch(text, /__/);
      });
    }
  }

  it('show only the beginning of what is too long', () => {
    try {
      readName(`${'n'.repeat(80)}${'m'.repeat(3000)}`);
      assert.fail('was not refused');
    } catch (error) {
      assert.deepEqual((error as ServiceError).cause, { field: 'name', value: `${'n'.repeat(80)}…` });
      assert.match((error as ServiceError).message, /longer than 2000 characters/);
    }
  });

  it('may be 2 000 characters long, with letters of all kinds, and blanks where a name has them', () => {
    for (const read of [readName, readLabel, readDevice]) {
      assert.equal(read('x'.repeat(2000)), 'x'.repeat(2000));
    }
    assert.equal(readName(' é🏢 \u0080'), ' é🏢 \u0080');
    assert.equal(readLabel(' a b '), ' a b ');
    assert.equal(readName('..'), '..');
    assert.equal(readName('\ud800'), '\ud800', 'a name goes into the body');
  });

  it('say that a device or a label cannot go into a path', () => {
    assert.deepEqual(refusal(readDevice, '..').slice(0, 2), ['notDevice', 'device']);
    assert.deepEqual(refusal(readLabel, '..').slice(0, 2), ['notLabel', 'label']);
    assert.deepEqual(refusal(readDevice, 'a\udc00').slice(0, 2), ['notDevice', 'device']);
  });

  it('take a MAC address in every spelling for the device of that address', () => {
    for (const text of [' C0141F68FC3D ', 'c0:14:1f:68:fc:3d', 'c0-14-1F-68-fc-3d', 'BMAC-c0141f68fc3d']) {
      assert.equal(readDevice(text), 'bmac-c0141f68fc3d');
    }
    assert.equal(readDevice(' dev-17 '), 'dev-17');
  });

  it('take a method in any case, and name the methods otherwise', () => {
    for (const method of HTTP_METHODS) {
      assert.equal(readMethod(` ${method.toLowerCase()} `), method);
    }
    const [reason, field, text] = refusal(readMethod, 'HEAD');
    assert.deepEqual([reason, field], ['notMethod', 'method']);
    assert.match(text, /GET, POST, PUT, PATCH, DELETE/);
  });

  it('take whatever JSON can hold for a body', () => {
    for (const [value, text] of [
      [undefined, undefined],
      [null, 'null'],
      ['', '""'],
      [0, '0'],
      [false, 'false'],
      [[1], '[1]'],
      [{ a: 'ü' }, '{"a":"ü"}'],
      [{ a: undefined, b: 1 }, '{"b":1}'],
      [new Date(0), '"1970-01-01T00:00:00.000Z"'],
      [
        { at: [new Date(0)], from: new URL('http://a/b') },
        '{"at":["1970-01-01T00:00:00.000Z"],"from":"http://a/b"}',
      ],
      [{ toJSON: () => ({ a: [new Date(0)] }) }, '{"a":["1970-01-01T00:00:00.000Z"]}'],
      [runInNewContext('({ a: [1, { b: new Date(0) }] })'), '{"a":[1,{"b":"1970-01-01T00:00:00.000Z"}]}'],
    ]) {
      assert.equal(readBody(value), text);
    }
  });

  for (const [what, value] of Object.entries({
    NaN: Number.NaN,
    Infinity: Number.POSITIVE_INFINITY,
    'a date that is none': new Date(Number.NaN),
    'a function': () => 1,
    'a symbol': Symbol('s'),
    'a BigInt': 1n,
    'a Map': new Map([[1, 2]]),
    'a Set': new Set([1]),
    'a pattern': /x/,
    'an error': new Error('x'),
    'a buffer': Buffer.from('a'),
    'the bytes of a buffer': new ArrayBuffer(1),
    'a toJSON that gives NaN': { toJSON: () => Number.NaN },
    'a toJSON that gives a date': { toJSON: () => new Date(0) },
    'an object of a function node': runInNewContext('new Map()') as unknown,
  })) {
    it(`refuse a body with ${what}, which JSON would change or lose without a word`, () => {
      for (const body of [value, { limit: value }, [1, { deep: [value] }]]) {
        assert.deepEqual(refusal(readBody, body).slice(0, 2), ['notJsonBody', 'body']);
      }
    });
  }

  it('refuse a body with nothing, or a hole, in a list, or nested deeper than what comes from outside', () => {
    const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as unknown;
    assert.equal(readBody(nested(500)), JSON.stringify(nested(500)));
    const behindHole = Object.assign([], { 1: 1 });
    for (const body of [[undefined], behindHole, { a: new Array(3) }, nested(501), nested(100_000)]) {
      assert.deepEqual(refusal(readBody, body).slice(0, 2), ['notJsonBody', 'body']);
    }
  });

  it('refuse a body that JSON cannot hold, and do not show it', () => {
    const loop: Record<string, unknown> = {};
    loop.a = loop;
    for (const [value, shown] of [
      [Buffer.from('a'), 'binary'],
      [new Float64Array(2), 'binary'],
      [new DataView(new ArrayBuffer(1)), 'binary'],
      [new ArrayBuffer(1), 'object'],
      [Symbol('s'), 'symbol'],
      [() => 1, 'function'],
      [1n, 'bigint'],
      [{ toJSON: () => undefined }, 'object'],
      [
        {
          toJSON: () => {
            throw new Error('no');
          },
        },
        'object',
      ],
      [loop, 'object'],
    ] as const) {
      const [reason, field, text] = refusal(readBody, value);
      assert.deepEqual([reason, field], ['notJsonBody', 'body']);
      assert.ok(text.endsWith(`: ${shown}`), text);
    }
  });
});
