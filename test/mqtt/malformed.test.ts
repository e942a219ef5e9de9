// Brokers that send what is no packet of MQTT: the connection ends at once, and with the next one everything goes on.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { mock } from 'node:test';
import { ALL, Collector, openSession, reached } from '../session.ts';
import {
  G,
  heartbeat,
  mockTime,
  passRealTime,
  reportTopic,
  restoreTime,
  useScriptedBroker,
} from './scripted.ts';

/** PUBLISH with both QoS bits set. */
const MALFORMED = Buffer.from([0x36, 0x02, 0x00, 0x00]);
/** A packet of no type that there is; MQTT.js has another error for it. */
const UNREADABLE = Buffer.from([0x00, 0x00]);
/** So often in a row. */
const MAX_UNREADABLE = 3;
/** The first byte of a SUBACK. */
const SUBACK = 0x90;
const REFUSED = 0x80;
/** A reason code of MQTT 5, which MQTT 3.1.1 does not have. */
const NOT_AUTHORIZED = 0x87;

describe('a broker that sends a packet which cannot be read', () => {
  const bench = useScriptedBroker();
  const sockets = new Set<Socket>();
  let relay: Server;
  let url: string;
  let toClient: Socket | undefined;
  /** Changes what the broker sends. */
  let change: (data: Buffer) => Buffer;

  beforeEach(async () => {
    change = (data) => data;
    relay = createServer((socket) => {
      toClient = socket;
      const broker = connect(bench.broker.port, '127.0.0.1');
      for (const [from, to] of [
        [socket, broker],
        [broker, socket],
      ] as const) {
        sockets.add(from);
        from.on('error', () => {});
        from.once('close', () => to.destroy());
      }
      socket.pipe(broker);
      broker.on('data', (data) => socket.write(change(data)));
    }).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    url = `mqtt://127.0.0.1:${(relay.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    relay.close();
    for (const socket of sockets) {
      socket.destroy();
    }
    sockets.clear();
  });

  it('is left at once, and all reports arrive over the next connection', async () => {
    const { broker } = bench;
    broker.options.maxInFlight = 3;
    const session = openSession(url, { persistent: true });
    const collector = new Collector();
    session.subscribe(ALL, collector);
    await reached(session, 'connected');
    change = (data) => {
      change = (good) => good;
      return Buffer.concat([MALFORMED, data]);
    };
    const lost = reached(session, 'waiting').then(() => session.state.mqtt);
    const all = Array.from({ length: 8 }, (_, n) => n);
    for (const n of all) {
      broker.publish(reportTopic('heartbeat'), heartbeat(n));
    }
    assert.equal(JSON.stringify(await lost).includes('reason.malformed'), true);
    await collector.until(({ reports }) => reports.length === all.length);
    assert.deepEqual(
      collector.reports.map(({ n }) => n),
      all,
    );
    await session.close([]);
  });

  it('costs only the filter that it refuses so, and the others bring reports', async () => {
    const { broker } = bench;
    broker.options.refuses = (filter) => filter.includes('rssi');
    broker.publish(reportTopic('heartbeat'), heartbeat(1), { retain: true });
    change = (data) => {
      if (data[0] === SUBACK) {
        const codes = data.subarray(4, 2 + (data[1] ?? 0));
        codes.forEach((code, at) => {
          codes[at] = code === REFUSED ? NOT_AUTHORIZED : code;
        });
      }
      return data;
    };
    const session = openSession(url);
    const collector = new Collector();
    session.subscribe({ ...ALL, kinds: ['heartbeat', 'rssi'] }, collector);
    await reached(session, 'limited');
    await collector.until(({ reports }) => reports.length > 0);
    await session.close();
  });

  it('is no reason to take the filter that was just asked for as forbidden', async () => {
    const { broker } = bench;
    const session = openSession(url, { persistent: true });
    const collector = new Collector();
    const shown = new Set<string>();
    session.onState(({ mqtt }) => void ('reason' in mqtt && shown.add(mqtt.reason.key)));
    let asked = 0;
    broker.options.intercept = ({ cmd }) => {
      const isAsked = cmd === 'subscribe' && ++asked <= MAX_UNREADABLE;
      if (isAsked) {
        // As what waits there for a persistent session: before the SUBACK.
        toClient?.write(UNREADABLE);
      }
      return isAsked;
    };
    mockTime();
    try {
      session.subscribe({ ...ALL, gateways: [G] }, collector);
      while (broker.subscriptionsOf(broker.connections[0]?.clientId ?? '').size === 0) {
        mock.timers.tick(200);
        await passRealTime();
      }
    } finally {
      restoreTime();
    }
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await collector.until(({ reports }) => reports.length > 0);
    assert.deepEqual([[...shown], asked], [['reason.malformed'], MAX_UNREADABLE + 1]);
    await session.close([]);
  });
});
