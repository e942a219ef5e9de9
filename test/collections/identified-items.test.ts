// What comes back finds its item by the id, and no other.
import assert from 'node:assert/strict';
import { type Identified, IdentifiedItems } from '../../src/collections/identified-items.ts';

interface Item extends Identified {
  name: string;
}

const item = (name: string): Item => ({ name, id: '', slot: -1 });

let lists = 0;

function added(names: string[]): { list: IdentifiedItems<Item>; items: Item[] } {
  const list = new IdentifiedItems<Item>(`a1b2c3d4e5${lists++}`);
  const items = names.map(item);
  for (const each of items) {
    list.add(each);
  }
  return { list, items };
}

describe('items with ids', () => {
  it('are found by their ids and counted', () => {
    const { list, items } = added(Array.from({ length: 100 }, (_, i) => `${i}`));
    assert.equal(list.size, 100);
    for (const each of items) {
      assert.equal(list.find(each.id), each);
    }
    assert.deepEqual(list.values(), items);
  });

  it('are not found any more once they ended, also when another took their place', () => {
    const { list, items } = added(['a', 'b', 'c']);
    const [a, b, c] = items as [Item, Item, Item];
    assert.equal(list.delete(b), true);
    assert.deepEqual([list.size, list.find(b.id), list.values()], [2, undefined, [a, c]]);
    const d = item('d');
    list.add(d);
    assert.deepEqual([list.size, list.find(b.id), list.find(d.id)], [3, undefined, d]);
    assert.deepEqual(list.values(), [a, d, c]);
  });

  it('end once: a second end takes nobody else out', () => {
    const { list, items } = added(['a', 'b']);
    const [a] = items as [Item];
    list.delete(a);
    assert.equal(list.delete(a), false);
    list.add(item('c'));
    assert.equal(list.delete(a), false);
    assert.equal(list.delete(item('never added')), false);
    assert.equal(list.size, 2);
  });

  it('have ids that no other list has, and none twice', () => {
    const [one, other] = [added(['a']), added(['a'])];
    assert.equal(other.list.find(one.items[0]!.id), undefined);
    const { list } = one;
    const ids = new Set<string>();
    for (let i = 0; i < 100; i++) {
      const each = item(`${i}`);
      list.add(each);
      ids.add(each.id);
      list.delete(each);
    }
    assert.equal(ids.size, 100);
  });

  it('are not found by an id that somebody else made up', () => {
    const { list, items } = added(['a', 'b']);
    const id = items[1]!.id;
    const prefix = id.slice(0, id.indexOf('-') + 1);
    const others = [
      '',
      '-',
      prefix,
      `${prefix}0`,
      `${prefix}9-1`,
      `${prefix}1-9`,
      `x${id}`,
      id.toUpperCase(),
    ];
    for (const other of others) {
      assert.equal(list.find(other), undefined, other);
    }
  });

  it('take no more places than there were at a time', () => {
    const { list, items } = added(['a', 'b']);
    for (let n = 0; n < 10_000; n++) {
      const each = item(`${n}`);
      list.delete(items[n] as Item);
      list.add(each);
      items.push(each);
      assert.ok(each.slot < 2);
    }
    list.clear();
    assert.deepEqual([list.size, list.values(), list.find(items.at(-1)!.id)], [0, [], undefined]);
  });
});
