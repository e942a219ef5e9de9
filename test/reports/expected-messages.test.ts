// Messages that a broker may send again over a new connection: which of them one is, and until when it may come.
import assert from 'node:assert/strict';
import { ExpectedMessages, expectedUntil, keyOf } from '../../src/reports/expected-messages.ts';

describe('expected messages', () => {
  const HOUR_MS = 3_600_000;
  const messageOf = (topic: string, content: string, until: number, n = 0) => ({
    received: { topic, payload: Buffer.from(content), retained: false, heardAt: 0 },
    ...{ expectedUntil: until, n },
  });
  const key = (topic: string, content: string) => keyOf({ topic, payload: Buffer.from(content) });

  it('may come for ten minutes after a connection, and for a day while that is to another address', () => {
    const now = 50 * HOUR_MS;
    assert.deepEqual(
      [
        expectedUntil(now, true, now),
        expectedUntil(now - 23 * HOUR_MS, true, now),
        expectedUntil(now - 24 * HOUR_MS + 1_000, true, now),
        expectedUntil(now - HOUR_MS, false, now),
      ],
      [now + 600_000, now + 600_000, now + 1_000, now + 23 * HOUR_MS],
    );
  });

  it('are known by topic and content together', () => {
    assert.equal(key('a', 'b'), key('a', 'b'));
    assert.equal(
      new Set([key('a', 'b'), key('b', 'a'), key('ab', ''), key('', 'ab'), key('a', 'c')]).size,
      5,
    );
    const bytes = (payload: Buffer) => keyOf({ topic: 'a', payload });
    assert.notEqual(bytes(Buffer.from([0xff])), bytes(Buffer.from([0xfe])));
  });

  it('are taken in the order in which they came, each once, and those whose time is over are left out', () => {
    const messages = new ExpectedMessages<ReturnType<typeof messageOf>>();
    for (const [n, until] of [10, 5, 11].entries()) {
      messages.add(messageOf('a', 'x', until, n));
    }
    assert.equal(messages.take(key('a', 'y'), 5), undefined);
    assert.equal(messages.take(key('a', 'x'), 5)?.n, 0);
    assert.equal(messages.isEmpty, false);
    assert.equal(messages.take(key('a', 'x'), 5)?.n, 2);
    assert.equal(messages.isEmpty, true);
    assert.equal(messages.take(key('a', 'x'), 5), undefined);
  });

  it('are forgotten when their time is over, or all at once', () => {
    const messages = new ExpectedMessages<ReturnType<typeof messageOf>>();
    messages.add(messageOf('a', 'x', 10));
    messages.add(messageOf('b', 'x', 10));
    messages.add(messageOf('b', 'x', 11, 1));
    messages.endOld(10);
    assert.equal(messages.take(key('a', 'x'), 0), undefined);
    assert.equal(messages.take(key('b', 'x'), 0)?.n, 1);
    assert.equal(messages.isEmpty, true);
    messages.add(messageOf('a', 'x', 10));
    messages.endOld(10);
    assert.equal(messages.isEmpty, true);
    messages.add(messageOf('a', 'x', 10));
    assert.equal(messages.isEmpty, false);
    messages.clear();
    assert.equal(messages.isEmpty, true);
  });
});
