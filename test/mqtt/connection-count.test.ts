// At every limit of a broker: how many connections are made in half a minute, and whether reports come at its end.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { SILENT } from '../../src/log.ts';
import { Session, type SessionState } from '../../src/session.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import type { BrokerOptions } from '../scripted-broker/options.ts';
import { ALL, Collector, mqttSettings, openSession } from '../session.ts';
import { answerAll, G, G2, heartbeat, reportTopic, responseFilter } from './scripted.ts';

const COUNTED_MS = 30_000;
const ASK_EVERY_MS = 2_000;
/** Attempts at a broker that cannot be used: at once, then with a wait that doubles from 1 s. */
const MAX_UNUSABLE = 6;

const mac = (first: string, n: number) => `${first}${n.toString(16).padStart(11, '0')}`;
const gateways = (count: number) => [G, ...Array.from({ length: count - 1 }, (_, n) => mac('c', n))];
const known = (limits: Partial<MqttSettings['limits']>) => ({
  limits: { ...mqttSettings('').limits, ...limits },
});

interface Limit {
  title: string;
  broker: Partial<BrokerOptions>;
  settings?: Partial<MqttSettings>;
  /** Gateways whose reports are asked for; left out: all with one filter. */
  heard?: readonly string[];
  /** Gateways that are asked all the time, each so many times at once. */
  asked?: readonly string[];
  requestsAtOnce?: number;
  maxConnections: number;
  /** False: no report can come, and the state says why. */
  isUsable?: boolean;
}

const LIMITS: readonly Limit[] = [
  {
    title: '8 filters in a SUBSCRIBE',
    broker: { maxFiltersPerSubscribe: 8 },
    heard: gateways(60),
    maxConnections: 2,
  },
  {
    title: 'packets of 600 bytes',
    broker: { maxPacketSize: 600, announcesReceiveMaximum: false },
    heard: gateways(60),
    maxConnections: 3,
  },
  {
    title: 'responses of one gateway forbidden by ending the connection',
    broker: { refuses: (filter) => filter === responseFilter(G2), refusesBy: 'close' },
    asked: [G, G2],
    maxConnections: 5,
  },
  {
    title: 'responses of one gateway refused',
    broker: { refuses: (filter) => filter === responseFilter(G2) },
    asked: [G, G2],
    maxConnections: 1,
  },
  {
    title: '50 subscriptions, a further one ends the connection',
    broker: { maxSubscriptions: 50, refusesBy: 'close' },
    asked: gateways(60),
    maxConnections: 5,
  },
  {
    title: '50 subscriptions, a further one is refused',
    broker: { maxSubscriptions: 50 },
    settings: { protocolVersion: 5 },
    asked: gateways(60),
    maxConnections: 1,
  },
  {
    title: 'a receive maximum of 10',
    broker: { receiveMaximum: 10 },
    settings: { protocolVersion: 5 },
    asked: gateways(20),
    requestsAtOnce: 8,
    maxConnections: 1,
  },
  {
    title: 'a receive maximum of 10 that only the settings know',
    broker: { receiveMaximum: 10 },
    settings: known({ maxUnacknowledged: 10 }),
    asked: gateways(20),
    requestsAtOnce: 8,
    maxConnections: 1,
  },
  {
    title: 'QoS 1',
    broker: { maxQos: 1 },
    settings: { protocolVersion: 5, requestQos: 2, reportQos: 2 },
    asked: [G],
    maxConnections: 1,
  },
  {
    title: 'QoS 1, shown only by what is granted',
    broker: { maxQos: 1 },
    settings: { requestQos: 2, reportQos: 2 },
    asked: [G],
    maxConnections: 1,
  },
  {
    title: 'no shared subscriptions, taken for plain topics',
    broker: { sharedSubscriptions: 'plain' },
    settings: { sharedGroup: 'count' },
    maxConnections: 1,
    isUsable: false,
  },
  {
    title: 'shared subscriptions refused',
    broker: { sharedSubscriptions: 'refused' },
    settings: { sharedGroup: 'count' },
    maxConnections: 1,
    isUsable: false,
  },
  {
    title: 'no SUBACK',
    broker: { withhold: ['suback'] },
    maxConnections: 1,
    isUsable: false,
  },
  {
    title: 'no acknowledgement of publishes',
    broker: { withhold: ['puback'] },
    asked: gateways(5),
    maxConnections: 1,
  },
  {
    title: 'every filter of reports forbidden by ending the connection',
    broker: { refuses: (filter) => filter.includes('/device/'), refusesBy: 'close' },
    maxConnections: MAX_UNUSABLE,
    isUsable: false,
  },
  {
    title: 'a login that is refused',
    broker: { connackCode: 5 },
    maxConnections: 3,
    isUsable: false,
  },
  {
    title: 'MQTT 3.1.1 only',
    broker: { connackCode: ({ protocolVersion }) => (protocolVersion === 5 ? 0x84 : 0) },
    settings: { protocolVersion: 5 },
    maxConnections: MAX_UNUSABLE,
    isUsable: false,
  },
];

