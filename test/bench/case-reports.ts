// P1, P1w, P2, P2b, P2c, P5: what a report costs.
import { compare, judge, type Row } from './compare.ts';
import { coreByDevice, coreByKind, floorReports, oursByDevice, oursByKind, oursWithState } from './flows.ts';
import { withLoad } from './load-client.ts';
import { measureReports, type ReportRound } from './measure.ts';
import type { Options } from './run.ts';
import type { Traffic } from './traffic.ts';

const UNIT = 'µs CPU per report';

const DECODED: Traffic = { form: 'decoded', gateways: 10, devices: 50 };
/** As many devices as rules. */
const RULES = 10_000;
const MANY: Traffic = { form: 'decoded', gateways: 20, devices: 200 };

/** Reports of a round: so many that compiling the code, which each process does once, is not what is measured. */
const LONG = 80_000;
const SHORT = 10_000;
/** Per second. */
const RATE = 30_000;

const scaled = (round: ReportRound, { scale }: Options): ReportRound => ({
  ...round,
  count: Math.round(round.count * scale),
});

async function reports(options: Options): Promise<Row[]> {
  const round = scaled({ traffic: DECODED, count: LONG, rate: RATE }, options);
  return withLoad(async (broker, load) => {
    const values = await compare(
      {
        ours: () => measureReports(oursByKind(broker), load, round),
        floor: () => measureReports(floorReports(broker), load, round),
        core: () => measureReports(coreByKind(broker), load, round),
      },
      options,
    );
    const what = 'five report-in nodes, one per kind';
    return judge(values, UNIT, [
      { case: 'P1', what, of: 'ours', against: 'floor', atMost: 0.95 },
      { case: 'P1', what, of: 'ours', against: 'core', atMost: 0.22 },
    ]);
  });
}

async function withState(options: Options): Promise<Row[]> {
  const traffic = { form: 'decoded', gateways: 100, devices: 10_000 } as const;
  const round = scaled({ traffic, count: LONG, rate: RATE }, options);
  return withLoad(async (broker, load) => {
    const values = await compare(
      {
        ours: () => measureReports(oursWithState(broker), load, round),
        'P1 of ours': () => measureReports(oursByKind(broker), load, round),
      },
      options,
    );
    const what = 'P1 with last value and watch, 10 000 devices';
    return judge(values, UNIT, [{ case: 'P1w', what, of: 'ours', against: 'P1 of ours', atMost: 1.15 }]);
  });
}

async function manyRules(options: Options): Promise<Row[]> {
  const round = scaled({ traffic: MANY, count: LONG, rate: RATE }, options);
  // Core nodes would take minutes for as many.
  const short = scaled({ traffic: MANY, count: SHORT, rate: RATE }, options);
  return withLoad(async (broker, load) => {
    const values = await compare(
      {
        ours: () => measureReports(oursByDevice(broker, 200, 200), load, round),
        'P1 of ours': () => measureReports(oursByKind(broker), load, round),
        core: () => measureReports(coreByDevice(broker, 200), load, short),
      },
      options,
    );
    const what = '200 report-in nodes, each for one device';
    return judge(values, UNIT, [
      { case: 'P2', what, of: 'ours', against: 'P1 of ours', atMost: 1.05 },
      { case: 'P2', what, of: 'ours', against: 'core', atMost: 0.06 },
    ]);
  });
}

async function tenThousandRules(options: Options): Promise<Row[]> {
  const traffic = { form: 'decoded', gateways: 100, devices: RULES } as const;
  const round = scaled({ traffic, count: LONG, rate: RATE }, options);
  return withLoad(async (broker, load) => {
    const values = await compare(
      {
        ours: () => measureReports(oursByDevice(broker, RULES, RULES), load, round),
        'P1 of ours': () => measureReports(oursByKind(broker), load, round),
      },
      options,
    );
    const what = `${RULES} report-in nodes, each for one device`;
    return judge(values, UNIT, [{ case: 'P2c', what, of: 'ours', against: 'P1 of ours', atMost: 1.05 }]);
  });
}

async function manyDevices(options: Options): Promise<Row[]> {
  const few = scaled({ traffic: MANY, count: LONG, rate: RATE }, options);
  const many = { ...few, traffic: { form: 'decoded', gateways: 1000, devices: 100_000 } } as const;
  return withLoad(async (broker, load) => {
    const values = await compare(
      {
        ours: () => measureReports(oursByDevice(broker, 2000, 100_000), load, many),
        'P2 of ours': () => measureReports(oursByDevice(broker, 200, 200), load, few),
      },
      options,
    );
    return judge(values, UNIT, [
      {
        case: 'P2b',
        what: '2 000 report-in nodes, 100 000 devices seen',
        of: 'ours',
        against: 'P2 of ours',
        atMost: 1.2,
      },
    ]);
  });
}

async function decoding(options: Options): Promise<Row[]> {
  const round = scaled({ traffic: { ...DECODED, form: 'raw' }, count: LONG, rate: RATE }, options);
  return withLoad(async (broker, load) => {
    const values = await compare(
      {
        ours: () => measureReports(oursByKind(broker), load, round),
        'not decoded': () => measureReports(oursByKind(broker, { decode: false }), load, round),
      },
      options,
    );
    return judge(values, UNIT, [
      {
        case: 'P5',
        what: 'raw reports decoded by the catalogue',
        of: 'ours',
        against: 'not decoded',
        atMost: 1.15,
      },
    ]);
  });
}

export const reportCases = {
  P1: reports,
  P1w: withState,
  P2: manyRules,
  P2b: manyDevices,
  P2c: tenThousandRules,
  P5: decoding,
};
