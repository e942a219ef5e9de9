import assert from 'node:assert/strict';
import fc from 'fast-check';
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

  it('behaves as a list does that is searched through, through any sequence of steps', () => {
    const step = fc.tuple(
      fc.constantFrom<'use' | 'delete'>('use', 'use', 'use', 'delete'),
      fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      fc.boolean(),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const map = new RecencyMap<Entry>(4, (one) => one.isPasserBy);
        let model: Entry[] = [];
        for (const [name, id, isPasserBy] of steps) {
          const there = map.get(id);
          assert.equal(
            there,
            model.find((one) => one.id === id),
          );
          model = model.filter((one) => one !== there);
          if (name === 'delete') {
            there && map.delete(there);
          } else if (there) {
            map.touch(there);
            model.push(there);
          } else {
            const out = model.length < 4 ? undefined : (model.find((one) => one.isPasserBy) ?? model[0]);
            const added = entry(id, isPasserBy);
            assert.equal(map.findNextOut(), out);
            assert.equal(map.add(added), out);
            model = [...model.filter((one) => one !== out), added];
          }
          assert.deepEqual([...map.oldestFirst()], model);
          assert.deepEqual([map.size, map.oldest], [model.length, model[0]]);
        }
      }),
    );
  });
});
