// Deploys of every type under traffic: each one ends, nothing is lost, and nothing is left behind.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NodeConfig, type NodeRed, sink, source, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { DURABLE, type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { type Field, GATEWAY, openField } from './field.ts';
import { isLong, record, times } from './table.ts';
import { delivered } from './witness/witnessed.ts';

const RATE = 500;
const IN_FLIGHT = 50;
/** A gateway that never answers. */
const DEAF = 'c0141f68ffff';
const TYPES = ['full', 'flows', 'nodes'] as const;

interface Measured {
  heap: number;
  listeners: Record<string, number>;
  /** To the broker. */
  connections: number;
}

describe('a deploy under traffic', function () {
  this.timeout(isLong ? 0 : 60_000);
  let mosquitto: Mosquitto;
  let field: Field;
  let red: NodeRed;
  let folder: string;
  let revision = 0;
  let marks = 0;

  before(async function () {
    requirePrograms(this, 'mosquitto');
    mosquitto = await startMosquitto(DURABLE);
    field = await openField(mosquitto.url);
    folder = await mkdtemp(join(tmpdir(), 'mt-deploys-'));
    await writeFile(join(folder, 'reports'), '');
    const nodesDir = join(import.meta.dirname, 'witness');
    red = await startNodeRed(VERSIONS[0]!, { nodesDir, witnessFile: join(folder, 'reports') });
  });
  after(async () => {
    await red?.stop();
    await field?.close();
    await mosquitto?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const SUBFLOW: NodeConfig[] = [
    {
      id: 'sub',
      type: 'subflow',
      name: 'reads',
      in: [{ x: 0, y: 0, wires: [{ id: 'inner' }] }],
      out: [{ x: 0, y: 0, wires: [{ id: 'inner', port: 0 }] }],
      env: [{ name: 'WHAT', type: 'str', value: '8000' }],
    },
    {
      ...{ id: 'inner', type: 'mt-gw-read', z: 'sub', service: 'service', wires: [[]] },
      ...{ identifier: 'WHAT', identifierType: 'env' },
    },
  ];

  /** Every revision changes the nodes that a deploy of modified nodes or flows shall restart. */
  const flow = (changes: Record<string, Partial<NodeConfig>> = {}): NodeConfig[] =>
    [
      { id: 'service', type: 'mt-service', brokerUrl: mosquitto.url, persistent: true },
      { id: 'reports', type: 'mt-report-in', service: 'service', name: `${revision}`, wires: [['nothing']] },
      { id: 'nothing', type: 'function', func: 'return null;', wires: [[]] },
      source('ask', ['read']),
      {
        ...{ id: 'read', type: 'mt-gw-read', service: 'service', name: `${revision}`, wires: [['answer']] },
        timeout: 60_000,
      },
      sink('answer'),
      ...SUBFLOW,
      source('ask-sub', ['one', 'two']),
      {
        id: 'one',
        type: 'subflow:sub',
        env: [{ name: 'WHAT', type: 'str', value: '8001' }],
        wires: [['sub-answer']],
      },
      { id: 'two', type: 'subflow:sub', wires: [['sub-answer']] },
      sink('sub-answer'),
    ].map((node) => ({ ...node, ...changes[node.id] }));

  async function measure(): Promise<Measured> {
    red.send('measure', { port: mosquitto.port });
    return (await red.next('measured')) as unknown as Measured;
  }

  /**
   * Resolves when a request of the flow as it is now was answered: by then it runs and is subscribed. Node-RED drops
   * messages between nodes that it is just exchanging, so the question is repeated.
   */
  async function works(): Promise<void> {
    const mark = `${++marks}`;
    const answer = red.next('answer', (msg) => msg.mark === mark);
    const repeat = setInterval(() => red.send('ask', { gateway: GATEWAY, identifier: '8001', mark }), 250);
    await answer;
    clearInterval(repeat);
  }

  /** Resolves when a request is refused because there is no service. */
  async function isMissed(): Promise<void> {
    const repeat = setInterval(() => red.send('ask', { gateway: GATEWAY, identifier: '8001' }), 250);
    while ((await red.caught('read')).code !== 'NOT_CONFIGURED') {}
    clearInterval(repeat);
  }

  for (const type of TYPES) {
    it(`of type ${type} keeps every report and leaves nothing behind`, async () => {
      await red.deploy(flow());
      await works();
      const first = field.sent;
      const storm = times(5, 200);
      field.setRate(RATE);
      let longest = 0;
      let baseline: Measured | undefined;
      for (let deploy = 0; deploy < storm; deploy++) {
        for (let i = 0; i < IN_FLIGHT; i++) {
          red.send('ask', { gateway: GATEWAY, identifier: '8001' });
        }
        revision++;
        const start = performance.now();
        await red.deploy(flow(), type);
        longest = Math.max(longest, performance.now() - start);
        await works();
        if (deploy === Math.floor(storm / 10)) {
          baseline = await measure();
        }
      }
      field.setRate(0);
      await field.settled();
      const reports = await delivered(join(folder, 'reports'), first, field.sent);
      const end = await measure();
      record({
        fault: `deploy: ${type}`,
        times: storm,
        reports,
        note: `longest ${(longest / 1000).toFixed(2)} s; heap ${megabytes(baseline!)} → ${megabytes(end)} MB`,
      });
      assert.equal(reports.lost, 0);
      assert.deepEqual(end.listeners, baseline!.listeners);
      assert.deepEqual([baseline!.connections, end.connections], [1, 1]);
      assert.doesNotMatch(red.log(), /Error stopping node|MaxListeners/);
      if (isLong) {
        assert.ok(longest < 2_000 && end.heap < baseline!.heap * 1.05, `${longest} ms, ${end.heap} bytes`);
      }
    });
  }

  it('that deletes the service ends waiting requests with CLOSED', async () => {
    await red.deploy(flow());
    await works();
    for (let i = 0; i < IN_FLIGHT; i++) {
      red.send('ask', { gateway: DEAF, identifier: '8001' });
    }
    await red.status('read', ({ fill, text }) => fill === 'blue' && String(text).includes(`${IN_FLIGHT}`));
    await red.deploy(
      flow().filter(({ id }) => id !== 'service'),
      'nodes',
    );
    for (let i = 0; i < IN_FLIGHT; i++) {
      assert.equal((await red.caught('read')).code, 'CLOSED');
    }
    await isMissed();
  });

  it('that disables the service makes its nodes say so, and one that enables it brings them back', async () => {
    await red.deploy(flow({ service: { d: true } }));
    await isMissed();
    await red.deploy(flow(), 'nodes');
    await works();
  });

  it('gives each instance of a subflow its own environment', async () => {
    await red.deploy(flow());
    await works();
    red.send('ask-sub', { gateway: GATEWAY });
    const answers = [await red.next('sub-answer'), await red.next('sub-answer')];
    assert.deepEqual(answers.map(({ identifier }) => identifier).sort(), ['8000', '8001']);
  });
});

const megabytes = ({ heap }: Measured): string => (heap / 1e6).toFixed(1);
