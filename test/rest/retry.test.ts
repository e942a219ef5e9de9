// When a call is worth another attempt, how long to wait for it, and what may have been done without a response.
import assert from 'node:assert/strict';
import { inEnglish, ServiceError } from '../../src/errors.ts';
import { NetworkError } from '../../src/rest/faults.ts';
import type { HttpResponse } from '../../src/rest/http.ts';
import { isAfterLoss, isLost, noteLost, refusedWait, repeatOf, retryDelay } from '../../src/rest/retry.ts';

const NOW = Date.parse('2026-11-21T03:00:00Z');
const least = () => 0;
const answerOf = (statusCode: number, headers: HttpResponse['headers'] = {}): HttpResponse => ({
  statusCode,
  headers,
  body: '',
  isCut: false,
});
const asking = (retryAfter: string | string[], headers = {}) =>
  answerOf(429, { 'retry-after': retryAfter, ...headers });
const network = (reason: string, wasSent = true) => new NetworkError(reason, { code: 'X' }, {}, wasSent);

describe('retries', () => {
  it('are careful with POST and PATCH only', () => {
    const kinds = ['GET', 'PUT', 'DELETE', 'POST', 'PATCH'].map(repeatOf);
    assert.deepEqual(kinds, ['repeatable', 'repeatable', 'repeatable', 'careful', 'careful']);
  });

  for (const status of [200, 301, 400, 401, 404, 408, 429, 500, 501, 502, 503, 504, 505]) {
    it(`of a GET ${[429, 502, 503, 504].includes(status) ? 'follow' : 'do not follow'} ${status}`, () => {
      const delay = retryDelay(answerOf(status), 'repeatable', 0, NOW, least);
      assert.equal(delay, [429, 502, 503, 504].includes(status) ? 500 : undefined);
    });
  }

  for (const status of [429, 502, 503, 504]) {
    it(`of a POST ${status === 429 || status === 503 ? 'follow' : 'do not follow'} ${status} with Retry-After`, () => {
      assert.equal(retryDelay(answerOf(status), 'careful', 0, NOW, least), undefined, 'never without');
      const delay = retryDelay(answerOf(status, { 'retry-after': '7' }), 'careful', 0, NOW, least);
      assert.equal(delay, status === 429 || status === 503 ? 7000 : undefined);
    });
  }

  it('wait from half a second, doubling to 30 seconds', () => {
    const waits = Array.from({ length: 9 }, (_, attempt) =>
      retryDelay(answerOf(503), 'repeatable', attempt, NOW, least),
    );
    assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('wait up to half as long again, at random', () => {
    assert.equal(
      retryDelay(answerOf(503), 'repeatable', 1, NOW, () => 0.5),
      1250,
    );
    assert.equal(
      retryDelay(network('reset'), 'repeatable', 1, NOW, () => 0.5),
      1250,
    );
    const waits = Array.from({ length: 50 }, () => retryDelay(answerOf(503), 'repeatable', 0, NOW) as number);
    assert.ok(waits.every((wait) => wait >= 500 && wait < 750));
    assert.ok(new Set(waits).size > 1);
  });

  for (const [title, given, wait] of [
    ['a time longer than the usual wait', asking('7'), 7000],
    ['a time shorter than the usual wait, which then counts', asking('0'), 500],
    ['two minutes', asking('120'), 120_000],
    ['more than two minutes, so not at all', asking('121'), undefined],
    ['blanks around', asking(' 7 '), 7000],
    ['nine digits, so not at all', asking('999999999'), undefined],
    ['ten digits, which are no time', asking('1234567890'), 500],
    ['a fraction, which is no time', asking('7.5'), 500],
    ['a minus, which is no time', asking('-7'), 500],
    ['a number and more, which is no time', asking('7 s'), 500],
    ['two times, which are none', asking(['7', '8']), 500],
    ['nothing', asking(''), 500],
    ['a date', asking('Sat, 21 Nov 2026 03:00:07 GMT'), 7000],
    ['a date in words that are none', asking('tomorrow'), 500],
    ['a date of digits only, which nobody sends', asking('2026-11-21'), 500],
    ['a date that is over', asking('Sat, 21 Nov 2026 02:00:00 GMT'), 500],
    ['a date in an hour, so not at all', asking('Sat, 21 Nov 2026 04:00:00 GMT'), undefined],
    [
      'a date, by the clock of the service',
      asking('Sat, 21 Nov 2026 08:00:09 GMT', { date: 'Sat, 21 Nov 2026 08:00:00 GMT' }),
      9000,
    ],
    [
      'a date, by our clock when the other is none',
      asking('Sat, 21 Nov 2026 03:00:07 GMT', { date: '7' }),
      7000,
    ],
    [
      'a date, by our clock when the other came twice',
      asking('Sat, 21 Nov 2026 03:00:07 GMT', { date: ['Sat, 21 Nov 2026 02:00:00 GMT'] }),
      7000,
    ],
    ['a date and an array of dates', asking('Sat, 21 Nov 2026 03:00:07 GMT', { date: ['a'] }), 7000],
  ] as const) {
    it(`honour Retry-After with ${title}`, () => {
      assert.equal(retryDelay(given, 'repeatable', 0, NOW, least), wait);
      assert.equal(
        retryDelay(given, 'careful', 0, NOW, least),
        wait === 500 && isUnreadable(given) ? undefined : wait,
      );
    });
  }

  /** What says nothing that can be read says nothing of what was done either. */
  function isUnreadable({ headers }: HttpResponse): boolean {
    const value = headers['retry-after'];
    return value !== '0' && !(typeof value === 'string' && value.startsWith('Sat,'));
  }

  it('come up to an eighth later than Retry-After asks, at random', () => {
    assert.equal(
      retryDelay(asking('80'), 'repeatable', 0, NOW, () => 0.5),
      85_000,
    );
  });

  for (const [status, asked, text] of [
    [429, '121', ', asks to wait 121 s'],
    [502, '600', ', asks to wait 600 s'],
    [503, 'Sat, 21 Nov 2026 04:00:00 GMT', ', asks to wait 3600 s'],
    [504, '120', ''],
    [503, 'soon', ''],
    [400, '600', ''],
  ] as const) {
    it(`tell of ${status} with Retry-After ${asked}${text || ' nothing'}`, () => {
      const wait = refusedWait(answerOf(status, { 'retry-after': asked }), NOW + 100);
      assert.equal(wait && inEnglish(wait), text);
    });
  }

  it('leave known which errors came after a lost response', () => {
    const [lost, other] = [network('reset'), network('reset')];
    noteLost(lost);
    assert.deepEqual([lost, other].map(isAfterLoss), [true, false]);
  });

  it('tell of a call that was held back whether it was sent before', () => {
    const held = { ...answerOf(429, { 'retry-after': '300' }), isOfEarlier: true as const };
    assert.deepEqual(
      [undefined, false, true].map((wasLost) => {
        const wait = refusedWait(held, NOW, wasLost);
        return wait && inEnglish(wait);
      }),
      [
        ', not sent: an earlier call was asked to wait 300 s',
        ', not sent: an earlier call was asked to wait 300 s',
        ', not sent again: an earlier call was asked to wait 300 s',
      ],
    );
  });

  it('follow network faults, but not of a POST, and no certificate that was not accepted', () => {
    assert.equal(retryDelay(network('reset'), 'repeatable', 0, NOW, least), 500);
    assert.equal(retryDelay(network('reset'), 'careful', 0, NOW, least), undefined);
    assert.equal(retryDelay(network('certificate'), 'repeatable', 0, NOW, least), undefined);
    assert.equal(retryDelay(network('tls'), 'repeatable', 0, NOW, least), 500);
  });

  for (const reason of [
    ...['certificate', 'ownCertificate', 'ownKey', 'ownPassphrase', 'ownPair', 'ownFiles'],
    ...['proxyLogin', 'proxyRefused', 'proxyNoTunnel', 'continue'],
  ]) {
    it(`do not follow a fault that stays until somebody changes something: ${reason}`, () => {
      assert.equal(retryDelay(network(reason), 'repeatable', 0, NOW, least), undefined);
    });
  }

  it('do not follow a stop, nor what nobody foresaw', () => {
    assert.equal(retryDelay(new ServiceError('CLOSED', 'stopped'), 'repeatable', 0, NOW, least), undefined);
    assert.equal(retryDelay(new TypeError('x'), 'repeatable', 0, NOW, least), undefined);
  });
});

describe('a response is lost', () => {
  const ROWS: [string, HttpResponse | Error, boolean][] = [
    ['with 502', answerOf(502), true],
    ['with 504', answerOf(504), true],
    ['with 503', answerOf(503), true],
    ['with 503 and Retry-After, for then nothing was done', answerOf(503, { 'retry-after': '1' }), false],
    ['with 500', answerOf(500), false],
    ['with 429', answerOf(429), false],
    ['with 200', answerOf(200), false],
    ['by a network fault after the request was sent', network('reset', true), true],
    ['by a network fault before', network('refused', false), false],
    ['by a stop', new ServiceError('CLOSED', 'stopped'), false],
  ];
  for (const [title, outcome, expected] of ROWS) {
    it(`${title}: ${expected}`, () => assert.equal(isLost(outcome), expected));
  }
});
