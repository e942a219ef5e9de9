import assert from 'node:assert/strict';
import { FifoMap } from '../../src/collections/fifo-map.ts';
import { usedMemory } from '../memory.ts';

describe('A bounded map, the first in is the first out', () => {
  it('pushes out what was added first', () => {
    const map = new FifoMap<number>(2);
    assert.equal(map.add('a', 1), undefined);
    assert.equal(map.add('b', 2), undefined);
    assert.deepEqual(map.add('c', 3), ['a', 1]);
    assert.deepEqual(
      [...map.entries()],
      [
        ['b', 2],
        ['c', 3],
      ],
    );
  });

  it('takes what was deleted and added again for the newest', () => {
    const map = new FifoMap<number>(2);
    map.add('a', 1);
    map.add('b', 2);
    map.delete('a');
    assert.equal(map.get('a'), undefined);
    assert.equal(map.add('a', 3), undefined);
    assert.deepEqual(map.add('c', 4), ['b', 2]);
    assert.deepEqual(map.add('d', 5), ['a', 3]);
  });

  it('has one entry for a key, however often it is added', () => {
    const map = new FifoMap<number>(2);
    for (const key of ['a', 'b', 'a', 'a', 'a']) {
      map.add(key, 1);
    }
    assert.deepEqual(map.add('c', 2), ['b', 1]);
    assert.deepEqual(
      [...map.entries()],
      [
        ['a', 1],
        ['c', 2],
      ],
    );
  });

  it('keeps nothing of what was deleted, however often', () => {
    const map = new FifoMap<string>(100);
    const before = usedMemory();
    for (let i = 0; i < 200_000; i++) {
      const key = `asker ${i % 50}`;
      map.delete(key);
      map.add(key, `at ${i}`);
    }
    assert.ok(usedMemory() - before < 2_000_000);
    assert.equal(map.get('asker 49'), 'at 199999');
  });
});
