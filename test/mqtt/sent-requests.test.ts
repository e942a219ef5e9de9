// Requests that were sent: how each of them ends, and what makes room for others before it has.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { ServiceError } from '../../src/errors.ts';
import { GatewayRequests, type Pending } from '../../src/mqtt/gateway-requests.ts';
import { closed } from '../../src/mqtt/request-errors.ts';
import { SentRequests } from '../../src/mqtt/sent-requests.ts';
import { createPending, TIMEOUT_MS } from './pending.ts';
import { G, G2, mockTime, responseFilter, restoreTime } from './scripted.ts';

describe('requests that were sent', () => {
  let reading: { readsSince: number; heldMs: number };
  let gateway: GatewayRequests;
  let sent: SentRequests;
  /** What has happened, in its order. */
  let events: string[];

  beforeEach(() => {
    mockTime(1_000);
    reading = { readsSince: 0, heldMs: 0 };
    gateway = new GatewayRequests(G, responseFilter(), 8);
    sent = new SentRequests(reading, ({ id }) => void events.push(`freed ${id}`));
    events = [];
  });
  afterEach(() => {
    sent.close();
    restoreTime();
  });

  const news = () => events.splice(0);
  const add = (name: string, changes: Partial<Pending> = {}) => {
    const pending = createPending(changes.gateway ?? gateway, {
      resolve: (body) => void events.push(`${name} ${JSON.stringify(body)}`),
      reject: ({ text }: ServiceError) => void events.push(`${name} ${text.key}`),
      ...changes,
    });
    pending.group.add(pending);
    sent.add(pending);
    return pending;
  };
  const ack: Partial<Pending> = { trafficClass: 'ack' };
  const unawaited: Partial<Pending> = { awaitResponse: false };
  const freed = `freed ${G}`;
  const late = 'TIMEOUT.noAnswer';

  it('have ids of their own, by which they are found until they end', () => {
    const [first, second] = [add('a'), add('b')];
    assert.notEqual(first.id, second.id);
    assert.deepEqual([sent.find(first.id), sent.find(second.id), sent.find('')], [first, second, undefined]);
    sent.respond(first, {});
    assert.deepEqual([sent.find(first.id), sent.find(second.id)], [undefined, second]);
  });

  it('have ids that no other process has', () => {
    const other = new SentRequests(reading, () => {});
    const pending = createPending(gateway);
    other.add(pending);
    assert.match(pending.id, /^[0-9a-f]{12}-/);
    assert.notEqual(pending.id.slice(0, 12), add('a').id.slice(0, 12));
    other.close();
  });

  it('say that they have left, with their id and a place', () => {
    const told: unknown[] = [];
    const pending = add('a', {
      sent() {
        told.push(this.id !== '', gateway.requestsInFlight);
      },
    });
    assert.deepEqual([told, pending.deadline], [[true, 1], 1_000 + TIMEOUT_MS]);
  });

  it('end once, with their response, and free their place then', () => {
    const pending = add('a');
    sent.respond(pending, { status: 0 });
    assert.deepEqual(news(), ['a {"status":0}', freed]);
    assert.deepEqual([pending.group.size, gateway.isIdle, sent.size, sent.awaited], [0, true, 0, 0]);
    sent.respond(pending, {});
    sent.fail(pending, closed());
    assert.deepEqual(news(), []);
  });

  it('end with BAD_RESPONSE for bytes that are no JSON object', () => {
    sent.respond(add('a'), Buffer.from('x'));
    assert.deepEqual(news(), ['a BAD_RESPONSE.notJson', freed]);
  });

  it('end with an error once, and free their place', () => {
    const pending = add('a');
    sent.fail(pending, closed());
    sent.fail(pending, closed());
    assert.deepEqual([news(), gateway.isIdle], [['a CLOSED.stopped', freed], true]);
  });

  it('end with TIMEOUT in their time, each in its own', () => {
    add('a');
    add('b', { timeout: 2 * TIMEOUT_MS });
    mock.timers.tick(5_000);
    add('c');
    mock.timers.tick(TIMEOUT_MS - 5_001);
    assert.deepEqual(news(), []);
    mock.timers.tick(1);
    assert.deepEqual(news(), [`a ${late}`, freed]);
    mock.timers.tick(4_999);
    assert.deepEqual(news(), []);
    mock.timers.tick(1);
    assert.deepEqual(news(), [`c ${late}`, freed]);
    mock.timers.tick(5_000);
    assert.deepEqual(news(), [`b ${late}`, freed]);
  });

  it('have as much more time as reports have held up what is read, but no more than five minutes', () => {
    reading.heldMs = 7_000;
    add('a');
    mock.timers.tick(1_000);
    reading.heldMs += 4_000;
    mock.timers.tick(TIMEOUT_MS + 3_000 - 1);
    assert.deepEqual(news(), []);
    mock.timers.tick(1);
    assert.deepEqual(news(), [`a ${late}`, freed]);
    add('b');
    reading.heldMs += 1_000_000;
    mock.timers.tick(TIMEOUT_MS + 300_000 - 1);
    assert.deepEqual(news(), []);
    mock.timers.tick(1);
    assert.deepEqual(news(), [`b ${late}`, freed]);
  });

  it('have their time anew from when responses are read again', () => {
    add('a');
    mock.timers.tick(8_000);
    reading.readsSince = performance.now();
    mock.timers.tick(TIMEOUT_MS - 1);
    assert.deepEqual(news(), []);
    mock.timers.tick(1);
    assert.deepEqual(news(), [`a ${late}`, freed]);
  });

  it('end by themselves no more when the client is closed', () => {
    add('a');
    sent.close();
    mock.timers.tick(10 * TIMEOUT_MS);
    assert.deepEqual(news(), []);
  });

  it('keep their place when the broker has them, where somebody waits for the response', () => {
    const pending = add('a', { delivered: () => void events.push('delivered') });
    sent.delivered(pending);
    sent.delivered(add('b', ack));
    assert.deepEqual(news(), ['delivered']);
    assert.deepEqual([gateway.requestsInFlight, gateway.acksInFlight], [1, 1]);
  });

  it('give their place away when the broker has them, where nobody waits, and may be answered still', () => {
    const pending = add('a', { ...ack, ...unawaited });
    assert.deepEqual([sent.size, sent.awaited], [1, 1]);
    sent.delivered(pending);
    sent.delivered(pending);
    assert.deepEqual([news(), gateway.acksInFlight, sent.size, sent.awaited], [[freed], 0, 1, 0]);
    add('b');
    assert.deepEqual([sent.size, sent.awaited], [2, 1]);
    sent.respond(pending, {});
    assert.deepEqual([news(), sent.size, sent.awaited], [['a {}', freed], 1, 1]);
  });

  /** The gateway leaves one without a response. */
  const ignore = () => {
    add('ignored', ack);
    mock.timers.tick(TIMEOUT_MS);
    assert.deepEqual(news(), [`ignored ${late}`, freed]);
  };

  it('tell by a TIMEOUT that a gateway answers no acknowledgement, and by a response that it does', () => {
    add('request');
    mock.timers.tick(TIMEOUT_MS);
    assert.equal(gateway.ignoresAcks, false);
    news();
    ignore();
    assert.equal(gateway.ignoresAcks, true);
    sent.respond(add('request'), {});
    assert.equal(gateway.ignoresAcks, true);
    sent.respond(add('ack', ack), {});
    assert.equal(gateway.ignoresAcks, false);
  });

  it('give their place away as acknowledgements to a gateway that answers none, up to 256 of them', () => {
    ignore();
    sent.delivered(add('request'));
    assert.deepEqual(news(), []);
    const all = Array.from({ length: 257 }, (_, n) => add(`${n}`, ack));
    for (const pending of all) {
      sent.delivered(pending);
    }
    assert.deepEqual([news().length, gateway.ignoredAcks, gateway.acksInFlight], [256, 256, 1]);
    const other = new GatewayRequests(G2, responseFilter(G2), 8);
    sent.delivered(add('elsewhere', { ...ack, gateway: other }));
    assert.deepEqual(news(), []);
    // Somebody waits for each of them.
    assert.deepEqual([sent.size, sent.awaited], [259, 259]);
    sent.fail(all[0]!, closed());
    news();
    sent.delivered(all[256]!);
    assert.deepEqual([news(), gateway.ignoredAcks], [[freed], 256]);
  });

  it('are 10 000 without a place: of further ones no response is kept, or they keep their place', () => {
    ignore();
    const all = Array.from({ length: 10_000 }, (_, n) => add(`${n}`, { ...ack, ...unawaited }));
    for (const pending of all) {
      sent.delivered(pending);
    }
    assert.deepEqual([new Set(news()), sent.size], [new Set([freed]), 10_000]);
    sent.delivered(add('one more', { ...ack, ...unawaited }));
    assert.deepEqual([news(), sent.size], [[`one more ${late}`, freed], 10_000]);
    sent.delivered(add('waits', ack));
    assert.deepEqual([news(), sent.size, gateway.acksInFlight], [[], 10_001, 1]);
    sent.respond(all[0]!, {});
    news();
    sent.delivered(add('next', { ...ack, ...unawaited }));
    assert.deepEqual([news(), sent.size], [[freed], 10_001]);
  });
});
