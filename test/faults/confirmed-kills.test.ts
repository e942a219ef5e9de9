// The process is killed at random moments: whatever was published is in the store, of every kind of report.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { build } from 'esbuild';
import mqtt, { type MqttClient } from 'mqtt';
import { DURABLE, type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { isLong, record, times } from './table.ts';

const CHILD = join(import.meta.dirname, 'confirming-child.ts');
const REPORTS_PER_LIFE = 200;
/** The moment of the kill falls anywhere while the reports of this life come, or after them. */
const MAX_LIFE_MS = 400;
const LIVES = times(10, 1_000);
const NO_WARNINGS = ['--no-deprecation'];
const KINDS = ['heartbeat', 'rssi', 'property/8100', 'measurement-decoded/temperature', 'event/8113'];

describe('reports that are stored and then confirmed', function () {
  this.timeout(isLong ? 0 : 120_000);
  let folder: string;
  let child: string;
  let store: string;
  let mosquitto: Mosquitto;
  let publisher: MqttClient;
  let sent = 0;

  before(async function () {
    requirePrograms(this, 'mosquitto');
    folder = await mkdtemp(join(tmpdir(), 'mt-confirmed-'));
    child = join(folder, 'child.cjs');
    store = join(folder, 'store');
    await build({ entryPoints: [CHILD], outfile: child, bundle: true, platform: 'node', logLevel: 'error' });
    await writeFile(store, '');
    mosquitto = await startMosquitto(DURABLE);
    publisher = await mqtt.connectAsync(mosquitto.url);
  });
  after(async () => {
    await publisher?.endAsync();
    await mosquitto?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const start = async () => {
    const started = fork(child, [mosquitto.url, store], { execArgv: NO_WARNINGS, stdio: 'inherit' });
    await once(started, 'message');
    return started;
  };
  const publish = () => {
    const n = sent++;
    const topic = `mt/gateway/c0141f68fc3d/device/d00000000001/${KINDS[n % KINDS.length]}`;
    const time = new Date().toISOString();
    return publisher.publishAsync(topic, JSON.stringify({ time, seq: n % 256, n }), { qos: 1 });
  };
  const stored = async () => (await readFile(store, 'utf8')).split('\n').slice(0, -1).map(Number);

  it('are never lost, wherever a SIGKILL falls', async () => {
    for (let life = 0; life < LIVES; life++) {
      const running = await start();
      const ended = once(running, 'exit');
      const published = Promise.all(Array.from({ length: REPORTS_PER_LIFE }, publish));
      await wait(Math.random() * MAX_LIFE_MS);
      running.kill('SIGKILL');
      await ended;
      await published;
    }
    const last = await start();
    const missing = async () => {
      const lines = new Set(await stored());
      return Array.from({ length: sent }, (_, n) => n).filter((n) => !lines.has(n));
    };
    while ((await missing()).length > 0) {
      await wait(50);
    }
    last.kill('SIGKILL');
    const lines = await stored();
    record({
      fault: 'engine killed (SIGKILL), store then confirm',
      times: LIVES,
      reports: {
        ...{ sent, arrived: sent, lost: 0 },
        duplicated: lines.length - new Set(lines).size,
      },
    });
    assert.deepEqual(await missing(), []);
  });
});
