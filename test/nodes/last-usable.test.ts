// What stays of a service while a deploy leaves its broker half wrong, in a real Node-RED.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { NodeAPI } from 'node-red';
import { D, G, heartbeat, reportTopic, TIME } from '../mqtt/scripted.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { flowAround } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const load = createRequire(`${process.cwd()}/`);
const tlsConfig = load('@node-red/nodes/core/network/05-tls.js') as (RED: NodeAPI) => void;

const IN = { id: 'in', type: 'mt-report-in' };
const VALUE = {
  ...{ id: 'value', type: 'mt-last-value', tooOld: 'error' },
  ...{ device: D, deviceType: 'str', identifier: '8800', identifierType: 'str' },
};
const WATCH = { id: 'watch', type: 'mt-device-watch', conditions: ['error'] };
const CLIENT_ID = 'mt-kept';

const MISTAKES: Record<string, object> = {
  'its keep alive': { keepalive: 70_000 },
  'a variable of its topic prefix': { topicPrefix: '$' + '{MT_NOT_SET}' },
  'its topic prefix': { topicPrefix: 'site/#' },
  'its broker address': { brokerUrl: 'mqqt://127.0.0.1' },
  'its client id': { clientId: G },
  'its own entries of the catalogue': { identifiers: '[{"id":"zz"}]' },
  'its keep alive, and with another client id': { keepalive: 70_000, clientId: 'mt-other' },
  'its TLS settings, and with another client id': { tls: 'gone', clientId: 'mt-other' },
  'its proxy, and with another client id': { proxy: 'gone', clientId: 'mt-other' },
};

const serviceAt = (broker: ScriptedBroker, more: object) => ({
  ...{ id: 'svc', type: 'mt-service', name: '', brokerUrl: broker.url },
  ...{ persistent: true, clientId: CLIENT_ID, ...more },
});

