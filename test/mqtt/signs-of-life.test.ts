// Whether the broker is there for certain: what shows it, who asks it, and who is called when it is.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { SignsOfLife } from '../../src/mqtt/signs-of-life.ts';
import { mockTime, restoreTime } from './scripted.ts';

const KEEPALIVE = 20;

class Client extends EventEmitter {
  pings = 0;

  sendPing(): void {
    this.pings++;
  }
}

describe('signs of life of a broker', () => {
  let signs: SignsOfLife;
  let client: Client;
  let called: string[];

  beforeEach(() => {
    mockTime();
    signs = new SignsOfLife();
    client = new Client();
    called = [];
  });
  afterEach(restoreTime);

  const connect = (keepalive = KEEPALIVE) => {
    client = new Client();
    signs.connected(client, keepalive);
  };
  const wait = (name: string) => signs.whenThere(() => void called.push(name));
  const pass = async (ms: number) => {
    mock.timers.tick(ms);
    await turn();
  };

  it('are not missed before the first connection', () => {
    wait('a');
    assert.deepEqual([signs.until, called], [Number.POSITIVE_INFINITY, ['a']]);
  });

  it('hold for two seconds from the beginning of a connection and from all that comes', async () => {
    await pass(1_000);
    connect();
    assert.equal(signs.until, 3_000);
    await pass(2_000);
    wait('a');
    assert.deepEqual([called, client.pings], [['a'], 0]);
    client.emit('packetreceive');
    assert.equal(signs.until, 5_000);
  });

  it('are asked for with one ping when they are older, for all who wait for them', async () => {
    connect();
    await pass(2_001);
    wait('a');
    await pass(1_000);
    wait('b');
    assert.deepEqual([called, client.pings], [[], 1]);
    client.emit('packetreceive');
    // What has come is handled before.
    assert.deepEqual(called, []);
    await turn();
    assert.deepEqual(called, ['a', 'b']);
    await pass(2_001);
    client.emit('packetreceive');
    await turn();
    assert.deepEqual(called, ['a', 'b']);
  });

  it('are asked for again when they have grown old again', async () => {
    connect();
    for (let round = 1; round <= 2; round++) {
      signs.ask();
      await pass(2_000);
      signs.ask();
      assert.equal(client.pings, round - 1);
      await pass(1);
      signs.ask();
      signs.ask();
      assert.equal(client.pings, round);
      client.emit('packetreceive');
    }
  });

  for (const [keepalive, seconds] of [
    [KEEPALIVE, 30],
    [0, 90],
  ] as const) {
    it(`are taken to be there ${seconds} s after the ping, with a keep alive of ${keepalive} s`, async () => {
      connect(keepalive);
      await pass(2_001);
      wait('a');
      await pass(seconds * 1_000 - 1);
      assert.deepEqual(called, []);
      await pass(1);
      assert.deepEqual(called, ['a']);
      assert.equal(signs.until, performance.now() + 2_000);
    });
  }

  it('are not waited for any longer once something has come', async () => {
    connect();
    await pass(2_001);
    signs.ask();
    client.emit('packetreceive');
    await pass(30_000);
    assert.equal(signs.until, 4_001);
  });

  it('do not come from a connection before', async () => {
    connect();
    const before = client;
    await pass(1_000);
    connect();
    await pass(1_000);
    before.emit('packetreceive');
    assert.equal(signs.until, 3_000);
  });

  it('are waited for until the broker is back, however long that takes', async () => {
    connect();
    await pass(2_001);
    wait('a');
    signs.disconnected();
    wait('b');
    client.emit('packetreceive');
    await pass(100_000);
    assert.deepEqual([called, client.pings, signs.until], [[], 1, 2_000]);
    connect();
    await turn();
    assert.deepEqual(called, ['a', 'b']);
    await pass(2_001);
    signs.ask();
    assert.equal(client.pings, 1);
  });
});
