// Whether the broker holds back what it still has, told by how many of its messages are not acknowledged.
import assert from 'node:assert/strict';
import { BrokerWindow } from '../../src/reports/broker-window.ts';

describe('what the broker may send before something is acknowledged', () => {
  const MIN = 10;
  const WAIT_MS = 1_000;

  /** So many were received at the time 0, and none is acknowledged. */
  function windowOf(count: number): BrokerWindow {
    const window = new BrokerWindow();
    for (let n = 0; n < count; n++) {
      window.received(0);
      window.kept();
    }
    return window;
  }

  it('is not used up by fewer than any broker allows', () => {
    const window = windowOf(MIN - 1);
    assert.deepEqual([window.hasRoom(0), window.isFull(10 * WAIT_MS)], [true, false]);
  });

  it('is used up where nothing has come for a second, until enough is acknowledged', () => {
    const window = windowOf(MIN);
    assert.deepEqual([window.isFull(WAIT_MS - 1), window.isFull(WAIT_MS)], [false, true]);
    window.received(500);
    assert.deepEqual([window.isFull(WAIT_MS), window.isFull(500 + WAIT_MS)], [false, true]);
    window.acknowledged(2_000);
    assert.equal(window.isFull(5_000), false);
    window.kept();
    assert.equal(window.isFull(5_000), true);
  });

  it('is not used up where for a second fewer are open than were once', () => {
    const window = windowOf(MIN + 5);
    assert.equal(window.hasRoom(100 * WAIT_MS), false);
    window.acknowledged(5_000);
    window.acknowledged(5_500);
    assert.deepEqual([window.hasRoom(5_999), window.hasRoom(6_000)], [false, true]);
    window.kept();
    assert.equal(window.hasRoom(6_000), true);
    window.kept();
    assert.equal(window.hasRoom(100 * WAIT_MS), false);
  });

  it('is that of its connection', () => {
    const window = windowOf(MIN);
    window.connected();
    assert.deepEqual([window.hasRoom(0), window.isFull(5_000)], [true, false]);
    for (let n = 0; n < MIN - 1; n++) {
      window.kept();
    }
    window.acknowledged(0);
    assert.deepEqual([window.hasRoom(0), window.isFull(5_000)], [true, false]);
    window.kept();
    window.kept();
    assert.deepEqual([window.hasRoom(5_000), window.isFull(5_000)], [false, true]);
  });
});
