// For how long nothing is sent to a server that has asked for patience, and what calls get meanwhile.
import assert from 'node:assert/strict';
import { Hold } from '../../src/rest/hold.ts';
import type { HttpResponse } from '../../src/rest/http.ts';

const NOW = 1_700_000_000_000;
const responseOf = (statusCode: number, seconds?: number): HttpResponse => ({
  statusCode,
  headers: seconds === undefined ? {} : { 'retry-after': `${seconds}` },
  body: '',
  isCut: false,
});

describe('a server', () => {
  let hold: Hold;
  beforeEach(() => {
    hold = new Hold();
  });

  /** Milliseconds from now for which it is on; 0: it is not. */
  function length(): number {
    let [off, on] = [600_001, -1];
    while (off - on > 1) {
      const middle = Math.floor((on + off) / 2);
      [on, off] = hold.isOn(NOW + middle) ? [middle, off] : [on, middle];
    }
    return off;
  }

  for (const [status, seconds, ms] of [
    [429, 7, 7_000],
    [503, 7, 7_000],
    [429, undefined, 0],
    [429, 0, 0],
    [500, 7, 0],
    [200, 7, 0],
    [429, 300, 300_000],
    [429, 3_600, 300_000],
  ] as const) {
    it(`is left alone for ${ms} ms after ${status} with ${seconds} s`, () => {
      assert.equal(length(), 0);
      hold.note(responseOf(status, seconds), NOW);
      assert.equal(length(), ms);
    });
  }

  it('is left alone until the latest time that it has named', () => {
    hold.note(responseOf(429, 7), NOW);
    hold.note(responseOf(429, 5), NOW + 1_000);
    assert.equal(length(), 7_000);
    hold.note(responseOf(503, 7), NOW + 1_000);
    hold.note(responseOf(200), NOW + 1_000);
    assert.equal(length(), 8_000);
  });

  it('has calls wait for up to two minutes, and answers them with what it said when it wants more', () => {
    hold.note(responseOf(429, 120), NOW);
    assert.equal(hold.refusal, undefined);
    const refusal = responseOf(503, 121);
    hold.note(refusal, NOW);
    assert.deepEqual(hold.refusal, { ...refusal, isOfEarlier: true });
    hold.note(responseOf(429, 100), NOW);
    assert.deepEqual(hold.refusal, { ...refusal, isOfEarlier: true }, 'the latest time still counts');
    hold.note(responseOf(429, 100), NOW + 100_000);
    assert.equal(hold.refusal, undefined);
  });

  it('answers calls as the first of those that were answered alike', () => {
    const [first, second] = [responseOf(503, 3_600), responseOf(429, 3_600)];
    hold.note(first, NOW);
    hold.note(second, NOW);
    assert.deepEqual(hold.refusal, { ...first, isOfEarlier: true });
  });

  it('has those who wait come at the named time, or up to an eighth later', () => {
    hold.note(responseOf(429, 80), NOW);
    const waits = Array.from({ length: 50 }, () => hold.wait(NOW + 40_000));
    assert.ok(
      waits.every((wait) => wait >= 40_000 && wait <= 45_000),
      String(waits),
    );
    assert.ok(new Set(waits).size > 1);
  });
});
