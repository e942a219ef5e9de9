// What is known of well-known brokers as options of a scripted one. Each line was read in the public source above it;
// what could not be confirmed there is left out, so a profile is never stricter than its broker.
import { BROKER_PROFILES } from '../../src/protocol/broker-profiles.ts';
import type { BrokerOptions } from './options.ts';

/** Figures that the service keeps to; their sources are named there. */
const AWS = BROKER_PROFILES['aws-iot'].limits;
const EVENT_GRID = BROKER_PROFILES['azure-event-grid'].limits;

export const PROFILES = {
  // mosquitto.conf(5), https://mosquitto.org/man/mosquitto-conf-5.html: max_inflight_messages 20,
  // max_queued_messages 1000 (100 before 2.0), newest dropped; allow_duplicate_messages false.
  Mosquitto: { maxInFlight: 20, maxQueued: 1_000, onFullQueue: 'drop newest', delivery: 'once' },

  // https://www.rabbitmq.com/docs/mqtt: QoS 0 and 1; an operation that is not allowed ends the connection
  // (mqtt.disconnect_on_unauthorized); filters with wildcards get no retained messages.
  // https://www.rabbitmq.com/blog/2012/09/12/mqtt-adapter: asked for QoS 2, it grants 1.
  RabbitMQ: {
    maxGrantedQos: BROKER_PROFILES.rabbitmq.limits.maxQos,
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

  // https://docs.aws.amazon.com/general/latest/gr/iot-core.html and the "AWS IoT limits" of the developer guide: more
  // filters in a SUBSCRIBE end the connection (says the Python SDK), 100 unacknowledged publishes to a client.
  // https://docs.aws.amazon.com/iot/latest/developerguide/mqtt.html: asked for QoS 2, it sends no PUBACK or SUBACK.
  'AWS IoT': {
    maxFiltersPerSubscribe: AWS.maxFiltersPerSubscribe,
    maxSubscriptions: AWS.maxSubscriptions,
    receiveMaximum: AWS.maxUnacknowledged,
    maxInFlight: 100,
    // The limit is the payload's.
    maxPacketSize: AWS.maxPacketSize + 1_024,
    maxQos: AWS.maxQos,
    onHigherPublish: 'ignore',
    onHigherSubscribe: 'ignore',
  },

  // https://learn.microsoft.com/en-us/azure/event-grid/mqtt-support, "Current limitations": QoS 2 and retained
  // publishes end the connection; "Session overflow": 100 messages for a client that is away, then the session ends.
  'Azure Event Grid': {
    maxFiltersPerSubscribe: EVENT_GRID.maxFiltersPerSubscribe,
    maxSubscriptions: EVENT_GRID.maxSubscriptions,
    receiveMaximum: EVENT_GRID.maxUnacknowledged,
    maxQos: EVENT_GRID.maxQos,
    onHigherPublish: 'disconnect',
    maxPacketSize: EVENT_GRID.maxPacketSize,
    maxQueued: 100,
    onFullQueue: 'end session',
    retains: 'none',
  },

  // https://github.com/hivemq/hivemq-community-edition/wiki/MQTT-Specific-Configuration: packets of 268435460 bytes,
  // 1000 queued messages, of which new ones are discarded (queued-messages: strategy).
  HiveMQ: {
    receiveMaximum: BROKER_PROFILES.hivemq.limits.maxUnacknowledged,
    maxPacketSize: 268_435_460,
    maxQueued: 1_000,
    onFullQueue: 'drop newest',
  },

  // https://docs.emqx.com/en/emqx/latest/configuration/mqtt.html: max_inflight 32,
  // max_mqueue_len 1000, and ".../design/inflight-window-and-message-queue.html": the oldest is discarded.
  EMQX: {
    maxPacketSize: BROKER_PROFILES.emqx.limits.maxPacketSize,
    maxInFlight: 32,
    maxQueued: 1_000,
    onFullQueue: 'drop oldest',
  },
} as const satisfies Record<string, Partial<BrokerOptions>>;

export type ProfileName = keyof typeof PROFILES;
