// Every error of the contract, as a Catch node gets it: code, cause, and the message that it happened to.
import assert from 'node:assert/strict';
import { EventEmitter, on, once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { NodeAPI } from 'node-red';
import type { ServiceNode } from '../../nodes/shared/runtime/services.ts';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

interface Row {
  code: string;
  when: string;
  node: object;
  service?: object;
  credentials?: object;
  msg?: object;
  /** Makes the service misbehave. */
  fault?: (box: Service) => void;
  /** Sent before, so that this message is one too many. */
  before?: object;
  cause: Record<string, unknown> | ((box: Service) => unknown);
}

const NOBODY = 'mqtt://127.0.0.1:1';
const READ = { type: 'mt-gw-read', identifier: '8001', identifierType: 'str' };
const LABEL = { type: 'mt-label' };
const LIST = { type: 'mt-device-list' };
const FREE = { type: 'mt-service-request' };

/** Of a REST call that the service answers with a status. */
const refusedWith =
  (statusCode: number) =>
  ({ faults }: Service) =>
    void faults.rest.add({ kind: 'status', status: statusCode, only: 'GET /api/v1/jobs', body: 'no' });

const loginEndsWith =
  (status: number, body?: string) =>
  ({ faults }: Service): void => {
    const only = 'POST /api/v1/auth/login';
    faults.rest.add(status === 200 ? { kind: 'garbage', body, only } : { kind: 'status', status, only });
  };

const answersAre =
  (form: Service['faults']['answers']['form']) =>
  ({ faults }: Service) =>
    void Object.assign(faults.answers, { form });

const lastResponse = ({ calls }: Service): unknown => calls.operations.at(-1)?.response;

const ROWS: Row[] = [
  {
    code: 'INVALID_INPUT',
    when: 'a field is malformed',
    node: READ,
    msg: { priority: 9 },
    cause: { field: 'priority', value: 9 },
  },
  {
    code: 'INVALID_INPUT',
    when: 'a field is missing',
    node: LABEL,
    cause: { field: 'label', value: undefined },
  },
  {
    code: 'NOT_CONFIGURED',
    when: 'the service is missing',
    node: { ...READ, service: '' },
    cause: { part: 'service' },
  },
  {
    code: 'NOT_CONFIGURED',
    when: 'the MQTT half is empty',
    node: READ,
    service: { brokerUrl: '' },
    cause: { part: 'mqtt' },
  },
  {
    code: 'NOT_CONFIGURED',
    when: 'the REST half is empty',
    node: LABEL,
    service: { authUrl: '', baseUrl: '' },
    msg: { payload: 'x' },
    cause: { part: 'rest' },
  },
  {
    code: 'NOT_CONNECTED',
    when: 'the broker stays unreachable',
    node: { ...READ, timeout: '50' },
    service: { brokerUrl: NOBODY },
    cause: { broker: NOBODY },
  },
  {
    code: 'TIMEOUT',
    when: 'no response comes',
    node: { ...READ, timeout: '500' },
    fault: ({ faults }) => void Object.assign(faults.answers, { lostAnswers: 1 }),
    cause: ({ demo }) => ({ ...demo, operation: 'read', identifier: '8001', timeout: 500 }),
  },
  {
    code: 'REQUEST_FAILED',
    when: 'the status of the response is not 0',
    node: READ,
    fault: ({ demo, fleet }) => {
      const { values } = fleet.devices.find(({ mac }) => mac === demo.device)!;
      values.delete('8001');
    },
    cause: lastResponse as Row['cause'],
  },
  ...[400, 401, 403].map((statusCode) => ({
    code: 'LOGIN_FAILED',
    when: `the login is answered with ${statusCode}`,
    node: FREE,
    msg: { path: '/api/v1/jobs' },
    fault: loginEndsWith(statusCode),
    cause: { statusCode },
  })),
  ...['{"status":"FAILURE","authToken":"x"}', '{"status":"SUCCESS"}'].map((body) => ({
    code: 'LOGIN_FAILED',
    when: `the login is answered with ${body}`,
    node: FREE,
    msg: { path: '/api/v1/jobs' },
    fault: loginEndsWith(200, body),
    cause: { statusCode: 200 },
  })),
  ...[401, 404, 503].map((statusCode) => ({
    code: 'HTTP_ERROR',
    when: `the service answers with ${statusCode} to the end`,
    node: FREE,
    msg: { path: '/api/v1/jobs' },
    fault: refusedWith(statusCode),
    cause: { statusCode, method: 'GET', path: '/api/v1/jobs', body: 'no' },
  })),
  {
    code: 'HTTP_ERROR',
    when: 'the login is refused with 503',
    node: FREE,
    msg: { path: '/api/v1/jobs' },
    fault: loginEndsWith(503),
    cause: {
      statusCode: 503,
      method: 'POST',
      path: '/api/v1/auth/login',
      body: '',
    },
  },
  {
    code: 'HTTP_ERROR',
    when: 'the service redirects',
    node: FREE,
    msg: { path: '/api/v1/jobs' },
    fault: ({ faults, urls }) =>
      void faults.rest.add({
        kind: 'redirect',
        location: `${urls.base}/api/v1/labels`,
        only: 'GET /api/v1/jobs',
      }),
    cause: { statusCode: 302, method: 'GET', path: '/api/v1/jobs', body: '' },
  },
  {
    code: 'NETWORK',
    when: 'nobody listens',
    node: LABEL,
    service: { authUrl: 'http://127.0.0.1:1' },
    msg: { payload: 'x' },
    cause: { code: 'ECONNREFUSED' },
  },
  {
    code: 'NETWORK',
    when: 'the service does not answer in time',
    node: LABEL,
    service: { httpTimeout: 200 },
    msg: { payload: 'x' },
    fault: ({ faults }) => void faults.rest.add({ kind: 'hang', only: 'POST /api/v1/labels' }),
    cause: { code: 'ETIMEDOUT' },
  },
  {
    code: 'BAD_RESPONSE',
    when: 'a gateway answers with something else than JSON',
    node: READ,
    fault: answersAre('not-json'),
    cause: { body: '{"time":' },
  },
  {
    code: 'BAD_RESPONSE',
    when: 'a response has no status',
    node: READ,
    fault: answersAre('without-status'),
    cause: (box) => {
      const { status, ...body } = lastResponse(box) as Record<string, unknown>;
      return { body };
    },
  },
  {
    code: 'BAD_RESPONSE',
    when: 'the service answers with something else than JSON',
    node: LIST,
    fault: ({ faults }) => void faults.rest.add({ kind: 'garbage', only: 'GET /api/v1/devices' }),
    cause: { body: '<html>not what you think' },
  },
  {
    code: 'QUEUE_FULL',
    when: 'too many requests wait',
    node: READ,
    service: { brokerUrl: NOBODY, maxQueue: 1 },
    before: {},
    cause: { limit: 1 },
  },
];

describeNodes('a Catch node gets', (start) => {
  let box: Service;

  beforeEach(async () => {
    box = await startService({ rate: 0, listed: 3, delay: 0 });
  });

  afterEach(() => box.close());

  const run = (node: object, service: object = {}): Promise<Flow> =>
    start(flowAround(serviceNode(box, { httpRetries: 0, ...service }), { id: 'n', ...node }), {
      credentials: secretsOf(box),
    });

  for (const { code, when, node, service, msg, fault, before, cause } of ROWS) {
    it(`${code} with its cause and the message when ${when}`, async () => {
      fault?.(box);
      const flow = await run(node, service);
      if (before) {
        flow.send('n', { ...box.demo, ...before });
      }
      flow.send('n', { ...box.demo, ...msg, keep: { me: 1 }, _msgid: 'mine' });
      const caught = await flow.next('errors');
      assert.equal(caught.error?.code, code, caught.error?.message);
      assert.deepEqual(caught.error?.cause, typeof cause === 'function' ? cause(box) : cause);
      assert.deepEqual([caught._msgid, caught.keep], ['mine', { me: 1 }]);
      assert.notEqual(caught.error?.message, '');
    });
  }

  it('the names of gateway and device before their addresses as soon as they are known, and the addresses in the cause', async () => {
    const flow = await run({ ...READ, timeout: '100' });
    const { gateway, device } = box.demo;
    const textOf = async () => {
      flow.send('n', { ...box.demo });
      return (await flow.next('errors')).error;
    };
    box.faults.answers.refuseWith = 3;
    const address = `gateway ${gateway}, device ${device}`;
    const property = 'property firmware-version (8001)';
    assert.equal((await textOf())?.message, `refused (status 3), ${property}, ${address}`);
    const { session } = flow.node<ServiceNode>('svc');
    await session?.devices?.search('', 1);
    const name = session?.devices?.nameOf(gateway);
    assert.ok(name);
    const named = `gateway ${name} (${gateway}), device ${device}`;
    assert.equal(session?.devices?.nameOf(device), undefined);
    const error = await textOf();
    assert.equal(error?.message, `refused (status 3), ${property}, ${named}`);
    assert.ok(`${error?.cause}`.startsWith(address));
    box.faults.answers.lostAnswers = 1;
    assert.equal((await textOf())?.message, `no response within 100 ms (read), ${property}, ${named}`);
  });

  it('what README.md says about a device that a second gateway hears and does not know', async () => {
    const flow = await run({ type: 'mt-gw-write', identifier: 'alarm', identifierType: 'str' });
    const heard = box.fleet.devices.find(({ alsoHeardBy }) => alsoHeardBy);
    assert.ok(heard?.alsoHeardBy);
    flow.send('n', { gateway: heard.alsoHeardBy.mac, device: heard.mac, payload: true });
    const { error } = await flow.next('errors');
    assert.equal(error?.code, 'REQUEST_FAILED');
    const said = error?.message.replace(/gateway .*/, 'gateway …, device …') ?? '';
    const [, rule = ''] = readFileSync('README.md', 'utf8').split('## The first rule in five steps');
    assert.ok(rule.split('\n## ')[0]?.includes(`\`${said}\``), said);
  });

  it('BAD_RESPONSE with the response when a list says the same token for ever', async () => {
    box.faults.rest.add({ kind: 'repeat-token' });
    const flow = await run(LIST);
    flow.send('n', { _msgid: 'mine' });
    const { error, _msgid } = await flow.next('errors');
    assert.equal(error?.code, 'BAD_RESPONSE');
    assert.deepEqual([Object.keys(error?.cause ?? {}), _msgid], [['body'], 'mine']);
  });

  it('CLOSED without details, and the message, when the node is stopped meanwhile', async () => {
    box.faults.answers.lostAnswers = 1;
    const flow = await run(READ);
    const heard = once(box.events, 'request');
    flow.send('n', { ...box.demo, keep: 1, _msgid: 'mine' });
    await heard;
    const errors = flow.next('errors');
    await flow.node('n').close(false);
    const { error, keep, _msgid } = await errors;
    assert.deepEqual([error?.code, error?.cause, keep, _msgid], ['CLOSED', {}, 1, 'mine']);
  });

  const time = '2025-01-02T03:04:05.678Z';
  const BAD_REPORTS: [why: string, suffix: string, payload: unknown, device?: string][] = [
    ['is no JSON', 'heartbeat', '{"seq":'],
    ['is no object', 'heartbeat', [1]],
    ['has no time', 'heartbeat', { seq: 1 }],
    ['has a number as its time', 'heartbeat', { time: 5, seq: 1 }],
    ['comes from a malformed MAC', 'heartbeat', { time, seq: 1 }, 'C0141F68FC3D'],
    ['has the seq 256', 'heartbeat', { time, seq: 256 }],
    ['has flags that are no hex', 'timestamped/8800', { time, value: '1234', flags: 'zz' }],
    ['has half a byte as its raw value', 'measurement/8800', { time, seq: 1, value: '123' }],
  ];

  for (const [why, suffix, payload, device] of BAD_REPORTS) {
    it(`BAD_REPORT with topic and payload when a report ${why}`, async () => {
      const flow = await run({ type: 'mt-report-in' });
      await subscribed(box);
      await box.publish(box.demo.gateway, device ?? box.demo.device, suffix, payload);
      const { error, ...msg } = await flow.next('errors');
      const topic = `mt/gateway/${box.demo.gateway}/device/${device ?? box.demo.device}/${suffix}`;
      assert.deepEqual([error?.code, error?.cause], ['BAD_REPORT', { topic, payload }]);
      assert.deepEqual([msg.topic, msg.payload], [topic, payload]);
    });
  }

  it('BAD_REPORT says of a report that is nested too deep that it is, and not that it is no object', async () => {
    const flow = await run({ type: 'mt-report-in' });
    await subscribed(box);
    const payload = `{"time":"${time}","seq":1,"value":${'['.repeat(500)}${']'.repeat(500)}}`;
    await box.publish(box.demo.gateway, box.demo.device, 'measurement/8800', payload);
    const { error } = await flow.next('errors');
    assert.equal(error?.code, 'BAD_REPORT');
    assert.match(String(error?.message), /nested deeper than 500 levels/);
  });

  const LASTING: [what: string, node: object, service: object, cause: object][] = [
    ['the service', READ, { keepalive: 70_000 }, { field: 'keepalive', value: 70_000 }],
    ['the node', { type: 'mt-device-watch', silentAfter: -5 }, {}, { field: 'silentAfter', value: -5 }],
  ];
  for (const [what, node, service, cause] of LASTING) {
    it(`for each message a cause of its own, also where it told by itself what is wrong with ${what}`, async () => {
      const flow = await run(node, service);
      const told = await flow.next('errors');
      assert.deepEqual(told.error?.cause, cause);
      Object.assign(told.error!.cause!, { field: 'changed' });
      for (const n of [1, 2]) {
        flow.send('n', { ...box.demo, n });
        const { error } = await flow.inbox('errors').next((msg) => (msg as { n?: number }).n === n);
        assert.deepEqual([error?.code, error?.cause], ['INVALID_INPUT', cause]);
        Object.assign(error!.cause!, { field: 'changed', note: n });
      }
    });
  }

  it('BAD_REPORT only from nodes whose filter the topic matches', async () => {
    const nodes = [
      { id: 'other', type: 'mt-report-in', kinds: ['measurement'] },
      { id: 'n', type: 'mt-report-in', kinds: ['heartbeat'] },
    ];
    const flow = await start(flowAround(serviceNode(box), ...nodes), { credentials: secretsOf(box) });
    await subscribed(box);
    const { gateway, device } = box.demo;
    await box.publish(gateway, device, 'heartbeat', { seq: 1 });
    await box.publish(gateway, device, 'measurement/8800', { time, seq: 2, value: '1234' });
    await flow.next('out');
    const sources = flow
      .inbox('errors')
      .all.map(({ error }) => (error as { source?: { id: string } }).source?.id);
    assert.deepEqual(sources, ['n']);
  });
});

describeNodes('the debug sidebar shows of an error that no Catch node gets', (start) => {
  it('its text, its code, and its cause in words', async () => {
    const box = await startService({ rate: 0, listed: 3, delay: 0 });
    const log = new EventEmitter();
    const shown = (async () => {
      for await (const [line] of on(log, 'log')) {
        if (line.id === 'n') {
          return line.msg;
        }
      }
    })();
    let RED!: NodeAPI;
    const listen = (api: NodeAPI) => {
      RED = api;
      RED.log.addHandler(log);
    };
    const node = { id: 'n', ...READ };
    const flow = flowAround(serviceNode(box), node).filter(({ id }: { id?: string }) => id !== 'catcher');
    box.faults.answers.refuseWith = 3;
    const { gateway, device } = box.demo;
    const started = await start(flow, { credentials: secretsOf(box), nodes: [listen] });
    started.send('n', box.demo);
    // As Node-RED's debug node makes what it sends to the editor.
    const { msg } = RED.util.encodeObject({ msg: await shown });
    const { data } = JSON.parse(msg);
    assert.deepEqual([data.name, data.code], ['ServiceError', 'REQUEST_FAILED']);
    assert.match(data.message, /^refused/);
    assert.match(
      data.cause,
      new RegExp(`^gateway ${gateway}, device ${device}, .*status 3, errorMessage refused`),
    );
    await box.close();
  });
});
