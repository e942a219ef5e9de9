// P6, P7, P8 and size: starting, idling, several processes, and what is installed.
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { VERSIONS } from '../e2e/node-red.ts';
import { createUserDir, packPackage } from '../e2e/package.ts';
import { median, type Row } from './compare.ts';
import { oursByDevice, oursByKind } from './flows.ts';
import { type Load, withLoad } from './load-client.ts';
import { type Bench, settle, startBench } from './measure.ts';
import type { Options } from './run.ts';
import type { Traffic } from './traffic.ts';

const LOADING_LIMIT = 60;
const IDLE_SECONDS = 20;

async function loading({ pairs }: Options): Promise<Row[]> {
  const userDir = await createUserDir();
  const manifest = join(userDir, 'node_modules/@mt-gateway/node-red-mt-gateway/package.json');
  const runs: { milliseconds: number; foreign: string[] }[] = [];
  for (let i = 0; i < pairs + 1; i++) {
    const script = join(import.meta.dirname, 'load-nodes.js');
    const { stdout } = await promisify(execFile)(VERSIONS[0]?.node ?? 'node', [script, manifest]);
    runs.push(JSON.parse(stdout));
  }
  await rm(userDir, { recursive: true, force: true });
  // The first run warms the disk.
  const spent = median(runs.slice(1).map(({ milliseconds }) => milliseconds));
  const foreign = runs.flatMap((run) => run.foreign);
  return [
    {
      case: 'P6',
      what: 'loading all nodes: main-thread time',
      ours: `${spent.toFixed(0)} ms`,
      against: foreign.length === 0 ? 'mqtt, undici not loaded' : `loads ${foreign[0]}`,
      ratio: '',
      reach: `≤ ${LOADING_LIMIT} ms`,
      reached: spent <= LOADING_LIMIT && foreign.length === 0,
    },
  ];
}

/** Timers that fired, by who started them, and the CPU time of the idle process in milliseconds. */
async function idle(bench: Bench) {
  bench.red.send('bench-start', {});
  await bench.red.next('bench-armed');
  await delay(IDLE_SECONDS * 1000);
  bench.red.send('bench-stop', {});
  const { cpu, timers } = await bench.red.next('bench');
  return { cpu: (cpu as number) / 1000, timers: timers as Record<string, number> };
}

async function idling(): Promise<Row[]> {
  return withLoad(async (broker, load) => {
    const preload = ['--require', join(import.meta.dirname, 'timers.js')];
    const empty = await startBench([], preload);
    const nothing = await idle(empty).finally(() => empty.stop());
    const bench = await startBench(oursByDevice(broker, 200, 200), preload);
    try {
      const traffic: Traffic = { form: 'decoded', gateways: 20, devices: 200 };
      await settle(bench, 200, () => load.order({ do: 'publish', traffic, count: 200, rate: 2000 }));
      // Statuses that were throttled, and whatever else ends soon after a start.
      await delay(5000);
      const { cpu, timers } = await idle(bench);
      const ours = timers.ours ?? 0;
      return [
        {
          case: 'P7',
          what: `200 idle nodes: timers of ours that fired in ${IDLE_SECONDS} s`,
          ours: `${ours}; ${cpu.toFixed(0)} ms CPU`,
          against: `MQTT.js keepalive ${timers.mqtt ?? 0}; Node-RED without nodes: ${nothing.cpu.toFixed(0)} ms CPU`,
          ratio: '',
          reach: '0',
          reached: ours === 0,
        },
      ];
    } finally {
      await bench.stop();
    }
  });
}

/** All processes in one shared group; every report is counted where it arrives. */
async function share(broker: string, load: Load, processes: number, count: number) {
  const nodes = oursByKind(broker).map((node) =>
    node.type === 'mt-service' ? { ...node, sharedGroup: 'bench' } : node,
  );
  const benches: Bench[] = [];
  try {
    for (let i = 0; i < processes; i++) {
      benches.push(await startBench(nodes));
    }
    const traffic: Traffic = { form: 'decoded', gateways: 10, devices: 50 };
    const round = (number: number) => shareRound(benches, number, load, traffic);
    await delay(2000);
    await round(count);
    return await round(count);
  } finally {
    await Promise.all(benches.map((bench) => bench.stop()));
  }
}

