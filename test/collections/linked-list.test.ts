// A list whose items carry their own links: in order, each once, and removed from the middle.
import assert from 'node:assert/strict';
import { type Linked, LinkedList } from '../../src/collections/linked-list.ts';

interface Item extends Linked<Item> {
  name: string;
}

const item = (name: string): Item => ({ name, before: undefined, after: undefined, list: undefined });
const namesOf = (list: LinkedList<Item>): string => [...list].map(({ name }) => name).join('');

describe('a linked list', () => {
  const [a, b, c] = [item('a'), item('b'), item('c')];
  let list: LinkedList<Item>;

  beforeEach(() => {
    list = new LinkedList();
    for (const each of [a, b, c]) {
      each.list?.delete(each);
      list.add(each);
    }
  });

  it('keeps the order in which items were added, each once', () => {
    list.add(a);
    assert.deepEqual([namesOf(list), list.size, list.first, list.last], ['abc', 3, a, c]);
  });

  for (const [removed, left] of [
    [[a], 'bc'],
    [[b], 'ac'],
    [[c], 'ab'],
    [[a, b, c], ''],
  ] as const) {
    it(`has ${left || 'nothing'} left without ${removed.map(({ name }) => name).join(', ')}, which come last again`, () => {
      for (const each of removed) {
        assert.equal(list.delete(each), true);
        assert.equal(list.delete(each), false);
      }
      assert.deepEqual([namesOf(list), list.size], [left, left.length]);
      for (const each of removed) {
        list.add(each);
      }
      assert.equal(namesOf(list), left + removed.map(({ name }) => name).join(''));
    });
  }

  it('can lose the item that it gives', () => {
    const given: string[] = [];
    for (const each of list) {
      given.push(each.name);
      list.delete(each);
    }
    assert.deepEqual([given.join(''), list.size], ['abc', 0]);
  });

  it('knows nothing of the items of another', () => {
    const other = new LinkedList<Item>();
    assert.deepEqual([other.has(a), other.delete(a), namesOf(list)], [false, false, 'abc']);
    list.clear();
    other.add(a);
    assert.deepEqual([namesOf(other), namesOf(list)], ['a', '']);
  });
});
