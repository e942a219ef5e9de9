// Bodies of responses: what is a login, what is a page of devices, and what a hostile service could send instead.
import assert from 'node:assert/strict';
import {
  isFailing,
  isLoginResponse,
  isWebPage,
  readDevicePage,
  readToken,
  redirectTarget,
  refusalReason,
} from '../../src/rest/responses.ts';

describe('login responses', () => {
  const token = (authToken: unknown, status: unknown = 'SUCCESS') =>
    readToken(JSON.stringify({ status, authToken }));

  it('give their token, up to 16 384 visible characters', () => {
    for (const text of ['a.b.c', '!', '~', 'x'.repeat(16_384)]) {
      assert.equal(token(text), text);
    }
  });

  for (const [title, authToken] of [
    ['an empty one', ''],
    ['a longer one', 'x'.repeat(16_385)],
    ['a blank', 'a b'],
    ['a line break', 'a\r\nb'],
    ['a letter beyond ASCII', 'é'],
    ['a control character', 'a\u007f'],
    ['a number', 5],
    ['null', null],
    ['none', undefined],
  ] as const) {
    it(`give no token with ${title}`, () => assert.equal(token(authToken), undefined));
  }

  for (const status of ['success', 'FAILED', null, true, undefined]) {
    it(`give no token with the status ${status}`, () => assert.equal(token('a', status ?? null), undefined));
  }

  for (const text of ['', 'null', '[]', '"SUCCESS"', '[{"status":"SUCCESS","authToken":"a"}]', '{']) {
    it(`are none: ${text}`, () => assert.equal(readToken(text), undefined));
  }
});

describe('responses of whoever answers', () => {
  const PAGE = ' \n<!DOCTYPE html>';

  it('are a web page where a browser would show one', () => {
    assert.deepEqual([PAGE, '<html>', '{"a":"<"}', 'a<b>', ''].map(isWebPage), [
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('say whether a login succeeded, as only the service does', () => {
    for (const text of ['{"status":"SUCCESS"}', '{"status":""}']) {
      assert.equal(isLoginResponse(text), true, text);
    }
    for (const text of ['{"status":200}', '{}', '"status"', 'null', '[]', 'status', '']) {
      assert.equal(isLoginResponse(text), false, text);
    }
  });

  for (const [statusCode, body, reason] of [
    [299, '', 'statusOnly'],
    [300, 'why', 'redirect'],
    [302, PAGE, 'redirect'],
    [399, '', 'redirect'],
    [304, '', 'statusOnly'],
    [400, 'why', 'status'],
    [400, ' \n', 'statusOnly'],
    [404, PAGE, 'webPage'],
    [499, PAGE, 'webPage'],
    [429, PAGE, 'webPageFailing'],
    [500, PAGE, 'webPageFailing'],
    [503, 'why', 'status'],
  ] as const) {
    it(`refuse by ${reason} with ${statusCode} and ${JSON.stringify(body)}`, () => {
      assert.equal(refusalReason({ statusCode, body, headers: {}, isCut: false }, body), reason);
    });
  }

  it('refuse by their status alone where nothing of them may be shown', () => {
    assert.equal(
      refusalReason({ statusCode: 400, body: 'why', headers: {}, isCut: false }, ''),
      'statusOnly',
    );
  });

  it('tell that the service cannot answer at the moment', () => {
    assert.deepEqual([200, 404, 428, 429, 430, 499, 500, 599].map(isFailing), [
      ...[false, false, false, true],
      ...[false, false, true, true],
    ]);
  });
});

describe('device list responses', () => {
  const page = (items: unknown, more: object = {}) => readDevicePage({ items, ...more });

  it('give a `mac` that is made from the id, never one of the service', () => {
    const [other, usual] = page([
      { id: 'gw-7', mac: 'C0:14:1F:68:FC:4E' },
      { id: 'bmac-c0141f68fc3d', mac: 'C0:14:1F:68:FC:4E' },
    ])!.devices;
    assert.deepEqual(other, { id: 'gw-7' });
    assert.equal(usual?.mac, 'c0141f68fc3d');
  });

  it('give devices and the token of the next page', () => {
    assert.deepEqual(page([], { nextToken: 't' }), { devices: [], nextToken: 't' });
    for (const nextToken of [null, undefined, '']) {
      assert.deepEqual(page([{ id: 'a' }], { nextToken }), { devices: [{ id: 'a' }], nextToken: undefined });
    }
  });

  it('are none with a token that cannot be sent back', () => {
    for (const nextToken of [5, {}, '\ud800', 'a\udc00b']) {
      assert.equal(page([{ id: 'a' }], { nextToken }), undefined);
    }
    assert.equal(page([], { nextToken: '\u{1f600}' })?.nextToken, '\u{1f600}');
  });

  for (const [id, mac] of [
    ['bmac-c0141f68fc3d', 'c0141f68fc3d'],
    ['bmac-C0141F68FC3D', 'c0141f68fc3d'],
    ['BMAC-c0141f68fc3d', 'c0141f68fc3d'],
    ['c0141f68fc3d', 'c0141f68fc3d'],
    ['c0:14:1f:68:fc:3d', 'c0141f68fc3d'],
    ['bmac-c0141f68fc3', undefined],
    ['bmac-c0141f68fc3dd', undefined],
    ['xmac-c0141f68fc3d', undefined],
    ['other', undefined],
    [5, undefined],
    [null, undefined],
  ] as const) {
    it(`${mac ? 'give a MAC address for' : 'give no MAC address for'} the id ${id}`, () => {
      const expected = mac === undefined ? { id } : { id, mac };
      assert.deepEqual(page([{ id }])?.devices, [expected]);
    });
  }

  for (const answer of [
    undefined,
    null,
    [],
    'items',
    {},
    { items: null },
    { items: { length: 0 } },
    { items: [null] },
    { items: ['a'] },
    { items: [[]] },
    { items: [{ id: 'a' }, 5] },
    { items: [], nextToken: 5 },
    { items: [], nextToken: {} },
    { items: [], nextToken: false },
  ]) {
    it(`are none: ${JSON.stringify(answer)}`, () => assert.equal(readDevicePage(answer), undefined));
  }
});

describe('a redirect', () => {
  const BASE = { origin: 'http://portal', host: 'portal', prefix: '' };
  const long = (length: number) => `https://${'a'.repeat(length - 'https://'.length)}`;
  const ROWS: [location: unknown, origin: string | undefined][] = [
    ['https://portal/login?token=x', 'https://portal'],
    ['//other/x', 'http://other'],
    ['HTTPS://Other:8443', 'https://other:8443'],
    [long(200), long(200)],
    [long(201), undefined],
    ['/login', undefined],
    ['http://PORTAL:80/x', undefined],
    ['ftp://other/', undefined],
    ['xhttp://other/', undefined],
    ['httpsx://other/', undefined],
    ['javascript:alert(1)', undefined],
    ['https://', undefined],
    ['https://swordfish.example', undefined],
    [['https://a', 'https://b'], undefined],
    [undefined, undefined],
  ];
  for (const [location, origin] of ROWS) {
    it(`names ${origin ? 'the other place' : 'no place'}: ${String(location).slice(0, 40)}`, () => {
      const headers = { location } as Record<string, string>;
      const target = redirectTarget({ statusCode: 302, headers, body: '', isCut: false }, BASE, (text) =>
        text.includes('swordfish'),
      );
      assert.deepEqual(target, origin === undefined ? '' : { key: 'reason.leadsTo', values: { origin } });
    });
  }
});
