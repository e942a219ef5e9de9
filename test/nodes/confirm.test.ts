// Reports that are confirmed when the flow has stored them: report in, the flow, acknowledge, over a real broker.
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow, type Message } from './flow.ts';

const NOT_OPEN = 'report cannot come again: it is not open any more';

describeNodes('a report that is confirmed by the flow', (start) => {
  let box: Service;

  beforeEach(async () => {
    box = await startService({ rate: 0, listed: 0, gateways: 1, devices: 1 });
  });
  afterEach(() => box.close());

  const flowOf = (reportIn: object, ack: object, service: object = {}): object[] =>
    flowAround(
      serviceNode(box, { persistent: true, clientId: 'confirm', ...service }),
      { id: 'in', type: 'mt-report-in', confirm: 'acknowledged', ...reportIn },
      { id: 'ack', type: 'mt-timestamped-ack', wires: [['after']], ...ack },
      { id: 'after', type: 'helper', wires: [] },
    );
  const run = async (reportIn: object, ack: object = {}): Promise<Flow> => {
    const flow = await start(flowOf(reportIn, ack), { credentials: secretsOf(box) });
    await subscribed(box);
    return flow;
  };
  const publish = (value: number, suffix = 'measurement-decoded/temperature', more: object = {}) => {
    const { gateway, device } = box.demo;
    const time = new Date().toISOString();
    return box.publish(gateway, device, suffix, { time, seq: 1, value, ...more });
  };
  const reportOf = (msg: Message) => (msg as { report: Record<string, unknown> }).report;

  it('carries a delivery, which a copy keeps, and is done when an acknowledge node had it', async () => {
    const flow = await run({ confirmTimeout: 1 });
    await publish(21);
    const first = await flow.next('out');
    assert.equal(typeof reportOf(first).delivery, 'string');
    flow.send('ack', { report: structuredClone(reportOf(first)) });
    const after = await flow.next('after');
    assert.equal(reportOf(after).delivery, reportOf(first).delivery);
    await publish(22);
    const second = await flow.next('out');
    assert.deepEqual([reportOf(second).value, reportOf(second).redelivered], [22, undefined]);
  });

  it('comes again, marked, and the status says how many are open and for how long', async () => {
    const flow = await run({ confirmTimeout: 2 });
    await publish(21);
    const first = await flow.next('out');
    const shown = await flow.statuses('in').next(({ text }) => text?.startsWith('1 not stored') === true);
    assert.deepEqual([shown.fill, shown.shape], ['yellow', 'ring']);
    const again = await flow.next('out');
    assert.deepEqual(
      [reportOf(again).redelivered, reportOf(again).delivery, reportOf(again).value],
      [true, reportOf(first).delivery, 21],
    );
    flow.send('ack', { report: reportOf(first) });
    await flow.next('after');
    await flow.statuses('in').next(({ fill }) => fill === 'green');
  });

  it('is acknowledged behind last value nodes, which put other reports into the message', async () => {
    const value = { type: 'mt-last-value', identifier: 'humidity', identifierType: 'str' };
    const flow = await start(
      flowAround(
        serviceNode(box, { persistent: true, clientId: 'confirm' }),
        {
          id: 'in',
          type: 'mt-report-in',
          confirm: 'acknowledged',
          identifiers: ['temperature'],
          wires: [['one']],
        },
        { id: 'beside', type: 'mt-report-in', confirm: 'acknowledged', identifiers: ['temperature'] },
        { id: 'probe', ...value },
        { id: 'one', ...value, wires: [['two']] },
        { id: 'two', ...value, wires: [['ack']] },
        { id: 'ack', type: 'mt-timestamped-ack', wires: [['after']] },
        { id: 'after', type: 'helper', wires: [] },
      ),
      { credentials: secretsOf(box) },
    );
    await subscribed(box);
    const steer = (kind: string, identifier: string, number: number) =>
      box.steer({ ...box.demo, kind, identifier, value: number });
    const acknowledged: string[] = [];
    box.events.on('acknowledged', ({ identifier }) => acknowledged.push(identifier));
    // Of the sample that no report in has had, nothing is acknowledged.
    let known: unknown;
    while (known !== 40) {
      await steer('timestamped', 'humidity', 40);
      flow.send('probe', { ...box.demo, isProbe: true });
      ({ payload: known } = await flow.next('out', (msg) => 'isProbe' in msg));
    }
    for (const [kind, expected] of [
      ['measurement', []],
      ['timestamped', ['8800']],
    ] as const) {
      await steer(kind, 'temperature', 21);
      const msg = (await flow.next('after')) as Message & { toAck: Record<string, unknown> };
      assert.deepEqual(
        [msg.payload, reportOf(msg).name, msg.toAck.name, msg.toAck.kind],
        [40, 'humidity', 'temperature', kind],
      );
      assert.deepEqual(acknowledged, expected);
    }
    // Both are confirmed to the broker, while another node still has them open.
    await flow.statuses('beside').next(({ text }) => text?.startsWith('2 not stored') === true);
    assert.deepEqual(
      flow.statuses('in').all.filter(({ text }) => text?.includes('not stored')),
      [],
    );
  });

  it('that a person has sent as a test is known as one behind a last value node', async () => {
    const flow = await start(
      flowAround(
        serviceNode(box),
        {
          id: 'value',
          type: 'mt-last-value',
          identifier: 'temperature',
          identifierType: 'str',
          wires: [['ack']],
        },
        { id: 'ack', type: 'mt-timestamped-ack', wires: [['after']] },
        { id: 'after', type: 'helper', wires: [] },
      ),
      { credentials: secretsOf(box) },
    );
    await subscribed(box);
    const acknowledged: string[] = [];
    box.events.on('acknowledged', ({ identifier }) => acknowledged.push(identifier));
    await box.steer({ ...box.demo, kind: 'timestamped', identifier: 'temperature', value: 21 });
    const report = { kind: 'timestamped', test: true, ...box.demo };
    let payload: unknown;
    while (payload !== 21) {
      flow.send('value', { ...box.demo, report });
      ({ payload } = await flow.next('after'));
    }
    assert.deepEqual(acknowledged, []);
    // Neither is it for a report that needs no acknowledgement, nor for what a flow calls so.
    flow.send('value', { ...box.demo, report: { kind: 'heartbeat', ...box.demo }, toAck: 'x' });
    await flow.next('after');
    assert.deepEqual(acknowledged, []);
    // What came without a report is acknowledged by the one that it was given.
    flow.send('value', { ...box.demo, toAck: true });
    await flow.next('after');
    assert.deepEqual(acknowledged, ['8800']);
  });

  describe('while no list of devices can be read', () => {
    const warnsOfLabels = (text: string) => text.includes('wait for the list of devices');
    const runWithLabels = async (service: object) => {
      box.faults.rest.add({ kind: 'status', status: 401, only: 'POST /api/v1/auth/login' });
      const reportIn = { type: 'mt-report-in', confirm: 'acknowledged' };
      const flow = await start(
        flowAround(
          serviceNode(box, { persistent: true, clientId: 'confirm', ...service }),
          { id: 'in', ...reportIn, labels: ['floor-1'] },
          { id: 'beside', ...reportIn },
        ),
        { credentials: secretsOf(box) },
      );
      const warnings: string[] = [];
      flow.node('in').warn = (text) => void warnings.push(String(text));
      await subscribed(box);
      await flow.inbox('errors').next(({ error }) => error?.code === 'LOGIN_FAILED');
      await publish(21);
      return { flow, warnings };
    };

    it('the status of a node with labels does not call it unconfirmed, and the log says what it holds up', async () => {
      const { flow, warnings } = await runWithLabels({});
      await flow.statuses('beside').next(({ text }) => text?.startsWith('1 not stored') === true);
      assert.equal(flow.statuses('in').all.at(-1)?.text, 'waiting for labels');
      assert.deepEqual(
        flow.statuses('in').all.filter(({ text }) => text?.includes('not stored')),
        [],
      );
      assert.equal(warnings.filter(warnsOfLabels).length, 1);
    });

    it('and is not kept by the broker, it holds up nothing, and the log does not say so', async () => {
      const { flow, warnings } = await runWithLabels({ reportQos: 0 });
      // By then both nodes have had it.
      await flow.next('out');
      await publish(22);
      await flow.next('out');
      assert.deepEqual(warnings.filter(warnsOfLabels), []);
    });
  });

  it('is kept by the broker for a node with labels while the settings of the portal are wrong', async () => {
    await box.close();
    box = await startService({ rate: 0, listed: 1, gateways: 1, devices: 1 });
    const labels = [box.devices[0]?.labels[0]];
    const flow = await run({ labels });
    await flow.deploy(flowOf({ labels }, {}, { authHeader: 'no header' }), 'full', secretsOf(box));
    await flow.statuses('in').next(({ text }) => text === 'waiting for labels');
    await publish(21);
    await flow.deploy(flowOf({ labels }, {}), 'full', secretsOf(box));
    assert.equal(reportOf(await flow.next('out')).value, 21);
  });

  it('that can never be stored is an error with its content, and ends', async () => {
    const flow = await run({ confirmTimeout: 1, redeliverMost: 1 });
    await publish(21);
    const { error, topic, payload } = (await flow.next('errors')) as Message & Record<string, unknown>;
    assert.equal(error?.code, 'TIMEOUT');
    assert.match(String(topic), /\/measurement-decoded\/temperature$/);
    assert.match(String(payload), /"value":21/);
    assert.equal(flow.inbox('out').all.length, 2);
  });

  it('comes again when msg.action says so, after the time of the node', async () => {
    const flow = await run({}, { action: 'msg', retryAfter: 0 });
    await publish(21);
    const first = await flow.next('out');
    flow.send('ack', { report: reportOf(first), action: 'again' });
    const again = await flow.next('out');
    assert.equal(reportOf(again).redelivered, true);
    flow.send('ack', { report: reportOf(again), action: 'stored' });
    // Only what is stored passes on.
    assert.equal(reportOf(await flow.next('after')).redelivered, true);
    assert.equal(flow.inbox('after').all.length, 1);
    flow.send('ack', { report: reportOf(again), action: 'later' });
    assert.equal((await flow.next('errors')).error?.code, 'INVALID_INPUT');
    flow.send('ack', { report: { ...reportOf(again), delivery: undefined }, action: 'again' });
    assert.equal((await flow.next('errors')).error?.code, 'INVALID_INPUT');
  });

  it('that is acknowledged already cannot come again, and an error says so', async () => {
    const flow = await run({}, { action: 'msg', retryAfter: 0 });
    await publish(21);
    const report = reportOf(await flow.next('out'));
    flow.send('ack', { report });
    await flow.next('after');
    flow.send('ack', { report, action: 'again' });
    const { error } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.message], ['INVALID_INPUT', NOT_OPEN]);
    assert.equal(flow.inbox('after').all.length, 1);
  });

  it('that is a sample is acknowledged to the device first, and to the broker when the device has that', async () => {
    const flow = await run({ kinds: ['timestamped'], confirmTimeout: 1 });
    await box.publishSamples(1);
    const sample = await flow.next('out');
    assert.deepEqual([reportOf(sample).ack, typeof reportOf(sample).delivery], [true, 'string']);
    flow.send('ack', { report: reportOf(sample) });
    const after = await flow.next('after');
    assert.equal((after as { response?: { status?: number } }).response?.status, 0);
    await box.publishSamples(1);
    assert.equal(reportOf(await flow.next('out')).redelivered, undefined);
  });

  it('that is a sample is open at a gateway that answers none until the broker has the acknowledgement, but the first one', async () => {
    const flow = await run({ kinds: ['timestamped'] }, { timeout: '300' });
    await box.publishSamples(1);
    const silent = { ...reportOf(await flow.next('out')), gateway: 'c0ffee00000f' };
    flow.send('ack', { report: silent });
    assert.equal((await flow.next('errors')).error?.code, 'TIMEOUT');
    await flow.deploy(flowOf({ kinds: ['timestamped'] }, { timeout: '60000' }), 'nodes');
    await box.publishSamples(1);
    const report = { ...reportOf(await flow.next('out')), gateway: 'c0ffee00000f' };
    await flow.statuses('in').next(({ text }) => text?.startsWith('1 not stored') === true);
    flow.send('ack', { report });
    await flow.statuses('in').next(({ fill }) => fill === 'green');
    assert.deepEqual([flow.inbox('after').all.length, flow.inbox('errors').all.length], [0, 1]);
  });

  it('that is a sample is confirmed to the broker although its device never has the acknowledgement', async () => {
    const flow = await run({ kinds: ['timestamped'] }, { timeout: '300', action: 'msg' });
    await box.publishSamples(1);
    // Of a gateway that has gone meanwhile.
    const report = { ...reportOf(await flow.next('out')), gateway: 'c0ffee00000f' };
    flow.send('ack', { report });
    assert.equal((await flow.next('errors')).error?.code, 'TIMEOUT');
    // It is not open any more: nothing behind it is held up.
    flow.send('ack', { report, action: 'again' });
    assert.equal((await flow.next('errors')).error?.message, NOT_OPEN);
  });

  it('comes again to a node that is deployed anew', async () => {
    const nodes = (name: string) =>
      flowAround(serviceNode(box, { persistent: true, clientId: 'confirm' }), {
        ...{ id: 'in', type: 'mt-report-in', confirm: 'acknowledged', name },
      });
    const flow = await start(nodes('a'), { credentials: secretsOf(box) });
    await subscribed(box);
    await publish(21);
    const first = await flow.next('out');
    await flow.deploy(nodes('b'), 'nodes', secretsOf(box));
    const again = await flow.next('out');
    assert.deepEqual(
      [reportOf(again).redelivered, reportOf(again).delivery],
      [true, reportOf(first).delivery],
    );
  });

  it('waits for its node, which a deploy has left invalid, until it works again', async () => {
    const nodes = (devices: string[]) =>
      flowAround(serviceNode(box, { persistent: true, clientId: 'confirm' }), {
        ...{ id: 'in', type: 'mt-report-in', confirm: 'acknowledged', devices },
      });
    const flow = await start(nodes([]), { credentials: secretsOf(box) });
    await subscribed(box);
    await publish(21);
    const first = await flow.next('out');
    await flow.deploy(nodes(['a typo']), 'nodes', secretsOf(box));
    await flow.statuses('in').next(({ text }) => text?.startsWith('invalid') === true);
    await flow.deploy(nodes([]), 'nodes', secretsOf(box));
    const again = await flow.next('out');
    assert.deepEqual(
      [reportOf(again).redelivered, reportOf(again).delivery],
      [true, reportOf(first).delivery],
    );
  });

  const ENDS: Record<string, [type: 'full' | 'nodes', tab: object, node: object | undefined]> = {
    'removes its node': ['nodes', {}, undefined],
    'disables its node': ['nodes', {}, { d: true }],
    'disables its node and restarts the service': ['full', {}, { d: true }],
    'disables the flow of its node': ['nodes', { disabled: true }, {}],
  };
  for (const [what, [type, after, end]] of Object.entries(ENDS)) {
    it(`is given up, which the log says with the number, when a deploy ${what}`, async () => {
      const reportIn = { id: 'in', type: 'mt-report-in', confirm: 'acknowledged', service: 'svc' };
      const place = { z: 'g', x: 1, y: 1, wires: [['out']] };
      const nodes = (tab: object, node: object | undefined) => [
        { id: 'g', type: 'tab', ...tab },
        ...flowAround(serviceNode(box, { persistent: true, clientId: 'confirm' })),
        ...(node ? [{ ...reportIn, ...place, ...node }] : []),
      ];
      const flow = await start(nodes({}, {}), { credentials: secretsOf(box) });
      await subscribed(box);
      await publish(21);
      await publish(22);
      await flow.next('out');
      await flow.next('out');
      const warnings: unknown[] = [];
      flow.node('svc').warn = (text) => void warnings.push(text);
      await flow.deploy(nodes(after, end), type, secretsOf(box));
      assert.deepEqual(warnings, [
        '2 reports that were not acknowledged are given up: node in does not wait for them any more',
      ]);
    });
  }

  it('of QoS 0 has none, and is not kept', async () => {
    const flow = await start(
      flowAround(serviceNode(box, { reportQos: 0 }), {
        ...{ id: 'in', type: 'mt-report-in', confirm: 'acknowledged' },
      }),
      { credentials: secretsOf(box) },
    );
    await subscribed(box);
    await publish(21);
    assert.equal(reportOf(await flow.next('out')).delivery, undefined);
  });
});
