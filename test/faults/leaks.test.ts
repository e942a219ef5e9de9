// Millions of reports through the engine, and many through Node-RED: the heap does not grow with them.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type NodeConfig, type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { type Flood, startFlood } from './flood.ts';
import { isLong, record, times } from './table.ts';

const MAX_GROWTH = 1.05;

interface Measured {
  heap: number;
  /** Reports and errors that each subscriber got; the first one gets all. */
  counts?: number[];
}

describe('the heap after a tenth of all reports', function () {
  this.timeout(isLong ? 0 : 60_000);
  let flood: Flood;

  beforeEach(async () => {
    flood = await startFlood();
  });
  afterEach(() => flood.close());

  async function check(fault: string, total: number, measure: () => Promise<Measured>): Promise<Measured> {
    const start = performance.now();
    await flood.deliver(total / 10);
    const early = await measure();
    await flood.deliver(total - total / 10);
    const late = await measure();
    const seconds = (performance.now() - start) / 1000;
    const arrived = late.counts?.[0] ?? flood.acknowledged;
    const heaps = [early, late].map(({ heap }) => (heap / 1e6).toFixed(1)).join(' → ');
    record({
      fault,
      times: 1,
      reports: { sent: total, arrived, lost: total - arrived, duplicated: 0 },
      note: `heap ${heaps} MB; ${Math.round(total / seconds)} reports/s`,
    });
    assert.equal(arrived, total);
    // A short run has hardly begun when its tenth is over.
    if (isLong) {
      assert.ok(late.heap < early.heap * MAX_GROWTH, heaps);
    }
    return late;
  }

  it('is the heap after all of them in the engine', async () => {
    const child = fork(join(import.meta.dirname, 'leaks-child.ts'), [flood.url], {
      execArgv: ['--import', 'tsx', '--expose-gc'],
    });
    try {
      await flood.subscribed();
      const total = times(200_000, 10_000_000);
      const { counts = [] } = await check('leaks: engine', total, () => ask(child));
      const [all = 0, once = 0, temperatures = 0, two = 0] = counts;
      assert.ok(all > once && once > temperatures && temperatures > two && two > 0, counts.join());
    } finally {
      child.kill();
    }
  });

  it('is the heap after all of them in Node-RED', async () => {
    let red: NodeRed | undefined;
    try {
      red = await startNodeRed(VERSIONS[0]!, { nodesDir: join(import.meta.dirname, 'witness') });
      const subscribed = flood.subscribed();
      await red.deploy(flowTo(flood.url));
      await subscribed;
      await check('leaks: Node-RED', times(5_000, 100_000), async () => {
        red?.send('measure', { port: 0 });
        return (await red?.next('measured')) as unknown as Measured;
      });
    } finally {
      await red?.stop();
    }
  });
});

async function ask(child: ChildProcess): Promise<Measured> {
  const answer = once(child, 'message');
  child.send('measure');
  return (await answer)[0] as Measured;
}

const flowTo = (url: string): NodeConfig[] => [
  { id: 'service', type: 'mt-service', brokerUrl: url },
  { id: 'all', type: 'mt-report-in', service: 'service', wires: [['nothing']] },
  // What is remembered of a second is there after a tenth of the run already.
  {
    id: 'once',
    type: 'mt-report-in',
    service: 'service',
    duplicates: 'drop',
    duplicateWindow: 1,
    wires: [['nothing']],
  },
  { id: 'values', type: 'mt-report-in', service: 'service', output: 'value', wires: [['nothing']] },
  { id: 'nothing', type: 'function', func: 'return null;', wires: [[]] },
];
