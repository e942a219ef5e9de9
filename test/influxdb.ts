// A real InfluxDB on a free port, which keeps what it has over a kill.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from './mosquitto.ts';

export interface InfluxDb {
  url: string;
  /** Creates a database, after that of an earlier test was dropped. */
  create(name: string): Promise<void>;
  /** Rows of the first series of a query, as objects. */
  query(database: string, text: string): Promise<Record<string, unknown>[]>;
  /** Ends the process at once; `start` brings it back on the same port. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops the process without closing anything, until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Ends it for good and removes its files. */
  stop(): Promise<void>;
}

interface Answer {
  results: { error?: string; series?: { columns: string[]; values: unknown[][] }[] }[];
}

export async function startInfluxDb(): Promise<InfluxDb> {
  const [port, backup] = [await freePort(), await freePort()];
  const folder = await mkdtemp(join(tmpdir(), 'influxdb-'));
  const config = join(folder, 'influxdb.conf');
  await writeFile(
    config,
    [
      'reporting-disabled = true',
      `bind-address = "127.0.0.1:${backup}"`,
      `[meta]\ndir = "${folder}/meta"`,
      `[data]\ndir = "${folder}/data"\nwal-dir = "${folder}/wal"`,
      `[http]\nbind-address = "127.0.0.1:${port}"`,
      '[monitor]\nstore-enabled = false',
      '',
    ].join('\n'),
  );
  const url = `http://127.0.0.1:${port}`;
  let child = await run(config, url);
  const kill = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url,
    async create(name) {
      await ask(url, '', `DROP DATABASE "${name}"`);
      await ask(url, '', `CREATE DATABASE "${name}"`);
    },
    query: (database, text) => ask(url, database, text),
    kill,
    start: async () => {
      child = await run(config, url);
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        await kill();
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function run(config: string, url: string): Promise<ChildProcess> {
  const child = spawn('influxd', ['-config', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const failed = new Promise<never>((_resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`influxd ended with ${code}: ${log}`)));
  });
  failed.catch(() => {});
  await Promise.race([failed, answers(url)]);
  return child;
}

/** It says nowhere that it listens now. */
async function answers(url: string): Promise<void> {
  for (;;) {
    try {
      await fetch(`${url}/ping`);
      return;
    } catch {
      await setTimeout(100);
    }
  }
}

async function ask(url: string, db: string, q: string): Promise<Record<string, unknown>[]> {
  const response = await fetch(`${url}/query`, {
    method: 'POST',
    body: new URLSearchParams({ db, q, epoch: 'ms' }),
  });
  const { results } = (await response.json()) as Answer;
  const [result] = results;
  if (result?.error) {
    throw new Error(result.error);
  }
  const [{ columns, values } = { columns: [], values: [] }] = result?.series ?? [];
  return values.map((row) => Object.fromEntries(row.map((value, index) => [columns[index] ?? '', value])));
}
