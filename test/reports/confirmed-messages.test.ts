// What flows have confirmed is known again until the broker has had its acknowledgement, within bounds.
import assert from 'node:assert/strict';
import { ConfirmedMessages } from '../../src/reports/confirmed-messages.ts';
import { keyOf } from '../../src/reports/expected-messages.ts';
import { OpenMessage } from '../../src/reports/open-message.ts';

describe('confirmed messages', () => {
  const NOW = 1_000;
  const MAX = 65_535;
  const messageOf = (topic: string, content = '{}') =>
    new OpenMessage({ topic, payload: Buffer.from(content), retained: false, heardAt: 0 }, 'broker', {
      written() {},
      settled() {},
    });
  /** Whether it is known when it comes again, which it is once. */
  const isKnown = (messages: ConfirmedMessages, topic: string, content = '{}') =>
    messages.take(keyOf({ topic, payload: Buffer.from(content) }), NOW);
  const LONG = 'x'.repeat(2_000);

  it('are known once when they come again, by topic and content, short and long', () => {
    const messages = new ConfirmedMessages();
    messages.add(messageOf('a'), 1);
    messages.add(messageOf('b', LONG), 2);
    messages.add(messageOf('c'), 3);
    assert.equal(isKnown(messages, 'a', '{"other":1}'), false);
    const known = [
      ['a', '{}'],
      ['b', LONG],
      ['c', '{}'],
    ] as const;
    assert.deepEqual(
      known.map(([topic, content]) => isKnown(messages, topic, content)),
      [true, true, true],
    );
    assert.deepEqual(
      known.map(([topic, content]) => isKnown(messages, topic, content)),
      [false, false, false],
    );
    assert.equal(messages.isEmpty(NOW), true);
  });

  it('are not known any more when they are settled, whether one was looked for or not', () => {
    for (const isLookedFor of [false, true]) {
      const messages = new ConfirmedMessages();
      for (const [i, content] of ['{}', LONG, '{}', LONG, '{}'].entries()) {
        messages.add(messageOf(`t${i + 1}`, content), i + 1);
      }
      if (isLookedFor) {
        assert.equal(isKnown(messages, 'other'), false);
      }
      messages.settled(3);
      assert.deepEqual(
        [isKnown(messages, 't2', LONG), isKnown(messages, 't3'), isKnown(messages, 't4', LONG)],
        [false, false, true],
      );
      messages.settled(5);
      assert.equal(messages.isEmpty(NOW), true);
    }
  });

  it('of a connection that was lost are settled by no acknowledgement of the next one', () => {
    const messages = new ConfirmedMessages();
    messages.add(messageOf('a'), 7);
    messages.connected('broker', true, NOW);
    messages.add(messageOf('b'), 1);
    messages.settled(7);
    assert.deepEqual([isKnown(messages, 'a'), isKnown(messages, 'b')], [true, false]);
  });

  it('are as many as MQTT has packet ids: the oldest are forgotten, those of lost connections first', () => {
    const messages = new ConfirmedMessages();
    messages.add(messageOf('lost'), 1);
    messages.connected('broker', true, NOW);
    for (let order = 1; order <= MAX; order++) {
      messages.add(messageOf(`t${order}`), order);
    }
    messages.add(messageOf('one more'), MAX + 1);
    assert.deepEqual(
      ['lost', 't1', 't2', 'one more'].map((topic) => isKnown(messages, topic)),
      [false, false, true, true],
    );
  });
});
