// How long a client stays away from a broker that it lost.
import assert from 'node:assert/strict';
import { createBackoff } from '../../src/mqtt/backoff.ts';

const waits = (backoff: { next(): number }, count: number) =>
  Array.from({ length: count }, () => backoff.next());

describe('the wait before the next attempt', () => {
  it('doubles up to its limit and stays there', () => {
    const backoff = createBackoff(1_000, 30_000, { random: () => 0 });
    assert.deepEqual(waits(backoff, 7), [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  });

  it('is up to half as much again, so that clients do not come back together, and never beyond its limit', () => {
    const backoff = createBackoff(1_000, 30_000, { random: () => 0.5 });
    assert.deepEqual(waits(backoff, 6), [1_250, 2_500, 5_000, 10_000, 20_000, 30_000]);
    const first = Array.from({ length: 20 }, () => createBackoff(1_000, 30_000).next());
    assert.ok(new Set(first).size > 1);
    assert.ok(first.every((wait) => wait >= 1_000 && wait <= 1_500));
  });

  it('has its share of chance', () => {
    const backoff = createBackoff(10_000, 300_000, { jitter: 0.05, random: () => 1 });
    assert.deepEqual(waits(backoff, 2), [10_500, 21_000]);
  });

  it('begins anew after a success', () => {
    const backoff = createBackoff(1_000, 30_000, { random: () => 0 });
    waits(backoff, 4);
    backoff.reset();
    assert.deepEqual(waits(backoff, 2), [1_000, 2_000]);
  });
});
