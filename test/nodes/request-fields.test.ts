// What the fields of the gateway nodes become on the wire, and what of the response reaches the flow.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow, type Message } from './flow.ts';

const READ = { type: 'mt-gw-read' };
const WRITE = { type: 'mt-gw-write' };
const ACK = { type: 'mt-timestamped-ack' };

interface Wire {
  title: string;
  node: object;
  msg: object;
  /** Operation and identifier. */
  suffix: string;
  /** Without `id`. */
  payload: object;
}

const EXTENDER = 'E4:A7:c5:10:20:37';

const WIRE: Wire[] = [
  {
    title: 'a hex identifier is raw',
    node: READ,
    msg: { identifier: '8800' },
    suffix: 'read/8800',
    payload: {},
  },
  {
    title: 'a name is decoded, in lower case',
    node: READ,
    msg: { identifier: 'Temperature' },
    suffix: 'read-decoded/temperature',
    payload: {},
  },
  {
    title: '`dead` is a name',
    node: READ,
    msg: { identifier: 'dead' },
    suffix: 'read-decoded/dead',
    payload: {},
  },
  {
    title: 'the form raw takes a name through the catalogue',
    node: { ...READ, form: 'raw' },
    msg: { identifier: 'temperature' },
    suffix: 'read/8800',
    payload: {},
  },
  {
    title: 'the form decoded takes hex through the catalogue',
    node: { ...READ, form: 'decoded' },
    msg: { identifier: '8800' },
    suffix: 'read-decoded/temperature',
    payload: {},
  },
  ...['unprovisioned', 'legacy'].map((accessType) => ({
    title: `the access type ${accessType} is sent`,
    node: READ,
    msg: { identifier: '8800', accessType },
    suffix: 'read/8800',
    payload: { accessType },
  })),
  {
    title: 'a read names its extender in lower case',
    node: READ,
    msg: { identifier: '8800', extenderId: EXTENDER },
    suffix: 'read/8800',
    payload: { extenderId: 'e4a7c5102037' },
  },
  {
    title: 'a write names its extender in upper case',
    node: WRITE,
    msg: { identifier: '9802', payload: 'FC', extenderId: EXTENDER },
    suffix: 'write/9802',
    payload: { value: 'fc', extenderId: 'E4A7C5102037' },
  },
  {
    title: 'a decoded write names its extender in upper case',
    node: WRITE,
    msg: { identifier: 'alarm', payload: true, extenderId: EXTENDER },
    suffix: 'write-decoded/alarm',
    payload: { value: true, extenderId: 'E4A7C5102037' },
  },
  {
    title: 'keys are sent in lower case',
    node: READ,
    msg: { identifier: '8800', publicKey: '0A0B', key: 'FF00' },
    suffix: 'read/8800',
    payload: { publicKey: '0a0b', key: 'ff00' },
  },
  ...['lowest', 'Low', 'MEDIUM', 'High', 'highest'].map((priority, number) => ({
    title: `the priority ${priority} is ${number}`,
    node: READ,
    msg: { identifier: '8800', priority },
    suffix: 'read/8800',
    payload: { priority: number },
  })),
  ...['3', 3].map((priority) => ({
    title: `the priority ${JSON.stringify(priority)} is 3`,
    node: READ,
    msg: { identifier: '8800', priority },
    suffix: 'read/8800',
    payload: { priority: 3 },
  })),
  ...[null, undefined, ''].flatMap((payload) =>
    [
      ['8302', 'write/8302'],
      ['request-property-reporting', 'write-decoded/request-property-reporting'],
    ].map(([identifier, suffix]) => ({
      title: `${JSON.stringify(payload)} writes NULL to ${identifier}`,
      node: WRITE,
      msg: { identifier, payload },
      suffix: suffix!,
      payload: { value: null },
    })),
  ),
  {
    title: 'a decoded write carries its extension',
    node: WRITE,
    msg: { identifier: 'motion', payload: 1, ext: { transitionCounter: 7, isTransition: true } },
    suffix: 'write-decoded/motion',
    payload: { value: 1, ext: { transitionCounter: 7, isTransition: true } },
  },
  {
    title: 'an apiversion carries nothing and goes to the gateway',
    node: { ...READ, operation: 'apiversion' },
    msg: { identifier: '8800', priority: 4, key: 'ff' },
    suffix: 'apiversion',
    payload: {},
  },
  {
    title: 'an apiversion is asked for whatever is left in msg.key, which it does not take',
    node: { ...READ, operation: 'apiversion' },
    msg: { key: '' },
    suffix: 'apiversion',
    payload: {},
  },
];

