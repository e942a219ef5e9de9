// Real brokers that let the user of docs/brokers.md do what the page says, and the gateways everything.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMosquitto } from '../mosquitto.ts';
import { startNats } from '../nats.ts';
import { startRabbitMq } from '../rabbitmq.ts';
import type { SubjectName } from './subjects.ts';

interface Login {
  username: string;
  password: string;
}

/** As the page calls the user. */
export const USER: Login = { username: 'node-red', password: 'secret' };
export const GATEWAYS: Login = { username: 'gateways', password: 'secret' };

export interface StrictBroker {
  url: string;
  stop(): Promise<void>;
}

/** The text to copy in a broker's chapter, with a password in the place of the dots. */
function rightsOf(name: SubjectName): string {
  const chapter = readFileSync('docs/brokers.md', 'utf8').split(`\n## ${name}\n`)[1]?.split('\n## ')[0] ?? '';
  const text = /^```\n(.*?)^```$/ms.exec(chapter)?.[1];
  if (text === undefined) {
    throw new Error(`docs/brokers.md has nothing to copy for ${name}`);
  }
  return text.replaceAll('"..."', `"${USER.password}"`);
}

export const STRICT_BROKERS: Record<SubjectName, () => Promise<StrictBroker>> = {
  async Mosquitto() {
    const folder = await mkdtemp(join(tmpdir(), 'mosquitto-rights-'));
    const file = join(folder, 'acl');
    await writeFile(file, `${rightsOf('Mosquitto')}\nuser ${GATEWAYS.username}\ntopic readwrite #\n`);
    const broker = await startMosquitto([`acl_file ${file}`]);
    const stop = async () => {
      await broker.stop();
      await rm(folder, { recursive: true, force: true });
    };
    return { ...broker, stop };
  },

  NATS() {
    const { username, password } = GATEWAYS;
    const gateways = `{ user: ${username}, password: ${password} },`;
    return startNats([], rightsOf('NATS').replace('users: [', `users: [ ${gateways}`));
  },

  async RabbitMQ() {
    const broker = await startRabbitMq();
    const { username, password } = GATEWAYS;
    await broker.control('add_user', username, password);
    await broker.control('set_permissions', username, '.*', '.*', '.*');
    for (const line of rightsOf('RabbitMQ').trim().split('\n')) {
      const [, ...args] = line.match(/"[^"]*"|\S+/g) ?? [];
      await broker.control(...args.map((arg) => arg.replace(/^"(.*)"$/, '$1')));
    }
    return broker;
  },
};
