// The REST half of "Test connection", and TLS with certificates made here.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import english from '../../src/locales/en-US.json' with { type: 'json' };
import { probeRest } from '../../src/rest/probe.ts';
import { createClient, createClock, json, settingsFor, startServer, type TestServer } from './server.ts';

const run = promisify(execFile);
const NEVER = new AbortController().signal;

/** The English text of a key, to be sure that it exists. */
function textOf(key: string): unknown {
  return key.split('.').reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[part], english);
}

describe('REST connection test', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer((_, response) => json(response, { items: [{ id: 'a' }], nextToken: 't' }));
  });
  afterEach(() => server.stop());

  it('logs in and lists one device', async () => {
    const { ms, ...result } = await probeRest(settingsFor(server.url), NEVER);
    assert.ok(Number.isInteger(ms) && ms >= 0);
    const text = { key: 'test.restOk', values: { devices: 1 } };
    assert.deepEqual(result, { ok: true, text, devices: 1, proxies: [] });
    assert.equal(typeof textOf(result.text.key), 'string');
    assert.deepEqual(
      server.calls.map(({ url }) => url),
      ['/api/v1/devices?MaxResults=1'],
    );
  });

  it('leaves no connection behind when all is well', async () => {
    const sockets: Promise<unknown>[] = [];
    server.server.on('connection', (socket) => sockets.push(once(socket, 'close')));
    assert.equal((await probeRest(settingsFor(server.url), NEVER)).ok, true);
    const start = performance.now();
    await Promise.all(sockets);
    // One that nobody uses is closed some seconds later, too.
    assert.ok(performance.now() - start < 3_000);
  });

  it('says that nothing is visible to the user', async () => {
    server.answer = (_, response) => json(response, { items: [] });
    const { ok, text } = await probeRest(settingsFor(server.url), NEVER);
    assert.deepEqual([ok, text.key, typeof textOf(text.key)], [true, 'test.restEmpty', 'string']);
  });

  it('says that the password is wrong, and asks again the next time', async () => {
    server.login = (_, response) => json(response, {}, 401);
    for (const count of [1, 2]) {
      const { ok, code, text } = await probeRest(settingsFor(server.url), NEVER);
      assert.deepEqual([ok, code, text.key], [false, 'LOGIN_FAILED', 'error.LOGIN_FAILED.refused']);
      assert.equal(server.logins.length, count);
    }
  });

  it('tries once and says what is wrong with an address', async () => {
    server.answer = (_, response) => json(response, {}, 503);
    const busy = await probeRest(settingsFor(server.url), NEVER);
    assert.deepEqual([busy.code, server.calls.length], ['HTTP_ERROR', 1]);
    const empty = await probeRest(settingsFor('localhost'), NEVER);
    assert.deepEqual([empty.code, empty.text.key], ['INVALID_INPUT', 'error.INVALID_INPUT.notHttpUrl']);
  });

  it('ends within 10 seconds, whatever the settings allow, and leaves no connection', async () => {
    const sockets: Promise<unknown>[] = [];
    server.server.on('connection', (socket) => sockets.push(once(socket, 'close')));
    server.answer = () => undefined;
    const { ms, code, text } = await probeRest(settingsFor(server.url, { timeout: 60_000 }), NEVER);
    assert.deepEqual([code, text.key], ['NETWORK', 'error.NETWORK.timeout']);
    assert.ok(ms > 4_000 && ms < 10_000, `${ms} ms`);
    await Promise.all(sockets);
  });

  it('keeps to a shorter time of the settings', async () => {
    server.answer = () => undefined;
    const { ms, text } = await probeRest(settingsFor(server.url, { timeout: 100 }), NEVER);
    assert.equal(text.values.timeout, '100 ms');
    assert.ok(ms < 4_000, `${ms} ms`);
  });

  it('says that the service did not answer in time when all of it took too long', async () => {
    server.answer = () => undefined;
    const { ok, code, text, ms } = await probeRest(settingsFor(server.url), AbortSignal.timeout(100));
    assert.deepEqual([ok, code, text.key], [false, 'NETWORK', 'error.NETWORK.timeout']);
    assert.deepEqual(text.values, { host: server.url, timeout: text.values.timeout });
    const timeout = Number(/^(\d+) ms$/.exec(String(text.values.timeout))?.[1]);
    assert.ok(timeout >= 99 && timeout <= ms, `${text.values.timeout}`);
  });

  it('names the proxies that it goes through, each once, also where they do not let it through', async () => {
    const { port } = server.server.address() as { port: number };
    // It opens no tunnels.
    const proxy = { addresses: { http: `http://127.0.0.1:${port}` }, exceptions: 'direct' };
    const settings = settingsFor('http://host', { proxy });
    assert.deepEqual((await probeRest(settings, NEVER)).proxies, [`127.0.0.1:${port}`]);
    const direct = settingsFor('http://direct', { proxy, authUrl: server.url });
    assert.deepEqual((await probeRest(direct, NEVER)).proxies, [`127.0.0.1:${port}`]);
  });

  it('ends with CLOSED when it is not wanted any more', async () => {
    const stop = new AbortController();
    server.answer = () => stop.abort();
    assert.equal((await probeRest(settingsFor(server.url), stop.signal)).code, 'CLOSED');
  });
});

describe('REST over TLS', () => {
  let folder: string;
  let server: TestServer;
  let ca: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rest-tls-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
    await run('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject]);
    ca = await readFile(cert, 'utf8');
    const answer: TestServer['answer'] = (_, response) => json(response, { items: [{ id: 'a' }] });
    server = await startServer(answer, { key: await readFile(key, 'utf8'), cert: ca });
  });
  after(async () => {
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('accepts a certificate of the CA in the settings', async () => {
    assert.equal((await probeRest(settingsFor(server.url, { tls: { ca } }), NEVER)).ok, true);
  });

  it('refuses a certificate of an unknown CA and says so, without sending the password', async () => {
    const { logins } = server;
    logins.length = 0;
    const { code, text } = await probeRest(settingsFor(server.url), NEVER);
    assert.deepEqual([code, text.key], ['NETWORK', 'error.NETWORK.certificate']);
    assert.equal(logins.length, 0);
  });

  it('does not try a certificate again that was not accepted', async () => {
    const clock = createClock();
    const client = createClient(server.url, { retries: 3 }, clock);
    await assert.rejects(client.send({ method: 'GET', path: '/' }), {
      code: 'NETWORK',
      message: /certificate/,
    });
    assert.deepEqual(clock.waits, []);
    await client.close();
  });

  it('refuses a certificate for another name', async () => {
    const url = server.url.replace('localhost', '127.0.0.1');
    const { code, text } = await probeRest(settingsFor(url, { tls: { ca } }), NEVER);
    assert.deepEqual([code, text.key], ['NETWORK', 'error.NETWORK.certificate']);
  });

  it('accepts any certificate only when the settings say so', async () => {
    const tls = { rejectUnauthorized: false };
    assert.equal((await probeRest(settingsFor(server.url, { tls }), NEVER)).ok, true);
  });

  it('says that there is no secure connection where the port speaks plain HTTP', async () => {
    const plain = await startServer((_, response) => response.end());
    const { code, text } = await probeRest(settingsFor(plain.url.replace('http:', 'https:')), NEVER);
    await plain.stop();
    assert.deepEqual([code, text.key], ['NETWORK', 'error.NETWORK.tls']);
  });
});
