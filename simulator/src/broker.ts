// The embedded MQTT broker of the service in a box: aedes over TCP and, on request, WebSocket, with faults.
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Aedes, AedesPublishPacket, AuthenticateError, Client } from 'aedes';
import { limitBroker } from './broker-limits.ts';
import type { OpenLink } from './gateway-link.ts';
import { hostInUrl } from './options.ts';
import { markResent } from './resent.ts';

export interface BrokerOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Port of the WebSocket listener; absent: none. */
  wsPort?: number;
  /** When set, everyone must log in with them. */
  username?: string;
  password?: string;
  /** Of what gateways publish and hear. */
  qos: 0 | 1;
  /** Messages that are kept for clients with a session, in all. */
  queueLimit: number;
}

/** Faults that hit every client, and not the simulated gateways; set and unset them at any time. */
export interface BrokerFaults {
  /** The CONNACK refuses the credentials. */
  refuseLogin: boolean;
  /** Cuts the connection right after CONNECT, without a CONNACK. */
  closeAtConnect: boolean;
  /** SUBACK 0x80 for the filters it says true to. */
  refuseSubscription: (filter: string) => boolean;
}

/** What a CONNECT says; a version that the broker does not speak is heard, and refused. */
export interface Connect {
  clientId: string;
  username: string | undefined;
  protocolVersion: number | undefined;
  /** Seconds. */
  keepalive: number | undefined;
  clean: boolean | undefined;
  /** Seconds; MQTT 5 only. */
  sessionExpiry: number | undefined;
  at: number;
}

export interface Broker {
  url: string;
  wsUrl: string | undefined;
  faults: BrokerFaults;
  /** The newest CONNECTs, oldest first. */
  connects: Connect[];
  /** Filters that clients have now, by client id. */
  subscriptions: Map<string, Set<string>>;
  /** The QoS that was last asked for with a filter. */
  wantedQos: Map<string, number>;
  /** Connects a gateway, inside this process. */
  openLink: OpenLink;
  /** Cuts all connections. */
  disconnectClients(): void;
  close(): Promise<void>;
}

const MAX_CLIENTS = 1_000;
const MAX_CONNECTS = 10_000;
const MAX_FILTERS = 10_000;

const refusal = (): AuthenticateError =>
  Object.assign(new Error('not authorised'), { returnCode: 4 as const });

async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function watch(aedes: Aedes, broker: Broker): void {
  aedes.on('subscribe', (subscriptions, { id }) => {
    const filters = broker.subscriptions.get(id) ?? new Set();
    for (const { topic, qos } of subscriptions) {
      filters.add(topic);
      if (broker.wantedQos.size < MAX_FILTERS) {
        broker.wantedQos.set(topic, qos);
      }
    }
    broker.subscriptions.set(id, filters);
  });
  aedes.on('unsubscribe', (filters, { id }) => {
    for (const filter of filters) {
      broker.subscriptions.get(id)?.delete(filter);
    }
  });
  aedes.on('clientDisconnect', ({ id }) => broker.subscriptions.delete(id));
}

function guard(aedes: Aedes, broker: Broker, options: BrokerOptions): void {
  const { faults } = broker;
  aedes.preConnect = (client, packet, done) => {
    const { clientId, username, protocolVersion, keepalive, clean, properties } = packet;
    broker.connects.push({
      ...{ clientId, username: username ?? undefined, protocolVersion, keepalive, clean },
      sessionExpiry: properties?.sessionExpiryInterval,
      at: Date.now(),
    });
    if (broker.connects.length > MAX_CONNECTS) {
      broker.connects.shift();
    }
    if (faults.closeAtConnect) {
      client.conn.destroy();
    }
    done(null, !faults.closeAtConnect);
  };
  aedes.authenticate = (_client, username, password, done) => {
    const open = options.username === undefined;
    const right = open || (username === options.username && password?.toString() === options.password);
    const allowed = right && !faults.refuseLogin;
    done(allowed ? null : refusal(), allowed);
  };
  aedes.authorizeSubscribe = (_client, subscription, done) => {
    done(null, faults.refuseSubscription(subscription.topic) ? null : subscription);
  };
}

