// Sets by key: what is in them, and that empty ones are gone.
import assert from 'node:assert/strict';
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
});
