// What docs/lifecycle.md says of deploys: what Node-RED has not passed on when one begins is not lost with it.
import assert from 'node:assert/strict';
import type { Node } from 'node-red';
import { heartbeat, reportTopic } from '../mqtt/scripted.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { flowAround } from './box-flow.ts';
import { describeNodes, type Flow } from './flow.ts';

const TOPIC = reportTopic('heartbeat');
/** So many reports come in the turn in which the deploy begins, and one when flows run again. */
const COUNT = 3;
const EACH_ONCE = [0, 1, 2, 3];

describeNodes('a deploy that begins in the turn in which reports come', (start) => {
  let broker: ScriptedBroker;

  beforeEach(async () => {
    broker = await startScriptedBroker();
  });
  afterEach(() => broker.stop());

  interface Changes {
    behind?: string;
    beside?: string;
    last?: string;
    report?: object;
    service?: object;
    wires?: string[][];
    more?: object[];
  }
  const flowOf = ({
    behind = '',
    beside = '',
    last = '',
    report,
    service,
    wires = [['behind', 'beside']],
    more = [],
  }: Changes = {}) =>
    flowAround(
      { id: 'svc', type: 'mt-service', name: '', brokerUrl: broker.url, names: false, ...service },
      { id: 'in', type: 'mt-report-in', name: '', wires, ...report },
      { id: 'behind', type: 'helper', name: behind, wires: [['last']] },
      { id: 'last', type: 'helper', name: last, wires: [] },
      { id: 'beside', type: 'helper', name: beside, wires: [] },
      ...more,
    );
  const isConnected = ({ text }: { text?: string }) => text === 'connected';

  /** The deploys begin when the node has sent so many. */
  async function deployAmong(
    flow: Flow,
    count: number,
    deploy: () => Promise<void>,
    qos: 0 | 1,
    id = 'in',
  ): Promise<void> {
    const node = flow.node<Node>(id);
    const { send } = node;
    let sent = 0;
    const deployed = new Promise<void>((resolve, reject) => {
      node.send = (msg) => {
        send.call(node, msg);
        sent++;
        if (sent === count) {
          // It closes nodes before this turn ends.
          deploy().then(resolve, reject);
        }
      };
    });
    for (let i = 0; i < count; i++) {
      broker.publish(TOPIC, heartbeat(i), { qos });
    }
    await deployed;
  }

  async function deployAmongReports(
    flow: Flow,
    type: 'flows' | 'nodes',
    changes: Changes,
    qos: 0 | 1 = 1,
  ): Promise<void> {
    await flow.statuses('in').next(isConnected);
    await deployAmong(flow, COUNT, () => flow.deploy(flowOf(changes), type), qos);
    broker.publish(TOPIC, heartbeat(COUNT), { qos });
  }

  async function numbers(flow: Flow, id: string, atLeast = 1): Promise<unknown[]> {
    const values: unknown[] = [];
    do {
      values.push(((await flow.next(id)).report as { seq: number }).seq);
    } while (values.length < atLeast || !values.includes(COUNT));
    return values;
  }

  const DEPLOYS: Record<string, ['flows' | 'nodes', Changes]> = {
    'replaces all that is behind': ['nodes', { behind: 'new', beside: 'new' }],
    'replaces one of two nodes behind': ['nodes', { behind: 'new' }],
    'replaces the node itself': ['nodes', { report: { name: 'new' } }],
    'sets “Confirm”': ['nodes', { report: { confirm: 'acknowledged' } }],
    'lets a node receive something else': ['nodes', { report: { output: 'value' } }],
    'replaces the whole flow': ['flows', { report: { name: 'new' }, behind: 'new' }],
  };
  for (const [what, [type, names]] of Object.entries(DEPLOYS)) {
    it(`and ${what} costs no report, and brings none twice`, async () => {
      const flow = await start(flowOf());
      await deployAmongReports(flow, type, names);
      assert.deepEqual(await numbers(flow, 'behind'), EACH_ONCE);
      assert.deepEqual(await numbers(flow, 'beside'), EACH_ONCE);
    });
  }

  it('and replaces nodes that others take the place of gives them the reports', async () => {
    const flow = await start(flowOf({ wires: [['behind']] }));
    await deployAmongReports(flow, 'nodes', {
      ...{ behind: 'new', report: { name: 'new' } },
      wires: [['beside', 'behind']],
    });
    assert.deepEqual(await numbers(flow, 'beside'), EACH_ONCE);
  });

  it('and replaces a node further behind costs no report either', async () => {
    const flow = await start(flowOf());
    const behind = flow.node<Node>('behind');
    behind.on('input', (msg) => behind.send(msg));
    await deployAmongReports(flow, 'nodes', { last: 'new' });
    assert.deepEqual(await numbers(flow, 'last'), EACH_ONCE);
  });

  it('and replaces a node that takes its time to close brings none twice', async () => {
    const flow = await start(flowOf());
    flow.node<Node>('behind').on('close', (done: () => void) => void setTimeout(done, 50));
    await deployAmongReports(flow, 'nodes', { behind: 'new' });
    assert.deepEqual(await numbers(flow, 'behind'), EACH_ONCE);
  });

  for (const [what, changes] of Object.entries<Changes>({
    'replaces a node behind': { behind: 'new' },
    'replaces the node itself': { report: { name: 'new' } },
    'takes “Confirm” away': { report: { confirm: 'sent' } },
  })) {
    for (const qos of [0, 1] as const) {
      it(`and ${what} costs no report of QoS ${qos} that is to be confirmed`, async () => {
        const report = { confirm: 'acknowledged' };
        const service = { persistent: true, clientId: 'confirming' };
        const flow = await start(flowOf({ report, service }));
        await deployAmongReports(
          flow,
          'nodes',
          { ...changes, service, report: { ...report, ...changes.report } },
          qos,
        );
        // What is open comes again behind others.
        assert.deepEqual((await numbers(flow, 'behind', EACH_ONCE.length)).sort(), EACH_ONCE);
        assert.deepEqual((await numbers(flow, 'beside', EACH_ONCE.length)).sort(), EACH_ONCE);
      });
    }
  }

  for (const [what, service] of Object.entries({
    'lets the broker keep reports from now on': { persistent: true, clientId: 'confirming' },
    'makes the service another client': { clientId: 'other' },
  })) {
    it(`and ${what} costs no report that is to be confirmed`, async () => {
      const report = { confirm: 'acknowledged' };
      const before = { persistent: !('persistent' in service), clientId: 'confirming' };
      const after = { ...before, ...service };
      const flow = await start(flowOf({ report, service: before }));
      await flow.statuses('in').next(isConnected);
      await deployAmong(flow, COUNT, () => flow.deploy(flowOf({ report, service: after }), 'nodes'), 1);
      await flow.statuses('in').next(isConnected);
      broker.publish(TOPIC, heartbeat(COUNT), { qos: 1 });
      assert.deepEqual((await numbers(flow, 'behind', EACH_ONCE.length)).sort(), EACH_ONCE);
    });
  }

  it('and another one right behind it cost no report either', async () => {
    const flow = await start(flowOf());
    await flow.statuses('in').next(isConnected);
    const deployTwice = async () => {
      await flow.deploy(flowOf({ behind: 'new' }), 'nodes');
      await flow.deploy(flowOf({ behind: 'newer' }), 'nodes');
    };
    await deployAmong(flow, COUNT, deployTwice, 1);
    broker.publish(TOPIC, heartbeat(COUNT), { qos: 1 });
    assert.deepEqual(await numbers(flow, 'behind'), EACH_ONCE);
    assert.deepEqual(await numbers(flow, 'beside'), EACH_ONCE);
  });

  it('and leaves the node invalid keeps the reports for the one that is right', async () => {
    const flow = await start(flowOf());
    await flow.statuses('in').next(isConnected);
    const invalid = { duplicates: 'drop', duplicateWindow: -5 };
    await deployAmong(flow, COUNT, () => flow.deploy(flowOf({ report: invalid }), 'nodes'), 1);
    await flow.deploy(flowOf(), 'nodes');
    await flow.statuses('in').next(isConnected);
    broker.publish(TOPIC, heartbeat(COUNT), { qos: 1 });
    assert.deepEqual(await numbers(flow, 'behind'), EACH_ONCE);
  });

  it('and lets other reports through gives none of those that do not pass', async () => {
    const flow = await start(flowOf());
    await flow.statuses('in').next(isConnected);
    const report = { kinds: ['rssi'] };
    await deployAmong(flow, COUNT, () => flow.deploy(flowOf({ report }), 'nodes'), 1);
    await flow.statuses('in').next(isConnected);
    broker.publish(
      reportTopic('rssi'),
      { ...heartbeat(COUNT), parent: 'c0141f68fc3d', rssi: -60 },
      { qos: 1 },
    );
    assert.deepEqual(await numbers(flow, 'behind'), [COUNT]);
  });

  it('and restarts a service that a variable names costs no report', async () => {
    const build = (name: string) => [
      ...flowOf({ report: { service: '${SVC}' }, service: { name } }).slice(1),
      { id: 'f', type: 'tab', label: 'Flow', env: [{ name: 'SVC', value: 'svc', type: 'str' }] },
    ];
    const flow = await start(build('old'));
    await flow.statuses('in').next(isConnected);
    await deployAmong(flow, COUNT, () => flow.deploy(build('new'), 'nodes'), 1);
    await flow.statuses('in').next(isConnected);
    broker.publish(TOPIC, heartbeat(COUNT), { qos: 1 });
    assert.deepEqual(await numbers(flow, 'behind'), EACH_ONCE);
  });

  for (const [what, [changes, type]] of Object.entries<[[string, string], 'full' | 'nodes']>({
    'the node behind': [['', 'new'], 'nodes'],
    'the watch itself': [['new', ''], 'nodes'],
    everything: [['', ''], 'full'],
  })) {
    it(`and replaces ${what} costs no change that “device watch” tells`, async () => {
      const build = ([name, behind]: [string, string]) =>
        flowOf({
          ...{ behind, wires: [[]] },
          more: [
            { id: 'watch', type: 'mt-device-watch', name, conditions: ['battery-low'], wires: [['behind']] },
          ],
        });
      const flow = await start(build(['', '']));
      await flow.statuses('in').next(isConnected);
      const watch = flow.node<Node>('watch');
      const { send } = watch;
      const deployed = new Promise<void>((resolve, reject) => {
        watch.send = (msg) => {
          watch.send = send;
          watch.send(msg);
          flow.deploy(build(changes), type).then(resolve, reject);
        };
      });
      broker.publish(reportTopic('property/8100'), { ...heartbeat(0), value: '0a' }, { qos: 1 });
      await deployed;
      assert.equal((await flow.next('behind')).topic, 'battery-low');
    }).timeout(20_000);
  }

  it('gives nothing of that to a later one', async () => {
    const flow = await start(flowOf());
    await deployAmongReports(flow, 'nodes', { behind: 'new' });
    await numbers(flow, 'behind');
    await flow.deploy(flowOf({ behind: 'newer' }), 'nodes');
    broker.publish(TOPIC, heartbeat(COUNT), { qos: 1 });
    assert.deepEqual(await numbers(flow, 'behind'), [COUNT]);
  });
});
