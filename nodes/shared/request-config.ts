// What the nodes that ask a gateway save alike: the typed fields of a request, its form, its timeout and its key.
import { FORMS } from '../../src/protocol/reports/index.ts';
import type { NodeConfig, Timeout, TypedField } from './defaults.ts';

/** How the identifier is written; `auto`: hex when it looks like hex, else a name. */
export const REQUEST_FORMS = ['auto', ...FORMS] as const;

type RequestFields = TypedField<
  'gateway' | 'device' | 'identifier' | 'priority' | 'extenderId' | 'accessType' | 'publicKey'
>;

export interface RequestConfig extends NodeConfig, RequestFields {
  name: string;
  form: (typeof REQUEST_FORMS)[number];
  timeout: Timeout;
  decode: boolean;
}

export const REQUEST_DEFAULTS: RequestConfig = {
  version: 1,
  name: '',
  service: '',
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
  form: 'auto',
  timeout: '',
  decode: true,
};

export interface KeyCredentials {
  key?: string;
}

export const KEY_CREDENTIALS = { key: { type: 'password' } } as const;
