// Brokers over WebSocket through a real proxy, and the TLS settings of wss: server name, ALPN, client certificate.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { Aedes } from 'aedes';
import { createWebSocketStream, WebSocketServer } from 'ws';
import { inEnglish, type Phrase } from '../../src/errors.ts';
import { probeBroker } from '../../src/mqtt/probe.ts';
import type { Session } from '../../src/session.ts';
import type { MqttSettings, ProxySettings, TlsSettings } from '../../src/settings.ts';
import { type Certificates, makeCertificates } from '../faults/certificates.ts';
import { freePort } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { ALL, Collector, mqttSettings, openSession, reached } from '../session.ts';
import { basic, refuse, startProxy, type TestProxy } from './server.ts';

const SECRET = 's3cret:@';
const TOPIC = 'mt/gateway/c0141f68fc3d/device/d00000000001/heartbeat';
const REPORT = { time: '2026-01-01T00:00:00.000Z', seq: 1, status: 0 };

const through = (proxy: string, exceptions = ''): ProxySettings => ({
  addresses: { ws: proxy, wss: proxy },
  exceptions,
});

/** A broker behind a web server. */
async function startBroker(server: Server) {
  const aedes = await Aedes.createBroker();
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'mqtt' });
  sockets.on('connection', (socket) => {
    const stream = createWebSocketStream(socket);
    stream.on('error', () => {});
    socket.once('close', () => stream.destroy());
    aedes.handle(stream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    /** Resolves when the next client has subscribed. */
    subscribed: () => once(aedes, 'subscribe'),
    publish: (topic: string, payload: object) =>
      new Promise<void>((resolve) =>
        aedes.publish(
          { cmd: 'publish', topic, payload: JSON.stringify(payload), qos: 1, retain: false, dup: false },
          () => resolve(),
        ),
      ),
    async stop() {
      for (const socket of sockets.clients) {
        socket.terminate();
      }
      await new Promise<void>((resolve) => aedes.close(() => resolve()));
      server.close();
      server.closeAllConnections();
    },
  };
}

type Broker = Awaited<ReturnType<typeof startBroker>>;

describe('a broker over WebSocket', () => {
  let certificates: Certificates;
  let proxy: TestProxy;
  let plain: Broker;
  let secure: Broker;
  let strict: Broker;
  const seen: (string | false | null | undefined)[][] = [];
  const sessions: Session[] = [];

  before(async function () {
    requirePrograms(this, 'openssl');
    certificates = await makeCertificates();
    plain = await startBroker(createServer());
    const watch = (server: Server) =>
      server.on('secureConnection', (socket: TLSSocket) =>
        seen.push([
          (socket as TLSSocket & { servername?: string }).servername,
          socket.alpnProtocol,
          socket.getPeerCertificate().subject?.CN?.toString(),
        ]),
      );
    secure = await startBroker(watch(createSecureServer(certificates.server)));
    const options = {
      ...certificates.server,
      ca: certificates.ca,
      requestCert: true,
      ALPNProtocols: ['mqtt-here'],
    };
    strict = await startBroker(watch(createSecureServer(options)));
  });
  after(() => Promise.all([plain, secure, strict].map((broker) => broker?.stop())));
  beforeEach(async () => {
    proxy = await startProxy();
    seen.length = 0;
  });
  afterEach(async () => {
    await Promise.all(sessions.splice(0).map((session) => session.close()));
    await proxy.stop();
  });

  function open(url: string, changes: Partial<MqttSettings>): Session {
    const session = openSession(url, changes);
    sessions.push(session);
    session.attach();
    return session;
  }

  /** The first state of this name. */
  function state(session: Session, name: string): Promise<{ reason: string }> {
    return new Promise((resolve) => {
      session.onState(({ mqtt }) => {
        if (mqtt.name === name) {
          resolve({ reason: 'reason' in mqtt ? inEnglish(mqtt.reason) : '' });
        }
      });
    });
  }

  for (const scheme of ['ws', 'wss'] as const) {
    it(`with ${scheme} brings reports through a tunnel, and comes back through another one when it is lost`, async () => {
      const broker = scheme === 'ws' ? plain : secure;
      const url = `${scheme}://localhost:${broker.port}/mqtt`;
      const collector = new Collector();
      let subscribed = broker.subscribed();
      const session = open(url, { proxy: through(proxy.url), tls: { ca: certificates.ca } });
      session.subscribe(ALL, collector);
      await subscribed;
      await broker.publish(TOPIC, REPORT);
      await collector.until(({ reports }) => reports.length === 1);
      assert.deepEqual(proxy.asked, [`localhost:${broker.port}`]);
      subscribed = broker.subscribed();
      proxy.cut();
      await reached(session, 'waiting');
      await subscribed;
      await broker.publish(TOPIC, REPORT);
      await collector.until(({ reports }) => reports.length === 2);
      assert.equal(proxy.asked.length, 2);
      await session.close();
      await proxy.idle();
    });
  }

  it('logs in at the proxy with the login of its address', async () => {
    await proxy.stop();
    proxy = await startProxy({ username: 'anna', password: SECRET });
    const address = proxy.url.replace('//', `//anna:${encodeURIComponent(SECRET)}@`);
    const session = open(`ws://localhost:${plain.port}`, { proxy: through(address) });
    await reached(session, 'connected');
    assert.deepEqual(proxy.logins, [basic('anna', SECRET)]);
    assert.doesNotMatch(JSON.stringify(session.state), /anna|s3cret/);
  });

  it('is connected to directly where NO_PROXY names it, and with mqtt', async () => {
    const session = open(`ws://localhost:${plain.port}`, { proxy: through(proxy.url, 'localhost') });
    await reached(session, 'connected');
    assert.deepEqual(proxy.asked, []);
  });

  for (const [title, status, words] of [
    ['asks for a login', '407 Proxy Authentication Required', /asks for a user name.*HTTP 407/],
    ['refuses', '403 Forbidden', /refuses a connection to localhost:\d+ \(HTTP 403/],
    ['does not know CONNECT', '501 Not Implemented', /opens no tunnel/],
    ['cannot reach it', '502 Bad Gateway', /cannot reach localhost/],
  ] as const) {
    it(`says in its state that the proxy ${title}, and not the login of the proxy`, async () => {
      proxy.answer = refuse(status);
      const address = proxy.url.replace('//', '//anna:s3cret@');
      const session = open(`ws://localhost:${plain.port}`, { proxy: through(address) });
      const { reason } = await state(session, 'waiting');
      assert.match(reason, words);
      assert.ok(reason.includes(proxy.shown), reason);
      assert.doesNotMatch(reason, /anna|s3cret|YW5uYT/);
    });
  }

  it('says in its state that nobody listens at the address of the proxy', async () => {
    const address = `http://127.0.0.1:${await freePort()}`;
    const session = open(`wss://localhost:${secure.port}`, { proxy: through(address) });
    assert.match((await state(session, 'waiting')).reason, /proxy 127.* cannot be reached \(ECONNREFUSED\)/);
  });

  it('is not asked for again within 10 seconds when the proxy refuses the login', async () => {
    proxy.answer = refuse('407 Proxy Authentication Required');
    const waits: string[] = [];
    const { Session } = await import('../../src/session.ts');
    const log = { info() {}, trace() {}, warn: (text: string) => void waits.push(text) };
    const settings = mqttSettings(`ws://localhost:${plain.port}`, { proxy: through(proxy.url) });
    const session = new Session({ mqtt: settings }, log);
    sessions.push(session);
    session.attach();
    await state(session, 'waiting');
    const seconds = Number(/next attempt in ([\d.]+) s/.exec(waits.join())?.[1]);
    assert.ok(seconds >= 10, waits.join());
  });

  it('ends at once while the proxy is silent, and leaves no connection behind', async () => {
    proxy.answer = () => {};
    const session = open(`wss://localhost:${secure.port}`, { proxy: through(proxy.url) });
    await proxy.connected(1);
    await session.close();
    await proxy.idle();
  });

  it('names a proxy that never answers, before the attempt is over', async () => {
    proxy.answer = () => {};
    const session = open(`wss://localhost:${secure.port}`, { proxy: through(proxy.url) });
    assert.match(
      (await state(session, 'waiting')).reason,
      /no connection to .* through the proxy .* within 9 s$/,
    );
    await proxy.idle();
  });

  it('over wss refuses a certificate of an unknown authority, also through a proxy', async () => {
    const url = `wss://localhost:${secure.port}`;
    for (const changes of [{}, { proxy: through(proxy.url) }]) {
      assert.match((await state(open(url, changes), 'waiting')).reason, /certificate/);
    }
  });

  for (const way of ['directly', 'through a proxy']) {
    it(`over wss is shown server name, protocol and client certificate of the TLS settings, ${way}`, async () => {
      const tls: TlsSettings = { ca: certificates.ca, ...certificates.client };
      const own = { ...tls, servername: 'localhost', ALPNProtocols: ['mqtt-here'] };
      const isProxied = way !== 'directly';
      const changes = { tls: own, ...(isProxied && { proxy: through(proxy.url) }) };
      // Without the server name the certificate would not fit this address.
      const session = open(`wss://127.0.0.1:${strict.port}`, changes);
      await reached(session, 'connected');
      assert.deepEqual(seen, [['localhost', 'mqtt-here', 'client']]);
      assert.equal(proxy.asked.length, isProxied ? 1 : 0);
    });
  }

  it('is tested with a word about the proxy, in success and in failure', async function () {
    this.timeout(30_000);
    const url = `ws://localhost:${plain.port}`;
    const settings = mqttSettings(url, { proxy: through(proxy.url) });
    const good = await probeBroker(settings);
    assert.deepEqual([good.ok, good.proxies], [true, [proxy.shown]]);
    proxy.answer = refuse('403 Forbidden');
    const bad = await probeBroker(settings);
    assert.deepEqual([bad.ok, bad.proxies], [false, [proxy.shown]]);
    assert.match(inEnglish(bad.text.values.reason as Phrase), /refuses a connection/);
    const direct = await probeBroker(mqttSettings(url));
    assert.deepEqual(direct.proxies, []);
  });
});
