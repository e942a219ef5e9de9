// The real brokers that the list of behaviours is run against: those that Debian has.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrokerProfileName } from '../../src/protocol/broker-profiles.ts';
import type { TlsSettings } from '../../src/settings.ts';
import { makeCertificates } from '../faults/certificates.ts';
import { freePort, startMosquitto } from '../mosquitto.ts';
import { startNats } from '../nats.ts';
import { findRabbitMq, startRabbitMq } from '../rabbitmq.ts';
import { findProgram } from '../requirements.ts';

/** A broker that runs. */
export interface RealBroker {
  url: string;
  /** Asks for a client certificate. */
  secure?: { url: string; tls: TlsSettings };
  webSocket?: string;
  /** A gateway whose reports nobody may subscribe. */
  denied?: string;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface Subject {
  /** What a user chooses for it in the service. */
  profile: BrokerProfileName;
  /** What of the optional parts of a broker it has here. */
  offers: readonly ('secure' | 'webSocket' | 'denied')[];
  isThere(): boolean;
  start(): Promise<RealBroker>;
}

export type SubjectName = 'Mosquitto' | 'NATS' | 'RabbitMQ';

const DENIED = 'ffffffffffff';

/** In the order of the table. */
export const SUBJECTS: Record<SubjectName, Subject> = {
  Mosquitto: {
    profile: 'any',
    offers: ['secure', 'webSocket', 'denied'],
    isThere: () => findProgram('mosquitto') !== undefined && findProgram('openssl') !== undefined,
    start: startWithAllListeners,
  },
  NATS: {
    profile: 'nats',
    offers: ['denied'],
    isThere: () => findProgram('nats-server') !== undefined,
    start: async () => ({ ...(await startNats([`mt.gateway.${DENIED}.>`])), denied: DENIED }),
  },
  RabbitMQ: {
    profile: 'rabbitmq',
    offers: ['denied'],
    isThere: () => findRabbitMq() !== undefined,
    start: startWithTopicPermissions,
  },
};

async function startWithAllListeners(): Promise<RealBroker> {
  const { ca, server, client } = await makeCertificates();
  const folder = await mkdtemp(join(tmpdir(), 'mosquitto-tls-'));
  for (const [name, text] of Object.entries({ ca, cert: server.cert, key: server.key })) {
    await writeFile(join(folder, name), text);
  }
  await writeFile(join(folder, 'acl'), `topic readwrite #\ntopic deny mt/gateway/${DENIED}/#\n`);
  const [securePort, webSocketPort] = [await freePort(), await freePort()];
  const broker = await startMosquitto([
    'set_tcp_nodelay true',
    `acl_file ${join(folder, 'acl')}`,
    `listener ${securePort} 127.0.0.1`,
    `cafile ${join(folder, 'ca')}`,
    `certfile ${join(folder, 'cert')}`,
    `keyfile ${join(folder, 'key')}`,
    'require_certificate true',
    `listener ${webSocketPort} 127.0.0.1`,
    'protocol websockets',
  ]);
  return {
    ...broker,
    secure: { url: `mqtts://localhost:${securePort}`, tls: { ca, ...client } },
    webSocket: `ws://127.0.0.1:${webSocketPort}`,
    denied: DENIED,
    stop: async () => {
      await broker.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startWithTopicPermissions(): Promise<RealBroker> {
  const broker = await startRabbitMq();
  const readable = `^(?!mt\\.gateway\\.${DENIED})`;
  await broker.control('set_topic_permissions', 'guest', 'amq.topic', '.*', readable);
  return { ...broker, denied: DENIED };
}

/** The first case of a kind's fixture. */
export function sampleOf(kind: string): { topic: string; payload: unknown } {
  const [first] = JSON.parse(readFileSync(`test/fixtures/reports/${kind}.json`, 'utf8')) as [
    { topic: string; payload: unknown },
  ];
  return first;
}
