// What MQTT.js is told for a connection beside its address: it neither reconnects nor subscribes nor queues by itself.

import type { MqttSettings } from '../settings.ts';
import { SOCKET_OPTIONS } from '../socket-options.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** Reports of QoS 1 that a broker may send before one is acknowledged: what more waits there, not in a socket. */
const RECEIVE_MAXIMUM = 1_000;

/**
 * @param isSecure with a certificate at hand MQTT.js would turn a plain address into a secure one
 * @param isOverrun the broker has sent more at once than it was told
 */
export function clientOptions(s: MqttSettings, isSecure: boolean, isOverrun: boolean): object {
  return {
    clientId: s.clientId,
    clean: !s.persistent,
    protocolVersion: s.protocolVersion,
    keepalive: s.keepalive,
    connectTimeout: CONNECT_TIMEOUT_MS,
    reconnectPeriod: 0,
    resubscribe: false,
    // A ping when it is due, also while the broker acknowledges: moving it with each acknowledgement takes time.
    reschedulePings: false,
    queueQoSZero: false,
    // Even when nobody listens, MQTT.js's own log takes time for every packet.
    ...(process.env.DEBUG ? {} : { log: () => {} }),
    // A password alone, such as a token, goes with an empty user name: MQTT 3.1.1 (section 3.1.2.9) has none without.
    ...(s.username || s.password ? { username: s.username ?? '', password: s.password ?? '' } : {}),
    ...(s.protocolVersion === 5 ? { properties: properties(s, isOverrun) } : {}),
    ...(isSecure ? { ...s.tls, ...SOCKET_OPTIONS } : {}),
  };
}

/**
 * Of MQTT 5. MQTT.js ends the connection to a broker that sends more of QoS 2 than it was told; Mosquitto does so with what
 * has waited, each time anew.
 */
function properties({ persistent, sessionExpiry, reportQos }: MqttSettings, isOverrun: boolean): object {
  return {
    ...(reportQos < 2 && !isOverrun ? { receiveMaximum: RECEIVE_MAXIMUM } : {}),
    ...(persistent ? { sessionExpiryInterval: sessionExpiry } : {}),
  };
}
