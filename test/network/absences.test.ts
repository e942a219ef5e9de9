// The absences of a gateway, and what was usual before a start.
import assert from 'node:assert/strict';
import { type LongPause, NO_PAUSES, recallPause } from '../../src/network/absences.ts';

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
