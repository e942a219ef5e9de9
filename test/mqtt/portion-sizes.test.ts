// How many topic filters go into one packet: as few as the strictest broker takes at first, then what this one shows to take.
import assert from 'node:assert/strict';
import { type PortionLimits, PortionSizes } from '../../src/mqtt/portion-sizes.ts';

/** Filters of so many bytes in a packet each. */
const filters = (count: number, size = 10): string[] => Array(count).fill('x'.repeat(size - 3));
const MANY = filters(1_000);

describe('the filters of one packet', () => {
  const open = (limits?: PortionLimits) => {
    const sizes = new PortionSizes();
    if (limits) {
      sizes.limits = limits;
    }
    return sizes;
  };
  const countOf = (sizes: PortionSizes, size?: number) =>
    sizes.next(size ? filters(1_000, size) : MANY).length;
  /** How many go into each of the next packets, all of which the broker answers. */
  const growing = (sizes: PortionSizes, packets: number, size?: number) =>
    Array.from({ length: packets }, () => {
      const portion = sizes.next(size ? filters(1_000, size) : MANY);
      sizes.answered(portion);
      return portion.length;
    });
  const provenOf = (sizes: PortionSizes, list: string[]) =>
    [...sizes.ofProvenSize(list)].map(({ length }) => length);

  it('are 8 at first, and twice as many after each answer, up to 200', () => {
    assert.deepEqual(growing(open(), 7), [8, 16, 32, 64, 128, 200, 200]);
  });

  it('are no more after answers to no more than half of what may go into a packet', () => {
    const sizes = open();
    for (let packet = 0; packet < 10; packet++) {
      sizes.answered(filters(4));
      sizes.answered(filters(2, 256));
    }
    assert.deepEqual([countOf(sizes), countOf(sizes, 256)], [8, 4]);
    sizes.answered(filters(5));
    assert.deepEqual([countOf(sizes), countOf(sizes, 256)], [16, 8]);
    sizes.answered(filters(1, 1_025));
    assert.deepEqual([countOf(sizes), countOf(sizes, 256)], [32, 16]);
  });

  it('have 1 KiB at first, and twice as much after each answer, up to 32 KiB', () => {
    assert.deepEqual(growing(open(), 7, 256), [4, 8, 16, 32, 64, 128, 128]);
    assert.deepEqual(countOf(open(), 257), 3);
  });

  it('are counted in bytes of UTF-8', () => {
    assert.equal(open().next(Array(8).fill('ü'.repeat(100))).length, 5);
  });

  it('are the first of the list, and one at least, however long it is', () => {
    assert.deepEqual(open().next(['a', 'b']), ['a', 'b']);
    const long = 'x'.repeat(60_000);
    assert.deepEqual(open().next([long, 'b']), [long]);
    assert.deepEqual(open().next(['b', long]), ['b']);
    assert.deepEqual(open().next([]), []);
  });

  for (const [title, limits, size, counts] of [
    ['its number', { maxCount: 5 }, 10, [5, 5]],
    ['its number, above the first ones', { maxCount: 10 }, 10, [8, 10, 10]],
    ['a number beyond 200', { maxCount: 1_000 }, 10, [8, 16, 32, 64, 128, 200, 200]],
    ['the number 0, which would stop everything', { maxCount: 0 }, 10, [1, 1]],
    ['its bytes', { maxBytes: 512 }, 256, [2, 2]],
    ['its bytes, above the first ones', { maxBytes: 1_280 }, 256, [4, 5, 5]],
    ['bytes beyond 32 KiB', { maxBytes: 100_000 }, 256, [4, 8, 16, 32, 64, 128, 128]],
  ] as const) {
    it(`keep to what is known of the broker: ${title}`, () => {
      assert.deepEqual(growing(open(limits), counts.length, size), counts);
    });
  }

  it('are fewer when the next broker takes fewer, and grow slowly when one takes more', () => {
    const sizes = open();
    growing(sizes, 4);
    sizes.limits = { maxCount: 20 };
    assert.deepEqual(growing(sizes, 2), [20, 20]);
    sizes.limits = {};
    assert.deepEqual(growing(sizes, 3), [20, 40, 80]);
  });

  it('are half as many after one that was not answered, down to one, and do not grow then', () => {
    const sizes = open();
    for (const count of [8, 4, 2, 1, 1]) {
      const portion = sizes.next(MANY);
      assert.equal(portion.length, count);
      sizes.lost(portion);
    }
    assert.deepEqual(growing(sizes, 3), [1, 1, 1]);
  });

  it('are half as many, rounded up', () => {
    const sizes = open();
    sizes.lost(filters(5));
    assert.equal(countOf(sizes), 3);
  });

  it('are as many as the broker has answered, where that was more than half', () => {
    const sizes = open();
    growing(sizes, 1);
    sizes.answered(filters(10));
    sizes.lost(filters(12));
    assert.equal(countOf(sizes), 10);
  });

  it('have half of the bytes after one that was not answered, down to 128', () => {
    const sizes = open();
    const counts: number[] = [];
    for (let i = 0; i < 5; i++) {
      counts.push(countOf(sizes, 64));
      sizes.lost(filters(8, 64));
    }
    // Their number is halved from the first of them on, and stays as it is then.
    assert.deepEqual(counts, [8, 4, 4, 2, 2]);
  });

  it('stay as many after a loss that is not their size: so many were answered before', () => {
    const sizes = open();
    growing(sizes, 2);
    assert.equal(countOf(sizes), 32);
    sizes.lost(filters(16));
    assert.deepEqual(growing(sizes, 1), [32]);
  });

  it('are fewer after a second such loss in a row: what the broker takes can have changed', () => {
    const sizes = open();
    growing(sizes, 2);
    sizes.lost(filters(16));
    sizes.lost(filters(16));
    assert.deepEqual(growing(sizes, 2), [8, 8]);
  });

  it('are not fewer after two such losses between which so many were answered', () => {
    const sizes = open();
    growing(sizes, 2);
    for (let i = 0; i < 3; i++) {
      sizes.lost(filters(16));
      sizes.answered(filters(16));
    }
    assert.equal(countOf(sizes), 32);
  });

  it('are fewer after two such losses between which only fewer were answered', () => {
    const sizes = open();
    growing(sizes, 2);
    sizes.lost(filters(16));
    sizes.answered(filters(15));
    sizes.lost(filters(16));
    assert.equal(countOf(sizes), 8);
  });

  it('have doubts of their own after a loss that took them back', () => {
    const sizes = open();
    growing(sizes, 2);
    sizes.lost(filters(16));
    sizes.lost(filters(32));
    sizes.lost(filters(8));
    assert.equal(countOf(sizes), 16);
  });

  it('are no more than had been answered where they are long, although short ones were more', () => {
    const sizes = open();
    growing(sizes, 2);
    assert.equal(countOf(sizes, 100), 32);
    sizes.lost(filters(10, 100));
    assert.equal(countOf(sizes, 100), 10);
    assert.equal(countOf(sizes, 500), 4);
  });

  it('are no more than had been answered where they are many, although few were longer', () => {
    const sizes = open();
    growing(sizes, 1, 100);
    sizes.lost(filters(16));
    assert.equal(countOf(sizes), 8);
  });

  it('are as many as the broker has answered when it was not their size, and grow again', () => {
    const sizes = open();
    growing(sizes, 3);
    sizes.lost(filters(64, 20));
    sizes.lost(filters(20, 20));
    sizes.recover();
    assert.deepEqual(growing(sizes, 3), [32, 64, 128]);
    const fresh = open();
    fresh.lost(filters(8));
    fresh.recover();
    assert.deepEqual(growing(fresh, 3), [8, 16, 32]);
    const long = open();
    growing(long, 3, 256);
    long.lost(filters(32, 256));
    long.recover();
    assert.deepEqual(growing(long, 2, 256), [16, 32]);
  });

  it('keep to what is known of the broker when it was not their size', () => {
    const sizes = open({ maxCount: 5, maxBytes: 512 });
    sizes.lost(filters(5));
    sizes.recover();
    assert.deepEqual([countOf(sizes), countOf(sizes, 256)], [5, 2]);
  });

  it('that nobody waits for are as many as the broker has answered, in packets for all', () => {
    const sizes = open();
    assert.deepEqual(provenOf(sizes, filters(20)), [8, 8, 4]);
    growing(sizes, 2);
    assert.deepEqual(provenOf(sizes, filters(40)), [16, 16, 8]);
    assert.deepEqual(provenOf(sizes, filters(9, 256)), [4, 4, 1]);
    growing(sizes, 1, 512);
    assert.deepEqual(provenOf(sizes, filters(20, 512)), [8, 8, 4]);
    assert.deepEqual(provenOf(sizes, []), []);
    const list = ['a', 'b', 'c'];
    assert.deepEqual([...sizes.ofProvenSize(list)], [list]);
  });

  it('that nobody waits for are no more than the others', () => {
    const sizes = open({ maxCount: 5, maxBytes: 512 });
    assert.deepEqual(provenOf(sizes, filters(12)), [5, 5, 2]);
    assert.deepEqual(provenOf(sizes, filters(3, 256)), [2, 1]);
  });
});
