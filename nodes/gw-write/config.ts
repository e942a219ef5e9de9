// What an mt-gw-write node saves: what is written to which property of which device, and how the request travels.
import { readConfig, type TypedField } from '../shared/defaults.ts';
import { REQUEST_DEFAULTS, REQUEST_FORMS, type RequestConfig } from '../shared/request-config.ts';

export { KEY_CREDENTIALS as CREDENTIALS } from '../shared/request-config.ts';

export interface GwWriteConfig extends RequestConfig, TypedField<'value' | 'ext'> {}

export const DEFAULTS: GwWriteConfig = {
  ...REQUEST_DEFAULTS,
  value: 'payload',
  valueType: 'msg',
  ext: 'ext',
  extType: 'msg',
};

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): GwWriteConfig {
  return readConfig(old, DEFAULTS, { form: REQUEST_FORMS });
}
