// What an mt-gw-read node saves: which property of which device is read, and how the request travels.
import { type NodeConfig, readConfig, type Timeout, type TypedField } from '../shared/defaults.ts';

export const OPERATIONS = ['read', 'apiversion'] as const;
export const FORMS = ['auto', 'raw', 'decoded'] as const;

/** The typed fields that a read and a write have in common. */
export type RequestFields = TypedField<
  'gateway' | 'device' | 'identifier' | 'priority' | 'extenderId' | 'accessType' | 'publicKey'
>;

export interface GwReadConfig extends NodeConfig, RequestFields {
  name: string;
  operation: (typeof OPERATIONS)[number];
  form: (typeof FORMS)[number];
  timeout: Timeout;
  decode: boolean;
}

export interface KeyCredentials {
  key?: string;
}

export const CREDENTIALS = { key: { type: 'password' } } as const;

export const REQUEST_FIELDS: RequestFields = {
  gateway: 'gateway',
  gatewayType: 'msg',
  device: 'device',
  deviceType: 'msg',
  identifier: 'identifier',
  identifierType: 'msg',
  priority: 'priority',
  priorityType: 'msg',
  extenderId: 'extenderId',
  extenderIdType: 'msg',
  accessType: 'accessType',
  accessTypeType: 'msg',
  publicKey: 'publicKey',
  publicKeyType: 'msg',
};

export const DEFAULTS: GwReadConfig = {
  version: 1,
  name: '',
  service: '',
  operation: 'read',
  ...REQUEST_FIELDS,
  form: 'auto',
  timeout: '',
  decode: true,
};

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): GwReadConfig {
  return readConfig(old, DEFAULTS, { operation: OPERATIONS, form: FORMS });
}
