// One HTTP exchange with real servers: what is collected, what is cut, and what a fault is called.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { ServiceError } from '../../src/errors.ts';
import { NetworkError } from '../../src/rest/faults.ts';
import { HttpAgent, type HttpRequest } from '../../src/rest/http.ts';
import { heldOf, usedMemory } from '../memory.ts';
import { startServer, type TestServer } from './server.ts';

const MB = 1024 * 1024;
/** A little more than is kept of a response. */
const BOMB = Buffer.alloc(16 * MB + 1, 0x20);

/** The usual quality takes seconds for so many bytes. */
const brotli = (text: string | Buffer) =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

describe('HTTP exchange', () => {
  let server: TestServer;
  let agent: HttpAgent;

  beforeEach(async () => {
    server = await startServer((_, response) => response.end('fine'));
    agent = new HttpAgent(5_000);
  });
  afterEach(async () => {
    await agent.close();
    await server.stop();
  });

  const request = (changes: Partial<HttpRequest> = {}): HttpRequest => ({
    origin: server.url,
    path: '/a?b=%20',
    method: 'POST',
    headers: { 'x-one': '1' },
    ...changes,
  });

  async function failure(promise: Promise<unknown>): Promise<ServiceError> {
    return promise.then(
      () => assert.fail('did not fail'),
      (error) => error,
    );
  }

  /** The cause's code, the reason, and whether the request may have arrived. */
  async function fault(promise: Promise<unknown>): Promise<unknown[]> {
    const error = await failure(promise);
    assert.ok(error instanceof NetworkError, String(error));
    assert.doesNotMatch(error.message, /__/);
    assert.deepEqual(Object.keys(error.cause), ['code']);
    return [error.cause.code, error.text.key.replace('NETWORK.', ''), error.wasSent];
  }

  it('sends what it is given, and collects status, headers and body', async () => {
    server.answer = (_, response) => response.writeHead(299, { 'X-Two': ['2', '3'] }).end('ü 🏢');
    const answer = await agent.send(request({ body: '{"c":"é"}' }));
    assert.deepEqual([answer.statusCode, answer.body, answer.isCut], [299, 'ü 🏢', false]);
    assert.deepEqual(answer.headers['x-two'], ['2', '3']);
    const [{ method, url, headers, body }] = server.calls as [(typeof server.calls)[0]];
    assert.deepEqual([method, url, headers['x-one'], body], ['POST', '/a?b=%20', '1', '{"c":"é"}']);
  });

  it('keeps a body that comes byte by byte in little more memory than it has bytes', async () => {
    const COUNT = 200_000;
    const text = Array.from({ length: COUNT }, (_, i) => i % 10).join('');
    let end = (): void => {};
    let sent = 0;
    const raw = createServer((socket) => {
      socket.once('data', () => {
        const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
        const body = `${head}${text.replace(/./g, '1\r\n$&\r\n')}`;
        sent = body.length;
        socket.write(body);
        end = () => socket.end('0\r\n\r\n');
      });
    }).listen(0, '127.0.0.1');
    await once(raw, 'listening');
    let own: Socket | undefined;
    const note = (message: unknown) => {
      own = (message as { socket: Socket }).socket;
    };
    subscribe('net.client.socket', note);
    const { port } = raw.address() as { port: number };
    const before = usedMemory();
    const answer = agent.send(request({ origin: `http://127.0.0.1:${port}`, method: 'GET' }));
    while (own === undefined || sent === 0 || own.bytesRead < sent) {
      await turn();
    }
    unsubscribe('net.client.socket', note);
    await turn();
    const used = usedMemory() - before;
    end();
    assert.equal((await answer).body, text);
    raw.close();
    // A buffer of its own for each takes twenty times as much.
    assert.ok(used < 10 * COUNT, `${used} bytes`);
  });

  it('leaves the mark of the byte order out, in one piece and in several', async () => {
    server.answer = (_, response) => response.end('\ufeff{}');
    assert.equal((await agent.send(request())).body, '{}');
    server.answer = (_, response) => {
      response.write(Buffer.from([0xef]));
      setImmediate(() => response.end(Buffer.from([0xbb, 0xbf, 0x31])));
    };
    assert.equal((await agent.send(request())).body, '1');
    server.answer = (_, response) => response.end('1\ufeff');
    assert.equal((await agent.send(request())).body, '1\ufeff');
  });

  for (const [name, type, body] of [
    ['its charset', 'text/plain; charset=utf-16le', Buffer.from('ü 🏢', 'utf16le')],
    ['its charset in quotes', 'text/plain; x=y;CharSet="UTF-16"', Buffer.from('ü 🏢', 'utf16le')],
    ['the mark of its byte order', 'text/plain', Buffer.from('\ufeffü 🏢', 'utf16le')],
    ['a mark of the other byte order', 'text/plain', Buffer.from('\ufeffü 🏢', 'utf16le').swap16()],
    ['no charset that there is', 'text/plain; charset=utf-99', Buffer.from('ü 🏢')],
    ['no charset', 'text/plain', Buffer.from('ü 🏢')],
    [
      'the mark of its byte order, whatever its charset',
      'x; charset=utf-8',
      Buffer.from('\ufeffü 🏢', 'utf16le'),
    ],
  ] as const) {
    it(`reads an error by ${name}`, async () => {
      server.answer = (_, response) => response.writeHead(500, { 'content-type': type }).end(body);
      assert.equal((await agent.send(request())).body, 'ü 🏢');
    });
  }

  for (const charset of ['iso-8859-1', 'utf-16', 'utf-16be', 'gb18030', 'shift_jis']) {
    it(`reads an error in UTF-8 whose header says ${charset}, also where it is cut within a character`, async () => {
      const type = { 'content-type': `text/html; charset=${charset}` };
      server.answer = (_, response) => response.writeHead(500, type).end('ü\t🏢\r\n');
      assert.equal((await agent.send(request())).body, 'ü\t🏢\r\n');
      server.answer = (_, response) => response.writeHead(500, type).end(`x${'ü'.repeat(40_000)}`);
      const { body, isCut } = await agent.send(request());
      assert.deepEqual([body, isCut], [`x${'ü'.repeat(32 * 1024 - 1)}`, true]);
    });
  }

  for (const [charset, bytes, text] of [
    ['utf-16le', Buffer.from('pāss', 'utf16le'), 'pāss'],
    ['iso-2022-jp', Buffer.from('a\x1b$B$"\x1b(B'), 'aあ'],
    ['iso-8859-1', Buffer.from('pä', 'latin1'), 'pä'],
  ] as const) {
    it(`reads an error in ${charset} whose bytes could be UTF-8, or its beginning`, async () => {
      const type = { 'content-type': `text/html; charset=${charset}` };
      server.answer = (_, response) => response.writeHead(500, type).end(bytes);
      assert.equal((await agent.send(request())).body, text);
    });
  }

  it('shows what it can of an error whose charset nobody knows and that is not in UTF-8', async () => {
    const type = { 'content-type': 'text/plain; charset=utf-99' };
    server.answer = (_, response) => response.writeHead(500, type).end(Buffer.from('pä', 'latin1'));
    assert.equal((await agent.send(request())).body, 'p\ufffd');
  });

  it('leaves out half a character where it cuts a body', async () => {
    for (const [type, long, text] of [
      ['text/plain', Buffer.from(`x${'ü'.repeat(40_000)}`), `x${'ü'.repeat(32 * 1024 - 1)}`],
      ['text/plain', Buffer.from(`\ufeff${'🏢'.repeat(20_000)}`, 'utf16le'), '🏢'.repeat(16 * 1024 - 1)],
    ] as const) {
      server.answer = (_, response) => response.writeHead(500, { 'content-type': type }).end(long);
      const { body, isCut } = await agent.send(request());
      assert.deepEqual([body, isCut], [text, true]);
    }
  });

  it('reads an error in the charset of old servers, and JSON as UTF-8 whatever its header says', async () => {
    const type = { 'content-type': 'application/json; charset=iso-8859-1' };
    server.answer = (_, response) => response.writeHead(400, type).end(Buffer.from('"ü"', 'latin1'));
    assert.equal((await agent.send(request())).body, '"ü"');
    for (const status of [200, 299]) {
      // JSON may have these characters, which look like those of another charset.
      server.answer = (_, response) => response.writeHead(status, type).end('"ü\x7f"');
      assert.equal((await agent.send(request())).body, '"ü\x7f"');
    }
  });

  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    // As some servers understand the name.
    ['Deflate', deflateRawSync],
    ['identity,, gzip', gzipSync],
    ['br', brotli],
  ] as const) {
    const headers = { 'content-encoding': encoding, 'content-type': 'text/plain; charset=utf-8' };

    it(`reads a body that is compressed as ${encoding} without being asked, and cuts it by its own size`, async () => {
      const bomb = compress(BOMB);
      for (const status of [200, 500]) {
        for (const text of ['{"a":"ü"}', '']) {
          server.answer = (_, response) => response.writeHead(status, headers).end(compress(text));
          const { body, isCut } = await agent.send(request());
          assert.deepEqual([body, isCut], [text, false]);
        }
        server.answer = (_, response) => response.writeHead(status, headers).end(bomb);
        const cut = await agent.send(request());
        assert.deepEqual([cut.body.length, cut.isCut], [64 * 1024, true]);
      }
      // Noise does not get longer when it is decompressed, so it ends where it was cut on its way.
      const noise = compress(Buffer.concat([Buffer.from('start '), randomBytes(200_000)]));
      server.answer = (_, response) => response.writeHead(500, headers).end(noise);
      const cut = await agent.send(request());
      assert.deepEqual([cut.body.slice(0, 6), cut.isCut], ['start ', true]);
    });
  }

  it('keeps a compressed body as long as one that is not, and reads it by its charset', async () => {
    const type = 'text/plain; charset=iso-8859-1';
    const headers = { 'content-encoding': 'gzip', 'content-type': type };
    for (const [status, text] of [
      [500, 'ä'.repeat(64 * 1024)],
      [299, ' '.repeat(16 * MB)],
    ] as const) {
      const bytes = gzipSync(Buffer.from(text, 'latin1'));
      server.answer = (_, response) => response.writeHead(status, headers).end(bytes);
      const { body, isCut } = await agent.send(request());
      assert.deepEqual([body === text, isCut], [true, false]);
    }
  });

  it('decompresses no more of a body than it can keep', async () => {
    const bomb = gzipSync(Buffer.alloc(40 * MB, 0x20));
    // Whoever reads it to its end finds a sum that is wrong.
    bomb.subarray(-8).fill(0);
    const headers = { 'content-encoding': 'gzip' };
    for (const status of [200, 500]) {
      server.answer = (_, response) => response.writeHead(status, headers).end(bomb);
      const { body, isCut } = await agent.send(request());
      assert.deepEqual([body.length, isCut], [64 * 1024, true]);
    }
  });

  it('takes encoding and length out of the headers of a body that is labelled as compressed, also where it is a text', async () => {
    const more = { 'content-encoding': 'gzip', 'content-type': 'application/json' };
    for (const bytes of [gzipSync('{"a":1}'), Buffer.from('{"a":1}')]) {
      server.answer = (_, response) =>
        response.writeHead(200, { ...more, 'content-length': bytes.length }).end(bytes);
      const { headers, body } = await agent.send(request());
      assert.equal(body, '{"a":1}');
      assert.equal(headers['content-type'], 'application/json');
      assert.ok(!('content-encoding' in headers) && !('content-length' in headers));
    }
  });

  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['Deflate', deflateRawSync],
    ['br', brotli],
  ] as const) {
    it(`takes no part for the whole of a body that is compressed as ${encoding} and ends too early`, async () => {
      const whole = compress(JSON.stringify(randomBytes(2_000).toString('hex')));
      const headers = { 'content-encoding': encoding };
      for (const status of [200, 500]) {
        server.answer = (_, response) => response.writeHead(status, headers).end(whole.subarray(0, -10));
        const body = agent.send(request()).then((response) => response.body);
        assert.equal(
          await body.catch(({ code }: ServiceError) => code),
          status === 200 ? 'BAD_RESPONSE' : '',
        );
      }
    });
  }

  it('reads a body as it is whose header says that it has no encoding', async () => {
    for (const encoding of ['identity', 'Identity, ', '']) {
      const headers = { 'content-encoding': encoding, 'content-type': 'text/plain; charset=iso-8859-1' };
      server.answer = (_, response) => response.writeHead(500, headers).end(Buffer.from('pä', 'latin1'));
      assert.equal((await agent.send(request())).body, 'pä');
    }
  });

  it('names an encoding that cannot be read, and takes a text as it is whatever its header says', async () => {
    const bytes = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xff]);
    const answer = (status: number, encoding: string, body: Buffer | string) => {
      server.answer = (_, response) => response.writeHead(status, { 'content-encoding': encoding }).end(body);
      return agent.send(request());
    };
    const host = new URL(server.url).host;
    for (const encoding of ['zstd', 'gzip', 'br', 'constructor', 'gzip, br', 'x'.repeat(60)]) {
      await assert.rejects(answer(299, encoding, bytes), {
        code: 'BAD_RESPONSE',
        cause: { body: '' },
        message: `what ${host} answered cannot be read: it is encoded as ${encoding.slice(0, 50)}, which nobody had asked for`,
      });
      assert.deepEqual((await answer(500, encoding, bytes)).body, '');
      assert.deepEqual((await answer(200, encoding, '{"a":1}')).body, '{"a":1}');
      // As one byte of Brotli it is an empty text.
      assert.deepEqual((await answer(200, encoding, ';')).body, encoding === 'br' ? '' : ';');
      assert.deepEqual((await answer(200, encoding, '')).body, '');
    }
  });

  it('leaves out the body of a success that nobody reads, however long, and shows that of an error', async () => {
    for (const [status, size, length] of [
      [299, 5, 0],
      [200, 17 * MB, 0],
      [300, 5, 5],
    ] as const) {
      server.answer = (_, response) => response.writeHead(status).end(Buffer.alloc(size, 0x20));
      const { body, isCut, statusCode } = await agent.send(request({ ignoresBody: true }));
      assert.deepEqual([statusCode, body.length, isCut], [status, length, false]);
    }
  });

  const sized = (status: number, size: number) => (_: unknown, response: ServerResponse) => {
    response.writeHead(status).end(Buffer.alloc(size, 0x20));
  };
  for (const [status, limit] of [
    [200, 16 * MB],
    [299, 16 * MB],
    [300, 64 * 1024],
    [404, 64 * 1024],
  ] as const) {
    it(`keeps ${limit} bytes of a response with status ${status}, and cuts a longer one`, async () => {
      server.answer = sized(status, limit);
      const whole = await agent.send(request());
      assert.deepEqual([whole.body.length, whole.isCut], [limit, false]);
      server.answer = sized(status, limit + 1);
      const cut = await agent.send(request());
      assert.deepEqual([cut.body.length, cut.isCut, cut.statusCode], [64 * 1024, true, status]);
    });
  }

  it('stops reading where it cuts, so that a body without an end does not hold it up', async () => {
    let isGone: Promise<unknown> = Promise.resolve();
    server.answer = (_, response) => {
      isGone = once(response, 'close');
      response.writeHead(404).write(Buffer.alloc(64 * 1024 + 1, 0x20));
    };
    const patient = new HttpAgent(600_000);
    assert.equal((await patient.send(request())).isCut, true);
    await isGone;
    await patient.close();
  });

  it('gives an empty body as an empty text', async () => {
    server.answer = (_, response) => response.end();
    const { body, isCut, statusCode } = await agent.send(request());
    assert.deepEqual([body, isCut, statusCode], ['', false, 200]);
  });

  it('leaves no timer and nothing at the signal behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const { signal } = new AbortController();
    await agent.send(request(), signal);
    const before = timers();
    for (let time = 0; time < 40; time++) {
      await agent.send(request({ ignoresBody: time % 2 === 0 }), signal);
    }
    assert.ok(timers() < before + 10, `${timers()} timers`);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('lets go of the connections that have ended', async () => {
    const sockets: WeakRef<Socket>[] = [];
    const note = (message: unknown) => sockets.push(new WeakRef((message as { socket: Socket }).socket));
    server.answer = (_, response) => response.writeHead(200, { connection: 'close' }).end();
    subscribe('net.client.socket', note);
    for (let time = 0; time < 20; time++) {
      await agent.send(request());
    }
    unsubscribe('net.client.socket', note);
    await new Promise(setImmediate);
    assert.equal(sockets.length, 20);
    const held = heldOf(sockets).length;
    assert.ok(held < 5, `${held} are held`);
  });

  it('sends nothing of what was stopped while it waited for a connection', async () => {
    const held: (() => void)[] = [];
    const four = new Promise<void>((resolve) => {
      server.answer = (_, response) => {
        held.push(() => response.end());
        if (held.length === 4) {
          resolve();
        }
      };
    });
    const calls = Array.from({ length: 4 }, () => agent.send(request()));
    await four;
    const stop = new AbortController();
    const stopped = failure(agent.send(request({ path: '/stopped' }), stop.signal));
    await new Promise(setImmediate);
    stop.abort();
    assert.equal((await stopped).code, 'CLOSED');
    server.answer = (_, response) => response.end();
    for (const answer of held) {
      answer();
    }
    await Promise.all(calls);
    await agent.send(request({ path: '/last' }));
    assert.deepEqual(
      server.calls.map(({ url }) => url),
      [...Array(4).fill('/a?b=%20'), '/last'],
    );
  });

  it('ends a connection that is not made yet when it is closed', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const origin = `https://127.0.0.1:${(silent.address() as { port: number }).port}`;
    const other = new HttpAgent(60_000);
    const arrived = once(silent, 'connection');
    const end = failure(other.send(request({ origin })));
    await arrived;
    const closed = once(sockets[0] as Socket, 'close');
    await other.close();
    await closed;
    assert.equal((await end).code, 'CLOSED');
    silent.close();
  });

  it('uses at most four connections, and uses them again', async () => {
    const sockets = new Set<Socket>();
    server.server.on('connection', (socket: Socket) => sockets.add(socket));
    for (let time = 0; time < 3; time++) {
      await Promise.all(Array.from({ length: 20 }, () => agent.send(request())));
    }
    assert.equal(sockets.size, 4);
  });

  it('takes a response that came in time while the process was held up beyond the end of it', async () => {
    const threaded = new Worker(
      `const { parentPort } = require('node:worker_threads');
      const server = require('node:http').createServer((_, response) => setTimeout(() => response.end('fine'), 100));
      server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
      { eval: true },
    );
    const [port] = (await once(threaded, 'message')) as [number];
    const quick = new HttpAgent(400);
    const sent = quick.send({ ...request(), origin: `http://127.0.0.1:${port}` });
    await once(threaded, 'message', { signal: AbortSignal.timeout(50) }).catch(() => undefined);
    // Timers are looked at before sockets then.
    await turn();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 800);
    assert.equal((await sent).body, 'fine');
    await quick.close();
    await threaded.terminate();
  });

  it('says that the service did not answer in time, also where the body does not end', async () => {
    const quick = new HttpAgent(150);
    server.answer = () => undefined;
    assert.deepEqual(await fault(quick.send(request())), ['ETIMEDOUT', 'timeout', true]);
    server.answer = (_, response) => void response.writeHead(200).write('{');
    const error = await failure(quick.send(request()));
    assert.deepEqual(error.text.values, {
      host: new URL(server.url).host,
      code: 'ETIMEDOUT',
      timeout: '150 ms',
    });
    await quick.close();
  });

  it('says that the service broke off, before a response and within one', async () => {
    server.answer = (_, response) => response.socket?.resetAndDestroy();
    assert.deepEqual(await fault(agent.send(request())), ['ECONNRESET', 'reset', true]);
    server.answer = (_, response) => response.socket?.end();
    assert.deepEqual(await fault(agent.send(request())), ['ECONNRESET', 'reset', true]);
    server.answer = (_, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('123', () => response.socket?.end());
    };
    assert.deepEqual(await fault(agent.send(request())), ['ECONNRESET', 'reset', true]);
  });

  const BROKEN: [name: string, head: string, isClosed: boolean][] = [
    ['is shorter than its header says', 'Content-Length: 100\r\n\r\nbegun', true],
    ['does not come to its end', 'Content-Length: 100\r\n\r\nbegun', false],
    ['has parts without the last one', 'Transfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\n', true],
    ['has parts that are none', 'Transfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\nzz\r\n', false],
  ];
  for (const [name, head, isClosed] of BROKEN) {
    it(`has a status that counts though its body ${name}: of a failure, and of a success whose body nobody reads`, async () => {
      const statuses = [
        '401 Unauthorized',
        '429 Too Many',
        '503 Away',
        '302 Found',
        '200 OK',
        '204 Done',
        '200 OK',
      ];
      const raw = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          socket.write(`HTTP/1.1 ${statuses.shift()}\r\nRetry-After: 60\r\n${head}`);
          if (isClosed) {
            socket.end();
          }
        });
      }).listen(0, '127.0.0.1');
      await once(raw, 'listening');
      const origin = `http://127.0.0.1:${(raw.address() as { port: number }).port}`;
      const quick = new HttpAgent(200);
      for (const expected of [401, 429, 503, 302]) {
        const { statusCode, headers, body } = await quick.send(request({ origin }));
        assert.deepEqual([statusCode, headers['retry-after'], body], [expected, '60', 'begun']);
      }
      for (const expected of [200, 204]) {
        const { statusCode, body, isCut } = await quick.send(request({ origin, ignoresBody: true }));
        assert.deepEqual([statusCode, body, isCut], [expected, '', false]);
      }
      const error = await failure(quick.send(request({ origin })));
      assert.equal(error.code, 'NETWORK');
      await quick.close();
      raw.close();
    });
  }

  it('takes a success for one that has a body where none is allowed', async () => {
    const raw = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.write('HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n{}'));
    }).listen(0, '127.0.0.1');
    await once(raw, 'listening');
    const origin = `http://127.0.0.1:${(raw.address() as { port: number }).port}`;
    assert.equal((await agent.send(request({ origin, ignoresBody: true }))).statusCode, 204);
    await agent.close();
    raw.close();
  });

  it('is no success without a status, though nobody reads its body', async () => {
    const heads = ['', 'HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n'];
    const raw = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(`${heads.shift()}`));
    }).listen(0, '127.0.0.1');
    await once(raw, 'listening');
    const origin = `http://127.0.0.1:${(raw.address() as { port: number }).port}`;
    for (const _head of [...heads]) {
      const [, reason] = await fault(agent.send(request({ origin, ignoresBody: true })));
      assert.equal(reason, 'reset');
    }
    raw.close();
  });

  it('has its whole time where somebody reads the body', async () => {
    for (const status of [200, 404]) {
      server.answer = (_, response) => {
        response.writeHead(status).write('slow');
        setTimeout(() => response.end(' body'), 1_100);
      };
      assert.equal((await agent.send(request({ ignoresBody: status === 404 }))).body, 'slow body');
    }
  });

  it('does not wait for its whole time for a body that nobody reads, and can be stopped meanwhile', async () => {
    server.answer = (_, response) => void response.writeHead(200).write('{');
    const patient = new HttpAgent(600_000);
    assert.equal((await patient.send(request({ ignoresBody: true }))).statusCode, 200);
    const stop = new AbortController();
    server.answer = (_, response) => {
      response.writeHead(200).write('{', () => stop.abort());
    };
    assert.equal((await failure(patient.send(request(), stop.signal))).code, 'CLOSED');
    await patient.close();
  });

  it('says that nobody listens there, and that nothing was sent', async () => {
    const { port } = server.server.address() as { port: number };
    await server.stop();
    const origin = `http://127.0.0.1:${port}`;
    assert.deepEqual(await fault(agent.send(request({ origin }))), ['ECONNREFUSED', 'refused', false]);
  });

  it('says that a name is not known, and that nothing was sent', async () => {
    const [code, reason, wasSent] = await fault(agent.send(request({ origin: 'http://nobody.invalid' })));
    assert.ok(code === 'ENOTFOUND' || code === 'EAI_AGAIN', String(code));
    assert.deepEqual([reason, wasSent], ['notFound', false]);
  });

  it('says that a port does not speak HTTP, or too much of it', async () => {
    const bytes = ['220 mail ready\r\n', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`];
    const odd = createServer((socket) => {
      socket.on('error', () => undefined).end(`${bytes.shift()}`);
    }).listen(0, '127.0.0.1');
    await once(odd, 'listening');
    const origin = `http://127.0.0.1:${(odd.address() as { port: number }).port}`;
    assert.deepEqual(await fault(agent.send(request({ origin }))), ['ERR_HTTP_PARSER', 'notHttp', true]);
    const [code, reason] = await fault(agent.send(request({ origin })));
    assert.deepEqual([code, reason], ['UND_ERR_HEADERS_OVERFLOW', 'notHttp']);
    odd.close();
  });

  it('says that there is no secure connection, and that nothing was sent', async () => {
    const origin = server.url.replace('http:', 'https:');
    const [, reason, wasSent] = await fault(agent.send(request({ origin })));
    assert.deepEqual([reason, wasSent], ['tls', false]);
  });

  it('says what is wrong with a certificate of its own, which no server has seen, and only where it is needed', async () => {
    let connections = 0;
    server.server.on('connection', () => connections++);
    const own = new HttpAgent(5_000, { cert: 'none' });
    const error = await failure(own.send(request({ origin: server.url.replace('http:', 'https:') })));
    assert.deepEqual([error.code, error.text.key, connections], ['NETWORK', 'NETWORK.ownCertificate', 0]);
    assert.equal((await own.send(request())).body, 'fine');
    await own.close();
  });

  it('says so when a request cannot be sent at all', async () => {
    const [code, reason, wasSent] = await fault(agent.send(request({ path: 'no slash' })));
    assert.deepEqual([code, reason, wasSent], ['UND_ERR_INVALID_ARG', 'unreachable', false]);
  });

  it('ends with CLOSED by its signal, before and after it was sent, and the service sees it', async () => {
    assert.equal((await failure(agent.send(request(), AbortSignal.abort()))).code, 'CLOSED');
    assert.equal(server.calls.length, 0);
    const stop = new AbortController();
    const closed = new Promise<void>((resolve) => {
      server.answer = (_, response) => {
        response.once('close', () => resolve());
        stop.abort();
      };
    });
    const error = await failure(agent.send(request(), stop.signal));
    assert.deepEqual([error.code, error.text.key], ['CLOSED', 'CLOSED.stopped']);
    await closed;
  });

  it('ends every exchange with CLOSED when it is closed, frees the sockets, and begins none', async () => {
    const sockets: Socket[] = [];
    server.server.on('connection', (socket: Socket) => sockets.push(socket));
    const arrived = new Promise<void>((resolve) => {
      server.answer = () => server.calls.length === 2 && resolve();
    });
    const ends = ['GET', 'POST'].map((method) => failure(agent.send(request({ method }))));
    await arrived;
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
    await agent.close();
    for (const { code, text } of await Promise.all(ends)) {
      assert.deepEqual([code, text.key], ['CLOSED', 'CLOSED.stopped']);
    }
    await closed;
    const late = await failure(agent.send(request()));
    assert.deepEqual([late.code, late.text.key], ['CLOSED', 'CLOSED.stopped']);
  });

  it('ends with CLOSED when it is closed while the body of a failure is outstanding', async () => {
    for (const status of [500, 401, 200]) {
      const own = new HttpAgent(5_000);
      server.answer = (_, response) => {
        response.writeHead(status).write('begun', () => void own.close());
      };
      const { code } = await failure(own.send(request({ ignoresBody: status === 200 })));
      assert.equal(code, 'CLOSED', `${status}`);
    }
  });

  it('can be closed when nothing was sent', async () => {
    await new HttpAgent(1_000).close();
  });
});
