// A ranking knows one of the highest, whatever is counted up and down.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Ranked, Ranking } from '../../src/collections/ranking.ts';

const makeItems = (length: number): Ranked[] => Array.from({ length }, () => ({ count: 0, rank: -1 }));

describe('a ranking', () => {
  it('behaves as one that is looked through, through any sequence of steps', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.boolean()), { maxLength: 200 });
    fc.assert(
      fc.property(steps, (changes) => {
        const ranking = new Ranking<Ranked>();
        const items = makeItems(5);
        const model = items.map(() => 0);
        for (const [at, isMore] of changes) {
          const item = items[at]!;
          if (isMore) {
            ranking.increase(item);
            model[at]!++;
          } else if (item.count > 0) {
            ranking.decrease(item);
            model[at]!--;
          }
          const { first, total } = ranking;
          assert.deepEqual(
            items.map(({ count }) => count),
            model,
          );
          // None at all once all are 0: nobody waits who would have to be asked.
          assert.equal(first?.count, Math.max(...model) || undefined);
          assert.ok(first === undefined || items.includes(first));
          assert.equal(
            total,
            model.reduce((sum, count) => sum + count, 0),
          );
        }
      }),
    );
  });

  it('finds the highest in no time when a hundred thousand are counted', () => {
    const ranking = new Ranking<Ranked>();
    const items = makeItems(100_000);
    for (const item of items) {
      ranking.increase(item);
      ranking.increase(item);
    }
    for (let left = items.length; left > 0; left--) {
      assert.equal(ranking.first?.count, 2);
      ranking.decrease(ranking.first as Ranked);
    }
    assert.deepEqual([ranking.first?.count, ranking.total], [1, 100_000]);
  });
});