function remember(server: Server, sockets: Set<Socket>): Server {
  return server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
}

/** Needs the package `ws`, which is loaded for nothing else. */
async function createWebSocketServer(aedes: Aedes): Promise<Server> {
  const { createWebSocketStream, WebSocketServer } = await import('ws');
  const server = createHttpServer();
  const webSockets = new WebSocketServer({ server, handleProtocols: () => 'mqtt' });
  webSockets.on('connection', (socket, request) => {
    const stream = createWebSocketStream(socket);
    stream.on('error', () => socket.terminate());
    aedes.handle(stream, request);
  });
  return server;
}

/** Connects gateways to the broker inside this process, so that they cost no sockets. */
function embeddedLinks(aedes: Aedes, qos: 0 | 1): OpenLink {
  return async (_mac, filters, receive) => {
    const deliver = (packet: AedesPublishPacket, done: () => void): void => {
      receive(packet.topic, packet.payload as Buffer, Math.min(packet.qos, qos));
      done();
    };
    await Promise.all(
      filters.map((filter) => new Promise<void>((resolve) => aedes.subscribe(filter, deliver, resolve))),
    );
    return {
      publish: (topic, payload, retain) =>
        new Promise((resolve, reject) => {
          const packet = {
            cmd: 'publish',
            dup: false,
            topic,
            payload: Buffer.from(payload),
            qos,
            retain,
          } as const;
          aedes.publish(packet, (error) => (error ? reject(error) : resolve()));
        }),
      close: async () => {
        for (const filter of filters) {
          aedes.unsubscribe(filter, deliver, () => {});
        }
      },
    };
  };
}

/** Starts the broker. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  // A module that Node.js 20 cannot `require`.
  const { Aedes } = await import('aedes');
  const aedes = await Aedes.createBroker();
  limitBroker(aedes, options.queueLimit);
  markResent(aedes);
  const clients = new Set<Client>();
  aedes.on('client', (client) => clients.add(client));
  aedes.on('clientDisconnect', (client) => clients.delete(client));
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  const broker: Broker = {
    url: '',
    wsUrl: undefined,
    faults: { refuseLogin: false, closeAtConnect: false, refuseSubscription: () => false },
    connects: [],
    subscriptions: new Map(),
    wantedQos: new Map(),
    openLink: embeddedLinks(aedes, options.qos),
    disconnectClients() {
      for (const client of clients) {
        client.conn.destroy();
      }
    },
    async close() {
      const closed = Promise.all(
        servers.filter(({ listening }) => listening).map((server) => once(server, 'close')),
      );
      for (const server of servers) {
        server.close();
      }
      for (const socket of sockets) {
        socket.destroy();
      }
      await new Promise<void>((resolve) => aedes.close(resolve));
      await closed;
    },
  };
  guard(aedes, broker, options);
  watch(aedes, broker);
  try {
    await open(aedes, broker, options, servers, sockets);
  } catch (error) {
    await broker.close();
    throw error;
  }
  return broker;
}

/** Starts to listen at the ports. */
async function open(
  aedes: Aedes,
  broker: Broker,
  { host, port, wsPort }: BrokerOptions,
  servers: Server[],
  sockets: Set<Socket>,
): Promise<void> {
  const add = (server: Server, at: number): Promise<number> => {
    servers.push(remember(server, sockets));
    server.maxConnections = MAX_CLIENTS;
    return listen(server, host, at);
  };
  broker.url = `mqtt://${hostInUrl(host)}:${await add(createServer({ noDelay: true }, aedes.handle), port)}`;
  if (wsPort !== undefined) {
    broker.wsUrl = `ws://${hostInUrl(host)}:${await add(await createWebSocketServer(aedes), wsPort)}`;
  }
}
