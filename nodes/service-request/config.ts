// What an mt-service-request node saves: the method, path, query and body of a free REST call.
import { type NodeConfig, readConfig, type TypedField } from '../shared/defaults.ts';

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'msg'] as const;

type Method = (typeof METHODS)[number];

export interface ServiceRequestConfig extends NodeConfig, TypedField<'path' | 'query' | 'body'> {
  name: string;
  /** `msg`: taken from `msg.method`. */
  method: Method;
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
    method: readMethod((old as { method?: unknown } | null | undefined)?.method) ?? config.method,
  };
}

/** A method may be in lower case, as that of a message. */
function readMethod(saved: unknown): Method | undefined {
  return typeof saved === 'string'
    ? METHODS.find((method) => method === saved.trim().toUpperCase())
    : undefined;
}
