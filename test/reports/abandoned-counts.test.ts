// Reports that are given up because their node is no more: the log tells of them once for many.
import assert from 'node:assert/strict';
import { AbandonedCounts } from '../../src/reports/abandoned-counts.ts';

describe('the counts of reports that are given up', () => {
  let told: string[];
  let counts: AbandonedCounts;

  beforeEach(() => {
    told = [];
    counts = new AbandonedCounts((owner, count) => void told.push(`${owner}: ${count}`));
  });

  const add = (...owners: string[]) => {
    for (const owner of owners) {
      counts.add(owner);
    }
  };

  it('are told by node when no further one has come for a while, once', () => {
    add('a', 'b', 'a');
    counts.tellWhenAll();
    add('a');
    counts.tellWhenAll();
    assert.deepEqual(told, []);
    counts.tellWhenAll();
    assert.deepEqual(told, ['a: 3', 'b: 1']);
    counts.tellWhenAll();
    assert.equal(told.length, 2);
    add('a');
    counts.tellWhenAll();
    counts.tellWhenAll();
    assert.deepEqual(told.slice(2), ['a: 1']);
  });

  it('are told at once at the end', () => {
    add('a');
    counts.tell();
    assert.deepEqual(told, ['a: 1']);
  });

  it('are told at the first look where none came before it', () => {
    counts.tellWhenAll();
    assert.deepEqual(told, []);
  });
});
