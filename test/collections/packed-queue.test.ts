import assert from 'node:assert/strict';
import { PackedQueue } from '../../src/collections/packed-queue.ts';

describe('A queue of records kept as bytes', () => {
  const plain = (queue: PackedQueue) =>
    queue.clear().map(({ order, text, content }) => [order, text, content.toString()]);

  it('gives back each record as it was, also texts of other languages and empty ones', () => {
    const queue = new PackedQueue();
    queue.push(1, 'Außenfühler/温度/🙂', Buffer.from('{"value":1}'));
    queue.push(2 ** 40, '', Buffer.alloc(0));
    assert.equal(queue.size, 2);
    assert.deepEqual(plain(queue), [
      [1, 'Außenfühler/温度/🙂', '{"value":1}'],
      [2 ** 40, '', ''],
    ]);
    assert.deepEqual([queue.size, plain(queue)], [0, []]);
  });

  for (const [what, text, size] of [
    ['text', '温'.repeat(20_000), 0],
    ['content', 't', 40_000],
  ] as const) {
    it(`has room for a ${what} of any length`, () => {
      const queue = new PackedQueue();
      queue.push(1, 'before', Buffer.from('b'));
      queue.push(2, text, Buffer.alloc(size, 'x'));
      assert.deepEqual(plain(queue), [
        [1, 'before', 'b'],
        [2, text, 'x'.repeat(size)],
      ]);
    });
  }

  it('drops the oldest, up to an order', () => {
    const queue = new PackedQueue();
    for (let order = 1; order <= 5; order++) {
      queue.push(order, `t${order}`, Buffer.from('c'));
    }
    queue.dropTo(2);
    queue.drop();
    assert.equal(queue.size, 2);
    assert.deepEqual(
      plain(queue).map(([order]) => order),
      [4, 5],
    );
    queue.dropTo(9);
    queue.drop();
    assert.equal(queue.size, 0);
  });

  it('keeps what waits in order while a million pass, whatever their sizes', () => {
    const queue = new PackedQueue();
    const content = Buffer.alloc(700, 'x');
    const kept = 100;
    for (let order = 1; order <= 1_000_000; order++) {
      queue.push(order, 'topic', content.subarray(0, order % 700));
      queue.dropTo(order - kept);
    }
    const records = queue.clear();
    assert.deepEqual(
      records.map(({ order, text, content: { length } }) => [order, text, length]),
      Array.from({ length: kept }, (_, i) => [999_901 + i, 'topic', (999_901 + i) % 700]),
    );
  });

  it('does not change with what it was given', () => {
    const queue = new PackedQueue();
    const content = Buffer.from('before');
    queue.push(1, 't', content);
    content.write('after!');
    assert.deepEqual(plain(queue), [[1, 't', 'before']]);
  });
});
