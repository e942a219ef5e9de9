// Addresses of the settings, paths and queries of flows: what they become, and why the rest is refused.
import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { ServiceError } from '../../src/errors.ts';
import {
  appendQuery,
  isWellFormed,
  leadsAway,
  readAttachPath,
  readBaseAddress,
  readPath,
  readQuery,
} from '../../src/rest/addresses.ts';

/** The reason and cause of a refusal. */
function refusal(read: () => unknown): [string, Record<string, unknown>] {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'INVALID_INPUT', String(error));
    return [error.text.key.replace('INVALID_INPUT.', ''), error.cause];
  }
  return assert.fail('was not refused');
}

describe('base addresses', () => {
  for (const [text, origin, host, prefix] of [
    ['http://host', 'http://host', 'host', ''],
    [' HTTPS://Host:8443/a/b// ', 'https://host:8443', 'host:8443', '/a/b'],
    ['http://[::1]:80/', 'http://[::1]', '[::1]', ''],
    ['http://host/a//b/', 'http://host', 'host', '/a//b'],
  ] as const) {
    it(`may be ${text}`, () => {
      assert.deepEqual(readBaseAddress('baseUrl', text), { origin, host, prefix });
    });
  }

  for (const [text, reason, shown = text] of [
    ['', 'notHttpUrl'],
    ['host', 'notHttpUrl'],
    ['http://', 'notHttpUrl'],
    ['ftp://host', 'notHttpUrl'],
    ['xhttp://host', 'notHttpUrl'],
    ['http:/host', 'notHttpUrl'],
    ['http://host?token=a', 'notHttpUrl', 'http://host'],
    ['http://host#a', 'notHttpUrl', 'http://host'],
    ['http://host:99999', 'badPort'],
    ['https://[::1]:port/a', 'badPort'],
    ['http://host:0', 'badPort'],
    ['https://name:word@host:0/a', 'badPort', 'https://…@host:0/a'],
    ['http://name:word@host:99999', 'badPort', 'http://…@host:99999'],
    ['http://:99999', 'notHttpUrl'],
    ['http://ho st:80', 'notHttpUrl'],
    ['ftp://host:99999', 'notHttpUrl'],
    ['http://name@host', 'secretInUrl', 'http://…@host'],
    ['http://:word@host', 'secretInUrl', 'http://…@host'],
    ['http://name:word@host/a', 'secretInUrl', 'http://…@host/a'],
    ['nothing://name:word@host', 'notHttpUrl', 'nothing://…@host'],
    ['name:word@host', 'notHttpUrl', '…@host'],
    ['https:/name:word@host', 'notHttpUrl', '…@host'],
    ['name:w//rd@host', 'notHttpUrl', '…@host'],
    ['name:w@rd\n@host?token', 'notHttpUrl', '…@host'],
  ] as const) {
    it(`may not be ${text}: ${reason}`, () => {
      const expected = [reason, { field: 'authUrl', value: shown }];
      assert.deepEqual(
        refusal(() => readBaseAddress('authUrl', text)),
        expected,
      );
    });
  }
});

