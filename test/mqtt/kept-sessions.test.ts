// What is remembered of sessions at brokers, over redeploys, has a bound.
import assert from 'node:assert/strict';
import { forgetSession, keptSession, sessionName } from '../../src/mqtt/kept-sessions.ts';

describe('sessions that brokers keep', () => {
  const nameOf = (n: number) => sessionName('mqtt://localhost', `mt-kept-${n}`);
  const COUNT = 1_000;

  afterEach(() => {
    for (let n = 0; n <= COUNT; n++) {
      forgetSession(nameOf(n));
    }
  });

  it('are remembered 1 000 at a time: the one that was needed longest ago is forgotten', () => {
    for (let n = 0; n < COUNT; n++) {
      keptSession(nameOf(n)).filters.add('mt/#');
    }
    keptSession(nameOf(0));
    keptSession(nameOf(COUNT));
    assert.equal(keptSession(nameOf(0)).filters.size, 1);
    assert.equal(keptSession(nameOf(2)).filters.size, 1);
    assert.equal(keptSession(nameOf(1)).filters.size, 0);
  });
});
