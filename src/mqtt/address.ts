// The address of a broker: taken apart for MQTT.js, and shown without what may be secret.

import { showAddress } from '../protocol/redaction.ts';

/** What MQTT.js is told of an address. */
export interface BrokerAddress {
  protocol: 'mqtt' | 'mqtts' | 'ws' | 'wss';
  host: string;
  hostname: string;
  port?: number;
  /** Of WebSockets: with the query. */
  path?: string;
  isSecure: boolean;
}

const PROTOCOLS = ['mqtt', 'mqtts', 'ws', 'wss'] as const;

/**
 * Takes an address apart, because MQTT.js would read settings of its own from the query, such as `?clientId=`.
 * The query goes to the handshake of a WebSocket and nowhere else.
 * @throws TypeError for what is no address of a broker
 */
export function readBrokerAddress(text: string): BrokerAddress {
  const url = new URL(text);
  const protocol = PROTOCOLS.find((known) => `${known}:` === url.protocol);
  if (protocol === undefined || url.hostname === '') {
    throw new TypeError('not the address of a broker');
  }
  const isWebSocket = protocol === 'ws' || protocol === 'wss';
  // An IPv6 address stands in brackets in an address of a WebSocket, but not where a socket is opened.
  const host = isWebSocket ? url.hostname : url.hostname.replace(/^\[(.*)\]$/, '$1');
  return {
    protocol,
    host,
    hostname: host,
    ...(url.port !== '' && { port: Number(url.port) }),
    ...(isWebSocket && { path: url.pathname + url.search }),
    isSecure: protocol === 'mqtts' || protocol === 'wss',
  };
}

/** A broker address for people: without user name, password and query. */
export function showBroker(url: string): string {
  return showAddress(url);
}
