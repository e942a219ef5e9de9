// What is remembered of sessions at brokers, over redeploys: until the broker has them no longer, and with a bound.
import assert from 'node:assert/strict';
import {
  forgetFilters,
  forgetSession,
  keptSession,
  mayHold,
  newSession,
  sessionName,
} from '../../src/mqtt/kept-sessions.ts';

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

  it('may hold what was granted, what was asked for when a connection ended, and what is guessed', () => {
    const session = newSession();
    assert.deepEqual([mayHold(session), session.untaken, session.leftPlain.size], [[], [], 0]);
    session.filters.add('granted');
    session.doubtful.add('asked');
    session.guessed.add('guessed');
    assert.deepEqual(mayHold(session), ['granted', 'asked', 'guessed']);
    forgetFilters(session);
    assert.deepEqual(mayHold(session), []);
  });

  it('are forgotten when the broker has them no longer, each for itself', () => {
    for (const n of [0, 1]) {
      const session = keptSession(nameOf(n));
      session.filters.add('mt/#');
      session.bringsPairs = true;
    }
    forgetSession(nameOf(0));
    const [forgotten, kept] = [keptSession(nameOf(0)), keptSession(nameOf(1))];
    assert.deepEqual([forgotten.filters.size, forgotten.bringsPairs], [0, false]);
    assert.deepEqual([kept.filters.size, kept.bringsPairs], [1, true]);
  });
});
