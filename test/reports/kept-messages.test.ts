// What the broker keeps until flows have confirmed it: how much of it is read, and when nothing older can come any more.
import assert from 'node:assert/strict';
import { KeptMessages, MAX_BYTES, MAX_MESSAGES } from '../../src/reports/kept-messages.ts';
import { OpenMessage } from '../../src/reports/open-message.ts';

describe('kept messages', () => {
  let now: number;
  /** The connection reads on behind these. */
  let readOn: string[];

  beforeEach(() => {
    now = 100_000;
    readOn = [];
  });

  const NO_EVENTS = { written() {}, settled() {} };
  const messageOf = (payload: Buffer = Buffer.from('{}')) =>
    new OpenMessage({ topic: 't', payload, retained: false, heardAt: now }, 'broker', NO_EVENTS);
  const deferralOf = (name: string) => ({ acknowledge() {}, readOn: () => void readOn.push(name) });
  const create = (maxMessages = 10, maxBytes = 1_000_000) =>
    new KeptMessages(() => now, maxMessages, maxBytes);

  /** One more is kept. */
  function keep(kept: KeptMessages, name: string, payload?: Buffer): OpenMessage {
    const message = messageOf(payload);
    kept.readOn(deferralOf(name), kept.add(message));
    return message;
  }

  it('stop the connection beyond their number, until there is room again', () => {
    const kept = create(2);
    const [first, second] = [keep(kept, '1'), keep(kept, '2')];
    assert.deepEqual([readOn, kept.isFull], [['1', '2'], false]);
    keep(kept, '3');
    assert.deepEqual([readOn, kept.isFull, kept.size], [['1', '2'], true, 3]);
    kept.delete(second);
    assert.deepEqual([readOn, kept.isFull, kept.size], [['1', '2', '3'], false, 2]);
    kept.delete(second);
    kept.delete(first);
    assert.deepEqual([readOn.length, kept.size], [3, 1]);
  });

  it('stop the connection beyond their size', () => {
    const payload = Buffer.alloc(1_000);
    const { size } = messageOf(payload);
    assert.ok(size > payload.length);
    const kept = create(10, size * 2);
    const [first, second] = [keep(kept, '1', payload), keep(kept, '2', payload)];
    assert.equal(kept.isFull, false);
    const third = keep(kept, '3');
    assert.equal(kept.isFull, true);
    kept.delete(third);
    assert.deepEqual([kept.isFull, readOn], [false, ['1', '2', '3']]);
    kept.delete(third);
    keep(kept, '4');
    assert.equal(kept.isFull, true);
    kept.delete(first);
    kept.delete(second);
    assert.deepEqual([kept.isFull, readOn.at(-1)], [false, '4']);
  });

  it('may take 64 MB', () => {
    const kept = create(MAX_MESSAGES, MAX_BYTES);
    const payload = Buffer.alloc(10_000_000);
    for (let n = 0; n < 6; n++) {
      keep(kept, `${n}`, payload);
    }
    assert.equal(kept.isFull, false);
    keep(kept, '6', payload);
    assert.equal(kept.isFull, true);
  });

  it('go on waiting where what is forgotten leaves too many', () => {
    const kept = create(1);
    const [first, second] = [keep(kept, '1'), keep(kept, '2')];
    kept.add(messageOf());
    kept.delete(first);
    assert.equal(kept.isFull, true);
    kept.delete(second);
    assert.equal(kept.isFull, false);
  });

  it('do not wait for one that is known, and count it once', () => {
    const kept = create(1);
    const first = keep(kept, '1');
    keep(kept, '2');
    assert.equal(kept.add(first), false);
    kept.readOn(deferralOf('again'), false);
    assert.deepEqual([readOn, kept.size, [...kept].length], [['1', 'again'], 2, 2]);
    kept.delete(first);
    assert.equal(kept.isFull, false);
  });

  it('hold back nothing of a new connection', () => {
    const kept = create(0);
    keep(kept, '1');
    kept.connected(true);
    assert.equal(kept.isFull, false);
    kept.clear();
    assert.deepEqual([kept.size, readOn], [0, []]);
  });

  it('take no room any more once all are given up: the connection after that is not stopped', () => {
    const payload = Buffer.alloc(1_000);
    const kept = create(10, messageOf(payload).size);
    keep(kept, '1', payload);
    keep(kept, '2', payload);
    assert.equal(kept.isFull, true);
    kept.clear();
    assert.deepEqual([kept.isFull, kept.size], [false, 0]);
    kept.delete(keep(kept, '3', payload));
    assert.deepEqual([kept.isFull, readOn], [false, ['1', '3']]);
  });

  it('have caught up when there has been none for a second', () => {
    const kept = create();
    assert.equal(kept.hasCaughtUp(now, true), true);
    kept.connected(false);
    assert.equal(kept.hasCaughtUp(now, true), true);
    for (const begin of [
      () => kept.connected(true),
      () => kept.beginQuiet(),
      () => kept.delete(keep(kept, '')),
    ]) {
      begin();
      assert.equal(kept.hasCaughtUp(0, true), false);
      now += 999;
      assert.equal(kept.hasCaughtUp(0, true), false);
      now += 1;
      kept.delete(messageOf());
      assert.equal(kept.hasCaughtUp(now, false), true);
    }
  });

  it('have not caught up where one of several is confirmed', () => {
    const kept = create();
    keep(kept, '1');
    kept.delete(keep(kept, '2'));
    const since = now;
    now += 1_000;
    assert.equal(kept.hasCaughtUp(since, true), false);
  });

  for (const [title, hasRoom, ms] of [
    ['a minute', true, 60_000],
    ['an hour, where the broker has no room', false, 3_600_000],
  ] as const) {
    it(`have caught up with what came ${title} ago, when all of that time is confirmed`, () => {
      const kept = create();
      const since = now;
      const early = keep(kept, '1');
      now += 1;
      keep(kept, '2');
      now = since + ms;
      assert.equal(kept.hasCaughtUp(since, hasRoom), false);
      kept.delete(early);
      now--;
      assert.equal(kept.hasCaughtUp(since, hasRoom), false);
      now++;
      assert.equal(kept.hasCaughtUp(since, hasRoom), true);
    });
  }

  it('keep payloads of their own, so that what they came in is freed', () => {
    const kept = create();
    const chunk = Buffer.from('{"a":1}{"b":2}');
    const [first, second] = [keep(kept, '1', chunk.subarray(0, 7)), messageOf(chunk.subarray(7))];
    kept.copyPayloads();
    const { payload } = first.received;
    kept.add(second);
    kept.copyPayloads();
    chunk.fill(0);
    assert.deepEqual(
      [first, second].map(({ received }) => `${received.payload}`),
      ['{"a":1}', '{"b":2}'],
    );
    assert.equal(first.received.payload, payload);
  });
});
