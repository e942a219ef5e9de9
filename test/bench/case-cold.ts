// P1c: what the first reports cost that a fresh process receives, before its code is compiled.
import { compare, judge, type Row, type Variants } from './compare.ts';
import { coreByKind, floorReports, oursByKind } from './flows.ts';
import { type Load, withLoad } from './load-client.ts';
import { measureCold, type ReportRound } from './measure.ts';
import type { Options } from './run.ts';
import type { Traffic } from './traffic.ts';

const TRAFFIC: Traffic = { form: 'decoded', gateways: 10, devices: 50 };
/** The first so many reports. */
const COUNT = 60_000;

interface Cell {
  qos: 0 | 1;
  /** Reports per second. */
  rate: number;
  /** The highest ratio to the floor that is good enough. */
  atMost?: number;
  /** The core nodes too: at a low rate they would add minutes. */
  withCore?: boolean;
}

const CELLS: Cell[] = [
  { qos: 0, rate: 2_000 },
  { qos: 0, rate: 12_000, atMost: 0.95, withCore: true },
  { qos: 0, rate: 30_000, withCore: true },
  { qos: 1, rate: 2_000 },
  { qos: 1, rate: 12_000, atMost: 0.8, withCore: true },
  { qos: 1, rate: 30_000, withCore: true },
];

async function measureCell(cell: Cell, broker: string, load: Load, options: Options): Promise<Row[]> {
  const { qos, rate, atMost, withCore } = cell;
  const count = Math.round(COUNT * options.scale);
  const round: ReportRound = { traffic: TRAFFIC, count, rate, qos };
  const variants: Variants = {
    ours: () => measureCold(oursByKind(broker), load, round),
    floor: () => measureCold(floorReports(broker), load, round),
    ...(withCore ? { core: () => measureCold(coreByKind(broker), load, round) } : {}),
  };
  const values = await compare(variants, options);
  const what = `the first ${count} reports of a fresh process, QoS ${qos}, ${rate} per second`;
  return judge(values, 'µs CPU per report', [
    { case: 'P1c', what, of: 'ours', against: 'floor', ...(atMost === undefined ? {} : { atMost }) },
    ...(withCore ? [{ case: 'P1c', what, of: 'ours', against: 'core' }] : []),
  ]);
}

async function cold(options: Options): Promise<Row[]> {
  return withLoad(async (broker, load) => {
    // The load process is warm from the start: nobody receives these.
    await load.order({ do: 'publish', traffic: TRAFFIC, count: COUNT, rate: 30_000 });
    const rows: Row[] = [];
    for (const cell of CELLS.filter(({ atMost }) => !options.quick || atMost !== undefined)) {
      rows.push(...(await measureCell(cell, broker, load, options)));
    }
    return rows;
  });
}

export const coldCases = { P1c: cold };
