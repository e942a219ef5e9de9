// What an mt-service-request node saves: the method, path, query and body of a free REST call.
import { HTTP_METHODS, parseHttpMethod } from '../../src/protocol/http-methods.ts';
import { type NodeConfig, readConfig, type TypedField } from '../shared/defaults.ts';

export const METHODS = [...HTTP_METHODS, 'msg'] as const;

export interface ServiceRequestConfig extends NodeConfig, TypedField<'path' | 'query' | 'body'> {
  name: string;
  /** `msg`: taken from `msg.method`. */
  method: (typeof METHODS)[number];
}

export const DEFAULTS: ServiceRequestConfig = {
  version: 1,
  name: '',
  service: '',
  method: 'GET',
  path: 'path',
  pathType: 'msg',
  query: 'query',
  queryType: 'msg',
  body: 'payload',
  bodyType: 'msg',
};

/** The config of a saved node of any version; see `readConfig`. */
export function upgrade(old: unknown): ServiceRequestConfig {
  const config = readConfig(old, DEFAULTS, { method: METHODS });
  return {
    ...config,
    // A method may be in lower case, as that of a message.
    method: parseHttpMethod((old as { method?: unknown } | null | undefined)?.method) ?? config.method,
  };
}
