// A source that is named and brings nothing, in every typed field of every node and from every place: nothing is sent.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { type Service, startService } from '../../simulator/src/service.ts';
import { configOf } from '../node-types.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

interface Row {
  type: string;
  /** Settings in which every field is used. */
  node?: object;
  /** A message that would be acted on, if all fields were taken from it. */
  msg: object;
  /** Fields in which `null` and an empty text are values. */
  nullable?: readonly string[];
}

const DEVICE = 'c0141f68fc3d';
const REQUEST = { gateway: DEVICE, device: DEVICE, identifier: 'led-timeout' };

const NODES: Row[] = [
  { type: 'mt-gw-read', msg: REQUEST },
  {
    type: 'mt-gw-write',

    msg: { ...REQUEST, payload: 5 },
    nullable: ['value'],
  },
  {
    type: 'mt-timestamped-ack',

    msg: { ...REQUEST, form: 'decoded', time: '2026-01-01T00:00:00Z' },
  },
  { type: 'mt-device-list', msg: { labels: 'oslo-lab' } },
  { type: 'mt-rename', msg: { device: DEVICE, payload: 'Name' } },
  {
    type: 'mt-label',

    node: { action: 'remove' },
    msg: { device: DEVICE, payload: 'spare' },
  },
  {
    type: 'mt-service-request',

    node: { method: 'POST' },
    msg: { path: '/api/v1/echo', query: {}, payload: {} },
    nullable: ['body'],
  },
];

interface Source {
  type: string;
  text: string;
  /** True: `null` or an empty text, which is a value in some fields. */
  isNull?: boolean;
}

const SOURCES: Source[] = [
  { type: 'env', text: 'MT_UNSET' },
  { type: 'env', text: 'MT_EMPTY' },
  { type: 'env', text: '${MT_UNSET}' },
  { type: 'env', text: 'a-${MT_UNSET}' },
  { type: 'env', text: '' },
  { type: 'flow', text: 'absent' },
  { type: 'flow', text: 'absent.deep' },
  { type: 'flow', text: '' },
  { type: 'flow', text: 'null', isNull: true },
  { type: 'flow', text: 'empty', isNull: true },
  { type: 'flow', text: 'blank', isNull: true },
  { type: 'flow', text: 'none', isNull: true },
  { type: 'global', text: 'absent' },
  { type: 'global', text: 'null', isNull: true },
  { type: 'jsonata', text: 'absent' },
  { type: 'jsonata', text: 'devices[id="absent"].mac' },
  { type: 'jsonata', text: '' },
  { type: 'jsonata', text: 'null', isNull: true },
  { type: 'jsonata', text: '""', isNull: true },
  { type: 'jsonata', text: '[]', isNull: true },
  ...['str', 'num', 'bool', 'json', undefined].flatMap((type) => [
    { type: type as string, text: '${MT_UNSET}' },
    { type: type as string, text: '${MT_EMPTY}' },
    { type: type as string, text: '1${MT_UNSET}' },
  ]),
];

const fieldsOf = (defaults: object): string[] =>
  Object.keys(defaults).filter((name) => `${name}Type` in defaults);

