// The first of very many, and results that are kept because they cost much.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { CostlyResults } from '../../src/collections/costly-results.ts';
import { firstOf } from '../../src/collections/first-of.ts';

describe('the first of very many', () => {
  it('are those that sorting all would put first, equal ones as they came', () => {
    const items = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 2_000, size: 'max' });
    fc.assert(
      fc.property(items, fc.integer({ min: 0, max: 300 }), (numbers, limit) => {
        const all = numbers.map((number, at) => ({ number, at }));
        const compare = (one: { number: number }, other: { number: number }) => one.number - other.number;
        const { first, total } = firstOf(all, limit, compare);
        assert.deepEqual(first, [...all].sort(compare).slice(0, limit));
        assert.equal(total, all.length);
      }),
      { numRuns: 50 },
    );
  });

  for (const [order, at] of [
    ['best first', (item: number) => item],
    ['in any order', (item: number) => (item * 7_919) % 100_003],
  ] as const) {
    it(`cost one comparison for whoever is behind them: ${order}`, () => {
      let comparisons = 0;
      const items = Array.from({ length: 100_000 }, (_, item) => at(item));
      firstOf(items, 10, (one, other) => {
        comparisons++;
        return one - other;
      });
      assert.ok(comparisons < 110_000, `${comparisons} comparisons`);
    });
  }
});

describe('a result that costs much', () => {
  it('is kept for fifty times as long as it took, ten seconds at most, and eight of them', () => {
    let time = 0;
    let found = 0;
    const results = new CostlyResults<number>(() => time);
    const get = (key: string, ms: number) =>
      results.get(key, () => {
        time += ms;
        return ++found;
      });
    assert.deepEqual([get('a', 20), get('a', 20)], [1, 1]);
    time += 1_000;
    assert.equal(get('a', 0), 2);
    assert.equal(get('a', 60_000), 3);
    time += 9_999;
    assert.equal(get('a', 0), 3);
    time += 1;
    assert.equal(get('a', 0), 4);
    for (let key = 0; key < 9; key++) {
      get(`${key}`, 1);
    }
    assert.deepEqual([get('0', 1), get('8', 1)], [5, 14]);
  });

  it('is not kept where it cost next to nothing, by the clock of this machine', async () => {
    const results = new CostlyResults<number>();
    let found = 0;
    const get = () => results.get('a', () => ++found);
    get();
    while (get() === 1) {
      await turn();
    }
  });
});
