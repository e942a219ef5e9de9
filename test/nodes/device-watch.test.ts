// mt-device-watch in a flow: what it tells, what it answers, and what it shows.
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow, type Message } from './flow.ts';

const TIME = '2025-01-02T03:04:05.678Z';
const ALL = ['silent', 'gateway-silent', 'error', 'battery-low', 'weak-signal', 'dfu'];

interface Told extends Message {
  topic: string;
  payload: Record<string, unknown>;
  gateway: string;
  device: string;
}

describeNodes('device-watch', (start) => {
  let box: Service;
  let gateway: string;
  let device: string;

  before(async () => {
    box = await startService({ rate: 0, listed: 10, delay: 1 });
    ({ gateway, device } = box.demo);
  });
  after(() => box.close());

  const flowOf = (node: object, service: object = {}) =>
    flowAround(serviceNode(box, service), { id: 'n', type: 'mt-device-watch', ...node });

  async function run(node: object = {}, service: object = {}): Promise<Flow> {
    const flow = await start(flowOf(node, service), { credentials: secretsOf(box) });
    await subscribed(box);
    return flow;
  }

  const report = (suffix: string, payload: object = {}, of = device) =>
    box.publish(gateway, of, suffix, { time: TIME, seq: 1, ...payload });
  const filters = () => [...(box.broker?.subscriptions.values() ?? [])].flatMap((set) => [...set]);
  const told = async (flow: Flow) => (await flow.next('out')) as Told;

  it('tells when a battery is low, and when it is not any more', async () => {
    const flow = await run({ conditions: ALL });
    await report('property/8100', { value: '0a' });
    const begin = await told(flow);
    assert.deepEqual([begin.topic, begin.gateway, begin.device], ['battery-low', gateway, device]);
    const { since, ...payload } = begin.payload;
    assert.deepEqual(payload, {
      condition: 'battery-low',
      active: true,
      gateway,
      device,
      value: 10,
      limit: 20,
    });
    assert.ok(Math.abs(Date.now() - Date.parse(String(since))) < 60_000, String(since));
    await report('property-decoded/battery-level', { value: 80 });
    const end = await told(flow);
    assert.deepEqual(end.payload, { ...payload, since, active: false, value: 80 });
  });

  it('knows a raw level also beside a node that does not decode it', async () => {
    const raw = { id: 'raw', type: 'mt-report-in', decode: false };
    const flow = await start(
      flowAround(serviceNode(box), { id: 'n', type: 'mt-device-watch', conditions: ['battery-low'] }, raw),
      { credentials: secretsOf(box) },
    );
    await subscribed(box);
    await report('property/8100', { value: '0a' });
    const received = (await flow.next('out')) as unknown as Record<string, { value: unknown }>;
    assert.equal(received.payload?.value, '0a');
    assert.equal((await told(flow)).payload.value, 10);
  });

  it('answers a message with what is active, and keeps what else is in it', async () => {
    const flow = await run({ conditions: ['error'] });
    await report('heartbeat', { status: 3 });
    await told(flow);
    flow.send('n', { payload: 'which?', keep: 1 });
    const answer = (await flow.next('out')) as unknown as Record<string, unknown>;
    assert.deepEqual([answer.count, answer.keep], [1, 1]);
    const [row] = answer.payload as Record<string, unknown>[];
    assert.deepEqual([row?.condition, row?.active, row?.device, row?.value], ['error', true, device, 3]);
  });

  it('forgets what was taken away until it is heard again', async () => {
    const flow = await run({ conditions: ['error'] });
    await report('heartbeat', { status: 3 });
    await told(flow);
    const spelled = device.toUpperCase().match(/../g)!.join(':');
    flow.send('n', { forget: spelled });
    const { payload } = await told(flow);
    assert.deepEqual([payload.device, payload.active], [device, false]);
    const answer = (await flow.next('out')) as unknown as Record<string, unknown>;
    assert.deepEqual([answer.payload, answer.count], [[], 0]);
    await report('heartbeat', { status: 4 });
    assert.deepEqual((await told(flow)).payload.value, 4);
    flow.send('n', { forget: 'the old one' });
    const { code, cause } = (await flow.next('errors')).error as unknown as { code: string; cause: unknown };
    assert.deepEqual([code, cause], ['INVALID_INPUT', { field: 'forget', value: 'the old one' }]);
  });

  it('misses a device of its list, though nothing of it was ever heard', async () => {
    const flow = await run({ devices: ['d1:00:00:00:00:07'], silentAfter: 1 }, { names: true });
    const { topic, payload } = await told(flow);
    assert.deepEqual([topic, payload.device, payload.limit], ['silent', 'd10000000007', 1]);
    assert.equal(payload.gateway, undefined);
  });

  it('misses the gateways of a label from the start, by their names', async () => {
    const [listed] = box.devices.filter(({ labels }) => labels.length > 0);
    const [label] = listed!.labels as [string];
    const flow = await run({ labels: [label], silentAfter: 1 }, { names: true });
    const { topic, payload } = await told(flow);
    assert.equal(topic, 'gateway-silent');
    assert.equal(typeof payload.deviceName, 'string');
  });

  it('shows how many need somebody, of how many', async () => {
    const flow = await run({ conditions: ['error'] });
    const shown = async (fill: string, words: string) => {
      while ((await flow.status('n', fill)).text !== words) {}
    };
    await shown('grey', 'nothing heard yet');
    await report('heartbeat', {});
    await shown('green', '0 of 1 need somebody');
    await report('heartbeat', { status: 3 });
    await shown('yellow', '1 of 1 need somebody');
  });

  it('goes on over a deploy of the node, and tells nothing twice', async () => {
    const flow = await run({ conditions: ['error', 'battery-low'] });
    await report('heartbeat', { status: 3 });
    await told(flow);
    await flow.deploy(flowOf({ conditions: ['error', 'battery-low'], name: 'other' }), 'nodes');
    flow.send('n', {});
    const answer = (await flow.next('out')) as unknown as Record<string, unknown>;
    assert.equal(answer.count, 1);
    await report('heartbeat', { status: 0 });
    const { payload } = await told(flow);
    assert.deepEqual([payload.condition, payload.active], ['error', false]);
  });

  for (const [what, type, off, deploy] of [
    ['it', 'mt-device-watch', { d: true }, 'nodes'],
    ['its flow', 'tab', { disabled: true }, 'full'],
  ] as const) {
    it(`tells nothing twice when a deploy disables ${what} and a later one enables it`, async () => {
      const all = flowOf({ conditions: ['error', 'battery-low'] }) as { type: string }[];
      const disabled = all.map((one) => (one.type === type ? { ...one, ...off } : one));
      const flow = await start(all, { credentials: secretsOf(box) });
      await subscribed(box);
      await report('heartbeat', { status: 3 });
      await report('property/8100', { value: '0a' });
      await told(flow);
      await told(flow);
      await flow.deploy(disabled, deploy, secretsOf(box));
      // One that leaves it disabled.
      await flow.deploy([...disabled, { id: 'more', type: 'tab' }], deploy, secretsOf(box));
      await flow.deploy(all, deploy, secretsOf(box));
      await subscribed(box);
      await report('heartbeat', { status: 0 });
      const { payload } = await told(flow);
      assert.deepEqual([payload.condition, payload.active], ['error', false]);
      flow.send('n', {});
      assert.equal(((await flow.next('out')) as unknown as { count: number }).count, 1);
    });
  }

  it('forgets what it has told when a deploy removes it', async () => {
    const all = flowOf({ conditions: ['error'] });
    const flow = await start(all, { credentials: secretsOf(box) });
    await subscribed(box);
    await report('heartbeat', { status: 3 });
    await told(flow);
    await flow.deploy(all.slice(0, -1), 'nodes');
    await flow.deploy(all, 'nodes');
    flow.send('n', {});
    assert.equal(((await flow.next('out')) as unknown as { count: number }).count, 0);
  });

  it('forgets what it has told when a deploy makes it a part of a subflow, where it has another name', async () => {
    const all = flowOf({ conditions: ['error'] }) as { id: string; type: string }[];
    const instance = { id: 'i', type: 'subflow:sf', z: 'f', x: 1, y: 1, wires: [['out']] };
    const inside = all.map((one) => (one.id === 'n' ? { ...one, z: 'sf', wires: [] } : one));
    const subflow = {
      id: 'sf',
      type: 'subflow',
      name: 'sf',
      in: [],
      out: [{ wires: [{ id: 'n', port: 0 }] }],
    };
    const flow = await start(all, { credentials: secretsOf(box) });
    await subscribed(box);
    await report('heartbeat', { status: 3 });
    await told(flow);
    await flow.deploy([subflow, ...inside, instance], 'full', secretsOf(box));
    await subscribed(box);
    await report('heartbeat', { status: 3 });
    await told(flow);
    await flow.deploy(all, 'full', secretsOf(box));
    flow.send('n', {});
    assert.equal(((await flow.next('out')) as unknown as { count: number }).count, 0);
  });

  it('reports a setting that it cannot use at once, and to each message', async () => {
    const wrong = [
      [{ conditions: [] }, 'conditions'],
      [{ conditions: ['asleep'] }, 'conditions'],
      [{ devices: ['d1'] }, 'devices'],
      [{ batteryBelow: 101 }, 'batteryBelow'],
      [{ batteryBelow: 40, batteryFine: 39 }, 'batteryFine'],
    ] as const;
    const nodes = wrong.map(([node], i) => ({ id: `n${i}`, type: 'mt-device-watch', ...node }));
    const flow = await start(flowAround(serviceNode(box), ...nodes), { credentials: secretsOf(box) });
    // Such a node may never get a message.
    for (const [, field] of wrong) {
      assert.equal((await flow.next('errors')).error?.cause?.field, field);
    }
    for (const [i, [, field]] of wrong.entries()) {
      flow.send(`n${i}`, {});
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', field]);
    }
  });

  it('does not take a retained report for a sign of life', async () => {
    await box.publish(gateway, 'd10000000007', 'heartbeat', { time: TIME, seq: 1 }, true);
    const flow = await run({ devices: ['d10000000007'], silentAfter: 1 });
    const { topic, payload } = await told(flow);
    assert.deepEqual([topic, payload.device, payload.gateway], ['silent', 'd10000000007', undefined]);
  });

  it('does not take for silent what the broker refuses, and says so', async () => {
    const [refused, granted] = ['d10000000007', 'd10000000008'];
    box.broker!.faults.refuseSubscription = (filter) => filter.includes(refused);
    try {
      // Both are due at the same time, the refused one first.
      const nodes = [refused, granted].map((one) => ({
        ...{ id: `n-${one}`, type: 'mt-device-watch', devices: [one], silentAfter: 1 },
      }));
      const flow = await start(flowAround(serviceNode(box), ...nodes), { credentials: secretsOf(box) });
      const { payload } = await told(flow);
      assert.deepEqual([payload.condition, payload.device], ['silent', granted]);
      flow.send(`n-${refused}`, {});
      assert.equal(((await flow.next('out')) as unknown as { count: number }).count, 0);
      assert.match((await flow.status(`n-${refused}`, 'red')).text ?? '', /^not subscribed/);
    } finally {
      box.broker!.faults.refuseSubscription = () => false;
    }
  });

  it('hears all that the gateways of its listed devices bring', async () => {
    await run({ devices: [device] });
    const own = () => filters().filter((filter) => filter.includes('/device/'));
    assert.deepEqual(own(), [`mt/gateway/+/device/${device}/#`]);
    await report('heartbeat');
    while (!own().includes(`mt/gateway/${gateway}/device/+/#`)) {
      await turn();
    }
  });

  it('asks the broker for no more than its conditions need', async () => {
    await run({ conditions: ['battery-low'], gateways: [gateway] });
    const own = filters().filter((filter) => filter.includes('/device/'));
    assert.deepEqual(own.sort(), [
      `mt/gateway/${gateway}/device/+/property-decoded/battery-level`,
      `mt/gateway/${gateway}/device/+/property/8100`,
    ]);
  });
});