describeNodes('the fields of the gateway nodes', (start) => {
  let box: Service;

  before(async () => {
    box = await startService({ rest: false, rate: 0, delay: 0, unackable: 0 });
  });

  after(() => box.close());

  beforeEach(() => {
    Object.assign(box.faults.answers, { lostAnswers: 0, form: 'normal' });
    box.forgetCalls();
  });

  const run = (...nodes: object[]): Promise<Flow> =>
    start(flowAround(serviceNode(box), ...nodes.map((node) => ({ id: 'n', ...node }))));

  /** What the node sent on, or its error. */
  const outcome = (flow: Flow): Promise<Message> => Promise.race([flow.next('out'), flow.next('errors')]);

  const sent = () => {
    const { operation, identifier, payload } = box.calls.operations.at(-1)!;
    const { id, ...rest } = payload ?? {};
    return { suffix: identifier === undefined ? operation : `${operation}/${identifier}`, payload: rest };
  };

  /** Resolves when so many requests have reached the gateways: the broker may have them a moment before. */
  async function heard(count: number): Promise<void> {
    while (box.calls.operations.length < count) {
      await once(box.events, 'request');
    }
  }

  for (const { title, node, msg, suffix, payload } of WIRE) {
    it(`${title}`, async () => {
      const flow = await run(node);
      flow.send('n', { ...box.demo, ...msg });
      await outcome(flow);
      assert.deepEqual(sent(), { suffix, payload });
    });
  }

  for (const [form, identifier] of [
    ['raw', 'no-such-name'],
    ['decoded', 'ef7f'],
  ]) {
    it(`refuse ${identifier} in the form ${form}, which the catalogue does not know`, async () => {
      const flow = await run({ ...READ, form });
      flow.send('n', { ...box.demo, identifier });
      const { error } = await flow.next('errors');
      assert.deepEqual(
        [error?.code, error?.cause],
        ['INVALID_INPUT', { field: 'identifier', value: identifier }],
      );
      assert.deepEqual(box.calls.operations, []);
    });
  }

  it('give name, unit, raw and origin with the whole response', async () => {
    const { gateway, device } = box.demo;
    const { values } = box.fleet.devices.find(({ mac }) => mac === device)!;
    const mode = values.get('8110')!;
    values.set('8800', '1234');
    const flow = await run(READ);
    try {
      for (const [at, originName] of [
        [mode, 'device'],
        ['04', 'device-via-extender'],
      ] as const) {
        values.set('8110', at);
        flow.send('n', { gateway: gateway.toUpperCase(), device: `bmac-${device}`, identifier: '8800' });
        const msg = await flow.next('out');
        const response = msg.response as Record<string, unknown>;
        const { name, unit, raw, status } = response;
        assert.deepEqual(
          [name, unit, raw, status, response.originName],
          ['temperature', '°C', '1234', 0, originName],
        );
        assert.deepEqual(
          [msg.payload, msg.gateway, msg.device, msg.identifier],
          [46.6, gateway, device, '8800'],
        );
      }
    } finally {
      values.set('8110', mode);
    }
  });

  it('leave the value as it was received without decode', async () => {
    const flow = await run({ ...READ, decode: false });
    flow.send('n', { ...box.demo, identifier: '8800' });
    assert.match(String((await flow.next('out')).payload), /^[0-9a-f]{4}$/);
  });

  it('mean the gateway itself without a device', async () => {
    const flow = await run(READ);
    const { gateway } = box.demo;
    flow.send('n', { gateway, identifier: '8001' });
    assert.equal((await flow.next('out')).device, gateway);
    assert.equal(box.calls.operations.at(-1)?.device, gateway);
  });

  it('mean the gateway that last reported the device without a gateway', async () => {
    const flow = await run(READ, { id: 'in', type: 'mt-report-in' });
    await subscribed(box);
    const { device } = box.demo;
    flow.send('n', { device, identifier: '8001' });
    const { error } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause], ['INVALID_INPUT', { field: 'device', value: device }]);
    assert.equal(
      error?.message,
      `no gateway has reported the device ${device} since the start: check its address, or name a gateway`,
    );
    assert.equal((await flow.status('n', 'red')).text, 'invalid: Device (not heard of yet)');
    for (const at of [1, 0]) {
      const gateway = box.gateways[at]!.mac;
      await box.publish(gateway, device, 'heartbeat', { time: new Date().toISOString(), seq: at, status: 0 });
      await flow.next('out');
    }
    flow.send('n', { device, identifier: '8001' });
    assert.equal((await flow.next('out')).gateway, box.gateways[0]!.mac);
  });

  it('take a response without id for the only request on its topic', async () => {
    box.faults.answers.form = 'without-id';
    const flow = await run(READ);
    flow.send('n', { ...box.demo, identifier: '8001' });
    assert.equal((await flow.next('out')).payload, '3.4.1');
  });

  it('leave the payload of a write as it was', async () => {
    const flow = await run({
      ...WRITE,
      value: 'wanted',
      valueType: 'msg',
      identifier: '9802',
      identifierType: 'str',
    });
    flow.send('n', { ...box.demo, wanted: 'fc', payload: { mine: [1] }, _msgid: 'w' });
    const msg = await flow.next('out');
    assert.deepEqual([msg.payload, msg.identifier, msg._msgid], [{ mine: [1] }, '9802', 'w']);
    assert.equal((msg.response as { status: number }).status, 0);
  });

  for (const [title, msg, field] of [
    ['an ext that is no object', { identifier: 'motion', payload: 1, ext: 'x' }, 'ext'],
    ['an ext beside a hex value', { identifier: '9802', payload: 'fc', ext: { a: 1 } }, 'ext'],
    ['a value that JSON cannot hold', { identifier: 'motion', payload: 1n }, 'value'],
  ] as const) {
    it(`refuse ${title}`, async () => {
      const flow = await run(WRITE);
      flow.send('n', { ...box.demo, ...msg });
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', field]);
      assert.deepEqual(box.calls.operations, []);
    });
  }

  // As in a flow that was written by hand: what names nothing would write NULL, or to the gateway.
  for (const [field, value, type] of [
    ['value', true],
    ['value', 5],
    ['value', {}],
    ['device', 5],
    ['device', 5, 'msg'],
    ['device', ['a'], 'flow'],
  ] as const) {
    it(`refuse ${JSON.stringify(value)} as the source ${type ?? 'without a type'} of the ${field}`, async () => {
      const flow = await run({ ...WRITE, [field]: value, ...(type && { [`${field}Type`]: type }) });
      flow.send('n', { ...box.demo, identifier: 'motion', payload: 1 });
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', field]);
      assert.deepEqual(box.calls.operations, []);
    });
  }

  for (const [type, identifier, text, value] of [
    ['num', 'motion', '5', 5],
    ['bool', 'alarm', 'true', true],
  ] as const) {
    it(`take a variable of type ${type} for the text of an expression`, async () => {
      const node = { id: 'n', ...WRITE, value: '${FACTOR}', valueType: 'jsonata' };
      const [tab, ...others] = flowAround(serviceNode(box), node);
      const flow = await start([{ ...tab, env: [{ name: 'FACTOR', type, value: text }] }, ...others]);
      flow.send('n', { ...box.demo, identifier });
      await outcome(flow);
      assert.deepEqual((sent().payload as { value: unknown }).value, value);
    });
  }

  describe('acknowledging', () => {
    const sample = (more: object = {}) => ({
      ...box.demo,
      kind: 'timestamped',
      form: 'raw',
      identifier: '8800',
      ack: true,
      time: new Date().toISOString(),
      ...more,
    });

    it('wait for the response, which is a refusal here', async () => {
      const flow = await run(ACK);
      flow.send('n', { report: sample(), _msgid: 'a' });
      const { error, _msgid } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause?.status, _msgid], ['REQUEST_FAILED', 8, 'a']);
    });

    it('do not wait for a response that is not wanted', async () => {
      box.faults.answers.lostAnswers = 1;
      const flow = await run({ ...ACK, wait: false });
      flow.send('n', { report: sample(), payload: 'stored', _msgid: 'a' });
      const msg = await flow.next('out');
      assert.deepEqual([msg.payload, msg._msgid, 'response' in msg], ['stored', 'a', false]);
      await heard(1);
      assert.equal(sent().suffix, 'ack/8800');
    });

    it('end with TIMEOUT when no response comes', async () => {
      box.faults.answers.lostAnswers = 1;
      const flow = await run({ ...ACK, timeout: '60' });
      await flow.status('n', 'green');
      flow.send('n', { report: sample() });
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause?.operation, error?.cause?.timeout], ['TIMEOUT', 'ack', 60]);
    });

    it('send the same sample once within a minute, whoever asks', async () => {
      const flow = await run({ ...ACK, wait: false }, { ...ACK, id: 'other', wait: false });
      const report = sample();
      for (const id of ['n', 'n', 'other']) {
        flow.send(id, { report });
      }
      flow.send('n', { report: sample({ identifier: '8802' }) });
      for (let count = 0; count < 4; count++) {
        await flow.next('out');
      }
      await heard(2);
      const suffixes = box.calls.operations.map(({ identifier }) => identifier).sort();
      assert.deepEqual(suffixes, ['8800', '8802']);
    });

    it('send again what has failed', async () => {
      const flow = await run(ACK);
      const report = sample();
      for (let count = 1; count <= 2; count++) {
        flow.send('n', { report });
        assert.equal((await flow.next('errors')).error?.code, 'REQUEST_FAILED');
        assert.equal(box.calls.operations.length, count);
      }
    });

    it('name a decoded sample in an operation of its own', async () => {
      const flow = await run({ ...ACK, wait: false });
      flow.send('n', { report: sample({ form: 'decoded', identifier: 'temperature' }) });
      await Promise.all([flow.next('out'), heard(1)]);
      assert.equal(sent().suffix, 'ack-decoded/temperature');
    });

    it('pass on what asks for no acknowledgement', async () => {
      const flow = await run(ACK);
      flow.send('n', { report: sample({ ack: false }), _msgid: 'a' });
      const msg = await flow.next('out');
      assert.deepEqual([msg._msgid, 'response' in msg], ['a', false]);
      assert.deepEqual(box.calls.operations, []);
    });
  });
});
