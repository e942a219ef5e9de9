// The error that flows get, and how values from outside are shown in its text.
import assert from 'node:assert/strict';
import { fillText, inEnglish, invalidInput, ServiceError, showDuration, showValue } from '../src/errors.ts';

describe('an error of the package', () => {
  it('has a text with its values in it, a code, a cause, and the key of the text in other languages', () => {
    const cause = { field: 'device' };
    const values = { field: 'device', value: 'x' };
    const error = new ServiceError('INVALID_INPUT', 'notMac', cause, values);
    assert.equal(error.message, 'device must be a MAC address of 12 hex digits: x');
    assert.deepEqual([error.name, error.code, error.cause], ['ServiceError', 'INVALID_INPUT', cause]);
    assert.deepEqual(error.text, { key: 'INVALID_INPUT.notMac', values });
    assert.ok(error instanceof Error);
  });

  it('is shown by its text alone', () => {
    const error = new ServiceError('CLOSED', 'stopped');
    assert.equal(`${error}`, error.message);
    assert.deepEqual([error.cause, error.text.values], [{}, {}]);
  });

  it('falls back to its code where there is no text', () => {
    assert.equal(new ServiceError('CLOSED', 'whatever').message, 'CLOSED');
    assert.equal(new ServiceError('OF_LATER' as 'CLOSED', 'whatever').message, 'OF_LATER');
  });

  it('for a field names the field and the value', () => {
    const error = invalidInput('priority', ['high'], 'notPriority', { more: 1 });
    assert.deepEqual([error.code, error.cause], ['INVALID_INPUT', { field: 'priority', value: ['high'] }]);
    assert.deepEqual(error.text.values, { field: 'priority', value: '["high"]', more: 1 });
  });

  it('leaves a placeholder without a value in its text', () => {
    assert.equal(fillText('__a__ and __b__, __a____c__', { a: 1, c: 'x' }), '1 and __b__, 1x');
  });

  it('has a phrase in its language, in place of its key', () => {
    const phrase = { key: 'error.INVALID_INPUT.notMac', values: { field: 'gateway', value: 7 } };
    const told = 'gateway must be a MAC address of 12 hex digits: 7';
    assert.equal(inEnglish(phrase), told);
    assert.equal(fillText('so: __why__', { why: phrase }), `so: ${told}`);
  });

  for (const key of ['error.CLOSED.never', 'never.CLOSED.stopped', 'error.CLOSED']) {
    it(`has the key of a phrase that is no text: ${key}`, () => {
      assert.equal(inEnglish({ key, values: {} }), key);
    });
  }

  it('can be told with other values, and keeps its code and cause', () => {
    const values = { field: 'device', value: 'x', more: 1 };
    const error = new ServiceError('INVALID_INPUT', 'notMac', { field: 'device' }, values);
    error.retell({ field: 'the device', value: 'y' });
    assert.equal(error.message, 'the device must be a MAC address of 12 hex digits: y');
    assert.deepEqual(error.text, {
      key: 'INVALID_INPUT.notMac',
      values: { field: 'the device', value: 'y', more: 1 },
    });
    assert.deepEqual([error.code, error.cause], ['INVALID_INPUT', { field: 'device' }]);
  });
});

describe('a duration in a text', () => {
  for (const [ms, shown] of [
    [0, '0 ms'],
    [250, '250 ms'],
    [1_000, '1 s'],
    [1_500, '1500 ms'],
    [30_000, '30 s'],
    [120_000, '120 s'],
  ] as const) {
    it(`of ${ms} ms is shown as ${shown}`, () => assert.equal(showDuration(ms), shown));
  }
});

