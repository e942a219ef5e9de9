// What the tests of the MQTT half at the scripted broker share: a session there, addresses, a gateway's answers, and time.
import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { mock } from 'node:test';
import { connectAsync } from 'mqtt';
import type { IPublishPacket } from 'mqtt-packet';
import type { Session } from '../../src/session.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { openSession } from '../session.ts';
import { areSocketsQuiet } from '../sockets.ts';

export const G = 'c0141f68fc3d';
export const G2 = 'c0141f68fc3e';
export const D = 'd00000000001';
export const TIME = '2026-01-01T00:00:00.000Z';

/** The topic of a report. */
export const reportTopic = (suffix: string, gateway = G, device = D) =>
  `mt/gateway/${gateway}/device/${device}/${suffix}`;

export const responseFilter = (gateway = G) => `mt/gateway/${gateway}/response/#`;

/** A heartbeat that no other one is the same as. */
export const heartbeat = (n: number) => ({ time: TIME, seq: n % 256, status: 0, n });

/** More than any exchange with a broker that a test waits for takes. */
const ECHOES = 20;
/** Real milliseconds: an address where nobody answers keeps a socket connecting. */
const MAX_UNQUIET_MS = 2_000;

export interface Bench {
  broker: ScriptedBroker;
  open(changes?: Partial<MqttSettings>): Session;
}

/** A broker for the tests of a `describe`, and sessions that end with each of them. */
export function useScriptedBroker(): Bench {
  const sessions: Session[] = [];
  const bench = {
    open(changes: Partial<MqttSettings> = {}): Session {
      const session = openSession(bench.broker.url, changes);
      sessions.push(session);
      return session;
    },
  } as Bench;
  before(async () => {
    bench.broker = await startScriptedBroker();
  });
  after(() => bench.broker.stop());
  afterEach(async () => {
    await Promise.all(sessions.splice(0).map((session) => session.close()));
    await bench.broker.reset();
  });
  return bench;
}

let leftCount = 0;

/** What a process that was killed leaves at the broker. @returns its client id */
export async function leaveSession(broker: ScriptedBroker, filters: string[]): Promise<string> {
  const clientId = `mt-left-${process.pid}-${leftCount++}`;
  const earlier = await connectAsync(broker.url, { clientId, clean: false, reconnectPeriod: 0 });
  await earlier.subscribeAsync(filters, { qos: 1 });
  earlier.stream.destroy();
  await broker.until(({ openConnections }) => openConnections.length === 0);
  return clientId;
}

/** Every request that the broker has received. */
export function requests(broker: ScriptedBroker): { topic: string; body: Record<string, unknown> }[] {
  return broker
    .packets('publish')
    .filter(({ topic }) => topic.includes('/request/'))
    .map(({ topic, payload }) => ({ topic, body: JSON.parse(payload.toString()) }));
}

/** Answers each request as the handler says. @returns stops it */
export function answerAll(
  broker: ScriptedBroker,
  handler: (request: { topic: string; id: unknown; n: number }) => Record<string, unknown> | undefined,
): void {
  let n = 0;
  broker.options.intercept = (packet) => {
    if (packet.cmd !== 'publish' || !packet.topic.includes('/request/')) {
      return false;
    }
    const { topic, payload } = packet as IPublishPacket;
    const body = handler({ topic, id: JSON.parse(payload.toString()).id, n: n++ });
    if (body !== undefined) {
      setImmediate(() =>
        broker.publish(topic.replace('/request/', '/response/'), { time: TIME, status: 0, ...body }),
      );
    }
    return false;
  };
}

/** From now on time passes with `mock.timers.tick` only; call `restoreTime` afterwards. */
export function mockTime(now = 0): void {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now });
  const { now: moved } = Date;
  mock.method(performance, 'now', () => moved());
}

/**
 * Sockets are real, and need real turns while time is mocked. The kernel connects and delivers late on a busy machine: what
 * is on its way is waited for, or a connection that takes real milliseconds would be one that takes minutes.
 */
export async function passRealTime(): Promise<void> {
  line ??= openLine();
  const socket = await line;
  const start = process.hrtime.bigint();
  for (let quiet = 0; quiet < ECHOES; quiet++) {
    socket.write('x');
    await once(socket, 'data');
    if (!areSocketsQuiet() && process.hrtime.bigint() - start < BigInt(MAX_UNQUIET_MS) * 1_000_000n) {
      quiet = 0;
    }
  }
}

/** While time is mocked: it passes as quickly as sockets allow, until this has ended. */
export async function passTimeUntil<Result>(ended: Promise<Result>): Promise<Result> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  ended.then(over, over);
  while (!isOver) {
    await passRealTime();
    mock.timers.tick(100);
  }
  return ended;
}

let line: Promise<Socket> | undefined;

/** To a server that sends back what it receives; neither keeps the process. */
async function openLine(): Promise<Socket> {
  const server = createServer((socket) => void socket.unref().setNoDelay().pipe(socket)).unref();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = createConnection((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay();
  await once(socket, 'connect');
  return socket.unref();
}

export function restoreTime(): void {
  mock.reset();
}
