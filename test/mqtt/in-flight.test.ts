// Answers find their request by its id, and no other.
import assert from 'node:assert/strict';
import { InFlight, type InFlightItem } from '../../src/mqtt/in-flight.ts';

interface Item extends InFlightItem {
  name: string;
}

const item = (name: string): Item => ({ name, id: '', slot: -1 });

function added(names: string[]): { flights: InFlight<Item>; items: Item[] } {
  const flights = new InFlight<Item>();
  const items = names.map(item);
  for (const each of items) {
    flights.add(each);
  }
  return { flights, items };
}

describe('requests in flight', () => {
  it('are found by their ids and counted', () => {
    const { flights, items } = added(Array.from({ length: 100 }, (_, i) => `${i}`));
    assert.equal(flights.size, 100);
    for (const each of items) {
      assert.equal(flights.find(each.id), each);
    }
    assert.deepEqual(flights.values(), items);
  });

  it('are not found any more once they ended, also when another took their place', () => {
    const { flights, items } = added(['a', 'b', 'c']);
    const [a, b, c] = items as [Item, Item, Item];
    assert.equal(flights.remove(b), true);
    assert.deepEqual([flights.size, flights.find(b.id), flights.values()], [2, undefined, [a, c]]);
    const d = item('d');
    flights.add(d);
    assert.deepEqual([flights.size, flights.find(b.id), flights.find(d.id)], [3, undefined, d]);
    assert.deepEqual(flights.values(), [a, d, c]);
  });

  it('end once: a second end takes nobody else out', () => {
    const { flights, items } = added(['a', 'b']);
    const [a] = items as [Item];
    flights.remove(a);
    assert.equal(flights.remove(a), false);
    flights.add(item('c'));
    assert.equal(flights.remove(a), false);
    assert.equal(flights.remove(item('never added')), false);
    assert.equal(flights.size, 2);
  });

  it('have ids that no other client has, and none twice', () => {
    const [one, other] = [added(['a']), added(['a'])];
    assert.equal(other.flights.find(one.items[0]!.id), undefined);
    const { flights } = one;
    const ids = new Set<string>();
    for (let i = 0; i < 100; i++) {
      const each = item(`${i}`);
      flights.add(each);
      ids.add(each.id);
      flights.remove(each);
    }
    assert.equal(ids.size, 100);
  });

  it('are not found by an id that somebody else made up', () => {
    const { flights, items } = added(['a', 'b']);
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
      assert.equal(flights.find(other), undefined, other);
    }
    assert.ok(prefix.length >= 10, 'long enough that no two clients have the same');
  });
});
