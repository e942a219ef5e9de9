// The WebSocket of a broker: its options, the way through a proxy, and what is told of a server that refuses it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { WebSocket, WebSocketServer } from 'ws';
import type { ServiceError } from '../../src/errors.ts';
import { UpgradeRefusal, webSocketOptions } from '../../src/mqtt/web-socket.ts';
import type { MqttSettings, TlsSettings } from '../../src/settings.ts';
import { type Certificates, makeCertificates } from '../faults/certificates.ts';
import { refuse, startProxy, type TestProxy } from '../proxy/server.ts';
import { requirePrograms } from '../requirements.ts';
import { mqttSettings } from '../session.ts';

describe('the WebSocket of a broker', () => {
  const servers: Server[] = [];
  const clients: WebSocket[] = [];
  let proxy: TestProxy;

  beforeEach(async () => {
    proxy = await startProxy();
  });
  afterEach(async () => {
    mock.timers.reset();
    for (const client of clients.splice(0)) {
      client.terminate();
    }
    for (const server of servers.splice(0)) {
      server.close();
      server.closeAllConnections();
    }
    await proxy.stop();
  });

  /** @returns its port */
  async function listen(server: Server): Promise<number> {
    servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  }

  function optionsOf(url: string, changes: Partial<MqttSettings> = {}, { signal } = new AbortController()) {
    return webSocketOptions(mqttSettings(url, changes), url, url.startsWith('wss'), signal);
  }

  /** @returns what it ends in: the error, or nothing */
  function open(url: string, changes: Partial<MqttSettings> = {}, control?: AbortController) {
    const client = new WebSocket(url, 'mqtt', optionsOf(url, changes, control) as object);
    clients.push(client);
    return new Promise<Error | undefined>((resolve) => {
      client.once('open', () => resolve(undefined));
      client.once('error', resolve);
    });
  }

  const through = () => ({ proxy: { addresses: { ws: proxy.url, wss: proxy.url }, exceptions: '' } });

  it('takes messages as large as a packet of MQTT can be', () => {
    assert.equal(optionsOf('ws://localhost').maxPayload, 268_435_460);
  });

  it('has the TLS settings where it is secure, and no way of its own without a proxy', () => {
    const tls = { servername: 'broker', rejectUnauthorized: false };
    const namesOf = (url: string, changes = {}) => Object.keys(optionsOf(url, { tls, ...changes })).sort();
    const plain = ['autoSelectFamilyAttemptTimeout', 'finishRequest', 'maxPayload'];
    assert.deepEqual(namesOf('ws://localhost'), plain);
    const secure = [...plain, 'rejectUnauthorized', 'servername'];
    assert.deepEqual(namesOf('wss://localhost'), secure);
    assert.deepEqual(namesOf('wss://localhost', through()), [...secure, 'createConnection'].sort());
  });

  it('opens at a server that takes it', async () => {
    const server = createServer();
    new WebSocketServer({ server });
    assert.equal(await open(`ws://localhost:${await listen(server)}`), undefined);
  });

  it('tells the status of a server that answers as if it were asked for a page', async () => {
    const server = createServer((_, response) => response.writeHead(404).end('no such page'));
    const error = await open(`ws://localhost:${await listen(server)}`);
    assert.ok(error instanceof UpgradeRefusal);
    assert.deepEqual([error.code, error.status, error.message], ['UPGRADE_REFUSED', 404, 'HTTP status 404']);
  });

  it('opens through a proxy', async () => {
    const server = createServer();
    new WebSocketServer({ server });
    const port = await listen(server);
    assert.equal(await open(`ws://localhost:${port}`, through()), undefined);
    assert.deepEqual(proxy.asked, [`localhost:${port}`]);
  });

  it('tells what the proxy refuses', async () => {
    proxy.answer = refuse('403 Forbidden');
    assert.match(`${await open('ws://localhost:9', through())}`, /refuses a connection to localhost:9 /);
  });

  it('names a proxy that does not answer within 9 seconds', async () => {
    proxy.answer = () => {};
    mock.timers.enable({ apis: ['setTimeout'] });
    const opened = open('ws://localhost:9', through());
    await proxy.connected(1);
    let isOver = false;
    void opened.then(() => {
      isOver = true;
    });
    mock.timers.tick(8_999);
    await new Promise(setImmediate);
    assert.equal(isOver, false);
    mock.timers.tick(1);
    assert.match(`${await opened}`, /within 9 s$/);
  });

  it('ends at once while the proxy is silent', async () => {
    proxy.answer = () => {};
    const control = new AbortController();
    const opened = open('ws://localhost:9', through(), control);
    await proxy.connected(1);
    control.abort();
    assert.equal(((await opened) as ServiceError).code, 'CLOSED');
    await proxy.idle();
  });

  describe('over TLS through a proxy', () => {
    let certificates: Certificates;
    let port: number;
    /** Of each connection: server name, protocol, and who the client is. */
    let seen: unknown[][];

    before(async function () {
      requirePrograms(this, 'openssl');
      certificates = await makeCertificates();
    });
    beforeEach(async () => {
      seen = [];
      const asked = {
        requestCert: true,
        rejectUnauthorized: false,
        ALPNProtocols: ['mqtt-here', 'http/1.1'],
      };
      const server = createSecureServer({ ...certificates.server, ca: certificates.ca, ...asked });
      server.on('secureConnection', (socket: TLSSocket) =>
        seen.push([
          (socket as TLSSocket & { servername?: string }).servername,
          socket.alpnProtocol,
          socket.getPeerCertificate().subject?.CN,
        ]),
      );
      new WebSocketServer({ server });
      port = await listen(server);
    });

    const outcome = async (host: string, tls: TlsSettings) =>
      (await open(`wss://${host}:${port}`, { ...through(), tls }))?.message;

    it('asks for the host by its name, and opens where the authority is known', async () => {
      assert.equal(await outcome('localhost', { ca: certificates.ca }), undefined);
      assert.deepEqual(seen, [['localhost', false, undefined]]);
      assert.deepEqual(proxy.asked, [`localhost:${port}`]);
    });

    it('has all of the TLS settings', async () => {
      const tls = { ca: certificates.ca, servername: 'localhost', ALPNProtocols: ['mqtt-here'] };
      assert.equal(await outcome('127.0.0.1', { ...tls, ...certificates.client }), undefined);
      assert.deepEqual(seen, [['localhost', 'mqtt-here', 'client']]);
    });

    it('asks for no name where the host is an address', async () => {
      assert.equal(await outcome('127.0.0.1', { rejectUnauthorized: false }), undefined);
      assert.deepEqual(seen, [[false, false, undefined]]);
    });

    it('does not open where the certificate is of another host, or of an unknown authority', async () => {
      assert.match((await outcome('127.0.0.1', { ca: certificates.ca })) ?? '', /IP: 127\.0\.0\.1 is not in/);
      assert.match((await outcome('localhost', {})) ?? '', /certificate/);
    });
  });
});
