// Every property of mt-service, each by what would be missing if it had no effect.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createServer, type TLSSocket } from 'node:tls';
import { Aedes } from 'aedes';
import type { NodeAPI } from 'node-red';
import type { ServiceOptions } from '../../simulator/src/options.ts';
import { type Service, startService } from '../../simulator/src/service.ts';
import { makeCertificates } from '../faults/certificates.ts';
import { type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { json, startServer } from '../rest/server.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow, type Message } from './flow.ts';

const IN = { id: 'in', type: 'mt-report-in' };
const READ = { id: 'read', type: 'mt-gw-read' };
const LABEL = { id: 'label', type: 'mt-label' };
const LIST = { id: 'list', type: 'mt-device-list' };
const TIME = '2025-01-02T03:04:05.678Z';
const NOBODY = 'mqtt://127.0.0.1:1';

const load = createRequire(`${process.cwd()}/`);
const tlsConfig = load('@node-red/nodes/core/network/05-tls.js') as (RED: NodeAPI) => void;

describeNodes('the property of mt-service', (start) => {
  let box: Service;
  let mosquitto: Mosquitto | undefined;

  afterEach(async () => {
    await box?.close();
    await mosquitto?.stop();
    mosquitto = undefined;
  });

  /** A box with options, and a flow whose config node has these properties. */
  async function run(
    options: Partial<ServiceOptions>,
    properties: object,
    ...nodes: object[]
  ): Promise<Flow> {
    box = await startService({ rate: 0, delay: 0, listed: 3, ...options });
    return start(flowAround(serviceNode(box, { httpRetries: 0, ...properties }), ...nodes), {
      credentials: secretsOf(box),
    });
  }

  /** The box at a Mosquitto of its own. */
  async function atMosquitto(context: Mocha.Context, properties: object, ...nodes: object[]): Promise<Flow> {
    requirePrograms(context, 'mosquitto', 'mosquitto_pub');
    mosquitto = await startMosquitto(['set_tcp_nodelay true']);
    return run({ brokerUrl: mosquitto.url }, properties, ...nodes);
  }

  const read = async (flow: Flow, msg: object = {}): Promise<Message> => {
    flow.send('read', { ...box.demo, identifier: '8001', ...msg });
    const answer = await Promise.race([flow.next('out'), flow.next('errors')]);
    assert.equal(answer.error?.message, undefined);
    return answer;
  };

  const heartbeat = (seq: number): Promise<void> =>
    box.publish(box.demo.gateway, box.demo.device, 'heartbeat', { time: TIME, seq, status: 0 });

  /** The first CONNECT; the broker in this process hears every version, but speaks none above 4. */
  async function firstConnect() {
    for (;;) {
      const [connect] = box.broker!.connects;
      if (connect) {
        return connect;
      }
      await turn();
    }
  }

  it('authUrl and baseUrl may end with a slash and have a path of their own', async () => {
    const flow = await run({}, {}, LABEL);
    const { auth, base } = box.urls;
    const service = serviceNode(box, { authUrl: `${auth}/`, baseUrl: `${base}/portal/` });
    await flow.deploy(flowAround(service, LABEL), 'full', secretsOf(box));
    flow.send('label', { payload: 'x' });
    assert.equal((await flow.next('errors')).error?.code, 'HTTP_ERROR');
    assert.deepEqual(
      box.calls.rest.map(({ path }) => path),
      ['/api/v1/auth/login', '/portal/api/v1/labels'],
    );
  });

  it('brokerUrl names several brokers, tried in turn', async () => {
    box = await startService({ rest: false, rate: 0, delay: 0 });
    const brokerUrl = `${NOBODY},\n${NOBODY}\n${box.urls.mqtt}`;
    const flow = await start(flowAround(serviceNode(box, { brokerUrl }), READ));
    assert.equal((await read(flow)).payload, '3.4.1');
  });

  it('brokerUrl leads over WebSocket, too', async () => {
    box = await startService({ rest: false, rate: 0, delay: 0, wsPort: 0 });
    const flow = await start(flowAround(serviceNode(box, { brokerUrl: box.urls.ws }), READ));
    assert.equal((await read(flow)).payload, '3.4.1');
  });

  it('mqttUsername and mqttPassword log in at the broker', async () => {
    box = await startService({ rest: false, rate: 0, delay: 0, mqttUsername: 'me', mqttPassword: 'it is' });
    const flow = await start(flowAround(serviceNode(box), READ), {
      credentials: { svc: { mqttUsername: 'me', mqttPassword: 'it is' } },
    });
    assert.equal((await read(flow)).payload, '3.4.1');
    assert.equal((await firstConnect()).username, 'me');
  });

  it('tls is a tls-config node, whose authority both halves trust', async function () {
    requirePrograms(this, 'openssl');
    const { ca, server } = await makeCertificates();
    const aedes = await Aedes.createBroker();
    const sockets: TLSSocket[] = [];
    const listener = createServer(server, (socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      aedes.handle(socket);
    }).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const rest = await startServer((_, response) => json(response, {}), server);
    box = await startService({ rest: false, mqtt: false });
    const brokerUrl = `mqtts://localhost:${(listener.address() as AddressInfo).port}`;
    const flowWith = (tls: string) => [
      { id: 'trust', type: 'tls-config', verifyservercert: true },
      ...flowAround(
        serviceNode(box, { authUrl: rest.url, baseUrl: rest.url, brokerUrl, tls, httpRetries: 0 }),
        IN,
        LABEL,
      ),
    ];
    const credentials = { svc: { username: 'a', password: 'b' }, trust: { cadata: ca } };
    try {
      const flow = await start(flowWith('trust'), { credentials, nodes: [tlsConfig] });
      await flow.status('in', 'green');
      flow.send('label', { payload: 'secure' });
      assert.deepEqual((await flow.next('out')).payload, { label: 'secure' });
      await flow.deploy(flowWith(''), 'full', credentials);
      flow.send('label', { payload: 'not trusted' });
      assert.equal(
        (await flow.next('errors', ({ error }) => error?.code === 'NETWORK')).error?.code,
        'NETWORK',
      );
      assert.equal(rest.calls.length, 1);
      await flow.deploy([], 'full');
    } finally {
      for (const socket of sockets) {
        socket.destroy();
      }
      listener.close();
      await new Promise<void>((resolve) => aedes.close(resolve));
      await rest.stop();
    }
  });

  it('tls shows an mqtts broker the server name, the ALPN protocol and the client certificate of that node', async function () {
    requirePrograms(this, 'openssl');
    const { ca, server, client } = await makeCertificates();
    const aedes = await Aedes.createBroker();
    const shown: unknown[] = [];
    const sockets: TLSSocket[] = [];
    const asking = { ...server, ca, requestCert: true, ALPNProtocols: ['x-amzn-mqtt-ca'] };
    const listener = createServer(asking, (socket) => {
      const { servername } = socket as TLSSocket & { servername?: string };
      shown.push([servername, socket.alpnProtocol, socket.getPeerCertificate().subject?.CN]);
      sockets.push(socket);
      socket.on('error', () => {});
      aedes.handle(socket);
    }).listen(0, '127.0.0.1');
    await once(listener, 'listening');
    box = await startService({ rest: false, mqtt: false });
    // Without the server name the certificate would not fit this address.
    const brokerUrl = `mqtts://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const names = { servername: 'localhost', alpnprotocol: 'x-amzn-mqtt-ca' };
    const trust = { cadata: ca, certdata: client.cert, keydata: client.key };
    const nodes = [
      { id: 'trust', type: 'tls-config', verifyservercert: true, ...names },
      ...flowAround(serviceNode(box, { authUrl: '', baseUrl: '', brokerUrl, tls: 'trust' }), IN),
    ];
    try {
      const flow = await start(nodes, { credentials: { trust }, nodes: [tlsConfig] });
      await flow.status('in', 'green');
      assert.deepEqual(shown, [['localhost', 'x-amzn-mqtt-ca', 'client']]);
      await flow.deploy([], 'full');
    } finally {
      for (const socket of sockets) {
        socket.destroy();
      }
      listener.close();
      await new Promise<void>((resolve) => aedes.close(resolve));
    }
  });

  it('tls follows the node that a variable names, wherever that stands in the flow, and also when it alone is deployed', async function () {
    requirePrograms(this, 'openssl');
    const { ca, server } = await makeCertificates();
    const rest = await startServer((_, response) => json(response, {}), server);
    box = await startService({ rest: false, mqtt: false });
    process.env.MT_TLS = 'trust';
    const addresses = { authUrl: rest.url, baseUrl: rest.url, brokerUrl: '', httpRetries: 0 };
    const flowWith = (verifyservercert: boolean) => [
      ...flowAround(serviceNode(box, { ...addresses, tls: '${MT_TLS}' }), LABEL),
      { id: 'trust', type: 'tls-config', verifyservercert, servername: 'elsewhere' },
    ];
    const credentials = { svc: { username: 'a', password: 'b' }, trust: { cadata: ca } };
    try {
      const flow = await start(flowWith(true), { credentials, nodes: [tlsConfig] });
      flow.send('label', { payload: 'not trusted' });
      assert.equal((await flow.next('errors')).error?.code, 'NETWORK');
      await flow.deploy(flowWith(false), 'nodes', credentials);
      await flow.statuses('label').next(({ text }) => text === 'stopped');
      await flow.statuses('label').next(({ text }) => text === 'ready');
      flow.send('label', { payload: 'trusted' });
      assert.deepEqual((await flow.next('out')).payload, { label: 'trusted' });
      assert.equal(flow.inbox('errors').all.length, 1);
    } finally {
      delete process.env.MT_TLS;
      await rest.stop();
    }
  });

  it('tls names a node that must be there', async () => {
    const flow = await run({}, { tls: 'gone' }, LABEL);
    const { error } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause], ['INVALID_INPUT', { field: 'tls', value: 'gone' }]);
  });

  for (const [title, files] of [
    ['a file that is not there', { cert: '/nowhere/cert.pem', key: '/nowhere/key.pem', ca: '' }],
    ['a certificate without its key', { cert: '/nowhere/cert.pem', key: '', ca: '' }],
  ] as const) {
    it(`tls names a node that must be valid, and is not with ${title}: nothing is connected to without it`, async () => {
      box = await startService({ rate: 0, delay: 0 });
      const trust = { id: 'trust', type: 'tls-config', verifyservercert: true, ...files };
      const service = serviceNode(box, { tls: 'trust' });
      const flow = await start([trust, ...flowAround(service, READ)], {
        credentials: secretsOf(box),
        nodes: [tlsConfig],
      });
      await flow.statuses('read').next(({ text }) => text === 'invalid: TLS settings (files missing)');
      const { error } = await flow.inbox('errors').next(({ error }) => error?.code === 'INVALID_INPUT');
      assert.deepEqual(error?.cause, { field: 'tls', value: 'trust' });
      assert.match(error.message, /TLS configuration is not valid: a file cannot be read/);
      assert.deepEqual([box.broker?.connects.length, box.calls.rest.length], [0, 0]);
    });
  }

  for (const [name, properties, expected] of [
    ['clientId', { clientId: 'plant-7' }, { clientId: 'plant-7' }],
    ['protocolVersion', { protocolVersion: 5 }, { protocolVersion: 5, clean: true }],
    ['protocolVersion', {}, { protocolVersion: 4 }],
    ['keepalive', { keepalive: 17 }, { keepalive: 17 }],
    ['keepalive', {}, { keepalive: 60 }],
    ['persistent', { persistent: true }, { clean: false, sessionExpiry: undefined }],
    ['persistent', {}, { clean: true }],
    [
      'sessionExpiry',
      { persistent: true, protocolVersion: 5 },
      { clean: false, protocolVersion: 5, sessionExpiry: 86_400 },
    ],
  ] as const) {
    it(`${name} is what the broker hears: ${JSON.stringify(expected)}`, async () => {
      await run({ rest: false }, properties, IN);
      const connect: Record<string, unknown> = { ...(await firstConnect()) };
      for (const [key, value] of Object.entries(expected)) {
        assert.equal(connect[key], value, key);
      }
    });
  }

  it('clientId is made up where there is none: stable, and another one for another node', async () => {
    const flow = await run({ rest: false }, {}, READ);
    await read(flow);
    const own = flowAround(serviceNode(box), READ);
    await flow.deploy([], 'full');
    await flow.deploy(own, 'full');
    await read(flow);
    const other = own.map((node) => ({ ...node, ...('service' in node && { service: 'svc2' }) }));
    await flow.deploy([...other, { ...serviceNode(box), id: 'svc2' }], 'full');
    await read(flow);
    const ids = box.broker!.connects.map(({ clientId }) => clientId);
    assert.equal(ids[0], ids[1]);
    assert.notEqual(ids.at(-1), ids[0]);
  });

  for (const protocolVersion of [4, 5]) {
    it(`persistent keeps reports while the flow is away, with protocolVersion ${protocolVersion}`, async function () {
      const flow = await atMosquitto(this, { persistent: true, protocolVersion }, IN);
      await flow.status('in', 'green');
      const { gateway } = box.demo;
      const saved = flowAround(serviceNode(box, { persistent: true, protocolVersion }), IN);
      await flow.node('svc').close(false);
      await heartbeat(1);
      await heartbeat(2);
      await flow.deploy(saved, 'full');
      const reports = [await flow.next('out'), await flow.next('out')];
      assert.deepEqual(
        reports.map((msg) => [msg.gateway, (msg.report as { seq: number }).seq]),
        [
          [gateway, 1],
          [gateway, 2],
        ],
      );
    });
  }

  it('sharedGroup lets two services share the reports, and each gets its own answers', async function () {
    requirePrograms(this, 'mosquitto', 'mosquitto_pub');
    mosquitto = await startMosquitto(['set_tcp_nodelay true']);
    box = await startService({ rest: false, rate: 0, delay: 0, brokerUrl: mosquitto.url });
    const shared = serviceNode(box, { sharedGroup: 'site' });
    const second = [
      { ...IN, id: 'in2', service: 'svc2' },
      { ...READ, id: 'read2', service: 'svc2', wires: [['out2']] },
    ];
    const flow = await start([
      ...flowAround(
        shared,
        { ...IN, wires: [['reports']] },
        READ,
        ...second.map((node) => ({ wires: [['reports']], ...node })),
      ),
      { ...shared, id: 'svc2' },
      { id: 'reports', z: 'f', x: 1, y: 1, type: 'helper', wires: [] },
      { id: 'out2', z: 'f', x: 1, y: 1, type: 'helper', wires: [] },
    ]);
    await Promise.all([flow.status('in', 'green'), flow.status('in2', 'green')]);
    for (let seq = 0; seq < 20; seq++) {
      await heartbeat(seq);
    }
    const request = { ...box.demo, identifier: '8001' };
    flow.send('read', request);
    flow.send('read2', request);
    assert.equal((await flow.next('out')).payload, '3.4.1');
    assert.equal((await flow.next('out2')).payload, '3.4.1');
    for (let count = 0; count < 20; count++) {
      await flow.next('reports');
    }
    const seqs = flow.inbox('reports').all.map(({ report }) => (report as { seq: number }).seq);
    assert.deepEqual(
      seqs.sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, seq) => seq),
    );
  });

  it('topicPrefix stands in front of every topic', async () => {
    const flow = await run({ topicPrefix: 'site/7' }, { topicPrefix: 'site/7' }, IN, READ);
    await subscribed(box);
    await heartbeat(1);
    const { gateway, device } = box.demo;
    assert.equal((await flow.next('out')).topic, `site/7/mt/gateway/${gateway}/device/${device}/heartbeat`);
    assert.equal((await read(flow)).payload, '3.4.1');
  });

  for (const reportQos of [0, 1, 2]) {
    it(`reportQos ${reportQos} is asked for reports`, async () => {
      await run({ rest: false }, { reportQos }, IN);
      await subscribed(box);
      const [filter] = [...box.broker!.wantedQos.keys()].filter((topic) => topic.includes('/device/'));
      assert.equal(box.broker!.wantedQos.get(filter!), reportQos);
    });
  }

  for (const requestQos of [0, 1]) {
    it(`requestQos ${requestQos} carries requests`, async () => {
      await read(await run({ rest: false }, { requestQos }, READ));
      assert.equal(box.calls.operations.at(-1)?.qos, requestQos);
    });
  }

  it('requestTimeout holds for nodes without a timeout of their own', async () => {
    const own = { ...READ, id: 'own', timeout: '40' };
    const flow = await run({ rest: false, lostAnswers: 1 }, { requestTimeout: 70 }, READ, own);
    for (const [id, timeout] of [
      ['read', 70],
      ['own', 40],
    ] as const) {
      flow.send(id, { ...box.demo, identifier: '8001' });
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause?.timeout], ['TIMEOUT', timeout]);
    }
  });

  it('maxInFlight lets the others wait, the highest priority first, then the oldest', async () => {
    const flow = await run({ rest: false, delay: 30 }, { maxInFlight: 1 }, READ);
    const answered = new Set<unknown>();
    box.events.on('answered', (call) => answered.add(call));
    let most = 0;
    box.events.on('request', () => {
      most = Math.max(most, box.calls.operations.length - answered.size);
    });
    const first = once(box.events, 'request');
    flow.send('read', { ...box.demo, identifier: '8000' });
    await first;
    for (const [identifier, priority] of [
      ['8001', 'Low'],
      ['8002', undefined],
      ['8003', 2],
      ['8100', '4'],
    ] as const) {
      flow.send('read', { ...box.demo, identifier, priority });
    }
    for (let count = 0; count < 5; count++) {
      await flow.next('out');
    }
    const order = box.calls.operations.map(({ identifier }) => identifier);
    assert.deepEqual(order, ['8000', '8100', '8002', '8003', '8001']);
    assert.equal(most, 1);
  });

  it('maxQueue limits the requests that wait', async () => {
    const flow = await run({ rest: false, lostAnswers: 1 }, { maxInFlight: 1, maxQueue: 2 }, READ);
    const first = once(box.events, 'request');
    const msg = { ...box.demo, identifier: '8001' };
    flow.send('read', msg);
    await first;
    for (const _msgid of ['waits', 'waits too', 'is too much']) {
      flow.send('read', { ...msg, _msgid });
    }
    const { error, _msgid } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause, _msgid], ['QUEUE_FULL', { limit: 2 }, 'is too much']);
  });

  it('httpTimeout ends a call that is not answered', async () => {
    const flow = await run({ mqtt: false }, { httpTimeout: 100 }, LABEL);
    box.faults.rest.add({ kind: 'hang', only: 'POST /api/v1/labels' });
    flow.send('label', { payload: 'x' });
    const { error } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause], ['NETWORK', { code: 'ETIMEDOUT' }]);
  });

  for (const httpRetries of [0, 1]) {
    it(`httpRetries ${httpRetries} is how often a call is repeated`, async () => {
      const flow = await run({ mqtt: false }, { httpRetries }, LIST);
      box.faults.rest.add({ kind: 'status', status: 503, only: 'GET /api/v1/devices' });
      flow.send('list', {});
      assert.equal((await flow.next('errors')).error?.code, 'HTTP_ERROR');
      assert.equal(box.calls.rest.filter(({ method }) => method === 'GET').length, httpRetries + 1);
    });
  }

  it('a variable brings what it holds, also where that looks like a variable', async () => {
    process.env.MT_HELD = 'a${HOME}b';
    const credentials = { username: 'demo', password: '${MT_HELD}' };
    box = await startService({ mqtt: false, listed: 1, password: 'a${HOME}b' });
    const device = box.devices[0]!.id;
    const rename = { id: 'rename', type: 'mt-rename', name: '${MT_HELD}', nameType: 'str' };
    const flow = await start(flowAround(serviceNode(box), rename), { credentials: { svc: credentials } });
    flow.send('rename', { device });
    assert.deepEqual((await flow.next('out')).payload, { id: device, friendlyName: 'a${HOME}b' });
    const { body } = await flow.post('/mt-service/test', { ...serviceNode(box), credentials });
    delete process.env.MT_HELD;
    assert.equal((body as { rest: { ok: boolean } }).rest.ok, true);
  });

  it('authHeader carries the token', async () => {
    const flow = await run({ mqtt: false, authHeader: 'X-Auth' }, { authHeader: 'X-Auth' }, LABEL);
    flow.send('label', { payload: 'x' });
    assert.deepEqual((await flow.next('out')).payload, { label: 'x' });
    const { headers } = box.calls.rest.at(-1)!;
    assert.match(String(headers['x-auth']), /^Bearer /);
    assert.equal(headers.authorization, undefined);
  });

  it('pageTokenParam carries the token of the next page', async () => {
    const flow = await run(
      { mqtt: false, listed: 5, pageTokenParam: 'after' },
      { pageTokenParam: 'after' },
      { ...LIST, pageSize: 2 },
    );
    flow.send('list', {});
    assert.equal((await flow.next('out')).count, 5);
    const { query } = box.calls.rest.at(-1)!;
    assert.deepEqual([typeof query.after, 'NextToken' in query], ['string', false]);
  });

  it('attachPath is where the sidebar attaches labels', async () => {
    const flow = await run({ mqtt: false }, { attachPath: '/api/v1/devices/{device}/labels?by=sidebar' });
    const device = box.devices[0]!;
    const body = { action: 'attach', device: device.id, payload: '3rd floor' };
    const { status, body: answer } = await flow.post('/mt-service/svc/label', body);
    assert.deepEqual([status, answer], [200, { id: device.id, label: '3rd floor' }]);
    assert.ok(device.labels.includes('3rd floor'));
    assert.deepEqual(box.calls.rest.at(-1)?.query, { by: 'sidebar' });
  });

  it('ackOperation and ackDecodedOperation name the acknowledgements', async () => {
    const names = { ackOperation: 'confirm', ackDecodedOperation: 'confirm-it' };
    const flow = await run(
      { rest: false, ackOperations: 'confirm,confirm-it', unackable: 0 },
      names,
      { ...IN, kinds: ['timestamped'], wires: [['ack']] },
      { id: 'ack', type: 'mt-timestamped-ack' },
    );
    await subscribed(box);
    await box.publishSamples(2);
    const acknowledged = [await flow.next('out'), await flow.next('out')];
    assert.ok(acknowledged.every(({ response }) => (response as { status: number }).status === 0));
    const sent = box.calls.operations.map(({ operation }) => operation).sort();
    assert.deepEqual(sent, ['confirm', 'confirm-it']);
  });

  const ENTRIES = [
    { id: 'ef10', name: 'valve', type: 'u16', divisor: 10, unit: 'l' },
    { id: '8001', name: 'firmware-version', type: 'hex' },
  ];

  for (const [form, identifiers] of [
    ['a list', ENTRIES],
    ['text', JSON.stringify(ENTRIES)],
  ] as const) {
    it(`identifiers, as ${form}, add to the catalogue and override it, for reports and requests`, async () => {
      const flow = await run({ rest: false }, { identifiers }, { ...IN, identifiers: ['valve'] }, READ);
      await subscribed(box);
      const { gateway, device } = box.demo;
      await box.publish(gateway, device, 'property/ef10', { time: TIME, value: '0019' });
      const { name, value, unit } = (await flow.next('out')).report as Record<string, unknown>;
      assert.deepEqual([name, value, unit], ['valve', 2.5, 'l']);
      assert.match(String((await read(flow)).payload), /^[0-9a-f]+$/);
    });
  }
});
