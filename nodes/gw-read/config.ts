// What an mt-gw-read node saves: which property of which device is read, and how the request travels.
import { readConfig } from '../shared/defaults.ts';
import { REQUEST_DEFAULTS, REQUEST_FORMS, type RequestConfig } from '../shared/request-config.ts';

export { KEY_CREDENTIALS as CREDENTIALS } from '../shared/request-config.ts';

export const OPERATIONS = ['read', 'apiversion'] as const;

export interface GwReadConfig extends RequestConfig {
  operation: (typeof OPERATIONS)[number];
}

export const DEFAULTS: GwReadConfig = { operation: 'read', ...REQUEST_DEFAULTS };

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): GwReadConfig {
  return readConfig(old, DEFAULTS, { operation: OPERATIONS, form: REQUEST_FORMS });
}
