// The proxy of a service: its core "http proxy" configuration node, or what Node-RED's environment names.
import type { Node, NodeAPI } from 'node-red';
import {
  invalidInput,
  type ProxyOptions,
  type ProxySettings,
  readProxyEnvironment,
} from '../../src/index.ts';
import { asText } from '../shared/defaults.ts';

/** What the core node keeps; see `core/network/06-httpproxy.js` in `@node-red/nodes`. */
interface ProxyNode extends Node {
  type: string;
  url?: unknown;
  noproxy?: unknown;
  credentials: { username?: string; password?: string };
}

/**
 * @param id of the configuration node; empty: the environment's proxies
 * @throws INVALID_INPUT: going on without a proxy that is named would send everything another way
 */
export function readProxies(RED: NodeAPI, id: string): ProxySettings {
  if (id === '') {
    const { proxyOptions } = RED.settings as { proxyOptions?: ProxyOptions | null };
    return readProxyEnvironment(process.env, proxyOptions);
  }
  const node = RED.nodes.getNode(id) as ProxyNode | null;
  if (node?.type !== 'http proxy') {
    throw invalidInput('proxy', id, 'noProxy');
  }
  const url = typeof node.url === 'string' ? node.url.trim() : '';
  if (url === '') {
    throw invalidInput('proxy', '', 'notProxy');
  }
  const { username = '', password = '' } = node.credentials ?? {};
  return {
    addresses: { http: url, https: url, ws: url, wss: url },
    exceptions: Array.isArray(node.noproxy) ? node.noproxy.map(asText).join(',') : '',
    ...((username !== '' || password !== '') && { login: { username, password } }),
  };
}
