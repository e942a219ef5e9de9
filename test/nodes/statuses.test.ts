// The table of statuses in docs/lifecycle.md: each row is reached in every node that it names, with colour and shape.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { NodeStatus } from 'node-red';
import type { ServiceNode } from '../../nodes/shared/runtime/services.ts';
import { ServiceError } from '../../src/index.ts';
import { ServiceCalls } from '../../src/rest/service-calls.ts';
import { Session } from '../../src/session.ts';
import { answerAll, D, G, heartbeat, reportTopic, TIME } from '../mqtt/scripted.ts';
import { json, startServer, type TestServer } from '../rest/server.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { flowAround } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const MAC = { gateway: G, device: D };

/** The nodes by their names in the page; each with a message that it can work on. */
const NODES: Record<string, { node: object; msg?: object }> = {
  'report in': { node: { type: 'mt-report-in' } },
  read: { node: { type: 'mt-gw-read' }, msg: { ...MAC, identifier: '8001' } },
  write: {
    node: { type: 'mt-gw-write', identifier: 'tx-power', identifierType: 'str', form: 'raw' },
    msg: { ...MAC, payload: -4 },
  },
  'ack report': {
    node: { type: 'mt-timestamped-ack' },
    msg: { ...MAC, identifier: '8800', form: 'raw', time: TIME },
  },
  'last value': {
    node: { type: 'mt-last-value', tooOld: 'read' },
    msg: MAC,
  },
  'device watch': { node: { type: 'mt-device-watch' }, msg: {} },
  'list devices': { node: { type: 'mt-device-list' }, msg: {} },
  rename: { node: { type: 'mt-rename' }, msg: { device: G, payload: 'new name' } },
  label: { node: { type: 'mt-label' }, msg: { payload: 'office' } },
  'service request': { node: { type: 'mt-service-request' }, msg: { path: '/api/v1/jobs' } },
};
const ALL = Object.keys(NODES);
const WITH_INPUT = ALL.filter((name) => NODES[name]?.msg);
/** Without the one that answers from what it knows. */
const ASKING = WITH_INPUT.filter((name) => name !== 'device watch');
const GATEWAY_NODES = ['read', 'write', 'ack report', 'last value'];
const REST_NODES = ['list devices', 'rename', 'label', 'service request'];

/** The nodes that a row of the page names. */
const NAMED: Record<string, readonly string[]> = {
  all: ALL,
  'all with an input': WITH_INPUT,
  'all that ask': ASKING,
  'report in with labels': ['report in'],
};

interface Row {
  text: string;
  fill: string;
  shape: string;
  nodes: readonly string[];
}

