// What an mt-gw-write node saves: what is written to which property of which device, and how the request travels.
import { FORMS, REQUEST_FIELDS, type RequestFields } from '../gw-read/config.ts';
import { type NodeConfig, readConfig, type Timeout, type TypedField } from '../shared/defaults.ts';

export { CREDENTIALS, FORMS, type KeyCredentials } from '../gw-read/config.ts';

export interface GwWriteConfig extends NodeConfig, RequestFields, TypedField<'value' | 'ext'> {
  name: string;
  form: (typeof FORMS)[number];
  timeout: Timeout;
  decode: boolean;
}

export const DEFAULTS: GwWriteConfig = {
  version: 1,
  name: '',
  service: '',
  ...REQUEST_FIELDS,
  value: 'payload',
  valueType: 'msg',
  ext: 'ext',
  extType: 'msg',
  form: 'auto',
  timeout: '',
  decode: true,
};

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): GwWriteConfig {
  return readConfig(old, DEFAULTS, { form: FORMS });
}
