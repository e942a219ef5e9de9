import assert from 'node:assert/strict';
import { type RecencyEntry, RecencyMap } from '../../src/collections/recency-map.ts';

interface Entry extends RecencyEntry<Entry> {
  isPasserBy: boolean;
}

const entry = (id: string, isPasserBy = true): Entry => ({
  id,
  isPasserBy,
  before: undefined,
  after: undefined,
  list: undefined,
});

describe('A bounded map by recency', () => {
  it('pushes out what was touched least recently', () => {
    const map = new RecencyMap<Entry>(2);
    const [a, b, c] = ['a', 'b', 'c'].map((id) => entry(id)) as [Entry, Entry, Entry];
    assert.equal(map.add(a), undefined);
    assert.equal(map.add(b), undefined);
    map.touch(a);
    assert.equal(map.findNextOut(), b);
    assert.equal(map.add(c), b);
    assert.deepEqual([...map.newestFirst()], [c, a]);
  });

  it('pushes out passers-by before others, the least recent of them first', () => {
    const map = new RecencyMap<Entry>(4, (one) => one.isPasserBy);
    const known = entry('known', false);
    const later = entry('later');
    const others = ['a', 'b', 'c', 'd'].map((id) => entry(id)) as [Entry, Entry, Entry, Entry];
    const [a, b, c, d] = others;
    for (const one of [known, a, later, b]) {
      map.add(one);
    }
    map.touch(a);
    later.isPasserBy = false;
    assert.equal(map.add(c), b);
    map.touch(known);
    assert.equal(map.add(d), a);
    map.delete(c);
    assert.deepEqual([...map.oldestFirst()], [later, known, d]);
    map.add(b);
    for (const one of [b, d]) {
      one.isPasserBy = false;
    }
    assert.equal(map.add(a), later);
  });

  it('pushes out what has become a passer-by because it was not touched for long', () => {
    const map = new RecencyMap<Entry>(2, (one) => one.isPasserBy);
    const [old, passer] = [entry('old', false), entry('passer')];
    map.add(old);
    map.add(passer);
    assert.equal(map.findNextOut(), passer);
    old.isPasserBy = true;
    assert.equal(map.add(entry('new')), old);
  });
});
