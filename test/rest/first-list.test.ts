// Queries that wait for the first list: one wait for all of a node, an end of their own for those of another.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { FirstList } from '../../src/rest/first-list.ts';

describe('waits for the first list', () => {
  let list: FirstList<string>;
  let fetches: number;
  let bring: (name: string) => void;
  let fail: (error: Error) => void;
  let fetched: Promise<string>;
  const fetch = () => {
    fetches++;
    return fetched;
  };

  beforeEach(() => {
    list = new FirstList();
    fetches = 0;
    fetched = new Promise((resolve, reject) => {
      bring = resolve;
      fail = reject;
    });
  });

  it('are one for all who have the same signal, and one more for those with another', async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const waits = [one, one, one, other].map(({ signal }) => list.wait(signal, fetch));
    assert.equal(fetches, 2);
    assert.equal(getEventListeners(one.signal, 'abort').length, 1);
    bring('list');
    assert.deepEqual(await Promise.all(waits), ['list', 'list', 'list', 'list']);
    assert.equal(getEventListeners(one.signal, 'abort').length, 0);
  });

  it('end with CLOSED by their signal, and the others go on', async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const ended = list.wait(one.signal, fetch);
    const kept = list.wait(other.signal, fetch);
    one.abort();
    await assert.rejects(ended, { code: 'CLOSED' });
    bring('list');
    assert.equal(await kept, 'list');
  });

  it('end with the error of the fetch, and begin anew after it', async () => {
    const { signal } = new AbortController();
    const waits = [1, 2].map(() => list.wait(signal, fetch));
    fail(new Error('no list'));
    for (const wait of waits) {
      await assert.rejects(wait, { message: 'no list' });
    }
    fetched = Promise.resolve('list');
    assert.equal(await list.wait(signal, fetch), 'list');
    assert.equal(fetches, 2);
  });

  it('are 10 000 at most at a time, and as many again when they have ended', async () => {
    const { signal } = new AbortController();
    for (let round = 0; round < 2; round++) {
      const waits = Array.from({ length: 10_000 }, () => list.wait(signal, fetch));
      await assert.rejects(list.wait(signal, fetch), {
        code: 'QUEUE_FULL',
        cause: { limit: 10_000 },
        message: /10000/,
      });
      bring('list');
      await Promise.all(waits);
    }
  });
});
