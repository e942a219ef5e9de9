// Good and bad runs at the most talkative log level: no secret shows up anywhere.
import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type Broker, startAedes } from '../brokers.ts';
import {
  type FlowMessage,
  type NodeConfig,
  type NodeRed,
  source,
  startNodeRed,
  VERSIONS,
} from '../e2e/node-red.ts';
import { isReady } from '../e2e/site.ts';
import { requirePrograms } from '../requirements.ts';
import { type Arrived, json, startServer, type TestServer } from '../rest/server.ts';
import { type Certificates, makeCertificates } from './certificates.ts';
import { type Field, GATEWAY, openField } from './field.ts';

/** Passwords with characters that every encoding spells differently. */
const PASSWORDS = {
  rest: 'sesame/"rest" ä+1',
  broker: 'sesame/"broker" ä+1',
  wrongRest: 'sesame/"wrong rest" ä+1',
  wrongBroker: 'sesame/"wrong broker" ä+1',
  passphrase: 'sesame/"passphrase" ä+1',
  wrongPassphrase: 'sesame/"wrong passphrase" ä+1',
};
const KEYS = { read: '5e5a3e00112233445566778899aabb01', typed: '5e5a3e00112233445566778899aabb02' };
/** Not hex, so refused. */
const MALFORMED_KEY = 'sesame-malformed-key';

/** Every spelling in which a secret could leave. */
function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const inJson = JSON.stringify(secret).slice(1, -1);
  const inUrl = encodeURIComponent(secret);
  const base64 = bytes.toString('base64').replace(/=+$/, '');
  const inside = JSON.stringify(inJson).slice(1, -1);
  return [secret, inJson, inside, inUrl, inUrl.replaceAll('%20', '+'), base64, bytes.toString('base64url')];
}

