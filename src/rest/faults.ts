// Faults of the network: what they are called, and whether the service may have been reached.
import { ServiceError, showDuration, type TextValues } from '../errors.ts';

/** NETWORK: no whole response came. */
export class NetworkError extends ServiceError {
  readonly #wasSent: boolean;

  constructor(reason: string, cause: Record<string, unknown>, values: TextValues, wasSent: boolean) {
    super('NETWORK', reason, cause, values);
    this.#wasSent = wasSent;
  }

  /** Whether a part of the request may have reached the service; without a connection nothing did. */
  get wasSent(): boolean {
    return this.#wasSent;
  }
}

/** undici's own codes in the words of the operating system, which people can look up. */
const CODES: Record<string, string> = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'ECONNRESET',
};
const REASONS: Record<string, string> = {
  ETIMEDOUT: 'timeout',
  ENOTFOUND: 'notFound',
  EAI_AGAIN: 'notFound',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  HTTP_100_CONTINUE: 'continue',
};

/** A code that people can look up; `UNKNOWN` where the fault has none. */
export function codeOf(error: unknown): string {
  const { code, name, message } = error as { code?: unknown; name?: unknown; message?: unknown };
  // undici gives no code to a response that its parser refuses.
  if (name === 'HTTPParserError') {
    return 'ERR_HTTP_PARSER';
  }
  // This is how undici refuses a 100 Continue, for which it never asks; the socket was sound.
  if (code === 'UND_ERR_SOCKET' && message === 'bad response') {
    return 'HTTP_100_CONTINUE';
  }
  return typeof code === 'string' ? (CODES[code] ?? code) : 'UNKNOWN';
}

/**
 * @param timeout milliseconds that the service had
 * @param proxy host and port of the proxy in between
 */
export function networkError(
  code: string,
  origin: string,
  timeout: number,
  wasSent: boolean,
  proxy?: string,
): NetworkError {
  const { host } = new URL(origin);
  // While there is no connection, nobody knows which of the two is silent.
  const reason = code === 'ETIMEDOUT' && proxy !== undefined && !wasSent ? 'proxyTimeout' : reasonOf(code);
  const through: { proxy: string } | undefined = proxy === undefined ? undefined : { proxy };
  return new NetworkError(
    reason,
    { code, ...through },
    { host, code, timeout: showDuration(timeout), ...through },
    wasSent,
  );
}

/** What prevented the tunnel through a proxy: nothing was sent through it yet. */
export function tunnelError({ text, cause }: ServiceError): NetworkError {
  return new NetworkError(text.key.replace('NETWORK.', ''), cause, text.values, false);
}

function reasonOf(code: string): string {
  if (/CERT|SIGNATURE|ISSUER|CRL/.test(code)) {
    return 'certificate';
  }
  if (/^(ERR_(SSL|TLS|OSSL)|EPROTO)/.test(code)) {
    return 'tls';
  }
  if (/^ERR_HTTP_PARSER$|^UND_ERR_HEADERS_OVERFLOW$/.test(code)) {
    return 'notHttp';
  }
  return REASONS[code] ?? 'unreachable';
}
