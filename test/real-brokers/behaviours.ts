// What the MQTT half needs of a broker, one row each: tried at every real broker, and told in docs/brokers.md.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt';
import {
  type BrokerLimits,
  type BrokerProfileName,
  brokerLimits,
} from '../../src/protocol/broker-profiles.ts';
import type { Session } from '../../src/session.ts';
import type { MqttSettings } from '../../src/settings.ts';
import type { ProfileName } from '../scripted-broker/profiles.ts';
import { ALL, Collector, openSession, reached } from '../session.ts';
import { type RealBroker, sampleOf } from './subjects.ts';

const G = 'c0141f68fc3d';
const D = 'd00000000001';
const TIME = '2026-01-01T00:00:00.000Z';
const reportTopic = (rest: string, gateway = G) => `mt/gateway/${gateway}/device/${D}/${rest}`;
/** Milliseconds for one behaviour, which takes a fraction of it where it works. */
const PATIENCE_MS = 12_000;
/** Milliseconds within which nothing has come where nothing will. */
const SILENCE_MS = 1_500;

/** What a behaviour works with; everything is closed after it. */
class Ground {
  readonly broker: RealBroker;
  readonly #limits: BrokerLimits;
  readonly #sessions: Session[] = [];
  readonly #peers: MqttClient[] = [];

  constructor(broker: RealBroker, profile: BrokerProfileName) {
    this.broker = broker;
    this.#limits = brokerLimits(profile, { maxSubscriptions: 0, maxUnacknowledged: 0 });
  }

  open(changes: Partial<MqttSettings> = {}, url = this.broker.url): Session {
    const session = openSession(url, { limits: this.#limits, ...changes });
    this.#sessions.push(session);
    return session;
  }

  /** A session that receives every report. */
  async listening(changes: Partial<MqttSettings> = {}, url = this.broker.url, filter = ALL) {
    const session = this.open(changes, url);
    const collector = new Collector();
    const connected = reached(session, 'connected');
    session.subscribe(filter, collector);
    await connected;
    return { session, collector };
  }

  /** A client that is not ours, such as a gateway. */
  async peer(options: IClientOptions = {}): Promise<MqttClient> {
    const peer = await connectAsync(this.broker.url, { reconnectPeriod: 0, ...options });
    peer.on('error', () => {});
    this.#peers.push(peer);
    return peer;
  }

  /** Gateways that answer every request. */
  async gateways(qos: 0 | 1 | 2, size = 0): Promise<MqttClient> {
    const peer = await this.peer();
    peer.on('message', (topic, payload) => {
      const { id } = JSON.parse(payload.toString()) as { id: string };
      const body = { id, time: TIME, status: 0, value: '03040100', extra: 'x'.repeat(size) };
      peer.publish(topic.replace('/request/', '/response/'), JSON.stringify(body), { qos });
    });
    await peer.subscribeAsync('mt/gateway/+/request/#', { qos });
    return peer;
  }

  async close(): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.close([])));
    for (const peer of this.#peers) {
      peer.end(true);
    }
  }
}

export interface Behaviour {
  name: string;
  /** Why a broker does not do it; it is tried all the same. */
  lacks?: Partial<Record<ProfileName, string>>;
  /** What it is tried with, which the type of a broker may forbid. */
  topicPrefix?: string;
  /** Milliseconds, where more is needed than for the others. */
  patience?: number;
  /** Undefined: everywhere. */
  needs?: 'secure' | 'webSocket' | 'denied';
  run(ground: Ground): Promise<void>;
}

const KINDS = [
  'heartbeat',
  'dfu',
  'rssi',
  'property',
  'measurement',
  'measurement-error',
  'event',
  'timestamped',
  'other',
];

/** Publishes, then a heartbeat as the last one, and checks that each came once. */
async function arrivesOnce(ground: Ground, changes: Partial<MqttSettings>, topics: [string, unknown][]) {
  const { collector } = await ground.listening(changes);
  const peer = await ground.peer();
  const qos = changes.reportQos ?? 1;
  const sent: [string, unknown][] = [
    ...topics,
    [reportTopic('heartbeat'), { time: TIME, seq: 255, status: 0 }],
  ];
  for (const [topic, payload] of sent) {
    await peer.publishAsync(topic, JSON.stringify(payload), { qos });
  }
  await collector.until(({ reports }) => reports.some(({ seq }) => seq === 255));
  await collector.until(({ reports }) => reports.length >= sent.length);
  assert.equal(collector.reports.length, sent.length);
}