async function shareRound(benches: Bench[], count: number, load: Load, traffic: Traffic) {
  for (const { red } of benches) {
    red.send('bench-collect', {});
    await red.next('bench-armed');
  }
  const started = performance.now();
  await load.order({ do: 'publish', traffic, count, rate: 100_000, numbered: true });
  for (const end = performance.now() + 60_000; ; await delay(20)) {
    const parts = await Promise.all(
      benches.map(async ({ red }) => {
        red.send('bench-collected', {});
        return (await red.next('bench-collected')) as { distinct: number; twice: number; cpu: number };
      }),
    );
    const total = parts.reduce((sum, { distinct }) => sum + distinct, 0);
    if (total >= count || performance.now() > end) {
      const twice = parts.reduce((sum, part) => sum + part.twice, 0) + Math.max(0, total - count);
      const shares = parts.map(({ distinct }) => distinct / count);
      const cpu = parts.reduce((sum, part) => sum + part.cpu, 0) / count;
      return { shares, twice, lost: Math.max(0, count - total), time: performance.now() - started, cpu };
    }
  }
}

async function sharing({ scale }: Options): Promise<Row[]> {
  const count = Math.round(60_000 * scale);
  return withLoad(async (broker, load) => {
    const one = await share(broker, load, 1, count);
    const two = await share(broker, load, 2, count);
    const four = await share(broker, load, 4, count);
    const isFair = two.shares.every((part) => part >= 0.4 && part <= 0.6);
    const percent = (shares: number[]) => shares.map((part) => `${(part * 100).toFixed(0)} %`).join(', ');
    const gain = one.time / two.time;
    const spent = ({ cpu }: { cpu: number }) => `${cpu.toFixed(1)} µs`;
    const perSecond = (time: number) => `${Math.round(count / (time / 1000))} reports/s`;
    // The broker, the load process and two Node-RED need a core each to show it.
    const hasCores = availableParallelism() >= 4;
    return [
      {
        case: 'P8',
        what: 'two processes in one shared group: parts; lost, twice',
        ours: `${percent(two.shares)}; ${two.lost}, ${two.twice}`,
        against: `four: ${percent(four.shares)}; ${four.lost}, ${four.twice}`,
        ratio: '',
        reach: '40–60 %; 0, 0',
        reached: isFair && two.lost + two.twice === 0,
      },
      {
        case: 'P8',
        what: `throughput of two, ${availableParallelism()} cores`,
        ours: perSecond(two.time),
        against: `one: ${perSecond(one.time)}; four: ${perSecond(four.time)}`,
        ratio: `${gain.toFixed(2)} ×`,
        reach: '≥ 1.6 × where cores allow',
        reached: hasCores ? gain >= 1.6 : undefined,
      },
      {
        case: 'P8',
        what: 'CPU time per report of two, all processes together',
        ours: spent(two),
        // The less a process has to do, the fewer reports share a system call.
        against: `one: ${spent(one)}; four: ${spent(four)}`,
        ratio: '',
        reach: '',
        reached: undefined,
      },
    ];
  });
}

async function size(): Promise<Row[]> {
  const { report } = await packPackage();
  const row = (what: string, bytes: number, limit: number): Row => ({
    case: 'size',
    what,
    ours: `${Math.round(bytes / 1000)} kB`,
    against: '',
    ratio: '',
    reach: `< ${limit / 1000} kB`,
    reached: bytes < limit,
  });
  return [row('tarball', report.size, 260_000), row('unpacked', report.unpackedSize, 1_000_000)];
}

export const processCases = { P6: loading, P7: idling, P8: sharing, size };
