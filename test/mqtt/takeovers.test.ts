// Which connections in a row another client with the same id may have taken away.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { Takeovers } from '../../src/mqtt/takeovers.ts';

const LASTING_MS = 300_000;

describe('connections that another client may have taken away', () => {
  beforeEach(() => mock.method(performance, 'now', () => 1_000_000));
  afterEach(() => mock.reset());

  /** Each with the broker and how long it lasted; undefined: that was not the doing of another client. */
  const countsOf = (...ends: [broker: string, lastedMs: number | undefined][]) => {
    const takeovers = new Takeovers();
    return ends.map(([broker, ms]) => takeovers.noted(broker, ms === undefined ? ms : 1_000_000 - ms));
  };

  it('are counted at one broker', () => {
    assert.deepEqual(countsOf(['a', 0], ['a', LASTING_MS], ['a', 1]), [1, 2, 3]);
  });

  it('are counted anew at another one', () => {
    assert.deepEqual(countsOf(['a', 0], ['a', 0], ['b', 0], ['a', 0]), [1, 2, 1, 1]);
  });

  it('are counted anew after one that has lasted', () => {
    assert.deepEqual(countsOf(['a', 0], ['a', LASTING_MS + 1], ['a', 0]), [1, 1, 2]);
  });

  it('are none where something else was the reason, and counted anew then', () => {
    assert.deepEqual(countsOf(['a', 0], ['a', 0], ['a', undefined], ['a', 0]), [1, 2, 0, 1]);
  });
});