describe('secrets', function () {
  this.timeout(60_000);
  let certificates: Certificates;
  let rest: TestServer;
  let secure: TestServer;
  let broker: Broker;
  let field: Field;
  let red: NodeRed;
  const brokerLogins = new Set<string>();
  /** All that came out of the flows: statuses and caught errors. */
  const messages: FlowMessage[] = [];
  const answers: string[] = [];

  before(async function () {
    this.timeout(180_000);
    requirePrograms(this, 'openssl');
    certificates = await makeCertificates();
    rest = await startServer(echo);
    const { login } = rest;
    rest.login = (request, response) => {
      if (request.body.includes('wrong')) {
        json(response, { sent: request.body }, 401);
      } else {
        login(request, response);
      }
    };
    secure = await startServer(echo, certificates.server);
    broker = await startAedes({
      authenticate: ({ id }, _, password, done) => {
        const given = password?.toString() ?? '';
        brokerLogins.add(given);
        const isAllowed = id === GATEWAY || given === PASSWORDS.broker;
        done(isAllowed ? null : Object.assign(new Error('no'), { returnCode: 4 }), isAllowed);
      },
    });
    field = await openField(broker.url);
    const logging = { console: { level: 'trace', metrics: false, audit: true } };
    red = await startNodeRed(VERSIONS[0]!, { logging });
    // The rest of a message is the flow's own: also the key that the flow put there.
    red.process.on('message', ({ msg: { status, error } }: { msg: FlowMessage }) =>
      messages.push({ status, error }),
    );
  });
  after(async () => {
    await red?.stop();
    await field?.close();
    await broker?.stop();
    await Promise.all([rest?.stop(), secure?.stop()]);
  });

  /** Sends back whatever it was sent, in a body and in headers. */
  function echo({ url, headers, body }: Arrived, response: ServerResponse): void {
    const token = String(headers.authorization);
    const said = {
      url,
      body,
      token,
      headers,
      password: PASSWORDS.rest,
      encoded: encodeURIComponent(PASSWORDS.rest),
    };
    if (url.includes('/devices?')) {
      response.end(`not JSON: ${JSON.stringify(said)}`);
    } else if (url.includes('redirected')) {
      json(response, said, 302, { location: `/elsewhere?token=${token}` });
    } else {
      json(response, said, 500, { 'x-token': token });
    }
  }

  /** A service with nodes that use both halves. */
  function part(id: string, config: object, credentials: Record<string, string>): NodeConfig[] {
    const request = { service: id, wires: [[]] };
    return [
      { id, type: 'mt-service', httpRetries: 0, ...config, credentials },
      source(`ask-${id}`, [`rename-${id}`, `label-${id}`, `call-${id}`, `list-${id}`, `read-${id}`]),
      { id: `in-${id}`, type: 'mt-report-in', ...request },
      { id: `rename-${id}`, type: 'mt-rename', ...request },
      { id: `label-${id}`, type: 'mt-label', action: 'create', ...request },
      {
        id: `call-${id}`,
        type: 'mt-service-request',
        path: 'redirected',
        pathType: 'str',
        method: 'GET',
        ...request,
      },
      { id: `list-${id}`, type: 'mt-device-list', ...request },
      {
        ...{
          id: `read-${id}`,
          type: 'mt-gw-read',
          identifier: '8001',
          identifierType: 'str',
          timeout: 1_000,
        },
        ...{ ...request, credentials: { key: KEYS.read } },
      },
    ];
  }

  function tlsNode(id: string, passphrase: string): NodeConfig {
    const cipher = { cipher: 'aes-256-cbc', passphrase: PASSWORDS.passphrase } as const;
    const key = createPrivateKey(certificates.client.key).export({ type: 'pkcs8', format: 'pem', ...cipher });
    const data = { certdata: certificates.client.cert, keydata: String(key), cadata: certificates.otherCa };
    return { id, type: 'tls-config', verifyservercert: true, credentials: { ...data, passphrase } };
  }

  function flow(): NodeConfig[] {
    const plain = { authUrl: rest.url, baseUrl: rest.url, brokerUrl: broker.url };
    const tls = { authUrl: secure.url, baseUrl: secure.url, brokerUrl: secure.url.replace('https', 'mqtts') };
    const right = {
      username: 'anna',
      password: PASSWORDS.rest,
      mqttUsername: 'bob',
      mqttPassword: PASSWORDS.broker,
    };
    const wrong = { ...right, password: PASSWORDS.wrongRest, mqttPassword: PASSWORDS.wrongBroker };
    return [
      ...part('good', plain, right),
      ...part('wrong', plain, wrong),
      tlsNode('tls', PASSWORDS.passphrase),
      ...part('unknown', { ...tls, tls: 'tls' }, right),
      tlsNode('locked-tls', PASSWORDS.wrongPassphrase),
      ...part('locked', { ...tls, tls: 'locked-tls' }, right),
      source('crash', ['crashing']),
      {
        id: 'crashing',
        type: 'function',
        func: 'Promise.reject(new Error("crash of a flow"));',
        wires: [[]],
      },
    ];
  }

  const SERVICES = ['good', 'wrong', 'unknown', 'locked'];
  const REST_NODES = ['rename', 'label', 'call', 'list'];

  /** Asks the admin API, and keeps what it says, refusals too. */
  async function ask(method: string, path: string, body?: unknown): Promise<void> {
    const response = await fetch(`${red.url}/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    answers.push(await response.text());
  }

  it('are in no log, status, error, export or answer of the admin API, whatever fails', async () => {
    await red.deploy(flow());
    await red.status('in-good', isReady);
    for (const service of SERVICES) {
      red.send(`ask-${service}`, { device: GATEWAY, gateway: GATEWAY, payload: 'a name' });
      for (const node of REST_NODES) {
        await red.caught(`${node}-${service}`);
      }
      if (service !== 'good') {
        await red.caught(`read-${service}`);
        await red.status(`in-${service}`, ({ fill, text }) => fill !== 'green' && /[:_]/.test(String(text)));
      }
    }
    const key = KEYS.typed;
    red.send('ask-good', { gateway: GATEWAY, device: GATEWAY, identifier: '8001', key, payload: 'a name' });
    red.send('ask-good', { gateway: GATEWAY, device: GATEWAY, key: MALFORMED_KEY, payload: 'a name' });
    await red.caught('read-good');

    for (const path of ['flows', 'flow/tab', 'flow/global', 'settings', 'nodes', 'diagnostics']) {
      await ask('GET', path);
    }
    for (const service of SERVICES) {
      await ask('GET', `credentials/mt-service/${service}`);
      await ask('GET', `credentials/mt-gw-read/read-${service}`);
      for (const what of ['devices', 'labels', 'seen']) {
        await ask('GET', `mt-service/${service}/${what}`);
      }
      await ask('POST', `mt-service/${service}/preview`, {});
    }
    for (const config of flow().filter(({ type }) => type === 'mt-service')) {
      await ask('POST', 'mt-service/test', config);
    }

    const ended = once(red.process, 'exit');
    red.send('crash', {});
    await ended;

    const tokens = [...rest.tokens, ...secure.tokens];
    // Else this test would prove nothing.
    assert.ok(tokens.length > 0 && rest.logins.some(({ body }) => body.includes('wrong')));
    assert.ok(brokerLogins.has(PASSWORDS.broker) && brokerLogins.has(PASSWORDS.wrongBroker));
    assert.match(red.log(), /crash of a flow/);
    assert.match(red.log(), /\[trace\]/);

    const texts = { log: red.log(), messages: JSON.stringify(messages), answers: answers.join('\n') };
    const keyLines = flow()
      .flatMap(({ credentials }) => credentials?.keydata?.split('\n') ?? [])
      .filter((line) => line.length > 40);
    const secrets = [
      ...Object.values(PASSWORDS),
      ...Object.values(KEYS),
      MALFORMED_KEY,
      ...tokens,
      ...keyLines,
    ];
    for (const [place, text] of Object.entries(texts)) {
      const found = secrets.flatMap(spellings).filter((spelling) => text.includes(spelling));
      const around = found.map((spelling) =>
        text.slice(Math.max(0, text.indexOf(spelling) - 200)).slice(0, 400),
      );
      assert.deepEqual(around, [], place);
    }
  });
});
