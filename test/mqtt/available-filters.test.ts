// Where a broker says that it lacks a kind of subscriptions, the others count as granted only when it has granted them.
import assert from 'node:assert/strict';
import { subscribeAvailable } from '../../src/mqtt/available-filters.ts';
import { NoBrokerResponse } from '../../src/mqtt/broker-response.ts';

const FILTERS = { 'a/+': { qos: 1 }, b: { qos: 1 }, c: { qos: 1 } } as const;
const SAID = { wildcardSubscriptionAvailable: false };

describe('the filters of which a broker says that it does not have all', () => {
  it('are refused where its response has no code for them', async () => {
    const packet = { granted: [0x87] };
    const outcome = await subscribeAvailable(FILTERS, SAID, (asked) => {
      assert.deepEqual(Object.keys(asked), ['b', 'c']);
      return Promise.reject(Object.assign(new Error('refused'), { packet }));
    });
    assert.deepEqual(
      outcome.map(({ qos }) => qos),
      [0xa2, 0x87, 0x80],
    );
  });

  it('count as not answered where no response comes', async () => {
    const outcome = subscribeAvailable(FILTERS, SAID, () => Promise.reject(new NoBrokerResponse()));
    await assert.rejects(outcome, NoBrokerResponse);
  });
});
