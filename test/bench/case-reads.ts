// P3: what a request to a gateway and its response cost.
import { compare, judge, type Row } from './compare.ts';
import { coreRead, floorRead, oursRead } from './flows.ts';
import { withLoad } from './load-client.ts';
import { measureReads } from './measure.ts';
import type { Options } from './run.ts';

const IN_FLIGHT = [1, 100, 1000];
/** What a quick run asks for. */
const IN_FLIGHT_QUICK = [100];
const COUNT = 40_000;
/** One after the other: enough that the cost is not that of compiling the code. */
const COUNT_ONE = 6_000;
/** Each takes the core nodes some 40 ms, one after the other. */
const COUNT_ONE_CORE = 200;

async function reads(options: Options): Promise<Row[]> {
  return withLoad(async (broker, load) => {
    const rows: Row[] = [];
    await load.order({ do: 'respond' });
    for (const atOnce of options.quick ? IN_FLIGHT_QUICK : IN_FLIGHT) {
      const scaled = (count: number) => Math.round(count * options.scale);
      const count = scaled(atOnce === 1 ? COUNT_ONE : COUNT);
      const countOfCore = scaled(atOnce === 1 ? COUNT_ONE_CORE : COUNT);
      const values = await compare(
        {
          ours: () => measureReads(oursRead(broker), 'ask', count, atOnce),
          floor: () => measureReads(floorRead(broker), 'ask', count, atOnce),
          core: () => measureReads(coreRead(broker), 'ask', countOfCore, atOnce),
        },
        options,
      );
      const what = `reads, ${atOnce} in flight`;
      rows.push(
        ...judge(values, 'µs CPU per request', [
          { case: 'P3', what, of: 'ours', against: 'floor', atMost: 1.15 },
          { case: 'P3', what, of: 'ours', against: 'core', atMost: 0.5 },
        ]),
      );
    }
    return rows;
  });
}

export const readCases = { P3: reads };
