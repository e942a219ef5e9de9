// An engine in a process of its own, so that its heap can be told from everything else's.
import { SILENT } from '../../src/log.ts';
import { type ReportFilter, Session } from '../../src/session.ts';
import { ALL, mqttSettings } from '../session.ts';
import { GATEWAY } from './field.ts';

const [url = ''] = process.argv.slice(2);
const session = new Session({ mqtt: mqttSettings(url, { clientId: 'mt-leaks' }) }, SILENT);

const FILTERS: ReportFilter[] = [
  ALL,
  { ...ALL, duplicates: 'drop', duplicateWindow: 10 },
  { ...ALL, kinds: ['measurement', 'timestamped'], identifiers: ['temperature'], decode: false },
  { ...ALL, gateways: [GATEWAY], devices: ['d00000000007', 'd00000000008'], form: 'raw' },
];

/** By subscriber: reports and errors. */
const counts = FILTERS.map(() => 0);
for (const [index, filter] of FILTERS.entries()) {
  const count = () => {
    counts[index] = (counts[index] ?? 0) + 1;
  };
  session.subscribe(filter, { report: count, error: count });
}

process.on('message', () => {
  globalThis.gc?.();
  process.send?.({ heap: process.memoryUsage().heapUsed, counts });
});
process.once('disconnect', () => process.exit());
