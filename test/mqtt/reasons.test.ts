// Why a broker refuses, ends or limits a connection, in words that a person can act on.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { inEnglish, ServiceError } from '../../src/errors.ts';
import texts from '../../src/locales/en-US.json' with { type: 'json' };
import { probeBroker } from '../../src/mqtt/probe.ts';
import {
  brokenOffAgain,
  filterEnds,
  isLackOfRoom,
  isNothingThere,
  isOverrun,
  isOwnEnd,
  isPlainRefusal,
  mayForbidTopic,
  mayLackRoom,
  noSuback,
  type Reason,
  reasonOfCode,
  reasonOfLoss,
  reasonOfRefusals,
  reasonOfSuback,
  UNRELEASED,
} from '../../src/mqtt/reasons.ts';
import type { MqttState } from '../../src/mqtt/state.ts';
import { UpgradeRefusal } from '../../src/mqtt/web-socket.ts';
import type { Session } from '../../src/session.ts';
import { startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { ALL, Collector, mqttSettings, openSession } from '../session.ts';
import { useScriptedBroker } from './scripted.ts';

type Failure = Extract<MqttState, { reason: unknown }>;

/** The first state with a reason. */
function failure(session: Session): Promise<Failure> {
  return new Promise((resolve) => {
    session.onState(({ mqtt }) => {
      if ('reason' in mqtt) {
        resolve(mqtt);
      }
    });
    session.attach();
  });
}

/** How a connection to an address fails, in English. */
async function wordsAt(url: string, changes: Parameters<typeof openSession>[1] = {}): Promise<string> {
  const session = openSession(url, changes);
  const { reason } = await failure(session);
  await session.close();
  return inEnglish(reason);
}

const AT = { broker: 'mqtt://10.0.0.5', protocolVersion: 4 };
const lossOf = (loss: object, place = AT): Reason => reasonOfLoss({ wasConnected: false, ...loss }, place);
const facts = (reason: Reason): string[] => [inEnglish(reason), reason.consequence];
/** As an attempt through a proxy ends. */
const tunnelFault = (reason: string, code: string) =>
  new ServiceError(
    'NETWORK',
    reason,
    { code, proxy: 'p:1' },
    { proxy: 'p:1', host: 'h:2', reason: 'HTTP 407' },
  );

describe('the reason of a refusal or a loss', () => {
  for (const [code, words] of [
    ['ECONNREFUSED', 'nothing answers at 10.0.0.5:1883'],
    ['ENOTFOUND', 'the name 10.0.0.5 cannot be found'],
    ['EAI_AGAIN', 'the name 10.0.0.5 cannot be found'],
    ['ETIMEDOUT', '10.0.0.5:1883 does not answer'],
    ['EHOSTUNREACH', 'there is no way to 10.0.0.5:1883 in this network'],
    ['ENETUNREACH', 'there is no way to 10.0.0.5:1883 in this network'],
    ['CERT_HAS_EXPIRED', 'the certificate of 10.0.0.5 has expired'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'the certificate is for another name than 10.0.0.5'],
    [
      'SELF_SIGNED_CERT_IN_CHAIN',
      'the certificate of 10.0.0.5 is not trusted: add its authority in TLS settings',
    ],
    [
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'the certificate of 10.0.0.5 is not trusted: add its authority in TLS settings',
    ],
    [
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      '10.0.0.5:1883 does not accept the client certificate, or wants one',
    ],
    ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', '10.0.0.5:1883 does not know the ALPN protocol'],
  ] as const) {
    it(`of ${code} is told in words, with the place`, () => {
      assert.equal(inEnglish(lossOf({ error: { code, message: `x ${code} y` } })), words);
    });
  }

  for (const [codes, consequence] of [
    [['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'], 'nextBroker'],
    [['ECONNRESET', 'EPIPE', 'CERT_HAS_EXPIRED', 'EWEIRD'], 'retry'],
  ] as const) {
    it(`tells what follows from ${codes}: ${consequence}`, () => {
      assert.deepEqual(
        new Set(codes.map((code) => lossOf({ error: { code } }).consequence)),
        new Set([consequence]),
      );
    });
  }

  for (const [broker, place] of [
    ['mqtts://broker.example', 'broker.example:8883'],
    ['ws://broker.example/mqtt', 'broker.example:80'],
    ['wss://broker.example/mqtt', 'broker.example:443'],
    ['wss://broker.example:8084/mqtt', 'broker.example:8084'],
    ['mqtt://[::1]:1884', '[::1]:1884'],
    ['no address', 'no address'],
  ] as const) {
    it(`names the place of ${broker} with its port`, () => {
      const reason = lossOf({ error: { code: 'ECONNREFUSED' } }, { ...AT, broker });
      assert.equal(inEnglish(reason), `nothing answers at ${place}`);
    });
  }

  for (const [title, loss, words, consequence] of [
    [
      'no answer to CONNECT',
      { error: new Error('connack timeout') },
      '10.0.0.5:1883 does not answer',
      'nextBroker',
    ],
    [
      'messages that are not released',
      { error: new Error(UNRELEASED), wasConnected: true },
      '64 MB of messages with QoS 2 came that the broker does not release: ask for reports with QoS 1',
      'longWait',
    ],
    [
      'no answer to a ping',
      { error: new Error('Keepalive timeout'), wasConnected: true },
      '10.0.0.5:1883 has been silent for too long',
      'retry',
    ],
    [
      'an end without a word',
      {},
      '10.0.0.5:1883 ended the connection without an answer: it may need encryption (mqtts), or be no MQTT broker',
      'nextBroker',
    ],
    ['an end later on', { wasConnected: true }, '10.0.0.5:1883 broke off the connection', 'retry'],
    [
      'what is no MQTT',
      { error: new Error('Malformed packet') },
      'what answers at 10.0.0.5:1883 does not speak MQTT',
      'retry',
    ],
    [
      'what is no MQTT later on',
      { error: new Error('what the parser says'), wasConnected: true },
      'something on the way was no valid MQTT',
      'retry',
    ],
    ['an unforeseen error', { error: new Error('no invalid packet') }, 'no invalid packet', 'retry'],
    ['an unforeseen code', { error: { code: 'EWEIRD', message: 'Invalid moon' } }, 'Invalid moon', 'retry'],
    [
      'a status 500',
      { error: new UpgradeRefusal(500) },
      '10.0.0.5:1883 takes no WebSocket at the moment: the broker, or a proxy before it, is not ready (HTTP status 500)',
      'nextBroker',
    ],
    [
      'a status 499',
      { error: new UpgradeRefusal(499) },
      '10.0.0.5:1883 takes no WebSocket for MQTT at this path (HTTP status 499)',
      'nextBroker',
    ],
    [
      'a proxy that wants a login',
      { error: tunnelFault('proxyLogin', 'PROXY_LOGIN') },
      'the proxy p:1 asks for a user name and a password, or refuses those that it has (HTTP 407)',
      'longWait',
    ],
    [
      'a proxy that refuses',
      { error: tunnelFault('proxyRefused', 'PROXY_REFUSED') },
      'the proxy p:1 refuses a connection to h:2 (HTTP 407)',
      'retry',
    ],
    ['CONNACK 1', { error: { code: 1 } }, 'the broker does not speak MQTT 3.1.1', 'retry'],
    [
      'a code that means something else later on',
      { error: { code: 0x93 } },
      'more unconfirmed messages than the broker takes: lower Unconfirmed',
      'retry',
    ],
    [
      'packets that MQTT.js finds wrong',
      { error: { code: 0x81 }, wasConnected: true },
      'something on the way was no valid MQTT',
      'retry',
    ],
    [
      'a network that goes while requests are under way',
      { error: { code: 'ENETUNREACH' }, wasConnected: true, underWay: 50 },
      'there is no way to 10.0.0.5:1883 in this network',
      'nextBroker',
    ],
  ] as const) {
    it(`of ${title} tells what can be done, and when it is tried again`, () => {
      assert.deepEqual(facts(lossOf(loss)), [words, consequence]);
    });
  }

  for (const [broker, protocolVersion, words] of [
    ['mqtt://broker', 5, /^broker:1883 ended .* it may not speak MQTT 5, or need encryption/],
    [
      'mqtts://broker',
      5,
      /^broker:8883 ended .* it may not speak MQTT 5, or this port be without encryption/,
    ],
    [
      'mqtts://broker',
      4,
      /^broker:8883 ended .* this port may be without encryption \(mqtt\), or of no MQTT broker$/,
    ],
    [
      'wss://broker/mqtt',
      5,
      /^broker:443 ended .* it may not speak MQTT 5, or this port be without encryption/,
    ],
    ['ws://broker/mqtt', 5, /^broker:80 ended .* it may not speak MQTT 5, or need encryption/],
    ['mqtt://ws:1883', 4, /^ws:1883 ended .* it may need encryption \(mqtts\), or be no MQTT broker$/],
    ['ws://broker', 4, /^broker:80 takes no WebSocket for MQTT at this path$/],
    ['wss://broker', 4, /^broker:443 takes no WebSocket for MQTT at this path$/],
  ] as const) {
    it(`of a silent end at ${broker} is what may be wrong with version ${protocolVersion} there`, () => {
      for (const error of [undefined, { code: 'ECONNRESET' }, { code: 'EPIPE' }]) {
        const reason = lossOf({ error }, { broker, protocolVersion });
        assert.match(inEnglish(reason), words);
        assert.equal(reason.consequence, error ? 'retry' : 'nextBroker');
      }
    });
  }

  it('of a connection that was there and is broken off is no more than that', () => {
    for (const error of [undefined, { code: 'ECONNRESET' }, { code: 'EPIPE' }]) {
      assert.deepEqual(facts(lossOf({ error, wasConnected: true })), [
        '10.0.0.5:1883 broke off the connection',
        'retry',
      ]);
    }
  });

  it('of an address where nobody listens is told from others: a broker may be about to start there', () => {
    const codes = ['ECONNREFUSED', 'ETIMEDOUT', 'ENOTFOUND', 'EHOSTUNREACH', 'ECONNRESET'];
    assert.deepEqual(
      codes.filter((code) => isNothingThere(lossOf({ error: { code } }))),
      ['ECONNREFUSED'],
    );
    assert.equal(isNothingThere(reasonOfCode(3)), false);
  });

  it('takes texts of the broker as one line that is not long', () => {
    const text = `b.example\n[error] forged\u0007${'x'.repeat(50_000)}`;
    const disconnect = { reasonCode: 0x9c, properties: { serverReference: text } };
    for (const loss of [{ disconnect, wasConnected: true }, { error: new Error(text) }]) {
      const words = inEnglish(lossOf(loss));
      assert.match(words, /b\.example \[error\] forged x+…/);
      assert.ok(words.length < 400);
    }
  });

  it('of a connection that was broken off with many requests under way is that they may be too many', () => {
    for (const error of [undefined, { code: 'ECONNRESET' }]) {
      const lost = (underWay: number) => inEnglish(lossOf({ error, wasConnected: true, underWay }));
      assert.match(lost(10), /broke off the connection while 10 requests were under way.*Unconfirmed/);
      assert.equal(lossOf({ error, wasConnected: true, underWay: 10 }).consequence, 'retry');
      assert.match(lost(9), /broke off the connection$/);
    }
    assert.match(
      inEnglish(lossOf({ disconnect: { reasonCode: 142 }, wasConnected: true, underWay: 50 })),
      /^(?!.*under way)/,
    );
  });

  it('of several connections in a row that were broken off is that another client may have the id', () => {
    const lost = lossOf({ error: { code: 'ECONNRESET' }, wasConnected: true });
    assert.match(
      inEnglish(brokenOffAgain(lost, 3)),
      /broke off the connection, 3 times in a row: .* same client id$/,
    );
  });

  it('of more unacknowledged messages than allowed tells whose they were', () => {
    const broker = { disconnect: { reasonCode: 0x93 }, wasConnected: true };
    assert.match(inEnglish(lossOf(broker)), /lower Unconfirmed/);
    const own = {
      error: Object.assign(new Error('Receive Maximum exceeded'), { code: 0x93 }),
      wasConnected: true,
    };
    assert.match(inEnglish(lossOf(own)), /^the broker sent more at once/);
    assert.deepEqual(
      [broker, own].map((loss) => isOverrun(lossOf(loss))),
      [false, true],
    );
  });

  it('has a text for every reason code, and one for codes that nobody knows', () => {
    const known = Object.keys(texts.reason);
    const used = Array.from({ length: 256 }, (_, code) => reasonOfCode(code).key.replace('reason.', ''));
    assert.deepEqual(
      used.filter((name) => !known.includes(name)),
      [],
    );
    assert.equal(inEnglish(reasonOfCode(0xfe)), 'the broker gives the reason 254');
    assert.equal(inEnglish(reasonOfSuback(0x80)), 'subscription refused');
    assert.match(
      inEnglish(reasonOfSuback(0x80, 31)),
      /beside 31 others.*no right.*or the broker allows no more/,
    );
    assert.match(inEnglish(reasonOfSuback(0x80, 8)), /beside 8 others/);
    assert.equal(inEnglish(reasonOfSuback(0x80, 7)), 'subscription refused');
  });

  for (const [reason, isPlain, isRoom, mayBeRoom] of [
    [reasonOfSuback(0x80), true, false, false],
    [reasonOfSuback(0x80, 8), false, false, true],
    [reasonOfSuback(0x97), false, true, true],
    [reasonOfSuback(0x8f), false, false, false],
    [noSuback(), false, false, false],
    [filterEnds(), false, false, false],
  ] as const) {
    it(`${inEnglish(reason).slice(0, 40)}: ${mayBeRoom ? 'there may be no room' : 'it is not for lack of room'}`, () => {
      assert.deepEqual(
        [isPlainRefusal(reason), isLackOfRoom(reason), mayLackRoom(reason), reason.consequence],
        [isPlain, isRoom, mayBeRoom, 'retry'],
      );
    });
  }

  it('of several refused filters is that of the first, with the number of the others', () => {
    const first = ['mt/a', noSuback()] as const;
    assert.equal(
      inEnglish(reasonOfRefusals(new Map([first]))),
      'mt/a: the broker does not answer the subscription',
    );
    assert.equal(
      inEnglish(reasonOfRefusals(new Map([first, ['mt/b', filterEnds()], ['mt/c', filterEnds()]]))),
      'mt/a and 2 more: the broker does not answer the subscription',
    );
    assert.equal(
      inEnglish(reasonOfRefusals(new Map([['mt/b', filterEnds()]]))),
      'mt/b: the broker ends the connection when it is subscribed',
    );
  });

  it('of an end because of what came is this side’s own: the broker was asked for nothing wrong', () => {
    for (const error of [new Error('Invalid header'), { code: 0x81 }, {}]) {
      assert.equal(isOwnEnd({ error }), true);
      assert.equal(isOwnEnd({ error, disconnect: { reasonCode: 0x81 } }), false);
    }
    for (const error of [
      undefined,
      { code: 'ECONNRESET' },
      new Error('Malformed suback'),
      new Error('SUBACK'),
    ]) {
      assert.equal(isOwnEnd({ error }), false);
    }
  });

  it('of an end may be the topic of a publish, unless the broker or this side names something else', () => {
    const forbids = [
      undefined,
      {},
      { reasonCode: 0 },
      ...[0x80, 0x83, 0x87, 0x90].map((reasonCode) => ({ reasonCode })),
    ];
    for (const disconnect of forbids) {
      assert.equal(mayForbidTopic(disconnect ? { disconnect } : {}), true);
    }
    // Receive Maximum, shutting down, taken over, a filter, administrative action.
    for (const reasonCode of [0x8b, 0x8e, 0x8f, 0x93, 0x98]) {
      assert.equal(mayForbidTopic({ disconnect: { reasonCode } }), false);
    }
    assert.equal(mayForbidTopic({ error: { code: 'ECONNRESET' } }), true);
    assert.equal(mayForbidTopic({ error: new Error('Invalid header') }), false);
  });

  for (const [codes, consequence] of [
    [[4, 5, 134, 135, 138, 140], 'refused'],
    [[3, 136, 137, 139, 156, 157, 159], 'nextBroker'],
    [[142], 'longWait'],
    [[1, 2, 149, 151, 0xfe], 'retry'],
  ] as const) {
    it(`tells what follows from the codes ${codes}: ${consequence}`, () => {
      assert.deepEqual(new Set(codes.map((code) => reasonOfCode(code).consequence)), new Set([consequence]));
    });
  }

  it('takes a DISCONNECT because of one topic for no fault of the credentials', () => {
    const reason = lossOf({ disconnect: { reasonCode: 135 }, wasConnected: true });
    assert.deepEqual([reason.key, reason.consequence], ['reason.notAuthorized', 'retry']);
    const banned = lossOf({ disconnect: { reasonCode: 138 }, wasConnected: true });
    assert.deepEqual([banned.key, banned.consequence], ['reason.banned', 'refused']);
  });

  it('names the server that the broker asks to use', () => {
    const disconnect = { reasonCode: 156, properties: { serverReference: 'two.example' } };
    assert.deepEqual(facts(lossOf({ disconnect })), [
      'the broker asks to use another server: two.example',
      'nextBroker',
    ]);
  });

  it('repeats the words of an error that nobody has foreseen', () => {
    assert.equal(inEnglish(lossOf({ error: new Error('the moon is full') })), 'the moon is full');
    assert.equal(inEnglish(lossOf({ error: { code: 'EWEIRD' } })), 'EWEIRD');
  });

  describe('at what is no MQTT broker', () => {
    const servers: Server[] = [];
    const sockets = new Set<Socket>();
    const listen = async (server: Server): Promise<number> => {
      servers.push(server);
      server.on('connection', (socket: Socket) => {
        sockets.add(socket);
        socket.on('error', () => {});
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    };
    const http = () => listen(createHttpServer((_, response) => response.writeHead(404).end()));
    afterEach(() => {
      for (const socket of sockets) {
        socket.destroy();
      }
      for (const server of servers.splice(0)) {
        server.close();
      }
    });

    it('says that a web server does not speak MQTT', async () => {
      const port = await http();
      assert.equal(
        await wordsAt(`mqtt://127.0.0.1:${port}`),
        `what answers at 127.0.0.1:${port} does not speak MQTT`,
      );
    });

    it('says that a port without encryption does not speak TLS, without a dump of OpenSSL', async () => {
      const port = await http();
      for (const scheme of ['mqtts', 'wss']) {
        assert.equal(
          await wordsAt(`${scheme}://127.0.0.1:${port}`),
          `what answers at 127.0.0.1:${port} does not speak TLS`,
        );
      }
    });

    it('says that a path takes no WebSocket', async () => {
      assert.match(
        await wordsAt(`ws://127.0.0.1:${await http()}/x`),
        /takes no WebSocket for MQTT at this path/,
      );
    });

    for (const [status, words, name] of [
      [200, /takes no WebSocket for MQTT at this path/, 'waiting'],
      [301, /takes no WebSocket for MQTT at this path/, 'waiting'],
      [404, /takes no WebSocket for MQTT at this path/, 'waiting'],
      [401, /wants a login, or does not accept the signature/, 'refused'],
      [403, /wants a login, or does not accept the signature/, 'refused'],
      [429, /takes no WebSocket at the moment: the broker, or a proxy before it/, 'waiting'],
      [502, /takes no WebSocket at the moment: the broker, or a proxy before it/, 'waiting'],
      [503, /takes no WebSocket at the moment: the broker, or a proxy before it/, 'waiting'],
    ] as const) {
      it(`tells what ${status} means in place of a WebSocket`, async () => {
        for (const rest of ['content-length: 0\r\nconnection: close', 'content-length: 500']) {
          const answer = `HTTP/1.1 ${status} X\r\nlocation: /y\r\n${rest}\r\n\r\n`;
          const refusing = createHttpServer().on('upgrade', (_, socket) => socket.write(answer));
          const url = `ws://127.0.0.1:${await listen(refusing)}/mqtt?token=secret`;
          for (const protocolVersion of [4, 5] as const) {
            const session = openSession(url, { protocolVersion });
            const state = await failure(session);
            await session.close();
            const told = inEnglish(state.reason);
            assert.match(told, words);
            assert.match(told, new RegExp(`\\(HTTP status ${status}\\)$`));
            assert.equal(state.name, name);
          }
        }
      });
    }

    it('says that a port may need encryption where it ends the connection without a word', async () => {
      const port = await listen(createTlsServer().on('tlsClientError', () => {}));
      assert.match(await wordsAt(`mqtt://127.0.0.1:${port}`), /may need encryption/);
    });

    it('says that a broker which only ends the connection may not speak MQTT 5', async () => {
      const port = await listen(createServer((socket) => socket.once('data', () => socket.end())));
      assert.match(await wordsAt(`mqtt://127.0.0.1:${port}`, { protocolVersion: 5 }), /may not speak MQTT 5/);
    });

    it('says that a broker of MQTT 3.1.1 does not speak MQTT 5, as its CONNACK has it', async () => {
      const refusal = Buffer.from([0x20, 2, 0, 1]);
      const port = await listen(createServer((socket) => socket.once('data', () => socket.end(refusal))));
      assert.equal(
        await wordsAt(`mqtt://127.0.0.1:${port}`, { protocolVersion: 5 }),
        'the broker does not speak MQTT 5',
      );
    });
  });

  it('is that of a DISCONNECT, although the socket is reset after it', async () => {
    const connack = Buffer.from([0x20, 3, 0, 0, 0]);
    const disconnect = Buffer.from([0xe0, 2, 0x97, 0]);
    const publish = Buffer.from([0x32, 7, 0, 1, 0x61, 0, 1, 0, 0x78]);
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => {
        if (data[0] === 0x10) {
          socket.write(Buffer.concat([connack, disconnect, publish]));
        } else if (data.includes(0x40)) {
          socket.resetAndDestroy();
        }
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    assert.equal(
      await wordsAt(`mqtt://127.0.0.1:${port}`, { protocolVersion: 5 }),
      'a quota of the broker is used up',
    );
    server.close();
  });

  describe('at a broker', () => {
    const bench = useScriptedBroker();

    for (const [code, name, words] of [
      [0x86, 'refused', 'user name or password is wrong'],
      [0x8a, 'refused', 'the broker has banned this client'],
      [0x89, 'waiting', 'the broker is busy'],
    ] as const) {
      it(`is told when it answers CONNECT with ${code}`, async () => {
        bench.broker.options.connackCode = code;
        const { reason, ...state } = await failure(bench.open({ protocolVersion: 5 }));
        assert.deepEqual([state.name, inEnglish(reason)], [name, words]);
      });
    }

    it('tries the next address when the first one is busy', async () => {
      let connects = 0;
      bench.broker.options.connackCode = () => (connects++ === 0 ? 0x89 : 0);
      const brokers = [bench.broker.url, bench.broker.url.replace('127.0.0.1', 'localhost')];
      bench.open({ protocolVersion: 5, brokers }).attach();
      const start = performance.now();
      await bench.broker.until(({ sessions }) => sessions.size > 0);
      assert.ok(performance.now() - start < 900);
    });

    it('waits long after another client with the same id has come, so that they do not evict each other for ever', async () => {
      const session = bench.open({ protocolVersion: 5 });
      const failed = failure(session);
      await bench.broker.until(({ sessions }) => sessions.size > 0);
      bench.broker.disconnect(0x8e);
      const { name, reason } = await failed;
      assert.equal(name, 'waiting');
      assert.equal(inEnglish(reason), 'another client has connected with the same client id');
      assert.equal(bench.broker.connections.length, 1);
    });

    it('names the filter that is refused, and why', async () => {
      bench.broker.options.refuses = () => 0x87;
      const session = bench.open({ protocolVersion: 5 });
      const failed = failure(session);
      session.subscribe(ALL, new Collector());
      const { name, reason } = await failed;
      assert.equal(name, 'limited');
      assert.equal(inEnglish(reason), 'mt/gateway/+/device/+/#: not allowed for this user');
    });

    it('is what Test connection tells', async () => {
      bench.broker.options.connackCode = 5;
      const { ok, text } = await probeBroker(mqttSettings(bench.broker.url));
      assert.equal(ok, false);
      assert.equal(inEnglish(text), 'check.noBroker');
      assert.equal(inEnglish(text.values.reason as Reason), 'not allowed for this user');
    });
  });

  it('is told in words by a real Mosquitto that wants a login', async function () {
    requirePrograms(this, 'mosquitto');
    const mosquitto = await startMosquitto(['allow_anonymous false']);
    try {
      assert.equal(await wordsAt(mosquitto.url), 'not allowed for this user');
      assert.equal(await wordsAt(mosquitto.url, { protocolVersion: 5 }), 'not allowed for this user');
    } finally {
      await mosquitto.stop();
    }
  });
});
