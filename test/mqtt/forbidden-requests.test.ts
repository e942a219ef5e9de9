// Requests for which a broker ends the connection: which they are, and when one is sent again.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ForbiddenRequests, type RequestKind } from '../../src/mqtt/forbidden-requests.ts';

const READ_A = { gateway: 'a', operation: 'read' };
const READ_B = { gateway: 'b', operation: 'read' };
const READ_C = { gateway: 'c', operation: 'read' };
const WRITE_A = { gateway: 'a', operation: 'write' };

describe('requests that end the connection', () => {
  let now: number;
  let forbidden: ForbiddenRequests;

  beforeEach(() => {
    now = 1_000_000;
    mock.method(performance, 'now', () => now);
    // No jitter.
    mock.method(Math, 'random', () => 0);
    forbidden = new ForbiddenRequests();
  });
  afterEach(() => mock.restoreAll());

  const lose = (...kinds: RequestKind[]) =>
    forbidden.lost(kinds.map((kind) => ({ ...kind, sentAt: now - 100 })));
  const isSent = (kind: RequestKind) => forbidden.waitOf(kind) === 0;

  it('are known after two connections that ended behind them alone', () => {
    assert.equal(forbidden.isQuiet, true);
    assert.equal(lose(READ_A), undefined);
    assert.deepEqual([forbidden.isQuiet, forbidden.isSearching, isSent(READ_A)], [false, true, true]);
    assert.deepEqual(lose(READ_A), READ_A);
    assert.deepEqual([forbidden.isSearching, isSent(READ_A)], [false, false]);
    assert.deepEqual([isSent(WRITE_A), isSent(READ_B)], [true, true]);
  });

  it('are none where the broker has acknowledged one in between', () => {
    lose(READ_A);
    forbidden.acknowledged(READ_A);
    assert.deepEqual([forbidden.isQuiet, forbidden.isSearching], [true, false]);
    assert.equal(lose(READ_A), undefined);
  });

  it('are not known while others were under way, which are sent one by one then', () => {
    assert.equal(lose(READ_A, READ_B), undefined);
    assert.equal(lose(READ_A, READ_B), undefined);
    assert.equal(forbidden.isSearching, true);
    forbidden.acknowledged(READ_B);
    assert.deepEqual(lose(READ_A), READ_A);
  });

  it('are none of those that were sent more than five seconds before', () => {
    for (let i = 0; i < 3; i++) {
      assert.equal(forbidden.lost([{ ...READ_A, sentAt: now - 5_001 }]), undefined);
    }
    assert.equal(forbidden.isQuiet, true);
    assert.equal(forbidden.lost([]), undefined);
    forbidden.lost([{ ...READ_A, sentAt: now - 5_000 }]);
    assert.equal(forbidden.isQuiet, false);
  });

  it('are looked for one by one for a minute, and remembered for an hour', () => {
    lose(READ_A);
    now += 59_999;
    assert.equal(forbidden.isSearching, true);
    now += 1;
    assert.equal(forbidden.isSearching, false);
    now += 3_539_999;
    assert.deepEqual(lose(READ_A), READ_A);
    lose(READ_B, WRITE_A);
    now += 3_600_000;
    assert.equal(lose(WRITE_A), undefined);
  });

  it('are tried after 1, 2, 4 … 30 minutes, one at a time, and alone blamed for what follows', () => {
    lose(READ_A);
    lose(READ_A);
    for (const minutes of [1, 2, 4, 8, 16, 30, 30]) {
      now += minutes * 60_000 - 1;
      assert.equal(forbidden.waitOf(READ_A), 1);
      now += 1;
      assert.equal(forbidden.waitOf(READ_A), 0);
      forbidden.sent(READ_A);
      assert.ok(forbidden.waitOf(READ_A) > 0, 'no second one');
      assert.equal(lose(WRITE_A, READ_A), undefined);
      assert.equal(forbidden.isSearching, false, 'nobody else is in doubt');
    }
    now += 30 * 60_000;
    forbidden.sent(READ_A);
    forbidden.acknowledged(READ_A);
    assert.equal(forbidden.isQuiet, true);
  });

  it('whose trial is not answered are tried again later, and others are looked for meanwhile', () => {
    lose(READ_A);
    lose(READ_A);
    now += 60_000;
    forbidden.sent(READ_A);
    assert.equal(lose(WRITE_A), undefined);
    assert.deepEqual(lose(WRITE_A), WRITE_A);
    assert.equal(forbidden.waitOf(READ_A), 120_000);
  });

  it('are known at once at a second gateway, and then at all, as long as none was acknowledged', () => {
    lose(READ_A);
    lose(READ_A);
    assert.deepEqual(lose(READ_B), READ_B);
    assert.deepEqual(
      [isSent(READ_A), isSent(READ_B), isSent(READ_C), isSent(WRITE_A)],
      [false, false, false, true],
    );
    now += 60_000;
    assert.equal(isSent(READ_C), true);
    forbidden.sent(READ_C);
    assert.equal(isSent(READ_A), false);
    lose(READ_C);
    now += 120_000;
    forbidden.sent(READ_C);
    forbidden.acknowledged(READ_C);
    assert.deepEqual([isSent(READ_A), isSent(READ_B), isSent(READ_C)], [true, true, true]);
  });

  it('stay those of their gateways where the operation was acknowledged at another one', () => {
    lose(READ_C);
    forbidden.acknowledged(READ_C);
    lose(READ_A);
    lose(READ_A);
    lose(READ_B);
    assert.deepEqual([isSent(READ_A), isSent(READ_B), isSent(READ_C)], [false, false, true]);
    now += 60_000;
    forbidden.sent(READ_A);
    forbidden.acknowledged(READ_A);
    forbidden.sent(READ_B);
    lose(READ_B);
    assert.deepEqual([isSent(READ_A), isSent(READ_B)], [true, false]);
  });

  it('are remembered of 1 000 kinds, the oldest go first', () => {
    forbidden.acknowledged(READ_A);
    for (let i = 0; i <= 1_000; i++) {
      const kind = { gateway: `g${i}`, operation: 'read' };
      lose(kind);
      lose(kind);
    }
    assert.deepEqual(
      ['g0', 'g1', 'g1000'].map((gateway) => isSent({ gateway, operation: 'read' })),
      [true, false, false],
    );
    const doubts = new ForbiddenRequests();
    const inDoubt = (n: number) => ({ gateway: `g${n}`, operation: 'read', sentAt: now });
    doubts.lost(Array.from({ length: 1_001 }, (_, n) => inDoubt(n)));
    assert.equal(doubts.lost([inDoubt(0)]), undefined);
    assert.ok(doubts.lost([inDoubt(1_000)]));
  });
});
