// What the REST nodes make of their fields, and how their messages feed one another.
import assert from 'node:assert/strict';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode } from './box-flow.ts';
import { describeNodes, type Flow, type Message } from './flow.ts';

const LIST = { type: 'mt-device-list' };

describeNodes('the fields of the REST nodes', (start) => {
  let box: Service;

  before(async () => {
    box = await startService({ rate: 0, delay: 0, listed: 25 });
  });

  after(() => box.close());

  beforeEach(() => {
    box.faults.rest.clear();
    box.forgetCalls();
  });

  const run = (...nodes: object[]): Promise<Flow> =>
    start(flowAround(serviceNode(box, { httpRetries: 0 }), ...nodes.map((node) => ({ id: 'n', ...node }))), {
      credentials: secretsOf(box),
    });

  const idsOf = ({ payload }: Message): string[] => (payload as { id: string }[]).map(({ id }) => id);

  const expected = (passes: (device: Service['devices'][number]) => boolean): string[] =>
    box.devices.filter(passes).map(({ id }) => id);

  type Passes = Parameters<typeof expected>[0];

  const FILTERS: [title: string, msg: object, passes: Passes][] = [
    ['one label', { labels: 'floor-2' }, ({ labels }) => labels.includes('floor-2')],
    [
      'any of several labels',
      { labels: ['floor-2', 'oslo-lab'] },
      ({ labels }) => labels.includes('floor-2') || labels.includes('oslo-lab'),
    ],
    ['being connected', { connected: true }, ({ connectivity }) => connectivity.connected],
    ['not being connected', { connected: 'false' }, ({ connectivity }) => !connectivity.connected],
    ['the model', { model: '2012' }, ({ modelNumber }) => modelNumber === '2012'],
    ['the exact firmware', { firmware: '3.4.1' }, ({ firmwareVersion }) => firmwareVersion === '3.4.1'],
    [
      'a range of firmware',
      { firmware: '<3.4.0' },
      ({ firmwareVersion }) => ['3.3.2', '2.9.7'].includes(firmwareVersion),
    ],
    [
      'a range of firmware with pre-releases',
      { firmware: '>=3.4.1' },
      ({ firmwareVersion }) => ['3.4.1', '3.5.0-beta.2'].includes(firmwareVersion),
    ],
    ['a part of the name', { search: 'OSLO' }, ({ friendlyName }) => friendlyName.startsWith('Oslo')],
    ['a part of the id', { search: '68fc3' }, ({ id }) => id.includes('68fc3')],
    [
      'everything at once',
      { model: '2011', labels: 'oslo-lab', firmware: '3.x' },
      ({ modelNumber, labels, firmwareVersion }) =>
        modelNumber === '2011' && labels.includes('oslo-lab') && firmwareVersion.startsWith('3.'),
    ],
  ];

  for (const [title, msg, passes] of FILTERS) {
    it(`filter the list by ${title}`, async () => {
      const flow = await run(LIST);
      flow.send('n', msg);
      const list = await flow.next('out');
      assert.deepEqual(idsOf(list), expected(passes));
      assert.deepEqual([list.count, list.complete], [expected(passes).length, true]);
    });
  }

  const TWO = 'floor-2,oslo-lab';
  const BOTH: Passes = ({ labels }) => labels.includes('floor-2') || labels.includes('oslo-lab');
  const ONE_LABEL: Passes = ({ labels }) => labels.includes('floor-2, east');
  for (const [title, type, text, passes] of [
    ['are two where one variable holds two', 'json', '["${TWO}"]', BOTH],
    ['may stand beside one that is written out', 'json', '["none", "${LAB}", "floor-${N}"]', BOTH],
    ['may be a list that a variable holds', 'json', '["${LIST}"]', BOTH],
    ['are in a list that a variable holds as text', 'json', '${TEXT}', BOTH],
    ['stay one that is written out with a comma', 'json', '["floor-2, east"]', ONE_LABEL],
    ['are one outside of a list', 'str', '${EAST}', ONE_LABEL],
    ['are one as a variable', 'env', 'EAST', ONE_LABEL],
  ] as const) {
    it(`labels of a list ${title}`, async () => {
      const [device] = box.devices;
      device!.labels.push('floor-2, east');
      const env = [
        { name: 'TWO', type: 'str', value: TWO },
        { name: 'LAB', type: 'str', value: 'oslo-lab' },
        { name: 'N', type: 'num', value: '2' },
        { name: 'LIST', type: 'json', value: '["floor-2", "oslo-lab"]' },
        { name: 'TEXT', type: 'str', value: '["floor-2", "oslo-lab"]' },
        { name: 'EAST', type: 'str', value: 'floor-2, east' },
      ];
      const [tab, ...nodes] = flowAround(serviceNode(box), {
        ...LIST,
        id: 'n',
        labels: text,
        labelsType: type,
      });
      const flow = await start([{ ...tab, env }, ...nodes], { credentials: secretsOf(box) });
      flow.send('n', {});
      assert.deepEqual(idsOf(await flow.next('out')), expected(passes));
      device!.labels.pop();
    });
  }

  it('leave a device as it was received but for its MAC', async () => {
    const flow = await run(LIST);
    flow.send('n', {});
    const [first] = (await flow.next('out')).payload as Record<string, unknown>[];
    const { mac, ...received } = first!;
    assert.deepEqual(received, box.devices[0]);
    assert.equal(`bmac-${mac}`, received.id);
  });

  for (const [output, counts] of [
    ['array', [7]],
    ['page', [5, 2]],
  ] as const) {
    it(`cut the list at the limit, as ${output}`, async () => {
      const flow = await run({ ...LIST, output, pageSize: 5, limit: 7 });
      flow.send('n', {});
      const messages: Message[] = [];
      for (const _ of counts) {
        messages.push(await flow.next('out'));
      }
      assert.deepEqual(
        messages.map(({ count }) => count),
        counts,
      );
      assert.equal(messages.at(-1)?.complete, false);
    });
  }

  it('say that a list is complete that ends at the limit', async () => {
    const flow = await run({ ...LIST, pageSize: 10, limit: 25 });
    flow.send('n', {});
    const { count, complete } = await flow.next('out');
    assert.deepEqual([count, complete], [25, true]);
    assert.deepEqual(
      box.calls.rest.filter(({ method }) => method === 'GET').map(({ query }) => query.MaxResults),
      ['10', '10', '10'],
    );
  });

  it('send one empty page for an empty list of pages', async () => {
    const flow = await run({ ...LIST, output: 'page', pageSize: 10 });
    flow.send('n', { search: 'nobody' });
    const { payload, count, complete } = await flow.next('out');
    assert.deepEqual([payload, count, complete], [[], 0, true]);
  });

  it('send nothing for an empty list of single devices', async () => {
    const flow = await run({ ...LIST, output: 'each', pageSize: 10 });
    flow.send('n', { search: 'nobody', empty: true });
    await flow.status('n', 'green');
    flow.send('n', { search: box.devices[24]!.id });
    const only = await flow.next('out');
    const { index, count } = only.parts as { index: number; count: number };
    assert.deepEqual([only.empty, index, count, only.complete], [undefined, 0, 1, true]);
  });

  it('show how far the list has come', async () => {
    const only = 'GET /api/v1/devices';
    box.faults.rest.add({ kind: 'slow', ms: 0, times: 1, only });
    box.faults.rest.add({ kind: 'hang', only });
    const flow = await run({ ...LIST, pageSize: 10 });
    flow.send('n', {});
    const { fill } = await flow.statuses('n').next(({ text }) => text?.includes('10') === true);
    assert.equal(fill, 'blue');
  });

  it('feed rename, label and the gateway nodes with each device', async () => {
    const each = { ...LIST, output: 'each', search: box.demo.gateway, searchType: 'str' };
    const flow = await run(
      { ...each, wires: [['rename']] },
      { id: 'rename', type: 'mt-rename', name: 'Found', nameType: 'str', wires: [['label']] },
      {
        id: 'label',
        type: 'mt-label',
        action: 'remove',
        label: 'spare',
        labelType: 'str',
        wires: [['read']],
      },
      { id: 'read', type: 'mt-gw-read', identifier: 'firmware-version', identifierType: 'str' },
    );
    flow.send('n', {});
    const msg = await Promise.race([flow.next('out'), flow.next('errors')]);
    assert.equal(msg.error?.message, undefined);
    const { gateway } = box.demo;
    assert.deepEqual([msg.gateway, msg.device, msg.payload], [gateway, gateway, '3.4.1']);
    const device = box.portal.byId.get(`bmac-${gateway}`);
    assert.deepEqual([device?.friendlyName, device?.labels.includes('spare')], ['Found', false]);
  });

  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    it(`call ${method} with query and body`, async () => {
      const flow = await run({ type: 'mt-service-request', method });
      const query = { a: 'x y', b: ['1', '2'] };
      flow.send('n', { path: 'api/v1/echo/it', query, payload: { deep: [1] }, keep: 1, _msgid: 's' });
      const msg = await flow.next('out');
      const heard = msg.payload as Record<string, unknown>;
      const body = method === 'GET' ? undefined : { deep: [1] };
      assert.deepEqual([heard.method, heard.path, heard.body], [method, '/api/v1/echo/it', body]);
      assert.equal((heard.query as { a: string }).a, 'x y');
      assert.deepEqual([msg.statusCode, msg.keep, msg._msgid], [200, 1, 's']);
    });
  }

  it('give a response that is not JSON as text', async () => {
    box.faults.rest.add({
      kind: 'garbage',
      body: 'plain words',
      type: 'text/plain',
      only: 'GET /api/v1/echo',
    });
    const flow = await run({ type: 'mt-service-request' });
    flow.send('n', { path: '/api/v1/echo' });
    const { payload, headers } = await flow.next('out');
    assert.equal(payload, 'plain words');
    assert.equal((headers as Record<string, string>)['content-type'], 'text/plain');
  });

  for (const [title, node, msg] of [
    ['a rename', { type: 'mt-rename' }, { device: '.', payload: 'x' }],
    ['a label', { type: 'mt-label', action: 'remove' }, { device: '..', payload: 'x' }],
  ] as const) {
    it(`refuse the device ${msg.device} of ${title}`, async () => {
      const flow = await run(node);
      flow.send('n', msg);
      const { error } = await flow.next('errors');
      assert.deepEqual(
        [error?.code, error?.cause],
        ['INVALID_INPUT', { field: 'device', value: msg.device }],
      );
      assert.deepEqual(box.calls.rest, []);
    });
  }
});
