// mt-gw-read, mt-gw-write and mt-timestamped-ack in a flow, answered by simulated gateways.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

describeNodes('the gateway nodes', (start) => {
  let box: Service;

  before(async () => {
    box = await startService({ rest: false, rate: 0, delay: 1, unackable: 0 });
  });

  after(() => box.close());

  beforeEach(() => {
    Object.assign(box.faults.answers, { lostAnswers: 0, form: 'normal', delay: 1 });
    box.forgetCalls();
  });

  const run = (node: object, credentials: object = {}): Promise<Flow> =>
    start(flowAround(serviceNode(box), { id: 'n', ...node }), { credentials: { n: credentials } });

  const sent = () => box.calls.operations.at(-1)!;

  describe('read', () => {
    it('gives the decoded value, the whole response and where it came from', async () => {
      const flow = await run({ type: 'mt-gw-read', identifier: 'firmware-version', identifierType: 'str' });
      const { gateway, device } = box.demo;
      flow.send('n', { gateway: gateway.toUpperCase(), device: `bmac-${device}`, keep: true, _msgid: 'q1' });
      const msg = await flow.next('out');
      assert.equal(msg.payload, '3.4.1');
      assert.deepEqual([msg.gateway, msg.device, msg.keep, msg._msgid], [gateway, device, true, 'q1']);
      assert.equal((msg.response as Record<string, unknown>).status, 0);
      assert.equal(typeof (msg.response as Record<string, unknown>).originName, 'string');
    });

    it('asks a gateway for its interface version', async () => {
      const flow = await run({ type: 'mt-gw-read', operation: 'apiversion' });
      flow.send('n', { gateway: box.demo.gateway, device: box.demo.device });
      const msg = await flow.next('out');
      assert.match(String(msg.payload), /^\d+\.\d+\.\d+$/);
      assert.equal(sent().device, box.demo.gateway);
      assert.deepEqual(Object.keys(sent().payload ?? {}), ['id']);
    });

    it('leaves the device of the message to the next node when the gateway was asked for its version', async () => {
      const { gateway, device } = box.demo;
      const alarm = { identifier: 'alarm', identifierType: 'str', value: 'true', valueType: 'bool' };
      const write = { id: 'w', type: 'mt-gw-write', ...alarm };
      const read = { id: 'n', type: 'mt-gw-read', operation: 'apiversion', wires: [['w']] };
      const flow = await start(flowAround(serviceNode(box), read, write));
      flow.send('n', { gateway, device: `bmac-${device}` });
      const msg = await flow.next('out');
      assert.deepEqual(
        [msg.gateway, msg.device, sent().operation, sent().device],
        [gateway, device, 'write-decoded', device],
      );
    });

    it('takes no device from a field that the panel hides when a gateway is asked for its version', async () => {
      const { gateway, device } = box.demo;
      const read = { type: 'mt-gw-read', operation: 'apiversion' };
      const flow = await start(
        flowAround(
          serviceNode(box),
          { ...read, id: 'fixed', device: 'c0ffeec0ffee', deviceType: 'str' },
          { ...read, id: 'unset', device: 'MT_UNSET', deviceType: 'env' },
          { ...read, id: 'unfilled', device: '${MT_UNSET}', deviceType: 'str' },
        ),
      );
      flow.send('fixed', {});
      const { error: refused } = await flow.next('errors');
      assert.deepEqual([refused?.code, refused?.cause?.field], ['INVALID_INPUT', 'gateway']);
      for (const id of ['fixed', 'unset', 'unfilled']) {
        flow.send(id, { gateway, device });
        const { error, device: named } = await Promise.race([flow.next('out'), flow.next('errors')]);
        assert.deepEqual([error, named], [undefined, device], id);
      }
    });

    for (const [device, expected] of [
      [undefined, 'gateway'],
      [null, null],
      ['', ''],
      ['Boiler room', 'Boiler room'],
    ] as const) {
      it(`gives with the version of a gateway a device only where none was given: ${device}`, async () => {
        const flow = await run({ type: 'mt-gw-read', operation: 'apiversion' });
        const { gateway } = box.demo;
        flow.send('n', { gateway, ...(device !== undefined && { device }) });
        const msg = await flow.next('out');
        assert.equal(msg.device, expected === 'gateway' ? gateway : expected);
      });
    }

    it('sends what the fields say, and the key of the message before the stored one', async () => {
      const flow = await run(
        { type: 'mt-gw-read', priority: 'Highest', priorityType: 'str' },
        { key: '00112233445566778899aabbccddeeff' },
      );
      const msg = { ...box.demo, identifier: '8001' };
      flow.send('n', msg);
      await flow.next('out');
      assert.equal(sent().payload?.key, '00112233445566778899aabbccddeeff');
      assert.equal(sent().payload?.priority, 4);
      flow.send('n', { ...msg, key: 'ffeeddccbbaa99887766554433221100' });
      await flow.next('out');
      assert.equal(sent().payload?.key, 'ffeeddccbbaa99887766554433221100');
    });

    for (const type of ['mt-gw-read', 'mt-gw-write']) {
      it(`refuses an empty key of the message, and takes the stored one without any: ${type}`, async () => {
        const flow = await run({ type }, { key: '00112233445566778899aabbccddeeff' });
        const msg = { ...box.demo, identifier: 'led-timeout', payload: 5 };
        flow.send('n', { ...msg, key: '' });
        const { error } = await flow.next('errors');
        assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', 'key']);
        assert.equal(box.calls.operations.length, 0);
        const answered = once(box.events, 'answered');
        flow.send('n', { ...msg, key: null });
        await answered;
        assert.equal(sent().payload?.key, '00112233445566778899aabbccddeeff');
      });
    }

    it('tells of a request that the gateway has refused with the whole response', async () => {
      const flow = await run({ type: 'mt-gw-read' });
      flow.send('n', { ...box.demo, identifier: '7e', _msgid: 'q2' });
      const { error, _msgid } = await flow.next('errors');
      assert.equal(error?.code, 'REQUEST_FAILED');
      assert.notEqual(error?.cause?.status, 0);
      assert.equal(_msgid, 'q2');
      assert.match((await flow.status('n', 'red')).text!, /^failed: .+ \(\d+\)$/);
    });

    it('tells that no response came', async () => {
      box.faults.answers.lostAnswers = 1;
      const flow = await run({ type: 'mt-gw-read', timeout: '100' });
      flow.send('n', { ...box.demo, identifier: '8001' });
      const { error } = await flow.next('errors');
      assert.equal(error?.code, 'TIMEOUT');
      assert.equal(error?.cause?.timeout, 100);
    });

    it('ends with CLOSED when the service is redeployed while the response is awaited', async () => {
      box.faults.answers.lostAnswers = 1;
      const flow = await run({ type: 'mt-gw-read' });
      const heard = once(box.events, 'request');
      flow.send('n', { ...box.demo, identifier: '8001' });
      await heard;
      const errors = flow.next('errors');
      await flow.node('n').close(false);
      assert.equal((await errors).error?.code, 'CLOSED');
    });
  });

  describe('write', () => {
    it('encodes the value and leaves the payload as it was', async () => {
      const flow = await run({
        type: 'mt-gw-write',
        identifier: 'tx-power',
        identifierType: 'str',
        form: 'raw',
      });
      flow.send('n', { ...box.demo, payload: -4 });
      const msg = await flow.next('out');
      assert.equal(msg.payload, -4);
      assert.equal((msg.response as Record<string, unknown>).status, 0);
      assert.equal(sent().operation, 'write');
      assert.equal(sent().payload?.value, 'fc');
    });

    it('writes NULL for a command', async () => {
      const flow = await run({ type: 'mt-gw-write', identifier: '8302', identifierType: 'str' });
      flow.send('n', { ...box.demo, payload: '' });
      await flow.next('out');
      assert.equal(sent().payload?.value ?? null, null);
    });
  });

  /** Bad input and the field that is to blame; the gateway may not hear of it. */
  const READ = { type: 'mt-gw-read' };
  const RAW_WRITE = { type: 'mt-gw-write', form: 'raw' };
  const BAD: [title: string, node: object, msg: object, field: string][] = [
    ['a missing gateway', READ, { identifier: '8001' }, 'gateway'],
    ['a gateway that is no MAC', READ, { gateway: 'c0141f68fc', identifier: '8001' }, 'gateway'],
    ['a wildcard as a device', READ, { device: '+', identifier: '8001' }, 'device'],
    ['a missing identifier', READ, {}, 'identifier'],
    ['a wildcard as an identifier', READ, { identifier: '#' }, 'identifier'],
    ['an identifier with a path', READ, { identifier: '../8001' }, 'identifier'],
    ['an overlong identifier', READ, { identifier: 'a'.repeat(300) }, 'identifier'],
    ['an unknown priority', READ, { identifier: '8001', priority: 'urgent' }, 'priority'],
    ['a priority of 5', READ, { identifier: '8001', priority: 5 }, 'priority'],
    ['half a byte of an extender', READ, { identifier: '8001', extenderId: 'abc' }, 'extenderId'],
    ['an unknown access type', READ, { identifier: '8001', accessType: 'root' }, 'accessType'],
    ['a public key that is no hex', READ, { identifier: '8001', publicKey: 'key' }, 'publicKey'],
    ['a key that is no hex', READ, { identifier: '8001', key: 'secret!' }, 'key'],
    ['a value out of range', RAW_WRITE, { identifier: 'tx-power', payload: 4000 }, 'value'],
    ['a value of another type', RAW_WRITE, { identifier: 'alarm', payload: 'perhaps' }, 'value'],
  ];

  for (const [title, node, msg, field] of BAD) {
    it(`refuses ${title} before anything is sent`, async () => {
      const flow = await run(node);
      const gateway = title === 'a missing gateway' ? {} : { gateway: box.demo.gateway };
      flow.send('n', { ...gateway, ...msg });
      const { error } = await flow.next('errors');
      assert.equal(error?.code, 'INVALID_INPUT', error?.message);
      assert.equal(error?.cause?.field, field);
      assert.deepEqual(box.calls.operations, []);
    });
  }

  describe('acknowledge', () => {
    const FLOW = [
      { id: 'in', type: 'mt-report-in', kinds: ['timestamped'], wires: [['n']] },
      { id: 'n', type: 'mt-timestamped-ack' },
    ];

    it('tells the device of each sample that was stored, though the payload was replaced', async () => {
      const flow = await start(flowAround(serviceNode(box), ...FLOW));
      await subscribed(box);
      const acknowledged = once(box.events, 'acknowledged');
      await box.publishSamples(1);
      const [sample] = (await acknowledged) as [{ time: string }];
      const msg = await flow.next('out');
      assert.equal((msg.report as { time: string }).time, sample.time);
      assert.equal((msg.response as { status: number }).status, 0);
    });

    it('passes on what cannot be acknowledged, and sends nothing', async () => {
      const flow = await run({ type: 'mt-timestamped-ack' });
      const report = { ...box.demo, kind: 'heartbeat', time: 'x' };
      flow.send('n', { report, payload: 1 });
      const msg = await flow.next('out');
      assert.deepEqual([msg.report, msg.payload, 'response' in msg], [report, 1, false]);
      assert.deepEqual(box.calls.operations, []);
    });

    it('passes on a sample that was sent as a test, and tells the device nothing', async () => {
      const flow = await run({ type: 'mt-timestamped-ack' });
      const sample = { ...box.demo, kind: 'timestamped', form: 'raw', identifier: '8800', ack: true };
      const report = { ...sample, time: '2025-01-01T00:00:00.000Z', test: true };
      flow.send('n', { report });
      const msg = await flow.next('out');
      assert.deepEqual([msg.report, 'response' in msg], [report, false]);
      assert.deepEqual(box.calls.operations, []);
    });

    it('takes the fields of the message when there is no report', async () => {
      const flow = await run({ type: 'mt-timestamped-ack' });
      flow.send('n', { ...box.demo, identifier: '8800', form: 'raw', time: '2025-01-01T00:00:00.000Z' });
      await Promise.race([flow.next('out'), flow.next('errors')]);
      assert.equal(sent().operation, 'ack');
      assert.equal(sent().payload?.time, '2025-01-01T00:00:00.000Z');
    });

    for (const report of [undefined, null, {}, [], 'x', 5]) {
      it(`says that msg.report holds no report, be it there or not: ${JSON.stringify(report)}`, async () => {
        const flow = await run({ type: 'mt-timestamped-ack' });
        flow.send('n', { report });
        const { error } = await flow.next('errors');
        assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', 'gateway']);
        assert.match(
          String(error?.message),
          /msg\.report holds no report, and none of the fields has a value$/,
        );
      });
    }

    it('names the field that is missing', async () => {
      const flow = await run({ type: 'mt-timestamped-ack' });
      flow.send('n', { ...box.demo, identifier: '8800' });
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', 'time']);
    });
  });
});