describeNodes('a source that brings nothing', (start) => {
  let box: Service;

  before(async () => {
    box = await startService({ rate: 0, delay: 0, listed: 5 });
    process.env.MT_EMPTY = '';
  });

  after(async () => {
    delete process.env.MT_EMPTY;
    await box.close();
  });

  beforeEach(() => box.forgetCalls());

  const run = (...nodes: object[]): Promise<Flow> =>
    start(flowAround(serviceNode(box, { httpRetries: 0 }), ...nodes), { credentials: secretsOf(box) });

  const sent = () => [...box.calls.rest, ...box.calls.operations];

  for (const { type, node, msg, nullable = [] } of NODES) {
    for (const field of fieldsOf(configOf(type).DEFAULTS)) {
      it(`is refused in the field ${field} of ${type}, and nothing is sent`, async () => {
        // Without a type a rename takes `name` for its caption, as core nodes have it.
        const sources = SOURCES.filter(
          (source) => !(nullable.includes(field) && source.isNull) && !(field === 'name' && !source.type),
        );
        const nodes = sources.map((source, index) => ({
          id: `n${index}`,
          type,
          ...node,
          [field]: source.text,
          [`${field}Type`]: source.type,
        }));
        const flow = await run(...nodes);
        const context = flow.node('n0').context();
        for (const store of [context.flow, context.global]) {
          store.set('null', null);
          store.set('empty', '');
          store.set('blank', ' ');
          store.set('none', []);
        }
        for (const [index, source] of sources.entries()) {
          flow.send(`n${index}`, { ...msg });
          const { error } = await flow.next('errors');
          const cause = error?.cause as { field?: string } | undefined;
          const title = `${source.type} "${source.text}": ${error?.message}`;
          assert.deepEqual([error?.code, cause?.field], ['INVALID_INPUT', field], title);
        }
        assert.deepEqual(sent(), []);
        assert.deepEqual(flow.inbox('out').all, []);
      });
    }
  }

  it('in two fields of one message is one error, and Node-RED goes on', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    const before = process.rawListeners('unhandledRejection') as (() => void)[];
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', note);
    try {
      const rows = [
        ['mt-rename', 'device', 'name'],
        ['mt-device-list', 'labels', 'connected'],
        ['mt-gw-write', 'gateway', 'value'],
        ['mt-timestamped-ack', 'gateway', 'time'],
        ['mt-label', 'label', 'device'],
        ['mt-service-request', 'path', 'query'],
      ] as const;
      const nodes = rows.map(([type, first, second]) => {
        const late = { [first]: 'absent', [`${first}Type`]: 'flow' };
        const label = type === 'mt-label' && { action: 'remove' };
        return { id: type, type, ...label, ...late, [second]: 'MT_UNSET', [`${second}Type`]: 'env' };
      });
      const flow = await run(...nodes);
      for (const [type, , second] of rows) {
        flow.send(type, {});
        const { error } = await flow.next('errors');
        assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', second], type);
      }
      await setImmediate();
      assert.deepEqual(unhandled, []);
    } finally {
      process.off('unhandledRejection', note);
      for (const listener of before) {
        process.on('unhandledRejection', listener);
      }
    }
  });

  it('is a NULL in the value of a write, where a variable or an expression says so', async () => {
    const write = { type: 'mt-gw-write', gateway: box.demo.gateway, gatewayType: 'str' };
    const fixed = { ...write, identifier: '9999', identifierType: 'str' };
    const flow = await run(
      { ...fixed, id: 'variable', value: 'nothing', valueType: 'flow' },
      { ...fixed, id: 'expression', value: 'null', valueType: 'jsonata' },
    );
    flow.node('variable').context().flow.set('nothing', null);
    for (const id of ['variable', 'expression']) {
      flow.send(id, {});
      // The property is not known to the device, which does not matter here.
      await Promise.race([flow.next('out'), flow.next('errors')]);
    }
    const values = box.calls.operations.map(({ payload }) => (payload as { value?: unknown }).value);
    assert.deepEqual(values, [null, null]);
  });

  it('does not matter in a field that the node does not use', async () => {
    const flow = await run(
      {
        id: 'create',
        type: 'mt-label',
        label: 'new',
        labelType: 'str',
        device: 'MT_UNSET',
        deviceType: 'env',
      },
      {
        id: 'get',
        type: 'mt-service-request',
        path: '/api/v1/echo',
        pathType: 'str',
        body: 'MT_UNSET',
        bodyType: 'env',
      },
      {
        id: 'version',
        type: 'mt-gw-read',
        operation: 'apiversion',
        gateway: box.demo.gateway,
        gatewayType: 'str',
        identifier: 'MT_UNSET',
        identifierType: 'env',
      },
    );
    for (const id of ['create', 'get', 'version']) {
      flow.send(id, {});
      const { error } = await Promise.race([flow.next('out'), flow.next('errors')]);
      assert.equal(error, undefined, id);
    }
  });

  it('is refused in the network key, unless the message has one', async () => {
    const read = { type: 'mt-gw-read', gateway: box.demo.gateway, gatewayType: 'str' };
    const fixed = { ...read, identifier: '8800', identifierType: 'str' };
    const flow = await start(
      flowAround(
        serviceNode(box),
        { ...fixed, id: 'unset' },
        { ...fixed, id: 'empty' },
        { ...fixed, id: 'none' },
      ),
      { credentials: { ...secretsOf(box), unset: { key: 'aa${MT_UNSET}' }, empty: { key: '${MT_EMPTY}' } } },
    );
    for (const id of ['unset', 'empty']) {
      flow.send(id, {});
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', 'key']);
      assert.doesNotMatch(JSON.stringify(error), /aa\$/);
    }
    assert.deepEqual(sent(), []);
    for (const [id, msg] of [
      ['unset', { key: 'aabb' }],
      ['none', {}],
    ] as const) {
      flow.send(id, msg);
      await flow.next('out');
    }
  });

  it('does not matter in the network key of an API version, which takes none', async () => {
    const { gateway } = box.demo;
    const flow = await start(
      flowAround(serviceNode(box), { id: 'version', type: 'mt-gw-read', operation: 'apiversion' }),
      { credentials: { ...secretsOf(box), version: { key: '${MT_UNSET}' } } },
    );
    flow.send('version', { gateway });
    const { error } = await Promise.race([flow.next('out'), flow.next('errors')]);
    assert.equal(error, undefined);
  });

  describe('in another property', () => {
    const told = async (flow: Flow) => (await flow.next('errors')).error;

    for (const [property, saved] of [
      ['gateways', ['${MT_UNSET}']],
      ['gateways', '${MT_UNSET}'],
      ['gateways', ['${MT_EMPTY}']],
      ['gateways', '${MT_EMPTY}'],
      ['devices', [DEVICE, '${MT_UNSET}']],
      ['identifiers', ['${MT_COMMAS}']],
      ['labels', ['${MT_EMPTY}']],
      ['kinds', '${MT_COMMAS}'],
      ['duplicateWindow', '${MT_UNSET}'],
    ] as const) {
      it(`stops a report in with ${property} = ${JSON.stringify(saved)}, which would let everything pass`, async () => {
        process.env.MT_COMMAS = ' , ';
        const flow = await run({ id: 'n', type: 'mt-report-in', [property]: saved });
        const error = await told(flow);
        assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', property]);
        assert.equal((await flow.status('n', 'red')).fill, 'red');
        assert.equal(box.broker!.subscriptions.size, 0);
        delete process.env.MT_COMMAS;
      });
    }

    it('stops a node with input, which tells it with every message', async () => {
      const flow = await run({
        id: 'n',
        type: 'mt-label',
        action: '${MT_UNSET}',
        label: 'x',
        labelType: 'str',
      });
      await flow.status('n', 'red');
      flow.send('n', {});
      const error = await told(flow);
      assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', 'action']);
      assert.deepEqual(sent(), []);
    });

    it('stops a service that would be another one without it', async () => {
      const flow = await start(
        flowAround(serviceNode(box, { topicPrefix: '${MT_UNSET}/' }), { id: 'n', type: 'mt-report-in' }),
        { credentials: secretsOf(box) },
      );
      const error = await told(flow);
      assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', 'topicPrefix']);
    });

    it('stops a service without its password, and shows nothing of what was entered', async () => {
      const svc = { ...box.credentials, password: 'se${MT_UNSET}cret' };
      const flow = await start(flowAround(serviceNode(box), { id: 'n', type: 'mt-rename' }), {
        credentials: { svc },
      });
      flow.send('n', { device: DEVICE, payload: 'x' });
      const error = await told(flow);
      assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', 'password']);
      assert.doesNotMatch(JSON.stringify(error), /cret/);
      assert.deepEqual(sent(), []);
    });

    it('leaves out the half of a service whose address it is', async () => {
      const flow = await start(
        flowAround(
          serviceNode(box, { authUrl: '${MT_UNSET}', baseUrl: '${MT_UNSET}', authHeader: '${MT_UNSET}' }),
          { id: 'n', type: 'mt-report-in' },
          { id: 'list', type: 'mt-device-list' },
        ),
        { credentials: secretsOf(box) },
      );
      await subscribed(box);
      flow.send('list', {});
      const error = await told(flow);
      assert.deepEqual([error?.code, error?.cause?.part], ['NOT_CONFIGURED', 'rest']);
    });
  });
});
