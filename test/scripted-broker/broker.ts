// A broker for tests over real TCP, MQTT 3.1.1 and 5, that does what a test says and shows all that it sees.
import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { IConnectPacket, Packet, PacketCmd } from 'mqtt-packet';
import { REASON } from './codes.ts';
import { ClientConnection, sizeOf, type WithheldReply } from './connection.ts';
import { type Hub, handle } from './handlers.ts';
import { type BrokerOptions, FAITHFUL, type Qos, type Reply } from './options.ts';
import { ClientSession, type Message } from './session.ts';
import { matches, splitShared } from './topics.ts';

/** A packet with the client that it came from or went to. */
export interface Received<C extends PacketCmd = PacketCmd> {
  clientId: string;
  packet: Extract<Packet, { cmd: C }>;
}

export type PublishOptions = Partial<Pick<Message, 'qos' | 'retain'>>;

/**
 * There are no wills, no expiry of messages and sessions, no keep-alive of the broker's own, and no topic aliases.
 * What it remembers grows until `reset`.
 */
export class ScriptedBroker {
  /** Change any of them at any time. */
  readonly options: BrokerOptions;
  /** Every connection that was made, the oldest first. */
  readonly connections: ClientConnection[] = [];
  /** Every packet that was received, with the client it came from. */
  readonly received: Received[] = [];
  /** Every packet that was sent. */
  readonly sent: Received[] = [];
  /** Messages that a full queue lost. */
  readonly lost: Message[] = [];
  /** Replies that wait for `release`, the oldest first. */
  readonly withheld: WithheldReply[] = [];
  readonly sessions = new Map<string, ClientSession>();
  readonly #open = new Set<ClientConnection>();
  readonly #retained = new Map<string, Message>();
  readonly #turns = new Map<string, number>();
  readonly #events = new EventEmitter().setMaxListeners(0);
  readonly #hub: Hub;
  #server: Server | undefined;
  #port = 0;
  #reads = true;

  /** As in `startScriptedBroker`. */
  constructor(options: Partial<BrokerOptions>) {
    this.options = { ...FAITHFUL, ...options };
    this.#hub = {
      options: this.options,
      begin: (connection, connect) => this.#begin(connection, connect),
      route: (message) => void this.#route(message),
      retained: (filter) => [...this.#retained.values()].filter(({ topic }) => matches(filter, topic)),
      changed: () => this.#changed(),
    };
  }

  get url(): string {
    return `mqtt://127.0.0.1:${this.#port}`;
  }

  get port(): number {
    return this.#port;
  }

  /** Sockets that are open now, with or without a session. */
  get openConnections(): readonly ClientConnection[] {
    return [...this.#open];
  }

  /** The granted QoS by filter; empty when there is no such client. */
  subscriptionsOf(clientId: string): ReadonlyMap<string, Qos> {
    return this.sessions.get(clientId)?.subscriptions ?? new Map();
  }

  /** What was received of one kind of packet. */
  packets<C extends PacketCmd>(cmd: C, clientId?: string): Received<C>['packet'][] {
    return this.received
      .filter((one) => one.packet.cmd === cmd && (clientId === undefined || one.clientId === clientId))
      .map(({ packet }) => packet as Received<C>['packet']);
  }

  /** The next such packet from now on. */
  next<C extends PacketCmd>(
    cmd: C,
    isMeant: (packet: Received<C>['packet'], clientId: string) => boolean = () => true,
  ): Promise<Received<C>> {
    return new Promise((resolve) => {
      // Several packets can come in one turn, so this listens until the right one is there.
      const take = (received: Received<C>) => {
        if (!isMeant(received.packet, received.clientId)) {
          return;
        }
        this.#events.off(cmd, take);
        resolve(received);
      };
      this.#events.on(cmd, take);
    });
  }

  /** Resolves when the condition holds; it is asked now, after each thing that happens here, and after `notify`. */
  async until(condition: (broker: this) => unknown): Promise<void> {
    while (!condition(this)) {
      await once(this.#events, 'change');
    }
  }

  /** Something has happened elsewhere that a condition of `until` may depend on. */
  notify(): void {
    this.#changed();
  }

  /**
   * Publishes as a client of this broker would.
   * @returns how many copies were sent or queued
   */
  publish(topic: string, payload: unknown, { qos = 1, retain = false }: PublishOptions = {}): number {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    const data = Buffer.isBuffer(payload) ? payload : Buffer.from(text);
    return this.#route({ topic, payload: data, qos, retain });
  }

  /** Sends withheld replies, the oldest first; also while further ones are withheld. */
  release(reply?: Reply, count = Number.POSITIVE_INFINITY): void {
    const due = this.withheld.filter((one) => reply === undefined || one.reply === reply).slice(0, count);
    for (const one of due) {
      this.withheld.splice(this.withheld.indexOf(one), 1);
      if (one.connection.isOpen) {
        one.send();
      }
    }
    this.#changed();
  }

  /** Cuts connections without a word: those of one client, or all. */
  drop(clientId?: string): void {
    for (const connection of this.#of(clientId)) {
      connection.destroy();
    }
  }

  /** Ends connections with a reason, which MQTT 5 tells the client. */
  disconnect(reasonCode: number, clientId?: string): void {
    for (const connection of this.#of(clientId)) {
      connection.end(reasonCode);
    }
  }

  /** False: reads nothing more, of no client, until true. */
  setReading(reads: boolean): void {
    this.#reads = reads;
    for (const connection of this.#open) {
      connection.setReading(reads);
    }
  }

  /** Forgets everything and follows the specification again; connections are cut. */
  async reset(options: Partial<BrokerOptions> = {}): Promise<void> {
    this.setReading(true);
    this.drop();
    await this.until(() => this.#open.size === 0);
    this.sessions.clear();
    this.#retained.clear();
    this.#turns.clear();
    for (const list of [this.connections, this.received, this.sent, this.lost, this.withheld]) {
      list.length = 0;
    }
    Object.assign(this.options, FAITHFUL, options);
  }

  /** Listens on its port again after `kill`. Sessions and retained messages are still there. */
  async start(): Promise<void> {
    this.#server = createServer((socket) => {
      const connection = new ClientConnection(socket, {
        packet: (from, packet) => this.#take(from, packet),
        sent: ({ clientId }, packet) => this.sent.push({ clientId, packet }),
        closed: (closed) => this.#closed(closed),
        isWithheld: (reply) => this.options.withhold.includes(reply),
        withheld: (reply) => this.withheld.push(reply),
      });
      connection.setReading(this.#reads);
      this.connections.push(connection);
      this.#open.add(connection);
      this.#changed();
    }).listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Cuts every connection and refuses new ones until `start`. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) {
      return;
    }
    const closed = once(server, 'close');
    server.close();
    this.drop();
    await closed;
  }

  stop(): Promise<void> {
    return this.kill();
  }

  #of(clientId: string | undefined): ClientConnection[] {
    return [...this.#open].filter((one) => clientId === undefined || one.clientId === clientId);
  }

  #take(connection: ClientConnection, packet: Packet): void {
    const { clientId } = connection;
    const received = { clientId, packet };
    this.received.push(received);
    if (sizeOf(packet) > this.options.maxPacketSize) {
      connection.end(REASON.packetTooLarge);
    } else if (this.options.intercept(packet, clientId) !== true) {
      handle(this.#hub, connection, packet);
    }
    this.#events.emit(packet.cmd, received);
    this.#changed();
  }

  #closed(connection: ClientConnection): void {
    this.#open.delete(connection);
    const { session } = connection;
    // Not when another connection has taken the session over meanwhile.
    if (session && this.#of(session.clientId).every((other) => other.session !== session)) {
      session.disconnect();
      if (session.isClean) {
        this.#forget(session);
      }
    }
    this.#changed();
  }

