// Requests for which a broker ends the connection: which they are, and when one is sent again.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { ForbiddenRequests, type RequestTopic } from '../../src/mqtt/forbidden-requests.ts';

const request = (gateway: string, operation: string, id = '8800', device = 'd'): RequestTopic => ({
  ...{ gateway, device, operation },
  suffix: `${operation}/${id}`,
});
const READ_A = request('a', 'read');
const READ_B = request('b', 'read');
const READ_C = request('c', 'read');
const OTHER_A = request('a', 'read', '8900');
const WRITE_A = request('a', 'write');
const MINUTE = 60_000;

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

  const under = (one: RequestTopic, more: object = {}) => ({
    request: one,
    sentAt: now - 100,
    isLarge: false,
    ...more,
  });
  const lose = (...requests: RequestTopic[]) => forbidden.lost(requests.map((one) => under(one)));
  const loseTwice = (one: RequestTopic) => [lose(one), lose(one)][1];
  const isSent = (one: RequestTopic) => forbidden.waitOf(one) === 0;
  /** It is sent to see, which ends the connection. */
  const tryInVain = (one: RequestTopic) => {
    assert.equal(isSent(one), true);
    forbidden.sent(one);
    assert.equal(lose(one), undefined);
  };

  it('are known after two connections that ended behind them alone', () => {
    assert.equal(forbidden.isSearching, false);
    assert.equal(lose(READ_A), undefined);
    assert.deepEqual([forbidden.isSearching, isSent(READ_A)], [true, true]);
    assert.equal(lose(READ_A), READ_A);
    assert.deepEqual([forbidden.isSearching, isSent(READ_A)], [false, false]);
    assert.deepEqual([isSent(WRITE_A), isSent(READ_B)], [true, true]);
  });

  it('are none where the broker has acknowledged one in between', () => {
    lose(READ_A);
    forbidden.acknowledged(READ_A);
    assert.equal(forbidden.isSearching, false);
    assert.equal(lose(READ_A), undefined);
  });

  it('are not known while others were under way, which are sent one by one then', () => {
    assert.equal(lose(READ_A, READ_B), undefined);
    assert.equal(lose(READ_A, READ_B), undefined);
    assert.equal(forbidden.isSearching, true);
    forbidden.acknowledged(READ_B);
    assert.equal(lose(READ_A), READ_A);
  });

  it('are none where something was sent more than five seconds before: the connection was dead', () => {
    const old = under(READ_A, { sentAt: now - 5_001 });
    for (let i = 0; i < 3; i++) {
      assert.equal(forbidden.lost([old]), undefined);
      assert.equal(forbidden.lost([old, under(READ_B)]), undefined);
    }
    assert.equal(forbidden.isSearching, false);
    assert.equal(forbidden.lost([]), undefined);
    forbidden.lost([under(READ_A, { sentAt: now - 5_000 })]);
    assert.equal(forbidden.isSearching, true);
  });

  it('are none where it may have been the size of one', () => {
    for (let i = 0; i < 3; i++) {
      assert.equal(forbidden.lost([under(READ_A, { isLarge: true })]), undefined);
      assert.equal(forbidden.lost([under(READ_A, { isLarge: true }), under(READ_B)]), undefined);
    }
    assert.equal(forbidden.isSearching, false);
  });

  it('are looked for one by one for a minute, and remembered for an hour', () => {
    lose(READ_A);
    now += MINUTE - 1;
    assert.equal(forbidden.isSearching, true);
    now += 1;
    assert.equal(forbidden.isSearching, false);
    now += 59 * MINUTE - 1;
    assert.equal(lose(READ_A), READ_A);
    lose(READ_B, WRITE_A);
    now += 60 * MINUTE;
    assert.equal(lose(WRITE_A), undefined);
  });

  it('are alone those of their topic where the broker has taken another one of the operation at the gateway', () => {
    forbidden.acknowledged(OTHER_A);
    loseTwice(READ_A);
    assert.deepEqual([isSent(READ_A), isSent(OTHER_A)], [false, true]);
    assert.deepEqual([isSent(request('a', 'read', '8800', 'e')), isSent(READ_B)], [true, true]);
    // What was taken by chance behind one that is known is no reason to doubt it.
    assert.equal(lose(OTHER_A), undefined);
    assert.equal(isSent(OTHER_A), true);
  });

  it('are all of the operation at the gateway where it has taken none', () => {
    loseTwice(READ_A);
    assert.deepEqual([isSent(OTHER_A), isSent(READ_B), isSent(WRITE_A)], [false, true, true]);
    now += MINUTE;
    // The one that has ended connections waits for longer, so that others have their turn.
    assert.deepEqual([isSent(READ_A), isSent(OTHER_A)], [false, true]);
    forbidden.sent(OTHER_A);
    forbidden.acknowledged(OTHER_A);
    assert.deepEqual([isSent(OTHER_A), isSent(request('a', 'read', '8802'))], [true, true]);
    assert.equal(isSent(READ_A), true, 'its own minute is over');
    tryInVain(READ_A);
    assert.deepEqual([isSent(OTHER_A), isSent(READ_A)], [true, false]);
  });

  it('are all of the operation at two gateways where it was taken at none, and others are tried first', () => {
    loseTwice(READ_A);
    loseTwice(READ_B);
    assert.deepEqual([isSent(READ_C), isSent(WRITE_A)], [false, true]);
    now += MINUTE;
    assert.deepEqual([isSent(READ_A), isSent(READ_B), isSent(READ_C)], [false, false, true]);
    tryInVain(READ_C);
    assert.equal(isSent(request('d', 'read')), false);
    now += 2 * MINUTE;
    const fresh = request('d', 'read');
    forbidden.sent(fresh);
    assert.equal(isSent(request('e', 'read')), false, 'one at a time');
    forbidden.acknowledged(fresh);
    assert.deepEqual([isSent(fresh), isSent(request('e', 'read'))], [true, true]);
    assert.equal(isSent(READ_C), true);
  });

  it('are not those of all gateways where the broker has taken one before, however long ago', () => {
    forbidden.acknowledged(READ_C);
    loseTwice(READ_A);
    loseTwice(READ_B);
    assert.deepEqual([isSent(READ_A), isSent(READ_B), isSent(READ_C)], [false, false, true]);
    assert.equal(isSent(request('d', 'read')), true);
  });

  it('are tried after 1, 2, 4 … 30 minutes, one at a time, and alone blamed for what follows', () => {
    forbidden.acknowledged(OTHER_A);
    loseTwice(READ_A);
    let wait = 1;
    for (const next of [2, 4, 8, 16, 30, 30, 30]) {
      now += wait * MINUTE - 1;
      assert.equal(forbidden.waitOf(READ_A), 1);
      now += 1;
      assert.equal(isSent(READ_A), true);
      forbidden.sent(READ_A);
      assert.equal(isSent(READ_A), false, 'no second one');
      assert.equal(lose(WRITE_A, READ_A), undefined);
      assert.equal(forbidden.isSearching, false, 'nobody else is in doubt');
      wait = next;
    }
    now += 60 * MINUTE;
    forbidden.sent(READ_A);
    forbidden.acknowledged(READ_A);
    assert.equal(isSent(READ_A), true);
  });

  it('whose trial is not answered are tried again later, and others are looked for meanwhile', () => {
    forbidden.acknowledged(OTHER_A);
    loseTwice(READ_A);
    now += MINUTE;
    forbidden.sent(READ_A);
    assert.equal(loseTwice(WRITE_A), WRITE_A);
    assert.equal(forbidden.waitOf(READ_A), 2 * MINUTE);
  });

  it('are remembered of 1 000, the oldest go first', () => {
    forbidden.acknowledged(request('a', 'read', 'taken'));
    const nth = (n: number) => request('a', 'read', `${n}`);
    for (let i = 0; i <= 1_000; i++) {
      loseTwice(nth(i));
    }
    assert.deepEqual(
      [0, 1, 1_000].map((n) => isSent(nth(n))),
      [true, false, false],
    );
    const doubts = new ForbiddenRequests();
    doubts.lost(Array.from({ length: 1_001 }, (_, n) => under(nth(n))));
    assert.equal(doubts.lost([under(nth(0))]), undefined);
    assert.ok(doubts.lost([under(nth(1_000))]));
  });
});
