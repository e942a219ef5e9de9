// What flows have confirmed is known again until the broker has had its acknowledgement, within bounds.
import assert from 'node:assert/strict';
import { ConfirmedMessages } from '../../src/reports/confirmed-messages.ts';
import { keyOf } from '../../src/reports/expected-messages.ts';
import { OpenMessage } from '../../src/reports/open-message.ts';

describe('confirmed messages', () => {
  const NOW = 1_000;
  const MAX = 65_535;
  const EVENTS = { written() {}, settled() {} };
  const messageWith = (topic: string, payload: Buffer) =>
    new OpenMessage({ topic, payload, retained: false, heardAt: 0 }, 'broker', EVENTS);
  const messageOf = (topic: string, content = '{}') => messageWith(topic, Buffer.from(content));
  /** Whether it is known when it comes again over another connection, which it is once. */
  const isKnown = (messages: ConfirmedMessages, topic: string, content = '{}') => {
    messages.left(NOW);
    return messages.takeLost(keyOf({ topic, payload: Buffer.from(content) }), NOW);
  };
  /** The same, over the same connection. */
  const isKnownHere = (messages: ConfirmedMessages, order: number, topic: string, content = '{}') =>
    messages.takePresent(keyOf({ topic, payload: Buffer.from(content) }), order) !== undefined;
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
        assert.equal(isKnownHere(messages, 1, 'other'), false);
      }
      messages.settled(3);
      assert.deepEqual(
        [
          isKnownHere(messages, 2, 't2', LONG),
          isKnownHere(messages, 3, 't3'),
          isKnownHere(messages, 4, 't4', LONG),
        ],
        [false, false, true],
      );
      messages.settled(5);
      assert.equal(messages.isEmpty(NOW), true);
    }
  });

  it('are known over the same connection by what was acknowledged for them, once, beside others of the same content', () => {
    const messages = new ConfirmedMessages();
    for (const [order, content] of [
      [1, '{}'],
      [2, '{}'],
      [3, LONG],
    ] as const) {
      messages.add(messageOf('t', content), order);
    }
    assert.equal(messages.takeLost(keyOfTopic('t'), NOW), false);
    assert.deepEqual(
      [isKnownHere(messages, 3, 't'), isKnownHere(messages, 1, 'u'), isKnownHere(messages, 0, 'u')],
      [false, false, false],
    );
    // Under another number, by its content, and none is taken for it.
    assert.deepEqual([isKnownHere(messages, 0, 't'), isKnownHere(messages, 0, 't')], [true, true]);
    assert.deepEqual(
      [1, 1, 2].map((order) => isKnownHere(messages, order, 't')),
      [true, false, true],
    );
    assert.equal(isKnownHere(messages, 0, 't'), false);
    messages.left(NOW);
    assert.deepEqual([isKnownHere(messages, 3, 't', LONG), isKnown(messages, 't', LONG)], [false, true]);
  });

  it('are not known by their content alone where they came marked as sent before', () => {
    for (const content of ['{}', LONG]) {
      const messages = new ConfirmedMessages();
      messages.add(Object.assign(messageOf('t', content), { isResent: true }), 1);
      assert.equal(isKnownHere(messages, 0, 't', content), false);
      messages.add(messageOf('t', content), 2);
      assert.deepEqual(
        [isKnownHere(messages, 0, 't', content), isKnownHere(messages, 1, 't', content)],
        [true, true],
      );
      messages.add(Object.assign(messageOf('u', content), { isResent: true }), 3);
      assert.equal(isKnown(messages, 'u', content), true);
    }
  });

  it('of a connection that was lost are settled by no acknowledgement of the next one', () => {
    const messages = new ConfirmedMessages();
    messages.add(messageOf('a'), 7);
    messages.connected('broker', true, NOW);
    messages.add(messageOf('b'), 1);
    messages.settled(7);
    assert.deepEqual([isKnown(messages, 'b'), isKnown(messages, 'a')], [false, true]);
  });

  const LATER_MS = 10 * 60_000;
  const AWAY_MS = 24 * 3_600_000;
  const keyOfTopic = (topic: string) => keyOf({ topic, payload: Buffer.from('{}') });

  it('are known for ten minutes of the next connection, and then no more', () => {
    for (const [ms, expected] of [
      [LATER_MS - 1, true],
      [LATER_MS, false],
    ] as const) {
      const messages = new ConfirmedMessages();
      messages.add(messageOf('a'), 1);
      messages.connected('broker', true, NOW);
      assert.equal(messages.takeLost(keyOfTopic('a'), NOW + ms), expected);
      assert.equal(messages.isEmpty(NOW + ms), true);
    }
  });

  it('are known for a day while the connection is to another address, whatever that one has kept', () => {
    for (const [ms, expected] of [
      [AWAY_MS - 1, true],
      [AWAY_MS, false],
    ] as const) {
      const messages = new ConfirmedMessages();
      messages.add(messageOf('a'), 1);
      messages.connected('other', false, NOW);
      messages.connected('other', true, NOW + LATER_MS);
      messages.connected('broker', true, NOW + AWAY_MS - 10);
      assert.equal(messages.takeLost(keyOfTopic('a'), NOW + ms), expected);
    }
  });

  it('are forgotten with the session that the broker has not kept', () => {
    const messages = new ConfirmedMessages();
    messages.add(messageOf('a'), 1);
    messages.add(messageOf('b', LONG), 2);
    messages.connected('broker', false, NOW);
    assert.equal(messages.isEmpty(NOW), true);
    assert.deepEqual([isKnown(messages, 'a'), isKnown(messages, 'b', LONG)], [false, false]);
  });

  it('are forgotten when their time is over, though none of them comes again', () => {
    const messages = new ConfirmedMessages();
    messages.add(messageOf('a'), 1);
    messages.add(messageOf('b', LONG), 2);
    assert.equal(messages.isEmpty(NOW), false);
    messages.connected('broker', true, NOW);
    assert.equal(messages.isEmpty(NOW + LATER_MS - 1), false);
    assert.equal(messages.isEmpty(NOW + LATER_MS + LATER_MS), true);
    messages.add(messageOf('c'), 1);
    messages.connected('broker', true, 10 * LATER_MS);
    assert.equal(messages.isEmpty(11 * LATER_MS), true);
  });

  it('take little memory, however long they are', () => {
    const messages = new ConfirmedMessages();
    const payload = Buffer.alloc(100_000, 'x');
    const { arrayBuffers } = process.memoryUsage();
    for (let order = 1; order <= 300; order++) {
      messages.add(messageWith(`t${order}`, payload), order);
    }
    assert.ok(process.memoryUsage().arrayBuffers - arrayBuffers < 10_000_000);
    assert.equal(isKnown(messages, 't300', payload.toString()), true);
  });

  it('are known also where the connection was lost before the flow had confirmed them', () => {
    const messages = new ConfirmedMessages();
    for (const [topic, expectedUntil] of [
      ['a', NOW + 1],
      ['b', NOW],
    ] as const) {
      messages.addLost(Object.assign(messageOf(topic), { lostAt: NOW - 1, expectedUntil }));
    }
    messages.settled(1);
    assert.equal(messages.isEmpty(NOW - 1), false);
    assert.deepEqual(
      ['a', 'b', 'a'].map((topic) => isKnown(messages, topic)),
      [true, false, false],
    );
  });

  it('are forgotten by their key, all of them', () => {
    const messages = new ConfirmedMessages();
    messages.add(messageOf('a'), 1);
    messages.connected('broker', true, NOW);
    messages.add(messageOf('a'), 1);
    messages.add(messageOf('b'), 2);
    messages.left(NOW);
    messages.forget(keyOfTopic('a'));
    assert.deepEqual([isKnown(messages, 'a'), isKnown(messages, 'b')], [false, true]);
  });

  it('of lost connections are as many at most, and long ones are counted among them', () => {
    const messages = new ConfirmedMessages();
    messages.add(messageOf('long', LONG), 1);
    for (let order = 2; order <= MAX + 1; order++) {
      messages.add(messageOf(`t${order}`), order);
    }
    assert.deepEqual([isKnownHere(messages, 1, 'long', LONG), isKnownHere(messages, 2, 't2')], [false, true]);
    messages.add(messageOf('t2'), MAX + 2);
    messages.addLost(Object.assign(messageOf('lost'), { lostAt: NOW, expectedUntil: NOW + 1 }));
    assert.deepEqual([isKnown(messages, 'lost'), isKnown(messages, 't3')], [false, true]);
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
