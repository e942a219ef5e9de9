// What is written to the broker arrives whole and in order, however it is gathered.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { mock } from 'node:test';
import { batchWrites } from '../../src/mqtt/write-batch.ts';

describe('writes to the broker', () => {
  let server: Server;
  let far: Socket;
  let stream: Socket;
  let arrived: Buffer[];
  /** The pieces that went to the system. */
  let written: number[];

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    stream = connect((server.address() as { port: number }).port, '127.0.0.1');
    [far] = (await once(server, 'connection')) as [Socket];
    arrived = [];
    far.on('data', (data) => arrived.push(data));
    written = [];
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    stream.write = (piece: string | Uint8Array, ...rest: unknown[]) => {
      written.push(piece.length);
      return write(piece, ...rest);
    };
    batchWrites(stream);
  });

  afterEach(() => {
    mock.reset();
    stream.destroy();
    far.destroy();
    server.close();
  });

  const arrives = async (length: number) => {
    while (Buffer.concat(arrived).length < length) {
      await once(far, 'data');
    }
    return Buffer.concat(arrived);
  };

  it('arrive in order: texts, bytes, what is too long to be held, and what follows it', async () => {
    const pieces = [
      Buffer.from([0x32]),
      'mt/gateway/küche/温度',
      Buffer.alloc(100, 7),
      'x'.repeat(200_000),
      'after the long text',
      Buffer.alloc(300_000, 9),
      Buffer.from([1, 2]),
    ];
    for (const piece of pieces) {
      stream.write(piece);
    }
    const whole = Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
    assert.deepEqual(await arrives(whole.length), whole);
  });

  it('arrive by themselves when nothing follows, one after the other', async () => {
    stream.write('first');
    assert.equal(String(await arrives(5)), 'first');
    stream.write('second');
    assert.equal(String(await arrives(11)), 'firstsecond');
  });

  it('are not changed by what is written while the broker does not read', async () => {
    far.pause();
    const texts = Array.from({ length: 20_000 }, (_, i) => `${i};${'y'.repeat(200)}`);
    let full = false;
    for (const text of texts) {
      full = !stream.write(text) || full;
      if (full) {
        await new Promise(setImmediate);
      }
    }
    assert.ok(full, 'the one who writes is told to wait');
    far.resume();
    const whole = texts.join('');
    assert.equal(String(await arrives(whole.length)), whole);
  });

  it('arrive when the stream is ended in the same turn', async () => {
    stream.write('last words');
    stream.end();
    await once(far, 'end');
    assert.equal(String(Buffer.concat(arrived)), 'last words');
  });

  it('are no error when the stream is gone', async () => {
    stream.write('lost');
    stream.destroy();
    stream.write('lost too');
    await once(stream, 'close');
    await new Promise(setImmediate);
    assert.equal(Buffer.concat(arrived).length, 0);
  });

  const turn = () => new Promise(setImmediate);

  it('leave as one piece when they were written together, or turn after turn', async () => {
    for (let i = 0; i < 5; i++) {
      assert.equal(stream.write('ab'), true);
      stream.write(Buffer.from([1, 2, 3]));
      assert.deepEqual(written, []);
      await turn();
    }
    await arrives(25);
    assert.deepEqual(written, [25]);
  });

  it('do not wait for a quiet turn when they are many', async () => {
    const pieces = (count: number) => {
      for (let i = 0; i < count; i++) {
        stream.write('x');
      }
    };
    pieces(255);
    await turn();
    assert.deepEqual(written, []);
    pieces(1);
    await turn();
    assert.deepEqual(written, [256]);
  });

  it('leave with a quiet turn', async () => {
    stream.write('alone');
    await turn();
    await turn();
    assert.deepEqual(written, [5]);
  });

  it('do not wait for a quiet turn longer than 100 ms, as turns take with a slow flow', async () => {
    let now = 1_000;
    mock.method(performance, 'now', () => now);
    for (const ms of [0, 50, 99]) {
      now = 1_000 + ms;
      stream.write('x');
      await turn();
      assert.deepEqual(written, []);
    }
    now = 1_100;
    stream.write('x');
    await turn();
    assert.deepEqual(written, [4]);
  });

  it('leave in blocks of 64 KiB that are filled to their end', async () => {
    const half = Buffer.alloc(32 * 1024, 1);
    for (let i = 0; i < 4; i++) {
      stream.write(half);
    }
    await arrives(4 * half.length);
    assert.deepEqual(written, [2 * half.length, 2 * half.length]);
  });

  it('that are too long to be held leave at once, behind what is held and without anything empty', async () => {
    const long = Buffer.alloc(65 * 1024, 1);
    stream.write(long);
    assert.deepEqual(written, [long.length]);
    stream.write('held');
    stream.write(long);
    assert.deepEqual(written, [long.length, 4, long.length]);
    await turn();
    await turn();
    assert.equal(written.length, 3);
  });

  it('with a callback or an encoding are written as they would have been', async () => {
    stream.write('held');
    await new Promise<void>((resolve) => stream.write('called', () => resolve()));
    stream.write('ff00', 'hex');
    const whole = Buffer.concat([Buffer.from('heldcalled'), Buffer.from([255, 0])]);
    assert.deepEqual(await arrives(whole.length), whole);
  });

  it('go nowhere when the stream is gone', async () => {
    stream.write('lost');
    stream.destroy();
    await turn();
    await turn();
    assert.deepEqual(written, []);
  });
});
