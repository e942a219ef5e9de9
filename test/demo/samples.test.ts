// The demo's flow "store, then acknowledge" under lost answers: what the devices count is what the file holds.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import flows from '../../examples/demo/flows.json' with { type: 'json' };
import { type Service, startService } from '../../simulator/src/service.ts';
import { flowAround, serviceNode, subscribed } from '../nodes/box-flow.ts';
import { describeNodes, type Message } from '../nodes/flow.ts';

const SAMPLES = 20_000;
/** So many come first, until the broker has granted the responses of every gateway: a flood would hold its grants up. */
const FIRST = 500;
/** All of them take longer on a busy machine: devices that send them again meanwhile only make more of them. */
const ACK_TIMEOUT_MS = 30_000;
const load = createRequire(`${process.cwd()}/`);
const CORE = ['parsers/70-JSON.js', 'function/10-function.js'].map((file) =>
  load(`@node-red/nodes/core/${file}`),
);

interface Node {
  id: string;
  type: string;
  [property: string]: unknown;
}

/** The nodes of the demo from the report to the acknowledgement, storing into `file` and waiting less long. */
function chain(file: string): Node[] {
  return (flows as unknown as Node[])
    .filter(({ id, type }) => id.startsWith('demo-samples') && !['comment', 'debug'].includes(type))
    .map((node) => ({
      ...node,
      z: 'f',
      service: 'svc',
      ...(typeof node.func === 'string' && {
        func: node.func.replace("'samples.jsonl'", JSON.stringify(file)),
      }),
      ...(node.type === 'mt-timestamped-ack' && { timeout: '4000', wires: [['out']] }),
    }));
}

describeNodes('storing samples before acknowledging them', (start) => {
  let box: Service;
  let folder: string;
  const warnings: Error[] = [];
  const warned = (warning: Error) => warnings.push(warning);

  // Of its own for each attempt: what another one has stored would count as lost here.
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'samples-'));
    warnings.length = 0;
    process.on('warning', warned);
  });
  afterEach(async () => {
    process.off('warning', warned);
    await box.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('stores all of 20 000 samples and leaves none unacknowledged, with 5 % of the answers lost', async function () {
    this.timeout(300_000);
    box = await startService({
      rest: false,
      rate: 0,
      delay: 0,
      lostAnswers: 0.05,
      ackTimeout: ACK_TIMEOUT_MS,
    });
    const file = join(folder, 'samples.jsonl');
    const flow = await start(flowAround(serviceNode(box, { maxInFlight: 256 }), ...chain(file)), {
      nodes: CORE,
    });
    let ended = 0;
    const codes = new Set<unknown>();
    const count = (msg: Message) => {
      ended++;
      if (msg.error) {
        codes.add(msg.error.code);
      }
    };
    flow.node('out').on('input', count);
    flow.node('errors').on('input', count);
    const allEnded = (samples: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (ended >= samples && box.samples.unacknowledgedCount === 0) {
            resolve();
          }
        };
        flow.node('out').on('input', look);
        flow.node('errors').on('input', look);
      });
    await subscribed(box);
    for (const samples of [FIRST, SAMPLES - FIRST]) {
      const end = allEnded(ended + samples);
      await box.publishSamples(samples);
      await end;
    }

    assert.deepEqual(warnings, []);
    assert.equal(box.samples.unacknowledgedCount, 0);
    assert.deepEqual([...codes], ['TIMEOUT'], 'a lost answer is an error on the message that waited for it');
    const stored = (await readFile(file, 'utf8')).trim().split('\n');
    const keys = new Set(
      stored.map((line) => {
        const { gateway, device, identifier, time } = JSON.parse(line);
        return `${gateway}/${device}/${identifier}/${time}`;
      }),
    );
    assert.equal(keys.size, SAMPLES);
    for (const key of box.samples.all.keys()) {
      assert.ok(keys.has(key), `not stored: ${key}`);
    }
  });
});
