// mt-last-value in a flow: what reports, reads and an earlier start have shown, and what happens where there is nothing.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow, type Message } from './flow.ts';

const TIME = '2025-01-02T03:04:05.678Z';

describeNodes('last-value', (start) => {
  let box: Service;
  let gateway: string;
  let device: string;
  let other: string;

  before(async () => {
    box = await startService({ rate: 0, listed: 10, delay: 1 });
    ({ gateway, device } = box.demo);
    other = box.gateways[1]!.mac;
  });
  after(() => box.close());

  const flowOf = (more: object, ...nodes: object[]) =>
    flowAround(
      serviceNode(box, { names: false, ...more }),
      ...nodes,
      { id: 'r', type: 'mt-report-in', wires: [['reports']] },
      { id: 'reports', type: 'helper', wires: [] },
    );
  const secrets = () => secretsOf(box);

  async function run(node: object = {}, ...others: object[]): Promise<Flow> {
    const flow = await start(flowOf({}, { id: 'n', type: 'mt-last-value', ...node }, ...others), {
      credentials: secrets(),
    });
    await subscribed(box);
    return flow;
  }

  /** Resolves when the flow has it. */
  async function heard(flow: Flow, suffix: string, payload: object, by = gateway): Promise<void> {
    await box.publish(by, device, suffix, { time: TIME, ...payload });
    await flow.next('reports', ({ topic }) => topic === `mt/gateway/${by}/device/${device}/${suffix}`);
  }

  const ask = async (flow: Flow, msg: object): Promise<Message & Record<string, unknown>> => {
    flow.send('n', msg);
    return (await flow.next('out')) as Message & Record<string, unknown>;
  };

  it('is green when it is connected, and not before', async () => {
    const flow = await run();
    const statuses = flow.statuses('n');
    await statuses.next(({ text }) => text === 'connected');
    const green = statuses.all.filter(({ fill }) => fill === 'green');
    assert.deepEqual([...new Set(green.map(({ text }) => text))], ['connected']);
  });

  it('says what the broker refuses of what it records, and that it is granted; not what it refuses to others', async () => {
    const isRefused = (filter: string) => filter.includes(device);
    box.broker!.faults.refuseSubscription = isRefused;
    try {
      const [own, others] = [device, 'd10000000009'].map((one) => ({
        ...{ id: `n-${one}`, type: 'mt-last-value', device: one, deviceType: 'str' },
      }));
      const flow = await start(flowAround(serviceNode(box, { names: false }), own!, others!), {
        credentials: secrets(),
      });
      assert.match((await flow.status(own!.id, 'red')).text ?? '', /^not subscribed: /);
      box.broker!.faults.refuseSubscription = () => false;
      box.broker!.disconnectClients();
      await flow.status(own!.id, 'green');
      const { all } = flow.statuses(others!.id);
      assert.deepEqual([all.at(-1)?.text, all.some(({ fill }) => fill === 'red')], ['connected', false]);
    } finally {
      box.broker!.faults.refuseSubscription = () => false;
    }
  });

  it('sends the newest value with its report, its age and where it came from', async () => {
    const flow = await run();
    await heard(flow, 'measurement/8800', { seq: 1, value: '1234' });
    const msg = await ask(flow, { device, identifier: 'temperature', report: 'of another node', keep: 1 });
    assert.equal(msg.payload, 46.6);
    assert.deepEqual(
      [msg.source, msg.gateway, msg.device, msg.identifier, msg.keep],
      ['report', gateway, device, '8800', 1],
    );
    assert.ok(Number(msg.age) >= 0 && Number(msg.age) < 60, `${String(msg.age)}`);
    assert.equal((msg.report as { raw: string }).raw, '1234');
  });

  it('has what it knew before, with its age, where it was disabled meanwhile', async () => {
    const last = { id: 'n', type: 'mt-last-value' };
    const flow = await run();
    await heard(flow, 'measurement/8800', { seq: 1, value: '1234' });
    const since = performance.now();
    await flow.deploy(flowOf({}, { ...last, d: true }), 'nodes', secrets());
    await heard(flow, 'measurement/8800', { seq: 2, value: '1235' });
    await flow.deploy(flowOf({}, last), 'nodes', secrets());
    const seconds = (performance.now() - since) / 1_000;
    const msg = await ask(flow, { device, identifier: 'temperature' });
    assert.equal((msg.report as { raw: string }).raw, '1234');
    // Rounded to tenths.
    assert.ok(Number(msg.age) > seconds - 0.1, `${String(msg.age)} of ${seconds}`);
  });

  it('sends the value of a fixed device without a gateway, behind the report of another gateway', async () => {
    const fixed = { device, deviceType: 'str', identifier: 'alarm', identifierType: 'str' };
    const flow = await run({ ...fixed, gateway: '', gatewayType: 'str' });
    await heard(flow, 'property-decoded/alarm', { value: true }, other);
    assert.equal((await ask(flow, { gateway, device: gateway, payload: 20 })).payload, true);
  });

  it('shows in its panel of a gateway without a device what it would send: its own value', async () => {
    const flow = await run();
    await heard(flow, 'measurement-decoded/temperature', { seq: 1, value: 21.5 });
    const settings = { gateway, gatewayType: 'str', device: '', deviceType: 'str' };
    const shown = async (select: string) => {
      const { body } = await flow.post('/mt-service/svc/last-values', { ...settings, select });
      return (body as { rows: { device: string }[] }).rows.map((row) => row.device);
    };
    assert.ok((await shown('all')).includes(device));
    assert.ok(!(await shown('one')).includes(device));
  });

  it('shows in its panel only what its variables let through, and says which of them brings nothing', async () => {
    process.env.MT_PLACE = box.devices.find(({ id }) => id.endsWith(other))!.labels[0];
    const flow = await run();
    await heard(flow, 'measurement-decoded/temperature', { seq: 1, value: 1 });
    await heard(flow, 'measurement-decoded/humidity', { seq: 2, value: 2 }, other);
    const shown = async (settings: object) => {
      const asked = { node: 'n', select: 'all', ...settings };
      return (await flow.post('/mt-service/svc/last-values', asked)).body as Record<string, unknown>;
    };
    const names = ({ rows }: Record<string, unknown>) => (rows as { name: string }[]).map(({ name }) => name);
    assert.deepEqual(names(await shown({ labels: ['${MT_PLACE}'] })), ['humidity']);
    process.env.MT_DEVICE = device.replace(/^./, 'f');
    const others = { device: '${MT_DEVICE}', deviceType: 'str' };
    assert.deepEqual(names(await shown(others)), []);
    process.env.MT_DEVICE = 'my-secret';
    const odd = await shown(others);
    assert.match(String(odd.message), /12 hex digits: \$\{MT_DEVICE\}$/);
    delete process.env.MT_DEVICE;
    delete process.env.MT_PLACE;
    const inList = await shown({ labels: ['berlin', '${MT_PLACE}'] });
    assert.equal(inList.message, 'labels comes from ${MT_PLACE}, which brings nothing');
    assert.match(
      String((await shown(others)).message),
      /^device comes from \$\{MT_DEVICE\}, which brings nothing$/,
    );
  });

  it('shows in its panel what the variables of its flow and group let through at another service, too', async () => {
    const label = box.devices.find(({ id }) => id.endsWith(gateway))!.labels[0];
    const env = (name: string) => [{ name, type: 'str', value: label }];
    const [tab, ...rest] = flowOf(
      {},
      { id: 'n', type: 'mt-last-value', g: 'g' },
      { id: 'g', type: 'group', nodes: ['n'], env: env('MT_ROOM') },
      serviceNode(box, { id: 'another' }),
    );
    const flow = await start([{ ...tab, env: env('MT_FLOOR') }, ...rest], {
      credentials: { ...secrets(), another: secrets().svc },
    });
    await subscribed(box);
    for (const [node, variable] of [
      ['n', 'MT_ROOM'],
      ['n', 'MT_FLOOR'],
      ['not deployed', 'MT_FLOOR'],
    ]) {
      const asked = { node, z: 'f', select: 'all', labels: [`\${${variable}}`] };
      for (const service of ['svc', 'another']) {
        const { body } = await flow.post(`/mt-service/${service}/last-values`, asked);
        assert.equal((body as { message?: string }).message, undefined, `${node}: ${variable}`);
      }
    }
  });

  it('gives null, and nothing of another message, where nothing is known', async () => {
    const flow = await run();
    const others = { age: 7, source: 'x', report: {}, response: {} };
    const msg = await ask(flow, { device, identifier: 'humidity', ...others });
    assert.equal(msg.payload, null);
    assert.deepEqual(
      Object.keys(others).filter((key) => msg[key] !== undefined),
      [],
    );
  });

  it('knows what only it asks for, and the values that reads brought', async () => {
    const version = { identifier: 'firmware-version', identifierType: 'str' };
    const flow = await run(version, { id: 'read', type: 'mt-gw-read', ...version });
    flow.send('read', { gateway, device });
    await flow.next('out');
    const msg = await ask(flow, { device });
    assert.deepEqual([msg.payload, msg.source], ['3.4.1', 'read']);
  });

  it('sends what another node has read raw as it would be in a report', async () => {
    const raw = { identifier: '8001', identifierType: 'str', decode: false };
    const flow = await run({}, { id: 'read', type: 'mt-gw-read', ...raw });
    flow.send('read', { gateway, device });
    assert.equal((await flow.next('out')).payload, '03040100');
    assert.equal((await ask(flow, { device, identifier: 'firmware-version' })).payload, '3.4.1');
  });

  it('knows samples', async () => {
    const flow = await run();
    await heard(flow, 'timestamped-decoded/temperature', { value: 20 });
    assert.equal((await ask(flow, { device, identifier: 'temperature' })).payload, 20);
  });

  it('tells that the gateways of a label are not known, and does not take all for none', async () => {
    const node = { id: 'n', type: 'mt-last-value', labels: ['a'], select: 'all' };
    const flow = await start(flowOf({ authUrl: 'http://127.0.0.1:1', httpRetries: 0 }, node), {
      credentials: secrets(),
    });
    flow.send('n', {});
    const { error } = await flow.next('errors');
    assert.equal(error?.code, 'NETWORK');
  });

  it('shows before any message comes that nothing can pass: labels without the REST half', async () => {
    const node = { id: 'n', type: 'mt-last-value', labels: ['a'], select: 'all' };
    const flow = await start(flowOf({ authUrl: '', baseUrl: '' }, node), { credentials: secrets() });
    await flow.statuses('n').next(({ fill, text }) => fill === 'grey' && /REST/.test(String(text)));
    flow.send('n', {});
    const { error } = await flow.next('errors');
    assert.deepEqual([error?.code, error?.cause], ['NOT_CONFIGURED', { part: 'rest' }]);
  });

  it('asks the device where nothing is known, or nothing young enough', async () => {
    const flow = await run({ tooOld: 'read', maxAge: 3600 });
    const msg = await ask(flow, { gateway, device, identifier: 'firmware-version' });
    assert.deepEqual([msg.payload, msg.source, msg.age], ['3.4.1', 'read', 0]);
    assert.equal((msg.response as { status: number }).status, 0);
    const again = await ask(flow, { device, identifier: 'firmware-version' });
    assert.equal(again.response, undefined);
  });

  it('gives each message that waits for the same read an error of its own', async () => {
    const flow = await run({ tooOld: 'read' });
    flow.send('n', { device, gateway, identifier: 'none-such', n: 1 });
    flow.send('n', { device, gateway, identifier: 'none-such', n: 2 });
    const [one, other] = [await flow.next('errors'), await flow.next('errors')];
    assert.deepEqual([one.n, other.n, other.error?.code], [1, 2, 'REQUEST_FAILED']);
    assert.deepEqual(other.error?.cause, one.error?.cause);
    Object.assign(one.error!.cause!, { note: 'seen' });
    assert.equal(other.error?.cause?.note, undefined);
  });

  it('reports NO_VALUE with device and property where that is wanted', async () => {
    const flow = await run({ tooOld: 'error' });
    flow.send('n', { device, identifier: 'humidity' });
    const { error } = await flow.next('errors');
    assert.equal(error?.code, 'NO_VALUE');
    assert.deepEqual({ ...error?.cause }, { device, identifier: 'humidity', age: undefined });
  });

  it('tells two gateways apart where one is given', async () => {
    const flow = await run();
    await heard(flow, 'measurement-decoded/temperature', { seq: 1, value: 1 });
    await heard(flow, 'measurement-decoded/temperature', { seq: 2, value: 2 }, other);
    const identifier = 'temperature';
    assert.equal((await ask(flow, { device, identifier })).payload, 2);
    assert.equal((await ask(flow, { device, gateway, identifier })).payload, 1);
  });

  it('sends all that passes as a list', async () => {
    const flow = await run({ select: 'all' });
    await heard(flow, 'measurement-decoded/temperature', { seq: 1, value: 20 });
    await heard(flow, 'event/8b01', { seq: 1 });
    const msg = await ask(flow, { device });
    assert.equal(msg.count, 2);
    const [first] = msg.payload as Record<string, unknown>[];
    assert.deepEqual(
      { ...first, age: 0 },
      {
        gateway,
        device,
        identifier: 'temperature',
        name: 'temperature',
        unit: '°C',
        value: 20,
        time: TIME,
        age: 0,
        source: 'report',
      },
    );
  });

  for (const [msg, field] of [
    [{ identifier: 'temperature' }, 'device'],
    [{ device: '', identifier: 'temperature' }, 'device'],
    [{ device: 'boiler', identifier: 'temperature' }, 'device'],
    [{ device: 'd00000000001' }, 'identifier'],
    [{ device: 'd00000000001', identifier: 7 }, 'identifier'],
    [{ device: 'd00000000001', identifier: 'temperature', gateway: 'x' }, 'gateway'],
  ] as const) {
    it(`refuses ${JSON.stringify(msg)}, which would be another question`, async () => {
      const flow = await run();
      flow.send('n', msg);
      const { error } = await flow.next('errors');
      assert.deepEqual([error?.code, error?.cause?.field], ['INVALID_INPUT', field]);
    });
  }

  it('sends a message with an empty device to Catch nodes also when all are asked for', async () => {
    const flow = await run({ select: 'all' });
    flow.send('n', { device: '' });
    const { error } = await flow.next('errors');
    assert.equal(error?.cause?.field, 'device');
  });

  it('does not mind blanks around a fixed address, as no other node does', async () => {
    const fixed = { device: ` ${device}\t`, deviceType: 'str', gateway: `${gateway} `, gatewayType: 'str' };
    const flow = await run({ ...fixed, identifier: 'temperature', identifierType: 'str' });
    await heard(flow, 'measurement-decoded/temperature', { seq: 1, value: 21.5 });
    assert.equal((await ask(flow, {})).payload, 21.5);
  });

  it('tells what is wrong with a fixed address', async () => {
    const flow = await run({ device: 'boiler', deviceType: 'str' });
    flow.send('n', { identifier: 'temperature' });
    const { error } = await flow.next('errors');
    assert.deepEqual(
      [error?.code, { ...error?.cause }],
      ['INVALID_INPUT', { field: 'device', value: 'boiler' }],
    );
    assert.match(error?.message ?? '', /^device /i);
  });

  it('still knows which gateway hears a device after a deploy of all nodes', async () => {
    const read = { id: 'read', type: 'mt-gw-read', identifier: 'firmware-version', identifierType: 'str' };
    const flow = await run({}, read);
    await heard(flow, 'heartbeat', { seq: 1, status: 0 });
    await flow.deploy(flowOf({}, read), 'full', secrets());
    flow.send('read', { device });
    assert.equal((await flow.next('out')).payload, '3.4.1');
  });

  it('still knows everything after a deploy of all nodes, and nothing of another broker', async () => {
    const flow = await run();
    const asked = { device, identifier: 'temperature' };
    const last = { id: 'n', type: 'mt-last-value' };
    await heard(flow, 'measurement-decoded/temperature', { seq: 1, value: 21 });
    await flow.deploy(flowOf({}, last), 'full', secrets());
    await subscribed(box);
    assert.equal((await ask(flow, asked)).payload, 21);
    await flow.deploy(
      flowOf({ brokerUrl: box.urls.mqtt.replace('127.0.0.1', 'localhost') }, last),
      'full',
      secrets(),
    );
    await subscribed(box);
    assert.equal((await ask(flow, asked)).payload, null);
  });

  for (const [what, change, left] of [
    ['leaves in the store what is known when a deploy disables the service', { d: true }, [1]],
    ['leaves nothing in the store when a deploy removes the service', { id: 'other' }, [0]],
  ] as const) {
    it(what, async () => {
      const last = { id: 'n', type: 'mt-last-value' };
      const flow = await start(flowOf({ remember: 'default' }, last), { credentials: secrets() });
      await subscribed(box);
      await heard(flow, 'measurement-decoded/temperature', { seq: 1, value: 21 });
      const stored: number[] = [];
      const set = (_key: string, { values }: { values: object[] }, _store: string, done: () => void) => {
        stored.push(values.length);
        done();
      };
      Object.assign(flow.node('svc'), { context: () => ({ set }) });
      await flow.deploy(flowOf({ remember: 'default', ...change }, last), 'nodes', secrets());
      assert.deepEqual(stored, left);
    });
  }

  it('still knows and stores everything when the service has another session at the broker', async () => {
    const last = { id: 'n', type: 'mt-last-value' };
    const flow = await start(flowOf({ remember: 'default' }, last), { credentials: secrets() });
    await subscribed(box);
    await heard(flow, 'measurement-decoded/temperature', { seq: 1, value: 21 });
    for (const change of [{ clientId: 'another' }, { clientId: 'another', persistent: true }, {}]) {
      const stored: number[] = [];
      const set = (_key: string, { values }: { values: object[] }, _store: string, done: () => void) => {
        stored.push(values.length);
        done();
      };
      Object.assign(flow.node('svc'), { context: () => ({ set }) });
      await flow.deploy(flowOf({ remember: 'default', ...change }, last), 'full', secrets());
      assert.deepEqual(stored, [1]);
      await subscribed(box);
      assert.equal((await ask(flow, { device, identifier: 'temperature' })).payload, 21);
    }
  });
});

