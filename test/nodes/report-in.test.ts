// mt-report-in in a flow: the messages that reports become, and what happens to those that cannot be read.
import assert from 'node:assert/strict';
import type { Node, NodeAPI, NodeDef } from 'node-red';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const TIME = '2025-01-02T03:04:05.678Z';

describeNodes('report-in', (start) => {
  let box: Service;
  let gateway: string;
  let device: string;

  before(async () => {
    box = await startService({ rate: 0, listed: 10 });
    ({ gateway, device } = box.demo);
  });

  after(() => box.close());

  async function run(node: object = {}, service: object = {}): Promise<Flow> {
    const flow = await start(
      flowAround(serviceNode(box, service), { id: 'n', type: 'mt-report-in', ...node }),
      { credentials: secretsOf(box) },
    );
    await subscribed(box);
    return flow;
  }

  it('sends a report with its topic and what a flow decides by', async () => {
    const flow = await run();
    await box.publish(gateway, device, 'measurement/8800', { time: TIME, seq: '7', value: '1234' });
    const msg = await flow.next('out');
    const topic = `mt/gateway/${gateway}/device/${device}/measurement/8800`;
    assert.deepEqual(
      [msg.topic, msg.gateway, msg.device, msg.kind, msg.identifier],
      [topic, gateway, device, 'measurement', '8800'],
    );
    assert.deepEqual(msg.payload, {
      gateway,
      device,
      kind: 'measurement',
      form: 'raw',
      identifier: '8800',
      name: 'temperature',
      unit: '°C',
      time: TIME,
      seq: 7,
      value: 46.6,
      raw: '1234',
    });
    assert.deepEqual(msg.report, msg.payload);
    assert.notEqual(msg.report, msg.payload);
    assert.equal(typeof msg._msgid, 'string');
  });

  it('has no identifier where the kind has none', async () => {
    const flow = await run();
    await box.publish(gateway, device, 'heartbeat', { time: TIME, seq: 1, status: 0 });
    const msg = await flow.next('out');
    assert.equal(msg.kind, 'heartbeat');
    assert.equal('identifier' in msg, false);
  });

  it('sends the value alone when that is wanted, null where there is none', async () => {
    const flow = await run({ output: 'value' });
    await box.publish(gateway, device, 'measurement/8800', { time: TIME, seq: 1, value: '1234' });
    await box.publish(gateway, device, 'heartbeat', { time: TIME, seq: 2, status: 0 });
    const [first, second] = [await flow.next('out'), await flow.next('out')];
    assert.equal(first.payload, 46.6);
    assert.equal((first.report as { value: number }).value, 46.6);
    assert.equal(second.payload, null);
  });

  it('lets only through what passes all filters', async () => {
    const flow = await run({ kinds: ['measurement'], identifiers: ['temperature'], devices: [device] });
    const body = { time: TIME, seq: 1 };
    await box.publish(gateway, device, 'heartbeat', { ...body, status: 0 });
    await box.publish(gateway, gateway, 'measurement/8800', { ...body, value: '0001' });
    await box.publish(gateway, device, 'measurement/8802', { ...body, value: '0002' });
    await box.publish(gateway, device, 'measurement/8800', { ...body, value: '0064' });
    assert.equal((await flow.next('out')).identifier, '8800');
    assert.equal(flow.inbox('out').all.length, 1);
  });

  it('hands a report that cannot be read to the Catch nodes', async () => {
    const flow = await run();
    await box.publish(gateway, device, 'heartbeat', '{"seq":');
    const msg = await flow.next('errors');
    assert.equal(msg.error?.code, 'BAD_REPORT');
    assert.equal(msg.error?.cause?.payload, '{"seq":');
    assert.equal(msg.error?.cause?.topic, `mt/gateway/${gateway}/device/${device}/heartbeat`);
    assert.equal(msg.topic, msg.error?.cause?.topic);
  });

  it('drops what it has heard a moment ago', async () => {
    const flow = await run({ duplicates: 'drop' });
    const other = box.gateways[1]!.mac;
    const body = { time: TIME, seq: 9, value: '1234' };
    await box.publish(gateway, device, 'measurement/8800', body);
    await box.publish(other, device, 'measurement/8800', body);
    await box.publish(gateway, device, 'measurement/8800', { ...body, seq: 10 });
    assert.equal((await flow.next('out')).gateway, gateway);
    assert.equal(((await flow.next('out')).report as { seq: number }).seq, 10);
    assert.equal(flow.inbox('out').all.length, 2);
  });

  it('has forgotten after a deploy that replaces it what it has heard before', async () => {
    const nodes = flowAround(serviceNode(box), { id: 'n', type: 'mt-report-in', duplicates: 'drop' });
    const flow = await start(nodes, { credentials: secretsOf(box) });
    await subscribed(box);
    const body = { time: TIME, seq: 9, value: '1234' };
    await box.publish(gateway, device, 'measurement/8800', body);
    await flow.next('out');
    await flow.status('n', 'green');
    await flow.deploy(nodes, 'full', secretsOf(box));
    await flow.status('n', 'green');
    await box.publish(gateway, device, 'measurement/8800', body);
    await flow.next('out');
  });

  it('lets gateways with a label through that ends with a blank', async () => {
    const wanted = box.devices.find(({ id }) => id === `bmac-${gateway}`)!;
    wanted.labels.push('hall ');
    try {
      const flow = await run({ labels: ['hall '] });
      await box.publish(gateway, device, 'heartbeat', { time: TIME, seq: 2, status: 0 });
      assert.equal((await flow.next('out')).gateway, gateway);
    } finally {
      wanted.labels.pop();
    }
  });

  it('lets only gateways with a label through, once it knows them', async () => {
    const wanted = box.devices.find(({ id }) => id === `bmac-${gateway}`)!;
    const flow = await run({ labels: [wanted.labels[0]] });
    const without = box.gateways.find(
      ({ mac }) => !box.portal.byId.get(`bmac-${mac}`)?.labels.includes(wanted.labels[0]!),
    )!;
    await box.publish(without.mac, device, 'heartbeat', { time: TIME, seq: 1, status: 0 });
    await box.publish(gateway, device, 'heartbeat', { time: TIME, seq: 2, status: 0 });
    assert.equal((await flow.next('out')).gateway, gateway);
  });

  it('loses nothing while it is deployed anew', async () => {
    const service = serviceNode(box);
    const before = { id: 'n', type: 'mt-report-in', kinds: ['heartbeat'] };
    const flow = await start(flowAround(service, before), { credentials: secretsOf(box) });
    await subscribed(box);
    const count = 200;
    const publishing = (async () => {
      for (let seq = 0; seq < count; seq++) {
        await box.publish(gateway, device, 'heartbeat', { time: TIME, seq: seq % 256, status: 0 });
      }
    })();
    await flow.next('out', ({ report }) => (report as { seq: number }).seq === 20);
    await flow.deploy(flowAround(service, { ...before, name: 'changed' }), 'nodes', secretsOf(box));
    await publishing;
    await flow.next('out', ({ report }) => (report as { seq: number }).seq === count - 1);
    const seqs = new Set(flow.inbox('out').all.map(({ report }) => (report as { seq: number }).seq));
    assert.equal(seqs.size, count);
  });

  it('names the filter that is wrong, in the status and to the Catch nodes', async () => {
    const flow = await start(
      flowAround(serviceNode(box), { id: 'n', type: 'mt-report-in', gateways: ['not-a-mac'] }),
      { credentials: secretsOf(box) },
    );
    const { error } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', 'gateways']);
    assert.equal((await flow.status('n', 'red')).text, 'invalid: Gateways (no MAC address)');
  });

  for (const type of ['nodes', 'flows', 'full'] as const) {
    it(`loses no report while a deploy (${type}) replaces a slow node behind it`, async () => {
      let isClosing = (): void => {};
      const closing = new Promise<void>((resolve) => {
        isClosing = resolve;
      });
      let close = (): void => {};
      const slow = (RED: NodeAPI) => {
        function Slow(this: Node, saved: NodeDef): void {
          RED.nodes.createNode(this, saved);
          this.on('input', (msg, send, done) => {
            send(msg);
            done();
          });
          this.on('close', (done: () => void) => {
            if ((saved as NodeDef & { version: number }).version > 1) {
              done();
              return;
            }
            close = done;
            isClosing();
          });
        }
        RED.nodes.registerType('slow', Slow as never);
      };
      const around = (version: number) =>
        flowAround(
          serviceNode(box, { persistent: true, clientId: `slow-${type}` }),
          { id: 'n', type: 'mt-report-in', wires: [['slow']] },
          { id: 'slow', type: 'slow', version },
        );
      const flow = await start(around(1), { credentials: secretsOf(box), nodes: [slow] });
      await subscribed(box);
      const deployed = flow.deploy(around(2), type, secretsOf(box));
      await closing;
      for (let seq = 0; seq < 20; seq++) {
        await box.publish(gateway, device, 'heartbeat', { time: TIME, seq, status: 0 });
      }
      close();
      await deployed;
      const numbers = new Set<unknown>();
      while (numbers.size < 20) {
        const { report } = (await flow.next('out')) as unknown as { report: { seq: number } };
        numbers.add(report.seq);
      }
    });
  }

  it('knows its labels after a deploy of all nodes, also while the service cannot be asked', async () => {
    const labels = Array.from({ length: 10 }, (_, floor) => `floor-${floor}`);
    const flow = await run({ labels });
    const hear = async (seq: number) => {
      await box.publish(gateway, device, 'heartbeat', { time: TIME, seq, status: 0 });
      await flow.next('out', ({ report }) => (report as { seq: number }).seq === seq);
    };
    await hear(1);
    const end = box.faults.rest.add({ kind: 'status', status: 503 });
    try {
      const node = { id: 'n', type: 'mt-report-in', labels };
      await flow.deploy(flowAround(serviceNode(box), node), 'full', secretsOf(box));
      await subscribed(box);
      await hear(2);
      // Of another user the labels may be others.
      const other = { svc: { ...secretsOf(box).svc, username: 'another' } };
      await flow.deploy(flowAround(serviceNode(box, { name: 'x' }), node), 'full', other);
      await flow.statuses('n').next(({ text }) => text === 'waiting for labels');
    } finally {
      end();
    }
  });
});
