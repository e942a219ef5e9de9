// What an mt-timestamped-ack node saves: where a sample is found that carries no report, and whether to wait.
import { type NodeConfig, readConfig, type Timeout, type TypedField } from '../shared/defaults.ts';

export interface TimestampedAckConfig
  extends NodeConfig,
    TypedField<'gateway' | 'device' | 'identifier' | 'form' | 'time'> {
  name: string;
  /** True: the message goes on when the response has come; false: when the broker has the acknowledgement. */
  wait: boolean;
  timeout: Timeout;
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
};

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): TimestampedAckConfig {
  return readConfig(old, DEFAULTS);
}
