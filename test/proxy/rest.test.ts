// REST calls through a real proxy: tunnels, logins, faults in words, time limits, and what stays untouched.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { ServiceError } from '../../src/errors.ts';
import { NetworkError } from '../../src/rest/faults.ts';
import { HttpAgent } from '../../src/rest/http.ts';
import { probeRest } from '../../src/rest/probe.ts';
import type { ProxySettings, TlsSettings } from '../../src/settings.ts';
import { type Certificates, makeCertificates } from '../faults/certificates.ts';
import { freePort } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { createClient, json, settingsFor, startServer, type TestServer } from '../rest/server.ts';
import { basic, refuse, startProxy, type TestProxy } from './server.ts';

const SECRET = 's3cret%';

/** One proxy for every address. */
const through = (proxy: string, more: Partial<ProxySettings> = {}): ProxySettings => ({
  addresses: { http: proxy, https: proxy },
  exceptions: '',
  ...more,
});

describe('REST calls through a proxy', () => {
  let certificates: Certificates;
  let proxy: TestProxy;
  let plain: TestServer;
  let secure: TestServer;
  const agents: HttpAgent[] = [];

  before(async function () {
    requirePrograms(this, 'openssl');
    certificates = await makeCertificates();
    plain = await startServer((_, response) => response.end('plain'));
    secure = await startServer((_, response) => response.end('secure'), certificates.server);
  });
  after(async () => {
    await plain?.stop();
    await secure?.stop();
  });
  beforeEach(async () => {
    proxy = await startProxy();
  });
  afterEach(async () => {
    await Promise.all(agents.splice(0).map((agent) => agent.close()));
    await proxy.stop();
    plain.calls.length = 0;
  });

  function agentFor(settings: ProxySettings, timeout = 5_000, tls: TlsSettings = { ca: certificates.ca }) {
    const agent = new HttpAgent(timeout, tls, settings);
    agents.push(agent);
    return agent;
  }
  const get = (agent: HttpAgent, origin: string, signal?: AbortSignal) =>
    agent.send({ origin, path: '/x', method: 'GET', headers: {} }, signal);

  async function failure(promise: Promise<unknown>): Promise<ServiceError> {
    return promise.then(
      () => assert.fail('did not fail'),
      (error) => error,
    );
  }

  it('reach an https and an http service through one tunnel each, which is used again', async () => {
    const agent = agentFor(through(proxy.url));
    for (const server of [secure, plain, secure, plain]) {
      assert.equal((await get(agent, server.url)).body, server === secure ? 'secure' : 'plain');
    }
    assert.deepEqual(
      proxy.asked,
      [secure, plain].map(({ url }) => new URL(url).host),
    );
    assert.deepEqual(proxy.logins, [undefined, undefined]);
  });

  it('ask for the port that belongs to the scheme of an address without one', async () => {
    proxy.answer = refuse('403 Forbidden');
    const agent = agentFor(through(proxy.url));
    for (const origin of [
      'http://service.example',
      'https://service.example',
      'https://service.example:8443',
    ]) {
      assert.equal((await failure(get(agent, origin))).code, 'NETWORK');
    }
    assert.deepEqual(proxy.asked, ['service.example:80', 'service.example:443', 'service.example:8443']);
  });

  it('log in with the name and password of the address of the proxy', async () => {
    await proxy.stop();
    proxy = await startProxy({ username: 'anna', password: SECRET });
    const agent = agentFor(through(proxy.url.replace('//', `//anna:${encodeURIComponent(SECRET)}@`)));
    assert.equal((await get(agent, secure.url)).body, 'secure');
    assert.deepEqual(proxy.logins, [basic('anna', SECRET)]);
  });

  it('show the service no login of the proxy', async () => {
    const agent = agentFor(through(proxy.url.replace('//', `//anna:${SECRET}@`)));
    await get(agent, plain.url);
    assert.doesNotMatch(JSON.stringify(plain.calls), /proxy|anna|YW5uYT/i);
  });

  it('reach a proxy over TLS only when its certificate is trusted', async () => {
    const locked = await startProxy({ tls: certificates.server });
    try {
      const error = await failure(get(agentFor(through(locked.url)), secure.url));
      assert.deepEqual(error.cause, { code: 'PROXY_UNREACHABLE', proxy: locked.shown });
      assert.match(error.message, /UNABLE_TO_VERIFY/);
      assert.deepEqual(locked.asked, []);
    } finally {
      await locked.stop();
    }
  });

  it('still verify the certificate of the service itself', async () => {
    const error = await failure(get(agentFor(through(proxy.url), 5_000, {}), secure.url));
    assert.equal(error.text.key, 'NETWORK.certificate');
    assert.equal(error.cause.proxy, proxy.shown);
    assert.equal(proxy.asked.length, 1);
  });

  it('show the service the client certificate and the server name of the TLS settings', async () => {
    const seen: unknown[] = [];
    const options = {
      ...certificates.server,
      ca: certificates.ca,
      requestCert: true,
      rejectUnauthorized: true,
    };
    const strict = await startServer((_, response) => response.end('mutual'), options);
    strict.server.on('secureConnection', (socket) => seen.push(socket.servername, socket.alpnProtocol));
    try {
      const tls = { ca: certificates.ca, ...certificates.client, servername: 'localhost' };
      const origin = strict.url.replace('localhost', '127.0.0.1');
      for (const settings of [through(proxy.url), through('')]) {
        // A protocol of the broker is none of HTTP's.
        const agent = agentFor(settings, 5_000, { ...tls, ALPNProtocols: ['x-amzn-mqtt-ca'] });
        assert.equal((await get(agent, origin)).body, 'mutual');
        assert.deepEqual(seen.splice(0), ['localhost', 'http/1.1']);
      }
      assert.equal(proxy.asked.length, 1);
    } finally {
      await strict.stop();
    }
  });

  it('go directly to what NO_PROXY names', async () => {
    const agent = agentFor(through(proxy.url, { exceptions: `localhost:${new URL(plain.url).port}` }));
    assert.equal((await get(agent, plain.url)).body, 'plain');
    assert.deepEqual(proxy.asked, []);
    assert.equal((await get(agent, secure.url)).body, 'secure');
    assert.equal(proxy.asked.length, 1);
  });

  for (const [title, status, code, reason] of [
    ['asks for a login', '407 Proxy Authentication Required', 'PROXY_LOGIN', 'proxyLogin'],
    ['refuses', '403 Forbidden', 'PROXY_REFUSED', 'proxyRefused'],
    ['does not know CONNECT', '405 Method Not Allowed', 'PROXY_NO_TUNNEL', 'proxyNoTunnel'],
    ['sends elsewhere', '302 Found\r\nLocation: http://login.example', 'PROXY_NO_TUNNEL', 'proxyNoTunnel'],
    ['answers with a page', '200 OK\r\n\r\n<html>', 'PROXY_NO_TUNNEL', 'proxyNoTunnel'],
    [
      'changes the protocol',
      '101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x',
      'PROXY_NO_TUNNEL',
      'proxyNoTunnel',
    ],
    ['cannot reach the service', '503 Service Unavailable', 'PROXY_TARGET', 'proxyTarget'],
  ] as const) {
    it(`fail in words and with the code ${code} when the proxy ${title}`, async () => {
      proxy.answer = refuse(status);
      const { host } = new URL(plain.url);
      const error = await failure(
        get(agentFor(through(proxy.url.replace('//', `//anna:${SECRET}@`))), plain.url),
      );
      assert.ok(error instanceof NetworkError);
      assert.deepEqual([error.code, error.text.key, error.wasSent], ['NETWORK', `NETWORK.${reason}`, false]);
      assert.deepEqual(error.cause, { code, proxy: proxy.shown });
      assert.match(error.message, new RegExp(`proxy ${proxy.shown}.*HTTP ${status.slice(0, 3)}`));
      assert.doesNotMatch(error.message, /__/);
      assert.equal(error.message.includes(host), code !== 'PROXY_LOGIN');
      assert.doesNotMatch(JSON.stringify([error.cause, error.text, error.stack]), /anna|s3cret|YW5uYT/);
      await proxy.idle();
    });
  }

  for (const [title, answer, reason] of [
    ['ends the connection', (client) => client.destroy(), 'proxyLost'],
    ['does not speak HTTP', (client) => client.end('220 mail.example ESMTP\r\n'), 'proxyNoTunnel'],
  ] as [string, NonNullable<TestProxy['answer']>, string][]) {
    it(`fail in words when what stands at the address of the proxy ${title}`, async () => {
      proxy.answer = answer;
      const error = await failure(get(agentFor(through(proxy.url)), plain.url));
      assert.deepEqual(error.cause, { code: 'PROXY_NO_TUNNEL', proxy: proxy.shown });
      assert.equal(error.text.key, `NETWORK.${reason}`);
      assert.doesNotMatch(error.message, /__/);
    });
  }

  it('fail in words when nobody listens at the address of the proxy', async () => {
    const port = await freePort();
    const error = await failure(get(agentFor(through(`http://127.0.0.1:${port}`)), secure.url));
    assert.deepEqual(error.cause, { code: 'PROXY_UNREACHABLE', proxy: `127.0.0.1:${port}` });
    assert.match(error.message, /ECONNREFUSED/);
  });

  for (const [reason, isRepeated] of [
    ['407 Proxy Authentication Required', false],
    ['403 Forbidden', false],
    ['408 Request Timeout', true],
    ['429 Too Many Requests', true],
    ['501 Not Implemented', false],
    ['502 Bad Gateway', true],
  ] as const) {
    it(`are ${isRepeated ? '' : 'not '}tried again after ${reason}`, async () => {
      proxy.answer = refuse(reason);
      const client = createClient(plain.url, { proxy: through(proxy.url), retries: 2 });
      await failure(client.call('listDevices', {}));
      assert.equal(proxy.asked.length, isRepeated ? 3 : 1);
      await client.close();
    });
  }

  it('are tried again where the proxy ends the connection without an answer, also the login for which others wait', async () => {
    proxy.answer = (client) => {
      proxy.answer = undefined;
      client.destroy();
    };
    const client = createClient(plain.url, { proxy: through(proxy.url), retries: 1 });
    const request = { method: 'GET', path: '/api/v1/devices' };
    const responses = await Promise.all(Array.from({ length: 5 }, () => client.send(request)));
    assert.deepEqual(
      responses.map(({ body }) => body),
      Array.from({ length: 5 }, () => 'plain'),
    );
    assert.equal(plain.logins.length, 1);
    await client.close();
  });

  it('end after the time of the whole call when the proxy never answers', async () => {
    proxy.answer = () => {};
    const error = await failure(get(agentFor(through(proxy.url), 300), secure.url));
    assert.deepEqual(error.cause, { code: 'ETIMEDOUT', proxy: proxy.shown });
    assert.equal(error.text.key, 'NETWORK.proxyTimeout');
    assert.match(error.message, /300 ms/);
    await proxy.idle();
  });

  it('end after the time of the whole call when the tunnel is open and the service never answers', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    for (const scheme of ['http', 'https']) {
      const error = await failure(get(agentFor(through(proxy.url), 300), `${scheme}://127.0.0.1:${port}`));
      assert.deepEqual(error.cause, { code: 'ETIMEDOUT', proxy: proxy.shown }, scheme);
    }
    for (const socket of sockets) {
      socket.destroy();
    }
    silent.close();
  });

  it('end at once with CLOSED while the tunnel is being opened, and leave no connection behind', async () => {
    proxy.answer = () => {};
    const agent = agentFor(through(proxy.url), 60_000);
    const call = failure(get(agent, secure.url));
    await proxy.connected(1);
    await agent.close();
    assert.equal((await call).code, 'CLOSED');
    await proxy.idle();
  });

  it('end at once with CLOSED when they are stopped while the tunnel is being opened', async () => {
    proxy.answer = () => {};
    const stop = new AbortController();
    const agent = agentFor(through(proxy.url), 60_000);
    const call = failure(get(agent, secure.url, stop.signal));
    await proxy.connected(1);
    stop.abort();
    assert.equal((await call).code, 'CLOSED');
  });

  it('end with an open tunnel when they are closed', async () => {
    const agent = agentFor(through(proxy.url));
    await get(agent, secure.url);
    await get(agent, plain.url);
    await agent.close();
    await proxy.idle();
  });

  it('are made through a new tunnel when the old one was lost', async () => {
    const agent = agentFor(through(proxy.url));
    await get(agent, secure.url);
    proxy.cut();
    await proxy.idle();
    let answer = await get(agent, secure.url).catch(() => undefined);
    answer ??= await get(agent, secure.url);
    assert.equal(answer.body, 'secure');
    assert.equal(proxy.asked.length, 2);
  });

  it('leave the process’s own fetch alone', async () => {
    const symbol = Symbol.for('undici.globalDispatcher.1');
    const before = (globalThis as Record<symbol, unknown>)[symbol];
    await get(agentFor(through(proxy.url)), plain.url);
    assert.equal((globalThis as Record<symbol, unknown>)[symbol], before);
    assert.equal(await (await fetch(plain.url)).text(), 'plain');
    assert.equal(proxy.asked.length, 1);
  });

  it('are tested with a word about the proxy, in success and in failure', async () => {
    plain.answer = (_, response) => json(response, { items: [] });
    const settings = settingsFor(plain.url, { proxy: through(proxy.url) });
    const good = await probeRest(settings, AbortSignal.timeout(5_000));
    assert.deepEqual([good.ok, good.proxies], [true, [proxy.shown]]);
    proxy.answer = refuse('407 Proxy Authentication Required');
    const bad = await probeRest(settings, AbortSignal.timeout(5_000));
    assert.deepEqual([bad.ok, bad.text.key, bad.proxies], [false, 'error.NETWORK.proxyLogin', [proxy.shown]]);
    const direct = await probeRest(settingsFor(plain.url), AbortSignal.timeout(5_000));
    assert.deepEqual(direct.proxies, []);
  });
});
