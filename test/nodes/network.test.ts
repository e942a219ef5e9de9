// The network of a deployed service as the sidebar sees it, and what a person does there, over real HTTP.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { askerOf } from '../../nodes/service/network.ts';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode, subscribed } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

interface Row {
  id: string;
  name: string;
  kind: string;
  parent: string | null;
  devices: number | null;
  values: { identifier: string; value: unknown; unit: string | null }[];
  conditions: string[];
  labels: string[];
  isUnasked?: boolean;
}

const TIME = '2025-01-02T03:04:05.678Z';

describeNodes('the network', (start) => {
  let box: Service;
  let gateway: string;
  let device: string;

  before(async () => {
    box = await startService({ rate: 0, listed: 10, delay: 1 });
    ({ gateway, device } = box.demo);
  });

  after(() => box.close());

  const run = (node: object = {}, service: object = {}): Promise<Flow> =>
    start(flowAround(serviceNode(box, service), { id: 'n', type: 'mt-report-in', ...node }), {
      credentials: secretsOf(box),
    });
  const hear = (suffix: string, payload: object, from = device) =>
    box.publish(gateway, from, suffix, { time: TIME, ...payload });
  const page = async (flow: Flow, query = '') => {
    const { status, body } = await flow.get(`/mt-service/svc/network?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as {
      total: number;
      rows: Row[];
      broker: string;
      asked: boolean;
      heard: boolean;
      nameless: string | null;
    };
  };
  /** Asks until it is so. */
  async function until(flow: Flow, query: string, isSo: (rows: Row[]) => boolean): Promise<Row[]> {
    for (;;) {
      const { rows } = await page(flow, `${query}&q=${'%20'.repeat(Math.floor(Math.random() * 100))}`);
      if (isSo(rows)) {
        return rows;
      }
      await wait(20);
    }
  }
  const post = (flow: Flow, what: string, body: object) => flow.post(`/mt-service/svc/${what}`, body);

  it('is gateways with their names and labels, and what each of them hears', async () => {
    const flow = await run();
    await subscribed(box);
    await hear('measurement-decoded/temperature', { seq: 1, value: 21.5 });
    await flow.next('out');
    const listed = box.devices.find(({ id }) => id.endsWith(gateway));
    const rows = await until(flow, 'limit=1000', (all) =>
      all.some(({ id, name }) => id === gateway && name !== id),
    );
    const row = rows.find(({ id }) => id === gateway);
    assert.deepEqual(
      [row?.name, row?.labels, row?.kind, row?.devices],
      [listed?.friendlyName, listed?.labels, 'gateway', 1],
    );
    const { total, rows: heard } = await page(flow, `parent=${gateway}&sort=-lastSeen`);
    assert.deepEqual([total, heard[0]?.id, heard[0]?.parent], [1, device, gateway]);
    assert.deepEqual(heard[0]?.values[0], {
      ...{ identifier: 'temperature', name: 'temperature', value: 21.5, unit: '°C', time: TIME },
    });
  });

  it('is empty where nothing is known, and says what is wrong with a question', async () => {
    const flow = await run({}, { authUrl: '', baseUrl: '' });
    const { total, rows, broker, heard } = await page(flow);
    assert.deepEqual([total, rows, heard], [0, [], false]);
    assert.ok(['connecting', 'connected'].includes(broker), broker);
    const { status, body } = await flow.get('/mt-service/svc/network?parent=nothing');
    assert.deepEqual([status, (body as { code: string }).code], [400, 'INVALID_INPUT']);
    assert.equal((await flow.get('/mt-service/n/network')).status, 404);
    assert.equal((await flow.get('/mt-service/svc/network/d00000000000')).status, 404);
    for (const action of ['read', 'write', 'rename', 'label']) {
      const { status, body } = await flow.post(`/mt-service/n/${action}`, {});
      assert.equal(status, 404);
      assert.deepEqual(body, {
        code: 'NOT_CONFIGURED',
        message: 'the selected service does not run: it is disabled or no longer there',
      });
    }
  });

  it('says where no flow asks for reports any more, of each row too, unless somebody listens to everything', async () => {
    const node = { id: 'n', type: 'mt-report-in', kinds: ['heartbeat'] };
    const flow = await run(node);
    await subscribed(box);
    await hear('heartbeat', { seq: 1 });
    await until(flow, '', (rows) => rows.length > 0);
    const isUnasked = async () => {
      const { asked, rows } = await page(flow);
      const details = (await flow.get(`/mt-service/svc/network/${device}`)).body as Row;
      assert.deepEqual(
        [rows[0]?.isUnasked, details.isUnasked],
        asked ? [undefined, undefined] : [true, true],
      );
      return !asked;
    };
    assert.equal(await isUnasked(), false);
    await flow.deploy(flowAround(serviceNode(box), { ...node, d: true }), 'full', secretsOf(box));
    assert.equal(await isUnasked(), true);
    const labels = ['on no gateway'];
    await flow.deploy(flowAround(serviceNode(box), { ...node, labels }), 'full', secretsOf(box));
    assert.equal(await isUnasked(), false);
    await flow.deploy(flowAround(serviceNode(box), { ...node, d: true }), 'full', secretsOf(box));
    while (((await post(flow, 'listen', { all: true })).body as { listening: boolean }).listening !== true) {
      await wait(20);
    }
    assert.equal(await isUnasked(), false);
  });

  it('shows only who needs somebody, when it is asked to', async () => {
    const flow = await run();
    await subscribed(box);
    await hear('heartbeat', { seq: 1, status: 0 }, box.gateways[0]?.devices[3]?.mac ?? gateway);
    await hear('heartbeat', { seq: 1, status: 5 });
    await flow.next('out', ({ payload }) => (payload as { status?: number }).status === 5);
    const { rows } = await page(flow, `parent=${gateway}&needs=1`);
    assert.deepEqual(
      rows.map(({ id, conditions }) => [id, conditions]),
      [[device, ['error']]],
    );
  });

  it('shows first what may be in the hand of who asks', async () => {
    const flow = await run();
    await subscribed(box);
    const other = box.gateways[0]?.devices[3]?.mac ?? '';
    const near = () => page(flow, `parent=*&near=1&sort=-lastSeen`);
    await near();
    await hear('event-decoded/motion', { seq: 1 });
    await hear('heartbeat', { seq: 2, status: 0 }, other);
    await flow.next('out', ({ payload }) => (payload as { seq?: number }).seq === 2);
    const { rows } = await near();
    assert.equal(rows[0]?.id, device);
    assert.equal((rows[0] as { near?: { reason: string } }).near?.reason, 'event');
    assert.equal('near' in ((await page(flow, 'parent=*')).rows[0] ?? {}), false);
  });

  it('tells of one device all that is known', async () => {
    const flow = await run();
    await subscribed(box);
    await hear('rssi', { rssi: -67, parent: gateway, channel: 38 });
    await flow.next('out');
    const { status, body } = await flow.get(`/mt-service/svc/network/${device.toUpperCase()}`);
    const { heardBy, gateway: by } = body as { heardBy: object[]; gateway: string };
    assert.deepEqual([status, by], [200, gateway]);
    const [{ lastSeen, name, gatewayName, ...link } = {} as Record<string, unknown>] = heardBy as Record<
      string,
      unknown
    >[];
    assert.deepEqual(link, {
      gateway,
      parent: gateway,
      rssi: -67,
      channel: 38,
      unreachable: false,
      count: 1,
    });
    assert.ok(Math.abs(Date.parse(String(lastSeen)) - Date.now()) < 60_000 && typeof name === 'string');
  });

  it('tells the newest reports of one device, as long as somebody asks for them', async () => {
    const flow = await run();
    await subscribed(box);
    await hear('measurement-decoded/temperature', { seq: 1, value: 21.5 });
    await flow.next('out');
    const reportsOf = async (query: string) =>
      ((await flow.get(`/mt-service/svc/network/${device}${query}`)).body as { reports?: object[] }).reports;
    assert.equal(await reportsOf(''), undefined);
    assert.equal((await reportsOf('?reports=1'))?.length, 1, 'what is remembered');
    await hear('measurement-decoded/temperature', { seq: 2, value: 22 });
    await hear('heartbeat', { seq: 3, status: 2 });
    await flow.next('out', ({ payload }) => (payload as { seq?: number }).seq === 3);
    const reports = (await reportsOf('?reports=1')) as { kind: string; value: unknown; error: unknown }[];
    assert.deepEqual(
      reports.map(({ kind, value, error }) => [kind, value, error]),
      [
        ['heartbeat', null, 2],
        ['measurement', 22, null],
        [null, 21.5, null],
      ],
    );
    assert.equal((await flow.get('/mt-service/svc/network/d00000000000?reports=1')).status, 404);
  });

  it('tells which devices are silent, of those that are asked about', async () => {
    const flow = await run();
    const macs = [device, 'd00000000000', '__proto__', null, 7, 'x'.repeat(1_000)];
    assert.deepEqual((await post(flow, 'silent', { macs })).body, { silent: {} });
    assert.deepEqual((await post(flow, 'silent', { macs: 'all' })).body, { silent: {} });
  });

  it('has names for captions, once its list of devices is known', async () => {
    const flow = await run();
    const listed = box.devices[0]!;
    const mac = listed.id.slice(5);
    const macs = [mac, 'd00000000000', '__proto__', null, 7, 'x'.repeat(1_000)];
    let answer: { known: boolean; names: object };
    do {
      answer = (await post(flow, 'names', { macs })).body as typeof answer;
    } while (!answer.known);
    assert.deepEqual(answer.names, { [mac]: listed.friendlyName });
    assert.deepEqual((await post(flow, 'names', { macs: 'all' })).body, { known: true, names: {} });
  });

  for (const [why, service, secrets, reason] of [
    ['the login is missing', {}, {}, 'no REST login'],
    ['the login is refused', {}, { username: 'user', password: 'Wr0ng-Passw0rd' }, 'login refused'],
    [
      'an address is wrong',
      { authUrl: 'ftp://nowhere' },
      undefined,
      'invalid: Login address (not a usable address)',
    ],
    [
      'nothing answers',
      { authUrl: 'http://127.0.0.1:1', baseUrl: 'http://127.0.0.1:1' },
      undefined,
      'nothing answers at 127.0.0.1:1 (ECONNREFUSED)',
    ],
    [
      'nothing answers at an address that a variable holds',
      { authUrl: 'http://${MT_HOST}:1', baseUrl: 'http://${MT_HOST}:1' },
      undefined,
      'nothing answers at … (ECONNREFUSED)',
    ],
    ['there is no such address', { authUrl: '', baseUrl: '' }, {}, null],
    ['there are some', {}, undefined, null],
  ] as const) {
    it(`says in a few words why there are no names, where ${why}`, async () => {
      process.env.MT_HOST = 'localhost';
      const flow = await start(flowAround(serviceNode(box, service), { id: 'n', type: 'mt-report-in' }), {
        credentials: secrets ? { svc: secrets } : secretsOf(box),
      });
      const hasNames = async () =>
        ((await post(flow, 'names', { macs: [] })).body as { known: boolean }).known;
      let shown = await page(flow);
      while (shown.nameless === null && !(await hasNames())) {
        await wait(20);
        shown = await page(flow);
      }
      delete process.env.MT_HOST;
      assert.equal(shown.nameless, reason);
      assert.doesNotMatch(JSON.stringify(shown), /Wr0ng/);
    });
  }

  it('has no names without a list of devices, and nothing to wait for', async () => {
    const flow = await run({}, { authUrl: '', baseUrl: '' });
    assert.deepEqual((await post(flow, 'names', { macs: [gateway] })).body, { known: true, names: {} });
  });

  describe('is acted on', () => {
    const asked = () => ({ gateway, device, identifier: 'firmware-version' });

    it('by a read, which answers as the payload of the node, or as its whole message', async () => {
      const flow = await run();
      const { status, body } = await post(flow, 'read', asked());
      assert.deepEqual([status, body], [200, '3.4.1']);
      const { body: whole } = await post(flow, 'read?full=1', { ...asked(), identifier: 'temperature' });
      const { payload, unit, response, ...rest } = whole as Record<string, unknown>;
      assert.deepEqual([typeof payload, unit, (response as { status: number }).status], ['number', '°C', 0]);
      assert.deepEqual(rest, { name: 'temperature', gateway, device, identifier: 'temperature' });
    });

    it('by a write, of value or payload', async () => {
      const flow = await run();
      const body = { ...asked(), identifier: 'tx-power' };
      for (const given of [{ value: 4 }, { payload: 8 }]) {
        const { status, body: answer } = await post(flow, 'write', { ...body, ...given });
        assert.deepEqual([status, answer], [200, Object.values(given)[0]]);
        assert.equal((await post(flow, 'read', body)).body, answer);
      }
      const { status, body: error } = await post(flow, 'write', { ...body, form: 'raw', value: 1_000 });
      assert.deepEqual([status, (error as { code: string }).code], [400, 'INVALID_INPUT']);
    });

    it('by a new name, and a label that is made and taken away', async () => {
      const flow = await run();
      const listed = box.devices[3]!;
      const renamed = await post(flow, 'rename', { device: listed.id, name: 'Cellar' });
      assert.deepEqual([renamed.status, renamed.body], [200, { id: listed.id, friendlyName: 'Cellar' }]);
      assert.equal(listed.friendlyName, 'Cellar');
      const created = await post(flow, 'label', { action: 'create', label: 'wet' });
      assert.deepEqual([created.status, created.body], [200, { label: 'wet' }]);
      const [label = ''] = listed.labels;
      const removed = await post(flow, 'label', { action: 'remove', device: listed.id, payload: label });
      assert.deepEqual([removed.status, removed.body], [200, { id: listed.id, label }]);
      for (const body of [{}, { action: 'paint', label: 'a' }, { action: 'remove', label: 'a' }]) {
        const { status, body: error } = await post(flow, 'label', body);
        const { code, message } = error as { code: string; message: string };
        assert.deepEqual([status, code], [400, 'INVALID_INPUT'], message);
        assert.ok(body.action !== 'paint' || message.includes('create, attach, remove: paint'), message);
      }
    });

    it('in vain, which it says in words with a code', async () => {
      const flow = await run();
      const refused = await post(flow, 'read', { gateway, device: 'd0ffffffffff', identifier: '8000' });
      const { code, message } = refused.body as { code: string; message: string };
      assert.deepEqual([refused.status, code], [502, 'REQUEST_FAILED'], message);
      const silent = await post(flow, 'read', { ...asked(), gateway: 'c0ffffffffff', timeout: 50 });
      assert.deepEqual([silent.status, (silent.body as { code: string }).code], [504, 'TIMEOUT']);
    });

    it('for a minute at most, also where others wait before it at its gateway', async () => {
      const flow = await run({}, { maxInFlight: 1 });
      const toNobody = { ...asked(), gateway: 'c0ffffffffff', timeout: 60_000 };
      let hasEnded = false;
      mock.timers.enable({ apis: ['setTimeout'] });
      try {
        // By its own timeout none ends: the clock that this goes by stands still.
        const asking = ['read', 'write', 'read'].map((what) => post(flow, what, { ...toNobody, value: 1 }));
        const answers = Promise.all(asking).finally(() => {
          hasEnded = true;
        });
        while (!hasEnded) {
          mock.timers.tick(60_000);
          await turn();
        }
        for (const { status, body } of await answers) {
          const { code, message } = body as { code: string; message: string };
          assert.deepEqual([status, code], [504, 'TIMEOUT']);
          assert.match(message, /60 s/);
        }
      } finally {
        mock.timers.reset();
      }
    });

    it('in vain without the half that it takes', async () => {
      const flow = await run({}, { brokerUrl: '', authUrl: '', baseUrl: '' });
      for (const [what, body] of [
        ['read', asked()],
        ['rename', { device: 'a', name: 'b' }],
        ['listen', { all: true }],
      ] as const) {
        const { status, body: error } = await post(flow, what, body);
        assert.deepEqual([status, (error as { code: string }).code], [502, 'NOT_CONFIGURED']);
      }
    });
  });

  describe('is listened to', () => {
    const listen = async (flow: Flow, body: object = { all: true }) =>
      (await post(flow, 'listen', body)).body;

    it('beyond what flows want, while somebody asks for it, without a report more for them', async () => {
      const flow = await run({ kinds: ['event'] });
      await subscribed(box);
      assert.deepEqual(await listen(flow, {}), { seconds: 0, listening: false });
      while (!((await listen(flow)) as { listening: boolean }).listening) {
        await wait(20);
      }
      assert.deepEqual(await listen(flow), { seconds: 15, listening: true });
      const filters = () => [...(box.broker?.subscriptions.values() ?? [])].flatMap((set) => [...set]);
      while (filters().filter((filter) => filter.includes('/device/+/#')).length === 0) {
        await wait(20);
      }
      assert.equal(filters().filter((filter) => filter.includes('/device/+/#')).length, 1);
      await hear('heartbeat', { seq: 1, status: 0 });
      for (const seq of [2, 3]) {
        await hear('event/8200', { seq });
      }
      await until(flow, `parent=${gateway}`, (rows) => rows.length > 0);
      await flow.next('out', ({ payload }) => (payload as { seq?: number }).seq === 3);
      const received = flow.inbox('out').all.map(({ payload }) => (payload as { seq: number }).seq);
      assert.deepEqual(received, [2, 3]);
    });
  });
});

describe('who asks about the network', () => {
  it('is told apart by the name of the user, and without one by the address', () => {
    const ip = '192.0.2.1';
    // Node-RED's own where nobody has to log in to read.
    const anonymous: object = { anonymous: true };
    const asked = [{ ip, user: { username: 'ada' } }, { ip, user: anonymous }, { ip }];
    assert.deepEqual(asked.map(askerOf), ['ada', ip, ip]);
  });
});
