// TLS to broker and REST service: who is let in, who is not, and that nothing but the setting turns checks off.
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { Aedes } from 'aedes';
import { inEnglish, type Phrase, type ServiceError } from '../../src/errors.ts';
import type { TlsSettings } from '../../src/settings.ts';
import { requirePrograms } from '../requirements.ts';
import { createClient, createClock, json, startServer } from '../rest/server.ts';
import { openSession } from '../session.ts';
import { type Certificates, makeCertificates } from './certificates.ts';

interface Case {
  title: string;
  server(certificates: Certificates): TlsOptions;
  client(certificates: Certificates): TlsSettings | undefined;
  /** Undefined: let in. Else what either protocol says. */
  refused?: RegExp;
}

const UNKNOWN = /UNABLE_TO_VERIFY|unable to verify|CERT|certificate/;
/** The server's alert may come before or after its end of the connection. */
const TURNED_AWAY = /ECONNRESET|ERR_SSL|alert|closed|client certificate|secure connection|broke off|ended/;
const MUTUAL = { requestCert: true, rejectUnauthorized: true };

const CASES: Case[] = [
  {
    title: 'a server of the CA in the settings',
    server: ({ server }) => server,
    client: ({ ca }) => ({ ca }),
  },
  {
    title: 'a server of an unknown CA, without any setting',
    server: ({ server }) => server,
    client: () => undefined,
    refused: UNKNOWN,
  },
  {
    title: 'a server of another CA',
    server: ({ server }) => server,
    client: ({ otherCa }) => ({ ca: otherCa }),
    refused: UNKNOWN,
  },
  {
    title: 'an expired certificate',
    server: ({ expired }) => expired,
    client: ({ ca }) => ({ ca }),
    refused: /EXPIRED|expired/,
  },
  {
    title: 'a certificate for another host',
    server: ({ mismatched }) => mismatched,
    client: ({ ca }) => ({ ca }),
    refused: /ALTNAME|altnames|another name/,
  },
  {
    title: 'any certificate when, and only when, the settings say so',
    server: ({ expired }) => expired,
    client: () => ({ rejectUnauthorized: false }),
  },
  {
    title: 'a server that asks for a certificate, with one',
    server: ({ server, ca }) => ({ ...server, ca, ...MUTUAL }),
    client: ({ ca, client }) => ({ ca, ...client }),
  },
  {
    title: 'a server that asks for a certificate, without one',
    server: ({ server, ca }) => ({ ...server, ca, ...MUTUAL }),
    client: ({ ca }) => ({ ca }),
    refused: TURNED_AWAY,
  },
  {
    title: 'a server that asks for a certificate, with a stranger’s',
    server: ({ server, ca }) => ({ ...server, ca, ...MUTUAL }),
    client: ({ ca, stranger }) => ({ ca, ...stranger }),
    refused: TURNED_AWAY,
  },
];

/** An encrypted copy of a private key. */
const encrypted = (key: string) =>
  createPrivateKey(key).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'right' });

/** What is wrong on this side, by the words for it. */
const OWN_FAULTS: [title: string, client: (made: Certificates) => TlsSettings, words: RegExp][] = [
  [
    'a wrong passphrase',
    ({ client }) => ({ ...client, key: encrypted(client.key), passphrase: 'secret-but-wrong' }),
    /^the passphrase in TLS settings is missing or does not open the private key \([\w ]+\)$/,
  ],
  [
    'no passphrase',
    ({ client }) => ({ ...client, key: Buffer.from(encrypted(client.key)) }),
    /^the passphrase in TLS settings is missing or does not open the private key \([\w ]+\)$/,
  ],
  [
    'a key that does not fit the certificate',
    ({ client, stranger }) => ({ cert: client.cert, key: stranger.key }),
    /^the private key in TLS settings does not belong to the certificate there \(key values mismatch\)$/,
  ],
  [
    'a certificate in the place of the key',
    ({ client }) => ({ cert: client.cert, key: client.cert }),
    /^the private key in TLS settings cannot be used \([\w ]+\)$/,
  ],
  [
    'a key in the place of the certificate',
    ({ client }) => ({ cert: client.key, key: client.key }),
    /^the certificate in TLS settings cannot be used \(no start line\)$/,
  ],
  [
    'a broken PFX',
    () => ({ pfx: Buffer.from('broken'), passphrase: 'secret' }),
    /^the certificate files in TLS settings cannot be used \(not enough data\)$/,
  ],
];

