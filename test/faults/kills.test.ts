// The process is killed at random moments: what was acknowledged to a device is in the store, whatever else happens.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DURABLE, type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { type Service, startService } from '../simulator/service.ts';
import { isLong, record, times } from './table.ts';

const CHILD = join(import.meta.dirname, 'acknowledging-child.ts');
const SAMPLES_PER_LIFE = 100;
/** The moment of the kill falls anywhere while the samples of this life come, or after them. */
const LONGEST_LIFE = 400;

describe('timestamped samples that are stored and then acknowledged', function () {
  this.timeout(isLong ? 0 : 60_000);
  let folder: string;
  let store: string;
  let mosquitto: Mosquitto;
  let box: Service;
  let child: ChildProcess | undefined;

  before(async function () {
    requirePrograms(this, 'mosquitto');
    folder = await mkdtemp(join(tmpdir(), 'mt-kills-'));
    store = join(folder, 'store');
    await writeFile(store, '');
    mosquitto = await startMosquitto(DURABLE);
    box = await startService({
      rest: false,
      brokerUrl: mosquitto.url,
      rate: 0,
      delay: 0,
      gateways: 4,
      ackTimeout: 1_000,
      historyLimit: 1_000_000,
    });
  });
  after(async () => {
    child?.kill('SIGKILL');
    await box?.close();
    await mosquitto?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  function live(): ChildProcess {
    const argv = [mosquitto.url, store];
    return fork(CHILD, argv, { execArgv: ['--import', 'tsx'], stdio: 'inherit' });
  }

  const stored = async () => new Set((await readFile(store, 'utf8')).split('\n').slice(0, -1));

  it('are never lost, wherever a SIGKILL falls', async () => {
    for (let life = 0; life < times(5, 1_000); life++) {
      child = live();
      await once(child, 'message');
      const ended = once(child, 'exit');
      void box.publishSamples(SAMPLES_PER_LIFE);
      await wait(Math.random() * LONGEST_LIFE);
      child.kill('SIGKILL');
      await ended;
    }
    child = live();
    while (box.samples.unacknowledgedCount > 0) await once(box.events, 'acknowledged');
    const lines = await stored();
    const keys = [...box.samples.all].filter(([, { ackable }]) => ackable).map(([key]) => key);
    const lost = keys.filter((key) => !lines.has(key));
    const written = (await readFile(store, 'utf8')).split('\n').length - 1;
    record({
      fault: 'engine killed (SIGKILL), store then acknowledge',
      times: times(5, 1_000),
      reports: {
        sent: keys.length,
        arrived: keys.length - lost.length,
        lost: lost.length,
        duplicated: written - lines.size,
      },
    });
    assert.deepEqual(lost, []);
  });
});
