// What services leave to the ones that follow is kept over deploys, within bounds.
import assert from 'node:assert/strict';
import { Legacies } from '../../src/reports/legacies.ts';

describe('what a service has left', () => {
  const COUNT = 100;
  const namesOf = (n: number) => [`mt-left-${n}-one`, `mt-left-${n}-two`];

  it('is kept for the last hundred services, each taken once, by any of its sessions', () => {
    const left = new Legacies<number>();
    for (let n = 0; n <= COUNT; n++) {
      left.leave(namesOf(n), n);
    }
    assert.equal(left.take(namesOf(0)), undefined);
    for (let n = 1; n <= COUNT; n++) {
      assert.equal(left.take(['another', namesOf(n)[n % 2]!]), n);
      assert.equal(left.take(namesOf(n)), undefined);
    }
  });

  it('takes the place of what was left to the same session before', () => {
    const left = new Legacies<number>();
    left.leave(['one', 'two'], 1);
    left.leave(['two', 'three'], 2);
    assert.deepEqual([left.take(['one']), left.take(['two']), left.take(['two'])], [undefined, 2, undefined]);
  });

  it('is found by each of its sessions where two of its addresses have the same', () => {
    const left = new Legacies<number>();
    left.leave(['one', 'two', 'one'], 1);
    assert.equal(left.take(['two']), 1);
  });
});