describe('TLS', () => {
  let certificates: Certificates;
  before(async function () {
    requirePrograms(this, 'openssl');
    certificates = await makeCertificates();
  });

  for (const { title, server, client, refused } of CASES) {
    it(`to a broker ${refused ? 'refuses' : 'accepts'} ${title}`, async () => {
      const aedes = await Aedes.createBroker();
      const sockets: TLSSocket[] = [];
      const listener = createServer(server(certificates), (socket) => {
        sockets.push(socket);
        socket.on('error', () => {});
        aedes.handle(socket);
      }).listen(0, '127.0.0.1');
      await once(listener, 'listening');
      const { port } = listener.address() as AddressInfo;
      const tls = client(certificates);
      const session = openSession(`mqtts://localhost:${port}`, {
        ...(tls && { tls }),
        password: 'no',
        username: 'u',
      });
      let logins = 0;
      aedes.authenticate = (_, __, ___, done) => {
        logins++;
        done(null, true);
      };
      session.attach();
      const state = await outcome(session);
      assert.equal(state.name, refused ? 'waiting' : 'connected', JSON.stringify(state));
      if (refused) {
        assert.match(inEnglish((state as { reason: Phrase }).reason), refused);
      }
      assert.equal(logins, refused ? 0 : 1);
      await session.close();
      for (const socket of sockets) {
        socket.destroy();
      }
      listener.close();
      await new Promise<void>((resolve) => aedes.close(() => resolve()));
    });

    it(`to the REST service ${refused ? 'refuses' : 'accepts'} ${title}`, async () => {
      const options = server(certificates) as { key: string; cert: string };
      const rest = await startServer((_, response) => json(response, { items: [] }), options);
      const tls = client(certificates);
      const caller = createClient(rest.url, { ...(tls && { tls }), retries: 0 });
      const call = caller.call('listDevices', {});
      if (refused) {
        await assert.rejects(call, (error: { code: string; cause: { code: string } }) => {
          assert.equal(error.code, 'NETWORK');
          assert.match(error.cause.code, refused);
          return true;
        });
      } else {
        await call;
      }
      assert.equal(rest.logins.length, refused ? 0 : 1);
      await caller.close();
      await rest.stop();
    });
  }

  for (const [title, client, words] of OWN_FAULTS) {
    it(`tells ${title} as a fault of this side, which asks nobody`, async () => {
      const { ca, server } = certificates;
      let connections = 0;
      const listener = createServer(server)
        .on('connection', () => connections++)
        .listen(0, '127.0.0.1');
      await once(listener, 'listening');
      const { port } = listener.address() as AddressInfo;
      const tls = { ca, ...client(certificates) };
      for (const scheme of ['mqtts', 'wss']) {
        const session = openSession(`${scheme}://localhost:${port}`, { tls });
        session.attach();
        const state = await outcome(session);
        await session.close();
        assert.equal(state.name, 'waiting');
        assert.match(inEnglish((state as { reason: Phrase }).reason), words, scheme);
      }
      const clock = createClock();
      const caller = createClient(`https://localhost:${port}`, { tls, retries: 3 }, clock);
      await assert.rejects(caller.call('listDevices', {}), ({ code, message }: ServiceError) => {
        assert.equal(code, 'NETWORK');
        assert.match(message, words);
        return true;
      });
      await caller.close();
      listener.close();
      assert.deepEqual([connections, clock.waits], [0, []]);
    });
  }

  it('asks for no certificate files where nothing is encrypted', async () => {
    const rest = await startServer((_, response) => json(response, { items: [] }));
    const caller = createClient(rest.url, { tls: { key: 'broken', cert: 'broken' }, retries: 0 });
    await caller.call('listDevices', {});
    await caller.close();
    await rest.stop();
  });
});

/** The first state that is more than an attempt. */
async function outcome(session: ReturnType<typeof openSession>) {
  return new Promise<ReturnType<typeof openSession>['state']['mqtt']>((resolve) => {
    let stop = () => {};
    stop = session.onState(({ mqtt }) => {
      if (mqtt.name === 'idle' || mqtt.name === 'connecting') {
        return;
      }
      queueMicrotask(() => stop());
      resolve(mqtt);
    });
  });
}
