// What flows have confirmed is kept over deploys for so many services at most.
import assert from 'node:assert/strict';
import { ConfirmedMessages, leaveConfirmed, takeConfirmed } from '../../src/reports/confirmed-messages.ts';

describe('confirmed messages that a service has left', () => {
  const COUNT = 100;
  const nameOf = (n: number) => `mt-left-${n}`;

  it('are those of the last hundred services, each taken once', () => {
    for (let n = 0; n <= COUNT; n++) {
      leaveConfirmed(nameOf(n), new ConfirmedMessages());
    }
    assert.equal(takeConfirmed(nameOf(0)), undefined);
    for (let n = 1; n <= COUNT; n++) {
      assert.ok(takeConfirmed(nameOf(n)));
      assert.equal(takeConfirmed(nameOf(n)), undefined);
    }
  });
});
