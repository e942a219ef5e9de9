// What is known of well-known brokers as options of a scripted one. Each line was read in the public source above it;
// what could not be confirmed there is left out, so a profile is never stricter than its broker.
import type { BrokerOptions } from './options.ts';

export const PROFILES = {
  // mosquitto.conf(5), https://mosquitto.org/man/mosquitto-conf-5.html: max_inflight_messages 20,
  // max_queued_messages 1000 (100 before 2.0), newest dropped; allow_duplicate_messages false.
  Mosquitto: { maxInFlight: 20, maxQueued: 1_000, onFullQueue: 'drop newest', delivery: 'once' },

  // https://www.rabbitmq.com/docs/mqtt: QoS 0 and 1; an operation that is not allowed ends the connection
  // (mqtt.disconnect_on_unauthorized); filters with wildcards get no retained messages.
  // https://www.rabbitmq.com/blog/2012/09/12/mqtt-adapter: asked for QoS 2, it grants 1.
  RabbitMQ: {
    maxGrantedQos: 1,
    refusesBy: 'close',
    retains: 'without wildcards',
  },

  // https://github.com/nats-io/nats-server/blob/main/server/mqtt.go: mqttDefaultMaxAckPending 1024.
  // https://docs.nats.io/nats-server/configuration/mqtt: MQTT 3.1.1, QoS 0 to 2; no shared subscriptions in it,
  // so `$share/…` is a filter like any other.
  NATS: { maxInFlight: 1_024, sharedSubscriptions: 'plain' },

  // https://github.com/moscajs/aedes/issues/228: no shared subscriptions; 3.1.1 has no code that says so.
  // https://github.com/moscajs/aedes/issues/37: one copy, however many subscriptions match.
  aedes: { sharedSubscriptions: 'plain', delivery: 'once' },

  // https://docs.aws.amazon.com/general/latest/gr/iot-core.html and the "AWS IoT limits" of the developer guide: eight
  // filters in a SUBSCRIBE (the connection ends, says the Python SDK), 100 unacknowledged publishes in each
  // direction, payloads of 128 KB (here: with 1 KB for the rest of the packet).
  // https://docs.aws.amazon.com/iot/latest/developerguide/mqtt.html: asked for QoS 2, it sends no PUBACK or SUBACK.
  'AWS IoT': {
    maxFiltersPerSubscribe: 8,
    receiveMaximum: 100,
    maxInFlight: 100,
    maxPacketSize: 129 * 1_024,
    maxQos: 1,
    onHigherPublish: 'ignore',
    onHigherSubscribe: 'ignore',
  },

  // https://learn.microsoft.com/en-us/azure/event-grid/mqtt-support, "Current limitations": QoS 2 and retained
  // publishes end the connection, no shared subscriptions, packets of 512 KiB; "Session overflow": 100 messages for a
  // client that is away, then the session ends.
  'Azure Event Grid': {
    maxQos: 1,
    onHigherPublish: 'disconnect',
    sharedSubscriptions: 'refused',
    maxPacketSize: 512 * 1_024,
    maxQueued: 100,
    onFullQueue: 'end session',
    retains: 'none',
  },

  // https://github.com/hivemq/hivemq-community-edition/wiki/MQTT-Specific-Configuration: Server Receive Maximum 10,
  // packets of 268435460 bytes, 1000 queued messages, of which new ones are discarded (queued-messages: strategy).
  HiveMQ: { receiveMaximum: 10, maxPacketSize: 268_435_460, maxQueued: 1_000, onFullQueue: 'drop newest' },

  // https://docs.emqx.com/en/emqx/latest/configuration/mqtt.html: max_packet_size 1MB, max_inflight 32,
  // max_mqueue_len 1000, and ".../design/inflight-window-and-message-queue.html": the oldest is discarded.
  EMQX: { maxPacketSize: 1_024 * 1_024, maxInFlight: 32, maxQueued: 1_000, onFullQueue: 'drop oldest' },
} as const satisfies Record<string, Partial<BrokerOptions>>;

export type ProfileName = keyof typeof PROFILES;