function rowsOf(page: string): Row[] {
  const rows = page.matchAll(/^\| `([^`]+)` \| (\w+) (\w+) \| ([^|]+) \|/gm);
  return [...rows].map(([, text = '', fill = '', shape = '', nodes = '']) => ({
    ...{ text, fill, shape },
    nodes: nodes.split(/[,;]/).flatMap((name) => NAMED[name.trim()] ?? [name.trim()]),
  }));
}

const ROWS = rowsOf(readFileSync('docs/lifecycle.md', 'utf8'));

/** A broker and a REST service that do what a row needs, and a flow with every node. */
interface Ground {
  broker: ScriptedBroker;
  portal: TestServer;
  /** @param service properties of the config node, `password` among them; `all`: of every other node; others by name */
  run(
    service?: { login?: object } & Record<string, unknown>,
    changes?: { all?: object } & Record<string, object>,
  ): Promise<Flow>;
  /** Deploys what is another than before; the properties as those of `run`. */
  deploy(flow: Flow, ...properties: Parameters<Ground['run']>): Promise<void>;
  send(flow: Flow, names: readonly string[], more?: object): void;
}

const sessionOf = (flow: Flow): Session => flow.node<ServiceNode>('svc').session as Session;
const items = [{ id: `bmac-${G}`, labels: ['office'] }];
const listed = (response: ServerResponse, status = 200) => json(response, { items }, status);
/** Never answers. */
const hang = () => {};
const ASKER = { asker: { type: 'mt-service-request', path: '/asker', pathType: 'str' } };

/** Answers the one who asks in place of the others, whose statuses then show the state of the service. */
const whoeverElse =
  (answer: (response: ServerResponse) => void): TestServer['answer'] =>
  ({ url }, response) =>
    url === '/asker' ? listed(response) : answer(response);

async function allShow(flow: Flow, names: readonly string[], text: string): Promise<void> {
  await Promise.all(names.map((name) => flow.statuses(name).next((status) => status.text === text)));
}

const UNSET = '$' + '{MT_NOT_SET}';

/** What leads to each status of the page. */
const WAYS: Record<string, (ground: Ground) => Promise<Flow>> = {
  connected: ({ run }) => run(),

  async '… · … ago'({ broker, run }) {
    const flow = await run({}, { 'report in': { statusShows: 'report' } });
    await allShow(flow, ['report in'], 'connected');
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    return flow;
  },

  'nothing heard yet': ({ run }) => run(),

  async '0 of … need somebody'({ broker, run }) {
    const flow = await run();
    await allShow(flow, ['device watch'], 'nothing heard yet');
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    return flow;
  },

  async '… of … need somebody'({ broker, run }) {
    const flow = await run({}, { 'device watch': { conditions: ['error'] } });
    await allShow(flow, ['device watch'], 'nothing heard yet');
    broker.publish(reportTopic('heartbeat'), { ...heartbeat(1), status: 3 });
    await allShow(flow, ['device watch'], '0 of 1 need somebody');
    return flow;
  },

  async ready({ broker, run, send }) {
    answerAll(broker, ({ id }) => ({ id, value: '03040100' }));
    const flow = await run();
    await allShow(flow, GATEWAY_NODES, 'connected');
    for (const name of REST_NODES) {
      await flow.statuses(name).next();
    }
    send(flow, WITH_INPUT);
    return flow;
  },

  async 'working on …'({ run, send }) {
    const flow = await run();
    send(flow, WITH_INPUT);
    return flow;
  },

  async '… devices'({ portal, run, send }) {
    portal.answer = ({ url }, response) => {
      if (!url.includes('NextToken')) {
        json(response, { items, nextToken: 'more' });
      }
    };
    const flow = await run();
    send(flow, ['list devices']);
    return flow;
  },

  async 'devices found: …'({ run, send }) {
    const flow = await run();
    send(flow, ['list devices']);
    return flow;
  },

  async connecting({ portal, run, send }) {
    portal.login = hang;
    const flow = await run();
    send(flow, ['asker']);
    return flow;
  },

  async 'waiting: …'({ broker, portal, run, send }) {
    await broker.kill();
    portal.login = (_, response) => json(response, {}, 503);
    const flow = await run({ httpRetries: 1 });
    // Those with something to do as well as the others.
    send(flow, ['asker', 'write', 'rename']);
    return flow;
  },

  async 'waiting for labels'({ portal, run }) {
    portal.answer = hang;
    const labels = ['office'];
    return run({}, { 'report in': { labels }, 'device watch': { labels } });
  },

  async 'no gateway has this label'({ run }) {
    const labels = ['nowhere'];
    return run({}, { 'report in': { labels }, 'device watch': { labels } });
  },

  async 'labels out of date'({ portal, run, deploy }) {
    let count = 0;
    portal.answer = (_, response) => listed(response, count++ === 0 ? 200 : 503);
    const labels = ['office'];
    const changes = { 'report in': { labels, labelRefresh: 1 }, 'device watch': { labels } };
    const flow = await run({ httpRetries: 0 }, changes);
    while (!flow.statuses('report in').all.some(({ text }) => text === 'labels out of date')) {
      await turn();
    }
    // It goes on with the list that is known, and asks for a newer one.
    sessionOf(flow).devices?.invalidate();
    const renamed = { ...changes, 'device watch': { labels, name: 'renamed' } };
    await deploy(flow, { httpRetries: 0 }, renamed);
    return flow;
  },

  async 'no labels, … reports lost'({ broker, portal, run }) {
    portal.answer = hang;
    const flow = await run({}, { 'report in': { labels: ['office'] } });
    await flow.statuses('report in').next(({ text }) => text === 'waiting for labels');
    for (let n = 0; n <= 1_000; n++) {
      broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    return flow;
  },

  async '… not stored, oldest …'({ broker, run }) {
    const flow = await run({}, { 'report in': { confirm: 'acknowledged' } });
    await allShow(flow, ['report in'], 'connected');
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    return flow;
  },

  async 'overloaded, … lost'({ broker, run }) {
    const flow = await run();
    await allShow(flow, ['report in'], 'connected');
    sessionOf(flow).pauseReports();
    const large = JSON.stringify({ ...heartbeat(1), padding: 'x'.repeat(1_000_000) });
    for (let n = 0; n < 80; n++) {
      broker.publish(reportTopic('heartbeat'), large, { qos: 0 });
    }
    return flow;
  },

  async stopped({ run }) {
    const flow = await run();
    await allShow(flow, GATEWAY_NODES, 'connected');
    void flow.node('svc').close(true);
    return flow;
  },

  async 'refused: …'({ broker, run }) {
    broker.options.connackCode = 5;
    return run();
  },

  async 'not subscribed: …'({ broker, run }) {
    broker.options.refuses = (filter) => filter.includes('/device/');
    return run();
  },

  async 'login refused'({ portal, run, send }) {
    portal.login = (_, response) => json(response, {}, 401);
    const flow = await run();
    send(flow, ['asker']);
    return flow;
  },

  async 'service fails: …'({ portal, run, send }) {
    portal.answer = (_, response) => json(response, {}, 503);
    const flow = await run({ httpRetries: 0 });
    send(flow, ['asker']);
    return flow;
  },

  async 'invalid: … (…)'({ run, send }) {
    const flow = await run(
      {},
      {
        'report in': { gateways: ['no MAC'] },
        'device watch': { devices: ['no MAC'] },
      },
    );
    await allShow(flow, GATEWAY_NODES, 'connected');
    send(flow, WITH_INPUT, {
      gateway: 'no MAC',
      labels: 7,
      device: '..',
      payload: {},
      path: 'http://elsewhere/',
    });
    return flow;
  },

  async 'not connected'({ broker, run, send }) {
    const flow = await run({ requestTimeout: 50 });
    await allShow(flow, GATEWAY_NODES, 'connected');
    broker.options.withhold = ['suback'];
    send(flow, GATEWAY_NODES);
    return flow;
  },

  async timeout({ run, send }) {
    const flow = await run({ requestTimeout: 500 });
    await allShow(flow, GATEWAY_NODES, 'connected');
    send(flow, GATEWAY_NODES);
    return flow;
  },

  async 'failed: … (…)'({ broker, run, send }) {
    answerAll(broker, ({ id }) => ({ id, status: 7, errorMessage: 'busy' }));
    const flow = await run();
    send(flow, GATEWAY_NODES);
    return flow;
  },

  async 'failed: status …'({ broker, run, send }) {
    answerAll(broker, ({ id }) => ({ id, status: 7 }));
    const flow = await run();
    send(flow, GATEWAY_NODES);
    return flow;
  },

  async 'HTTP …'({ portal, run, send }) {
    portal.answer = (_, response) => json(response, {}, 404);
    const flow = await run();
    send(flow, REST_NODES);
    return flow;
  },

  async 'network: …'({ portal, run, send }) {
    portal.answer = whoeverElse((response) => response.destroy());
    const flow = await run({ httpRetries: 0 });
    send(flow, REST_NODES);
    for (const _ of REST_NODES) {
      await flow.next('errors');
    }
    send(flow, ['asker']);
    return flow;
  },

  async 'bad response'({ broker, portal, run, send }) {
    answerAll(broker, ({ id }) => ({ id, status: 'none' }));
    const tooLarge = Buffer.alloc(17 * 1024 * 1024, ' ');
    portal.answer = (_, response) => void response.writeHead(200).end(tooLarge);
    const flow = await run();
    send(flow, WITH_INPUT);
    return flow;
  },

  async 'no value'({ run, send }) {
    const flow = await run({}, { 'last value': { tooOld: 'error' } });
    await allShow(flow, ['last value'], 'connected');
    send(flow, ['last value']);
    return flow;
  },

  async 'queue full'({ broker, portal, run, send }) {
    // Acknowledgements have 100 000 places, which another test fills.
    const full = new ServiceError('QUEUE_FULL', 'waiting', { limit: 1 }, { limit: 1 });
    mock.method(Session.prototype, 'acknowledge', () => Promise.reject(full));
    const flow = await run({ maxInFlight: 1, maxQueue: 1 });
    const session = sessionOf(flow);
    const { signal } = new AbortController();
    await session.rest.call({ method: 'GET', path: '/' }, signal);
    portal.answer = hang;
    await allShow(flow, GATEWAY_NODES, 'connected');
    broker.options.withhold = ['suback'];
    for (let request = 0; request < 2; request++) {
      session.request('apiversion', MAC, { signal }).catch(() => {});
    }
    for (let call = 0; call < 10_004; call++) {
      session.rest.call({ method: 'GET', path: '/' }, signal).catch(() => {});
    }
    send(flow, WITH_INPUT);
    return flow;
  },

  async error({ run, send }) {
    const fail = () => {
      throw new TypeError('a fault of ours');
    };
    for (const method of ['subscribe', 'request', 'acknowledge'] as const) {
      mock.method(Session.prototype, method, fail);
    }
    for (const method of ['listPages', 'rename', 'createLabel', 'call'] as const) {
      mock.method(ServiceCalls.prototype, method, fail);
    }
    const flow = await run();
    // *last value* knows before a message comes.
    const others = GATEWAY_NODES.filter((name) => name !== 'last value');
    await allShow(flow, others, 'connected');
    send(flow, WITH_INPUT);
    return flow;
  },

  'no service': ({ run }) => run({}, { all: { service: '' } }),
  'service does not run': ({ run }) => run({ d: true }),
  'no REST address': ({ run }) => run({ authUrl: '', baseUrl: '' }, { 'report in': { labels: ['office'] } }),
  'no REST login': ({ run }) => run({ login: { username: 'anna' } }),
  '… is not set': ({ run }) => run({ brokerUrl: UNSET, authUrl: UNSET, baseUrl: '' }),
  'no broker address': ({ run }) => run({ brokerUrl: '' }),
};

describeNodes('the statuses', (start) => {
  let broker: ScriptedBroker;
  let portal: TestServer;
  let ground: Ground;

  before(async () => {
    broker = await startScriptedBroker();
  });
  after(() => broker.stop());

  beforeEach(async () => {
    portal = await startServer((_, response) => listed(response));
    ground = { broker, portal, run, deploy, send };
  });
  afterEach(async () => {
    mock.reset();
    await portal.stop();
    await broker.kill();
    await broker.reset();
    await broker.start();
  });

  const flowWith = (...[service = {}, changes = {}]: Parameters<Ground['run']>) => {
    const urls = { authUrl: portal.url, baseUrl: portal.url, brokerUrl: broker.url };
    const { login = { username: 'anna', password: 'secret' }, ...properties } = service;
    const config = { id: 'svc', type: 'mt-service', name: '', ...urls, ...properties };
    const nodes = [...ALL.map((id) => ({ id, ...NODES[id]?.node })), { id: 'asker', ...ASKER.asker }];
    const changed = nodes.map((node) => ({ ...node, ...changes.all, ...changes[node.id] }));
    return { flow: flowAround(config, ...changed), credentials: { svc: login } };
  };

  const run: Ground['run'] = (...properties) => {
    const { flow, credentials } = flowWith(...properties);
    return start(flow, { credentials });
  };

  const deploy: Ground['deploy'] = async (running, ...properties) => {
    const { flow, credentials } = flowWith(...properties);
    await running.deploy(flow, 'nodes', credentials);
  };

  let asked = 0;
  const send: Ground['send'] = (flow, names, more = {}) => {
    for (const name of names) {
      // What was read in an earlier test is known already.
      const fresh = name === 'last value' ? { identifier: `property-${asked++}` } : {};
      flow.send(name, { ...NODES[name]?.msg, ...fresh, ...more });
    }
  };

  it('are all in the page', () => {
    assert.deepEqual(ROWS.map(({ text }) => text).sort(), Object.keys(WAYS).sort());
  });

  for (const { text, fill, shape, nodes } of ROWS) {
    it(`show "${text}" as a ${fill} ${shape} at ${nodes.join(', ')}`, async () => {
      const flow = (await WAYS[text]?.(ground)) as Flow;
      const parts = text.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
      const isMeant = (status: NodeStatus) => new RegExp(`^${parts.join('.+')}$`).test(status.text ?? '');
      for (const name of nodes) {
        const status = await flow.statuses(name).next(isMeant);
        assert.deepEqual([name, status.fill, status.shape], [name, fill, shape]);
      }
    });
  }

  it('show what is wrong with the addresses of the REST half before the first message', async () => {
    const flow = await run({ baseUrl: 'api.example.com' });
    for (const name of REST_NODES) {
      const { text, fill } = await flow.statuses(name).next();
      assert.deepEqual([text, fill], ['invalid: Device address (not a usable address)', 'red']);
    }
  });

  for (const [half, addresses, names] of [
    ['MQTT', { brokerUrl: UNSET }, [...GATEWAY_NODES, 'report in', 'device watch']],
    ['REST', { authUrl: UNSET, baseUrl: '' }, REST_NODES],
    ['REST', { authUrl: ' ', baseUrl: UNSET }, REST_NODES],
    ['REST', { authUrl: UNSET }, REST_NODES],
    ['MQTT', { brokerUrl: `mqtt://127.0.0.1:1, ${UNSET}` }, [...GATEWAY_NODES, 'report in', 'device watch']],
  ] as const) {
    it(`name the variable that is not set as an address of the ${half} half: ${JSON.stringify(addresses)}`, async () => {
      const flow = await run(addresses);
      for (const name of names) {
        const { text, fill } = await flow.statuses(name).next();
        assert.deepEqual([name, text, fill], [name, `${UNSET} is not set`, 'red']);
      }
    });
  }

  for (const [title, value] of [
    ['not set', undefined],
    ['empty', ''],
  ] as const) {
    it(`name the variable that names their service and is ${title}`, async () => {
      if (value !== undefined) {
        process.env.MT_SERVICE = value;
      }
      const flow = await run({}, { all: { service: '${MT_SERVICE}' } });
      delete process.env.MT_SERVICE;
      for (const name of ALL) {
        const { text, fill } = await flow.statuses(name).next();
        assert.deepEqual([name, text, fill], [name, '${MT_SERVICE} is not set', 'red']);
      }
    });
  }

  for (const [service, names, expected] of [
    [{ brokerUrl: UNSET, authUrl: '', baseUrl: '' }, REST_NODES, 'no REST address'],
    [{ brokerUrl: 'http://host', authUrl: '', baseUrl: '' }, REST_NODES, 'no REST address'],
    [{ brokerUrl: '', authUrl: UNSET }, GATEWAY_NODES, 'no broker address'],
    [{ brokerUrl: '', httpTimeout: -1 }, GATEWAY_NODES, 'no broker address'],
  ] as const) {
    it(`name no mistake of the half that they do not need, where that is the only one: ${JSON.stringify(service)}`, async () => {
      const flow = await run(service);
      for (const name of names) {
        assert.equal((await flow.statuses(name).next()).text, expected, name);
      }
    });
  }

  it('keep the error of the last message until the next one', async () => {
    const flow = await run();
    await allShow(flow, GATEWAY_NODES, 'connected');
    send(flow, WITH_INPUT, {
      gateway: 'no MAC',
      labels: 7,
      device: '..',
      payload: {},
      path: 'http://elsewhere/',
    });
    for (const name of ASKING) {
      await flow.statuses(name).next(({ fill }) => fill === 'red');
    }
    await turn();
    const last = (name: string) => flow.statuses(name).all.at(-1);
    assert.deepEqual(
      ASKING.map((name) => last(name)?.fill),
      ASKING.map(() => 'red'),
    );
    answerAll(broker, ({ id }) => ({ id, value: '03040100' }));
    send(flow, WITH_INPUT);
    await allShow(flow, GATEWAY_NODES, 'connected');
    await allShow(flow, ['rename', 'label', 'service request'], 'ready');
    await allShow(flow, ['list devices'], 'devices found: 1');
  });

  it('have one word for what is fine, before a message and after it, where that brings no number', async () => {
    const flow = await run();
    await allShow(flow, GATEWAY_NODES, 'connected');
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await allShow(flow, ['device watch'], '0 of 1 need somebody');
    answerAll(broker, ({ id }) => ({ id, value: '03040100' }));
    send(flow, WITH_INPUT);
    for (const name of WITH_INPUT.filter((name) => name !== 'list devices')) {
      await flow.statuses(name).next(({ fill }) => fill === 'blue');
      await flow.statuses(name).next(({ fill }) => fill === 'green');
      const fine = flow.statuses(name).all.filter(({ fill }) => fill === 'green');
      const asked = GATEWAY_NODES.includes(name) ? 'connected' : 'ready';
      const word = name === 'device watch' ? '0 of … need somebody' : asked;
      assert.deepEqual(
        [...new Set(fine.map(({ text }) => text?.replace(/ of \d+ /, ' of … ')))],
        [word],
        name,
      );
    }
  });

  it('forget the error of the last message to a gateway when the connection has been away', async () => {
    const flow = await run({ requestTimeout: 500 });
    await allShow(flow, GATEWAY_NODES, 'connected');
    send(flow, GATEWAY_NODES);
    await allShow(flow, GATEWAY_NODES, 'timeout');
    broker.drop();
    for (const name of GATEWAY_NODES) {
      await flow.statuses(name).next(({ fill }) => fill === 'yellow');
    }
    await allShow(flow, GATEWAY_NODES, 'connected');
  });
});
