// What this process knows of its sessions at brokers, which outlive a connection and a redeploy.
import { FifoMap } from '../collections/fifo-map.ts';
import type { Publish } from './publish-reader.ts';

/** Each service has one for each of its brokers; beyond that the one that was needed longest ago is forgotten. */
const MAX_SESSIONS = 1_000;

export interface KeptSession {
  /** Topic filters that the broker has granted, or may hold of an earlier process. */
  readonly filters: Set<string>;
  /** It hardly holds these: the connection has ended before they were answered, or because of them. */
  readonly doubtful: Set<string>;
  /** One of several of these may be there, of an earlier process: what nobody has asked for came. */
  readonly guessed: Set<string>;
  /** Whether it may hold others: it had a session before the first connection of this process. Undefined: not asked yet. */
  hasUnknownFilters: boolean | undefined;
  /** What may be in it without the shared group, and was given back on a guess: once, as it may cost a connection. */
  readonly leftPlain: Set<string>;
  /** By which reports were wanted last. */
  reportFilters: ReadonlySet<string>;
  /** Some of them were given back: what has waited at the broker may come more often than there are others for it. */
  bringsPairs: boolean;
  /** What the broker has sent with QoS 2 and not released yet: a store of MQTT.js. */
  incoming: object | undefined;
  /** What it has released and nobody has taken, oldest first: it may have been told that this is complete. */
  readonly untaken: Publish[];
  /** Packet ids of what was published with QoS 2 and is not known to be complete, with the times it was released again. */
  published: Map<number, number>;
  /** Client ids under which the broker may have a session because it was asked whose it gives to new ones. */
  readonly asked: Set<string>;
}

const SESSIONS = new FifoMap<KeptSession>(MAX_SESSIONS);

/** The name of a client's session at a broker. */
export function sessionName(broker: string, clientId: string): string {
  return `${broker} ${clientId}`;
}

/** One of which nothing is known. */
export function newSession(): KeptSession {
  return {
    filters: new Set(),
    doubtful: new Set(),
    guessed: new Set(),
    hasUnknownFilters: undefined,
    leftPlain: new Set(),
    reportFilters: new Set(),
    bringsPairs: false,
    incoming: undefined,
    untaken: [],
    published: new Map(),
    asked: new Set(),
  };
}

/** All that the broker may hold for it. */
export const mayHold = ({ filters, doubtful, guessed }: KeptSession): string[] => [
  ...filters,
  ...doubtful,
  ...guessed,
];

/** The broker holds none of its filters any more. */
export function forgetFilters({ filters, doubtful, guessed }: KeptSession): void {
  for (const held of [filters, doubtful, guessed]) {
    held.clear();
  }
}

/** What is known of this session. */
export function keptSession(name: string): KeptSession {
  const session = SESSIONS.get(name) ?? newSession();
  SESSIONS.add(name, session);
  return session;
}

/** The broker has it no longer. */
export function forgetSession(name: string): void {
  SESSIONS.delete(name);
}