describe('paths of free requests', () => {
  for (const [value, reason] of [
    [undefined, 'missing'],
    [null, 'missing'],
    ['', 'missing'],
    [5, 'notText'],
    [`/${'x'.repeat(4000)}`, 'tooLong'],
    ['http:x', 'badPath'],
    [' HTTPS:x', 'badPath'],
    [' A+b-.1:/x', 'badPath'],
    ['a:\\x', 'badPath'],
    ['ftp://x', 'badPath'],
    ['a\\b', 'badPath'],
    ['a#b', 'badPath'],
    ['%', 'badPath'],
    ['%4', 'badPath'],
    ['%g0', 'badPath'],
    ['%0g', 'badPath'],
    ['?a=%1f', 'badPath'],
    ['?a=\u007f', 'badPath'],
    ['//x', 'badPath'],
    ['..', 'badPath'],
    ['/../a', 'badPath'],
    ['a/../../b', 'badPath'],
    ['a/./../..', 'badPath'],
    ['.//x', 'badPath'],
    ['a/..//x', 'badPath'],
    ['\ud800', 'badPath'],
  ] as const) {
    it(`may not be ${JSON.stringify(value)?.slice(0, 30)}: ${reason}`, () => {
      assert.deepEqual(
        refusal(() => readPath(value, { resolvesDots: true })),
        [reason, { field: 'path', value }],
      );
    });
  }

  for (const [value, path] of [
    ['/', '/'],
    ['a', '/a'],
    ['1:b', '/1:b'],
    ['/a:b', '/a:b'],
    ['/a:/b', '/a:/b'],
    ['?to=http://b', '/?to=http://b'],
    ['devices:batch', '/devices:batch'],
    ['?a=b', '/?a=b'],
    ['?a=../..', '/?a=../..'],
    ['a/../b', '/b'],
    ['/a/b/../../c/', '/c/'],
    ['a/..', '/'],
    ['a/b/..?c=../d?e', '/a/?c=../d?e'],
    ['./a/./b/.', '/a/b/'],
    ['a//../b', '/a/b'],
    ['/%41%FF', '/%41%FF'],
    ['/a b?c d', '/a%20b?c%20d'],
    ['/ü', '/%C3%BC'],
    ['/%25', '/%25'],
    ['/%2541', '/%2541'],
    [`/${'x'.repeat(3999)}`, `/${'x'.repeat(3999)}`],
  ] as const) {
    it(`may be ${value.slice(0, 30)}`, () => assert.equal(readPath(value, { resolvesDots: true }), path));
  }

  for (const value of ['a/../b', 'labels/.', './a', 'a/..']) {
    it(`may not be ${value} where dots are not resolved`, () => {
      assert.deepEqual(
        refusal(() => readPath(value)),
        ['badPath', { field: 'path', value }],
      );
    });
  }

  it('may have the default port in front', () => {
    const base = readBaseAddress('baseUrl', 'https://host/api');
    assert.equal(readPath('https://host:443/api/a', { base }), '/a');
    assert.equal(readPath('http://host:80/a', { base: readBaseAddress('baseUrl', 'http://host') }), '/a');
  });

  describe('with the base URL in front', () => {
    const base = readBaseAddress('baseUrl', 'https://host:8443/api/');
    for (const [value, path] of [
      ['https://host:8443/api/devices?NextToken=a', '/devices?NextToken=a'],
      ['https://host:8443/api', '/'],
      ['https://host:8443/api?a=b', '/?a=b'],
      ['https://host:8443/api/a/../b', '/b'],
      ['/api/a', '/api/a'],
      [' HTTPS://HOST:8443/api/a b', '/a%20b'],
      ['a/https://host:8443/api/b', '/a/https://host:8443/api/b'],
    ] as const) {
      it(`may be ${value}`, () => assert.equal(readPath(value, { base, resolvesDots: true }), path));
    }

    for (const value of [
      'https://host:8443/apis',
      'https://host:8443/other',
      'https://host:8443/api/../other',
      'https://host:8443/api//other',
      'https://host:8443/api\\..',
      'https://host/api/a',
      'http://host:8443/api/a',
      'https://host:8443@other/api/a',
      'https://other@host:8443/api/a',
      'https://:secret@host:8443/api/a',
      'https://host:8443\\@other/api/a',
      'https://host:x/api/a',
    ]) {
      it(`may not be ${value}`, () => {
        assert.deepEqual(
          refusal(() => readPath(value, { base, resolvesDots: true })),
          ['badPath', { field: 'path', value }],
        );
      });
    }
  });

  it('say how long they may be', () => {
    assert.throws(() => readPath('x'.repeat(4001)), { message: /longer than 4000 characters/ });
  });

  it('lead away with more bytes than due for a character, and with the encoding of one vendor', () => {
    const overlong = [
      'c0',
      'C1',
      'e0%80',
      'e0%9F',
      'f0%80',
      'f0%8f',
      'f8%80',
      'f8%87',
      'fc%80',
      'fc%83',
      '25c0',
    ];
    for (const bytes of [...overlong, 'u002e', '25U00ff']) {
      assert.equal(leadsAway(`x%${bytes}y`), true, bytes);
    }
    const due = [
      'c2%80',
      'c3%a9',
      'cf%bf',
      'e0%a0%80',
      'e0%bf',
      'f0%90',
      'f8%88',
      'fc%84',
      'fc',
      'u00',
      'u00zz',
    ];
    for (const bytes of due) {
      assert.equal(leadsAway(`x%${bytes}y`), false, bytes);
    }
  });

  it('lead away with blanks, parameters, or a query around the dots', () => {
    const texts = ['.. ', ' .', 'a/ ../b', '..;', '..;x', '..;x\u0085y', '.?', '..#xy', '..?x;y', '%20..'];
    for (const text of texts) {
      assert.equal(leadsAway(text), true, text);
    }
  });

  it('lead away with control characters, a host or dots at any layer of encoding', () => {
    for (const text of [
      '\u001f',
      '\u007f',
      '/%2500',
      '//x',
      '\\\\x',
      '/%255cx',
      '.',
      'x/%252525252e',
      'a;/.;b',
      '..?x',
      '..#x',
    ]) {
      assert.equal(leadsAway(text), true, text);
    }
    for (const text of [
      '',
      '/',
      'a//b',
      '\u0080',
      '%80',
      '.;x'.slice(1),
      'x;..',
      'x?..',
      'a.',
      '.a',
      '...',
      '%2e2e',
    ]) {
      assert.equal(leadsAway(text), false, text);
    }
  });
});

