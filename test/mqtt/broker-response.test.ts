// A broker that does not answer what it was asked is told from one whose answer waits behind much else.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { NoBrokerResponse, withResponseTimeout } from '../../src/mqtt/broker-response.ts';
import { PingCounts } from '../../src/mqtt/ping-counts.ts';
import { mockTime, restoreTime } from './scripted.ts';

describe('what a broker is asked', () => {
  let client: EventEmitter & { sendPing(): void };
  let counts: PingCounts;
  let pings: number;
  let outcome: string | undefined;
  let answer: (value: string) => void;
  let refuse: (error: Error) => void;

  beforeEach(() => {
    mockTime(0);
    pings = 0;
    outcome = undefined;
    client = Object.assign(new EventEmitter(), {
      sendPing() {
        pings++;
        client.emit('packetsend', { cmd: 'pingreq' });
      },
    });
    counts = new PingCounts(client);
  });
  afterEach(restoreTime);

  const ask = (patience?: number) => {
    const asked = new Promise<string>((resolve, reject) => {
      [answer, refuse] = [resolve, reject];
    });
    withResponseTimeout(client, counts, asked, patience).then(
      (value) => (outcome = value),
      (error: Error) => (outcome = error instanceof NoBrokerResponse ? 'none' : error.message),
    );
  };
  const tick = (ms: number) => mock.timers.tick(ms);
  const receive = (cmd: string) => client.emit('packetreceive', { cmd });
  /** Nothing of it is left, but what counts the pings. */
  const isOver = () => assert.equal(client.listenerCount('packetreceive'), 1);

  it('is told when it is answered in time, and no ping is sent', async () => {
    ask();
    tick(29_999);
    answer('granted');
    await turn();
    assert.equal(outcome, 'granted');
    tick(60_000);
    assert.equal(pings, 0);
    isOver();
  });

  it('is told when it fails', async () => {
    ask();
    refuse(new Error('closing'));
    await turn();
    assert.equal(outcome, 'closing');
    tick(60_000);
    assert.equal(pings, 0);
    isOver();
  });

  it('has no answer when a ping is answered that was sent after 30 seconds', async () => {
    ask();
    tick(29_999);
    assert.equal(pings, 0);
    tick(1);
    assert.equal(pings, 1);
    receive('publish');
    await turn();
    await turn();
    assert.equal(outcome, undefined);
    receive('pingresp');
    await turn();
    await turn();
    assert.equal(outcome, 'none');
    isOver();
  });

  it('is waited for as long as is said', async () => {
    ask(1_000);
    tick(999);
    assert.equal(pings, 0);
    tick(1);
    assert.equal(pings, 1);
  });

  it('is waited for however long, while a flood keeps back also the response to the ping', async () => {
    ask();
    tick(30_000);
    for (let n = 0; n < 100; n++) {
      tick(10_000);
      receive('publish');
    }
    answer('granted late');
    await turn();
    assert.equal(outcome, 'granted late');
    assert.equal(pings, 1);
  });

  it('has no answer after the time when a ping that was sent meanwhile is answered, of which none is sent then', async () => {
    ask();
    tick(10_000);
    client.sendPing();
    tick(1_000);
    receive('pingresp');
    await turn();
    await turn();
    assert.equal(outcome, undefined);
    tick(19_000);
    await turn();
    await turn();
    assert.deepEqual([outcome, pings], ['none', 1]);
  });

  it('is not given up for the response to a ping that was sent before it', async () => {
    client.sendPing();
    ask();
    tick(30_000);
    receive('pingresp');
    await turn();
    await turn();
    assert.deepEqual([outcome, pings], [undefined, 2]);
    receive('pingresp');
    await turn();
    await turn();
    assert.equal(outcome, 'none');
  });

  it('is told when the answer was read just before the response to the ping', async () => {
    ask();
    tick(30_000);
    receive('pingresp');
    answer('granted');
    await turn();
    await turn();
    assert.equal(outcome, 'granted');
  });

  it('says of an answer that did not come', () => {
    assert.equal(new NoBrokerResponse().message, 'the broker did not answer');
  });
});
