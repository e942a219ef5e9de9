// Who waits for a topic filter is called once it is granted or refused, unless nobody wants it any more.
import assert from 'node:assert/strict';
import { GrantWaiters } from '../../src/mqtt/grant-waiters.ts';

describe('those who wait for a topic filter', () => {
  let waiters: GrantWaiters;
  let called: string[];

  beforeEach(() => {
    waiters = new GrantWaiters();
    called = [];
  });

  const wait = (filter: string, name: string) =>
    waiters.add(filter, (refused) => void called.push(`${name} ${refused ? 'refused' : 'granted'}`));

  it('are called once, in the order in which they came', () => {
    wait('a', 'first');
    wait('b', 'other');
    wait('a', 'second');
    waiters.call('a', false);
    waiters.call('a', true);
    assert.deepEqual(called, ['first granted', 'second granted']);
    waiters.call('b', true);
    assert.deepEqual(called.slice(2), ['other refused']);
  });

  it('are not called when nobody wants it any more', () => {
    wait('a', 'first');
    wait('b', 'other');
    waiters.delete('a');
    waiters.call('a', false);
    waiters.call('b', false);
    assert.deepEqual(called, ['other granted']);
  });

  it('wait for the next answer where they wait again when called', () => {
    waiters.add('a', () => wait('a', 'again'));
    waiters.call('a', true);
    assert.deepEqual(called, []);
    waiters.call('a', false);
    assert.deepEqual(called, ['again granted']);
  });
});
