// Lists that never end, and long ones that do: told apart in memory that does not grow.
import assert from 'node:assert/strict';
import { ListProgress } from '../../src/rest/progress.ts';
import type { Device } from '../../src/rest/types.ts';
import { itAtScale } from '../at-scale.ts';
import { usedBuffers } from '../memory.ts';

const devicesOf = (first: number, count: number): Device[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `bmac-${(first + index).toString(16).padStart(12, '0')}`,
  }));

/** Reads pages until one is refused. @returns its number, or undefined when so many were not */
function refusedAt(
  pages: number,
  devicesAt: (page: number) => Device[],
  tokenAt = (page: number) => `t${page}`,
) {
  const progress = new ListProgress();
  for (let page = 1; page <= pages; page++) {
    const fault = progress.add({ devices: devicesAt(page), nextToken: tokenAt(page) });
    if (fault) {
      return [page, fault];
    }
  }
  return undefined;
}

describe('device list without an end', () => {
  it('is known by ten pages in a row that bring known devices with new tokens', () => {
    assert.deepEqual(
      refusedAt(100, (page) => devicesOf(page % 2, 2)),
      [12, 'devicesRepeat'],
    );
    assert.deepEqual(
      refusedAt(100, () => devicesOf(0, 1)),
      [11, 'devicesRepeat'],
    );
  });

  it('is known at once by a second page that is the first one, whatever its token', () => {
    assert.deepEqual(
      refusedAt(100, () => devicesOf(0, 2)),
      [2, 'firstPageRepeats'],
    );
    assert.deepEqual(
      refusedAt(
        100,
        () => devicesOf(0, 2),
        () => 'the same',
      ),
      [2, 'firstPageRepeats'],
    );
    assert.notDeepEqual(
      refusedAt(2, (page) => (page === 1 ? devicesOf(0, 2) : devicesOf(0, 2).reverse())),
      [2, 'firstPageRepeats'],
    );
  });

  it('is refused as well where the second page, which is the first one again, is the last', () => {
    const lastAfter = (first: Device[], last: Device[]) => {
      const progress = new ListProgress();
      assert.equal(progress.add({ devices: first, nextToken: 't' }), undefined);
      return progress.add({ devices: last, nextToken: undefined });
    };
    const two = devicesOf(0, 2);
    assert.equal(lastAfter(two, [...two]), 'firstPageRepeats');
    for (const last of [[...two].reverse(), devicesOf(0, 1), devicesOf(1, 2), devicesOf(0, 3), []]) {
      assert.equal(lastAfter(two, last), undefined, JSON.stringify(last));
    }
  });

  it('is known when it goes round over many pages, cut differently each time', () => {
    const circle = (page: number) => devicesOf((page * 70) % 999, 70);
    const [page] = refusedAt(100, circle) as [number];
    assert.ok(page >= 24 && page < 30, String(page));
  });

  it('is known by a thousand empty pages in a row', () => {
    assert.deepEqual(
      refusedAt(2_000, () => []),
      [1_000, 'devicesRepeat'],
    );
    const interrupted = (page: number) => (page === 999 ? devicesOf(0, 1) : []);
    assert.deepEqual(refusedAt(3_000, interrupted), [1_999, 'devicesRepeat']);
  });

  it('is known when empty pages come between', () => {
    assert.deepEqual(
      refusedAt(100, (page) => (page % 2 ? devicesOf(0, 2) : [])),
      [21, 'devicesRepeat'],
    );
  });

  for (const [title, device] of [
    ['no id', {}],
    ['an id that is an object', { id: {} }],
    ['no id but null', { id: null }],
  ] as const) {
    it(`is known when its devices have ${title}`, () => {
      for (const [known, page] of [
        [[], 10],
        [[device], 10],
        [[{ id: 'a' }], 11],
      ] as const) {
        assert.deepEqual(
          refusedAt(100, () => [...known, device] as never),
          [page, 'devicesRepeat'],
        );
      }
    });
  }

  it('is known when its pages are long', () => {
    assert.deepEqual(
      refusedAt(100, (page) => devicesOf((page % 3) * 1000, 1000)),
      [13, 'devicesRepeat'],
    );
  });

  for (const [title, id] of [
    ['ids of one ending', (index: number) => `${index}-1`],
    ['ids that are objects', () => ({ toString: 1 })],
  ] as const) {
    it(`is known when the devices of its long pages have ${title}`, () => {
      const devicesAt = (page: number) =>
        Array.from({ length: 100 }, (_, index) => ({ id: id((page % 3) * 100 + index) }) as never);
      const [page] = refusedAt(100, devicesAt) as [number];
      assert.ok(page <= 13, String(page));
    });
  }

  it('is known by a token that came up to 10 000 pages before', () => {
    for (const first of [1, 5_000]) {
      const tokenAt = (page: number) => `t${page < first ? -page : page % 10_000}`;
      assert.deepEqual(
        refusedAt(20_000, (page) => devicesOf(page, 1), tokenAt),
        [first + 10_000, 'tokenRepeats'],
      );
    }
  });

  it('is known by its devices when more tokens come round than are remembered', () => {
    const circle = 20_001;
    const at = refusedAt(
      40_000,
      (page) => devicesOf(page % circle, 1),
      (page) => `t${page % circle}`,
    );
    assert.deepEqual(at, [circle + 10, 'devicesRepeat']);
  });
});

