// What a signal ends: all of it, once, with one listener that is gone when nothing is left.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { SignalGroups } from '../../src/collections/signal-groups.ts';

describe('groups of what a signal ends', () => {
  let ended: string[][];
  let groups: SignalGroups<string>;
  let one: AbortController;
  let other: AbortController;

  beforeEach(() => {
    ended = [];
    groups = new SignalGroups((items) => ended.push([...items]));
    [one, other] = [new AbortController(), new AbortController()];
  });

  const listenersAt = ({ signal }: AbortController): number => getEventListeners(signal, 'abort').length;

  it('end with their signal, and only with theirs', () => {
    groups.of(one.signal).add('a').add('b');
    groups.of(other.signal).add('c');
    one.abort();
    assert.deepEqual(ended, [['a', 'b']]);
    other.abort();
    assert.deepEqual(ended, [['a', 'b'], ['c']]);
  });

  it('lose what was taken out before', () => {
    groups.of(one.signal).add('a').add('b');
    groups.of(one.signal).delete('a');
    one.abort();
    assert.deepEqual(ended, [['b']]);
  });

  it('have one listener, however many items and times', () => {
    for (let n = 0; n < 20; n++) {
      groups.of(one.signal).add(`${n}`);
    }
    assert.equal(listenersAt(one), 1);
    one.abort();
    assert.equal(ended[0]?.length, 20);
    assert.equal(listenersAt(one), 0);
  });

  it('listen no more when they are released and empty', () => {
    groups.of(one.signal).add('a');
    groups.of(one.signal).delete('a');
    groups.release(one.signal);
    assert.equal(listenersAt(one), 0);
    groups.release(one.signal);
    one.abort();
    assert.deepEqual(ended, []);
  });

  it('stay when they are released and have something to end', () => {
    groups.of(one.signal).add('a');
    groups.release(one.signal);
    assert.equal(listenersAt(one), 1);
    one.abort();
    assert.deepEqual(ended, [['a']]);
  });

  it('begin anew after they were released', () => {
    groups.of(one.signal);
    groups.release(one.signal);
    groups.of(one.signal).add('a');
    one.abort();
    assert.deepEqual(ended, [['a']]);
  });

  it('all end at once without their signals, which then end nothing', () => {
    groups.of(one.signal).add('a');
    groups.of(other.signal).add('b');
    groups.abortAll();
    assert.deepEqual(ended, [['a'], ['b']]);
    assert.deepEqual([listenersAt(one), listenersAt(other)], [0, 0]);
    one.abort();
    groups.abortAll();
    assert.deepEqual(ended, [['a'], ['b']]);
  });

  it('end without those that were released meanwhile', () => {
    const both: SignalGroups<string> = new SignalGroups((items) => {
      ended.push([...items]);
      both.of(other.signal).clear();
      both.release(other.signal);
    });
    both.of(one.signal).add('a');
    both.of(other.signal).add('b');
    both.abortAll();
    assert.deepEqual(ended, [['a']]);
  });

  it('may begin anew while they end', () => {
    const again: SignalGroups<string> = new SignalGroups((items) => {
      ended.push([...items]);
      if (ended.length === 1) {
        again.of(one.signal).add('later');
      }
    });
    again.of(one.signal).add('a');
    again.abortAll();
    again.abortAll();
    assert.deepEqual(ended, [['a'], ['later']]);
  });
});