describeNodes('last-value with many old values', (start) => {
  const COUNT = 20;
  let box: Service;

  beforeEach(async () => {
    box = await startService({ rate: 0, listed: 10, delay: 1 });
  });
  afterEach(() => box.close());

  it('reads them anew without filling the queue itself, and tells of all failures in one error', async () => {
    const { gateway, device } = box.demo;
    for (let n = 0; n < COUNT; n++) {
      const payload = { time: '2001-01-01T00:00:00.000Z', value: n };
      await box.publish(gateway, device, `property-decoded/unknown-${n}`, payload, true);
    }
    const flow = await start(
      flowAround(
        serviceNode(box, { maxQueue: 3 }),
        { id: 'n', type: 'mt-last-value', select: 'all', tooOld: 'read', maxAge: 1 },
        { id: 'r', type: 'mt-report-in', wires: [['reports']] },
        { id: 'reports', type: 'helper', wires: [] },
      ),
      { credentials: secretsOf(box) },
    );
    for (let n = 0; n < COUNT; n++) {
      await flow.next('reports');
    }
    // Of an http in node: a copy of it answers nobody.
    const http = { req: {}, res: {} };
    const messages = Array.from({ length: 10 }, () => flow.send('n', { ...http }));
    for (const _ of messages) {
      assert.equal(((await flow.next('out')) as { count?: number }).count, COUNT);
      const { error, req, res } = (await flow.next('errors')) as Message & typeof http;
      assert.deepEqual([req === http.req, res === http.res], [true, true]);
      const failures = error?.cause?.failures as { code: string }[];
      assert.deepEqual([error?.code, error?.cause?.count], ['NO_VALUE', COUNT]);
      assert.deepEqual([...new Set(failures.map(({ code }) => code))], ['REQUEST_FAILED']);
    }
  });
});
