// Opens a tunnel through an HTTP proxy (CONNECT, RFC 9110 section 9.3.6), and says in words what the proxy refuses.
import { type IncomingMessage, request } from 'node:http';
import { connect as connectPlain, isIP, isIPv6, type Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { ServiceError, showDuration } from '../errors.ts';
import { oneLine } from '../protocol/text.ts';
import { SOCKET_OPTIONS } from '../socket-options.ts';
import type { ProxyAddress } from './choice.ts';

export interface TunnelOptions {
  proxy: ProxyAddress;
  /** Where the tunnel leads; an IPv6 address without brackets. */
  host: string;
  port: number;
  /** Milliseconds until the proxy has to have opened it. */
  timeout: number;
  /** Aborted: ends an attempt at once; a tunnel that is open belongs to the caller. */
  signal?: AbortSignal;
}

/** `cause.code` of a NETWORK error that comes from the proxy, and the text that goes with it. */
const REASONS = {
  ETIMEDOUT: 'proxyTimeout',
  /** It cannot be reached, or its certificate is not accepted. */
  PROXY_UNREACHABLE: 'proxyUnreachable',
  /** Status 407. */
  PROXY_LOGIN: 'proxyLogin',
  PROXY_REFUSED: 'proxyRefused',
  /** It does not know CONNECT, or is no proxy at all. */
  PROXY_NO_TUNNEL: 'proxyNoTunnel',
  /** Status 500, 502, 503 or 504: it cannot reach the host itself. */
  PROXY_TARGET: 'proxyTarget',
} as const;

type Code = keyof typeof REASONS;

/** The same codes, of what may be over with the next attempt. */
const PASSING = { PROXY_NO_TUNNEL: 'proxyLost', PROXY_REFUSED: 'proxyBusy' } as const;
const BUSY = new Set([408, 429]);
const NOT_KNOWN = new Set([404, 405, 501]);
/** How Node.js names an answer that is no HTTP. */
const PARSER_FAULT = 'HPE_';
/** Between probes of an idle tunnel. */
const KEEPALIVE_MS = 60_000;

/**
 * @returns a socket on which the host listens; for TLS the caller puts it on top
 * @throws NETWORK, with the proxy's host and port in `cause.proxy`; CLOSED when aborted
 */
export function openTunnel(options: TunnelOptions): Promise<Socket> {
  const { proxy, timeout, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(stopped());
      return;
    }
    let isReached = false;
    const socket = connectTo(proxy, () => {
      isReached = true;
    });
    const settle = (outcome: Socket | ServiceError) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      if (outcome instanceof ServiceError) {
        socket.destroy();
        reject(outcome);
      } else {
        resolve(outcome);
      }
    };
    const stop = () => settle(stopped());
    const timer = setTimeout(() => settle(fault(options, 'ETIMEDOUT', showDuration(timeout))), timeout);
    signal?.addEventListener('abort', stop);
    // Also after the promise is settled: an error that nobody hears would end the process.
    socket.on('error', () => {});
    const lost = (error: Error & { code?: string }) => {
      const reason = error.code ?? oneLine(error.message);
      const isOther = reason.startsWith(PARSER_FAULT);
      const lostKey = isOther ? REASONS.PROXY_NO_TUNNEL : PASSING.PROXY_NO_TUNNEL;
      settle(
        isReached
          ? fault(options, 'PROXY_NO_TUNNEL', reason, lostKey)
          : fault(options, 'PROXY_UNREACHABLE', reason),
      );
    };
    const asked = ask(options, socket);
    asked.on('error', lost);
    asked.once('connect', (response: IncomingMessage, _: unknown, head: Buffer) => {
      settle(objection(options, response, head) ?? prepared(socket));
    });
    asked.end();
  });
}

/** Whether trying again soon would only be the next wrong login. */
export function refusesProxyLogin(error: unknown): boolean {
  return error instanceof ServiceError && error.cause.code === ('PROXY_LOGIN' satisfies Code);
}

function connectTo({ isSecure, hostname, port }: ProxyAddress, reached: () => void): Socket {
  if (!isSecure) {
    return connectPlain({ host: hostname, port, ...SOCKET_OPTIONS }, reached);
  }
  // The service's own certificates and settings are not for the proxy.
  const servername = isIP(hostname) ? '' : hostname;
  const options = { host: hostname, port, servername, ALPNProtocols: ['http/1.1'] };
  return connectSecure({ ...options, ...SOCKET_OPTIONS }, reached);
}

function ask({ proxy, host, port }: TunnelOptions, socket: Socket) {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return request({
    method: 'CONNECT',
    path: authority,
    headers: {
      host: authority,
      ...(proxy.authorization !== undefined && { 'proxy-authorization': proxy.authorization }),
    },
    // Not an agent of the process, which may have a proxy of its own.
    createConnection: () => socket,
  });
}

function objection(
  options: TunnelOptions,
  { statusCode = 0 }: IncomingMessage,
  head: Buffer,
): ServiceError | undefined {
  if (statusCode >= 200 && statusCode < 300) {
    // Neither HTTP nor TLS begins with the other side: this is a page, such as that of a hotel's network.
    return head.length > 0 ? fault(options, 'PROXY_NO_TUNNEL', `HTTP ${statusCode}`) : undefined;
  }
  const detail = `HTTP ${statusCode}`;
  return BUSY.has(statusCode)
    ? fault(options, 'PROXY_REFUSED', detail, PASSING.PROXY_REFUSED)
    : fault(options, codeOf(statusCode), detail);
}

function codeOf(status: number): Code {
  if (status === 407) {
    return 'PROXY_LOGIN';
  }
  if (status <= 400 || NOT_KNOWN.has(status)) {
    return 'PROXY_NO_TUNNEL';
  }
  return status < 500 ? 'PROXY_REFUSED' : 'PROXY_TARGET';
}

function prepared(socket: Socket): Socket {
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEPALIVE_MS);
  return socket;
}

/** @param detail a status, a fault's code, or a duration */
function fault(
  { proxy, host, port }: TunnelOptions,
  code: Code,
  detail: string,
  key: string = REASONS[code],
): ServiceError {
  const { shown } = proxy;
  const values = { host: `${host}:${port}`, proxy: shown, reason: detail, code, timeout: detail };
  return new ServiceError('NETWORK', key, { code, proxy: shown }, values);
}

const stopped = (): ServiceError => new ServiceError('CLOSED', 'stopped');
