// P3: what a request to a gateway and its answer cost.
import { startMosquitto } from '../mosquitto.ts';
import { compare, judge, type Row } from './compare.ts';
import { coreRead, floorRead, oursRead } from './flows.ts';
import { startLoad } from './load-client.ts';
import { measureReads } from './measure.ts';
import type { Options } from './run.ts';

const IN_FLIGHT = [1, 100, 1000];

async function reads(options: Options): Promise<Row[]> {
  const mosquitto = await startMosquitto(['max_queued_messages 0', 'max_inflight_messages 0']);
  const load = await startLoad(mosquitto.url);
  const rows: Row[] = [];
  try {
    await load.order({ do: 'respond' });
    for (const atOnce of IN_FLIGHT) {
      const count = Math.round((atOnce === 1 ? 4000 : 20_000) * options.scale);
      const values = await compare(
        {
          ours: () => measureReads(oursRead(mosquitto.url), 'ask', count, atOnce),
          floor: () => measureReads(floorRead(mosquitto.url), 'ask', count, atOnce),
          core: () => measureReads(coreRead(mosquitto.url), 'ask', count, atOnce),
        },
        options.pairs,
      );
      const what = `reads, ${atOnce} in flight`;
      rows.push(
        ...judge(values, 'µs CPU per request', [
          { case: 'P3', what, of: 'ours', against: 'floor', atMost: 1.6 },
          { case: 'P3', what, of: 'ours', against: 'core', atMost: 0.5 },
        ]),
      );
    }
  } finally {
    load.stop();
    await mosquitto.stop();
  }
  return rows;
}

export const readCases = { P3: reads };
