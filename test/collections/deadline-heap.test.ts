// Deadlines in order, whatever is added, moved and removed in between.
import assert from 'node:assert/strict';
import { DeadlineHeap } from '../../src/collections/deadline-heap.ts';

const entryOf = (name: number) => ({ name, deadline: 0, order: 0, place: -1 });

describe('a heap of deadlines', () => {
  it('gives them in order, those of the same time as they were set', () => {
    const heap = new DeadlineHeap<ReturnType<typeof entryOf>>();
    const entries = Array.from({ length: 1_000 }, (_, i) => entryOf(i));
    for (const [i, entry] of entries.entries()) {
      heap.set(entry, (i * 7_919) % 100);
    }
    for (const entry of entries.filter(({ name }) => name % 3 === 0)) {
      heap.set(entry, (entry.name * 31) % 50);
    }
    const removed = entries.filter(({ name }) => name % 5 === 0);
    for (const entry of removed) {
      heap.remove(entry);
      heap.remove(entry);
    }
    const left = entries.filter(({ name }) => name % 5 !== 0);
    // Every third one was set again, after all others.
    const turnOf = ({ name }: { name: number }) => (name % 3 === 0 ? entries.length + name : name);
    const expected = left.sort((one, other) => one.deadline - other.deadline || turnOf(one) - turnOf(other));
    const found = [];
    for (let first = heap.first; first; first = heap.first) {
      found.push(first);
      heap.remove(first);
    }
    assert.deepEqual(found, expected);
    assert.ok(removed.every(({ place }) => place === -1));
    assert.equal(heap.size, 0);
  });
});