describe('device list that is as good as endless', () => {
  it('is known by more than a million devices', () => {
    const long = (page: number) => devicesOf(page * 50_000, 50_000);
    assert.deepEqual(refusedAt(100, long), [21, 'listTooLong']);
  });

  itAtScale('is known by more than a million pages', () => {
    const halfEmpty = (page: number) => devicesOf(page, page % 2);
    assert.deepEqual(refusedAt(1_100_000, halfEmpty), [1_000_001, 'listTooLong']);
  });
});

describe('device list that goes on', () => {
  it('may bring devices again that were moved from page to page, and ids that are numbers', () => {
    const shifted = (page: number) => devicesOf(page % 10 === 0 || page === 1 ? page : 0, 3);
    assert.equal(refusedAt(200, shifted), undefined);
    assert.equal(
      refusedAt(200, (page) => [{ id: page } as never]),
      undefined,
    );
  });

  it('may bring its second page again as the third one', () => {
    assert.equal(
      refusedAt(3, (page) => devicesOf(page === 1 ? 0 : 5, 2)),
      undefined,
    );
  });

  it('may bring one device again with every page, whatever the ends of the ids', () => {
    for (const [known, fresh] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh', 'hi']) {
      const devicesAt = (page: number) => [{ id: `known-${known}` }, { id: `${page}-${fresh}` }];
      assert.equal(refusedAt(20, devicesAt), undefined);
    }
  });

  it('may have long pages whose devices have ids of one ending, whatever that is', () => {
    for (const ending of '01234567') {
      const devicesAt = (page: number) =>
        Array.from({ length: 100 }, (_, index) => ({ id: `${page * 100 + index}-${ending}` }));
      assert.equal(refusedAt(20, devicesAt), undefined);
      assert.equal(
        refusedAt(20, (page) => [{} as never, ...devicesAt(page)]),
        undefined,
        'one without an id',
      );
    }
  });

  it('may end with a page of known devices, and with a token that it had before', () => {
    const progress = new ListProgress();
    for (let page = 0; page < 10; page++) {
      progress.add({ devices: devicesOf(0, 1), nextToken: `t${page}` });
    }
    assert.equal(progress.add({ devices: devicesOf(0, 1), nextToken: undefined }), undefined);
  });

  it('hardly ever takes a new device for one that came before', () => {
    const progress = new ListProgress();
    let pages = 0;
    const add = (devices: Device[]) => progress.add({ devices, nextToken: `t${pages++}` });
    for (let page = 0; page < 60; page++) {
      add(devicesOf(page * 50, 50));
    }
    let faults = 0;
    for (let index = 0; index < 1_000; index++) {
      // One more page without a new device is an error.
      for (let page = 0; page < 9; page++) {
        add(devicesOf(page, 1));
      }
      faults += add(devicesOf(10_000 + index, 1)) ? 1 : 0;
    }
    assert.ok(faults <= 2, String(faults));
  });

  for (const [pages, length, step] of [
    [60, 63, 1],
    [450, 64, 1],
    // Ids that end in the same digit.
    [450, 64, 16],
  ] as const) {
    it(`takes little memory while it is short: ${pages} pages of ${length} devices, each ${step} behind the other`, () => {
      const devicesAt = (page: number) =>
        Array.from({ length }, (_, index) => devicesOf((page * length + index) * step, 1)[0]!);
      const before = usedBuffers();
      const progress = new ListProgress();
      for (let page = 0; page < pages; page++) {
        assert.equal(progress.add({ devices: devicesAt(page), nextToken: `t${page}` }), undefined);
      }
      const taken = usedBuffers() - before;
      assert.ok(taken < 64 * 1024, String(taken));
      assert.equal(progress.add({ devices: [], nextToken: undefined }), undefined);
    });
  }

  itAtScale('may have a million devices, ten to a page, in less than 8 MB', () => {
    const before = process.memoryUsage().arrayBuffers;
    assert.equal(
      refusedAt(100_000, (page) => devicesOf(page * 10, 10)),
      undefined,
    );
    assert.ok(process.memoryUsage().arrayBuffers - before < 8 * 1024 * 1024);
  });

  itAtScale('may have a million devices, a thousand to a page, some of them again and again', () => {
    const moved = (page: number) => devicesOf(Math.max(0, page * 1000 - (page % 7) * 100), 1000);
    assert.equal(refusedAt(1_000, moved), undefined);
  });

  itAtScale('may have hundreds of thousands of devices, one to a page', () => {
    assert.equal(
      refusedAt(300_000, (page) => devicesOf(page, 1)),
      undefined,
    );
  });
});
