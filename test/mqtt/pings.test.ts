// Pings that a broker needs though nothing of it is read, and how long it takes to answer one.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { Pings } from '../../src/mqtt/pings.ts';
import { mockTime, restoreTime } from './scripted.ts';

/** Seconds. */
const KEEPALIVE = 60;
/** Half of it, in milliseconds. */
const HALF_MS = 30_000;

describe('pings', () => {
  let client: EventEmitter & { sendPing(): void; reschedulePing(force?: boolean): void };
  let pings: Pings;
  let isBlocked: boolean;
  let told: string[];

  beforeEach(() => {
    mockTime(1_000_000);
    isBlocked = false;
    told = [];
    client = Object.assign(new EventEmitter(), {
      sendPing() {
        told.push('ping');
        client.emit('packetsend', { cmd: 'pingreq' });
      },
      reschedulePing: (force?: boolean) => void told.push(`next one later${force ? ', also now' : ''}`),
    });
    pings = new Pings(() => isBlocked);
  });
  afterEach(() => {
    pings.disconnected();
    restoreTime();
  });

  const tick = (ms: number) => mock.timers.tick(ms);
  const answer = () => client.emit('packetreceive', { cmd: 'pingresp' });
  const news = () => told.splice(0);
  /** The broker has the whole time again. */
  const SHOWN = ['ping', 'next one later, also now'];

  describe('while much is received', () => {
    it('are sent after half of the keep alive, again and again', () => {
      pings.connected(client, KEEPALIVE);
      for (let round = 0; round < 2; round++) {
        tick(HALF_MS);
        pings.pingIfDue();
        assert.deepEqual(news(), []);
        tick(1);
        pings.pingIfDue();
        pings.pingIfDue();
        assert.deepEqual(news(), SHOWN);
      }
    });

    it('are due by each connection for itself', () => {
      pings.connected(client, KEEPALIVE);
      tick(HALF_MS);
      pings.disconnected();
      tick(HALF_MS);
      pings.connected(client, KEEPALIVE);
      pings.pingIfDue();
      assert.deepEqual(news(), []);
    });

    it('are not sent without a keep alive, nor without a connection', () => {
      pings.connected(client, 0);
      tick(600_000);
      pings.pingIfDue();
      pings.connected(client, KEEPALIVE);
      pings.disconnected();
      tick(600_000);
      pings.pingIfDue();
      assert.deepEqual(news(), []);
    });
  });

  describe('while nothing is read', () => {
    it('are sent after half of the keep alive, again and again, until it is read on', () => {
      pings.connected(client, KEEPALIVE);
      isBlocked = true;
      pings.received();
      for (let round = 0; round < 2; round++) {
        tick(HALF_MS - 1);
        assert.deepEqual(news(), []);
        tick(1);
        assert.deepEqual(news(), SHOWN);
      }
      pings.unblocked();
      tick(10 * HALF_MS);
      assert.deepEqual(news(), []);
    });

    it('begin with the first message that was not taken', () => {
      pings.connected(client, KEEPALIVE);
      isBlocked = true;
      pings.received();
      tick(HALF_MS / 2);
      pings.received();
      tick(HALF_MS / 2);
      assert.deepEqual(news(), SHOWN);
      tick(HALF_MS);
      assert.deepEqual(news(), SHOWN);
    });

    it('begin anew after it was read on', () => {
      pings.connected(client, KEEPALIVE);
      isBlocked = true;
      pings.received();
      tick(HALF_MS / 2);
      pings.unblocked();
      pings.received();
      tick(HALF_MS / 2);
      assert.deepEqual(news(), []);
      tick(HALF_MS / 2);
      assert.deepEqual(news(), SHOWN);
    });

    it('begin anew with the next connection', () => {
      isBlocked = true;
      pings.connected(client, KEEPALIVE);
      pings.received();
      tick(HALF_MS / 2);
      pings.disconnected();
      pings.connected(client, KEEPALIVE);
      pings.received();
      tick(HALF_MS - 1);
      assert.deepEqual(news(), []);
      tick(1);
      assert.deepEqual(news(), SHOWN);
    });

    it('end when nothing is held up any more, and begin when it is again', () => {
      pings.connected(client, KEEPALIVE);
      isBlocked = true;
      pings.received();
      isBlocked = false;
      tick(10 * HALF_MS);
      assert.deepEqual(news(), []);
      isBlocked = true;
      pings.received();
      tick(HALF_MS);
      assert.deepEqual(news(), SHOWN);
    });

    it('are not sent when all messages are taken at once', () => {
      pings.connected(client, KEEPALIVE);
      pings.received();
      isBlocked = true;
      tick(10 * HALF_MS);
      assert.deepEqual(news(), []);
    });

    it('are not sent without a keep alive, nor without a connection', () => {
      isBlocked = true;
      pings.connected(client, 0);
      pings.received();
      tick(600_000);
      pings.connected(client, KEEPALIVE);
      pings.received();
      pings.disconnected();
      pings.received();
      tick(600_000);
      assert.deepEqual(news(), []);
    });
  });

  describe('that measure', () => {
    const MAX_MS = 5_000;
    /** Of what counts pings, and of what sees the broker's signs of life. */
    const LISTENERS = 2;

    it('tell whole milliseconds from the ping to its answer', async () => {
      pings.connected(client, 0);
      const measured = pings.measure(MAX_MS);
      assert.deepEqual(news(), ['ping']);
      tick(1_234);
      client.emit('packetreceive', { cmd: 'publish' });
      tick(1_000);
      answer();
      assert.equal(await measured, 2_234);
      assert.equal(client.listenerCount('packetreceive'), LISTENERS);
    });

    it('are not answered by the response to an earlier one', async () => {
      pings.connected(client, KEEPALIVE);
      pings.ping();
      const measured = pings.measure(MAX_MS);
      tick(100);
      answer();
      tick(100);
      answer();
      assert.equal(await measured, 200);
    });

    it('tell nothing when no answer comes in time', async () => {
      pings.connected(client, KEEPALIVE);
      let isOver = false;
      const measured = pings.measure(MAX_MS).finally(() => {
        isOver = true;
      });
      tick(MAX_MS - 1);
      await Promise.resolve();
      assert.equal(isOver, false);
      tick(1);
      assert.equal(await measured, undefined);
      assert.equal(client.listenerCount('packetreceive'), LISTENERS);
    });

    it('tell nothing as soon as the connection is lost', async () => {
      pings.connected(client, KEEPALIVE);
      const measured = pings.measure(MAX_MS);
      tick(100);
      pings.disconnected();
      assert.equal(await measured, undefined);
      assert.equal(client.listenerCount('packetreceive'), LISTENERS);
    });

    it('are one for all who ask meanwhile, and a new one afterwards', async () => {
      pings.connected(client, KEEPALIVE);
      const [first, second] = [pings.measure(MAX_MS), pings.measure(1)];
      tick(100);
      answer();
      assert.deepEqual([await first, await second], [100, 100]);
      const third = pings.measure(MAX_MS);
      tick(200);
      answer();
      assert.equal(await third, 200);
      assert.deepEqual(news(), ['ping', 'ping']);
    });

    it('are not sent without a connection', async () => {
      assert.equal(await pings.measure(MAX_MS), undefined);
      pings.connected(client, KEEPALIVE);
      pings.disconnected();
      pings.ping();
      assert.equal(await pings.measure(MAX_MS), undefined);
      assert.deepEqual(news(), []);
    });

    it('do not move those that are due: what is sent shows nothing of the broker', () => {
      pings.connected(client, KEEPALIVE);
      tick(HALF_MS);
      pings.ping();
      tick(1);
      news();
      pings.pingIfDue();
      assert.deepEqual(news(), SHOWN);
    });
  });

  it('of a connection are counted, and what comes shows that the broker is there', () => {
    const counts = pings.connected(client, KEEPALIVE).fromNow();
    tick(10_000);
    pings.ping();
    assert.deepEqual([counts.isSent(), counts.isAnswered()], [true, false]);
    assert.ok(pings.signs.until < performance.now());
    answer();
    assert.equal(counts.isAnswered(), true);
    assert.ok(pings.signs.until > performance.now());
    tick(10_000);
    pings.disconnected();
    answer();
    assert.ok(pings.signs.until < performance.now());
  });
});