describeNodes('a service with a mistake in', (start) => {
  let broker: ScriptedBroker;

  beforeEach(async () => {
    broker = await startScriptedBroker();
  });
  afterEach(() => broker.stop());

  const service = (more: object = {}) => serviceAt(broker, more);
  const held = () => broker.sessions.get(CLIENT_ID)?.subscriptions.size;
  const isGivenBack = () => broker.until(() => held() === 0 && broker.openConnections.length === 0);

  /** What the deploy has closed has left the broker. */
  async function deployed(flow: Flow, nodes: object[], type: 'full' | 'nodes' | 'flows' = 'nodes') {
    await flow.deploy(nodes, type);
    await broker.until(() => broker.openConnections.length === 0);
  }

  for (const [what, mistake] of Object.entries(MISTAKES)) {
    it(`${what} keeps its subscriptions and what waits for them until it is right again`, async () => {
      const flow = await start(flowAround(service(), IN));
      await flow.status('in', 'green');
      await deployed(flow, flowAround(service(mistake), IN));
      broker.publish(reportTopic('heartbeat'), heartbeat(1));
      assert.equal(held(), 1);
      await flow.deploy(flowAround(service(), IN), 'nodes');
      assert.equal((await flow.next('out')).topic, reportTopic('heartbeat'));
    });

    it(`${what} gives its subscriptions back when a deploy deletes it`, async () => {
      const flow = await start(flowAround(service(), IN));
      await flow.status('in', 'green');
      await deployed(flow, flowAround(service(mistake), IN));
      await flow.deploy([{ id: 'f', type: 'tab' }], 'nodes');
      await isGivenBack();
    });
  }

  it('a variable of its user name, and with another client id, keeps its subscriptions until it is right again', async () => {
    const flow = await start(flowAround(service(), IN));
    await flow.status('in', 'green');
    const secrets = { svc: { mqttUsername: '$' + '{MT_NOT_SET}' } };
    await flow.deploy(flowAround(service({ clientId: 'mt-other' }), IN), 'nodes', secrets);
    await broker.until(() => broker.openConnections.length === 0);
    assert.equal(held(), 1);
    await flow.deploy(flowAround(service(), IN), 'nodes', { svc: { mqttUsername: '' } });
    await broker.until(() => broker.openConnections.length === 1);
    assert.equal(broker.packets('unsubscribe').length, 0);
  });

  it('its TLS settings, which are disabled, and with another client id, keeps its subscriptions', async () => {
    const trust = { id: 'trust', type: 'tls-config', d: true };
    const flow = await start(flowAround(service(), IN), { nodes: [tlsConfig] });
    await flow.status('in', 'green');
    await deployed(flow, [trust, ...flowAround(service({ tls: 'trust', clientId: 'mt-other' }), IN)]);
    assert.equal(held(), 1);
  });

  it('its TLS settings, of which a file cannot be read, gives its subscriptions back for another client id', async () => {
    const trust = { id: 'trust', type: 'tls-config', ca: '/nowhere/ca.pem' };
    const flow = await start(flowAround(service(), IN), { nodes: [tlsConfig] });
    await flow.status('in', 'green');
    await deployed(flow, [trust, ...flowAround(service({ tls: 'trust', clientId: 'mt-other' }), IN)]);
    await flow.status('in', 'red');
    assert.equal(held(), 0);
  });

  it('its TLS settings gives its subscriptions back when a deploy takes its broker address away', async () => {
    const flow = await start(flowAround(service(), IN));
    await flow.status('in', 'green');
    await deployed(flow, flowAround(service({ tls: 'gone' }), IN));
    await flow.deploy(flowAround(service({ tls: 'gone', brokerUrl: '' }), IN), 'nodes');
    await isGivenBack();
  });

  for (const what of ['its topic prefix', 'its broker address', 'its own entries of the catalogue']) {
    it(`${what} knows and has told what it had when it is right again`, async () => {
      const flow = await start(flowAround(service(), VALUE, WATCH));
      await flow.status('watch', 'grey');
      broker.publish(reportTopic('property/8800'), { time: TIME, value: '0a01' });
      broker.publish(reportTopic('heartbeat'), { ...heartbeat(1), status: 5 });
      assert.equal((await flow.next('out')).topic, 'error');
      await deployed(flow, flowAround(service(MISTAKES[what]), VALUE, WATCH));
      await flow.deploy(flowAround(service(), VALUE, WATCH), 'nodes');
      await flow.statuses('watch').next(({ text }) => text?.startsWith('1 of') === true);
      flow.send('value', {});
      assert.equal((await flow.next('out')).payload, 25.61);
    });
  }

  const WRONG = { topicPrefix: 'site/#' };
  const ENDS: Record<string, [type: 'full' | 'nodes' | 'flows', after: () => object[]]> = {
    'deletes it, in full': ['full', () => []],
    'deletes it, with the changed flows': ['flows', () => []],
    'disables it': ['nodes', () => flowAround(service({ d: true, ...WRONG }), IN)],
    'puts another one in its place': ['nodes', () => flowAround(service({ id: 'two', clientId: 'x' }))],
    'corrects it and changes its client id': ['nodes', () => flowAround(service({ clientId: 'x' }))],
    'corrects it and leaves it without a node': ['nodes', () => flowAround(service())],
    'takes its broker address away': ['nodes', () => flowAround(service({ brokerUrl: '' }))],
  };
  for (const [what, [type, after]] of Object.entries(ENDS)) {
    it(`its topic prefix gives its subscriptions back when a deploy ${what}`, async () => {
      const flow = await start(flowAround(service(), IN));
      await flow.status('in', 'green');
      await deployed(flow, flowAround(service(WRONG), IN));
      await deployed(flow, flowAround(service({ ...WRONG, persistent: false }), IN));
      const nodes = after().filter(({ type: t }: { type?: string }) => t !== 'tab');
      await flow.deploy([{ id: 'f', type: 'tab' }, ...nodes], type);
      await isGivenBack();
    });
  }

  const FOLLOWED: Record<string, [type: 'full' | 'nodes', services: object[]]> = {
    'deletes it': ['nodes', []],
    'deletes it, in full': ['full', []],
    'disables it': ['nodes', [{ ...WRONG, d: true }]],
    'corrects it and changes its client id': ['nodes', [{ clientId: 'x' }]],
  };
  for (const [what, [type, services]] of Object.entries(FOLLOWED)) {
    it(`its topic prefix leaves the session to another service with its client id when a deploy ${what}`, async () => {
      const withTwin = (services: object[]) => {
        const twin = service({ id: 'twin' });
        return [...flowAround(twin, { ...IN, service: 'twin' }), ...services.map((more) => service(more))];
      };
      const flow = await start(flowAround(service(), IN));
      await flow.status('in', 'green');
      await deployed(flow, flowAround(service(WRONG), IN));
      await flow.deploy(withTwin([WRONG]), 'nodes');
      await flow.status('in', 'green');
      // Node-RED ends services in the order in which it has made them.
      await flow.deploy(withTwin([{ ...WRONG, keepalive: 30 }]), 'nodes');
      await flow.deploy(withTwin(services), type);
      assert.equal(broker.packets('unsubscribe').length, 0);
      assert.equal(held(), 1);
    });
  }

  describe('its topic prefix, inside a subflow,', () => {
    const place = { x: 1, y: 1, wires: [] };
    const inSubflow = (more: object, ids: string[]) => [
      { id: 'f', type: 'tab' },
      { id: 's', type: 'subflow', name: 's', in: [], out: [] },
      { ...service(more), z: 's' },
      { ...place, ...IN, z: 's', service: 'svc' },
      ...ids.map((id) => ({ ...place, id, z: 'f', type: 'subflow:s' })),
    ];

    async function startWrong(more: object = {}): Promise<Flow> {
      const flow = await start(inSubflow(more, ['one']));
      await broker.until(() =>
        [...broker.sessions.values()].some(({ subscriptions }) => subscriptions.size === 1),
      );
      await deployed(flow, inSubflow({ ...more, ...WRONG }, ['one']), 'full');
      return flow;
    }

    it('gives its subscriptions back when a deploy deletes the instance', async () => {
      const flow = await startWrong();
      assert.equal(held(), 1);
      await flow.deploy(inSubflow(WRONG, []), 'full');
      await isGivenBack();
    });

    it('keeps its subscriptions over a deploy that puts another instance in its place', async () => {
      const flow = await startWrong();
      await flow.deploy(inSubflow(WRONG, ['two']), 'full');
      await flow.deploy(inSubflow({}, ['two']), 'full');
      await broker.until(() => broker.openConnections.length === 1);
      assert.equal(broker.packets('unsubscribe').length, 0);
      assert.equal(held(), 1);
    });

    it('gives its subscriptions back when a deploy deletes the other instance that was put in its place', async () => {
      const flow = await startWrong();
      await flow.deploy(inSubflow(WRONG, ['two']), 'full');
      await flow.deploy(inSubflow(WRONG, []), 'full');
      await isGivenBack();
    });

    it('gives its subscriptions back when the other instance in its place has a client id of its own', async () => {
      const flow = await startWrong({ clientId: '' });
      await flow.deploy(inSubflow({ ...WRONG, clientId: '' }, ['two']), 'full');
      await broker.until(() =>
        [...broker.sessions.values()].every(({ subscriptions }) => subscriptions.size === 0),
      );
    });
  });

  it('a property of its subflow gives its subscriptions back when that is corrected with another client id', async () => {
    const place = { x: 1, y: 1, wires: [] };
    const inSubflow = (prefix: string, clientId: string) => [
      { id: 'f', type: 'tab' },
      { id: 's', type: 'subflow', name: 's', in: [], out: [], env: [{ name: 'P', type: 'str', value: '' }] },
      { ...service({ topicPrefix: '$' + '{P}', clientId }), z: 's' },
      { ...place, ...IN, z: 's', service: 'svc' },
      { ...place, id: 'one', z: 'f', type: 'subflow:s', env: [{ name: 'P', type: 'str', value: prefix }] },
    ];
    const flow = await start(inSubflow('', CLIENT_ID));
    await broker.until(() => held() === 1);
    await deployed(flow, inSubflow('site/#', CLIENT_ID), 'full');
    assert.equal(held(), 1);
    await flow.deploy(inSubflow('', 'mt-other'), 'full');
    await broker.until(() => held() === 0 && broker.sessions.get('mt-other')?.subscriptions.size === 1);
  });

  for (const [what, value] of Object.entries({
    'is empty': '',
    'is separators only': ' , ',
    'is not set': undefined,
  })) {
    describe(`its broker address, by a variable that ${what},`, () => {
      const BY_VARIABLE = { brokerUrl: '$' + '{MT_TEST_ADDRESS}' };
      const withAddress = (address: string | undefined, ...nodes: object[]) => {
        delete process.env.MT_TEST_ADDRESS;
        Object.assign(process.env, address !== undefined && { MT_TEST_ADDRESS: address });
        return flowAround(service(BY_VARIABLE), ...nodes);
      };

      after(() => {
        delete process.env.MT_TEST_ADDRESS;
      });

      it('knows what it had when it is right again', async () => {
        const flow = await start(withAddress(broker.url, IN, VALUE));
        await flow.status('in', 'green');
        // Of QoS 0: the deploy begins before the broker could be told that it has arrived.
        broker.publish(reportTopic('property/8800'), { time: TIME, value: '0a01' }, { qos: 0 });
        await flow.next('out');
        await deployed(flow, withAddress(value, IN, VALUE), 'full');
        broker.publish(reportTopic('heartbeat'), heartbeat(1));
        await flow.deploy(withAddress(broker.url, IN, VALUE), 'full');
        assert.equal((await flow.next('out')).topic, reportTopic('heartbeat'));
        flow.send('value', {});
        assert.equal((await flow.next('out')).payload, 25.61);
      });

      it('gives its subscriptions back when a deploy deletes it', async () => {
        const flow = await start(withAddress(broker.url, IN));
        await flow.status('in', 'green');
        await deployed(flow, withAddress(value, IN), 'full');
        await deployed(flow, withAddress(value, IN), 'full');
        assert.equal(held(), 1);
        await flow.deploy([{ id: 'f', type: 'tab' }], 'full');
        await isGivenBack();
      });
    });
  }

  it('its topic prefix has forgotten everything when it is right again for another network', async () => {
    const flow = await start(flowAround(service(), IN, VALUE));
    await flow.status('in', 'green');
    broker.publish(reportTopic('property/8800'), { time: TIME, value: '0a01' });
    await flow.next('out');
    await deployed(flow, flowAround(service(WRONG), IN, VALUE));
    await flow.deploy(flowAround(service({ topicPrefix: 'site/' }), IN, VALUE), 'nodes');
    flow.send('value', {});
    const { error } = await flow.next('errors', (msg) => msg.error?.source?.id === 'value');
    assert.equal(error?.code, 'NO_VALUE');
  });
});

describeNodes('a service that nobody uses, with the session of another,', (start) => {
  let broker: ScriptedBroker;

  beforeEach(async () => {
    broker = await startScriptedBroker();
  });
  afterEach(() => broker.stop());

  const service = (more: object = {}) => serviceAt(broker, more);
  const ENDS: Record<string, () => object[]> = {
    'deletes it': () => [],
    'gives it a client id of its own': () => [service({ id: 'copy', clientId: 'mt-other' })],
    'gives it another broker': () => [service({ id: 'copy', brokerUrl: 'mqtt://127.0.0.1:1' })],
  };
  for (const [what, after] of Object.entries(ENDS)) {
    it(`leaves it alone when a deploy ${what}`, async () => {
      const flow = await start([...flowAround(service(), IN), service({ id: 'copy' })]);
      await flow.status('in', 'green');
      await flow.deploy([...flowAround(service(), IN), ...after()], 'nodes');
      broker.publish(reportTopic('heartbeat'), heartbeat(1));
      await flow.next('out');
      assert.equal(broker.connections.length, 1);
      assert.equal(broker.packets('unsubscribe').length, 0);
    });
  }
});