describe('the path that attaches labels', () => {
  it('has the device in each of its places', () => {
    assert.equal(
      readAttachPath('devices/{device}/labels?of={device}', 'é/1'),
      '/devices/%C3%A9%2F1/labels?of=%C3%A9%2F1',
    );
  });

  it('may not be without a place for the device', () => {
    const template = '/devices/labels';
    assert.deepEqual(
      refusal(() => readAttachPath(template, 'x')),
      ['missingPart', { field: 'attachPath', value: template }],
    );
    assert.throws(() => readAttachPath(template, 'x'), { message: /\{device\}/ });
  });

  it('may not be what no path may be: the error shows it as it is in the settings', () => {
    for (const template of ['//{device}', '/../{device}', `/{device}${'x'.repeat(4000)}`]) {
      assert.deepEqual(
        refusal(() => readAttachPath(template, 'x')),
        ['badPath', { field: 'attachPath', value: template }],
      );
    }
  });
});

describe('a text that is encoded many times', () => {
  it('is read in a time that grows with its length, whatever it leads to', () => {
    for (const [what, isAway] of [
      ['41', false],
      ['2e', true],
    ] as const) {
      for (const part of ['%25', '25']) {
        const start = performance.now();
        assert.equal(leadsAway(`a/.%${part.repeat(300_000 / part.length)}${what}`), isAway && part === '25');
        // By the square it would be minutes.
        assert.ok(performance.now() - start < 5_000, part);
      }
    }
  });

  it('leads away by what is put together at different depths', () => {
    for (const text of [
      'x/%2e%252525252e/y',
      '%25%32%65.',
      'x/%2%35%32e.',
      '%2%2566%252f',
      '%%63%2530',
      '%0%2531',
    ]) {
      assert.equal(leadsAway(text), true, text);
    }
    for (const text of ['x/%2e%25252541/y', '%2%3565', '%%35%340', 'x/..%252e', '%8%30']) {
      assert.equal(leadsAway(text), false, text);
    }
  });
});

describe('queries', () => {
  it('may be absent', () => {
    for (const value of [undefined, null, '']) {
      assert.deepEqual(readQuery(value), {});
    }
    assert.deepEqual(readQuery({}), {});
  });

  it('are copied, so that a flow may change its own meanwhile', () => {
    const query = { a: [1, 2], b: 'x' };
    const read = readQuery(query);
    query.a.push(3);
    query.b = 'y';
    assert.deepEqual(read, { a: [1, 2], b: 'x' });
  });

  it('may have texts, numbers, booleans, nothing, and arrays of them', () => {
    const query = { t: 'é', n: 1.5, b: false, z: null, u: undefined, a: ['x', 0, true], e: [] };
    assert.deepEqual(readQuery(query), query);
  });

  for (const value of [
    'a=b',
    0,
    true,
    [],
    ['a'],
    { a: {} },
    { a: [null] },
    { a: [undefined] },
    { a: Number.POSITIVE_INFINITY },
    { a: [Number.NaN] },
    { '': 1 },
    { '\ud800': 1 },
    { a: ['\udc00'] },
    { a: 'b', c: Symbol('d') },
    new Map([['a', 'b']]),
    new Set(['a']),
    new URLSearchParams('a=b'),
    new Date(0),
    Buffer.from('a=b'),
  ]) {
    it(`may not be ${inspect(value)}`, () => {
      assert.deepEqual(
        refusal(() => readQuery(value)),
        ['notQuery', { field: 'query', value }],
      );
    });
  }
  for (const [value, shown] of [
    [() => 1, 'function'],
    [{ a: 1n }, 'object'],
  ] as const) {
    it(`may not be ${inspect(value)}, which an error shows in words`, () => {
      assert.deepEqual(
        refusal(() => readQuery(value)),
        ['notQuery', { field: 'query', value: shown }],
      );
    });
  }

  it('are appended encoded, after those that are there', () => {
    assert.equal(appendQuery('/a'), '/a');
    assert.equal(appendQuery('/a', {}), '/a');
    assert.equal(appendQuery('/a', { b: [], c: null, d: undefined }), '/a');
    assert.equal(appendQuery('/a', { 'b c': ['&', 2], d: false, e: '' }), '/a?b%20c=%26&b%20c=2&d=false&e=');
    assert.equal(appendQuery('/a?x', { b: 1 }), '/a?x&b=1');
    assert.equal(appendQuery('/a', { b: [null, 1, undefined] }), '/a?b=1');
  });

  it('are of well-formed text', () => {
    assert.deepEqual(['', 'a', '🏢', '\ud800', 'a\udc00b', '\udc00\ud800'].map(isWellFormed), [
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});
