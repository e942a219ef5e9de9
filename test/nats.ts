// A real NATS server with JetStream and its MQTT listener: on free ports, its files in a folder of its own.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './mosquitto.ts';
import { findProgram } from './requirements.ts';

export interface Nats {
  url: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The users of a server that lets everybody in. @param denied subjects that nobody may subscribe */
function everybody(denied: readonly string[]): string {
  const permissions = `{ publish: ">", subscribe: { allow: ">", deny: ${JSON.stringify(denied)} } }`;
  return `authorization { users: [ { user: any, password: any, permissions: ${permissions} } ] }`;
}

/**
 * @param authorization that block of its configuration; without it everybody may come in
 * @param ackWait how long it waits for an acknowledgement before it sends again
 */
export async function startNats(
  denied: readonly string[] = [],
  authorization?: string,
  ackWait = '30s',
): Promise<Nats> {
  const [port, natsPort] = [await freePort(), await freePort()];
  const folder = await mkdtemp(join(tmpdir(), 'nats-'));
  const config = join(folder, 'nats.conf');
  await writeFile(
    config,
    [
      'server_name: test',
      `listen: "127.0.0.1:${natsPort}"`,
      `jetstream { store_dir: ${JSON.stringify(folder)} }`,
      `mqtt { listen: "127.0.0.1:${port}", ack_wait: "${ackWait}"${authorization ? '' : ', no_auth_user: any'} }`,
      authorization ?? everybody(denied),
      '',
    ].join('\n'),
  );
  let child = await run(config);
  const kill = async () => {
    const ended = child.exitCode !== null || child.signalCode !== null ? undefined : once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url: `mqtt://127.0.0.1:${port}`,
    kill,
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
  const child = spawn(findProgram('nats-server') ?? 'nats-server', ['-c', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const leave = () => child.kill('SIGKILL');
  process.once('exit', leave);
  child.once('exit', () => process.off('exit', leave));
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-4000);
      if (log.includes('Server is ready')) {
        resolve();
      }
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`nats-server ended with ${code}: ${log}`)));
  });
  return child;
}
