// The embedded MQTT broker of the service in a box: aedes over TCP and, on request, WebSocket, with faults.
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Aedes, type AuthenticateError, type Client } from 'aedes';
import { createWebSocketStream, WebSocketServer } from 'ws';

export interface BrokerOptions {
  host: string;
  /** 0 takes any free port. */
  port: number;
  /** Port of the WebSocket listener; absent: none. */
  wsPort?: number;
  /** When set, everyone must log in with them. */
  username?: string;
  password?: string;
}

/** Faults that hit every client but the simulated gateways; set and unset them at any time. */
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
  /** Every CONNECT that was heard but the gateways' own, oldest first. */
  connects: Connect[];
  /** Filters that clients have now, by client id; gateways left out. */
  subscriptions: Map<string, Set<string>>;
  /** The QoS that was last asked for with a filter; gateways left out. */
  wantedQos: Map<string, number>;
  /** Cuts all connections but the gateways'. */
  disconnectClients(): void;
  close(): Promise<void>;
}

const refusal = (): AuthenticateError =>
  Object.assign(new Error('not authorised'), { returnCode: 4 as const });

async function listen(server: Server, host: string, port: number): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function watch(aedes: Aedes, broker: Broker, isGateway: (clientId: string) => boolean): void {
  aedes.on('subscribe', (subscriptions, { id }) => {
    if (isGateway(id)) {
      return;
    }
    const filters = broker.subscriptions.get(id) ?? new Set();
    for (const { topic, qos } of subscriptions) {
      filters.add(topic);
      broker.wantedQos.set(topic, qos);
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

function guard(
  aedes: Aedes,
  broker: Broker,
  options: BrokerOptions,
  isGateway: (id: string) => boolean,
): void {
  const { faults } = broker;
  aedes.preConnect = (client, packet, done) => {
    const own = isGateway(packet.clientId);
    if (!own) {
      const { clientId, username, protocolVersion, keepalive, clean, properties } = packet;
      broker.connects.push({
        ...{ clientId, username: username ?? undefined, protocolVersion, keepalive, clean },
        sessionExpiry: properties?.sessionExpiryInterval,
        at: Date.now(),
      });
      if (faults.closeAtConnect) {
        client.conn.destroy();
      }
    }
    done(null, own || !faults.closeAtConnect);
  };
  aedes.authenticate = (client, username, password, done) => {
    const open = options.username === undefined;
    const right = open || (username === options.username && password?.toString() === options.password);
    const allowed = right && (isGateway(client.id) || !faults.refuseLogin);
    done(allowed ? null : refusal(), allowed);
  };
  aedes.authorizeSubscribe = (client, subscription, done) => {
    const refused = !isGateway(client.id) && faults.refuseSubscription(subscription.topic);
    done(null, refused ? null : subscription);
  };
}

function remember(server: Server, sockets: Set<Socket>): Server {
  return server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
}

function addWebSockets(aedes: Aedes, sockets: Set<Socket>): Server {
  const server = createHttpServer();
  const webSockets = new WebSocketServer({ server, handleProtocols: () => 'mqtt' });
  webSockets.on('connection', (socket, request) => {
    const stream = createWebSocketStream(socket);
    stream.on('error', () => socket.terminate());
    aedes.handle(stream, request);
  });
  return remember(server, sockets);
}

/** Starts the broker. `isGateway` says which client ids are spared from faults and records. */
export async function startBroker(
  options: BrokerOptions,
  isGateway: (id: string) => boolean,
): Promise<Broker> {
  const aedes = await Aedes.createBroker();
  const clients = new Set<Client>();
  aedes.on('client', (client) => clients.add(client));
  aedes.on('clientDisconnect', (client) => clients.delete(client));
  const sockets = new Set<Socket>();
  const servers = [remember(createServer({ noDelay: true }, aedes.handle), sockets)];
  const port = await listen(servers[0] as Server, options.host, options.port);
  let wsUrl: string | undefined;
  if (options.wsPort !== undefined) {
    servers.push(addWebSockets(aedes, sockets));
    wsUrl = `ws://${options.host}:${await listen(servers[1] as Server, options.host, options.wsPort)}`;
  }
  const broker: Broker = {
    url: `mqtt://${options.host}:${port}`,
    wsUrl,
    faults: { refuseLogin: false, closeAtConnect: false, refuseSubscription: () => false },
    connects: [],
    subscriptions: new Map(),
    wantedQos: new Map(),
    disconnectClients() {
      for (const client of clients) {
        if (!isGateway(client.id)) {
          client.conn.destroy();
        }
      }
    },
    async close() {
      const closed = Promise.all(servers.map((server) => once(server, 'close')));
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
  guard(aedes, broker, options, isGateway);
  watch(aedes, broker, isGateway);
  return broker;
}
