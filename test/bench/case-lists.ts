// P4, P4b: what a long device list costs, in one array and device by device.
import type { NodeConfig } from '../e2e/node-red.ts';
import { compare, judge, median, type Row } from './compare.ts';
import { withList } from './list-client.ts';
import { type Bench, type Figures, startBench } from './measure.ts';
import type { Options } from './run.ts';

const PAGE_SIZE = 1000;
/** The default of the node. */
const SMALL_PAGE = 100;
/** Devices of the short list that warms up. */
const FEW = 5000;
/** Arrays listed one after the other. Over many of them memory depends on when V8 happens to clear it. */
const LISTS = { warmUp: 2, memory: 3, time: 10 };
const MB = 1024 * 1024;

const asker: NodeConfig = { id: 'ask', type: 'bench-source', messages: [{}], wires: [['list']] };

const ours = (url: string, output: 'array' | 'each'): NodeConfig[] => [
  {
    id: 'service',
    type: 'mt-service',
    authUrl: url,
    baseUrl: url,
    credentials: { username: 'a', password: 'b' },
  },
  asker,
  {
    id: 'list',
    type: 'mt-device-list',
    service: 'service',
    pageSize: output === 'array' ? PAGE_SIZE : SMALL_PAGE,
    output,
    wires: [[output === 'array' ? 'ask' : 'out']],
  },
  { id: 'out', type: 'bench-sink', wires: [] },
  { ...asker, id: 'ask-few', wires: [['few']] },
  { id: 'few', type: 'mt-device-list', service: 'service', limit: FEW, output, wires: [['out']] },
];

const floor = (url: string): NodeConfig[] => [
  asker,
  {
    id: 'list',
    type: 'floor-list',
    auth: url,
    base: url,
    login: { username: 'a', password: 'b' },
    pageSize: PAGE_SIZE,
    wires: [['ask']],
  },
];

async function withBench<T>(nodes: NodeConfig[], act: (bench: Bench) => Promise<T>): Promise<T> {
  const bench = await startBench(nodes, ['--expose-gc']);
  try {
    return await act(bench);
  } finally {
    await bench.stop();
  }
}

/** Lists so many times, one after the other; `messages` per list reach the flow's end. */
function ask({ red, round }: Bench, lists: number, messages = 1): Promise<Figures> {
  return round(lists * messages, () => red.send('ask', { count: lists, atOnce: 1 }));
}

async function array(options: Options): Promise<Row[]> {
  const total = 100_000 * options.scale;
  return withList({ total, pageSize: PAGE_SIZE }, async (url) => {
    const memory: Record<string, number[]> = { ours: [], floor: [] };
    const measure = (name: string, nodes: NodeConfig[]) => () =>
      withBench(nodes, async (bench) => {
        await ask(bench, LISTS.warmUp);
        const { growth } = await ask(bench, LISTS.memory);
        memory[name]?.push(growth / MB);
        const { wall } = await ask(bench, LISTS.time);
        return wall / 1000 / LISTS.time;
      });
    const times = await compare(
      { ours: measure('ours', ours(url, 'array')), floor: measure('floor', floor(url)) },
      // Time is read from a clock here, which scatters more than CPU time.
      { ...options, pairs: 2 * options.pairs },
    );
    const goal = { case: 'P4', of: 'ours', against: 'floor', atMost: 1.03 };
    return [
      ...judge(times, 'ms', [{ ...goal, what: `time of a list of ${total} devices` }]),
      ...judge(memory, 'MB', [{ ...goal, what: 'its memory at the highest' }]),
    ];
  });
}

async function each({ pairs, scale }: Options): Promise<Row[]> {
  const rows: Row[] = [];
  for (const total of [100_000 * scale, 300_000 * scale, 1_000_000 * scale]) {
    await withList({ total, pageSize: SMALL_PAGE }, async (url) => {
      const growths: number[] = [];
      for (let i = 0; i < Math.min(pairs, 3); i++) {
        const growth = await withBench(ours(url, 'each'), async (bench) => {
          await bench.round(FEW, () => bench.red.send('ask-few', { count: 1, atOnce: 1 }));
          return (await ask(bench, 1, total)).growth;
        });
        growths.push(growth / MB);
      }
      const growth = median(growths);
      rows.push({
        case: 'P4b',
        what: `${total} devices one by one: growth of resident memory`,
        ours: `${growth.toFixed(0)} MB`,
        against: '',
        ratio: '',
        reach: '< 50 MB',
        reached: growth < 50,
      });
    });
  }
  return rows;
}

export const listCases = { P4: array, P4b: each };
