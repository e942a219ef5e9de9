// P3: what a request to a gateway and its response cost.
import { compare, judge, type Row } from './compare.ts';
import { coreRead, floorRead, oursRead } from './flows.ts';
import { withLoad } from './load-client.ts';
import { measureReads } from './measure.ts';
import type { Options } from './run.ts';

const IN_FLIGHT = [1, 100, 1000];
/** What a quick run asks for. */
const IN_FLIGHT_QUICK = [100];

async function reads(options: Options): Promise<Row[]> {
  return withLoad(async (broker, load) => {
    const rows: Row[] = [];
    await load.order({ do: 'respond' });
    for (const atOnce of options.quick ? IN_FLIGHT_QUICK : IN_FLIGHT) {
      const count = Math.round((atOnce === 1 ? 200 : 40_000) * options.scale);
      const values = await compare(
        {
          ours: () => measureReads(oursRead(broker), 'ask', count, atOnce),
          floor: () => measureReads(floorRead(broker), 'ask', count, atOnce),
          core: () => measureReads(coreRead(broker), 'ask', count, atOnce),
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
