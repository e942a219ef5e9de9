// What proxies and services on the way could make of an accepted path: whatever they decode and strip, it stays below the base.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ServiceError } from '../../src/errors.ts';
import { readPath } from '../../src/rest/addresses.ts';
import { createRequest } from '../../src/rest/endpoints.ts';
import { readDevice, readLabel } from '../../src/rest/inputs.ts';

/** Decodes percent-encoding, and UTF-8 as a careless decoder does: also characters with more bytes than due. */
function decode(text: string): string {
  const bytes = [
    ...Buffer.from(text, 'utf8')
      .toString('latin1')
      .matchAll(/%([0-9a-f]{2})|./gis),
  ].map(([whole, hex]) => (hex === undefined ? whole.charCodeAt(0) : Number.parseInt(hex, 16)));
  let decoded = '';
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at]!;
    const more = [0xc0, 0xe0, 0xf0, 0xf8, 0xfc].filter((least) => lead >= least).length;
    const rest = bytes.slice(at + 1, at + 1 + more);
    if (more === 0 || rest.length < more || rest.some((byte) => byte >> 6 !== 2)) {
      decoded += String.fromCharCode(lead);
      continue;
    }
    const code = rest.reduce((sum, byte) => sum * 64 + (byte & 0x3f), lead & (0x3f >> more));
    decoded += code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? '?' : String.fromCodePoint(code);
    at += more;
  }
  return decoded;
}

