// A real PostgreSQL on a free port, with a login, which keeps what it has over a kill.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './mosquitto.ts';
import { findProgram, requireThat } from './requirements.ts';

const execute = promisify(execFile);

/** Where Debian puts it, by version and outside of every PATH. */
const RELEASES = '/usr/lib/postgresql';
/** It refuses to run as root: nobody's ids are the same on every Debian. */
const NOBODY = { uid: 65_534, gid: 65_534 };
const USER = 'collector';
const PASSWORD = 'it\'s a "test" ${HOME}';

export interface PostgreSql {
  port: number;
  user: string;
  password: string;
  /** Rows of a query, by psql. */
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Runs a statement that has no rows, by psql. */
  execute(text: string): Promise<void>;
  /** Ends all its processes at once, as a crash would; `start` brings it back on the same port. */
  kill(): Promise<void>;
  /** Ends it as an administrator would, who does not wait for clients; `start` brings it back. */
  shutDown(): Promise<void>;
  /** Does nothing where it runs. */
  start(): Promise<void>;
  /** Ends it for good and removes its files. */
  stop(): Promise<void>;
}

/** Whose its processes are; whoever runs the tests when nobody is named. */
interface Owner {
  uid?: number;
  gid?: number;
}

/** The folder of its programs, or undefined. */
function findBin(): string | undefined {
  const releases = existsSync(RELEASES) ? readdirSync(RELEASES) : [];
  const bins = releases.map((release) => join(RELEASES, release, 'bin'));
  return [...bins, ...(process.env.PATH ?? '').split(':')].find((bin) => existsSync(join(bin, 'initdb')));
}

/** To be called in a `before`: skips the tests where PostgreSQL is not installed, or fails in CI. */
export function requirePostgreSql(context: Mocha.Context): void {
  requireThat(context, findBin() !== undefined && findProgram('psql') !== undefined, 'postgresql');
}

export async function startPostgreSql(): Promise<PostgreSql> {
  const [bin, port] = [findBin() as string, await freePort()];
  const owner: Owner = process.getuid?.() === 0 ? NOBODY : {};
  const folder = await mkdtemp(join(tmpdir(), 'postgresql-'));
  const [data, secret] = [join(folder, 'data'), join(folder, 'password')];
  await writeFile(secret, PASSWORD);
  for (const path of [folder, secret]) {
    await chown(path, owner.uid ?? -1, owner.gid ?? -1);
  }
  const options = [`--username=${USER}`, `--pwfile=${secret}`, '--auth=scram-sha-256', '--no-sync'];
  await execute(join(bin, 'initdb'), [`--pgdata=${data}`, '--encoding=UTF8', '--locale=C', ...options], {
    ...owner,
    cwd: folder,
  });
  const run = () => runServer(join(bin, 'postgres'), data, folder, port, owner);
  let child = await run();
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    }
  };
  const psql = async (text: string) => {
    const place = ['--host=127.0.0.1', `--port=${port}`, `--username=${USER}`, '--dbname=postgres'];
    const env = { ...process.env, PGPASSWORD: PASSWORD, PGOPTIONS: '' };
    const how = ['--no-psqlrc', '--quiet', '--tuples-only', '--no-align', '--set=ON_ERROR_STOP=1'];
    const { stdout } = await execute('psql', [...place, ...how, `--command=${text}`], {
      env,
      maxBuffer: 2 ** 28,
    });
    return stdout;
  };
  return {
    port,
    user: USER,
    password: PASSWORD,
    query: async (text) =>
      JSON.parse(await psql(`SELECT coalesce(json_agg(found), '[]') FROM (${text}) AS found`)),
    execute: async (text) => void (await psql(text)),
    // Its children are told by the first process alone, which ends without writing anything.
    kill: () => end('SIGQUIT'),
    shutDown: () => end('SIGINT'),
    start: async () => {
      if (child.exitCode !== null || child.signalCode !== null) {
        child = await run();
      }
    },
    stop: async () => {
      await end('SIGQUIT');
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function runServer(
  program: string,
  data: string,
  folder: string,
  port: number,
  owner: Owner,
): Promise<ChildProcess> {
  // A kill of its process does not lose what the system has: without waiting for the disk the tests take less time.
  const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: folder, fsync: 'off' };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(program, ['-D', data, ...args], {
    ...owner,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const leave = () => void child.kill('SIGQUIT');
  process.once('exit', leave);
  child.once('exit', () => process.off('exit', leave));
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-4000);
      if (log.includes('database system is ready to accept connections')) {
        resolve();
      }
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code}: ${log}`)));
  });
  return child;
}
