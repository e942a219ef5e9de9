// The test bench: what a flow may do with the simulated network, and what comes out of it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connectAsync } from 'mqtt';
import { type InputError, type Service, startService } from '../../simulator/src/index.ts';

type Json = Record<string, unknown>;

describe('the simulator as a test bench', () => {
  let service: Service;
  before(async () => {
    service = await startService({
      rest: false,
      gateways: 2,
      devices: 3,
      rate: 0,
      delay: 1,
      ackTimeout: 100,
    });
  });
  after(() => service.close());

  /**
   * The report that this makes the simulator publish.
   * @param isMeant whether it has this topic; a sample that nobody has acknowledged comes again meanwhile
   */
  async function reportOf(
    payload: unknown,
    isMeant = (_topic: string): boolean => true,
  ): Promise<{ topic: string; payload: Json }> {
    const client = await connectAsync(service.urls.mqtt);
    try {
      await client.subscribeAsync('mt/gateway/+/device/#', { qos: 1 });
      const heard = new Promise<[string, Buffer]>((resolve) => {
        client.on('message', (topic, bytes) => isMeant(topic) && resolve([topic, bytes]));
      });
      await service.steer(payload);
      const [topic, bytes] = await heard;
      return { topic, payload: JSON.parse(String(bytes)) };
    } finally {
      await client.endAsync(true);
    }
  }

  const refusal = async (payload: unknown): Promise<InputError> => {
    const error = await service.steer(payload).then(
      () => assert.fail('was accepted'),
      (reason: InputError) => reason,
    );
    assert.equal(error.code, 'INVALID_INPUT');
    return error;
  };

  it('publishes a report of which only the kind is given, as the first device would', async () => {
    const { gateway, device } = service.demo;
    const { topic, payload } = await reportOf({ kind: 'heartbeat' });
    assert.equal(topic, `mt/gateway/${gateway}/device/${device}/heartbeat`);
    assert.deepEqual([payload.status, typeof payload.time, typeof payload.seq], [0, 'string', 'number']);
  });

  it('encodes a value for a raw gateway, and names it for a decoded one', async () => {
    const [raw, decoded] = service.gateways;
    const wish = { kind: 'measurement', identifier: 'temperature', value: 31.5 };
    const first = await reportOf({ ...wish, gateway: raw!.mac });
    assert.deepEqual(
      [first.topic.split('/').slice(5), first.payload.value],
      [['measurement', '8800'], '0c4e'],
    );
    const second = await reportOf({ ...wish, gateway: decoded!.mac });
    assert.deepEqual(
      [second.topic.split('/').slice(5), second.payload.value],
      [['measurement-decoded', 'temperature'], 31.5],
    );
  });

  it('publishes every kind', async () => {
    const kinds = [
      'heartbeat',
      'dfu',
      'rssi',
      'property',
      'measurement',
      'measurement-error',
      'event',
      'timestamped',
    ];
    for (const kind of kinds) {
      const { topic, payload } = await reportOf({ kind });
      assert.equal(topic.split('/')[5], kind);
      assert.equal(typeof payload.time, 'string');
    }
  });

  it('publishes for a device that is not simulated, and what nobody can decode', async () => {
    const { topic, payload } = await reportOf({
      kind: 'event',
      device: 'AA:BB:CC:DD:EE:FF',
      identifier: 'ee8001',
      value: 'C0FFEE',
      seq: 7,
    });
    assert.ok(topic.endsWith('/device/aabbccddeeff/event/ee8001'), topic);
    assert.deepEqual([payload.value, payload.seq], ['c0ffee', 7]);
  });

  it('takes for a name what no identifier in hex ends', async () => {
    const { topic, payload } = await reportOf({ kind: 'property', identifier: 'dead', value: 5 });
    assert.deepEqual([topic.split('/').slice(5), payload.value], [['property-decoded', 'dead'], 5]);
  });

  it('sends an injected sample again until it is acknowledged', async () => {
    await service.steer({ kind: 'timestamped', value: 21 });
    const sample = service.samples.unacknowledged.find(({ value }) => value === '0834');
    assert.ok(sample);
    while (sample.sent < 2) {
      await once(service.events, 'report');
    }
    service.samples.acknowledge(service.demo.gateway, sample.device.mac, sample.identifier, sample.time);
    assert.ok(!service.samples.unacknowledged.includes(sample));
  });

  it('holds a value until another is set, and reports it at once', async () => {
    const { device } = service.demo;
    const set = await reportOf({ device, set: { temperature: 31 } });
    assert.deepEqual([set.topic.split('/').at(-1), set.payload.value], ['8800', '0c1c']);
    const sensor = service.fleet.devices[0]!;
    await service.publishReports(50);
    assert.equal(sensor.values.get('8800'), '0c1c');
    const measured = await reportOf({ device, set: { temperature: null } });
    assert.notEqual(measured.payload.value, '0c1c');
    assert.equal(sensor.held.size, 0);
  });

  for (const [name, value, hex] of [
    ['hardware-version', '255.0', 'ff00'],
    ['firmware-version', '3.4.1', '03040100'],
    ['firmware-version', '0.0.255-beta.255', '0000ffff'],
    ['mac-address', 'E4A7C5102031', 'e4a7c5102031'],
    ['battery-level', 100, '64'],
    ['battery-level', 0, '00'],
  ] as const) {
    it(`takes ${value} for a ${name}`, async () => {
      const wish = { device: service.demo.device, set: { [name]: value } };
      const { payload } = await reportOf(wish, (topic) => topic.includes('/property/'));
      assert.equal(payload.value, hex);
    });
  }

  for (const [what, leave, join, ...own] of [
    [
      'its gateway is back',
      { gateway: 'c0141f68fc3d', away: true },
      { gateway: 'c0141f68fc3d', away: false },
    ],
    [
      'it is not silent any more',
      { device: 'e4a7c5102030', silent: true },
      { device: 'e4a7c5102030', silent: false },
    ],
    [
      'it leaves storage mode',
      { device: 'e4a7c5102030', set: { 'device-mode': 'storage' } },
      { device: 'e4a7c5102030', set: { 'device-mode': 'connected' } },
      '02',
    ],
    [
      'it leaves update mode',
      { device: 'e4a7c5102030', set: { 'device-mode': 'dfu' } },
      { device: 'e4a7c5102030', set: { 'device-mode': 'connected' } },
      '02',
    ],
  ] as const) {
    it(`reports a value that was set when nobody could hear it as soon as ${what}, once`, async () => {
      const { device } = service.demo;
      const heard: unknown[] = [];
      const hear = ({ payload, publication }: { payload: Json; publication: { sample?: unknown } }) =>
        publication.sample || heard.push(payload.value);
      service.events.on('report', hear);
      await service.steer(leave);
      await service.steer({ device, set: { temperature: 30, alarm: true } });
      await service.steer({ device, set: { temperature: 31 } });
      assert.deepEqual(heard, []);
      await service.steer(join);
      while (heard.length < own.length + 2) {
        await once(service.events, 'report');
      }
      await service.steer({ device, set: { alarm: false } });
      service.events.off('report', hear);
      assert.deepEqual(heard, [...own, '0c1c', '01', '00']);
    });
  }

  it('makes a battery low', async () => {
    const { topic, payload } = await reportOf({ device: service.demo.device, set: { 'battery-level': 5 } });
    assert.deepEqual([topic.split('/').slice(5), payload.value], [['property', '8100'], '05']);
  });

  it('makes a device silent: it reports nothing and answers nothing', async () => {
    const { device } = service.demo;
    await service.steer({ device, silent: true });
    const heard = new Set<string>();
    const hear = ({ publication }: { publication: { device: string } }) => heard.add(publication.device);
    service.events.on('report', hear);
    await service.publishReports(100);
    service.events.off('report', hear);
    assert.ok(heard.size > 0 && !heard.has(device));
    await service.steer({ device, silent: false });
  });

  for (const [what, quiet, loud] of [
    ['is silent', { silent: true }, { silent: false }],
    ['is in storage mode', { set: { 'device-mode': 'storage' } }, { set: { 'device-mode': 'connected' } }],
    ['is in update mode', { set: { 'device-mode': 'dfu' } }, { set: { 'device-mode': 'connected' } }],
  ] as const) {
    it(`sends no sample again of a device that ${what}, and does when it speaks again`, async () => {
      const [{ mac: device } = assert.fail(), { mac: other } = assert.fail()] = service.gateways[0]!.devices;
      await service.steer({ device, ...quiet });
      await service.steer({ kind: 'timestamped', device, value: 22 });
      await service.steer({ kind: 'timestamped', device: other, value: 22 });
      const [own, others] = service.samples.unacknowledged.slice(-2);
      while (others!.sent < 3) {
        await once(service.events, 'report');
      }
      assert.equal(own!.sent, 1);
      await service.steer({ device, ...loud });
      while (own!.sent < 2) {
        await once(service.events, 'report');
      }
      for (const {
        device: { home, mac },
        identifier,
        time,
      } of service.samples.unacknowledged) {
        service.samples.acknowledge(home.mac, mac, identifier, time);
      }
    });
  }

  it('withholds what a device was about to report when it is made silent', async () => {
    const own = await startService({ rest: false, gateways: 1, devices: 8, rate: 0, kinds: 'rssi' });
    const heard: string[] = [];
    own.events.on('report', ({ publication }) => heard.push(publication.device));
    // The first of several that one advertisement leads to: a sensor is heard by extenders, too.
    await own.publishReports(1);
    const [device] = heard;
    await own.steer({ device, silent: true });
    await own.publishReports(20);
    await own.close();
    assert.equal(heard.lastIndexOf(device!), 0);
  });

  it('reports no further property of a device that becomes silent while it reports all', async () => {
    const { gateway, device } = service.demo;
    const client = await connectAsync(service.urls.mqtt);
    const reported = once(service.events, 'report');
    await client.publishAsync(`mt/gateway/${gateway}/request/${device}/write/8302`, '{"id":"1"}', { qos: 1 });
    await reported;
    const sensor = service.fleet.devices[0]!;
    await service.steer({ device, silent: true });
    const heard: string[] = [];
    const hear = ({ publication }: { publication: { device: string } }) => heard.push(publication.device);
    service.events.on('report', hear);
    while (sensor.reporting) {
      await new Promise(setImmediate);
    }
    service.events.off('report', hear);
    assert.deepEqual(heard, []);
    await service.steer({ device, silent: false });
    await client.endAsync(true);
  });

  it('lets a gateway go away and come back, however often it is told', async () => {
    const gateway = service.gateways[1]!;
    for (const away of [true, true, false, false]) {
      await service.steer({ gateway: gateway.mac, away });
      assert.equal(gateway.online, !away);
    }
  });

  it('loses answers and changes the rate', async () => {
    await service.steer({ lost: 100 });
    assert.equal(service.faults.answers.lostAnswers, 1);
    await service.steer({ lost: 0 });
    const reported = once(service.events, 'report');
    await service.steer({ rate: 100 });
    await reported;
    await service.steer({ rate: 0 });
  });

  for (const [payload, field] of [
    [undefined, 'payload'],
    ['heartbeat', 'payload'],
    [[], 'payload'],
    [{}, 'payload'],
    [{ kind: 'heartbeat', set: {} }, 'payload'],
    [{ kind: 'other' }, 'kind'],
    [{ kind: { toString: null } }, 'kind'],
    [{ kind: 'heartbeat', device: 'nobody' }, 'device'],
    [{ kind: 'heartbeat', gateway: '001122334455' }, 'gateway'],
    [{ kind: 'measurement', identifier: 'a/b' }, 'identifier'],
    [{ kind: 'measurement', identifier: 'temperature', value: 1e9 }, 'value'],
    [{ kind: 'measurement', identifier: 'ee8001', value: 5 }, 'value'],
    [{ kind: 'measurement', identifier: 'temperature', value: '21' }, 'value'],
    [{ set: { temperature: 31 } }, 'device'],
    [{ device: '001122334455', set: { temperature: 31 } }, 'device'],
    [{ device: 'c0141f68fc3d', set: { warmth: 31 } }, 'set'],
    [{ device: 'c0141f68fc3d', set: { temperature: 'hot' } }, 'set'],
    [{ device: 'c0141f68fc3d', set: {} }, 'set'],
    ...[
      ['hardware-version', 'abc'],
      ['hardware-version', '1.2.3.4'],
      ['hardware-version', '1.256'],
      ['hardware-version', 1.2],
      ['firmware-version', '300.1.1'],
      ['firmware-version', '3.4'],
      ['firmware-version', '3.4.1-beta.999'],
      ['firmware-version', '3.4.1-beta.0'],
      ['mac-address', '00'],
      ['mac-address', 'e4a7c510203g'],
      ['battery-level', 101],
      ['battery-level', -1],
    ].map(([name, value]) => [{ device: 'c0141f68fc3d', set: { [name!]: value } }, 'set'] as const),
    [{ gateway: 'c0141f68fc3d', away: 'yes' }, 'away'],
    [{ device: 'c0141f68fc3d', silent: 1 }, 'silent'],
    [{ lost: 101 }, 'lost'],
    [{ rate: -1 }, 'rate'],
    [{ rate: Number.NaN }, 'rate'],
  ] as const) {
    it(`refuses ${JSON.stringify(payload)} and names ${field}`, async () => {
      assert.equal((await refusal(payload)).cause.field, field);
    });
  }

  for (const [payload, message, cause] of [
    [
      { device: '00:11:22:33:44:55', silent: true },
      'device: no such device is simulated (00:11:22:33:44:55)',
      'field device, value 00:11:22:33:44:55',
    ],
    [
      { device: 'c0141f68fc3d', set: { warmth: 31 } },
      'set: no simulated device has such a property (warmth)',
      'field set, value warmth',
    ],
    [{ lost: 101 }, 'lost: not a number from 0 to 100 (101)', 'field lost, value 101'],
    [{ lost: { a: 1 } }, 'lost: not a number from 0 to 100', 'field lost'],
    [
      { device: 'x'.repeat(1_000), silent: true },
      `device: not a MAC address (${'x'.repeat(80)}…)`,
      `field device, value ${'x'.repeat(80)}…`,
    ],
  ] as const) {
    it(`says what is wrong in ${JSON.stringify(payload).slice(0, 50)}, in its cause too`, async () => {
      const error = await refusal(payload);
      assert.deepEqual([error.message, `${error.cause}`], [message, cause]);
    });
  }

  it('refuses what no JSON can carry, also in a sample that would come again', async () => {
    const cyclic: Json = {};
    cyclic.self = cyclic;
    const throws = Object.defineProperty({}, 'kind', {
      get() {
        throw null;
      },
    });
    const { unacknowledged } = service.counters().samples;
    for (const payload of [
      { kind: 'event-decoded', identifier: 'new', value: cyclic },
      { kind: 'timestamped-decoded', identifier: 'new', gateway: service.gateways[1]!.mac, value: 1n },
      { kind: 'heartbeat', value: 1n },
      throws,
    ]) {
      assert.equal((await refusal(payload)).cause.field, 'payload');
    }
    assert.equal(service.counters().samples.unacknowledged, unacknowledged);
  });

  it('says that a gateway is away instead of publishing for it', async () => {
    const gateway = service.gateways[1]!.mac;
    await service.steer({ gateway, away: true });
    await assert.rejects(service.steer({ kind: 'heartbeat', gateway }), {
      ...{ name: 'GatewayAwayError', code: 'NOT_CONNECTED' },
      message: `gateway ${gateway} is away`,
    });
    await service.steer({ gateway, away: false });
  });

  it('says that it is closed instead of doing nothing, or of bringing a gateway back', async () => {
    const closed = await startService({ rest: false, gateways: 1, devices: 1, rate: 0 });
    const gateway = closed.demo.gateway;
    await closed.close();
    const calls = [
      ...[{ kind: 'heartbeat' }, { rate: 1 }, { gateway, away: false }].map(
        (payload) => () => closed.steer(payload),
      ),
      () => closed.back(gateway),
      () => closed.away(gateway),
      () => closed.publish(gateway, gateway, 'heartbeat', {}),
      () => closed.publishReports(1),
      () => closed.publishSamples(1),
    ];
    for (const call of calls) {
      await assert.rejects(call, {
        ...{ name: 'NotConnectedError', code: 'NOT_CONNECTED', message: 'the simulated service is closed' },
      });
    }
    assert.equal(closed.gateways[0]?.online, false);
  });
});
