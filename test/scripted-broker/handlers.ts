// What a scripted broker does with each packet from a client.
import type {
  IConnectPacket,
  IPublishPacket,
  ISubscribePacket,
  ISubscription,
  IUnsubscribePacket,
  Packet,
} from 'mqtt-packet';
import { REASON, REFUSED_FILTER } from './codes.ts';
import type { ClientConnection } from './connection.ts';
import type { BrokerOptions, Qos } from './options.ts';
import type { ClientSession, Message } from './session.ts';
import { splitShared } from './topics.ts';

/** What the handlers need of the broker. */
export interface Hub {
  readonly options: BrokerOptions;
  /** The session for this connection, new or resumed; whoever had it is turned out. */
  begin(
    connection: ClientConnection,
    connect: IConnectPacket,
  ): { session: ClientSession; isResumed: boolean };
  route(message: Message): void;
  retained(filter: string): Message[];
  changed(): void;
}

export function handle(hub: Hub, connection: ClientConnection, packet: Packet): void {
  if (packet.cmd === 'connect') {
    connect(hub, connection, packet);
    return;
  }
  const { session } = connection;
  if (!session) {
    connection.destroy();
    return;
  }
  if (packet.cmd === 'subscribe') {
    subscribe(hub, connection, session, packet);
  } else if (packet.cmd === 'unsubscribe') {
    unsubscribe(hub, connection, session, packet);
  } else if (packet.cmd === 'publish') {
    publish(hub, connection, session, packet);
  } else if (packet.cmd === 'pubrel') {
    complete(connection, session, packet.messageId as number);
  } else if (packet.cmd === 'puback' || packet.cmd === 'pubcomp') {
    session.acknowledge(packet.messageId as number);
  } else if (packet.cmd === 'pubrec') {
    session.received(packet.messageId as number);
  } else if (packet.cmd === 'pingreq') {
    connection.reply('pingresp', () => connection.send({ cmd: 'pingresp' }));
  } else if (packet.cmd === 'disconnect') {
    connection.close();
  }
}

function connect(hub: Hub, connection: ClientConnection, packet: IConnectPacket): void {
  connection.reply('connack', () => {
    const { options } = hub;
    const code =
      typeof options.connackCode === 'function' ? options.connackCode(packet) : options.connackCode;
    if (code !== 0) {
      connection.send({ cmd: 'connack', returnCode: code, reasonCode: code, sessionPresent: false });
      connection.close();
      return;
    }
    const { session, isResumed } = hub.begin(connection, packet);
    connection.session = session;
    const properties = connection.version === 5 ? { properties: propertiesOf(options) } : {};
    connection.send({
      cmd: 'connack',
      returnCode: 0,
      reasonCode: 0,
      sessionPresent: isResumed,
      ...properties,
    });
    session.connect((packet) => connection.send(packet), packet.properties?.receiveMaximum);
  });
}

function propertiesOf(options: BrokerOptions) {
  return {
    ...(options.maxQos < 2 ? { maximumQoS: options.maxQos } : {}),
    ...(options.announcesReceiveMaximum && options.receiveMaximum < 65_535
      ? { receiveMaximum: options.receiveMaximum }
      : {}),
    ...(options.maxPacketSize < 268_435_460 ? { maximumPacketSize: options.maxPacketSize } : {}),
    ...(options.retains === 'none' ? { retainAvailable: false } : {}),
    ...(options.sharedSubscriptions === 'refused' ? { sharedSubscriptionAvailable: false } : {}),
    ...options.connackProperties,
  };
}

