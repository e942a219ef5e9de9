// A real RabbitMQ with its MQTT plugin, where one is installed: on free ports, its files in a folder of its own.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, type Mosquitto } from './mosquitto.ts';
import { findProgram } from './requirements.ts';

export interface RabbitMq extends Omit<Mosquitto, 'port' | 'publish'> {
  /** Runs rabbitmqctl. */
  control(...args: string[]): Promise<void>;
}

/** Where packages of distributions put it. */
const RELEASES = '/usr/lib/rabbitmq/lib';

/**
 * The program, or undefined. Debian's command in the PATH changes the user and keeps to the system's folders; the
 * script that it calls does neither.
 */
export function findRabbitMq(): string | undefined {
  if (findProgram('epmd') === undefined) {
    return undefined;
  }
  const releases = existsSync(RELEASES) ? readdirSync(RELEASES) : [];
  const scripts = releases.map((release) => join(RELEASES, release, 'sbin/rabbitmq-server'));
  return scripts.find(existsSync) ?? findProgram('rabbitmq-server');
}

/** Keeps what comes for a persistent session on disk before it acknowledges it. Everybody may come in. */
export async function startRabbitMq(): Promise<RabbitMq> {
  const [port, epmdPort, distributionPort] = [await freePort(), await freePort(), await freePort()];
  const folder = await mkdtemp(join(tmpdir(), 'rabbitmq-'));
  await writeFile(join(folder, 'plugins'), '[rabbitmq_mqtt].\n');
  const config = ['listeners.tcp = none', `mqtt.listeners.tcp.1 = 127.0.0.1:${port}`];
  await writeFile(join(folder, 'rabbitmq.conf'), `${config.join('\n')}\n`);
  const env = {
    ...process.env,
    HOME: folder,
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: `${epmdPort}`,
    RABBITMQ_DIST_PORT: `${distributionPort}`,
    RABBITMQ_NODENAME: `mt${port}@localhost`,
    RABBITMQ_MNESIA_BASE: join(folder, 'store'),
    RABBITMQ_LOG_BASE: folder,
    RABBITMQ_LOGS: '-',
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
    // Erlang's threads look for work all the time else, on cores that other tests need.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+sbwt none +sbwtdcpu none +sbwtdio none',
  };
  // The one that Erlang starts by itself would stay.
  const epmd = spawn(findProgram('epmd') as string, [], { env, stdio: 'ignore' });
  await once(epmd, 'spawn');
  let child = await run(env);
  const end = async (signal: NodeJS.Signals) => {
    const ended = child.exitCode !== null || child.signalCode !== null ? undefined : once(child, 'exit');
    signalAll(child, signal);
    await ended;
  };
  return {
    url: `mqtt://127.0.0.1:${port}`,
    control: async (...args) => {
      const program = join(dirname(findRabbitMq() as string), 'rabbitmqctl');
      await promisify(execFile)(program, ['-n', env.RABBITMQ_NODENAME, ...args], { env });
    },
    kill: () => end('SIGKILL'),
    shutDown: () => end('SIGTERM'),
    freeze: () => signalAll(child, 'SIGSTOP'),
    thaw: () => signalAll(child, 'SIGCONT'),
    start: async () => {
      child = await run(env);
    },
    stop: async () => {
      await end('SIGKILL');
      const ended = once(epmd, 'exit');
      if (epmd.kill()) {
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The broker is a child of its script: both form a group of their own. */
function signalAll({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(pid as number), signal);
  } catch {
    // The group has ended.
  }
}

async function run(env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const child = spawn(findRabbitMq() as string, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const leave = () => signalAll(child, 'SIGKILL');
  process.once('exit', leave);
  child.once('exit', () => process.off('exit', leave));
  let log = '';
  await new Promise<void>((resolve, reject) => {
    const add = (text: string) => {
      log = (log + text).slice(-4000);
      if (log.includes('Server startup complete')) {
        resolve();
      }
    };
    child.stdout.setEncoding('utf8').on('data', add);
    child.stderr.setEncoding('utf8').on('data', add);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`RabbitMQ ended with ${code}: ${log}`)));
  });
  return child;
}
