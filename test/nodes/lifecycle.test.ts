// What docs/lifecycle.md says of services and deploys, in a real Node-RED: connections, starts, refusals and closing.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { hostname } from 'node:os';
import { mock } from 'node:test';
import { connectAsync } from 'mqtt';
import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { ServiceNode } from '../../nodes/shared/runtime/services.ts';
import { D, G, heartbeat, reportTopic, TIME } from '../mqtt/scripted.ts';
import { json, startServer, type TestServer } from '../rest/server.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { reached } from '../session.ts';
import { flowAround } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const IN = { id: 'in', type: 'mt-report-in' };
const READ = { id: 'read', type: 'mt-gw-read', identifier: '8001', identifierType: 'str' };
const WRITE = {
  id: 'write',
  type: 'mt-gw-write',
  identifier: 'tx-power',
  identifierType: 'str',
  form: 'raw',
};
const ACK = { id: 'ack', type: 'mt-timestamped-ack' };
const REST_NODES = [
  { id: 'list', type: 'mt-device-list' },
  { id: 'rename', type: 'mt-rename' },
  { id: 'label', type: 'mt-label' },
  { id: 'free', type: 'mt-service-request', path: '/x', pathType: 'str' },
];
const MESSAGES: Record<string, object> = {
  read: { gateway: G, device: D },
  write: { gateway: G, device: D, payload: -4 },
  ack: { gateway: G, device: D, identifier: '8800', form: 'raw', time: TIME },
  list: {},
  rename: { device: G, payload: 'name' },
  label: { payload: 'office' },
  free: {},
};

