// A queue gives back what it was given, in order, whatever is taken out in between.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Queue } from '../../src/collections/queue.ts';
import { usedMemory } from '../memory.ts';

describe('a queue', () => {
  it('behaves as an array does, through any sequence of steps', () => {
    const steps = fc.array(fc.constantFrom('push', 'push', 'shift', 'pop', 'filter', 'clear'), {
      maxLength: 60,
      size: 'max',
    });
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 700 }), (names, times) => {
        const queue = new Queue<number>();
        let model: number[] = [];
        let next = 0;
        for (const name of names) {
          if (name === 'filter') {
            queue.filter((item) => item % 3 !== 0);
            model = model.filter((item) => item % 3 !== 0);
          } else if (name === 'clear') {
            assert.deepEqual(queue.clear(), model);
            model = [];
          } else {
            for (let i = 0; i < times; i++) {
              if (name === 'push') {
                queue.push(next);
                model.push(next++);
              } else if (name === 'pop') {
                assert.equal(queue.pop(), model.pop());
              } else {
                assert.equal(queue.shift(), model.shift());
              }
            }
          }
          assert.equal(queue.size, model.length);
          assert.equal(queue.first, model[0]);
          assert.equal(queue.last, model.at(-1));
        }
        assert.deepEqual([...queue], model);
      }),
      { numRuns: 50 },
    );
  });

  it('is empty once everything was taken from both ends', () => {
    const queue = new Queue<number>();
    queue.push(1);
    queue.push(2);
    assert.deepEqual([queue.shift(), queue.pop(), queue.pop(), queue.size], [1, 2, undefined, 0]);
    queue.push(3);
    assert.deepEqual([queue.size, queue.first], [1, 3]);
  });

  for (const waiting of [10, 1_000]) {
    it(`takes no more memory when millions pass while ${waiting} wait`, () => {
      const queue = new Queue<number>();
      const before = usedMemory();
      for (let item = 0; item < 3_000_000; item++) {
        queue.push(item);
        if (item >= waiting) {
          queue.shift();
        }
      }
      const grown = usedMemory() - before;
      assert.ok(grown < 5_000_000, `${grown} bytes`);
      assert.equal(queue.first, 3_000_000 - waiting);
    });
  }

  it('takes no longer for each where very many wait', () => {
    const queue = new Queue<number>();
    const count = 500_000;
    for (let item = 0; item < count; item++) {
      queue.push(item);
    }
    for (let item = 0; item < count; item++) {
      assert.equal(queue.shift(), item);
    }
  });
});