interface Run {
  broker: ScriptedBroker;
  session: Session;
  collector: Collector;
  connections: number;
}

/** Lets a service work at such a broker for half a minute. */
async function work(limit: Limit): Promise<Run> {
  const broker = await startScriptedBroker(limit.broker);
  answerAll(broker, ({ id }) => ({ id, value: '01' }));
  const settings = mqttSettings(broker.url, { ...limit.settings, requestTimeout: 5_000 });
  const session = new Session({ mqtt: settings }, SILENT);
  const collector = new Collector();
  session.subscribe({ ...ALL, gateways: [...(limit.heard ?? [])] }, collector);
  const { signal } = new AbortController();
  const ask = (gateway: string) =>
    session.request('read', { gateway, identifier: '8001' }, { signal }).catch(() => undefined);
  const askAll = () => {
    for (const gateway of limit.asked ?? []) {
      Array.from({ length: limit.requestsAtOnce ?? 1 }, () => ask(gateway));
    }
  };
  askAll();
  const asking = setInterval(askAll, ASK_EVERY_MS);
  await wait(COUNTED_MS);
  clearInterval(asking);
  // Others that run beside it may come to a port that was theirs.
  const own = broker.connections.filter(({ clientId }) => clientId === settings.clientId);
  return { broker, session, collector, connections: own.length };
}

/** The same at a web server. */
async function workElsewhere(): Promise<{ connections: number; mqtt: SessionState['mqtt'] }> {
  let connections = 0;
  const server = createServer((_, response) => response.end('no broker')).on('connection', () => {
    connections++;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = openSession(`mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`);
  session.subscribe(ALL, new Collector());
  await wait(COUNTED_MS);
  const { mqtt } = session.state;
  await session.close();
  server.closeAllConnections();
  server.close();
  return { connections, mqtt };
}

/** Resolves when the state says why no report comes. */
function told(session: Session): Promise<void> {
  return new Promise((resolve) => {
    session.onState(({ mqtt }) => 'reason' in mqtt && resolve());
  });
}

describe('in half a minute a service makes', function () {
  this.timeout(COUNTED_MS * 2);
  const runs = new Map<string, Run>();

  let elsewhere: Awaited<ReturnType<typeof workElsewhere>>;

  before(async () => {
    const counted = LIMITS.map(async (limit) => runs.set(limit.title, await work(limit)));
    [elsewhere] = await Promise.all([workElsewhere(), ...counted]);
  });
  const end = async ({ session, broker }: Run) => {
    await session.close();
    await broker.stop();
  };
  after(() => Promise.all([...runs.values()].map(end)));

  for (const limit of LIMITS) {
    const { title, maxConnections, isUsable = true } = limit;
    const outcome = isUsable ? 'and reports come' : 'and says why no report comes';
    it(`at most ${maxConnections} connections at a broker with ${title}, ${outcome}`, async function () {
      // What is tried again is counted again.
      if ((this.test as Mocha.Test & { currentRetry(): number }).currentRetry() > 0) {
        await end(runs.get(title)!);
        runs.set(title, await work(limit));
      }
      const { broker, session, collector, connections } = runs.get(title)!;
      assert.ok(connections > 0 && connections <= maxConnections, `${connections} connections`);
      if (isUsable) {
        broker.publish(reportTopic('heartbeat'), heartbeat(1));
        await collector.until(({ reports }) => reports.length === 1);
        return;
      }
      await told(session);
    });
  }

  it(`at most ${MAX_UNUSABLE} connections to what is no broker, and says so`, () => {
    const { connections, mqtt } = elsewhere;
    assert.ok(connections <= MAX_UNUSABLE, `${connections} connections`);
    assert.ok('reason' in mqtt && mqtt.reason.key === 'reason.notMqtt', JSON.stringify(mqtt));
  });
});
