// One measured Node-RED: started, settled, warmed up, then a round of a known number of messages.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type NodeConfig,
  type NodeRed,
  startNodeRed,
  VERSIONS,
  type Version,
  WITH_ALL_NODES,
} from '../e2e/node-red.ts';
import type { Load } from './load-client.ts';
import type { Traffic } from './traffic.ts';

/** Figures of one round, taken inside the measured process. */
export interface Figures {
  /** Microseconds. */
  cpu: number;
  wall: number;
  /** Bytes of resident memory, at the highest, above those before the round. */
  growth: number;
}

const NODES = [join(import.meta.dirname, 'nodes'), join(import.meta.dirname, 'floor-node')];
const SETTLE_TIMEOUT_MS = 3000;
const MAX_TRIES = 20;
/** The nodes that subscribe. */
const RECEIVERS = new Set(['mt-report-in', 'floor-reports', 'mqtt in']);

export interface Bench {
  red: NodeRed;
  /** Runs `act`, which makes `count` messages reach the sinks; the figures are those until the last one. */
  round(count: number, act: () => Promise<void> | void): Promise<Figures>;
  stop(): Promise<void>;
}

/** With MT_PROFILE a folder, every measured process leaves its CPU profile there. */
const profile = process.env.MT_PROFILE;
const PROFILE = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];

export async function startBench(nodes: NodeConfig[], nodeOptions: string[] = []): Promise<Bench> {
  const red = await startNodeRed(VERSIONS[0] as Version, { ...WITH_ALL_NODES, nodesDir: NODES }, [
    ...PROFILE,
    ...nodeOptions,
  ]);
  try {
    await red.deploy(nodes);
  } catch (error) {
    await red.stop();
    throw error;
  }
  return {
    red,
    round: async (count, act) => {
      red.send('bench-expect', { count });
      await red.next('bench-armed');
      await act();
      return (await red.next('bench')) as unknown as Figures;
    },
    stop: () => red.stop(),
  };
}

/** Repeats a small round until nothing is lost in it: then everything is connected and subscribed. */
export async function settle({ red }: Bench, count: number, act: () => Promise<void> | void): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    red.send('bench-expect', { count });
    await red.next('bench-armed');
    await act();
    for (const end = performance.now() + SETTLE_TIMEOUT_MS; performance.now() < end; await delay(50)) {
      red.send('bench-left', {});
      if (((await red.next('bench-left')).left as number) <= 0) {
        await red.next('bench');
        return;
      }
    }
  }
  throw new Error(`the flow does not get ready:\n${red.log().slice(-2000)}`);
}

export interface ReportRound {
  traffic: Traffic;
  /** Messages of the measured round, and per second. */
  count: number;
  rate: number;
  /** Of all reports, instead of half of them QoS 1. */
  qos?: 0 | 1;
  /** What goes on beside all rounds: resolves when it has begun, with what ends it. */
  beside?: (bench: Bench) => Promise<() => Promise<void>>;
}

/** Microseconds of CPU per report, after a warm-up of another round. */
export async function measureReports(nodes: NodeConfig[], load: Load, round: ReportRound): Promise<number> {
  return (await measureRound(nodes, load, round)).cpu / round.count;
}

/** What starting leaves to be done: it is not the cost of a report. */
const START_MS = 1000;

/** Microseconds of CPU per report from the very first one on, in a process that has not seen any. */
export async function measureCold(nodes: NodeConfig[], load: Load, round: ReportRound): Promise<number> {
  const { traffic, count, rate, qos } = round;
  const bench = await startBench(nodes);
  try {
    for (const { id } of nodes.filter(({ type }) => RECEIVERS.has(type))) {
      await bench.red.status(id, ({ fill }) => fill === 'green');
    }
    // `mqtt in` is green before its subscription is granted, which no status shows.
    await delay(START_MS);
    const publish = () => load.order({ do: 'publish', traffic, count, rate, qos });
    return (await bench.round(count, publish)).cpu / count;
  } finally {
    await bench.stop();
  }
}

/** Reports per second by the clock, after a warm-up of another round. */
export async function measureThroughput(
  nodes: NodeConfig[],
  load: Load,
  round: ReportRound,
): Promise<number> {
  return round.count / ((await measureRound(nodes, load, round)).wall / 1e6);
}

async function measureRound(nodes: NodeConfig[], load: Load, round: ReportRound) {
  const { traffic, count, rate, qos, beside } = round;
  const bench = await startBench(nodes);
  try {
    const publish = (number: number) => () =>
      load.order({ do: 'publish', traffic, count: number, rate, qos });
    await settle(bench, traffic.devices, publish(traffic.devices));
    const end = await beside?.(bench);
    await bench.round(count, publish(count));
    const figures = await bench.round(count, publish(count));
    await end?.();
    return figures;
  } finally {
    await bench.stop();
  }
}

/** Warming up one at a time would take minutes. */
const WARM_UP = { count: 20_000, atOnce: 100 };

/** Microseconds of CPU per request, so many in flight at a time; `source` is the node that asks. */
export async function measureReads(nodes: NodeConfig[], source: string, count: number, atOnce: number) {
  const bench = await startBench(nodes);
  try {
    const ask = (round: { count: number; atOnce: number }) => () => bench.red.send(source, round);
    await settle(bench, 100, ask({ count: 100, atOnce: 8 }));
    await bench.round(WARM_UP.count, ask(WARM_UP));
    const figures = await bench.round(count, ask({ count, atOnce }));
    return figures.cpu / count;
  } finally {
    await bench.stop();
  }
}
