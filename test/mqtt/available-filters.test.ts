// Where a broker says that it lacks a kind of subscriptions, it is not asked for them, and the others count as granted only
// when it has granted them.
import assert from 'node:assert/strict';
import { type FilterSupport, subscribeAvailable } from '../../src/mqtt/available-filters.ts';
import { NoBrokerResponse } from '../../src/mqtt/broker-response.ts';

const FILTERS = {
  'a/+': { qos: 1 },
  '$share/g/b': { qos: 2 },
  '$share/g/#': { qos: 1 },
  c: { qos: 0 },
} as const;
const NAMES = Object.keys(FILTERS);
const NO_WILDCARDS = { wildcardSubscriptionAvailable: false };
const NO_SHARED = { sharedSubscriptionAvailable: false };

interface Row {
  title: string;
  said: FilterSupport;
  /** Indices of the filters that the broker is asked for; it grants each with the QoS that is wanted. */
  asked: number[];
  codes: number[];
}

const ROWS: Row[] = [
  { title: 'are all asked for where it says nothing', said: {}, asked: [0, 1, 2, 3], codes: [1, 2, 1, 0] },
  {
    title: 'are all asked for where it says that it has them',
    said: { wildcardSubscriptionAvailable: true, sharedSubscriptionAvailable: true },
    asked: [0, 1, 2, 3],
    codes: [1, 2, 1, 0],
  },
  {
    title: 'are asked for without those with wildcards',
    said: NO_WILDCARDS,
    asked: [1, 3],
    codes: [0xa2, 2, 0xa2, 0],
  },
  {
    title: 'are asked for without those of groups',
    said: NO_SHARED,
    asked: [0, 3],
    codes: [1, 0x9e, 0x9e, 0],
  },
  {
    title: 'are asked for without those with wildcards and those of groups',
    said: { ...NO_WILDCARDS, ...NO_SHARED },
    asked: [3],
    codes: [0xa2, 0x9e, 0x9e, 0],
  },
];

describe('the filters of which a broker says that it does not have all', () => {
  for (const { title, said, asked, codes } of ROWS) {
    it(title, async () => {
      const outcome = await subscribeAvailable(FILTERS, said, (filters) => {
        const wanted = Object.entries(filters);
        assert.deepEqual(
          wanted,
          asked.map((at) => Object.entries(FILTERS)[at]),
        );
        return Promise.resolve(wanted.map(([topic, { qos }]) => ({ topic, qos })));
      });
      assert.deepEqual(
        outcome,
        NAMES.map((topic, i) => ({ topic, qos: codes[i] })),
      );
    });
  }

  it('are not asked for where it has none of them', async () => {
    const outcome = await subscribeAvailable({ 'a/#': { qos: 1 } }, NO_WILDCARDS, () =>
      assert.fail('the broker ends the connection because of an empty packet'),
    );
    assert.deepEqual(outcome, [{ topic: 'a/#', qos: 0xa2 }]);
  });

  it('are refused where its response has no code for them', async () => {
    const packet = { granted: [0x87] };
    const outcome = await subscribeAvailable(FILTERS, NO_WILDCARDS, () =>
      Promise.reject(Object.assign(new Error('refused'), { packet })),
    );
    assert.deepEqual(
      outcome.map(({ qos }) => qos),
      [0xa2, 0x87, 0xa2, 0x80],
    );
  });

  it('count as not answered where no response comes', async () => {
    const outcome = subscribeAvailable(FILTERS, NO_WILDCARDS, () => Promise.reject(new NoBrokerResponse()));
    await assert.rejects(outcome, NoBrokerResponse);
  });
});
