// An engine in a process of its own, to be killed: stores every report on disk, then confirms it to the broker.
import { appendFile } from 'node:fs/promises';
import { SILENT } from '../../src/log.ts';
import { Session } from '../../src/session.ts';
import { ALL, mqttSettings } from '../session.ts';

const [url = '', store = ''] = process.argv.slice(2);
const settings = mqttSettings(url, { persistent: true, clientId: 'mt-confirming' });
const session = new Session({ mqtt: settings }, SILENT);

session.subscribe(
  ALL,
  {
    report({ n, delivery }) {
      // Many at a time, done in any order.
      void appendFile(store, `${n}\n`).then(() => session.confirm(String(delivery)));
    },
    error() {},
    confirm: { timeoutMs: 60_000, maxAttempts: 0, count() {} },
  },
  'node',
);
session.onState(({ mqtt }) => {
  if (mqtt.name === 'connected') {
    process.send?.('ready');
  }
});
process.once('disconnect', () => process.exit());
