// The REST nodes in a flow: what they send on, and what the service in a box has heard.
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { json, startServer } from '../rest/server.ts';
import { flowAround, secretsOf, serviceNode } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

describeNodes('the REST nodes', (start) => {
  let box: Service;

  before(async () => {
    box = await startService({ mqtt: false, listed: 25 });
  });

  after(() => box.close());

  beforeEach(() => {
    box.faults.rest.clear();
    box.forgetCalls();
  });

  const run = (node: object, service: object = serviceNode(box, { httpRetries: 0 })): Promise<Flow> =>
    start(flowAround(service, { id: 'n', ...node }), { credentials: secretsOf(box) });

  const paths = () =>
    box.calls.rest
      .filter(({ path }) => !path.endsWith('/login'))
      .map(({ method, path }) => `${method} ${path}`);

  describe('device list', () => {
    it('sends all devices as one array with their MACs', async () => {
      const flow = await run({ type: 'mt-device-list', pageSize: 10 });
      flow.send('n', { payload: 'go', keep: 1, _msgid: 'm1' });
      const msg = await flow.next('out');
      const devices = msg.payload as { id: string; mac: string }[];
      assert.equal(devices.length, 25);
      assert.equal(devices[0]?.id, `bmac-${devices[0]?.mac}`);
      assert.deepEqual([msg.count, msg.complete, msg.keep, msg._msgid], [25, true, 1, 'm1']);
    });

    it('sends pages as they come and says so on the last one', async () => {
      const flow = await run({ type: 'mt-device-list', pageSize: 10, output: 'page' });
      flow.send('n', { complete: 'old', _msgid: 'm2' });
      const pages = [await flow.next('out'), await flow.next('out'), await flow.next('out')];
      assert.deepEqual(
        pages.map(({ count, complete, _msgid }) => [count, complete, _msgid]),
        [
          [10, undefined, 'm2'],
          [10, undefined, 'm2'],
          [5, true, 'm2'],
        ],
      );
    });

    it('sends every device that has come before a page fails, and does not call the list complete', async () => {
      let pages = 0;
      const server = await startServer((_, response) => {
        const items = [1, 2, 3].map((number) => ({ id: `bmac-c0141f68fc0${number}` }));
        json(response, pages++ === 0 ? { items, nextToken: 't' } : {}, pages === 1 ? 200 : 500);
      });
      const urls = { authUrl: server.url, baseUrl: server.url, httpRetries: 0 };
      const flow = await run({ type: 'mt-device-list', output: 'each' }, serviceNode(box, urls));
      flow.send('n', {});
      const { error } = await flow.next('errors');
      await server.stop();
      assert.equal(error?.code, 'HTTP_ERROR');
      const sent = flow.inbox('out').all as {
        device?: string;
        complete?: boolean;
        parts?: { count?: number };
      }[];
      assert.deepEqual(
        sent.map(({ device, complete, parts }) => [device?.slice(-1), complete, parts?.count]),
        [
          ['1', undefined, undefined],
          ['2', undefined, undefined],
          ['3', undefined, undefined],
        ],
      );
    });

    it('sends the devices of one long page 100 in a turn, and none after a stop', async () => {
      const server = await startServer((_, response) =>
        json(response, { items: Array.from({ length: 1_000 }, (_, number) => ({ id: `${number}` })) }),
      );
      const urls = { authUrl: server.url, baseUrl: server.url, httpRetries: 0 };
      const flow = await run({ type: 'mt-device-list', output: 'each' }, serviceNode(box, urls));
      flow.send('n', {});
      await flow.next('out');
      let turns = 1;
      let inTurn = flow.inbox('out').all.length;
      for (let before = 0; flow.inbox('out').all.length < 500; turns++) {
        before = flow.inbox('out').all.length;
        await new Promise(setImmediate);
        inTurn = Math.max(inTurn, flow.inbox('out').all.length - before);
      }
      assert.ok(turns >= 4 && inTurn <= 100, `${inTurn} messages in one of ${turns} turns`);
      const errors = flow.next('errors');
      await flow.node('n').close(false);
      const { error } = await errors;
      await server.stop();
      assert.equal(error?.code, 'CLOSED');
      assert.ok(flow.inbox('out').all.length < 1_000);
    });

    it('puts the place in front of every name, as its help says', async () => {
      const list = { id: 'n', type: 'mt-device-list', output: 'each', limit: 2, wires: [['r']] };
      const name = { name: '"Oslo " & payload.friendlyName', nameType: 'jsonata' };
      const rename = { id: 'r', type: 'mt-rename', ...name };
      const flow = await start(flowAround(serviceNode(box), list, rename), { credentials: secretsOf(box) });
      const { id, friendlyName } = { ...box.devices[0]! };
      flow.send('n', {});
      const { payload } = await flow.next('out');
      assert.deepEqual(payload, { id, friendlyName: `Oslo ${friendlyName}` });
    });

    it('sends each device with what the following nodes need', async () => {
      const flow = await run({ type: 'mt-device-list', pageSize: 10, output: 'each' });
      flow.send('n', { parts: { id: 'outer' }, deep: { one: 1 } });
      const first = await flow.next('out');
      const device = first.payload as { id: string; mac: string };
      assert.equal(first.device, device.id);
      assert.equal(first.gateway, device.mac);
      assert.equal(first.count, 1);
      assert.equal('complete' in first, false);
      const last = await flow.next('out', ({ parts }) => (parts as { count?: number }).count !== undefined);
      const { id, ...parts } = last.parts as Record<string, unknown>;
      assert.deepEqual(parts, { type: 'array', len: 1, index: 24, count: 25, parts: { id: 'outer' } });
      assert.equal(id, (first.parts as { id: string }).id);
      assert.equal(last.complete, true);
      assert.notEqual(last.deep, first.deep);
    });

    it('says that the limit has cut the list', async () => {
      const flow = await run({ type: 'mt-device-list', pageSize: 10, limit: 12, output: 'each' });
      flow.send('n', {});
      const last = await flow.next('out', ({ complete }) => complete !== undefined);
      assert.deepEqual([(last.parts as { count: number }).count, last.complete], [12, false]);
    });

    it('combines its filters, and sends an empty array when nothing is left', async () => {
      const flow = await run({ type: 'mt-device-list' });
      const wanted = box.devices[3]!;
      flow.send('n', { labels: wanted.labels[0], search: wanted.id.slice(-4).toUpperCase() });
      assert.deepEqual(
        ((await flow.next('out')).payload as { id: string }[]).map(({ id }) => id),
        [wanted.id],
      );
      flow.send('n', { search: 'nobody' });
      const none = await flow.next('out');
      assert.deepEqual([none.payload, none.count, none.complete], [[], 0, true]);
    });

    it('passes further query parameters on', async () => {
      const flow = await run({ type: 'mt-device-list', query: '{"site":"a b"}', queryType: 'json' });
      flow.send('n', {});
      await flow.next('out');
      assert.equal(box.calls.rest.at(-1)?.query.site, 'a b');
    });
  });

  describe('rename', () => {
    for (const [title, name] of [
      ['', undefined],
      ['To the attic', 'To the attic'],
    ]) {
      for (const [what, service] of [
        ['with', 'svc'],
        ['without', ''],
      ]) {
        it(`is called ${name ?? 'by its id'} in errors, ${what} a service`, async () => {
          const flow = await run({ type: 'mt-rename', title, service, name: 'payload', nameType: 'msg' });
          flow.send('n', {});
          const { source } = (await flow.next('errors')).error!;
          // Without a name the editor would say what it takes for one: the field of the new name.
          assert.deepEqual([source?.id, source?.name], ['n', name ?? 'n']);
        });
      }
    }

    it('renames the device that the device list has sent', async () => {
      const flow = await run({ type: 'mt-rename' });
      const { id } = box.devices[1]!;
      flow.send('n', { device: id, payload: 'Hall / 2 % # 🌡', _msgid: 'r1' });
      const msg = await flow.next('out');
      assert.deepEqual(msg.payload, { id, friendlyName: 'Hall / 2 % # 🌡' });
      assert.equal(msg._msgid, 'r1');
      assert.equal(box.devices[1]?.friendlyName, 'Hall / 2 % # 🌡');
    });

    it('takes a MAC address, and a fixed name', async () => {
      const flow = await run({ type: 'mt-rename', name: 'Attic', nameType: 'str' });
      const mac = box.devices[2]!.id.slice(5);
      flow.send('n', { device: mac.toUpperCase().match(/../g)?.join(':'), payload: 'untouched' });
      assert.deepEqual((await flow.next('out')).payload, { id: box.devices[2]?.id, friendlyName: 'Attic' });
    });
  });

  describe('label', () => {
    it('creates a label', async () => {
      const flow = await run({ type: 'mt-label' });
      flow.send('n', { payload: 'Floor 3/4' });
      assert.deepEqual((await flow.next('out')).payload, { label: 'Floor 3/4' });
      assert.deepEqual(box.calls.rest.at(-1)?.body, { label: 'Floor 3/4' });
    });

    it('removes a label from a device when the message says so', async () => {
      const flow = await run({ type: 'mt-label', action: 'msg' });
      const { id, labels } = box.devices[5]!;
      const label = labels[0]!;
      flow.send('n', { action: 'remove', payload: label, device: id });
      assert.deepEqual((await flow.next('out')).payload, { id, label });
      assert.equal(box.devices[5]?.labels.includes(label), false);
    });

    for (const action of [undefined, 'erase', 'constructor', 7]) {
      it(`refuses the action ${action}`, async () => {
        const flow = await run({ type: 'mt-label', action: 'msg' });
        flow.send('n', { action, payload: 'x' });
        const { error } = await flow.next('errors');
        assert.equal(error?.code, 'INVALID_INPUT');
        assert.equal(error?.cause?.field, 'action');
      });
    }
  });

  describe('service request', () => {
    it('sends any call below the base address with the token', async () => {
      const flow = await run({ type: 'mt-service-request', method: 'msg' });
      flow.send('n', { method: 'GET', path: '/api/v1/devices', query: { MaxResults: 2 }, payload: 'unused' });
      const msg = await flow.next('out');
      assert.equal((msg.payload as { items: unknown[] }).items.length, 2);
      assert.equal(msg.statusCode, 200);
      assert.match(String((msg.headers as Record<string, string>)['content-type']), /json/);
    });

    it('tells what the service has refused, without the token', async () => {
      const flow = await run({ type: 'mt-service-request', path: '/api/v1/nothing-here', pathType: 'str' });
      flow.send('n', {});
      const { error } = await flow.next('errors');
      assert.equal(error?.code, 'HTTP_ERROR');
      assert.deepEqual(
        [error?.cause?.statusCode, error?.cause?.method, error?.cause?.path],
        [404, 'GET', '/api/v1/nothing-here'],
      );
      assert.doesNotMatch(JSON.stringify(error), /Bearer|demo-password/);
    });
  });

  /** Bad input and the field that is to blame; nothing may be sent. */
  const BAD: [title: string, node: object, msg: object, field: string][] = [
    ['a rename without a device', { type: 'mt-rename' }, { payload: 'x' }, 'device'],
    ['a rename of ..', { type: 'mt-rename' }, { device: '..', payload: 'x' }, 'device'],
    ['a rename to nothing', { type: 'mt-rename' }, { device: 'c0141f68fc3d', payload: '' }, 'name'],
    ['a rename to an object', { type: 'mt-rename' }, { device: 'c0141f68fc3d', payload: {} }, 'name'],
    ['a label without a name', { type: 'mt-label' }, { payload: '' }, 'label'],
    [
      'a label of ..',
      { type: 'mt-label', action: 'remove' },
      { device: 'c0141f68fc3d', payload: '..' },
      'label',
    ],
    ['a removal without a device', { type: 'mt-label', action: 'remove' }, { payload: 'x' }, 'device'],
    ['another origin', { type: 'mt-service-request' }, { path: 'http://evil.example/x' }, 'path'],
    ['a path that leads out', { type: 'mt-service-request' }, { path: '/../../etc' }, 'path'],
    ['no path', { type: 'mt-service-request' }, {}, 'path'],
    ['a query that is no object', { type: 'mt-service-request' }, { path: '/x', query: 'a=b' }, 'query'],
    [
      'a method in small letters of another kind',
      { type: 'mt-service-request', method: 'msg' },
      { method: 'trace', path: '/x' },
      'method',
    ],
    ['labels that are numbers', { type: 'mt-device-list' }, { labels: 5 }, 'labels'],
    ['connected as a word', { type: 'mt-device-list' }, { connected: 'perhaps' }, 'connected'],
    ['a firmware range with a mistake', { type: 'mt-device-list' }, { firmware: {} }, 'firmware'],
    [
      'a list query that is no object',
      { type: 'mt-device-list', query: '7', queryType: 'json' },
      {},
      'query',
    ],
  ];

  for (const [title, node, msg, field] of BAD) {
    it(`refuses ${title} before anything is sent`, async () => {
      const flow = await run(node);
      flow.send('n', { _msgid: 'bad', ...msg });
      const { error, _msgid } = await flow.next('errors');
      assert.equal(error?.code, 'INVALID_INPUT', error?.message);
      assert.equal(error?.cause?.field, field);
      assert.equal(_msgid, 'bad');
      assert.deepEqual(paths(), []);
      assert.equal((await flow.status('n', 'red')).shape, 'ring');
    });
  }

  it('show what they do in their status', async () => {
    const flow = await run({ type: 'mt-rename' });
    flow.send('n', { device: box.devices[0]!.id, payload: 'Status' });
    assert.deepEqual((await flow.status('n', 'blue')).text, 'working on 1');
    assert.deepEqual((await flow.status('n', 'green')).text, 'ready');
  });

  it('keep their own last error in sight while another node works', async () => {
    const flow = await start(
      flowAround(serviceNode(box), { id: 'n', type: 'mt-rename' }, { id: 'l', type: 'mt-label' }),
      { credentials: secretsOf(box) },
    );
    flow.send('n', { payload: 'x' });
    await flow.status('n', 'red');
    flow.send('l', { payload: 'x' });
    await flow.next('out');
    assert.equal(flow.statuses('n').all.at(-1)?.fill, 'red');
  });

  it('tell that the login was refused', async () => {
    const flow = await start(flowAround(serviceNode(box), { id: 'n', type: 'mt-label' }), {
      credentials: { svc: { username: 'demo', password: 'wrong-secret' } },
    });
    flow.send('n', { payload: 'x' });
    const msg = await flow.next('errors');
    assert.equal(msg.error?.code, 'LOGIN_FAILED');
    assert.deepEqual(msg.error?.cause, { statusCode: 401 });
    assert.doesNotMatch(JSON.stringify(msg), /wrong-secret/);
  });

  it('end with CLOSED when they are redeployed while the service thinks', async () => {
    const flow = await run({ type: 'mt-label' });
    box.faults.rest.add({ kind: 'hang', only: 'POST /api/v1/labels' });
    flow.send('n', { payload: 'x', _msgid: 'late' });
    await flow.status('n', 'blue');
    const errors = flow.next('errors');
    await flow.node('n').close(false);
    const { error, _msgid } = await errors;
    assert.equal(error?.code, 'CLOSED');
    assert.equal(_msgid, 'late');
  });
});
