// What a broker takes: what the settings say of it, and what its CONNACK says (MQTT 5, section 3.2.2.3).
import type { MqttSettings } from '../settings.ts';
import type { FilterSupport } from './available-filters.ts';
import type { PublishLimits } from './requests.ts';

/** Infinite where nothing is known. */
export interface ConnectionLimits extends PublishLimits {
  /** Topic filters in one SUBSCRIBE. */
  maxFiltersPerSubscribe: number;
  support: FilterSupport;
  /** Seconds that a session is kept, where the broker keeps it shorter than asked for; undefined: as asked for. */
  sessionExpiry: number | undefined;
}

/** Properties of a CONNACK packet, as MQTT.js names them. */
export interface ConnackProperties extends FilterSupport {
  receiveMaximum?: number;
  maximumPacketSize?: number;
  maximumQoS?: number;
  sessionExpiryInterval?: number;
}

const UNKNOWN = Number.POSITIVE_INFINITY;
/**
 * Of QoS 2 with MQTT 3.1.1, which names no number. Each takes two exchanges, so that many are under way, and a Mosquitto
 * ends the connection beyond so many: mosquitto.conf(5), max_inflight_messages.
 */
const MAX_UNACKNOWLEDGED_QOS_2 = 20;

/** @param said undefined with MQTT 3.1.1, which says nothing; zeroes, which MQTT 5 forbids, say nothing either */
export function readConnectionLimits(
  { limits, persistent, sessionExpiry, protocolVersion, requestQos }: MqttSettings,
  said: ConnackProperties = {},
): ConnectionLimits {
  const unnamed = protocolVersion === 4 && requestQos === 2 ? MAX_UNACKNOWLEDGED_QOS_2 : UNKNOWN;
  const kept = said.sessionExpiryInterval ?? sessionExpiry;
  return {
    maxFiltersPerSubscribe: limits.maxFiltersPerSubscribe ?? UNKNOWN,
    maxUnacknowledged: Math.min(limits.maxUnacknowledged ?? unnamed, said.receiveMaximum || UNKNOWN),
    maxPacketBytes: Math.min(limits.maxPacketSize ?? UNKNOWN, said.maximumPacketSize || UNKNOWN),
    maxQos: Math.min(limits.maxQos ?? 2, said.maximumQoS ?? 2) as ConnectionLimits['maxQos'],
    support: said,
    sessionExpiry: persistent && kept < sessionExpiry ? kept : undefined,
  };
}
