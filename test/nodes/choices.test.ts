// A choice, number or truth value that is none, from a variable or written by hand: told, and no default acts for it.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const DEVICE = 'c0141f68fc3d';
/** What every node could act on. */
const MESSAGE = {
  device: DEVICE,
  gateway: DEVICE,
  identifier: 'led-timeout',
  payload: 'x',
  path: 'api/v1/labels',
};

/** Of each node: a property and texts that are nothing it could be. */
const WRONG: [type: string, property: string, ...texts: string[]][] = [
  ['mt-label', 'action', 'delete', 'Remove', ''],
  ['mt-service-request', 'method', 'TRACE', ''],
  ['mt-gw-read', 'operation', 'apiVersion', ''],
  ['mt-gw-read', 'form', 'cooked'],
  ['mt-gw-read', 'timeout', '30s', '-1', '0', '0.4', '1000.5'],
  ['mt-gw-read', 'decode', 'yes', ''],
  ['mt-gw-write', 'form', 'cooked'],
  ['mt-gw-write', 'timeout', '30s', '0', 'Infinity'],
  ['mt-timestamped-ack', 'wait', 'no'],
  ['mt-timestamped-ack', 'timeout', 'soon', '0'],
  ['mt-timestamped-ack', 'retryAfter', '10s', '-1', '0.5', '86401'],
  ['mt-device-list', 'output', 'pages'],
  ['mt-device-list', 'limit', '', 'abc', '-3', '0.5'],
  ['mt-device-list', 'pageSize', '0', '1.5', 'many', 'Infinity', '1e999'],
  ['mt-report-in', 'form', 'bothh', ''],
  ['mt-report-in', 'output', 'reports'],
  ['mt-report-in', 'duplicates', 'Drop'],
  ['mt-report-in', 'duplicateWindow', '10s'],
  ['mt-report-in', 'labelRefresh', '-1'],
];

const WRONG_AT_SERVICE: [property: string, text: string][] = [
  ['persistent', 'yes'],
  ['brokerProfile', 'AWS'],
  ['protocolVersion', '6'],
  ['maxSubscriptions', '-1'],
  ['reportQos', '3'],
  ['maxQueue', 'many'],
  ['requestTimeout', '30s'],
  ['httpRetries', ''],
  ['requestTimeout', '0'],
  ['requestTimeout', '0.4'],
  ['httpTimeout', '0'],
  ['maxInFlight', '0'],
  ['maxInFlight', '0.5'],
  ['maxQueue', '1.5'],
  ['maxSubscriptions', '1.5'],
  ['maxUnacknowledged', '0.5'],
  ['httpRetries', '1.5'],
  ['sessionExpiry', '0.5'],
  ['maxQueue', 'Infinity'],
];

