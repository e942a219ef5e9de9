// Tunnels through a real proxy: how they are asked for, why there is none, and what an open one survives.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, Socket } from 'node:net';
import { mock } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { ServiceError } from '../../src/errors.ts';
import { proxyFor } from '../../src/proxy/choice.ts';
import { openTunnel, refusesProxyLogin, type TunnelOptions } from '../../src/proxy/tunnel.ts';
import { makeCertificates } from '../faults/certificates.ts';
import { freePort } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { basic, refuse, startProxy, type TestProxy } from './server.ts';

describe('a tunnel through a proxy', () => {
  let proxy: TestProxy;
  let target: Server;
  let port: number;
  const tunnels = new Set<Socket>();

  before(async () => {
    target = createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(0, 'localhost');
    await once(target, 'listening');
    port = (target.address() as AddressInfo).port;
  });
  after(() => target.close());
  beforeEach(async () => {
    proxy = await startProxy();
  });
  afterEach(async () => {
    mock.reset();
    for (const tunnel of tunnels) {
      tunnel.destroy();
    }
    tunnels.clear();
    await proxy.stop();
  });

  async function open(more: Partial<TunnelOptions> = {}, url = proxy.url): Promise<Socket> {
    const address = proxyFor({ addresses: { http: url }, exceptions: '' }, 'http://host') ?? assert.fail();
    const tunnel = await openTunnel({
      ...{ proxy: address, host: 'localhost', port, timeout: 60_000 },
      ...more,
    });
    tunnels.add(tunnel);
    return tunnel;
  }

  const failure = (tunnel: Promise<unknown>): Promise<ServiceError> =>
    tunnel.then(
      () => assert.fail('opened'),
      (error) => error,
    );

  async function assertEchoes(tunnel: Socket): Promise<void> {
    tunnel.write('hello');
    assert.equal(String((await once(tunnel, 'data'))[0]), 'hello');
  }

  it('is a connection to the host, which was asked for by its name', async () => {
    await assertEchoes(await open());
    assert.deepEqual([proxy.asked, proxy.logins], [[`localhost:${port}`], [undefined]]);
  });

  it('logs in with what the address of the proxy says', async () => {
    await open({}, proxy.url.replace('//', '//anna:secret@'));
    assert.deepEqual(proxy.logins, [basic('anna', 'secret')]);
  });

  for (const [host, authority] of [
    ['::1', '[::1]:1883'],
    ['10.0.0.5', '10.0.0.5:1883'],
    ['broker.example', 'broker.example:1883'],
  ] as const) {
    it(`to ${host} is asked for as ${authority}`, async () => {
      const hosts: (string | undefined)[] = [];
      proxy.answer = (client, { url, headers }) => {
        hosts.push(url, headers.host);
        refuse('204 Yes')(client);
      };
      await open({ host, port: 1883 });
      assert.deepEqual(hosts, [authority, authority]);
    });
  }

  it('sends at once what is written, and probes every minute whether the proxy is there', async () => {
    const noDelay = mock.method(Socket.prototype, 'setNoDelay');
    const keepAlive = mock.method(Socket.prototype, 'setKeepAlive');
    const tunnel = await open();
    const callsOn = ({ mock: { calls } }: typeof noDelay | typeof keepAlive) =>
      calls.flatMap(({ this: socket, arguments: given }) => (socket === tunnel ? [given] : []));
    assert.deepEqual(callsOn(noDelay).at(-1), [true]);
    assert.deepEqual(callsOn(keepAlive).at(-1), [true, 60_000]);
  });

  for (const [status, code, key] of [
    ['300 X', 'PROXY_NO_TUNNEL', 'proxyNoTunnel'],
    ['399 X', 'PROXY_NO_TUNNEL', 'proxyNoTunnel'],
    ['400 X', 'PROXY_NO_TUNNEL', 'proxyNoTunnel'],
    ['401 X', 'PROXY_REFUSED', 'proxyRefused'],
    ['403 X', 'PROXY_REFUSED', 'proxyRefused'],
    ['404 X', 'PROXY_NO_TUNNEL', 'proxyNoTunnel'],
    ['405 X', 'PROXY_NO_TUNNEL', 'proxyNoTunnel'],
    ['407 X', 'PROXY_LOGIN', 'proxyLogin'],
    ['408 X', 'PROXY_REFUSED', 'proxyBusy'],
    ['429 X', 'PROXY_REFUSED', 'proxyBusy'],
    ['499 X', 'PROXY_REFUSED', 'proxyRefused'],
    ['500 X', 'PROXY_TARGET', 'proxyTarget'],
    ['501 X', 'PROXY_NO_TUNNEL', 'proxyNoTunnel'],
    ['502 X', 'PROXY_TARGET', 'proxyTarget'],
    ['504 X', 'PROXY_TARGET', 'proxyTarget'],
    ['101 X\r\nConnection: upgrade\r\nUpgrade: x', 'PROXY_NO_TUNNEL', 'proxyNoTunnel'],
    ['200 OK\r\n\r\n<', 'PROXY_NO_TUNNEL', 'proxyNoTunnel'],
  ] as const) {
    it(`is none at a proxy that answers ${JSON.stringify(status)}: ${code}`, async () => {
      proxy.answer = refuse(status);
      const { code: kind, text, cause } = await failure(open());
      const reason = `HTTP ${status.slice(0, 3)}`;
      const host = `localhost:${port}`;
      assert.equal(kind, 'NETWORK');
      assert.deepEqual(text, {
        key: `NETWORK.${key}`,
        values: { host, proxy: proxy.shown, reason, code, timeout: reason },
      });
      assert.deepEqual(cause, { code, proxy: proxy.shown });
      await proxy.idle();
    });
  }

  for (const status of ['200 OK', '201 X', '299 X']) {
    it(`is open at a proxy that answers ${status}`, async () => {
      proxy.answer = (client) => client.write(`HTTP/1.1 ${status}\r\n\r\n`);
      assert.equal((await open()).destroyed, false);
    });
  }

  it('is none where nobody listens at the address of the proxy', async () => {
    const { message, cause } = await failure(open({}, `http://127.0.0.1:${await freePort()}`));
    assert.match(message, /^the proxy 127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)$/);
    assert.equal(cause.code, 'PROXY_UNREACHABLE');
  });

  it('is none at a proxy that ends the connection without an answer', async () => {
    proxy.answer = (client) => client.destroy();
    const { text, cause } = await failure(open());
    assert.deepEqual(
      [text.key, text.values.reason, cause.code],
      ['NETWORK.proxyLost', 'ECONNRESET', 'PROXY_NO_TUNNEL'],
    );
  });

  it('is none at what is no proxy', async () => {
    proxy.answer = (client) => client.end('220 mail.example ESMTP\r\n');
    const { text, cause } = await failure(open());
    assert.match(String(text.values.reason), /^HPE_/);
    assert.deepEqual([text.key, cause.code], ['NETWORK.proxyNoTunnel', 'PROXY_NO_TUNNEL']);
  });

  it('is given up when the proxy has not answered in time', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    proxy.answer = () => {};
    let isOver = false;
    const over = failure(open({ timeout: 9_000 })).finally(() => {
      isOver = true;
    });
    await proxy.connected(1);
    mock.timers.tick(8_999);
    await new Promise(setImmediate);
    assert.equal(isOver, false);
    mock.timers.tick(1);
    const { message, cause } = await over;
    assert.equal(message, `no connection to localhost:${port} through the proxy ${proxy.shown} within 9 s`);
    assert.deepEqual(cause, { code: 'ETIMEDOUT', proxy: proxy.shown });
    await proxy.idle();
  });

  it('that is open belongs to who asked for it: neither the time nor the signal of the attempt ends it', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const stop = new AbortController();
    const tunnel = await open({ timeout: 9_000, signal: stop.signal });
    mock.timers.tick(9_000);
    stop.abort();
    await assertEchoes(tunnel);
  });

  it('that breaks off is an end of its socket, and no error that nobody hears', async () => {
    const tunnel = await open();
    const closed = new Promise((resolve) => tunnel.once('close', resolve));
    for (const client of proxy.clients) {
      client.resetAndDestroy();
    }
    tunnel.resume();
    assert.equal(await closed, true);
  });

  it('is not asked for any more where nobody wants it', async () => {
    const { code, text } = await failure(open({ signal: AbortSignal.abort() }));
    assert.deepEqual([code, text.key], ['CLOSED', 'CLOSED.stopped']);
    assert.deepEqual([proxy.asked, proxy.clients.size], [[], 0]);
  });

  it('is given up at once when nobody wants it any more', async () => {
    proxy.answer = () => {};
    const stop = new AbortController();
    const over = failure(open({ signal: stop.signal }));
    await proxy.connected(1);
    stop.abort();
    const { code, text } = await over;
    assert.deepEqual([code, text.key], ['CLOSED', 'CLOSED.stopped']);
    await proxy.idle();
  });

  for (const [host, servername] of [
    ['localhost', 'localhost'],
    ['127.0.0.1', false],
  ] as const) {
    it(`over TLS asks ${host} for HTTP, by its name where it has one, and trusts no unknown authority`, async function () {
      requirePrograms(this, 'openssl');
      const asked: object[] = [];
      const secure = createTlsServer({
        ...(await makeCertificates()).server,
        ALPNCallback(wanted) {
          asked.push(wanted);
          return wanted.protocols[0];
        },
      });
      secure.on('tlsClientError', () => {}).on('secureConnection', (socket) => socket.on('error', () => {}));
      secure.listen(0, host);
      await once(secure, 'listening');
      const url = `https://${host}:${(secure.address() as AddressInfo).port}`;
      const { text, cause } = await failure(open({}, url));
      secure.close();
      assert.match(String(text.values.reason), /^UNABLE_TO_VERIFY/);
      assert.equal(cause.code, 'PROXY_UNREACHABLE');
      assert.deepEqual(
        asked.map((wanted) => ({ ...wanted })),
        [{ servername, protocols: ['http/1.1'] }],
      );
    });
  }
});

describe('a refused login at a proxy', () => {
  const fault = (code: string) => new ServiceError('NETWORK', 'proxyLogin', { code });
  for (const [error, isRefused] of [
    [fault('PROXY_LOGIN'), true],
    [fault('PROXY_REFUSED'), false],
    [new Error('other', { cause: { code: 'PROXY_LOGIN' } }), false],
    [undefined, false],
  ] as const) {
    it(`is ${isRefused ? '' : 'not '}seen in ${error?.name} ${JSON.stringify(error?.cause)}`, () => {
      assert.equal(refusesProxyLogin(error), isRefused);
    });
  }
});