/** Whether a path, read by somebody who knows these tricks, names something above where it begins. */
function leaves(path: string, hasParameters: boolean, hasBackslashes: boolean): boolean {
  const parts = (hasBackslashes ? path.replaceAll('\\', '/') : path).split(/[?#]/)[0]!.split('/').slice(1);
  let depth = 0;
  for (const part of parts) {
    const name = (hasParameters ? part.replace(/;.*$/s, '') : part).trim();
    if (name === '..') {
      depth--;
    }
    if (depth < 0) {
      return true;
    }
    if (name !== '..' && name !== '.') {
      depth++;
    }
  }
  return false;
}

function assertStays(path: string): void {
  for (let layer = 0, now = path; layer < 8; layer++, now = decode(now)) {
    for (const hasParameters of [false, true]) {
      for (const hasBackslashes of [false, true]) {
        assert.ok(!leaves(now, hasParameters, hasBackslashes), `${path} leaves the base as ${now}`);
      }
    }
  }
}

const DOTS = ['.', '..', '%2e', '%2E.', '%252e', '%25252E', '%c0%ae', '%c0%2e', '%e0%80%ae', '%f0%80%80%ae'];
const LONG_DOTS = ['%f8%80%80%80%ae', '%fc%80%80%80%80%ae', '%25c0%25ae', '%c0%a5%32e', '%u002e', '%25u002e'];
const SLASHES = ['/', '\\', '%2f', '%5c', '%252f', '%c0%af', '%e0%80%af', '%c1%9c', '%f0%80%80%af', '//'];
const FURTHER = [
  'a',
  ';',
  ';x=1',
  '%3b',
  '%253b',
  '?',
  '%3f',
  '%23',
  '%20',
  ' ',
  '%25',
  '%',
  'é',
  '%e9',
  '%09',
];

const texts = fc
  .array(fc.constantFrom(...DOTS, ...LONG_DOTS, ...SLASHES, ...FURTHER), { minLength: 1, maxLength: 7 })
  .map((parts) => parts.join(''));

/** What was read, or undefined when it was refused as it should be. */
function accepted(read: () => string): string | undefined {
  try {
    return read();
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === 'INVALID_INPUT', String(error));
    return undefined;
  }
}

describe('paths on their way through proxies', () => {
  it('stay below the base when a flow gives the path', () => {
    let count = 0;
    const property = fc.property(texts, (text) => {
      const path = accepted(() => readPath(text, { resolvesDots: true }));
      if (path === undefined) {
        return;
      }
      count++;
      assertStays(path);
      for (let layer = 0, now = path; layer < 8; layer++, now = decode(now)) {
        assert.doesNotMatch(now, /^[\\/]{2}/, `${path} names a host`);
      }
    });
    fc.assert(property, { numRuns: 20_000 });
    assert.ok(count > 500, `${count} were accepted`);
  });

  it('stay at their place when a flow gives a device or a label', () => {
    let count = 0;
    const property = fc.property(texts, texts, (one, two) => {
      const device = accepted(() => readDevice(one));
      const label = accepted(() => readLabel(two));
      if (device === undefined || label === undefined) {
        return;
      }
      count++;
      const { path } = createRequest('removeLabel', { device, label });
      assert.equal(path.split('/').length, 7);
      const [, , , , encodedDevice = '', , encodedLabel = ''] = path.split('/');
      for (const text of [encodedDevice, encodedLabel]) {
        assertStays(`/${text}`);
      }
    });
    fc.assert(property, { numRuns: 20_000 });
    assert.ok(count > 500, `${count} were accepted`);
  });

  const REFUSED = [
    '/..;/x',
    '/..;a=b/x',
    '/a/.;x',
    '/%2e%2e;/x',
    '/..%3b/x',
    '/..%253bx/y',
    '/..%3f',
    '/..%23',
    '/..%20/x',
    '/%c0%ae%c0%ae/x',
    '/%C0%AE./x',
    '/a%c0%af..',
    '/%e0%80%ae%e0%80%ae/x',
    '/%f0%80%80%ae%f0%80%80%ae/x',
    '/%f8%80%80%80%ae',
    '/%fc%80%80%80%80%ae',
    '/%25c0%25ae%25c0%25ae/x',
    '/a%c1%9c..',
    '/%25u002e%25u002e/x',
    '/%c0/x',
    '/%c1x',
  ];
  for (const path of REFUSED) {
    it(`are refused as ${path}`, () => {
      assert.throws(() => readPath(path), { code: 'INVALID_INPUT', cause: { field: 'path', value: path } });
    });
  }

  for (const path of [
    '/a;v=1/b',
    '/..a/b',
    '/a./b..',
    '/%e9t%e9',
    '/%c3%a9',
    '/%e0%a4%85',
    '/%f0%9f%8f%a2',
    '/;',
    '/x/;/y',
  ]) {
    it(`may be ${path}`, () => {
      assert.equal(readPath(path), path);
      assertStays(path);
    });
  }

  const AWAY = [
    '.',
    '..',
    '../',
    '/..',
    'a/../b',
    'a/..',
    './a',
    'a\\..',
    '..;',
    '..;x/y',
    'a/.;',
    '%2e%2e',
    '%2e.',
    'a%2f..',
  ];
  for (const text of [
    ...AWAY,
    '%252e%252e',
    '%c0%ae',
    '%c0%ae%c0%ae/x',
    '%e0%80%ae',
    ' ..',
    '.. /a',
    '%u002e',
    'a%00',
    '\ud800',
  ]) {
    it(`have neither a device nor a label ${JSON.stringify(text)} in them`, () => {
      for (const [field, read] of [
        ['device', readDevice],
        ['label', readLabel],
      ] as const) {
        assert.throws(() => read(text), { code: 'INVALID_INPUT', cause: { field, value: text } });
      }
    });
  }

  for (const text of [
    '..hidden',
    '...',
    'a..b',
    'a/b',
    '/',
    '//',
    ';',
    'a;b',
    '50 % off',
    '%zz',
    'é',
    '🏢',
    '#1',
    'a?b',
    '\\',
  ]) {
    it(`have a device or a label ${JSON.stringify(text)} in them, as one part`, () => {
      for (const read of [readDevice, readLabel]) {
        assert.equal(read(text), text);
      }
      const { path } = createRequest('removeLabel', { device: text, label: text });
      assert.deepEqual(path.split('/').map(decodeURIComponent), [
        '',
        'api',
        'v1',
        'devices',
        text,
        'labels',
        text,
      ]);
    });
  }
});
