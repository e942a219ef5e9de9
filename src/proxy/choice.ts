// Which proxy an address is connected through, by the rules of Node-RED's own nodes; knows nothing of sockets.
import { isIPv6 } from 'node:net';
import { invalidInput } from '../errors.ts';
import { hasLogin, showAddress } from '../protocol/redaction.ts';
import type { ProxySettings } from '../settings.ts';

/** A proxy that speaks HTTP and opens tunnels with CONNECT. */
export interface ProxyAddress {
  /** The way to the proxy itself is encrypted. */
  isSecure: boolean;
  /** An IPv6 address without its brackets. */
  hostname: string;
  port: number;
  /** For people: host and port, never the login. */
  shown: string;
  /** A secret: the value of `Proxy-Authorization`. */
  authorization?: string;
}

/** By the scheme of what is connected to. */
const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, ws: 80, wss: 443 };

/**
 * @param address of a REST service or a broker
 * @returns undefined: connected to directly, as every address with another scheme than http, https, ws or wss
 * @throws INVALID_INPUT `proxy` for a proxy of another kind, such as SOCKS
 */
export function proxyFor(settings: ProxySettings | undefined, address: string): ProxyAddress | undefined {
  if (!settings || !URL.canParse(address)) {
    return undefined;
  }
  const url = new URL(address);
  const scheme = url.protocol.slice(0, -1);
  if (!Object.hasOwn(DEFAULT_PORTS, scheme)) {
    return undefined;
  }
  const proxy = settings.addresses[scheme as keyof ProxySettings['addresses']];
  return proxy && !isExempt(settings, url) ? readProxy(proxy, settings.login) : undefined;
}

/** The proxies that these addresses are connected through, each once, as host and port. */
export function proxiesOf(settings: ProxySettings | undefined, addresses: readonly string[]): string[] {
  const shown = addresses.flatMap((address) => proxyFor(settings, address)?.shown ?? []);
  return [...new Set(shown)];
}

function readProxy(address: string, login: ProxySettings['login']): ProxyAddress {
  const text = address.includes('://') ? address : `http://${address}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // A login that ends up in the path or behind it would be shown as host and port.
  const isTorn = url !== undefined && hasLogin(text) && !url.username && !url.password;
  if (!url || isTorn || !/^https?:/.test(url.protocol)) {
    throw invalidInput('proxy', showAddress(text, '…@'), 'notProxy');
  }
  const isSecure = url.protocol === 'https:';
  const port = Number(url.port) || (isSecure ? 443 : 80);
  const { username, password } = login ?? {
    username: decode(url.username),
    password: decode(url.password),
  };
  return {
    isSecure,
    hostname: url.hostname.replace(/[[\]]/g, ''),
    port,
    shown: `${url.hostname}:${port}`,
    ...((username !== '' || password !== '') && {
      authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    }),
  };
}

/** A login with a `%` in it need not have been percent-encoded. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isExempt({ exceptions, isLegacy }: ProxySettings, url: URL): boolean {
  if (isLegacy) {
    const parts = exceptions.split(',').map((part) => part.trim());
    return parts.some((part) => part !== '' && url.href.includes(part));
  }
  const host = url.hostname.toLowerCase();
  const port = Number(url.port) || DEFAULT_PORTS[url.protocol.slice(0, -1)];
  return exceptions
    .toLowerCase()
    .split(/[,\s]/)
    .some((entry) => matches(readException(entry), host, port));
}

interface Exception {
  host: string;
  port?: number;
}

/** `host`, `.domain`, `*.domain`, `*`, each with a port or without; an IPv6 address may lack its brackets. */
function readException(entry: string): Exception {
  if (isIPv6(entry)) {
    return { host: bracketed(entry) };
  }
  const [host = '', port] = entry.split(/:(?=\d+$)/);
  const inner = host.replace(/^\[(.*)\]$/, '$1');
  return { host: isIPv6(inner) ? bracketed(inner) : host, ...(port !== undefined && { port: Number(port) }) };
}

/** In the one spelling that addresses have: `::1` and `0:0:0:0:0:0:0:1` are the same. They have no zone (`%eth0`). */
function bracketed(address: string): string {
  const text = `http://[${address.replace(/%.*/s, '')}]`;
  return URL.canParse(text) ? new URL(text).hostname : address;
}

function matches(exception: Exception, host: string, port: number | undefined): boolean {
  if (exception.port !== undefined && exception.port !== port) {
    return false;
  }
  const end = exception.host.replace(/^\*/, '');
  return end !== exception.host || end.startsWith('.') ? host.endsWith(end) : host === end;
}
