// What well-known brokers allow, one row each: every figure was read at the public source named above it, others stay out.
import { createTopics } from './topics.ts';

/** What a connection keeps within; undefined: not known, so no limit until the broker names one. */
export interface BrokerLimits {
  maxFiltersPerSubscribe: number | undefined;
  /** Topic filters of one connection. */
  maxSubscriptions: number | undefined;
  /** Publishes that wait for the broker's acknowledgement. */
  maxUnacknowledged: number | undefined;
  /** Bytes of a packet to the broker. */
  maxPacketSize: number | undefined;
  maxQos: number | undefined;
  /** Whether it knows shared subscriptions. */
  hasSharedGroups?: boolean | undefined;
  /** Shared ones among the topic filters of one connection. */
  maxSharedSubscriptions?: number | undefined;
  /** Of reports; more are widened, where the broker grants the wider ones. */
  maxReportFilters?: number | undefined;
  /** What waits is sent for one subscription after the other, so that the copies of a report come far from each other. */
  queuesBySubscription?: boolean | undefined;
}

interface BrokerProfile {
  /** A proper name, the same in every language. */
  name: string;
  limits: Partial<BrokerLimits>;
  protocolVersions?: readonly number[];
  /** Seconds. */
  keepalive?: { min: number; max: number };
  hasSharedGroups?: boolean;
  /** Levels of a topic or a filter: one more than its slashes. */
  maxLevels?: number;
  maxTopicBytes?: number;
  maxClientIdBytes?: number;
  takesSpaces?: boolean;
  takesDots?: boolean;
}

export const BROKER_PROFILES = {
  any: { name: '', limits: {} },

  'aws-iot': {
    name: 'AWS IoT Core',
    limits: {
      // https://docs.aws.amazon.com/general/latest/gr/iot-core.html, message broker limits: 8 subscriptions in a
      // request, 50 of a connection (can be raised), 100 inbound unacknowledged publishes, payloads of 128 KB.
      maxFiltersPerSubscribe: 8,
      maxSubscriptions: 50,
      maxUnacknowledged: 100,
      maxPacketSize: 128 * 1_024,
      // https://docs.aws.amazon.com/iot/latest/developerguide/mqtt.html: 0 and 1; a PUBLISH or SUBSCRIBE with 2 gets
      // no response.
      maxQos: 1,
    },
    // https://github.com/awslabs/aws-c-mqtt/releases/tag/v0.4.27: AWS IoT ends and begins at 1200 s; without a keep
    // alive it takes that one.
    keepalive: { min: 1, max: 1_200 },
    // https://aws.github.io/aws-iot-device-sdk-js-v2/node/enums/mqtt5.ClientExtendedValidationAndFlowControl.html:
    // 7 slashes, topics of 256 bytes, client ids of 128 bytes.
    maxLevels: 8,
    maxTopicBytes: 256,
    maxClientIdBytes: 128,
  },

  'azure-event-grid': {
    name: 'Azure Event Grid',
    limits: {
      // https://learn.microsoft.com/azure/event-grid/quotas-limits, "MQTT limits in the Event Grid namespace":
      // 10 filters in a SUBSCRIBE, 50 subscriptions of a session, 10 of them shared, 1000 inbound messages in flight,
      // 512 KB.
      maxFiltersPerSubscribe: 10,
      maxSubscriptions: 50,
      maxSharedSubscriptions: 10,
      maxUnacknowledged: 1_000,
      maxPacketSize: 512 * 1_024,
      // https://learn.microsoft.com/azure/event-grid/mqtt-support, "Current limitations": maximum QoS 1. Shared
      // subscriptions are no longer among them.
      maxQos: 1,
    },
    // The same limits: keep alive of 1160 s at most, 15 segments, topics of 256 bytes.
    keepalive: { min: 1, max: 1_160 },
    maxLevels: 15,
    maxTopicBytes: 256,
  },

  // https://github.com/hivemq/hivemq-community-edition/wiki/MQTT-Specific-Configuration: Server Receive Maximum 10;
  // QoS 2, shared subscriptions and packets as large as MQTT allows.
  hivemq: { name: 'HiveMQ', limits: { maxUnacknowledged: 10 } },

  // https://docs.emqx.com/en/emqx/latest/configuration/mqtt.html: max_packet_size 1MB.
  emqx: { name: 'EMQX', limits: { maxPacketSize: 1_024 * 1_024 } },

  nats: {
    name: 'NATS',
    limits: {
      // https://docs.nats.io/reference/config/mqtt/max_ack_pending: the sum over the subscriptions of a session is
      // 65535 at most, those that end with # count twice; https://github.com/nats-io/nats-server, server/mqtt.go:
      // mqttDefaultMaxAckPending 1024.
      maxSubscriptions: Math.floor(65_535 / (2 * 1_024)),
      // https://docs.nats.io/running-a-nats-service/configuration: max_payload 1MB.
      maxPacketSize: 1_024 * 1_024,
      // https://github.com/nats-io/nats-server, server/README-MQTT.md: each QoS 1 and 2 subscription has a JetStream
      // consumer of its own.
      queuesBySubscription: true,
    },
    // https://docs.nats.io/nats-server/configuration/mqtt: MQTT 3.1.1, which has no shared subscriptions.
    protocolVersions: [4],
    hasSharedGroups: false,
    // https://docs.nats.io/learn/mqtt/where-next: a topic with a space is refused.
    takesSpaces: false,
  },

  rabbitmq: {
    name: 'RabbitMQ',
    // https://www.rabbitmq.com/docs/3.13/mqtt: "QoS 0 (at most once) and QoS 1 (at least once)"; shared subscriptions
    // are not among the supported features. Subscribing: some 300 filters a second, tried with 3.10.
    limits: { maxQos: 1, maxReportFilters: 1_000 },
    hasSharedGroups: false,
    // The same page, on AMQP's dots and MQTT's slashes: topics with dots are to be avoided (a dot comes out as a slash).
    takesDots: false,
  },
} as const satisfies Record<string, BrokerProfile>;

