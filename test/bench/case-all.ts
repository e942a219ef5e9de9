// P1all: what a report costs when everything is on that can be, and what each part costs alone.
import { compare, judge, type Row, type Variants } from './compare.ts';
import { oursByKind, oursWith, type Part } from './flows.ts';
import { withList } from './list-client.ts';
import { withLoad } from './load-client.ts';
import { look } from './look.ts';
import { measureReports, type ReportRound } from './measure.ts';
import type { Options } from './run.ts';

const GATEWAYS = 100;
const DEVICES = 10_000;
const LONG = 80_000;
/** Per second. */
const RATE = 30_000;
const PLAIN = 'P1 of ours, QoS 1';

const PARTS: Record<string, Part> = {
  'last value': 'lastValue',
  'device watch': 'deviceWatch',
  'confirm, acknowledged at once': 'confirm',
  'labels and names': 'labels',
};
const SIDEBAR = 'the sidebar, listening to everything';

async function everything(options: Options): Promise<Row[]> {
  const round: ReportRound = {
    traffic: { form: 'decoded', gateways: GATEWAYS, devices: DEVICES },
    ...{ count: Math.round(LONG * options.scale), rate: RATE, qos: 1 },
  };
  const list = { total: GATEWAYS + DEVICES, pageSize: 100, gateways: GATEWAYS };
  return withList(list, (portal) =>
    withLoad(async (broker, load) => {
      const alone = Object.entries(PARTS).map(([name, part]) => [
        name,
        () => measureReports(oursWith([part], broker, portal), load, round),
      ]);
      const variants: Variants = {
        ours: () => {
          const nodes = oursWith(Object.values(PARTS), broker, portal);
          return measureReports(nodes, load, { ...round, beside: look });
        },
        [PLAIN]: () => measureReports(oursByKind(broker), load, round),
        ...Object.fromEntries(alone),
        [SIDEBAR]: () => measureReports(oursByKind(broker), load, { ...round, beside: look }),
      };
      const values = await compare(variants, options);
      const goal = { case: 'P1all', against: PLAIN };
      const what = `everything on, ${DEVICES} devices`;
      return judge(values, 'µs CPU per report', [
        { ...goal, what, of: 'ours', atMost: 1.4 },
        ...[...Object.keys(PARTS), SIDEBAR].map((of) => ({ ...goal, what: `alone: ${of}`, of })),
      ]);
    }),
  );
}

export const allCases = { P1all: everything };