const heartbeat = (seq: number): [string, unknown] => [
  reportTopic('heartbeat'),
  { time: TIME, seq, status: 0 },
];

async function answered(session: Session, gateways: readonly string[]): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const requests = gateways.map((gateway) =>
    session.request('read', { gateway, identifier: '8001' }, { signal }),
  );
  assert.equal((await Promise.all(requests)).length, gateways.length);
}

const macs = (count: number) =>
  Array.from({ length: count }, (_, n) => `c0141f68${n.toString(16).padStart(4, '0')}`);

const NO_QOS_2 = {
  NATS: 'QoS 2 comes with NATS 2.10',
  'AWS IoT': 'QoS 0 and 1',
  'Azure Event Grid': 'QoS 0 and 1',
};
const NO_VERSION_5 = { NATS: 'MQTT 3.1.1 only', RabbitMQ: 'MQTT 5 comes with RabbitMQ 3.13' };

export const BEHAVIOURS: Behaviour[] = [
  ...KINDS.map((kind) => ({
    name: `a report of kind ${kind} arrives once`,
    run: (ground: Ground) => {
      const { topic, payload } = sampleOf(kind);
      return arrivesOnce(ground, {}, [[topic, payload]]);
    },
  })),
  { name: 'reports with QoS 0', run: (ground) => arrivesOnce(ground, { reportQos: 0 }, [heartbeat(1)]) },
  {
    name: '200 reports with QoS 1, each once',
    run: (ground) =>
      arrivesOnce(
        ground,
        {},
        Array.from({ length: 200 }, (_, seq) => heartbeat(seq)),
      ),
  },
  {
    name: 'reports with QoS 2',
    lacks: NO_QOS_2,
    run: (ground) => arrivesOnce(ground, { reportQos: 2 }, [heartbeat(1)]),
  },
  ...([0, 1, 2] as const).map((requestQos) => ({
    name: `a request with QoS ${requestQos} is answered`,
    ...(requestQos === 2 && { lacks: NO_QOS_2 }),
    async run(ground: Ground) {
      await ground.gateways(requestQos);
      await answered(ground.open({ requestQos }), [G]);
    },
  })),
  {
    name: '40 requests to 5 gateways at a time are answered',
    async run(ground) {
      await ground.gateways(1);
      await answered(
        ground.open(),
        macs(40).map((_, n) => macs(5)[n % 5] as string),
      );
    },
  },
  {
    name: 'requests to 60 gateways are answered',
    async run(ground) {
      await ground.gateways(1);
      await answered(ground.open({ requestTimeout: 10_000 }), macs(60));
    },
  },
  {
    name: 'a retained report comes with the subscription, marked as one',
    lacks: {
      RabbitMQ: 'keeps them for filters without wildcards only',
      'Azure Event Grid': 'keeps none',
    },
    async run(ground) {
      const peer = await ground.peer();
      const topic = reportTopic('heartbeat', 'c0141f68fc99');
      const [, payload] = heartbeat(9);
      await peer.publishAsync(topic, JSON.stringify(payload), { qos: 1, retain: true });
      try {
        const { collector } = await ground.listening();
        await collector.until(({ reports }) => reports.some(({ retained }) => retained === true));
      } finally {
        await peer.publishAsync(topic, '', { qos: 1, retain: true });
      }
    },
  },
  {
    name: 'a report of 100 kB arrives',
    run: (ground) =>
      arrivesOnce(ground, {}, [
        [reportTopic('property-decoded/note'), { time: TIME, value: 'x'.repeat(100_000) }],
      ]),
  },
  {
    name: 'an answer of 100 kB arrives',
    async run(ground) {
      await ground.gateways(1, 100_000);
      await answered(ground.open(), [G]);
    },
  },
  {
    name: 'a persistent session keeps reports of QoS 1 while the client is away',
    async run(ground) {
      const settings = { persistent: true, clientId: `mt-keeps-${process.pid}` };
      const first = await ground.listening(settings);
      await first.session.close();
      const peer = await ground.peer();
      for (const seq of [1, 2, 3]) {
        const [topic, payload] = heartbeat(seq);
        await peer.publishAsync(topic, JSON.stringify(payload), { qos: 1 });
      }
      const { collector } = await ground.listening(settings);
      await collector.until(({ reports }) => reports.length >= 3);
      assert.deepEqual(
        collector.reports.map(({ seq }) => seq),
        [1, 2, 3],
      );
      await ground.peer({ clientId: settings.clientId, clean: true });
    },
  },
  {
    name: 'comes back after another client has taken the client id',
    async run(ground) {
      const clientId = `mt-taken-${process.pid}`;
      const { session, collector } = await ground.listening({ clientId });
      const lost = reached(session, 'waiting');
      const other = await ground.peer({ clientId });
      await lost;
      const back = reached(session, 'connected');
      other.end(true);
      await back;
      const [topic, payload] = heartbeat(7);
      await (await ground.peer()).publishAsync(topic, JSON.stringify(payload), { qos: 1 });
      await collector.until(({ reports }) => reports.length === 1);
    },
  },
  {
    name: 'goes on receiving while the flow changes its filters',
    async run(ground) {
      const { session, collector } = await ground.listening({}, undefined, { ...ALL, gateways: [G] });
      const added = new Collector();
      const peer = await ground.peer();
      session.subscribe({ ...ALL, gateways: [macs(1)[0] as string] }, added);
      let seq = 0;
      while (added.reports.length === 0) {
        const payload = JSON.stringify(heartbeat(seq++ % 256)[1]);
        await peer.publishAsync(reportTopic('heartbeat'), payload, { qos: 1 });
        await peer.publishAsync(reportTopic('heartbeat', macs(1)[0]), payload, { qos: 1 });
      }
      await collector.until(({ reports }) => reports.length === seq);
    },
  },
  {
    name: '60 topic filters at a time',
    async run(ground) {
      const filter = { ...ALL, gateways: macs(60) };
      const { collector } = await ground.listening({}, undefined, filter);
      const peer = await ground.peer();
      for (const gateway of macs(60)) {
        await peer.publishAsync(reportTopic('heartbeat', gateway), JSON.stringify(heartbeat(1)[1]), {
          qos: 1,
        });
      }
      await collector.until(({ reports }) => reports.length === 60);
    },
  },
  {
    name: 'what has waited for two crossing subscriptions comes once',
    async run(ground) {
      const settings = { persistent: true, clientId: `mt-crossing-${process.pid}` };
      const open = async () => {
        const session = ground.open(settings);
        const connected = reached(session, 'connected');
        const [gateway, kind] = [new Collector(), new Collector()];
        session.subscribe({ ...ALL, gateways: [G] }, gateway);
        session.subscribe({ ...ALL, kinds: ['heartbeat'] }, kind);
        await connected;
        return { session, collectors: [gateway, kind] };
      };
      const before = await open();
      await before.session.close();
      const peer = await ground.peer();
      const publish = async (seq: number) => {
        const [topic, payload] = heartbeat(seq);
        await peer.publishAsync(topic, JSON.stringify(payload), { qos: 1 });
      };
      for (let seq = 0; seq < 100; seq++) {
        await publish(seq);
      }
      const { collectors } = await open();
      await Promise.all(collectors.map((each) => each.until(({ reports }) => reports.length >= 100)));
      await wait(SILENCE_MS);
      for (const { reports } of collectors) {
        assert.deepEqual(
          reports.map(({ seq }) => seq),
          Array.from({ length: 100 }, (_, seq) => seq),
        );
      }
    },
  },
  {
    name: 'a shared group gives each report to one of two clients',
    lacks: { NATS: '$share is a topic like any other', RabbitMQ: '$share is a topic like any other' },
    async run(ground) {
      const [one, two] = [
        await ground.listening({ sharedGroup: 'site' }),
        await ground.listening({ sharedGroup: 'site' }),
      ];
      const peer = await ground.peer();
      for (let seq = 0; seq < 20; seq++) {
        const [topic, payload] = heartbeat(seq);
        await peer.publishAsync(topic, JSON.stringify(payload), { qos: 1 });
      }
      const count = () => one.collector.reports.length + two.collector.reports.length;
      const done = () => count() >= 20;
      await Promise.race([one.collector.until(done), two.collector.until(done)]);
      assert.equal(count(), 20);
    },
  },
  {
    name: 'a forbidden topic filter is named, and the others go on',
    needs: 'denied',
    lacks: { Mosquitto: 'grants it and delivers nothing' },
    async run(ground) {
      const gateway = ground.broker.denied as string;
      const session = ground.open();
      // The others are granted only then.
      const limited = new Promise<void>((resolve) => {
        session.onState(({ mqtt }) => mqtt.name === 'limited' && mqtt.isSettled && resolve());
      });
      const collector = new Collector();
      session.subscribe({ ...ALL, gateways: [gateway, G] }, collector);
      await limited;
      assert.ok(JSON.stringify(session.state.mqtt).includes(gateway));
      const [topic, payload] = heartbeat(1);
      await (await ground.peer()).publishAsync(topic, JSON.stringify(payload), { qos: 1 });
      await collector.until(({ reports }) => reports.length === 1);
    },
  },
  {
    name: 'MQTT 5',
    lacks: NO_VERSION_5,
    run: (ground) => arrivesOnce(ground, { protocolVersion: 5 }, [heartbeat(1)]),
  },
  {
    name: 'a quiet connection lives on with a keep alive of 2 s',
    async run(ground) {
      const { session } = await ground.listening({ keepalive: 2 });
      let losses = 0;
      session.onState(({ mqtt }) => {
        losses += mqtt.name === 'waiting' ? 1 : 0;
      });
      // The time is what is tried: a broker ends a silent connection after one and a half times the keep alive.
      await wait(4_500);
      assert.equal(losses, 0);
    },
  },
  {
    name: 'a topic prefix of two levels',
    topicPrefix: 'site/7',
    run: (ground) => arrivesAt(ground, 'site/7'),
  },
  {
    name: 'a topic prefix with a dot',
    lacks: { NATS: 'dots in topics come with NATS 2.10', RabbitMQ: 'makes a slash of a dot' },
    run: (ground) => arrivesAt(ground, 'v1.0'),
  },
  {
    name: 'a topic prefix with a space',
    lacks: { NATS: 'ends the connection' },
    run: (ground) => arrivesAt(ground, 'my site'),
  },
  {
    name: 'a client certificate over TLS',
    needs: 'secure',
    async run(ground) {
      const { url, tls } = ground.broker.secure!;
      await ground.listening({ tls }, url);
    },
  },
  {
    name: 'MQTT over WebSocket',
    needs: 'webSocket',
    run: async (ground) => void (await ground.listening({}, ground.broker.webSocket)),
  },
  {
    name: 'comes back after the broker was killed and started again',
    // RabbitMQ takes ten seconds to start on an idle machine.
    patience: 60_000,
    async run(ground) {
      const { session, collector } = await ground.listening();
      const lost = reached(session, 'waiting');
      await ground.broker.kill();
      await lost;
      const back = reached(session, 'connected');
      await ground.broker.start();
      await back;
      const [topic, payload] = heartbeat(8);
      await (await ground.peer()).publishAsync(topic, JSON.stringify(payload), { qos: 1 });
      await collector.until(({ reports }) => reports.length === 1);
    },
  },
];

async function arrivesAt(ground: Ground, topicPrefix: string): Promise<void> {
  const [topic, payload] = heartbeat(1);
  const { collector } = await ground.listening({ topicPrefix });
  await (await ground.peer()).publishAsync(`${topicPrefix}/${topic}`, JSON.stringify(payload), { qos: 1 });
  await collector.until(({ reports }) => reports.length === 1);
}

/** Undefined where the broker has no such listener here; else whether it does what is expected, and why not. */
export async function tryBehaviour(
  { run, needs, lacks, patience = PATIENCE_MS }: Behaviour,
  broker: RealBroker,
  name: ProfileName,
  profile: BrokerProfileName,
): Promise<{ works: boolean; error?: unknown } | undefined> {
  if (needs && broker[needs] === undefined) {
    return undefined;
  }
  const ground = new Ground(broker, profile);
  const limit = new AbortController();
  const late = wait(lacks?.[name] === undefined ? patience : SILENCE_MS, undefined, {
    signal: limit.signal,
  }).then(() => {
    throw new Error('not in time');
  });
  try {
    await Promise.race([run(ground), late]);
    return { works: true };
  } catch (error) {
    return { works: false, error };
  } finally {
    limit.abort();
    late.catch(() => {});
    await ground.close();
  }
}
