// What an mt-service config node saves: the addresses of both halves of the service and how to talk to them.
import { BROKER_PROFILE_NAMES, type BrokerProfileName } from '../../src/protocol/broker-profiles.ts';
import { asText, hasEnv, type Range, readConfig, TIMEOUT_RANGE } from '../shared/defaults.ts';

export interface ServiceConfig {
  version: number;
  name: string;
  authUrl: string;
  baseUrl: string;
  /** Separated by commas or line ends. */
  brokerUrl: string;
  /** Id of a core tls-config node. */
  tls: string;
  /** Id of a core `http proxy` node; empty: the environment's proxies. */
  proxy: string;
  brokerProfile: BrokerProfileName;
  clientId: string;
  protocolVersion: 4 | 5;
  /** Seconds. */
  keepalive: number;
  persistent: boolean;
  /** Seconds; MQTT 5 only. */
  sessionExpiry: number;
  sharedGroup: string;
  topicPrefix: string;
  reportQos: 0 | 1 | 2;
  requestQos: 0 | 1 | 2;
  /** Milliseconds. */
  requestTimeout: number;
  maxInFlight: number;
  maxQueue: number;
  /** Topic filters at the broker; 0: what the profile or the broker says. */
  maxSubscriptions: number;
  /** Publishes without an acknowledgement; 0: what the profile or the broker says. */
  maxUnacknowledged: number;
  /** Milliseconds. */
  httpTimeout: number;
  httpRetries: number;
  authHeader: string;
  pageTokenParam: string;
  /** Of the POST that attaches a label to `{device}`; empty: labels are not attached. */
  attachPath: string;
  /** Names of devices are fetched in the background, so that reports and responses carry them. */
  names: boolean;
  /** Name of a context store for last values; empty: nothing outlives a restart. */
  remember: string;
  ackOperation: string;
  ackDecodedOperation: string;
  /** JSON object; strings of the form `{{name}}` are replaced by the sample's field. */
  ackTemplate: string;
  /** Further catalogue entries, JSON text. */
  identifiers: string;
}

/** Credentials of the config node; a type of `password` never returns to the editor. */
export interface ServiceCredentials {
  username?: string;
  password?: string;
  mqttUsername?: string;
  mqttPassword?: string;
}

export const CREDENTIALS = {
  username: { type: 'text' },
  password: { type: 'password' },
  mqttUsername: { type: 'text' },
  mqttPassword: { type: 'password' },
} as const;

export const DEFAULTS: ServiceConfig = {
  version: 1,
  name: '',
  authUrl: '',
  baseUrl: '',
  brokerUrl: '',
  tls: '',
  proxy: '',
  brokerProfile: 'any',
  clientId: '',
  protocolVersion: 4,
  keepalive: 60,
  persistent: false,
  sessionExpiry: 86_400,
  sharedGroup: '',
  topicPrefix: '',
  reportQos: 1,
  requestQos: 1,
  requestTimeout: 30_000,
  maxInFlight: 8,
  maxQueue: 1_000,
  maxSubscriptions: 0,
  maxUnacknowledged: 0,
  httpTimeout: 15_000,
  httpRetries: 3,
  authHeader: 'Authorization',
  pageTokenParam: 'NextToken',
  attachPath: 'api/v1/devices/{device}/labels',
  names: true,
  remember: '',
  ackOperation: 'ack',
  ackDecodedOperation: 'ack-decoded',
  ackTemplate: '{"time":"{{time}}"}',
  identifiers: '[]',
};

/** What these numbers can be. */
export const RANGES = {
  /** MQTT has 16 bits for it, and 32 for the next. */
  keepalive: { min: 0, max: 65_535 },
  sessionExpiry: { min: 0, max: 4_294_967_295 },
  requestTimeout: TIMEOUT_RANGE,
  maxInFlight: { min: 1 },
  maxQueue: { min: 0 },
  maxSubscriptions: { min: 0 },
  maxUnacknowledged: { min: 0 },
  httpTimeout: TIMEOUT_RANGE,
  httpRetries: { min: 0 },
} as const satisfies { [K in keyof ServiceConfig]?: Range };

/** Texts that mean something only when they are not empty: an empty one becomes the default. */
const NEVER_EMPTY = [
  'authHeader',
  'pageTokenParam',
  'ackOperation',
  'ackDecodedOperation',
  'ackTemplate',
  'identifiers',
] as const satisfies (keyof ServiceConfig)[];

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): ServiceConfig {
  const config = readConfig(old, DEFAULTS, {
    brokerProfile: BROKER_PROFILE_NAMES,
    protocolVersion: [4, 5],
    reportQos: [0, 1, 2],
    requestQos: [0, 1, 2],
  });
  for (const key of NEVER_EMPTY) {
    config[key] = config[key].trim() || DEFAULTS[key];
  }
  return { ...config, keepalive: readKeepalive((old as { keepalive?: unknown } | null)?.keepalive, config) };
}

/** What is given and is no number of seconds is refused when it is deployed, and not replaced silently. */
function readKeepalive(given: unknown, { keepalive }: ServiceConfig): number {
  const isGiven = given !== undefined && given !== null && given !== '';
  return isGiven && !hasEnv(given) ? Number(asText(given)) : keepalive;
}
