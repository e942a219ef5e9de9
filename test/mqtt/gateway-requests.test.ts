// What is known of one gateway's requests: how many are under way, which one a response is for, and whether it answers.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { GatewayRequests, type Pending } from '../../src/mqtt/gateway-requests.ts';
import { createPending, REQUEST, TIMEOUT_MS } from './pending.ts';
import { D, G, mockTime, responseFilter, restoreTime } from './scripted.ts';

const PLACES = 3;

describe('requests of one gateway', () => {
  let gateway: GatewayRequests;

  beforeEach(() => {
    mockTime(1_000);
    gateway = new GatewayRequests(G, responseFilter(), PLACES);
  });
  afterEach(restoreTime);

  const add = (changes: Partial<Pending> = {}) => {
    const pending = createPending(gateway, changes);
    gateway.add(pending);
    return pending;
  };
  const ack: Partial<Pending> = { trafficClass: 'ack', request: { ...REQUEST, operation: 'ack' } };
  const inFlight = () => [gateway.requestsInFlight, gateway.acksInFlight, gateway.sent.length];

  it('are none at first', () => {
    assert.deepEqual([gateway.isIdle, gateway.hasPlaces, inFlight()], [true, true, [0, 0, 0]]);
    assert.deepEqual([gateway.id, gateway.filter, gateway.usedAt], [G, responseFilter(), 1_000]);
    assert.deepEqual([gateway.isGrantPending, gateway.isSending, gateway.ignoresAcks], [false, false, false]);
    for (const line of [gateway.lines.request, gateway.lines.ack]) {
      assert.deepEqual([line.gateway, line.count, line.rank], [gateway, 0, -1]);
    }
  });

  it('are some while one waits, or was sent and has not ended', () => {
    gateway.waiting = 1;
    assert.equal(gateway.isIdle, false);
    gateway.waiting = 0;
    const sent = add();
    gateway.freeSlot(sent);
    assert.equal(gateway.isIdle, false);
    gateway.remove(sent);
    assert.equal(gateway.isIdle, true);
  });

  it('have a place where no more wait and are under way than there are places', () => {
    add();
    add(ack);
    gateway.waiting = 1;
    assert.equal(gateway.hasPlaces, true);
    gateway.waiting = 2;
    assert.equal(gateway.hasPlaces, false);
  });

  it('are counted by their class until they give their place back, each once', () => {
    const [request, first, second] = [add(), add(ack), add(ack)];
    assert.deepEqual(inFlight(), [1, 2, 3]);
    gateway.freeSlot(first);
    gateway.freeSlot(first);
    assert.deepEqual([inFlight(), first.isCounted, second.isCounted], [[1, 1, 3], false, true]);
    gateway.remove(first);
    assert.deepEqual(inFlight(), [1, 1, 2]);
    gateway.remove(request);
    gateway.remove(second);
    assert.deepEqual(inFlight(), [0, 0, 0]);
  });

  it('end in any order', () => {
    const all = Array.from({ length: 4 }, () => add());
    for (const n of [1, 3, 0, 2]) {
      gateway.remove(all[n]!);
      assert.ok(!gateway.sent.includes(all[n]!));
    }
    assert.deepEqual(gateway.sent, []);
  });

  it('use it until the last has ended', () => {
    const sent = add();
    mock.timers.tick(500);
    gateway.remove(sent);
    assert.equal(gateway.usedAt, 1_500);
  });

  it('are found by device and topic levels where only one is under way there', () => {
    const to = (device: string, suffix: string) => add({ request: { ...REQUEST, device, suffix } });
    const read = to(D, 'read/8800');
    const write = to(D, 'write/8800');
    const own = to(G, 'read/8800');
    assert.equal(gateway.onlySent(D, 'read/8800'), read);
    assert.equal(gateway.onlySent(D, 'write/8800'), write);
    assert.equal(gateway.onlySent(G, 'read/8800'), own);
    assert.equal(gateway.onlySent(G, 'write/8800'), undefined);
    const second = to(D, 'read/8800');
    assert.equal(gateway.onlySent(D, 'read/8800'), undefined);
    gateway.remove(read);
    assert.equal(gateway.onlySent(D, 'read/8800'), second);
  });

  describe('with acknowledgements that it does not answer', () => {
    /** One that was sent now ends without a response. */
    const miss = () => {
      const missed = add({ ...ack, deadline: performance.now() + TIMEOUT_MS });
      mock.timers.tick(TIMEOUT_MS);
      gateway.missedAck(missed);
      gateway.remove(missed);
    };

    it('is known since the first of them', () => {
      miss();
      assert.equal(gateway.ignoresAcks, true);
      assert.equal(gateway.hasIgnoredAcks(0, 0), true);
      assert.equal(gateway.hasIgnoredAcks(1, 0), false);
      miss();
      assert.equal(gateway.hasIgnoredAcks(TIMEOUT_MS, 0), true);
      assert.equal(gateway.hasIgnoredAcks(TIMEOUT_MS + 1, 0), false);
    });

    it('counts no time in which nothing was read', () => {
      assert.equal(gateway.hasIgnoredAcks(0, 0), false);
      miss();
      mock.timers.tick(1_000);
      const readsSince = performance.now() - 400;
      assert.equal(gateway.hasIgnoredAcks(400, readsSince), true);
      assert.equal(gateway.hasIgnoredAcks(401, readsSince), false);
    });

    it('is not so any more once it has answered one', () => {
      miss();
      gateway.answeredAck();
      assert.deepEqual([gateway.ignoresAcks, gateway.hasIgnoredAcks(0, 0)], [false, false]);
    });

    it('is not so where it has answered one since that was sent', () => {
      const deadline = performance.now() + TIMEOUT_MS;
      mock.timers.tick(1);
      gateway.answeredAck();
      mock.timers.tick(TIMEOUT_MS);
      gateway.missedAck(add({ ...ack, deadline }));
      assert.equal(gateway.ignoresAcks, false);
      // Sent when the other one was answered.
      gateway.missedAck(add({ ...ack, deadline: deadline + 1 }));
      assert.equal(gateway.ignoresAcks, true);
    });

    it('is not so after a late response to one, and to nothing else', () => {
      miss();
      add();
      for (const suffix of ['read/8800', 'ack-decoded/8800', '']) {
        gateway.respondedLate(suffix);
        assert.equal(gateway.ignoresAcks, true);
      }
      gateway.respondedLate('ack/8800');
      assert.equal(gateway.ignoresAcks, false);
    });
  });
});
