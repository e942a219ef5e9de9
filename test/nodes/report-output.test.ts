// What mt-report-in makes of each kind of report, and what its filters let through.
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const time = '2025-01-02T03:04:05.678Z';

type Report = Record<string, unknown>;

describeNodes('the output of report-in', (start) => {
  let box: Service;
  let gateway: string;
  let device: string;

  before(async () => {
    box = await startService({ rate: 0, listed: 10 });
    ({ gateway, device } = box.demo);
  });

  after(() => box.close());

  const run = async (...nodes: object[]): Promise<Flow> => {
    const readers = nodes.map((node) => ({ id: 'n', type: 'mt-report-in', ...node }));
    const flow = await start(flowAround(serviceNode(box), ...readers), { credentials: secretsOf(box) });
    await subscribed(box);
    return flow;
  };

  const publish = (suffix: string, body: object, from: { gateway?: string; device?: string } = {}) =>
    box.publish(from.gateway ?? gateway, from.device ?? device, suffix, { time, ...body });

  /** A report of every kind, the message's properties, and what the report has beside address, form and time. */
  const KINDS: [suffix: string, body: object, kind: string, identifier: string | undefined, own: Report][] = [
    ['heartbeat', { seq: '7', status: 0 }, 'heartbeat', undefined, { form: 'raw', seq: 7, status: 0 }],
    [
      'property/8100',
      { value: '64' },
      'property',
      '8100',
      { form: 'raw', name: 'battery-level', value: 100, raw: '64' },
    ],
    [
      'property-decoded/battery-level',
      { value: 100 },
      'property',
      'battery-level',
      { form: 'decoded', name: 'battery-level', value: 100 },
    ],
    [
      'measurement-decoded/temperature',
      { seq: 1, value: 20.5 },
      'measurement',
      'temperature',
      { form: 'decoded', name: 'temperature', unit: '°C', seq: 1, value: 20.5 },
    ],
    [
      'timestamped/8800',
      { value: '1234', flags: '0b' },
      'timestamped',
      '8800',
      {
        ...{ form: 'raw', name: 'temperature', unit: '°C', value: 46.6, raw: '1234', flags: '0b' },
        ...{ ack: true, tsShifted: true, backfill: true },
      },
    ],
    [
      'timestamped/8800',
      { value: '05abcd', flags: '04' },
      'timestamped',
      '8800',
      { form: 'raw', value: null, raw: '05abcd', errorCode: 5, errorMeta: 'abcd', ack: false },
    ],
    [
      'timestamped-decoded/temperature',
      { value: 21 },
      'timestamped',
      'temperature',
      { form: 'decoded', value: 21, ack: false, backfill: false, tsShifted: false, errorCode: null },
    ],
    [
      'future-kind/a/b',
      { anything: [1] },
      'other',
      'a/b',
      { form: 'raw', topicKind: 'future-kind', value: { time, anything: [1] } },
    ],
    [
      'future-kind-decoded/a',
      { anything: 1 },
      'other',
      'a',
      { form: 'decoded', topicKind: 'future-kind-decoded', value: { time, anything: 1 } },
    ],
  ];

  it('gives every message an id of its own', async () => {
    const flow = await run({});
    await publish('heartbeat', { seq: 1, status: 0 });
    await publish('heartbeat', { seq: 2, status: 0 });
    const [first, second] = [await flow.next('out'), await flow.next('out')];
    assert.match(first._msgid ?? '', /^[0-9a-f]{16}$/);
    assert.notEqual(first._msgid, second._msgid);
  });

  for (const [suffix, body, kind, identifier, own] of KINDS) {
    it(`tells what ${suffix} with ${JSON.stringify(body)} means`, async () => {
      const flow = await run({});
      await publish(suffix, body);
      const msg = await flow.next('out');
      const report = msg.report as Report;
      assert.deepEqual(
        [msg.kind, msg.identifier, 'identifier' in msg],
        [kind, identifier, identifier !== undefined],
      );
      assert.deepEqual([report.gateway, report.device, report.kind], [gateway, device, kind]);
      for (const [name, value] of Object.entries(own)) {
        assert.deepEqual(report[name], value, name);
      }
      assert.deepEqual(msg.payload, report);
    });
  }

  it('says that a report was retained, and only then', async () => {
    const old = { time, seq: 1, status: 0 };
    await box.publish(gateway, device, 'heartbeat', old, true);
    try {
      const flow = await run({ kinds: ['heartbeat'] });
      assert.equal(((await flow.next('out')).report as Report).retained, true);
      await publish('heartbeat', { seq: 2, status: 0 });
      assert.equal('retained' in ((await flow.next('out')).report as Report), false);
    } finally {
      await box.publish(gateway, device, 'heartbeat', '', true);
    }
  });

  it('leaves raw values as they are without decode', async () => {
    const flow = await run({ decode: false, output: 'value' });
    await publish('measurement/8800', { seq: 1, value: '1234' });
    const { payload, report } = await flow.next('out');
    assert.deepEqual([payload, (report as Report).raw], ['1234', '1234']);
  });

  it('gives every node and every property its own, so that changing one leaves the others', async () => {
    const second = { id: 'second', wires: [['errors']] };
    const flow = await run({}, second);
    await publish('measurement/8810', { seq: 1, value: '010500' });
    const [one, other] = [await flow.next('out'), await flow.next('errors')];
    const untouched = structuredClone(other.report);
    Object.assign(one.payload as object, { value: 'changed' });
    assert.notEqual((one.report as Report).value, 'changed');
    Object.assign(one.report as object, { value: 'changed', ext: 'changed' });
    assert.deepEqual(other.report, untouched);
  });

  const heartbeat = { seq: 1, status: 0 };
  const measured = { seq: 1, value: '1234' };
  const decoded = { seq: 1, value: 20.5 };
  const FILTERS: [
    title: string,
    node: object,
    passing: () => Promise<void>[],
    stopped: () => Promise<void>[],
  ][] = [
    [
      'the form raw',
      { form: 'raw' },
      () => [publish('measurement/8800', measured), publish('heartbeat', heartbeat)],
      () => [publish('measurement-decoded/temperature', decoded)],
    ],
    [
      'the form decoded',
      { form: 'decoded' },
      () => [publish('measurement-decoded/temperature', decoded), publish('new-decoded/x', {})],
      () => [publish('measurement/8800', measured)],
    ],
    [
      'gateways',
      { gateways: ['C0:14:1F:68:FC:3D'] },
      () => [publish('heartbeat', heartbeat)],
      () => [publish('heartbeat', heartbeat, { gateway: box.gateways[1]!.mac })],
    ],
    [
      'devices, by REST id',
      { devices: ['bmac-c0141f68fc3d'] },
      () => [publish('heartbeat', heartbeat, { device: 'c0141f68fc3d' })],
      () => [publish('heartbeat', heartbeat)],
    ],
    [
      'an identifier by hex, in both forms',
      { identifiers: ['8800'] },
      () => [publish('measurement/8800', measured), publish('measurement-decoded/temperature', decoded)],
      () => [publish('measurement/8802', measured), publish('heartbeat', heartbeat)],
    ],
    [
      'an identifier by name, in both forms',
      { identifiers: ['temperature'] },
      () => [publish('measurement/8800', measured), publish('property-decoded/temperature', decoded)],
      () => [publish('measurement-decoded/humidity', decoded)],
    ],
    [
      'kinds, raw and decoded',
      { kinds: ['measurement', 'rssi'] },
      () => [publish('measurement/8800', measured), publish('measurement-decoded/temperature', decoded)],
      () => [publish('property/8100', { value: '64' }), publish('new/x', {})],
    ],
    [
      'kinds that are not known',
      { kinds: ['other'] },
      () => [publish('new/x', {}), publish('newer', {})],
      () => [publish('heartbeat', heartbeat)],
    ],
    [
      'everything when nothing is chosen',
      { kinds: [], gateways: [], devices: [], identifiers: [], labels: [] },
      () => [publish('new/x', {}), publish('heartbeat', heartbeat)],
      () => [],
    ],
  ];

  for (const [title, node, passing, stopped] of FILTERS) {
    it(`is filtered by ${title}`, async () => {
      const flow = await run(node);
      // The broker keeps the order: what should not come would come first.
      await Promise.all(stopped());
      const { length } = await Promise.all(passing());
      for (let left = length; left > 0; left--) {
        await flow.next('out');
      }
      assert.equal(flow.inbox('out').all.length, length);
    });
  }

  const DUPLICATES: [title: string, first: [string, object], again: [string, object], isSame: boolean][] = [
    [
      'the same decoded',
      ['measurement/8800', measured],
      ['measurement-decoded/temperature', { seq: 1, value: 46.6 }],
      true,
    ],
    [
      'another value',
      ['measurement/8800', measured],
      ['measurement/8800', { ...measured, value: '1235' }],
      false,
    ],
    ['another seq', ['heartbeat', heartbeat], ['heartbeat', { ...heartbeat, seq: 2 }], false],
    [
      'another parent',
      ['rssi', { parent: 'c0141f68fc3d', rssi: -5, seq: 1 }],
      ['rssi', { parent: 'c0141f68fc4e', rssi: -5, seq: 1 }],
      false,
    ],
    [
      'the same time without seq',
      ['property/8100', { value: '64' }],
      ['property/8100', { value: '64' }],
      true,
    ],
    [
      'another time without seq',
      ['property/8100', { value: '64' }],
      ['property/8100', { value: '64', time: '2025-01-02T03:04:06.000Z' }],
      false,
    ],
  ];

  for (const [title, first, again, isSame] of DUPLICATES) {
    it(`takes a report with ${title} for ${isSame ? 'a duplicate' : 'another one'}`, async () => {
      const flow = await run({ duplicates: 'drop' });
      await publish(...first);
      await publish(...again);
      await publish('heartbeat', { seq: 200, status: 0 });
      await flow.next('out', ({ report }) => (report as Report).seq === 200);
      assert.equal(flow.inbox('out').all.length, isSame ? 2 : 3);
    });
  }

  it('keeps duplicates unless they are to be dropped', async () => {
    const flow = await run({});
    await publish('heartbeat', heartbeat);
    await publish('heartbeat', heartbeat);
    await flow.next('out');
    assert.equal((await flow.next('out')).kind, 'heartbeat');
  });
});
