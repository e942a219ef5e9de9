// Long work in turns: when reports and timers have theirs, and how it ends.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { KeyedValue } from '../../src/network/last-values.ts';
import { sortByKey } from '../../src/network/last-values.ts';
import { sortInTurns, Turns, throwIfClosed } from '../../src/network/turns.ts';

describe('long work', () => {
  const CLOSED = { code: 'CLOSED', message: /stopped/ };
  let now: number;
  /** Milliseconds that pass between two looks at the clock. */
  let stepMs: number;
  let looks: number;

  beforeEach(() => {
    [now, stepMs, looks] = [1_000, 0, 0];
    mock.method(performance, 'now', () => {
      looks++;
      now += stepMs;
      return now;
    });
  });
  afterEach(() => mock.reset());

  it('lets others have their turn after ten milliseconds, each time', async () => {
    const turns = new Turns();
    for (let round = 0; round < 3; round++) {
      now += 9.9;
      assert.equal(turns.next(), undefined);
      now += 0.1;
      let hasRun = false;
      setImmediate(() => {
        hasRun = true;
      });
      await turns.next();
      assert.ok(hasRun);
    }
  });

  it('ends with CLOSED when its node has closed meanwhile, and else goes on', async () => {
    const closing = new AbortController();
    const turns = new Turns(closing.signal);
    now += 10;
    await turns.next();
    closing.abort();
    assert.equal(turns.next(), undefined);
    now += 10;
    await assert.rejects(async () => turns.next(), CLOSED);
    assert.throws(() => throwIfClosed(closing.signal), CLOSED);
    throwIfClosed(new AbortController().signal);
  });

  describe('of sorting', () => {
    /** Each key is there twice, in no order. */
    const unsorted = (count: number): KeyedValue[] =>
      Array.from({ length: count }, (_, i) => [
        `${(i * 7_919) % Math.ceil(count / 2)}`,
        { identifier: `${i}` } as KeyedValue[1],
      ]);
    const sort = (count: number, signal?: AbortSignal) => sortInTurns(unsorted(count), new Turns(signal));

    for (const count of [0, 1, 4_999, 5_000, 5_001, 10_000, 12_345, 25_000]) {
      it(`brings ${count} values in the order in which one step would`, async () => {
        assert.deepEqual(await sort(count), sortByKey(unsorted(count)));
      });
    }

    it('looks at the clock every 5 000 values, and not for each of them', async () => {
      await sort(20_000);
      assert.ok(looks >= 1 + 4 + 2 + 3 && looks <= 20, `${looks}`);
    });

    for (const [step, count] of [
      ['sorted', 5_000],
      ['merged', 20_000],
    ] as const) {
      it(`ends with CLOSED when its node closes while parts are ${step}`, async () => {
        const closing = new AbortController();
        stepMs = 10;
        const sorting = sort(count, closing.signal);
        while (looks < count / 5_000 + 1) {
          await new Promise(setImmediate);
        }
        closing.abort();
        await assert.rejects(sorting, CLOSED);
      });
    }
  });
});
