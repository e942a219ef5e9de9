// Record and play as the sidebar asks for them, over real HTTP, with a real broker and the nodes of real flows.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so Node-RED writes environment variables
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { connectAsync } from 'mqtt';
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, secretsOf, serviceNode } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const TIME = '2025-01-02T03:04:05.678Z';

interface State {
  name: string;
  lines: number;
  bytes: number;
  end: string | null;
  isHearing: boolean;
}

interface Played {
  nodes: number;
  lines: number;
  taken: number;
  untaken: number;
  failed: number;
  problems: { line: number; message: string }[];
}

describeNodes('record and play', (start) => {
  let box: Service;
  let gateway: string;
  let device: string;

  before(async () => {
    box = await startService({ rate: 0, listed: 10, delay: 1 });
    ({ gateway, device } = box.demo);
  });

  after(() => box.close());

  const RUN = { run: 'r', begin: true, flow: 'f' };
  const run = (...nodes: object[]): Promise<Flow> =>
    start(flowAround(serviceNode(box), ...nodes), { credentials: secretsOf(box) });
  const reportIn = (more: object = {}) => ({ id: 'n', type: 'mt-report-in', ...more });
  const hear = (suffix: string, payload: unknown, retain = false) =>
    box.publish(gateway, device, suffix, payload, retain);
  const post = (flow: Flow, what: string, body: object) => flow.post(`/mt-service/svc/${what}`, body);
  const state = async (flow: Flow) => (await flow.get('/mt-service/svc/record')).body as State;
  const play = async (flow: Flow, body: object) => {
    const answer = await post(flow, 'play', { ...RUN, ...body });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body as Played;
  };
  /** Asks until it is so. */
  const until = async (flow: Flow, isSo: (state: State) => boolean): Promise<State> => {
    for (;;) {
      const now = await state(flow);
      if (isSo(now)) {
        return now;
      }
      await wait(20);
    }
  };
  const record = async (flow: Flow) => {
    const { status, body } = await post(flow, 'record', { action: 'start' });
    assert.deepEqual([status, (body as State).name], [200, 'running']);
    while (
      ![...(box.broker?.subscriptions.values() ?? [])].some((all) => all.has('mt/gateway/+/device/+/#'))
    ) {
      await wait(5);
    }
  };
  const fetchLines = async (flow: Flow): Promise<string[]> => {
    const text = await flow.getText('/mt-service/svc/record/file');
    return text.split('\n').slice(0, -1);
  };
  const line = (rest: string, payload: object, more: object = {}) =>
    JSON.stringify({
      topic: `mt/gateway/${gateway}/device/${device}/${rest}`,
      payload: { time: TIME, ...payload },
      ...more,
    });

  it('records what no flow wants, and plays it through the nodes of a flow as it was received', async () => {
    const flow = await run(reportIn({ kinds: ['event'] }));
    assert.equal((await state(flow)).name, 'none');
    await record(flow);
    await hear('measurement/8800', { time: TIME, seq: 1, value: '0866' });
    await hear('event-decoded/motion', { time: TIME, seq: 2, value: 5 });
    await hear('heartbeat', 'no JSON');
    await hear('property/8000', Buffer.from([0xff, 0]));
    const live = await flow.next('out');
    assert.equal((await until(flow, ({ lines }) => lines === 4)).isHearing, true);
    const stopped = await post(flow, 'record', { action: 'stop' });
    assert.deepEqual([(stopped.body as State).name, (stopped.body as State).end], ['ended', 'stopped']);
    const lines = await fetchLines(flow);
    assert.deepEqual(
      lines
        .map((text) => JSON.parse(text))
        .map(({ kind, payload, text, base64 }) => [kind, payload?.seq ?? text ?? base64]),
      [
        ['measurement', 1],
        ['event', 2],
        ['heartbeat', 'no JSON'],
        ['property', '/wA='],
      ],
    );
    const played = await play(flow, { lines });
    assert.deepEqual(played, {
      ...{ nodes: 1, lines: 4, taken: 1, untaken: 3, failed: 0, problems: [] },
      ...{ isReplaced: false, isPaused: false },
    });
    const again = await flow.next('out');
    const { test, ...report } = again.report as Record<string, unknown>;
    assert.equal(test, true);
    assert.deepEqual({ ...again, report, _msgid: '' }, { ...live, _msgid: '', payload: again.payload });
  });

  it('records until somebody ends it; the broker is asked for no more than before then', async () => {
    const flow = await run(reportIn({ kinds: ['event'] }));
    await record(flow);
    await post(flow, 'record', { action: 'start' });
    await hear('heartbeat', { time: TIME, seq: 1 });
    await until(flow, ({ lines }) => lines === 1);
    await post(flow, 'record', { action: 'stop' });
    while (
      [...(box.broker?.subscriptions.values() ?? [])].some((all) => all.has('mt/gateway/+/device/+/#'))
    ) {
      await wait(5);
    }
    assert.equal((await fetchLines(flow)).length, 1);
  });

  const deploy = (flow: Flow, service: object) =>
    flow.deploy(
      flowAround({ ...serviceNode(box), ...service }, reportIn({ kinds: ['event'] })),
      'full',
      secretsOf(box),
    );

  it('goes on over a deploy of the service, and what was kept can be saved after the next one', async () => {
    const flow = await run(reportIn({ kinds: ['event'] }));
    await record(flow);
    await hear('heartbeat', { time: TIME, seq: 1 });
    await until(flow, ({ lines }) => lines === 1);
    await deploy(flow, { name: 'other' });
    await until(flow, ({ name, isHearing }) => name === 'running' && isHearing);
    await hear('heartbeat', { time: TIME, seq: 2 });
    await until(flow, ({ lines }) => lines === 2);
    await post(flow, 'record', { action: 'stop' });
    await deploy(flow, {});
    assert.equal((await state(flow)).end, 'stopped');
    assert.equal((await fetchLines(flow)).length, 2);
  });

  it('waits while a deploy leaves the broker half wrong', async () => {
    const flow = await run(reportIn({ kinds: ['event'] }));
    await record(flow);
    await hear('heartbeat', { time: TIME, seq: 1 });
    await until(flow, ({ lines }) => lines === 1);
    await deploy(flow, { brokerUrl: 'no address' });
    assert.equal((await flow.get('/mt-service/svc/record')).status, 400);
    await deploy(flow, {});
    const { name, lines } = await state(flow);
    assert.deepEqual([name, lines], ['running', 1]);
  });

  it('is given up with its network, and with its service', async () => {
    const flow = await run(reportIn({ kinds: ['event'] }));
    for (const between of [{ topicPrefix: 'elsewhere' }, { id: 'another' }]) {
      await record(flow);
      await deploy(flow, between);
      await deploy(flow, {});
      assert.equal((await state(flow)).name, 'none');
      assert.equal((await flow.get('/mt-service/svc/record/file')).status, 404);
    }
  });

  it('marks what the broker had retained', async () => {
    await hear('property/8002', { time: TIME, value: '01' }, true);
    const flow = await run(reportIn({ kinds: ['event'] }));
    await record(flow);
    await until(flow, ({ lines }) => lines > 0);
    const [first] = await fetchLines(flow);
    assert.equal((JSON.parse(first ?? '{}') as { retained?: boolean }).retained, true);
    await hear('property/8002', '', true);
  });

  it('is played to the nodes of one flow alone, each with its own filters', async () => {
    const place = { z: 'g', x: 1, y: 1 };
    const flow = await start(
      [
        ...flowAround(
          serviceNode(box),
          reportIn({ kinds: ['measurement'], output: 'value' }),
          reportIn({ id: 'm', devices: ['d00000000000'] }),
          reportIn({ id: 'off', d: true }),
        ),
        { id: 'g', type: 'tab', label: 'Other' },
        { ...reportIn({ id: 'o' }), ...place, service: 'svc', wires: [['elsewhere']] },
        { ...place, id: 'elsewhere', type: 'helper' },
      ],
      { credentials: secretsOf(box) },
    );
    const lines = [line('measurement/8800', { seq: 1, value: '0866' }), line('heartbeat', { seq: 2 })];
    const { nodes, taken, untaken } = await play(flow, { lines });
    assert.deepEqual([nodes, taken, untaken], [2, 1, 1]);
    assert.equal((await flow.next('out')).payload, 21.5);
    const other = await play(flow, { flow: 'g', lines });
    assert.deepEqual([other.nodes, other.taken], [1, 2]);
    await flow.next('elsewhere', ({ payload }) => (payload as { seq: number }).seq === 2);
    assert.deepEqual([flow.inbox('out').all.length, flow.inbox('elsewhere').all.length], [1, 2]);
  });

  it('is played through all instances of a subflow', async () => {
    const template = {
      ...{ id: 's', type: 'subflow', name: 's', in: [] },
      out: [{ x: 1, y: 1, wires: [{ id: 'inside', port: 0 }] }],
    };
    const inside = { ...reportIn({ id: 'inside' }), z: 's', x: 1, y: 1, service: 'svc', wires: [[]] };
    const instances = ['i', 'j'].map((id) => ({ id, type: 'subflow:s' }));
    const flow = await start([template, inside, ...flowAround(serviceNode(box), ...instances)], {
      credentials: secretsOf(box),
    });
    const played = await play(flow, { flow: 's', lines: [line('heartbeat', { seq: 1 })] });
    assert.deepEqual([played.nodes, played.taken], [2, 1]);
    await flow.next('out');
    await flow.next('out');
    assert.equal((await play(flow, { lines: [] })).nodes, 0);
  });

  it('is played through those nodes whose variable brings them to this service, in a subflow or not', async () => {
    const template = {
      ...{ id: 's', type: 'subflow', name: 's', in: [], env: [{ name: 'SERVICE', type: 'str', value: '' }] },
      out: [{ x: 1, y: 1, wires: [{ id: 'inside', port: 0 }] }],
    };
    const of = { service: '${SERVICE}' };
    const inside = { ...reportIn({ id: 'inside' }), ...of, z: 's', x: 1, y: 1, wires: [[]] };
    const instance = (id: string, value: string) => ({
      ...{ id, type: 'subflow:s', name: id },
      env: [{ name: 'SERVICE', type: 'str', value }],
    });
    const env = [{ name: 'SERVICE', type: 'str', value: 'svc' }];
    const flow = await start(
      [
        ...[template, inside],
        ...flowAround(serviceNode(box), instance('i', 'svc'), instance('j', 'second')),
        { ...serviceNode(box), id: 'second' },
        { id: 'h', type: 'tab', env },
        { ...reportIn({ id: 'on-tab' }), ...of, z: 'h', x: 1, y: 1, wires: [['out']] },
      ],
      { credentials: { ...secretsOf(box), second: secretsOf(box).svc } },
    );
    for (const id of ['s', 'h']) {
      const { nodes, taken } = await play(flow, { flow: id, lines: [line('heartbeat', { seq: 1 })] });
      assert.deepEqual([nodes, taken], [1, 1]);
      assert.equal(((await flow.next('out')).report as { test: boolean }).test, true);
    }
    const second = await flow.post('/mt-service/second/play', { ...RUN, flow: 'h', lines: [] });
    assert.equal((second.body as Played).nodes, 0);
  });

  it('is told where no node of the flow runs, and nothing is played', async () => {
    const flow = await run(reportIn());
    for (const other of ['nowhere', undefined, null, ['f'], '__proto__', 'n']) {
      const { nodes, lines } = await play(flow, { flow: other, lines: [line('heartbeat', {})] });
      assert.deepEqual([nodes, lines], [0, 0]);
    }
    assert.equal((await flow.post('/mt-service/gone/play', RUN)).status, 404);
  });

  it('says what is wrong with a line in words, and plays the others', async () => {
    const flow = await run(reportIn());
    const { taken, failed, problems } = await play(flow, {
      lines: [
        '{',
        line('heartbeat', { seq: 999 }),
        line('heartbeat', { time: undefined }),
        line('heartbeat', { seq: 3 }),
      ],
    });
    assert.deepEqual([taken, failed], [1, 3]);
    assert.deepEqual(
      problems.map(({ line }) => line),
      [0, 1, 2],
    );
    assert.match(problems[0]?.message ?? '', /no line of a record/);
    assert.match(problems[1]?.message ?? '', /seq is not an integer/);
    assert.match(problems[2]?.message ?? '', /payload\.time is missing/);
    assert.equal(((await flow.next('out')).report as { seq: number }).seq, 3);
    assert.equal(flow.inbox('errors').all.length, 0);
  });

  it('never reaches the broker, neither as reports nor as acknowledgements, and changes no last value', async () => {
    const flow = await run(
      { ...reportIn({ confirm: 'acknowledged' }), wires: [['ack']] },
      { id: 'ack', type: 'mt-timestamped-ack' },
    );
    const listener = await connectAsync(box.urls.mqtt);
    const topics: string[] = [];
    listener.on('message', (topic) => topics.push(topic));
    await listener.subscribeAsync('#');
    const sample = { seq: 1, value: '0866', flags: '8000', sampleCount: 1 };
    const lines = Array.from({ length: 50 }, () => line('timestamped/8800', sample));
    const { taken, failed, problems } = await play(flow, { lines });
    assert.deepEqual([taken, failed], [50, 0], JSON.stringify(problems));
    for (let count = 0; count < 50; count++) {
      const { report } = await flow.next('out');
      assert.equal((report as { test: boolean }).test, true);
    }
    const last = new Promise((resolve) =>
      listener.on('message', (topic) => topic === 'end' && resolve(topic)),
    );
    await listener.publishAsync('end', '');
    await last;
    await listener.endAsync();
    assert.deepEqual(topics, ['end']);
    const known = await flow.get(`/mt-service/svc/network/${device}`);
    const { values = [] } = known.body as { values?: { identifier: string }[] };
    assert.ok(!values.some(({ identifier }) => identifier === '8800'));
  });

  it('goes on after a deploy of the flow, through the nodes that there are then', async () => {
    const flow = await run(reportIn({ kinds: ['event'] }));
    await play(flow, { lines: [line('heartbeat', { seq: 1 })] });
    await flow.deploy(
      flowAround(serviceNode(box), reportIn({ kinds: ['heartbeat'] })),
      'nodes',
      secretsOf(box),
    );
    const { nodes, taken } = await play(flow, { begin: false, lines: [line('heartbeat', { seq: 2 })] });
    assert.deepEqual([nodes, taken], [1, 1]);
    assert.equal(((await flow.next('out')).report as { seq: number }).seq, 2);
  });

  it('is refused where what is asked for is no portion of a record, or nothing that can be done', async () => {
    const flow = await run(reportIn());
    const many = Array.from({ length: 1_001 }, () => '');
    for (const [what, body] of [
      ['record', {}],
      ['record', { action: 'pause' }],
      ['record', { action: '__proto__' }],
      ['play', { ...RUN, lines: many }],
      ['play', { ...RUN, lines: 'x' }],
      ['play', { ...RUN, run: 1, lines: [] }],
    ] as const) {
      const answer = await post(flow, what, body);
      assert.deepEqual([answer.status, (answer.body as { code: string }).code], [400, 'INVALID_INPUT']);
    }
    assert.equal((await flow.get('/mt-service/svc/record/file')).status, 404);
  });
});
