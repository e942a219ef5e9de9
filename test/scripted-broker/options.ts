// What a scripted broker can be told to do. Every option can be changed while it runs.
import type { IConnackPacket, IConnectPacket, Packet } from 'mqtt-packet';

export type Qos = 0 | 1 | 2;

/** Packets with which a broker replies; each can be withheld. */
export type Reply = 'connack' | 'suback' | 'unsuback' | 'puback' | 'pubrec' | 'pubcomp' | 'pingresp';

export interface BrokerOptions {
  /** Filters in one SUBSCRIBE; beyond it the connection is ended. */
  maxFiltersPerSubscribe: number;
  /** Bytes of a whole packet from a client; beyond it the connection is ended. Announced in MQTT 5. */
  maxPacketSize: number;
  /** Subscriptions of one client; further ones are refused. */
  maxSubscriptions: number;
  /** Publishes of one client that it may send without an acknowledgement; beyond it the connection is ended. */
  receiveMaximum: number;
  /** Whether `receiveMaximum` is announced in MQTT 5, as a broker should. */
  announcesReceiveMaximum: boolean;
  /** Publishes to one client without its acknowledgement; the client's own Receive Maximum counts too. */
  maxInFlight: number;
  /** Of publishes and grants. */
  maxQos: Qos;
  /** What a publish of a higher QoS brings. */
  onHigherPublish: 'disconnect' | 'ignore';
  /** What a subscription of a higher QoS brings. */
  onHigherSubscribe: 'lower' | 'disconnect' | 'ignore';
  /** Grants are never higher, although publishes may be. */
  maxGrantedQos: Qos;
  /** True or a reason code: the filter is refused. */
  refuses: (filter: string, clientId: string) => boolean | number;
  /** Publishes to such a topic end the connection. */
  forbids: (topic: string, clientId: string) => boolean;
  /** How a refusal is told: in the SUBACK, or by ending the connection instead. */
  refusesBy: 'code' | 'close';
  /** Replies that wait for `release`, also for ever. */
  withhold: readonly Reply[];
  /** Whether what is sent again has the mark (DUP) that MQTT demands. */
  marksResent: boolean;
  /** Which packet id a message gets. */
  packetIds: 'next' | 'lowest free';
  /** How often a message comes that several subscriptions of a client match. */
  delivery: 'once' | 'per-subscription';
  /** `plain`: `$share/…` is a filter like any other and matches nothing that gateways publish. */
  sharedSubscriptions: 'supported' | 'plain' | 'refused';
  /** False: every connection starts without a session. */
  keepsSessions: boolean;
  /** Messages of QoS 1 and 2 that wait for one client, beside those in flight. */
  maxQueued: number;
  /** What a full queue loses. */
  onFullQueue: 'drop newest' | 'drop oldest' | 'end session';
  /** Retained messages come with every matching subscription, with those without a wildcard, or never. */
  retains: 'all' | 'without wildcards' | 'none';
  /** Reply to CONNECT; 0 accepts. */
  connackCode: number | ((connect: IConnectPacket) => number);
  /** Added to the properties of the CONNACK (MQTT 5). */
  connackProperties: NonNullable<IConnackPacket['properties']>;
  /** Sees every packet before it is handled; true: it is ignored. */
  intercept: (packet: Packet, clientId: string) => boolean | undefined;
}

/** A broker without limits that follows the specification. */
export const FAITHFUL: Readonly<BrokerOptions> = {
  maxFiltersPerSubscribe: Number.POSITIVE_INFINITY,
  maxPacketSize: 268_435_460,
  maxSubscriptions: Number.POSITIVE_INFINITY,
  receiveMaximum: 65_535,
  announcesReceiveMaximum: true,
  maxInFlight: 65_535,
  maxQos: 2,
  onHigherPublish: 'disconnect',
  onHigherSubscribe: 'lower',
  maxGrantedQos: 2,
  refuses: () => false,
  forbids: () => false,
  refusesBy: 'code',
  withhold: [],
  marksResent: true,
  packetIds: 'next',
  delivery: 'once',
  sharedSubscriptions: 'supported',
  keepsSessions: true,
  maxQueued: Number.POSITIVE_INFINITY,
  onFullQueue: 'drop newest',
  retains: 'all',
  connackCode: 0,
  connackProperties: {},
  intercept: () => false,
};
