// What an mt-timestamped-ack node saves: where a sample is found that carries no report, and whether to wait.
import {
  type NodeConfig,
  type Range,
  readConfig,
  type Timeout,
  type TypedField,
} from '../shared/defaults.ts';

export const ACTIONS = ['stored', 'msg'] as const;

export interface TimestampedAckConfig
  extends NodeConfig,
    TypedField<'gateway' | 'device' | 'identifier' | 'form' | 'time'> {
  name: string;
  /** True: the message goes on when the response has come; false: when the broker has the acknowledgement. */
  wait: boolean;
  timeout: Timeout;
  /** What has become of the report: the flow has stored it, or `msg.action` says so. */
  action: (typeof ACTIONS)[number];
  /** Seconds until a report comes again that could not be stored. */
  retryAfter: number;
}

export const DEFAULTS: TimestampedAckConfig = {
  version: 1,
  name: '',
  service: '',
  gateway: 'gateway',
  gatewayType: 'msg',
  device: 'device',
  deviceType: 'msg',
  identifier: 'identifier',
  identifierType: 'msg',
  form: 'form',
  formType: 'msg',
  time: 'time',
  timeType: 'msg',
  wait: true,
  timeout: '',
  action: 'stored',
  retryAfter: 10,
};

export const RANGES = { retryAfter: { min: 0, max: 86_400 } } as const satisfies Record<string, Range>;

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): TimestampedAckConfig {
  return readConfig(old, DEFAULTS, { action: ACTIONS });
}