describeNodes('a service', (start) => {
  let broker: ScriptedBroker;
  let portal: TestServer;

  beforeEach(async () => {
    [broker, portal] = await Promise.all([
      startScriptedBroker(),
      startServer((_, response) => json(response, { items: [] })),
    ]);
  });
  afterEach(async () => {
    await broker.stop();
    await portal.stop();
  });

  const service = (more: object = {}) => {
    const urls = { authUrl: portal.url, baseUrl: portal.url, brokerUrl: broker.url };
    return { id: 'svc', type: 'mt-service', name: '', ...urls, ...more };
  };
  const credentials = { svc: { username: 'anna', password: 'secret' } };

  for (const node of [IN, READ, WRITE, ACK]) {
    it(`connects to the broker when ${node.type} is deployed, and asks nothing over REST`, async () => {
      const flow = await start(flowAround(service({ names: false }), node), { credentials });
      await flow.statuses(node.id).next(({ text }) => text === 'connected');
      assert.deepEqual([broker.connections.length, portal.logins.length], [1, 0]);
    });
  }

  it('does not connect to the broker for nodes that only need REST, and logs in with the first call', async () => {
    const flow = await start(flowAround(service(), ...REST_NODES), { credentials });
    assert.deepEqual([broker.connections.length, portal.logins.length], [0, 0]);
    for (let call = 0; call < 2; call++) {
      flow.send('list', {});
      await flow.next('out');
    }
    assert.deepEqual([broker.connections.length, portal.logins.length], [0, 1]);
  });

  it('has one connection for all of its nodes, and another one after a deploy that restarts it', async () => {
    const nodes = [IN, { ...IN, id: 'in2' }, READ, WRITE, ACK];
    const flow = await start(flowAround(service(), ...nodes), { credentials });
    for (const { id } of nodes) {
      await flow.statuses(id).next(({ text }) => text === 'connected');
    }
    assert.equal(broker.connections.length, 1);
    await flow.deploy(flowAround(service(), ...nodes), 'full', credentials);
    await broker.until(() => broker.connections.length === 2);
    await broker.until(() => broker.openConnections.length === 1);
  });

  const ALL = [{ ...IN, wires: [['reports']] }, READ, WRITE, ACK, ...REST_NODES];

  /** Node-RED takes the credentials of nodes that are gone out of the object itself. */
  const secrets = () => structuredClone(credentials);

  /** Every node works with the service as it is now. */
  async function assertAllWork(flow: Flow, idOf: (id: string) => string): Promise<void> {
    for (const { id } of [IN, READ, WRITE, ACK]) {
      await flow.statuses(idOf(id)).next(({ text }) => text === 'connected');
    }
    for (const { id } of [READ, WRITE, ACK]) {
      const published = broker.next('publish');
      flow.send(idOf(id), { ...MESSAGES[id] });
      await published;
    }
    for (const { id } of REST_NODES) {
      flow.send(idOf(id), { ...MESSAGES[id] });
      await flow.next('out');
    }
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    assert.equal((await flow.next('reports')).kind, 'heartbeat');
    assert.deepEqual(
      flow.inbox('errors').all.filter(({ error }) => error?.code !== 'CLOSED'),
      [],
    );
  }

  it('is followed by nodes that name it by a variable, when it alone is deployed again', async () => {
    process.env.MT_SERVICE = 'svc';
    const nodes = ALL.map((node) => ({ ...node, service: '${MT_SERVICE}' }));
    const flowOf = (more: object) => [
      ...flowAround(service(more), ...nodes),
      { id: 'reports', z: 'f', type: 'helper' },
    ];
    try {
      const flow = await start(flowOf({}), { credentials: secrets() });
      await assertAllWork(flow, (id) => id);
      await flow.deploy(flowOf({ name: 'renamed' }), 'nodes', secrets());
      await assertAllWork(flow, (id) => id);
      assert.deepEqual([broker.connections.length, broker.openConnections.length], [2, 1]);
      assert.equal(flow.inbox('reports').all.length, 2);
      const users = Object.keys(flow.node<ServiceNode>('svc').users);
      assert.deepEqual(users.sort(), nodes.map(({ id }) => id).sort());
      await flow.deploy(flowAround({ ...service(), id: 'other' }, ...nodes), 'nodes', {});
      flow.send('rename', { ...MESSAGES.rename });
      const { error } = await flow.next('errors', (caught) => caught.error?.code !== 'CLOSED');
      assert.deepEqual([error?.code, error?.cause], ['NOT_CONFIGURED', { part: 'service' }]);
    } finally {
      delete process.env.MT_SERVICE;
    }
  });

  it("is followed by nodes that name it by a subflow's property, when it alone is deployed again", async () => {
    const inside = { z: 's', x: 1, y: 1, service: '${SERVICE}' };
    const flowOf = (more: object) => [
      ...flowAround(service(more), {
        id: 'instance',
        type: 'subflow:s',
        env: [{ name: 'SERVICE', type: 'mt-service', value: 'svc' }],
        wires: [['out'], ['reports']],
      }),
      { id: 'reports', z: 'f', type: 'helper' },
      {
        id: 's',
        type: 'subflow',
        name: 's',
        in: [{ wires: [{ id: 'label' }] }],
        out: [{ wires: [{ id: 'label', port: 0 }] }, { wires: [{ id: 'in', port: 0 }] }],
        env: [{ name: 'SERVICE', type: 'mt-service', value: '' }],
      },
      { ...inside, id: 'label', type: 'mt-label', wires: [[]] },
      { ...inside, ...IN, wires: [[]] },
    ];
    const flow = await start(flowOf({}), { credentials: secrets() });
    for (const name of ['first', 'second']) {
      await flow.deploy(flowOf({ name }), 'nodes', secrets());
      await reached(flow.node<ServiceNode>('svc').session!, 'connected');
      broker.publish(reportTopic('heartbeat'), heartbeat(1));
      assert.equal((await flow.next('reports')).kind, 'heartbeat');
      flow.send('instance', { payload: name });
      assert.deepEqual((await flow.next('out')).payload, { label: name });
    }
  });

  it('ends with CLOSED what arrives between its end and its successor', async () => {
    process.env.MT_SERVICE = 'svc';
    const flowOf = (more: object) =>
      flowAround(service(more), { id: 'label', type: 'mt-label', service: '${MT_SERVICE}' });
    let sendLate = (): void => {};
    const learn = ({ events }: NodeAPI) => void events.once('flows:stopped', () => sendLate());
    try {
      const flow = await start(flowOf({}), { credentials: secrets(), nodes: [learn] });
      sendLate = () => flow.send('label', { payload: 'late' });
      await flow.deploy(flowOf({ name: 'renamed' }), 'nodes', secrets());
      assert.equal((await flow.next('errors')).error?.code, 'CLOSED');
      flow.send('label', { payload: 'later' });
      assert.deepEqual((await flow.next('out')).payload, { label: 'later' });
    } finally {
      delete process.env.MT_SERVICE;
    }
  });

  it('keeps over a deploy what reports have shown, whatever session it has at the broker, and forgets it with another broker or topic prefix', async () => {
    const flow = await start(flowAround(service(), IN), { credentials });
    await flow.statuses('in').next(({ text }) => text === 'connected');
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await flow.next('out');
    const seen = () => flow.node<ServiceNode>('svc').session?.recent.devices().length;
    assert.equal(seen(), 1);
    await flow.deploy(flowAround(service(), IN), 'full', credentials);
    assert.equal(seen(), 1);
    const sessions = [
      { clientId: 'another' },
      { persistent: true, clientId: 'another' },
      { persistent: false },
      { brokerUrl: `${broker.url},mqtt://127.0.0.1:9` },
      { brokerUrl: `mqtt://127.0.0.1:9, ${broker.url}` },
    ];
    for (const change of sessions) {
      await flow.deploy(flowAround(service(change), IN), 'full', structuredClone(credentials));
      assert.equal(seen(), 1);
    }
    const others = [{ topicPrefix: 'x/' }, { brokerUrl: broker.url.replace('127.0.0.1', 'localhost') }];
    for (const change of others) {
      await flow.deploy(flowAround(service(), IN), 'full', structuredClone(credentials));
      await flow.statuses('in').next(({ text }) => text === 'connected');
      broker.publish(reportTopic('heartbeat'), heartbeat(1));
      await flow.next('out');
      assert.equal(seen(), 1);
      await flow.deploy(flowAround(service(change), IN), 'full', structuredClone(credentials));
      assert.equal(seen(), 0);
    }
  });

  it('lets reports wait after a start until all flows have started', async () => {
    let startAll = (): void => {};
    const delayStart = ({ events }: NodeAPI) => {
      const { emit } = events;
      events.emit = (name, ...args) => {
        if (name !== 'flows:started') {
          return emit.call(events, name, ...args);
        }
        startAll = () => void emit.call(events, name, ...args);
        events.emit = emit;
        return true;
      };
    };
    const kept = { clientId: 'mt-kept', persistent: true };
    const earlier = await connectAsync(broker.url, { clientId: kept.clientId, clean: false });
    await earlier.subscribeAsync('mt/gateway/+/device/+/#', { qos: 1 });
    await earlier.endAsync();
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    const flow = await start(flowAround(service(kept), IN, { ...READ, wires: [[]] }), {
      credentials,
      nodes: [delayStart],
    });
    await broker.until(() => broker.sessions.get(kept.clientId)?.unacknowledged.length === 1);
    // Whatever comes next from here was sent when the report had arrived.
    const subscribing = broker.next('subscribe', (_, clientId) => clientId === kept.clientId);
    flow.send('read', MESSAGES.read ?? {});
    await subscribing;
    assert.deepEqual([flow.inbox('out').all, broker.packets('puback', kept.clientId)], [[], []]);
    startAll();
    assert.equal((await flow.next('out')).kind, 'heartbeat');
  });

  it('tells Catch nodes once that the broker refuses the login, however often it is asked, and again after a connection', async () => {
    broker.options.connackCode = 5;
    // A broker that refuses is asked again after ten seconds and more: here these are a hundred times shorter.
    const real = globalThis.setTimeout;
    const hurried = (callback: () => void, ms = 0) => real(callback, ms >= 10_000 ? ms / 100 : ms);
    Object.assign(globalThis, { setTimeout: Object.assign(hurried, real) });
    try {
      const flow = await start(flowAround(service(), IN), { credentials });
      await broker.until(() => broker.packets('connect').length >= 3);
      broker.options.connackCode = 0;
      await flow.statuses('in').next(({ text }) => text === 'connected');
      const told = () => flow.inbox('errors').all.map(({ error }) => error?.code);
      assert.deepEqual(told(), ['NOT_CONNECTED']);
      broker.options.connackCode = 5;
      broker.drop();
      await flow.statuses('in').next(({ fill }) => fill === 'red');
      await flow.next('errors');
      await flow.next('errors');
      assert.deepEqual(told(), ['NOT_CONNECTED', 'NOT_CONNECTED']);
    } finally {
      globalThis.setTimeout = real;
    }
  });

  it('tells Catch nodes once that the broker refuses subscriptions, however many', async () => {
    broker.options.refuses = (filter) => filter.includes('/device/');
    const more = ['heartbeat', 'rssi', 'dfu'].map((kind) => ({ ...IN, id: kind, kinds: [kind] }));
    const flow = await start(flowAround(service(), ...more, READ), { credentials });
    for (const { id } of more) {
      await flow.statuses(id).next(({ fill }) => fill === 'red');
    }
    await flow.next('errors');
    // What would come twice comes before this.
    flow.send('read', { gateway: 'nowhere' });
    await flow.next('errors', ({ error }) => error?.code === 'INVALID_INPUT');
    assert.deepEqual(
      flow.inbox('errors').all.map(({ error }) => error?.code),
      ['NOT_CONNECTED', 'INVALID_INPUT'],
    );
  });

  it('tells Catch nodes of a further subscription that the broker refuses, and not again of the first', async () => {
    broker.options.refuses = (filter) => /heartbeat|rssi/.test(filter);
    const node = (id: string) => ({ ...IN, id, kinds: [id] });
    const flow = await start(flowAround(service(), node('heartbeat')), { credentials });
    const { error } = await flow.next('errors');
    assert.match(String(error?.message), /heartbeat/);
    await flow.deploy(flowAround(service(), node('heartbeat'), node('rssi')), 'nodes');
    const further = await flow.next('errors');
    assert.match(String(further.error?.message), /rssi/);
    assert.doesNotMatch(String(further.error?.message), /heartbeat/);
  });

  it('names to each node what the broker refuses to this node, and nothing of what it refuses to others', async () => {
    broker.options.refuses = (filter) => /heartbeat|rssi/.test(filter);
    const kinds = ['rssi', 'heartbeat', 'dfu'].map((kind) => ({ ...IN, id: kind, kinds: [kind] }));
    const watch = { id: 'watch', type: 'mt-device-watch', conditions: ['error'] };
    const flow = await start(flowAround(service(), ...kinds, watch), { credentials });
    await flow.status('dfu', 'green');
    for (const [id, own, other] of [
      ['rssi', /rssi/, /heartbeat| more/],
      ['heartbeat', /heartbeat/, /rssi| more/],
      ['watch', /heartbeat/, /rssi| more/],
    ] as const) {
      const { text = '' } = await flow.status(id, 'red');
      assert.match(text, own);
      assert.doesNotMatch(text, other);
    }
  });

  it('tells Catch nodes of a refusal that comes while flows are replaced', async () => {
    const closing = new EventEmitter();
    const registerSlow = (RED: NodeAPI) => {
      function Slow(this: Node, saved: NodeDef): void {
        RED.nodes.createNode(this, saved);
        this.on('close', (done: () => void) => closing.emit('close', done) || done());
      }
      RED.nodes.registerType('slow', Slow as never);
    };
    const flowOf = (name: string) => flowAround(service(), IN, { id: 'slow', type: 'slow', name });
    const flow = await start(flowOf('first'), { nodes: [registerSlow], credentials });
    await flow.status('in', 'green');
    const held = once(closing, 'close');
    const deployed = flow.deploy(flowOf('second'), 'flows', structuredClone(credentials));
    const [finish] = (await held) as [() => void];
    broker.options.connackCode = 5;
    broker.drop();
    await reached(flow.node<ServiceNode>('svc').session!, 'refused');
    finish();
    await deployed;
    assert.equal((await flow.next('errors')).error?.code, 'NOT_CONNECTED');
  });

  it('tells neither nodes nor Catch nodes nor the log what a preview has asked for and the broker refuses', async () => {
    process.env.MT_PRIVATE = 'hunter2';
    broker.options.refuses = () => true;
    const logged: string[] = [];
    const flow = await start(flowAround(service(), READ), { credentials });
    await flow.statuses('read').next(({ text }) => text === 'connected');
    for (const level of ['log', 'warn', 'error'] as const) {
      flow.node<ServiceNode>('svc')[level] = (text: unknown) => void logged.push(String(text));
    }
    const settings = { identifiers: ['${MT_PRIVATE}'], kinds: ['event'] };
    let words = '';
    const refused = broker.next('subscribe', ({ subscriptions }) =>
      JSON.stringify(subscriptions).includes('hunter2'),
    );
    await flow.post('/mt-service/svc/preview', settings);
    await refused;
    while (!words.includes('NOT_CONNECTED')) {
      words = JSON.stringify((await flow.post('/mt-service/svc/preview', settings)).body);
    }
    const told = JSON.stringify([
      words,
      logged,
      flow.statuses('read').all,
      flow.inbox('errors').all.map(({ error }) => error),
    ]);
    assert.doesNotMatch(told, /hunter2|not subscribed/);
    assert.deepEqual(flow.inbox('errors').all, []);
    delete process.env.MT_PRIVATE;
  });

  it('closes its nodes within 2 seconds, and ends all that waits with CLOSED, at a broker and a service that are silent', async () => {
    const nodes = [READ, WRITE, ACK, ...REST_NODES];
    const flow = await start(flowAround(service({ maxInFlight: 1 }), ...nodes), { credentials });
    for (const { id } of [READ, WRITE, ACK]) {
      await flow.statuses(id).next(({ text }) => text === 'connected');
    }
    portal.answer = () => {};
    for (let count = 0; count < 6; count++) {
      for (const { id } of nodes) {
        flow.send(id, MESSAGES[id] ?? {});
      }
    }
    await broker.next('publish');
    broker.setReading(false);
    const begun = performance.now();
    await Promise.all(
      [...nodes.map(({ id }) => flow.node(id)), flow.node('svc')].map((node) => node.close(true)),
    );
    // Other tests may keep the processor busy.
    assert.ok(performance.now() - begun < 4_000);
    const codes = flow.inbox('errors').all.map(({ error }) => error?.code);
    assert.deepEqual([codes.length, [...new Set(codes)]], [6 * nodes.length, ['CLOSED']]);
  });

  for (const type of ['full', 'flows', 'nodes'] as const) {
    const isFull = type === 'full';
    it(`tells ${isFull ? 'the log' : 'Catch nodes'} of the messages that a deploy of type ${type} ends`, async () => {
      const nodes = [READ, WRITE, ACK, ...REST_NODES];
      const flow = await start(flowAround(service({ maxInFlight: 1 }), ...nodes), { credentials });
      for (const { id } of [READ, WRITE, ACK]) {
        await flow.statuses(id).next(({ text }) => text === 'connected');
      }
      portal.answer = () => {};
      for (const { id } of nodes) {
        flow.send(id, { ...MESSAGES[id], mark: id });
      }
      await broker.next('publish');
      const warned: unknown[] = [];
      for (const { id } of nodes) {
        mock.method(flow.node(id), 'warn', (text: string) => warned.push([id, /CLOSED: 1;/.exec(text)?.[0]]));
      }
      const changed = nodes.map((node) => ({ ...node, name: 'changed' }));
      await flow.deploy(flowAround(service({ maxInFlight: 1 }), ...changed), type, secrets());
      const ended = flow.inbox('errors').all.map(({ error, mark }) => [mark, error?.code]);
      const all = (text: string) => nodes.map(({ id }) => [id, text]).sort();
      if (!isFull) {
        assert.deepEqual(ended.sort(), all('CLOSED'));
      }
      assert.deepEqual(warned.sort(), isFull ? all('CLOSED: 1;') : []);
    });
  }

  it('makes a client id of its node, the host and the user directory, the same after a restart', async () => {
    let userDir = '';
    const learn = ({ settings }: NodeAPI) => {
      userDir = (settings as { userDir?: string }).userDir ?? '';
    };
    const flow = await start(flowAround(service(), IN), { credentials, nodes: [learn] });
    const digest = createHash('sha256').update(['svc', hostname(), userDir].join('\0')).digest('hex');
    const session = flow.node<ServiceNode>('svc').session!;
    await reached(session, 'connected');
    assert.equal(broker.packets('connect')[0]?.clientId, `mt-${digest.slice(0, 18)}`);
  });
});
