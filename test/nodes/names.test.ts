// The names that people have given to gateways: where flows and the editor get to see them, and what that costs.
import assert from 'node:assert/strict';
import type { ServiceNode } from '../../nodes/shared/runtime/services.ts';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const time = '2025-01-02T03:04:05.678Z';
const IN = { id: 'in', type: 'mt-report-in' };
const READ = { id: 'read', type: 'mt-gw-read' };
const ACK = { id: 'ack', type: 'mt-timestamped-ack' };
const RENAME = { id: 'rename', type: 'mt-rename' };

describeNodes('names of devices', (start) => {
  let box: Service;
  let gateway: string;
  let device: string;
  let name: string;

  beforeEach(async () => {
    box = await startService({ rate: 0, delay: 0, listed: 5 });
    ({ gateway, device } = box.demo);
    name = box.devices.find(({ id }) => id === `bmac-${gateway}`)!.friendlyName;
  });
  afterEach(() => box.close());

  const devicesOf = (flow: Flow) => flow.node<ServiceNode>('svc').session!.devices!;

  /** What a service of an earlier version has saved: nothing of names. */
  function saved(properties: object): object {
    const { names: _, ...service } = serviceNode(box) as Record<string, unknown>;
    return { ...service, ...properties };
  }

  /** @param properties of the service */
  async function run(nodes: object[], properties: object = {}): Promise<Flow> {
    const flow = await start(flowAround(saved(properties), ...nodes), {
      credentials: secretsOf(box),
    });
    if (nodes.includes(IN)) {
      await subscribed(box);
    }
    return flow;
  }

  /** With a list, which the nodes need not wait for then. */
  async function runNamed(nodes: object[], properties: object = {}): Promise<Flow> {
    const flow = await run(nodes, properties);
    await devicesOf(flow).search('', 1);
    return flow;
  }

  const measure = (from = device, more: object = {}) =>
    box.publish(gateway, from, 'measurement/8800', { time, seq: 7, value: '0866', ...more });

  it('are fetched by themselves, and are where a person reads them in a report', async () => {
    const flow = await run([IN]);
    await new Promise<void>((resolve) => devicesOf(flow).onNames(resolve));
    await measure();
    const { report, payload } = await flow.next('out');
    const expected = {
      name: 'temperature',
      value: 21.5,
      unit: '°C',
      device,
      gatewayName: name,
      gateway,
      kind: 'measurement',
      form: 'raw',
      identifier: '8800',
      time,
      seq: 7,
      raw: '0866',
    };
    assert.deepEqual(Object.entries(report as object), Object.entries(expected));
    assert.deepEqual(payload, report);
    await measure(gateway);
    const own = (await flow.next('out')).report as object;
    assert.deepEqual(Object.keys(own).slice(2, 7), [
      'unit',
      'deviceName',
      'device',
      'gatewayName',
      'gateway',
    ]);
    assert.equal((own as { deviceName: string }).deviceName, name);
  });

  it('are in no report before there is a list, and no report waits for one', async () => {
    box.faults.rest.add({ kind: 'status', status: 503 });
    const flow = await run([IN]);
    await measure(gateway);
    const { report } = await flow.next('out');
    assert.deepEqual(Object.keys(report as object).slice(0, 5), [
      'name',
      'value',
      'unit',
      'device',
      'gateway',
    ]);
  });

  it('are not taken from a payload', async () => {
    const flow = await run([IN], { names: false });
    await measure(device, { deviceName: 'forged', gatewayName: 'forged', other: 1 });
    const { report } = await flow.next('out');
    assert.deepEqual(Object.keys(report as object).slice(-3), ['seq', 'raw', 'other']);
  });

  it('are those of the next list from the next report on', async () => {
    const flow = await runNamed([IN]);
    await measure();
    assert.equal(((await flow.next('out')).report as { gatewayName: string }).gatewayName, name);
    box.devices.find(({ id }) => id === `bmac-${gateway}`)!.friendlyName = 'Moved';
    devicesOf(flow).invalidate();
    await devicesOf(flow).search('', 1);
    await measure();
    assert.equal(((await flow.next('out')).report as { gatewayName: string }).gatewayName, 'Moved');
  });

  it('change with a rename at once', async () => {
    const flow = await runNamed([IN, RENAME]);
    await measure();
    await flow.next('out');
    flow.send('rename', { device: gateway, payload: 'Meeting room 2' });
    await flow.next('out');
    const calls = box.calls.rest.length;
    await measure();
    const { report } = await flow.next('out');
    assert.equal((report as { gatewayName: string }).gatewayName, 'Meeting room 2');
    assert.equal(box.calls.rest.length, calls, 'nobody had to be asked');
  });

  it('stand in the responses to requests and acknowledgements', async () => {
    const flow = await runNamed([READ, IN, ACK]);
    flow.send('read', { gateway, device: gateway, identifier: '8001' });
    const { response } = (await flow.next('out')) as { response?: Record<string, unknown> };
    assert.deepEqual([response?.deviceName, response?.gatewayName], [name, name]);
    await box.publishSamples(1);
    const sample = await flow.next('out', ({ kind }) => kind === 'timestamped');
    flow.send('ack', sample);
    const acknowledged = await flow.next('out', (msg) => 'response' in msg);
    const { gatewayName } = acknowledged.response as Record<string, unknown>;
    assert.equal(gatewayName, devicesOf(flow).nameOf(String(sample.gateway)));
    assert.equal(typeof gatewayName, 'string');
  });

  it('stand in front of the address in the text of an error', async () => {
    const flow = await runNamed([READ]);
    flow.send('read', { device: gateway, identifier: '8001' });
    const unheard = (await flow.next('errors')).error?.message;
    assert.match(unheard ?? '', new RegExp(`the device ${name} \\(${gateway}\\) since`));
    box.faults.answers.lostAnswers = 1;
    await flow.deploy(flowAround(saved({}), { ...READ, timeout: '50' }), 'nodes', secretsOf(box));
    flow.send('read', { gateway, device, identifier: '8001' });
    const late = (await flow.next('errors')).error;
    assert.match(late?.message ?? '', new RegExp(`gateway ${name} \\(${gateway}\\), device ${device}$`));
    assert.deepEqual(late?.cause, { gateway, device, operation: 'read', identifier: '8001', timeout: 50 });
  });

  it('stand in what the pickers are told of reports, and are found there', async () => {
    const flow = await runNamed([IN]);
    await measure();
    await flow.next('out');
    const seen = async (query: string) =>
      (await flow.get(`/mt-service/svc/seen?${query}`)).body as { id: string; name: string }[];
    const [heard] = await seen(`what=gateways&q=${encodeURIComponent(name.toUpperCase())}`);
    assert.deepEqual([heard?.id, heard?.name], [gateway, name]);
    assert.deepEqual(
      (await seen('what=devices')).map((entry) => entry.name),
      [device],
    );
  });

  it('are not fetched, and are in no report, where the service is told so', async () => {
    const flow = await run([IN], { names: false });
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    assert.deepEqual(box.calls.rest, []);
    await devicesOf(flow).search('', 1);
    await measure(gateway);
    const { report } = await flow.next('out');
    assert.deepEqual(Object.keys(report as object).slice(0, 5), [
      'name',
      'value',
      'unit',
      'device',
      'gateway',
    ]);
  });

  it('are not fetched for nodes that only use the REST half', async () => {
    await run([RENAME]);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    assert.deepEqual(box.calls.rest, []);
  });
});
