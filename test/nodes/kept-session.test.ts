// What a deploy leaves of a persistent session at the broker, in a real Node-RED.
import assert from 'node:assert/strict';
import { heartbeat, reportTopic } from '../mqtt/scripted.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { flowAround } from './box-flow.ts';
import { describeNodes, type Message } from './flow.ts';

const IN = { id: 'in', type: 'mt-report-in' };
const CLIENT_ID = 'mt-kept';
/** Nobody listens there. */
const OTHER = 'mqtt://127.0.0.1:9';

describeNodes('a persistent session', (start) => {
  let broker: ScriptedBroker;

  beforeEach(async () => {
    broker = await startScriptedBroker();
  });
  afterEach(() => broker.stop());

  const service = (more: object = {}) => ({
    ...{ id: 'svc', type: 'mt-service', name: '', brokerUrl: broker.url },
    ...{ persistent: true, clientId: CLIENT_ID, ...more },
  });
  const held = () => broker.sessions.get(CLIENT_ID)?.subscriptions.size;
  const PLACE = { x: 1, y: 1, wires: [] };
  /** Of a subflow with a service of its own. */
  const instances = (more: object, ids: string[]) => [
    { id: 'f', type: 'tab' },
    { id: 's', type: 'subflow', name: 's', in: [], out: [] },
    { ...service(more), z: 's' },
    { ...PLACE, ...IN, z: 's', service: 'svc' },
    ...ids.map((id) => ({ ...PLACE, id, z: 'f', type: 'subflow:s' })),
  ];
  /** Each with the list of addresses from which the deploy comes. */
  const DEPLOYS: Record<
    string,
    [isKept: boolean, type: 'full' | 'nodes', flow: () => object[], before?: () => string]
  > = {
    'deletes it with its nodes': [false, 'full', () => []],
    'deletes it with its nodes and nothing else': [false, 'nodes', () => []],
    'deletes its last node, with a restart of the service': [false, 'full', () => [service()]],
    'deletes its last node': [false, 'nodes', () => [service()]],
    'gives it another client id': [false, 'full', () => flowAround(service({ clientId: 'x' }), IN)],
    'gives it another address': [
      false,
      'nodes',
      () => flowAround(service({ brokerUrl: broker.url.replace('127.0.0.1', 'localhost') }), IN),
    ],
    'restarts it': [true, 'full', () => flowAround(service({ name: 'x' }), IN)],
    'adds an address': [
      true,
      'nodes',
      () => flowAround(service({ brokerUrl: `${broker.url},${OTHER}` }), IN),
    ],
    'turns the order of its addresses': [
      true,
      'nodes',
      () => flowAround(service({ brokerUrl: `${OTHER}, ${broker.url}` }), IN),
      () => `${broker.url}, ${OTHER}`,
    ],
    'takes another address away': [
      true,
      'nodes',
      () => flowAround(service(), IN),
      () => `${broker.url}, ${OTHER}`,
    ],
    'names the address by a variable': [
      true,
      'nodes',
      () => flowAround(service({ brokerUrl: '$' + '{MT_KEPT_BROKER}' }), IN),
    ],
  };
  it('gives back its subscriptions when a deploy deletes the instance of its subflow, and keeps those of others', async () => {
    const flow = (...ids: string[]) => instances({ clientId: '' }, ids);
    const holders = () => [...broker.sessions.values()].filter(({ subscriptions }) => subscriptions.size > 0);
    const started = await start(flow('one', 'two'));
    await broker.until(() => holders().length === 2);
    await started.deploy(flow('one'), 'nodes');
    await broker.until(() => holders().length === 1);
    await started.deploy(flow('one'), 'full');
    await broker.until(() => broker.packets('connect').length === 4);
    assert.deepEqual([holders().length, broker.packets('unsubscribe').length], [1, 1]);
    await started.deploy([{ id: 'f', type: 'tab' }], 'full');
    await broker.until(() => holders().length === 0 && broker.openConnections.length === 0);
  });

  it('leaves them to an instance that a deploy puts in the place of another one, with its client id', async () => {
    const flow = (...ids: string[]) => instances({}, ids);
    const started = await start(flow('one'));
    const subscribed = (count: number) => broker.until(() => broker.packets('subscribe').length === count);
    await subscribed(1);
    await started.deploy(flow('two'), 'full');
    await subscribed(2);
    await started.deploy([{ id: 'f', type: 'tab' }], 'full');
    await broker.until(() => held() === 0);
    // The last one is of who gives them back at the end.
    assert.deepEqual([broker.packets('connect').length, broker.packets('unsubscribe').length], [3, 1]);
  });

  it('gives back its subscriptions when a deploy moves it to a flow that is disabled', async () => {
    const flow = (more: object) => [
      ...flowAround(service(more), IN),
      { id: 'off', type: 'tab', disabled: true },
    ];
    const started = await start(flow({}));
    await started.status('in', 'green');
    await started.deploy(flow({ z: 'off' }), 'nodes');
    await broker.until(() => held() === 0 && broker.openConnections.length === 0);
  });

  const copy = (more: object = {}) => service({ id: 'copy', ...more });
  /** Node-RED makes and ends services in this order. */
  const ORDERS: Record<string, (flow: object[], one: object) => object[]> = {
    before: (flow, one) => [one, ...flow],
    behind: (flow, one) => [...flow, one],
  };
  for (const [where, withCopy] of Object.entries(ORDERS)) {
    it(`gives back its subscriptions when a deploy deletes it, though a copy ${where} it has the client id without keeping anything`, async () => {
      const passing = copy({ persistent: false });
      const started = await start(withCopy(flowAround(service(), IN), passing));
      await started.status('in', 'green');
      await started.deploy([{ id: 'f', type: 'tab' }, passing], 'nodes');
      await broker.until(() => held() === 0 && broker.openConnections.length === 0);
    });

    const REST = { authUrl: 'http://127.0.0.1:9/a', baseUrl: 'http://127.0.0.1:9/b' };
    const COPIES: Record<string, [copy: () => object, users: object[]]> = {
      'nobody uses': [() => copy(), []],
      'is for REST alone': [
        () => copy(REST),
        [{ ...PLACE, id: 'list', type: 'mt-device-list', z: 'f', service: 'copy' }],
      ],
    };
    const CHANGES: Record<string, [type: 'full' | 'nodes', change: object[], connects: number]> = {
      'restarts it': ['full', [], 2],
      'changes another flow': ['nodes', [{ id: 'g', type: 'tab' }], 1],
    };
    for (const [who, [made, users]] of Object.entries(COPIES)) {
      for (const [what, [type, change, connects]] of Object.entries(CHANGES)) {
        it(`stays with it when a deploy ${what}, though a copy ${where} it, which ${who}, has the client id`, async () => {
          const flow = withCopy(flowAround(service(), IN), made()).concat(users);
          const started = await start(flow);
          await started.status('in', 'green');
          await started.deploy([...flow, ...change], type);
          await broker.until(() => broker.packets('subscribe').length === connects);
          // What the first one has begun shows with the second one.
          await started.deploy([...flow, ...change, { id: 'h', type: 'tab' }], 'nodes');
          broker.publish(reportTopic('heartbeat'), heartbeat(1));
          await started.next('out');
          assert.equal(broker.connections.length, connects);
          assert.deepEqual(broker.packets('unsubscribe'), []);
        });
      }
    }

    it(`goes over to a copy ${where} it when a deploy gives that the node`, async () => {
      const flow = (id: string) => withCopy(flowAround(service(), { ...IN, service: id }), copy());
      const started = await start(flow('svc'));
      await started.status('in', 'green');
      const goesOver = broker.next('subscribe');
      await started.deploy(flow('copy'), 'nodes');
      await goesOver;
      await started.deploy([...flow('copy'), { id: 'g', type: 'tab' }], 'nodes');
      broker.publish(reportTopic('heartbeat'), heartbeat(1));
      await started.next('out');
      assert.equal(broker.connections.length, 2);
      assert.deepEqual(broker.packets('unsubscribe'), []);
    });

    for (const isAway of [false, true]) {
      const when = isAway ? 'while the broker is away' : 'at once';
      it(`brings what is open again, and nothing that was acknowledged, when a deploy gives its nodes to a copy ${where} it, ${when}`, async () => {
        const flow = (id: string) =>
          withCopy(
            flowAround(
              service(),
              { ...IN, service: id, confirm: 'acknowledged' },
              { id: 'ack', type: 'mt-timestamped-ack', service: id, wires: [['after']] },
              { id: 'after', type: 'helper', wires: [] },
            ),
            copy(),
          );
        const started = await start(flow('svc'));
        await started.status('in', 'green');
        const told: unknown[] = [];
        started.node('svc').warn = (text) => /given up/.test(String(text)) && told.push(text);
        const numberOf = (msg: Message) => (msg as { report?: { n?: unknown } }).report?.n;
        for (const n of [1, 2]) {
          broker.publish(reportTopic('heartbeat'), heartbeat(n));
        }
        await started.next('out');
        started.send('ack', await started.next('out'));
        await started.next('after');
        if (isAway) {
          await broker.kill();
          await started.status('in', 'yellow');
        }
        await started.deploy(flow('copy'), 'nodes');
        if (isAway) {
          await broker.start();
        }
        broker.publish(reportTopic('heartbeat'), heartbeat(3));
        assert.deepEqual([await started.next('out'), await started.next('out')].map(numberOf), [1, 3]);
        assert.deepEqual(told, []);
      });
    }

    it(`is given back once when a deploy takes the last node away, though a copy ${where} it has the client id`, async () => {
      const started = await start(withCopy(flowAround(service(), IN), copy()));
      await started.status('in', 'green');
      await started.deploy(withCopy([{ id: 'f', type: 'tab' }, service()], copy()), 'full');
      await broker.until(() => held() === 0 && broker.openConnections.length === 0);
      assert.equal(broker.connections.length, 2);
    });

    it(`stays while the settings of its service are wrong, though a copy ${where} it has the client id`, async () => {
      const flow = (more: object) => withCopy(flowAround(service(more), IN), copy());
      const started = await start(flow({}));
      await started.status('in', 'green');
      await started.deploy(flow({ topicPrefix: 'site/#' }), 'nodes');
      await started.status('in', 'red');
      await started.deploy(flow({}), 'nodes');
      await started.status('in', 'green');
      assert.deepEqual(broker.packets('unsubscribe'), []);
    });
  }

  for (const [what, [isKept, type, flow, before = () => broker.url]] of Object.entries(DEPLOYS)) {
    it(`${isKept ? 'keeps' : 'gives back'} its subscriptions when a deploy ${what}`, async () => {
      process.env.MT_KEPT_BROKER = broker.url;
      try {
        const started = await start(flowAround(service({ brokerUrl: before() }), IN));
        await started.status('in', 'green');
        const goodbye = broker.next('disconnect', (_, id) => id === CLIENT_ID);
        const nodes = flow().filter(({ type: t }: { type?: string }) => t !== 'tab');
        await started.deploy([{ id: 'f', type: 'tab' }, ...nodes], type);
        await goodbye;
        const givenBack = () => broker.packets('unsubscribe', CLIENT_ID);
        if (isKept) {
          await started.status('in', 'green');
          assert.deepEqual(givenBack(), []);
        } else {
          await broker.until(() => givenBack().length > 0);
        }
      } finally {
        delete process.env.MT_KEPT_BROKER;
      }
    });
  }

  for (const type of ['full', 'nodes'] as const) {
    it(`keeps what the broker has for its only node, which a deploy (${type}) has left invalid`, async () => {
      const started = await start(flowAround(service(), IN));
      await started.status('in', 'green');
      const subscribed = held();
      const goodbye = broker.next('disconnect', (_, id) => id === CLIENT_ID);
      await started.deploy(flowAround(service(), { ...IN, gateways: ['a typo'] }), type);
      await started.status('in', 'red');
      await goodbye;
      await started.deploy(flowAround(service(), IN), type);
      await started.status('in', 'green');
      assert.deepEqual([held(), broker.packets('unsubscribe')], [subscribed, []]);
    });
  }
});
