// An engine in a process of its own, to be killed: stores every timestamped sample on disk, then acknowledges it.
import { appendFileSync } from 'node:fs';
import { SILENT } from '../../src/log.ts';
import { Session } from '../../src/session.ts';
import { ALL, mqttSettings } from '../session.ts';

const [url = '', store = ''] = process.argv.slice(2);
const session = new Session({ mqtt: mqttSettings(url, { persistent: true, clientId: 'mt-killed' }) }, SILENT);
const signal = new AbortController().signal;

session.subscribe(
  { ...ALL, kinds: ['timestamped'] },
  {
    report(report) {
      const { gateway, device, identifier, time } = report;
      appendFileSync(store, `${gateway}/${device}/${identifier}/${time}\n`);
      // What is not acknowledged comes again.
      session.acknowledge({ ...report }, { signal, wait: true }).catch(() => {});
    },
    error() {},
  },
);
session.onState(({ mqtt }) => {
  if (mqtt.name === 'connected') {
    process.send?.('ready');
  }
});
process.once('disconnect', () => process.exit());