export type BrokerProfileName = keyof typeof BROKER_PROFILES;

/** In the order in which the panel shows them. */
export const BROKER_PROFILE_NAMES = Object.keys(BROKER_PROFILES) as BrokerProfileName[];

/**
 * The limits of a connection.
 * @param own what the user has set, which goes before the profile: a provider can raise a limit; 0: nothing
 */
export function brokerLimits(
  name: BrokerProfileName,
  own: { maxSubscriptions: number; maxUnacknowledged: number },
): BrokerLimits {
  const { limits, hasSharedGroups = true }: BrokerProfile = BROKER_PROFILES[name];
  return {
    ...(name !== 'any' && { hasSharedGroups }),
    maxFiltersPerSubscribe: limits.maxFiltersPerSubscribe,
    maxSubscriptions: own.maxSubscriptions || limits.maxSubscriptions,
    maxUnacknowledged: own.maxUnacknowledged || limits.maxUnacknowledged,
    maxPacketSize: limits.maxPacketSize,
    maxQos: limits.maxQos,
    ...(limits.maxSharedSubscriptions !== undefined && {
      maxSharedSubscriptions: limits.maxSharedSubscriptions,
    }),
    ...(limits.maxReportFilters !== undefined &&
      own.maxSubscriptions === 0 && { maxReportFilters: limits.maxReportFilters }),
    ...(limits.queuesBySubscription && { queuesBySubscription: true }),
  };
}

/** Why a profile forbids a setting: a reason of `INVALID_INPUT` and its placeholders. */
export interface ProfileProblem {
  reason: string;
  values: Record<string, string | number>;
}

type Check = (profile: BrokerProfile, value: string) => ProfileProblem | undefined;

/** The settings that a profile can forbid, in the order in which they are checked. */
const CHECKS = {
  protocolVersion: ({ protocolVersions }, value) =>
    protocolVersions && !protocolVersions.includes(Number(value)) ? problem('profileVersion') : undefined,
  keepalive: ({ keepalive }, value) =>
    keepalive && !(Number(value) >= keepalive.min && Number(value) <= keepalive.max)
      ? problem('profileRange', keepalive)
      : undefined,
  reportQos: checkQos,
  requestQos: checkQos,
  sharedGroup: ({ hasSharedGroups = true }, value) =>
    value !== '' && !hasSharedGroups ? problem('profileShared') : undefined,
  topicPrefix: checkPrefix,
  clientId: ({ maxClientIdBytes: limit }, value) =>
    limit !== undefined && bytesOf(value) > limit ? problem('profileBytes', { limit }) : undefined,
} as const satisfies Record<string, Check>;

export type ProfiledSetting = keyof typeof CHECKS;
export const PROFILED_SETTINGS = Object.keys(CHECKS) as ProfiledSetting[];

/**
 * Whether a profile forbids a setting.
 * @param value of any type that the setting is saved with
 */
export function findProfileProblem(
  name: BrokerProfileName,
  setting: ProfiledSetting,
  value: unknown,
): ProfileProblem | undefined {
  const profile: BrokerProfile = BROKER_PROFILES[name];
  const found = CHECKS[setting](profile, String(value ?? ''));
  return found && { ...found, values: { ...found.values, broker: profile.name } };
}

function checkQos({ limits }: BrokerProfile, value: string): ProfileProblem | undefined {
  const { maxQos: max = Number.POSITIVE_INFINITY } = limits;
  return Number(value) > max ? problem('profileQos', { max }) : undefined;
}

/** Of the names of properties that the catalogue has; decoded topics carry them. */
const MAX_NAME_LENGTH = 36;

/** The prefix with the longest topic that gateways put behind it. */
function checkPrefix(profile: BrokerProfile, prefix: string): ProfileProblem | undefined {
  const { maxLevels = Number.POSITIVE_INFINITY, maxTopicBytes = Number.POSITIVE_INFINITY } = profile;
  const { takesSpaces = true, takesDots = true } = profile;
  const topic = createTopics(prefix).reportFilter({
    gateway: '0'.repeat(12),
    device: '0'.repeat(12),
    segment: 'measurement-error-decoded',
    identifier: '0'.repeat(MAX_NAME_LENGTH),
  });
  if (topic.split('/').length > maxLevels) {
    return problem('profileLevels', { limit: maxLevels });
  }
  if (bytesOf(topic) > maxTopicBytes) {
    return problem('profileBytes', { limit: maxTopicBytes - bytesOf(topic) + bytesOf(prefix) });
  }
  if (!takesSpaces && /\s/.test(prefix)) {
    return problem('profileSpaces');
  }
  return !takesDots && prefix.includes('.') ? problem('profileDots') : undefined;
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

const problem = (reason: string, values: ProfileProblem['values'] = {}): ProfileProblem => ({
  reason,
  values,
});
