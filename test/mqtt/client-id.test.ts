// A connection beside the deployed one has a client id that brokers take and that is not the deployed one.
import assert from 'node:assert/strict';
import { besideId } from '../../src/mqtt/client-id.ts';

describe('the client id of a connection beside the deployed one', () => {
  for (const [title, clientId, start] of [
    ['short', 'mt-own', 'mt-own'],
    ['that leaves room up to the 23 bytes that every broker takes', 'x'.repeat(18), 'x'.repeat(18)],
    ['that leaves one byte less', 'x'.repeat(19), 'x'.repeat(18)],
    ['of 23 bytes', 'x'.repeat(23), 'x'.repeat(18)],
    ['that is longer, which this broker takes then', 'x'.repeat(40), 'x'.repeat(35)],
    ['with letters of several bytes', 'ü'.repeat(11), 'ü'.repeat(9)],
    ['with letters of four bytes', `a${'😀'.repeat(5)}`, `a${'😀'.repeat(4)}`],
  ] as const) {
    it(`begins like one ${title}`, () => {
      const id = besideId(clientId);
      assert.equal(id.slice(0, -5), start);
      assert.match(id.slice(-5), /^-[0-9a-f]{4}$/);
    });
  }

  it('is another one each time', () => {
    assert.ok(new Set(Array.from({ length: 20 }, () => besideId('mt-own'))).size > 1);
  });
});