describeNodes('a choice that there is not', (start) => {
  let box: Service;

  before(async () => {
    box = await startService({ rate: 0, delay: 0, listed: 3 });
  });
  after(() => box.close());
  beforeEach(() => box.forgetCalls());
  afterEach(() => {
    delete process.env.MT_WORD;
  });

  const run = (node: object, service: object = {}): Promise<Flow> =>
    start(flowAround(serviceNode(box, service), { id: 'n', ...node }), { credentials: secretsOf(box) });

  for (const [type, property, ...texts] of WRONG) {
    it(`stops ${type} and is told, be it from a variable or written by hand: ${property}`, async () => {
      texts.forEach((text, index) => {
        process.env[`MT_WORD${index}`] = text;
      });
      const written = texts.filter((text) => text !== '');
      const values = [...texts.map((_, index) => `\${MT_WORD${index}}`), ...written];
      const nodes = values.map((value, index) => ({ id: `n${index}`, type, [property]: value }));
      const flow = await start(flowAround(serviceNode(box), ...nodes), { credentials: secretsOf(box) });
      for (const { id } of nodes) {
        assert.equal((await flow.status(id, 'red')).fill, 'red');
        if (type !== 'mt-report-in') {
          flow.send(id, MESSAGE);
        }
        const { error } = await flow.next('errors');
        assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', property]);
      }
      assert.deepEqual([box.calls.rest, box.calls.operations], [[], []]);
    });
  }

  for (const [property, text] of WRONG_AT_SERVICE) {
    it(`stops a service: ${property} "${text}"`, async () => {
      process.env.MT_WORD = text;
      const flow = await run({ type: 'mt-rename' }, { [property]: '${MT_WORD}' });
      flow.send('n', { device: DEVICE, payload: 'x' });
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', property]);
    });
  }

  /** Of a number: what it is refused with, which is what was written, and what it can be. */
  const WRONG_NUMBERS: [node: object, service: object, field: string, value: unknown, told: RegExp][] = [
    ...['x', 'Infinity', '-Infinity'].flatMap((text): [object, object, string, unknown, RegExp][] => [
      [{}, { keepalive: text }, 'keepalive', text, /must be a number: /],
      [{}, { maxQueue: text }, 'maxQueue', text, /must be a number: /],
      [{ pageSize: text }, {}, 'pageSize', text, /must be a number: /],
    ]),
    [{ pageSize: '-5' }, {}, 'pageSize', '-5', /from 1 to 2147483647: -5$/],
    [{ pageSize: 0 }, {}, 'pageSize', 0, /from 1 to 2147483647: 0$/],
    [{ limit: '-5' }, {}, 'limit', '-5', /from 0 to 2147483647: -5$/],
    [{}, { maxInFlight: -1 }, 'maxInFlight', -1, /from 1 to 2147483647: -1$/],
    [{}, { httpTimeout: '-1' }, 'httpTimeout', '-1', /from 1 to 2147483647: -1$/],
    [{}, { keepalive: '-1' }, 'keepalive', -1, /from 0 to 65535: -1$/],
    [{}, { keepalive: '3e9' }, 'keepalive', '3e9', /from 0 to 65535: 3e9$/],
    [{ type: 'mt-gw-read', timeout: '-1' }, {}, 'timeout', -1, /from 1 to 2147483647: -1$/],
    [{ type: 'mt-gw-read', timeout: '0' }, {}, 'timeout', 0, /from 1 to 2147483647: 0$/],
    [{ type: 'mt-device-watch', batteryBelow: '-1' }, {}, 'batteryBelow', '-1', /from 0 to 100: -1$/],
    [{ type: 'mt-device-watch', signalBelow: '-1e12' }, {}, 'signalBelow', '-1e12', /from -200 to 0: -1e12$/],
    [{ type: 'mt-timestamped-ack', retryAfter: '-1' }, {}, 'retryAfter', '-1', /from 0 to 86400: -1$/],
  ];
  for (const [node, service, field, value, told] of WRONG_NUMBERS) {
    it(`is told with what was written and what would do: ${JSON.stringify({ ...node, ...service })}`, async () => {
      const type = field === 'keepalive' ? 'mt-gw-read' : 'mt-device-list';
      const flow = await run({ type, ...node }, service);
      flow.send('n', MESSAGE);
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause], ['INVALID_INPUT', { field, value }]);
      assert.match(String(error?.message), told);
    });
  }

  /** Of a list: what was written, which is no list of texts, and what it is refused with. */
  const WRONG_LISTS: [type: string, property: string, written: unknown, refused: unknown, told: RegExp][] = [
    ['mt-report-in', 'gateways', 5, 5, /must be a list: 5$/],
    ['mt-report-in', 'kinds', {}, {}, /must be a list: {}$/],
    ['mt-report-in', 'identifiers', 5, 5, /must be a list: 5$/],
    ['mt-report-in', 'identifiers', ['temperature', 8800], 8800, /must be text: 8800$/],
    ['mt-report-in', 'labels', 5, 5, /must be a list: 5$/],
    ['mt-report-in', 'labels', {}, {}, /must be a list: {}$/],
    ['mt-report-in', 'labels', [null], null, /must be text: null$/],
    ['mt-report-in', 'labels', ['a', true], true, /must be text: true$/],
    ['mt-report-in', 'labels', ['${LIST}', ['a']], ['a'], /must be text: \["a"\]$/],
    ['mt-report-in', 'labels', ['${OBJECT}'], { a: 1 }, /must be text: {"a":1}$/],
    ['mt-last-value', 'labels', [5], 5, /must be text: 5$/],
    ['mt-device-watch', 'labels', false, false, /must be a list: false$/],
    ['mt-device-watch', 'devices', [{}], {}, /must be text: {}$/],
    ['mt-device-watch', 'conditions', ['dfu', 1], 1, /must be text: 1$/],
  ];
  const LISTS = [
    { name: 'LIST', type: 'json', value: '["floor-1", 2]' },
    { name: 'OBJECT', type: 'json', value: '{"a":1}' },
    { name: 'NUMBER', type: 'num', value: '7' },
    { name: 'BOOLEAN', type: 'bool', value: 'true' },
  ];
  for (const [type, property, written, refused, told] of WRONG_LISTS) {
    it(`stops ${type} where no list of texts is one: ${property} ${JSON.stringify(written)}`, async () => {
      const [tab, ...nodes] = flowAround(serviceNode(box), { id: 'n', type, [property]: written });
      const flow = await start([{ ...tab, env: LISTS }, ...nodes], { credentials: secretsOf(box) });
      assert.equal((await flow.status('n', 'red')).fill, 'red');
      if (type === 'mt-last-value') {
        flow.send('n', MESSAGE);
      }
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause], ['INVALID_INPUT', { field: property, value: refused }]);
      assert.match(String(error?.message), told);
    });
  }

  for (const labels of [
    '${LIST}',
    ['${LIST}'],
    '${NUMBER}',
    ['a', '${NUMBER}'],
    ['${BOOLEAN}'],
    'a,b',
    [' a '],
  ]) {
    it(`is no list of texts that a variable brings or a panel saves: labels ${JSON.stringify(labels)}`, async () => {
      const [tab, ...nodes] = flowAround(serviceNode(box), { id: 'n', type: 'mt-last-value', labels });
      const flow = await start([{ ...tab, env: LISTS }, ...nodes], { credentials: secretsOf(box) });
      flow.send('n', MESSAGE);
      const { error } = await Promise.race([flow.next('out'), flow.next('errors')]);
      assert.equal(error, undefined);
    });
  }

  it('is not what a panel left empty: that is the default', async () => {
    const flow = await run(
      { type: 'mt-device-list', limit: '', pageSize: '', output: '' },
      { httpRetries: '', maxQueue: '', persistent: '' },
    );
    flow.send('n', {});
    assert.equal((await flow.next('out')).count, 3);
  });

  it('is not the type of a field without a text: that field is wholly the default', async () => {
    const { gateway, device } = box.demo;
    const types = ['str', 'num', 'flow', 'env', 'jsonata'];
    const nodes = types.map((deviceType) => ({ id: deviceType, type: 'mt-gw-read', deviceType }));
    const flow = await start(
      flowAround(serviceNode(box), ...nodes, { id: 'n', type: 'mt-rename', nameType: 'str' }),
      {
        credentials: secretsOf(box),
      },
    );
    for (const type of types) {
      flow.send(type, { gateway, device, identifier: 'tx-power' });
      assert.equal((await flow.next('out')).device, device);
    }
    flow.send('n', { device: gateway, payload: 'Hall' });
    assert.equal(((await flow.next('out')).payload as { friendlyName: string }).friendlyName, 'Hall');
  });

  it('is not a timeout from an empty variable: that is the one of the service', async () => {
    process.env.MT_WORD = '';
    const { gateway, device } = box.demo;
    const flow = await run({ type: 'mt-gw-read', timeout: '${MT_WORD}' });
    flow.send('n', { gateway, device, identifier: 'tx-power' });
    assert.equal(typeof (await flow.next('out')).payload, 'number');
  });

  for (const method of ['${MT_WORD}', 'delete']) {
    it(`is not a method in lower case: ${method}`, async () => {
      process.env.MT_WORD = 'delete';
      const flow = await run({ type: 'mt-service-request', method });
      flow.send('n', { path: '/api/v1/echo/x' });
      await flow.next('out');
      assert.equal(box.calls.rest.at(-1)?.method, 'DELETE');
    });
  }

  it('shows nothing of a variable to somebody who asks for a preview', async () => {
    process.env.MT_WORD = 'top-secret';
    const flow = await run({ type: 'mt-report-in' });
    const { status, body } = await flow.post('/mt-service/svc/preview', { form: '${MT_WORD}' });
    assert.equal(status, 400);
    assert.doesNotMatch(JSON.stringify(body), /top-secret/);
  });
});
