// What a session is made of: checked, complete settings; secrets included, so never logged.
import type { ConnectionOptions } from 'node:tls';
import type { BrokerLimits } from './protocol/broker-profiles.ts';

/** The part of TLS options that Node-RED's tls-config node gives. */
export type TlsSettings = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'pfx' | 'passphrase' | 'rejectUnauthorized' | 'servername' | 'ALPNProtocols'
>;

/** Which proxy a connection takes. */
export interface ProxySettings {
  /** Of the proxy, by the scheme of what is connected to; a login in it makes it a secret. Empty: none. */
  addresses: Partial<Record<'http' | 'https' | 'ws' | 'wss', string>>;
  /** What is connected to directly, in the form of `NO_PROXY`. */
  exceptions: string;
  /** True: an exception is a text that is found anywhere in the address. */
  isLegacy?: boolean;
  /** In the place of the login in the proxy's address. */
  login?: { username: string; password: string };
}

export interface RestSettings {
  /** `{auth_url}` and `{base_url}` of the interface, without a trailing slash. */
  authUrl: string;
  baseUrl: string;
  username: string;
  password: string;
  /** Assumed, since the interface does not name them: `Authorization` and `NextToken`. */
  authHeader: string;
  pageTokenParam: string;
  /** Assumed, too: the path of the POST that attaches a label to `{device}`; empty: there is none. */
  attachPath: string;
  /** Milliseconds for one call. */
  timeout: number;
  retries: number;
  tls?: TlsSettings;
  proxy?: ProxySettings;
}

export interface MqttSettings {
  /** Tried in turn. */
  brokers: string[];
  username?: string;
  password?: string;
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
  /** What the broker allows as far as it is known before it is connected. */
  limits: BrokerLimits;
  ackOperation: string;
  ackDecodedOperation: string;
  /** What an acknowledgement carries besides `id`: strings of the form `{{name}}` are replaced by the sample's field. */
  ackPayload: Record<string, unknown>;
  tls?: TlsSettings;
  /** Of `ws` and `wss`; other connections are made directly. */
  proxy?: ProxySettings;
  /** Memory of reports of QoS 0 that wait for slow flows; 64 MB when left out. */
  maxWaitingBytes?: number;
}

export interface Settings {
  rest?: RestSettings;
  mqtt?: MqttSettings;
  /** Why a half that has addresses is left out: what needs it ends with this error. */
  problems?: { rest?: Error; mqtt?: Error };
  /** Whether the list of devices is fetched in the background, so that reports and responses carry their names. */
  names?: boolean;
  /** Further catalogue entries, unchecked. */
  identifiers?: unknown;
}