function subscribe(
  hub: Hub,
  connection: ClientConnection,
  session: ClientSession,
  { messageId, subscriptions }: ISubscribePacket,
): void {
  const { options } = hub;
  const isTooHigh = subscriptions.some(({ qos }) => qos > options.maxQos);
  if (isTooHigh && options.onHigherSubscribe === 'ignore') {
    return;
  }
  if (isTooHigh && options.onHigherSubscribe === 'disconnect') {
    connection.end(REASON.qosNotSupported);
    return;
  }
  if (subscriptions.length > options.maxFiltersPerSubscribe) {
    connection.end(REASON.quotaExceeded);
    return;
  }
  connection.reply('suback', () => {
    const granted = subscriptions.map((one) => grant(options, connection, session, one));
    if (options.refusesBy === 'close' && granted.some((code) => code > 2)) {
      connection.end(REASON.notAuthorized);
      return;
    }
    connection.send({ cmd: 'suback', messageId, granted });
    for (const [i, { topic }] of subscriptions.entries()) {
      sendRetained(hub, session, topic, granted[i] as number);
    }
    hub.changed();
  });
}

/** @returns the granted QoS, or the code of the refusal */
function grant(
  options: BrokerOptions,
  { version, clientId }: ClientConnection,
  session: ClientSession,
  { topic, qos }: ISubscription,
): number {
  const refusal = (code: number) => (version === 5 ? code : REFUSED_FILTER);
  const refused = options.refuses(topic, clientId);
  if (refused !== false) {
    return refusal(refused === true ? REASON.notAuthorized : refused);
  }
  const isShared = splitShared(topic).group !== undefined;
  if (isShared && options.sharedSubscriptions === 'refused') {
    return refusal(REASON.sharedSubscriptionsNotSupported);
  }
  const { subscriptions } = session;
  if (subscriptions.size >= options.maxSubscriptions && !subscriptions.has(topic)) {
    return refusal(REASON.quotaExceeded);
  }
  const granted = Math.min(qos, options.maxQos, options.maxGrantedQos) as Qos;
  session.subscribe(topic, granted);
  return granted;
}

function sendRetained(hub: Hub, session: ClientSession, filter: string, granted: number): void {
  const isExact = !/[+#]/.test(filter);
  const { retains } = hub.options;
  if (granted > 2 || retains === 'none' || (retains === 'without wildcards' && !isExact)) {
    return;
  }
  for (const message of hub.retained(filter)) {
    session.deliver({ ...message, qos: Math.min(message.qos, granted) as Qos });
  }
}

function unsubscribe(
  hub: Hub,
  connection: ClientConnection,
  session: ClientSession,
  { messageId, unsubscriptions }: IUnsubscribePacket,
): void {
  connection.reply('unsuback', () => {
    const granted = unsubscriptions.map((filter) => (session.unsubscribe(filter) ? 0 : 0x11));
    connection.send({ cmd: 'unsuback', messageId, granted });
    hub.changed();
  });
}

function publish(
  hub: Hub,
  connection: ClientConnection,
  session: ClientSession,
  { topic, payload, qos, retain, messageId }: IPublishPacket,
): void {
  const { options } = hub;
  if (options.forbids(topic, connection.clientId)) {
    connection.end(REASON.notAuthorized);
    return;
  }
  if (qos > options.maxQos) {
    if (options.onHigherPublish === 'disconnect') {
      connection.end(REASON.qosNotSupported);
    }
    return;
  }
  if (qos > 0 && ++connection.unacknowledged > options.receiveMaximum) {
    connection.end(REASON.receiveMaximumExceeded);
    return;
  }
  const isKnown = qos === 2 && session.begun.has(messageId as number);
  if (!isKnown) {
    hub.route({ topic, payload: Buffer.from(payload as Buffer), qos, retain });
  }
  if (qos === 1) {
    connection.reply('puback', () => {
      connection.unacknowledged--;
      connection.send({ cmd: 'puback', messageId });
    });
  } else if (qos === 2) {
    session.begun.add(messageId as number);
    connection.reply('pubrec', () => connection.send({ cmd: 'pubrec', messageId }));
  }
}

function complete(connection: ClientConnection, session: ClientSession, messageId: number): void {
  connection.reply('pubcomp', () => {
    if (session.begun.delete(messageId)) {
      connection.unacknowledged--;
    }
    connection.send({ cmd: 'pubcomp', messageId });
  });
}