  #begin(
    connection: ClientConnection,
    connect: IConnectPacket,
  ): { session: ClientSession; isResumed: boolean } {
    const { clientId } = connection;
    for (const other of this.#of(clientId)) {
      if (other !== connection) {
        other.end(REASON.takenOver);
      }
    }
    const kept = this.sessions.get(clientId);
    const isResumed = kept?.isClean === false && connect.clean !== true && this.options.keepsSessions;
    const session = isResumed
      ? (kept as ClientSession)
      : new ClientSession(clientId, this.options, (message) => this.lost.push(message));
    session.isClean = endsWithConnection(connect) || !this.options.keepsSessions;
    this.sessions.set(clientId, session);
    return { session, isResumed };
  }

  #forget(session: ClientSession): void {
    if (this.sessions.get(session.clientId) === session) {
      this.sessions.delete(session.clientId);
    }
  }

  #route(message: Message): number {
    if (message.retain) {
      this.#retain(message);
    }
    const targets = [...this.sessions.values()].flatMap((session) => this.#targets(session, message.topic));
    const copies = [...targets, ...this.#sharedTargets(message.topic)];
    let count = 0;
    for (const { session, qos } of copies) {
      const copy = { ...message, retain: false, qos: Math.min(message.qos, qos) as Qos };
      if (session.deliver(copy)) {
        count++;
      }
    }
    this.#changed();
    return count;
  }

  #retain(message: Message): void {
    if (message.payload.length === 0) {
      this.#retained.delete(message.topic);
    } else {
      this.#retained.set(message.topic, message);
    }
  }

  #targets(session: ClientSession, topic: string): Target[] {
    const all = session.matching(topic).map((qos) => ({ session, qos }));
    if (this.options.delivery === 'per-subscription' || all.length < 2) {
      return all;
    }
    return [{ session, qos: Math.max(...all.map(({ qos }) => qos)) as Qos }];
  }

  /** One member of each group has its turn; one that is away only when all are. */
  #sharedTargets(topic: string): Target[] {
    if (this.options.sharedSubscriptions !== 'supported') {
      return [];
    }
    const groups = new Map<string, Target[]>();
    for (const session of this.sessions.values()) {
      for (const [name, qos] of session.subscriptions) {
        const { group, filter } = splitShared(name);
        if (group === undefined || !matches(filter, topic)) {
          continue;
        }
        groups.set(name, [...(groups.get(name) ?? []), { session, qos }]);
      }
    }
    return [...groups].map(([name, members]) => {
      const present = members.filter(({ session }) => session.isConnected);
      const candidates = present.length > 0 ? present : members;
      const turn = this.#turns.get(name) ?? 0;
      this.#turns.set(name, turn + 1);
      return candidates[turn % candidates.length] as Target;
    });
  }

  #changed(): void {
    this.#events.emit('change');
  }
}

interface Target {
  session: ClientSession;
  qos: Qos;
}

function endsWithConnection({ clean, protocolVersion, properties }: IConnectPacket): boolean {
  return protocolVersion === 5 ? (properties?.sessionExpiryInterval ?? 0) === 0 : clean === true;
}

/** Starts a broker on a free port of 127.0.0.1 that follows the specification where `options` say nothing else. */
export async function startScriptedBroker(options: Partial<BrokerOptions> = {}): Promise<ScriptedBroker> {
  const broker = new ScriptedBroker(options);
  await broker.start();
  return broker;
}
