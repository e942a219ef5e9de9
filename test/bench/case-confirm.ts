// P9: what it costs, and how fast it is, when the broker keeps each report until the flow has acknowledged it.
import { compare, judge, median, type Row } from './compare.ts';
import { oursAcknowledging, oursByKind, oursPassing, oursStoring, STORE } from './flows.ts';
import { withLoad } from './load-client.ts';
import { measureReports, measureThroughput, type ReportRound } from './measure.ts';
import type { Options } from './run.ts';

const LONG = 80_000;
/** Per second. */
const RATE = 30_000;
/** More than the store takes: what is sent beyond that only keeps the cores busy which broker and sender share with Node-RED. */
const STORE_RATE = 22_000;
const AT_LEAST = 0.9;

const roundOf = ({ scale }: Options): ReportRound => ({
  traffic: { form: 'decoded', gateways: 10, devices: 50 },
  ...{ count: Math.round(LONG * scale), rate: RATE, qos: 1 },
});

async function confirming(options: Options): Promise<Row[]> {
  const round = roundOf(options);
  const stored = { ...round, rate: STORE_RATE };
  return withLoad(async (broker, load) => {
    const cost = await compare(
      {
        ours: () => measureReports(oursAcknowledging(broker), load, round),
        'P1 of ours, QoS 1': () => measureReports(oursByKind(broker), load, round),
        'P1 of ours, QoS 1, with a node that passes on': () =>
          measureReports(oursPassing(broker), load, round),
      },
      options,
    );
    const what = 'P1 with QoS 1, each report acknowledged at once by the flow';
    const speed = await compare(
      {
        confirmed: () => measureThroughput(oursStoring(broker, { confirm: 'acknowledged' }), load, stored),
        'not confirmed': () => measureThroughput(oursStoring(broker), load, stored),
      },
      options,
    );
    return [
      ...judge(cost, 'µs CPU per report', [
        { case: 'P9', what, of: 'ours', against: 'P1 of ours, QoS 1', atMost: 1.2 },
        { case: 'P9', what, of: 'ours', against: 'P1 of ours, QoS 1, with a node that passes on' },
      ]),
      ...speedOf(speed.confirmed ?? [], speed['not confirmed'] ?? []),
    ];
  });
}

/** @param without what the same flow reaches on this machine when nothing waits for it */
function speedOf(confirmed: number[], without: number[]): Row[] {
  const { milliseconds, places } = STORE;
  const possible = (places / milliseconds) * 1_000;
  const [ours, others] = [median(confirmed), median(without)];
  const share = ours / possible;
  const ratio = median(confirmed.map((value, i) => value / (without[i] ?? Number.NaN)));
  const perSecond = (value: number) => `${Math.round(value)} reports/s`;
  const row = {
    case: 'P9',
    what: `stored in ${milliseconds} ms, ${places} at a time, then acknowledged`,
    ours: perSecond(ours),
    reach: `≥ ${AT_LEAST} ×`,
  };
  // A machine that does not feed the store without confirming cannot show what confirming takes from it.
  const isShown = share >= AT_LEAST || others >= AT_LEAST * possible;
  return [
    {
      ...row,
      against: `the store: ${perSecond(possible)}`,
      ratio: `${share.toFixed(2)} ×`,
      reached: isShown ? share >= AT_LEAST : undefined,
    },
    {
      ...row,
      against: `not confirmed: ${perSecond(others)}`,
      ratio: `${ratio.toFixed(2)} ×`,
      reached: ratio >= AT_LEAST,
    },
  ];
}

export const confirmCases = { P9: confirming };
