// What a broker takes: what the settings say of it, and what its CONNACK says (MQTT 5, section 3.2.2.3).
import type { MqttSettings } from '../settings.ts';

/** Infinite where nothing is known. */
export interface ConnectionLimits {
  /** Topic filters in one SUBSCRIBE. */
  maxFiltersPerSubscribe: number;
  /** Publishes of QoS 1 and 2 that are not acknowledged yet. */
  maxUnacknowledged: number;
  maxPacketBytes: number;
  maxQos: 0 | 1 | 2;
  /** Seconds, as the broker wants it, else ours. */
  keepalive: number;
  hasSharedSubscriptions: boolean;
  hasWildcards: boolean;
  /** Seconds for which the broker keeps the session; undefined: as it was asked for. */
  sessionExpiry: number | undefined;
}

/** Properties of a CONNACK packet, as MQTT.js names them. */
export interface ConnackProperties {
  receiveMaximum?: number;
  maximumPacketSize?: number;
  maximumQoS?: number;
  serverKeepAlive?: number;
  sharedSubscriptionAvailable?: boolean;
  wildcardSubscriptionAvailable?: boolean;
  sessionExpiryInterval?: number;
}

const UNKNOWN = Number.POSITIVE_INFINITY;

/** @param said undefined with MQTT 3.1.1, which says nothing */
export function readConnectionLimits(settings: MqttSettings, said: ConnackProperties = {}): ConnectionLimits {
  const { limits, keepalive } = settings;
  return {
    maxFiltersPerSubscribe: limits.maxFiltersPerSubscribe ?? UNKNOWN,
    maxUnacknowledged: Math.min(limits.maxUnacknowledged ?? UNKNOWN, said.receiveMaximum ?? UNKNOWN),
    maxPacketBytes: Math.min(limits.maxPacketSize ?? UNKNOWN, said.maximumPacketSize ?? UNKNOWN),
    maxQos: Math.min(limits.maxQos ?? 2, said.maximumQoS ?? 2) as ConnectionLimits['maxQos'],
    keepalive: said.serverKeepAlive ?? keepalive,
    hasSharedSubscriptions: said.sharedSubscriptionAvailable !== false,
    hasWildcards: said.wildcardSubscriptionAvailable !== false,
    sessionExpiry: said.sessionExpiryInterval,
  };
}
