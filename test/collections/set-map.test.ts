// Sets by key: what is in them, and that empty ones are gone.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { SetMap } from '../../src/collections/set-map.ts';

describe('sets by key', () => {
  it('have each value once, and nothing of what was taken out of them', () => {
    const sets = new SetMap<string, number>();
    for (const value of [1, 2, 2]) {
      sets.add('a', value);
    }
    sets.add('b', 3);
    assert.deepEqual([...sets.of('a')], [1, 2]);
    sets.delete('a', 1);
    sets.delete('a', 2);
    sets.delete('c', 1);
    assert.deepEqual([[...sets.of('a')], [...sets.of('b')], [...sets.of('c')]], [[], [3], []]);
    sets.add('a', 4);
    sets.clear();
    assert.deepEqual([[...sets.of('a')], [...sets.of('b')]], [[], []]);
  });

  it('behave as a map of sets does, through any sequence of steps', () => {
    const step = fc.tuple(
      fc.constantFrom<'add' | 'delete'>('add', 'add', 'delete'),
      fc.constantFrom('a', 'b'),
      fc.integer({ min: 0, max: 3 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const sets = new SetMap<string, number>();
        const model: Record<string, Set<number>> = { a: new Set(), b: new Set() };
        for (const [name, key, value] of steps) {
          sets[name](key, value);
          model[key]?.[name](value);
          assert.deepEqual([...sets.of(key)], [...(model[key] ?? [])]);
        }
      }),
    );
  });
});
