// Reports that wait for labels over deploys that replace the service, in a real Node-RED.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { NodeStatus } from 'node-red';
import { D, G, heartbeat, reportTopic } from '../mqtt/scripted.ts';
import { json, startServer, type TestServer } from '../rest/server.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { flowAround } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const HELD = { id: 'held', z: 'f', x: 1, y: 1, type: 'helper', wires: [] };
/** Shows that the labelled one has received it as well. */
const ALL = { id: 'all', type: 'mt-report-in' };
const IN = { id: 'in', type: 'mt-report-in', labels: ['a'], wires: [['held']] };
const SERVICE_BY_VARIABLE = { ...IN, service: '$' + '{MT_HELD_SERVICE}' };

describeNodes('what waits for labels', (start) => {
  let broker: ScriptedBroker;
  let portal: TestServer;
  let waiting: ServerResponse[] | undefined;

  const list = (response: ServerResponse) =>
    json(response, { items: [{ id: `bmac-${G}`, labels: ['a'], connectivity: {} }] });
  const answerAll = () => {
    const all = waiting ?? [];
    waiting = undefined;
    all.forEach(list);
  };

  before(() => {
    process.env.MT_HELD_SERVICE = 'svc';
  });
  after(() => {
    delete process.env.MT_HELD_SERVICE;
  });
  beforeEach(async () => {
    waiting = [];
    broker = await startScriptedBroker();
    portal = await startServer((_, response) => (waiting ? waiting.push(response) : list(response)));
  });
  afterEach(async () => {
    await Promise.all([broker.stop(), portal.stop()]);
  });

  const service = (more: object = {}) => ({
    ...{ id: 'svc', type: 'mt-service', name: '', brokerUrl: broker.url },
    ...{ authUrl: portal.url, baseUrl: portal.url, names: false, ...more },
  });
  const credentials = () => ({ svc: { username: 'u', password: 'p' } });
  const flowOf = (more: object, node: object = IN) => [...flowAround(service(more), ALL, node), HELD];
  const numberOf = ({ payload }: { payload?: unknown }) => (payload as { n: number }).n;

  /** Three reports wait. */
  async function startHolding(more: object = {}, node: object = IN): Promise<Flow> {
    const flow = await start(flowOf(more, node), {
      credentials: credentials(),
    });
    await flow.statuses('in').next(({ text }) => text === 'waiting for labels');
    await flow.status('all', 'green');
    for (let n = 0; n < 3; n++) {
      broker.publish(reportTopic('heartbeat', G, D), heartbeat(n));
      await flow.next('out');
    }
    return flow;
  }

  async function assertAllCome(flow: Flow): Promise<void> {
    for (let n = 0; n < 3; n++) {
      assert.equal(numberOf(await flow.next('held')), n);
    }
  }

  const WRONG_PORTAL = { authHeader: 'no header' };
  const DEPLOYS: Record<
    string,
    [type: 'full' | 'nodes' | 'flows', before: object, deploys: object[], node?: object]
  > = {
    'of all nodes': ['full', {}, [{}]],
    'that changes the service': ['nodes', {}, [{ httpTimeout: 14_000 }]],
    'that corrects the portal half': ['nodes', WRONG_PORTAL, [{}]],
    'that corrects the portal half, with its flow': ['flows', WRONG_PORTAL, [{}]],
    'that corrects both halves after one that spoilt the other': [
      'nodes',
      WRONG_PORTAL,
      [{ ...WRONG_PORTAL, topicPrefix: 'site/#' }, {}],
    ],
    'that corrects what is wrong with the whole service': [
      'full',
      {},
      [{ identifiers: '[{"id":"zz"}]' }, {}],
    ],
    'that corrects the portal half, at a node that names the service by a variable': [
      'nodes',
      WRONG_PORTAL,
      [{}],
      SERVICE_BY_VARIABLE,
    ],
  };
  for (const [what, [type, before, deploys, node]] of Object.entries(DEPLOYS)) {
    it(`comes after a deploy ${what}`, async () => {
      const flow = await startHolding(before, node);
      for (const more of deploys) {
        await flow.deploy(flowOf(more, node), type, credentials());
      }
      answerAll();
      await assertAllCome(flow);
    });
  }

  const LOSSES: Record<string, () => object[]> = {
    'removes the node': () => [...flowAround(service(), ALL), HELD],
    'disables the node': () => flowOf({}, { ...IN, d: true }),
    'disables the flow of the node': () =>
      flowOf({}).map((node) => ({ ...node, ...((node as { id: string }).id === 'f' && { disabled: true }) })),
    'gives the service another topic prefix': () => flowOf({ topicPrefix: 'site/' }),
    'deletes the service and leaves the node': () =>
      flowOf({}).filter(({ type }: { type?: string }) => type !== 'mt-service'),
    'gives the node another service': () => [
      ...flowOf({}, { ...IN, service: 'svc2' }),
      { ...service({ clientId: 'two' }), id: 'svc2' },
    ],
  };
  for (const [what, nodes] of Object.entries(LOSSES)) {
    it(`is told in the log with its number when a deploy ${what}`, async () => {
      const flow = await startHolding();
      const warnings: unknown[] = [];
      flow.node('svc').warn = (text) => void warnings.push(text);
      await flow.deploy(nodes(), 'nodes', credentials());
      assert.deepEqual(warnings, [
        '3 reports that waited for labels or flows are given up: node in does not wait for them any more',
      ]);
    });
  }

  it('goes with a node that a deploy removes', async () => {
    const flow = await startHolding();
    await flow.deploy([...flowAround(service(), ALL), HELD], 'nodes', credentials());
    await flow.deploy(flowOf({}), 'nodes', credentials());
    await flow.statuses('in').next((status?: NodeStatus) => status?.text === 'waiting for labels');
    answerAll();
    await flow.status('in', 'green');
    broker.publish(reportTopic('heartbeat', G, D), heartbeat(7));
    assert.equal(numberOf(await flow.next('held')), 7);
  });
});
