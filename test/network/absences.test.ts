// The absences of a gateway, and what was usual before a start.
import assert from 'node:assert/strict';
import { habitOf, type LongPause, mayBeAbsence, NO_PAUSES, recallPause } from '../../src/network/absences.ts';

const MINUTE = 60_000;

describe('what is recalled of the pauses of a gateway', () => {
  it('takes the place of none that was seen since the start', () => {
    const seen = [1, 2, 3, 4, 5].map((n): LongPause => ({ endedAt: n, ms: 1_000 * n, hearings: n }));
    const gateway = { longPauses: seen as readonly LongPause[] };
    recallPause(gateway, 60_000);
    assert.deepEqual(gateway.longPauses, seen);
    gateway.longPauses = NO_PAUSES;
    recallPause(gateway, 60_000);
    assert.deepEqual(
      gateway.longPauses.map(({ ms }) => ms),
      [60_000],
    );
  });
});

describe('a pause of a gateway', () => {
  /** So long were those before it, the newest now. */
  const pausesOf = (...minutes: number[]): LongPause[] =>
    minutes.map((ms, n) => ({ endedAt: 0, ms: ms * MINUTE, hearings: n }));
  const gatewayWith = (longPauses: readonly LongPause[], hearings = 100) => ({ longPauses, hearings });

  it('may be an absence where it is longer than usual, or half as long as one of its habit', () => {
    const steady = { longPauses: NO_PAUSES };
    assert.equal(mayBeAbsence(steady, MINUTE, MINUTE), false);
    assert.equal(mayBeAbsence(steady, MINUTE, MINUTE + 1), true);
    const seldomAway = { longPauses: pausesOf(50, 10) };
    assert.equal(mayBeAbsence(seldomAway, 20 * MINUTE, 5 * MINUTE - 1), false);
    assert.equal(mayBeAbsence(seldomAway, 20 * MINUTE, 5 * MINUTE), true);
  });

  it('is told to nobody, and not remembered, up to three times the usual interval', () => {
    const gateway = gatewayWith(NO_PAUSES);
    assert.equal(habitOf(gateway, MINUTE, 3 * MINUTE, 0), 0);
    assert.deepEqual(gateway.longPauses, []);
    assert.equal(habitOf(gateway, MINUTE, 3 * MINUTE + 1, 0), undefined);
    assert.equal(gateway.longPauses.length, 1);
  });

  it('is a habit as the third one in a row, however long ago they were: as long as the shortest', () => {
    const inRow = pausesOf(5, 9, 8).map((one, n) => ({ ...one, hearings: n === 0 ? 0 : 7 }));
    assert.equal(habitOf(gatewayWith(inRow, 7), MINUTE, 10 * MINUTE, 9_000 * MINUTE), 8 * MINUTE);
    assert.equal(habitOf(gatewayWith(inRow.slice(1), 7), MINUTE, 7 * MINUTE, 9_000 * MINUTE), 7 * MINUTE);
    assert.equal(habitOf(gatewayWith(inRow, 8), MINUTE, 10 * MINUTE, 9_000 * MINUTE), undefined);
  });

  for (const [count, within] of [
    [3, 90],
    [6, 24 * 60],
  ] as const) {
    it(`is a habit as the last one of ${count} in ${within} minutes: as long as the shortest`, () => {
      const before = pausesOf(8, 9, 9, 9, 9).slice(0, count - 1);
      const end = within * MINUTE;
      assert.equal(habitOf(gatewayWith(before), MINUTE, 10 * MINUTE, end - 1), 8 * MINUTE);
      assert.equal(habitOf(gatewayWith(before), MINUTE, 10 * MINUTE, end), undefined);
    });
  }

  it('is as long as the shortest of the last three, though there were more', () => {
    assert.equal(habitOf(gatewayWith(pausesOf(5, 9, 8)), MINUTE, 10 * MINUTE, MINUTE), 8 * MINUTE);
  });

  it('is remembered with the last ones, of which there are few', () => {
    const gateway = { longPauses: NO_PAUSES, hearings: 0 };
    for (let n = 1; n <= 100; n++) {
      gateway.hearings = n;
      habitOf(gateway, MINUTE, (10 + n) * MINUTE, n * 9_000 * MINUTE);
    }
    assert.deepEqual(
      gateway.longPauses.map(({ ms }) => ms / MINUTE),
      [106, 107, 108, 109, 110],
    );
  });
});