describe('the cause of an error', () => {
  const cause = { status: 3, errorMessage: 'device unknown', more: [1, { a: 2 }] };
  const error = new ServiceError('REQUEST_FAILED', 'status', cause, {
    gateway: 'g',
    device: 'd',
    message: 'x',
  });

  it('is readable where it is put into a text, with the address that the text of the error names', () => {
    const text = 'gateway g, device d, status 3, errorMessage device unknown, more [1,{"a":2}]';
    assert.equal(`${error.cause}`, text);
    assert.equal(
      `${new ServiceError('TIMEOUT', 'noAnswer', { gateway: 'a' }, { gateway: 'b' }).cause}`,
      'gateway a',
    );
  });

  it('is a plain object in every other respect, however it is copied', () => {
    for (const copy of [error.cause, { ...error.cause }, structuredClone(error.cause)]) {
      assert.deepStrictEqual(copy, cause);
      assert.deepEqual(Object.keys(copy), Object.keys(cause));
      assert.equal(Object.getPrototypeOf(copy), Object.prototype);
    }
    assert.equal(JSON.stringify(error.cause), JSON.stringify(cause));
    assert.equal(`${cause}`, '[object Object]');
  });

  it('is shown in a bounded text, and without what is not there', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`name${n}`, 'x'.repeat(100)]));
    const shown = `${new ServiceError('REQUEST_FAILED', 'status', many).cause}`;
    assert.equal(shown.length, 501);
    assert.ok(shown.startsWith('name0 xxx') && shown.endsWith('…'), shown);
    const missing = new ServiceError('TIMEOUT', 'noAnswer', { gateway: 'g', identifier: undefined });
    assert.equal(`${missing.cause}`, 'gateway g');
    assert.equal(`${new ServiceError('CLOSED', 'stopped').cause}`, '');
  });

  it('is shown whole up to 500 characters', () => {
    const shownOf = (length: number) => {
      // More than 80 characters of one value are not shown.
      const cause = Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`a${n}`, 'x'.repeat(80)]));
      return `${new ServiceError('REQUEST_FAILED', 'status', { ...cause, end: 'x'.repeat(length) }).cause}`;
    };
    const full = 500 - shownOf(0).length;
    assert.equal(shownOf(full), `${shownOf(0)}${'x'.repeat(full)}`);
    assert.equal(shownOf(full + 1), `${shownOf(full)}…`);
  });

  it('is readable also where a hostile response claims to know how', () => {
    const claim = JSON.parse('{"toString":1,"valueOf":2,"__proto__":{"a":1},"status":3}');
    const { cause: hostile } = new ServiceError('REQUEST_FAILED', 'status', claim);
    assert.equal(`${hostile}`, 'toString 1, valueOf 2, __proto__ {"a":1}, status 3');
    assert.deepEqual(Object.keys(hostile), Object.keys(claim));
  });
});

describe('a value in an error text', () => {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  const throwing = {
    toJSON() {
      throw new Error('hands off');
    },
    toString: () => 'never shown',
  };
  const shown: [title: string, value: unknown, text: string][] = [
    ['a text', 'x', 'x'],
    ['a number', 5, '5'],
    ['null', null, 'null'],
    ['undefined', undefined, 'undefined'],
    ['NaN', Number.NaN, 'NaN'],
    ['a number beyond all', -Infinity, '-Infinity'],
    ['an object', { a: [1] }, '{"a":[1]}'],
    ['a symbol', Symbol('x'), 'Symbol(x)'],
    ['a large integer', 5n, '5'],
    ['a function', () => 1, 'function'],
    ['a cycle', cycle, 'object'],
    ['an object that throws', throwing, 'object'],
    [
      'an object that is nothing in JSON',
      { toJSON: () => undefined, toString: () => 'never shown' },
      'object',
    ],
    ['a text of 80 characters', 'x'.repeat(80), 'x'.repeat(80)],
    ['a longer text', 'x'.repeat(81), `${'x'.repeat(80)}…`],
  ];
  for (const [title, value, text] of shown) {
    it(`is short and harmless: ${title}`, () => assert.equal(showValue(value), text));
  }

  it('is in the cause as it was, or in words where JSON cannot show it', () => {
    const causeOf = (value: unknown) => invalidInput('device', value, 'missing').cause.value;
    for (const value of ['x', 5, null, undefined, true, { a: [1] }, ['x'.repeat(81)]]) {
      assert.equal(causeOf(value), value);
    }
    for (const value of [cycle, throwing, () => 1, 5n, Symbol('x')]) {
      assert.equal(causeOf(value), showValue(value));
    }
  });
});
