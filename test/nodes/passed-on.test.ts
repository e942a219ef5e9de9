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

  interface Names {
    behind?: string;
    beside?: string;
    last?: string;
    report?: string;
    wires?: string[][];
  }
  const flowOf = ({ behind, beside, last, report, wires = [['behind', 'beside']] }: Names = {}) =>
    flowAround(
      { id: 'svc', type: 'mt-service', name: '', brokerUrl: broker.url, names: false },
      { id: 'in', type: 'mt-report-in', name: report ?? '', wires },
      { id: 'behind', type: 'helper', name: behind ?? '', wires: [['last']] },
      { id: 'last', type: 'helper', name: last ?? '', wires: [] },
      { id: 'beside', type: 'helper', name: beside ?? '', wires: [] },
    );

  async function deployAmongReports(flow: Flow, type: 'flows' | 'nodes', names: Names): Promise<void> {
    await flow.statuses('in').next(({ text }) => text === 'connected');
    const node = flow.node<Node>('in');
    const { send } = node;
    let sent = 0;
    const deployed = new Promise<void>((resolve, reject) => {
      node.send = (msg) => {
        send.call(node, msg);
        sent++;
        if (sent === COUNT) {
          // It closes nodes before this turn ends.
          flow.deploy(flowOf(names), type).then(resolve, reject);
        }
      };
    });
    for (let i = 0; i < COUNT; i++) {
      broker.publish(TOPIC, heartbeat(i), { qos: 1 });
    }
    await deployed;
    broker.publish(TOPIC, heartbeat(COUNT), { qos: 1 });
  }

  async function numbers(flow: Flow, id: string): Promise<unknown[]> {
    const values: unknown[] = [];
    do {
      values.push(((await flow.next(id)).payload as { seq: number }).seq);
    } while (values.at(-1) !== COUNT);
    return values;
  }

  const DEPLOYS: Record<string, ['flows' | 'nodes', Names]> = {
    'replaces all that is behind': ['nodes', { behind: 'new', beside: 'new' }],
    'replaces one of two nodes behind': ['nodes', { behind: 'new' }],
    'replaces the node itself': ['nodes', { report: 'new' }],
    'replaces the whole flow': ['flows', { report: 'new', behind: 'new' }],
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
    await deployAmongReports(flow, 'nodes', { behind: 'new', report: 'new', wires: [['beside', 'behind']] });
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

  it('gives nothing of that to a later one', async () => {
    const flow = await start(flowOf());
    await deployAmongReports(flow, 'nodes', { behind: 'new' });
    await numbers(flow, 'behind');
    await flow.deploy(flowOf({ behind: 'newer' }), 'nodes');
    broker.publish(TOPIC, heartbeat(COUNT), { qos: 1 });
    assert.deepEqual(await numbers(flow, 'behind'), [COUNT]);
  });
});
