// Requests for which a broker ends the connection: which they are, and when one is sent again.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { type Culprit, ForbiddenRequests, type RequestTopic } from '../../src/mqtt/forbidden-requests.ts';

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
const realNow = performance.now;

describe('requests that end the connection', () => {
  let now: number;
  let forbidden: ForbiddenRequests;

  beforeEach(() => {
    now = 1_000_000;
    // A mock would remember each call.
    performance.now = () => now;
    // No jitter.
    mock.method(Math, 'random', () => 0);
    forbidden = new ForbiddenRequests();
  });
  afterEach(() => {
    mock.restoreAll();
    performance.now = realNow;
  });

  const under = (one: RequestTopic, more: object = {}) => ({
    request: one,
    sentAt: now - 100,
    isLarge: false,
    ...more,
  });
  const lose = (...requests: RequestTopic[]) => requestOf(forbidden.lost(requests.map((one) => under(one))));
  /** What is known now for the first time. */
  const requestOf = (culprit: Culprit | undefined) => (culprit?.isNew ? culprit.request : undefined);
  const loseTwice = (one: RequestTopic) => [lose(one), lose(one)][1];
  const isSent = (one: RequestTopic) => forbidden.waitOf(one) === 0;
  /** It is sent to see, which ends the connection. */
  const tryInVain = (one: RequestTopic) => {
    assert.equal(isSent(one), true);
    forbidden.sent(one);
    assert.equal(lose(one), undefined);
  };

  it('are known after two connections that ended behind them alone', () => {
    assert.equal(forbidden.hasDoubts, false);
    assert.equal(lose(READ_A), undefined);
    assert.deepEqual([forbidden.hasDoubts, isSent(READ_A)], [true, true]);
    assert.equal(lose(READ_A), READ_A);
    assert.deepEqual([forbidden.hasDoubts, isSent(READ_A)], [false, false]);
    assert.deepEqual([isSent(WRITE_A), isSent(READ_B)], [true, true]);
  });

  it('are known after two of an operation at a gateway that has taken none, whatever their devices are', () => {
    assert.equal(lose(READ_A), undefined);
    assert.deepEqual([forbidden.isInDoubt(OTHER_A), forbidden.isInDoubt(WRITE_A)], [true, false]);
    assert.equal(lose(OTHER_A), OTHER_A);
    assert.deepEqual(
      [isSent(request('a', 'read', '8802')), isSent(READ_B), isSent(WRITE_A)],
      [false, true, true],
    );
  });

  it('are known after three of an operation that no gateway has taken', () => {
    for (const gateway of ['a', 'b']) {
      assert.equal(lose(request(gateway, 'read')), undefined);
    }
    assert.equal(forbidden.isInDoubt(READ_C), true);
    assert.equal(lose(READ_C), READ_C);
    assert.deepEqual([isSent(request('d', 'read')), isSent(WRITE_A)], [false, true]);
  });

  it('are not known by others that a gateway, or another one, has taken in between', () => {
    lose(READ_A);
    forbidden.acknowledged(OTHER_A);
    assert.equal(lose(request('a', 'read', '8802')), undefined);
    lose(READ_B);
    lose(READ_C);
    assert.deepEqual([isSent(READ_A), isSent(READ_B), isSent(READ_C)], [true, true, true]);
  });

  it('are known whatever the time between two, as a flow may ask for them once a day', () => {
    lose(READ_A, OTHER_A);
    now += 24 * 60 * MINUTE;
    assert.equal(forbidden.isInDoubt(READ_A), true);
    lose(READ_A);
    now += 24 * 60 * MINUTE;
    assert.equal(lose(OTHER_A), OTHER_A);
  });

  it('are all of an operation at a gateway again after three in a row, though some were taken before', () => {
    forbidden.acknowledged(OTHER_A);
    forbidden.acknowledged(READ_B);
    const nth = (n: number) => request('a', 'read', `${n}`);
    lose(nth(1));
    lose(nth(2));
    forbidden.acknowledged(nth(3));
    assert.deepEqual([lose(nth(4)), lose(nth(5))], [undefined, undefined]);
    assert.ok(lose(nth(6)));
    assert.deepEqual(
      [isSent(OTHER_A), isSent(nth(3)), isSent(READ_B), isSent(WRITE_A)],
      [false, false, true, true],
    );
  });

  it('are none of an operation at gateways where it was taken, however many others end connections', () => {
    for (const gateway of ['a', 'b']) {
      forbidden.acknowledged(request(gateway, 'read'));
    }
    for (let n = 0; n < 20; n++) {
      loseTwice(request(`g${n}`, 'read'));
    }
    assert.deepEqual([isSent(READ_A), isSent(READ_B), isSent(request('g7', 'read'))], [true, true, false]);
    // What is acknowledged where it was taken all along says nothing of the others.
    forbidden.acknowledged(READ_A);
    assert.deepEqual([isSent(READ_A), isSent(request('new', 'read'))], [true, false]);
    // The right is lost at one of them.
    for (let n = 0; n < 3; n++) {
      lose(request('a', 'read', `${n}`));
    }
    assert.deepEqual([isSent(READ_A), isSent(READ_B)], [false, true]);
  });

  it('are none where the broker has acknowledged one in between', () => {
    lose(READ_A);
    forbidden.acknowledged(READ_A);
    assert.equal(forbidden.hasDoubts, false);
    assert.equal(lose(READ_A), undefined);
  });

  it('are not known while others were under way, which are sent one by one then', () => {
    assert.equal(lose(READ_A, READ_B), undefined);
    assert.equal(lose(READ_A, READ_B), undefined);
    assert.equal(forbidden.hasDoubts, true);
    forbidden.acknowledged(READ_B);
    assert.equal(lose(READ_A), READ_A);
  });

  it('are none where something was sent more than five seconds before: the connection was dead', () => {
    const old = under(READ_A, { sentAt: now - 5_001 });
    for (let i = 0; i < 3; i++) {
      assert.equal(forbidden.lost([old]), undefined);
      assert.equal(forbidden.lost([old, under(READ_B)]), undefined);
    }
    assert.equal(forbidden.hasDoubts, false);
    assert.equal(forbidden.lost([]), undefined);
    forbidden.lost([under(READ_A, { sentAt: now - 5_000 })]);
    assert.equal(forbidden.hasDoubts, true);
  });

  it('are none where it may have been the size of one', () => {
    for (let i = 0; i < 3; i++) {
      assert.equal(forbidden.lost([under(READ_A, { isLarge: true })]), undefined);
      assert.equal(forbidden.lost([under(READ_A, { isLarge: true }), under(READ_B)]), undefined);
    }
    assert.equal(forbidden.hasDoubts, false);
  });

  it('are in doubt after a connection that ended behind them, which lets all leave one by one for an hour', () => {
    lose(READ_A);
    assert.deepEqual([forbidden.isInDoubt(READ_A), forbidden.isInDoubt(WRITE_A)], [true, false]);
    now += 60 * MINUTE - 1;
    assert.equal(forbidden.hasDoubts, true);
    assert.equal(lose(READ_A), READ_A);
    lose(READ_B, WRITE_A);
    now += 60 * MINUTE;
    assert.deepEqual([forbidden.hasDoubts, forbidden.isInDoubt(WRITE_A)], [false, true]);
    assert.equal(lose(WRITE_A), WRITE_A);
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

  it('are all of the operation at the gateway where it has taken none, of which others are tried first', () => {
    loseTwice(READ_A);
    assert.deepEqual([isSent(OTHER_A), isSent(READ_B), isSent(WRITE_A)], [false, true, true]);
    now += MINUTE;
    forbidden.sent(OTHER_A);
    assert.equal(isSent(request('a', 'read', '8802')), false, 'one at a time');
    forbidden.acknowledged(OTHER_A);
    assert.deepEqual([isSent(OTHER_A), isSent(request('a', 'read', '8802'))], [true, true]);
    tryInVain(READ_A);
    assert.deepEqual([isSent(OTHER_A), isSent(READ_A)], [true, false]);
  });

  it('are all of the operation at two gateways where it was taken at none, and one that is taken frees the others', () => {
    loseTwice(READ_A);
    loseTwice(READ_B);
    assert.deepEqual([isSent(READ_C), isSent(WRITE_A)], [false, true]);
    now += MINUTE;
    tryInVain(READ_C);
    assert.equal(isSent(request('d', 'read')), false);
    now += 2 * MINUTE;
    const fresh = request('d', 'read');
    forbidden.sent(fresh);
    assert.equal(isSent(request('e', 'read')), false, 'one at a time');
    forbidden.acknowledged(fresh);
    assert.deepEqual([isSent(fresh), isSent(request('e', 'read'))], [true, true]);
    const tried = [READ_A, READ_C, fresh].map((one) => forbidden.isTrial(one));
    assert.deepEqual(
      tried,
      [true, false, false],
      'those that have ended connections are sent to see, in turn',
    );
  });

  it('let a gateway that had no trial yet be tried within ten minutes, however many others have been', () => {
    loseTwice(READ_A);
    loseTwice(READ_B);
    const many = Array.from({ length: 40 }, (_, n) => `g${n}`);
    for (const gateway of many) {
      now += 10 * MINUTE;
      tryInVain(request(gateway, 'read'));
      assert.equal(isSent(request('later', 'read')), false, 'one at a time');
      now += MINUTE;
      if (isSent(request(gateway, 'read', 'other'))) {
        tryInVain(request(gateway, 'read', 'other'));
      }
    }
    now += 10 * MINUTE;
    assert.equal(isSent(request(many[7]!, 'read', 'more')), true);
    tryInVain(request(many[7]!, 'read', 'more'));
    now += MINUTE;
    assert.deepEqual(
      [isSent(request(many[7]!, 'read', 'still more')), isSent(request('later', 'read'))],
      [false, true],
    );
    forbidden.sent(request('later', 'read'));
    forbidden.acknowledged(request('later', 'read'));
    assert.deepEqual([isSent(request('later', 'read')), isSent(request('even later', 'read'))], [true, true]);
  });

  it('are still those of all gateways when more than can be remembered were tried', () => {
    loseTwice(READ_A);
    loseTwice(READ_B);
    for (let n = 0; n < 1_000; n++) {
      now += 10 * MINUTE;
      tryInVain(request(`g${n}`, 'read'));
    }
    assert.equal(isSent(request('later', 'read')), false);
  });

  it('let one that has ended no connection be tried within ten minutes, however often others are asked for', () => {
    loseTwice(READ_A);
    loseTwice(READ_B);
    for (let asked = 0; asked < 60; asked++) {
      now += 10 * MINUTE;
      assert.equal(isSent(request(`fresh ${asked}`, 'read')), true);
      tryInVain(request(`fresh ${asked}`, 'read'));
    }
  });

  it('cost a connection each half hour at most, however many they are, and one topic every two hours', () => {
    forbidden.acknowledged(OTHER_A);
    const topics = Array.from({ length: 50 }, (_, n) => request('a', 'read', `${n}`));
    for (const topic of topics) {
      loseTwice(topic);
    }
    now += 5 * 60 * MINUTE;
    const tried: number[] = [];
    for (let minute = 0; minute < 10 * 60; minute++) {
      now += MINUTE;
      const index = topics.findIndex(isSent);
      if (index >= 0) {
        tryInVain(topics[index]!);
        tried.push(index);
      }
    }
    assert.deepEqual([tried.length > 15, tried.length <= 25], [true, true], `${tried}`);
    assert.ok(new Set(tried).size > 2, `${tried}`);
  });

  it('cost 14 connections an hour at most, however many gateways, operations and topics are forbidden', () => {
    loseTwice(READ_A);
    loseTwice(READ_B);
    loseTwice(request('a', 'write'));
    loseTwice(request('b', 'write'));
    const many = Array.from({ length: 600 }, (_, n) =>
      request(`g${n % 300}`, n % 2 ? 'read' : 'write', `${n % 7}`),
    );
    const perHour: number[] = [];
    for (let hour = 0; hour < 24; hour++) {
      let lost = 0;
      for (let minute = 0; minute < 60; minute++) {
        now += MINUTE;
        // In turn, each as often as the others.
        const due = many.find((one) => isSent(one));
        if (due) {
          many.push(...many.splice(many.indexOf(due), 1));
          tryInVain(due);
          lost++;
        }
      }
      perHour.push(lost);
    }
    assert.ok(Math.max(...perHour.slice(1)) <= 14, `${perHour}`);
  });

  it('are not those of all gateways where the broker has taken one before, however long ago', () => {
    forbidden.acknowledged(READ_C);
    loseTwice(READ_A);
    loseTwice(READ_B);
    assert.deepEqual([isSent(READ_A), isSent(READ_B), isSent(READ_C)], [false, false, true]);
    assert.equal(isSent(request('d', 'read')), true);
  });

  it('are those of all gateways that have taken none after five in a row, and none of one that has', () => {
    const ask = (gateway: string) => lose(request(gateway, 'read', gateway));
    forbidden.acknowledged(READ_C);
    for (const gateway of ['d', 'e', 'f', 'g']) {
      ask(gateway);
      forbidden.acknowledged(READ_C);
    }
    // The first at a gateway that had taken none interrupts them.
    forbidden.acknowledged(READ_B);
    for (const gateway of ['h', 'i', 'j', 'k']) {
      assert.equal(ask(gateway), undefined);
      forbidden.acknowledged(READ_C);
    }
    assert.equal(isSent(request('new', 'read')), true);
    assert.ok(ask('l'));
    assert.deepEqual(
      [isSent(request('new', 'read')), isSent(READ_B), isSent(READ_C), isSent(request('new', 'write'))],
      [false, true, true, true],
    );
    // One of them has the right after all.
    now += MINUTE;
    forbidden.sent(request('new', 'read'));
    forbidden.acknowledged(request('new', 'read'));
    assert.deepEqual([isSent(request('newer', 'read')), isSent(READ_C)], [true, true]);
  });

  it('are tried after 1, 2, 4 … 120 minutes, one at a time, and alone blamed for what follows', () => {
    forbidden.acknowledged(OTHER_A);
    loseTwice(READ_A);
    for (const minutes of [1, 2, 4, 8, 16, 32, 64, 120, 120]) {
      now += minutes * MINUTE - 1;
      assert.equal(forbidden.waitOf(READ_A), 1);
      now += 1;
      forbidden.sent(READ_A);
      assert.equal(isSent(READ_A), false, 'no second one');
      assert.equal(lose(WRITE_A, READ_A), undefined);
      assert.equal(forbidden.hasDoubts, false, 'nobody else is in doubt');
    }
    now += 120 * MINUTE;
    forbidden.sent(READ_A);
    forbidden.acknowledged(READ_A);
    assert.equal(isSent(READ_A), true);
  });

  it('take their turns whatever others of their gateway do', () => {
    forbidden.acknowledged(WRITE_A);
    loseTwice(READ_A);
    let minutes = 0;
    for (let asked = 0; !isSent(READ_A); minutes++) {
      now += MINUTE;
      if (isSent(request('a', 'read', `other ${asked}`))) {
        tryInVain(request('a', 'read', `other ${asked++}`));
      }
    }
    assert.ok(minutes <= 10, `${minutes}`);
  });

  it('have their turns in order: one that is asked for once an hour goes before those that are every minute', () => {
    forbidden.acknowledged(request('b', 'read', 'taken'));
    const often = Array.from({ length: 10 }, (_, n) => request('a', 'read', `${n}`));
    for (const one of often) {
      forbidden.acknowledged(WRITE_A);
      loseTwice(one);
    }
    loseTwice(READ_B);
    let hours = 0;
    for (let minute = 0; hours === 0; minute++) {
      now += MINUTE;
      const due = often.find(isSent);
      if (due) {
        tryInVain(due);
      }
      hours = minute % 60 === 59 && isSent(READ_B) ? minute / 60 : 0;
    }
    assert.ok(hours <= 5, `${hours}`);
  });

  it('that were tried are no trial any more when the broker takes them after all', () => {
    loseTwice(READ_A);
    now += MINUTE;
    forbidden.sent(OTHER_A);
    // Another one has freed the operation meanwhile.
    forbidden.acknowledged(request('a', 'read', '8802'));
    forbidden.acknowledged(OTHER_A);
    assert.equal(forbidden.isTrying, false);
    assert.equal(lose(OTHER_A, READ_B), undefined);
    assert.equal(isSent(OTHER_A), true);
  });

  it('that were tried are no trial any more after the end of the connection, whatever it was for', () => {
    loseTwice(READ_A);
    now += MINUTE;
    forbidden.sent(OTHER_A);
    assert.equal(forbidden.isTrying, true);
    lose();
    assert.equal(forbidden.isTrying, false);
  });

  it('are known for a trial of one that is large, too', () => {
    loseTwice(READ_A);
    now += MINUTE;
    forbidden.sent(OTHER_A);
    forbidden.lost([under(OTHER_A, { isLarge: true })]);
    forbidden.acknowledged(request('a', 'read', '8802'));
    assert.equal(forbidden.isForbidden(OTHER_A), true);
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
      forbidden.acknowledged(request('a', 'read', 'taken'));
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
