// A real Mosquitto on a free port, and its own command line clients.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from './requirements.ts';

export interface Mosquitto {
  url: string;
  port: number;
  /** Publishes with mosquitto_pub, a client that is not ours. */
  publish(topic: string, payload: unknown, options?: { qos?: 0 | 1 | 2; retain?: boolean }): Promise<void>;
  /** Ends the process at once, as a crash would; `start` brings it back on the same port. */
  kill(): Promise<void>;
  /** Asks the process to end, as an administrator would: it writes its store first; `start` brings it back. */
  shutDown(): Promise<void>;
  /** Stops the process without closing anything, until `thaw`. */
  freeze(): void;
  thaw(): void;
  start(): Promise<void>;
  /** Ends it for good and removes its files. */
  stop(): Promise<void>;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  for (;;) {
    // Those above 32 767 are given to connections: what is down for a moment would find its own taken when it comes back.
    // Browsers and fetch refuse 10080, whatever listens there.
    const port = 10_081 + Math.floor(Math.random() * 20_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.close();
    if (isFree) {
      await once(server, 'close');
      return port;
    }
  }
}

/** Writes its store after every 500 changes, and keeps whatever comes for a client that is away; by default it keeps no more than 1 000 per client. */
export const DURABLE = [
  'persistence true',
  'autosave_on_changes true',
  'autosave_interval 500',
  'max_queued_messages 0',
  'set_tcp_nodelay true',
];

/** @param lines further lines of mosquitto.conf; without any `allow_anonymous false` everybody may come in. */
export async function startMosquitto(lines: string[] = [], givenPort?: number): Promise<Mosquitto> {
  const port = givenPort ?? (await freePort());
  const folder = await mkdtemp(join(tmpdir(), 'mosquitto-'));
  const config = join(folder, 'mosquitto.conf');
  const anonymous = lines.some((line) => line.startsWith('allow_anonymous')) ? [] : ['allow_anonymous true'];
  await writeFile(
    config,
    [
      `listener ${port} 127.0.0.1`,
      'persistence false',
      `persistence_location ${folder}/`,
      'log_dest stderr',
      'user root',
      ...anonymous,
      ...lines,
      '',
    ].join('\n'),
  );
  let child = await run(config);
  const end = async (signal: NodeJS.Signals) => {
    const ended = child.exitCode !== null || child.signalCode !== null ? undefined : once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  const kill = () => end('SIGKILL');
  return {
    url: `mqtt://127.0.0.1:${port}`,
    port,
    publish: (topic, payload, options = {}) => publish(port, topic, payload, options),
    kill,
    shutDown: () => end('SIGTERM'),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    start: async () => {
      child = await run(config);
    },
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function run(config: string): Promise<ChildProcess> {
  const child = spawn(findProgram('mosquitto') ?? 'mosquitto', ['-c', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-4000);
      if (/mosquitto version \S+ running/.test(log)) {
        resolve();
      }
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`mosquitto ended with ${code}: ${log}`)));
  });
  return child;
}

async function publish(
  port: number,
  topic: string,
  payload: unknown,
  { qos = 1, retain = false }: { qos?: 0 | 1 | 2; retain?: boolean },
): Promise<void> {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const message = text === '' ? ['-n'] : ['-m', text];
  const place = ['-h', '127.0.0.1', '-p', `${port}`, '-q', `${qos}`, '-t', topic];
  await promisify(execFile)(findProgram('mosquitto_pub') ?? 'mosquitto_pub', [
    ...place,
    ...message,
    ...(retain ? ['-r'] : []),
  ]);
}
