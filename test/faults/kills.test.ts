// The process is killed at random moments: what was acknowledged to a device is in the store, whatever else happens.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { build } from 'esbuild';
import { type Service, startService } from '../../simulator/src/service.ts';
import { DURABLE, type Mosquitto, startMosquitto } from '../mosquitto.ts';
import { requirePrograms } from '../requirements.ts';
import { isLong, record, times } from './table.ts';

const CHILD = join(import.meta.dirname, 'acknowledging-child.ts');
const SAMPLES_PER_LIFE = 100;
/**
 * With more open than this, a life first works off what is: devices send it again and again, and the broker keeps all of
 * it, so that lives which are too short would only make it more.
 */
const MAX_OPEN = 200;
/** The moment of the kill falls anywhere while the samples of this life come, or after them. */
const MAX_LIFE_MS = 400;

/** In a file of ours, what MQTT.js still uses of Node.js would be told at each start. */
const NO_WARNINGS = ['--no-deprecation'];
/** Side by side: a life is mostly waiting. */
const SITES = times(1, 4);
const LIVES = times(5, 1_000);

/** A broker, devices with samples, and a process that stores and acknowledges them, again and again. */
class Site {
  readonly #mosquitto: Mosquitto;
  readonly #box: Service;
  readonly #child: string;
  readonly #store: string;

  constructor(mosquitto: Mosquitto, box: Service, child: string, store: string) {
    this.#mosquitto = mosquitto;
    this.#box = box;
    this.#child = child;
    this.#store = store;
  }

  /** Starts the process, lets samples come, and kills it somewhere in the middle. */
  async live(): Promise<void> {
    const child = await this.#start();
    const ended = once(child, 'exit');
    await this.#atMostOpen(MAX_OPEN);
    void this.#box.publishSamples(SAMPLES_PER_LIFE);
    await wait(Math.random() * MAX_LIFE_MS);
    child.kill('SIGKILL');
    await ended;
  }

  /** A last life, until every sample is acknowledged. @returns keys of the samples, and the lines of the store */
  async finish(): Promise<{ samples: string[]; lines: string[] }> {
    const child = await this.#start();
    await this.#atMostOpen(0);
    child.kill('SIGKILL');
    const keys = [...this.#box.samples.all].filter(([, { ackable }]) => ackable).map(([key]) => key);
    return { samples: keys, lines: (await readFile(this.#store, 'utf8')).split('\n').slice(0, -1) };
  }

  async close(): Promise<void> {
    await this.#box.close();
    await this.#mosquitto.stop();
  }

  async #atMostOpen(count: number): Promise<void> {
    const { samples, events } = this.#box;
    while (samples.unacknowledgedCount > count) {
      await once(events, 'acknowledged');
    }
  }

  async #start() {
    const child = fork(this.#child, [this.#mosquitto.url, this.#store], {
      execArgv: NO_WARNINGS,
      stdio: 'inherit',
    });
    await once(child, 'message');
    return child;
  }
}

describe('timestamped samples that are stored and then acknowledged', function () {
  this.timeout(isLong ? 0 : 60_000);
  let folder: string;
  const sites: Site[] = [];

  before(async function () {
    requirePrograms(this, 'mosquitto');
    folder = await mkdtemp(join(tmpdir(), 'mt-kills-'));
    // A thousand starts: in one plain file they take a fraction of the time.
    const child = join(folder, 'child.cjs');
    await build({ entryPoints: [CHILD], outfile: child, bundle: true, platform: 'node', logLevel: 'error' });
    for (let site = 0; site < SITES; site++) {
      sites.push(await openSite(child, join(folder, `store-${site}`)));
    }
  });
  after(async () => {
    await Promise.all(sites.map((site) => site.close()));
    await rm(folder, { recursive: true, force: true });
  });

  it('are never lost, wherever a SIGKILL falls', async () => {
    const ends = await Promise.all(
      sites.map(async (site) => {
        for (let life = 0; life < LIVES / SITES; life++) {
          await site.live();
        }
        return site.finish();
      }),
    );
    const samples = ends.flatMap((end) => end.samples);
    const stored = ends.map(({ lines }) => new Set(lines));
    const lost = ends.flatMap((end, site) => end.samples.filter((key) => !stored[site]!.has(key)));
    const written = ends.reduce((sum, { lines }) => sum + lines.length, 0);
    record({
      fault: 'engine killed (SIGKILL), store then acknowledge',
      times: LIVES,
      reports: {
        sent: samples.length,
        arrived: samples.length - lost.length,
        lost: lost.length,
        duplicated: written - stored.reduce((sum, { size }) => sum + size, 0),
      },
    });
    assert.deepEqual(lost, []);
  });
});

async function openSite(child: string, store: string): Promise<Site> {
  await writeFile(store, '');
  const mosquitto = await startMosquitto(DURABLE);
  const box = await startService({
    rest: false,
    brokerUrl: mosquitto.url,
    rate: 0,
    delay: 0,
    gateways: 4,
    ackTimeout: 1_000,
    historyLimit: 1_000_000,
    sampleLimit: 1_000_000,
  });
  return new Site(mosquitto, box, child, store);
}
