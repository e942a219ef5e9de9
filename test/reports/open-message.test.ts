// What one message of the broker counts for, and to whom it is told what becomes of its acknowledgement.
import assert from 'node:assert/strict';
import { OpenMessage } from '../../src/reports/open-message.ts';

describe('a message that the broker keeps', () => {
  const create = (topic: string, payload: string, events = { written() {}, settled() {} }) =>
    new OpenMessage({ topic, payload: Buffer.from(payload), retained: false, heardAt: 7 }, 'broker', events);

  it('takes the bytes of topic and payload, and more than them however short they are', () => {
    const { size } = create('', '');
    assert.ok(size >= 100, `${size}`);
    assert.deepEqual(
      [create('topic', '').size, create('', 'payload').size, create('topic', 'payload').size],
      [size + 5, size + 7, size + 12],
    );
  });

  it('is open nowhere, expected from nowhere and stored by nobody at first', () => {
    const { open, isStored, isCopied, expectedUntil, lostAt, deferral, broker } = create('t', '{}');
    assert.deepEqual(
      { open, isStored, isCopied, expectedUntil, lostAt, deferral, broker },
      {
        ...{ open: 0, isStored: false, isCopied: false, expectedUntil: 0, lostAt: 0 },
        ...{ deferral: undefined, broker: 'broker' },
      },
    );
  });

  it('tells that its acknowledgement was written as itself, and that it was settled for all before', () => {
    const told: unknown[] = [];
    const message = create('t', '{}', {
      written: (...args: unknown[]) => void told.push(args),
      settled: (...args: unknown[]) => void told.push(args),
    });
    message.written(3);
    message.settled(5);
    assert.deepEqual(told, [[message, 3], [5]]);
  });
});
