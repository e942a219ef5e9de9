// A service that is far away, under a name with an address that this network has no way to.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSecurePageServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import { createServer as createSecureServer } from 'node:tls';
import { createWebSocketStream, WebSocketServer } from 'ws';
import type { ServiceError } from '../src/errors.ts';
import { proxyFor } from '../src/proxy/choice.ts';
import { openTunnel } from '../src/proxy/tunnel.ts';
import { probeRest } from '../src/rest/probe.ts';
import { FAR_HOST, useFarHost } from './far-host.ts';
import { makeCertificates, type Pair } from './faults/certificates.ts';
import { useScriptedBroker } from './mqtt/scripted.ts';
import { startProxy, type TestProxy } from './proxy/server.ts';
import { json, settingsFor, startServer } from './rest/server.ts';
import { ALL, Collector, openSession, reached } from './session.ts';

const farUrl = (url: string) => url.replace(/127\.0\.0\.1|localhost/, FAR_HOST);
const TLS = { rejectUnauthorized: false };

describe('a service that is far away, with an address that cannot be reached', () => {
  const bench = useScriptedBroker();
  const ends: (() => unknown)[] = [];
  let pair: Pair;
  before(async () => {
    pair = (await makeCertificates()).server;
  });
  useFarHost();
  afterEach(async () => {
    await Promise.all(ends.splice(0).map((end) => end()));
  });

  async function listen(server: ReturnType<typeof createServer> | ReturnType<typeof createSecureServer>) {
    ends.push(() => server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return `${FAR_HOST}:${(server.address() as AddressInfo).port}`;
  }

  /** With the broker. */
  function join(client: Duplex): void {
    const broker = connect(Number(new URL(bench.broker.url).port), '127.0.0.1');
    pipeline(client, broker, client, () => broker.destroy());
  }

  const ADDRESSES: Record<string, () => Promise<string>> = {
    mqtt: async () => farUrl(bench.broker.url),
    mqtts: async () => {
      const server = createSecureServer(pair, join);
      return `mqtts://${await listen(server)}`;
    },
    ws: async () => `ws://${await listenForWebSockets(createServer())}`,
    wss: async () => `wss://${await listenForWebSockets(createSecurePageServer(pair))}`,
  };

  async function listenForWebSockets(server: ReturnType<typeof createServer>) {
    const sockets = new WebSocketServer({ server, handleProtocols: () => 'mqtt' });
    sockets.on('connection', (socket) => join(createWebSocketStream(socket)));
    return listen(server);
  }

  for (const [scheme, addressOf] of Object.entries(ADDRESSES)) {
    it(`is reached by ${scheme}`, async () => {
      const session = openSession(await addressOf(), { tls: TLS });
      ends.push(() => session.close());
      session.subscribe(ALL, new Collector());
      await reached(session, 'connected');
    });
  }

  for (const scheme of ['http', 'https']) {
    it(`is reached by ${scheme}`, async () => {
      const server = await startServer(
        (_, response) => json(response, { items: [] }),
        scheme === 'https' ? pair : undefined,
      );
      ends.push(() => server.stop());
      const settings = settingsFor(farUrl(server.url), { tls: TLS, retries: 0 });
      const { ok, text } = await probeRest(settings, new AbortController().signal);
      assert.equal(ok, true, JSON.stringify(text));
    });
  }

  /** Through a proxy that is far away. */
  function tunnelThrough({ url }: TestProxy): Promise<Socket> {
    const proxy = proxyFor({ addresses: { http: farUrl(url) }, exceptions: '' }, 'http://host');
    const port = Number(new URL(bench.broker.url).port);
    return openTunnel({ proxy: proxy!, host: '127.0.0.1', port, timeout: 5_000 });
  }

  it('is reached where it is a proxy', async () => {
    const proxy = await startProxy();
    ends.push(() => proxy.stop());
    (await tunnelThrough(proxy)).destroy();
    assert.equal(proxy.asked.length, 1);
  });

  it('is reached where it is a proxy with TLS', async () => {
    const proxy = await startProxy({ tls: pair });
    ends.push(() => proxy.stop());
    const error = await tunnelThrough(proxy).then(
      () => assert.fail('its certificate is for another name'),
      (refused: ServiceError) => refused,
    );
    assert.match(String(error.message), /CERT|SELF_SIGNED|UNABLE/);
  });
});
