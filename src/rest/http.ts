// Sends one HTTP request and collects its response; alone knows undici, which is loaded with the first request.
import type { Socket } from 'node:net';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import { startPatientTimer } from '../collections/patient-timer.ts';
import { ServiceError } from '../errors.ts';
import { proxyFor } from '../proxy/choice.ts';
import { openTunnel } from '../proxy/tunnel.ts';
import type { ProxySettings, TlsSettings } from '../settings.ts';
import { SOCKET_OPTIONS } from '../socket-options.ts';
import { findOwnFault } from '../tls/own-certificates.ts';
import { decode, encodingOf } from './content-encoding.ts';
import { codeOf, networkError, tunnelError } from './faults.ts';

export interface HttpRequest {
  origin: string;
  /** Percent-encoded, with the query. */
  path: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
  /** 2xx is success whatever the body of the response, which is left out then. */
  ignoresBody?: boolean;
}

export interface HttpResponse {
  statusCode: number;
  /** Names in lower case; without encoding and length of a body that was decompressed. */
  headers: Record<string, string | string[] | undefined>;
  /** Decompressed. */
  body: string;
  /**
   * The body was longer than what is kept (16 MB of a 2xx response, 64 kB of any other) and ends there; or, of other than
   * 2xx, it did not come to its end.
   */
  isCut: boolean;
  /** It is that of an earlier call, because of which this one was not sent. */
  isOfEarlier?: true;
}

/** The largest body of a successful response, bytes. */
export const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Of an error's body only the beginning is shown, so no more than this is kept. */
const MAX_ERROR_BODY_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 4;
/** So long a body that nobody reads may take, so that its connection can be used again. */
const MAX_UNREAD_MS = 1_000;
/** Larger parts of a body are kept as they came. */
const MAX_JOINED_BYTES = 16 * 1024;
/** Characters. */
const MAX_SHOWN_ENCODING = 50;
/** The marks, in hex, of what is not UTF-8. */
const BYTE_ORDERS: Record<string, string> = { fffe: 'utf-16le', feff: 'utf-16be' };
const CHARSET = /;\s*charset="?([^\s";]+)/i;
/** Other charsets have bytes of them within or between characters; line breaks and tabs are in any text. */
const CONTROL = /(?![\t\n\r])\p{Cc}/u;

/**
 * The sockets to one service. The parts of undici are taken one by one, because loading the package itself would replace
 * the dispatcher of the process's own `fetch`.
 */
export class HttpAgent {
  readonly #timeout: number;
  readonly #tls: TlsSettings | undefined;
  readonly #proxy: ProxySettings | undefined;
  readonly #sockets = new Set<Socket>();
  #agent: Promise<Agent> | undefined;
  /** Aborted with the end: tunnels that are not open yet. */
  readonly #closing = new AbortController();

  /** @param timeout milliseconds until a whole response has to be there */
  constructor(timeout: number, tls?: TlsSettings, proxy?: ProxySettings) {
    this.#timeout = timeout;
    this.#tls = tls;
    this.#proxy = proxy;
  }

  /**
   * Sends once: no retries, no redirects.
   * @throws NETWORK when no whole response came in time, of a failure not even its status, or a proxy does not let through, CLOSED when the signal is aborted
   *   or the agent is closed, BAD_RESPONSE when a successful response has an encoding that cannot be read
   */
  async send(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse> {
    this.#agent ??= this.#open();
    const agent = await this.#agent;
    if (signal?.aborted || this.#closing.signal.aborted) {
      throw new ServiceError('CLOSED', 'stopped');
    }
    const proxy = proxyFor(this.#proxy, request.origin)?.shown;
    const closing = this.#closing.signal;
    const response = collect(agent, request, { signal, closing, timeout: this.#timeout, proxy });
    // A socket that is destroyed looks like a fault of the network to whoever waits for it.
    return response.catch((error: unknown) => {
      throw this.#closing.signal.aborted ? new ServiceError('CLOSED', 'stopped') : error;
    });
  }

  /** Ends every socket at once, also those that are still connecting. */
  async close(): Promise<void> {
    this.#closing.abort();
    const agent = await this.#agent?.catch(() => undefined);
    for (const socket of this.#sockets) {
      socket.destroy();
    }
    await agent?.destroy();
  }

  async #open(): Promise<Agent> {
    const [{ default: AgentPart }, { default: buildConnector }] = await Promise.all([
      import('undici/lib/dispatcher/agent.js'),
      import('undici/lib/core/connect.js'),
    ]);
    const connect: Connect = buildConnector({
      ...this.#tls,
      ...SOCKET_OPTIONS,
      timeout: this.#timeout,
    } as Parameters<typeof buildConnector>[0]);
    return new AgentPart({
      connections: MAX_CONNECTIONS,
      // Our own clock runs over the whole call, undici's only over parts of it.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (options, callback) => {
        const fault = options.protocol === 'https:' ? findOwnFault(this.#tls) : undefined;
        if (fault) {
          queueMicrotask(() => callback(fault, null));
        } else if (proxyFor(this.#proxy, originOf(options))) {
          this.#connectThrough(connect, options).then(
            (socket) => callback(null, socket),
            (error: Error) => callback(error, null),
          );
        } else {
          this.#keep(connect(options, callback));
        }
      },
    });
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }

  /** With TLS, where the address says so, between this end and the service. */
  async #connectThrough(connect: Connect, options: buildConnector.Options): Promise<Socket> {
    const proxy = proxyFor(this.#proxy, originOf(options))!;
    const { hostname: host } = options;
    const isSecure = options.protocol === 'https:';
    const port = Number(options.port) || (isSecure ? 443 : 80);
    const { signal } = this.#closing;
    const tunnel = this.#keep(await openTunnel({ proxy, host, port, timeout: this.#timeout, signal }));
    if (!isSecure) {
      return tunnel;
    }
    return new Promise((resolve, reject) => {
      const done: buildConnector.Callback = (...[error, socket]) =>
        error ? reject(error) : resolve(socket!);
      this.#keep(connect({ ...options, httpSocket: tunnel }, done));
    });
  }
}

type Connect = (options: buildConnector.Options, callback: buildConnector.Callback) => Socket;

const originOf = ({ protocol, host }: buildConnector.Options): string => `${protocol}//${host}`;

interface Exchange {
  signal: AbortSignal | undefined;
  /** Aborted when the sockets are ended here. */
  closing: AbortSignal;
  timeout: number;
  /** Host and port of the proxy in between. */
  proxy: string | undefined;
}

function collect(
  agent: Agent,
  request: HttpRequest,
  { signal, closing, timeout, proxy }: Exchange,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let settled = false;
    const settle = (outcome: HttpResponse | ServiceError) => {
      settled = true;
      endTimer();
      signal?.removeEventListener('abort', stop);
      if (outcome instanceof ServiceError) {
        reject(outcome);
      } else {
        resolve(outcome);
      }
    };
    const end = (outcome: HttpResponse | ServiceError) => {
      settle(outcome);
      leave(controller);
    };
    const fail = (code: string) =>
      networkError(code, request.origin, timeout, controller !== undefined, proxy);
    const stop = () => end(new ServiceError('CLOSED', 'stopped'));
    const response: HttpResponse = { statusCode: 0, headers: {}, body: '', isCut: false };
    const giveUp = () => {
      if (tellsEnough(response, request)) {
        leave(controller);
      } else {
        end(fail('ETIMEDOUT'));
      }
    };
    let endTimer = startPatientTimer(giveUp, timeout);
    signal?.addEventListener('abort', stop);

    const chunks: Buffer[] = [];
    let size = 0;
    const finish = () => {
      if (isUnread(response, request)) {
        settle({ ...response, isCut: false });
        return;
      }
      const bytes = response.isCut ? firstOf(chunks) : Buffer.concat(chunks);
      const encoding = encodingOf(response.headers['content-encoding']);
      if (encoding === '') {
        response.body = textOf(bytes, response);
        settle(response);
      } else {
        void readEncoded(bytes, encoding, response, request).then(settle);
      }
    };
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(given) {
        controller = given;
        // The time ran out while there was no connection: nothing may be sent any more.
        if (settled) {
          leave(given);
        }
      },
      onResponseStart(_, statusCode, headers) {
        Object.assign(response, { statusCode, headers });
        if (isUnread(response, request)) {
          endTimer();
          endTimer = startPatientTimer(giveUp, Math.min(timeout, MAX_UNREAD_MS));
        }
      },
      onResponseData(_, chunk) {
        size += chunk.length;
        addPart(chunks, chunk);
        response.isCut = size > maxBytesOf(response);
        if (response.isCut) {
          leave(controller);
        }
      },
      onResponseEnd: finish,
      onResponseError(_, error) {
        if (response.isCut || (!settled && !closing.aborted && tellsEnough(response, request))) {
          response.isCut = true;
          finish();
        } else {
          settle(error instanceof ServiceError ? tunnelError(error) : fail(codeOf(error)));
        }
      },
    };
    agent.dispatch(request as Dispatcher.DispatchOptions, handler);
  });
}

/**
 * Each part takes a hundred bytes of memory beside its own: a body that comes byte by byte would take a hundred times its
 * limit. Small ones are put together, each byte about a dozen times at most.
 */
function addPart(parts: Buffer[], part: Buffer): void {
  parts.push(part);
  let [before, last] = parts.slice(-2);
  while (before && last && before.length <= last.length && last.length <= MAX_JOINED_BYTES) {
    parts.splice(-2, 2, Buffer.concat([before, last]));
    [before, last] = parts.slice(-2);
  }
}

/** Nothing more is sent or read; a handler is told of it as of an error. */
const leave = (controller: Dispatcher.DispatchController | undefined): void =>
  controller?.abort(new Error('not wanted any more'));

/** The status is all that is needed of it: what is wrong with the body changes nothing. */
const tellsEnough = (response: HttpResponse, request: HttpRequest): boolean =>
  isFailure(response) || isUnread(response, request);

/** A success whose body nobody reads. */
const isUnread = (response: HttpResponse, { ignoresBody = false }: HttpRequest): boolean =>
  ignoresBody && response.statusCode >= 200 && !isFailure(response);

const isFailure = ({ statusCode }: HttpResponse): boolean => statusCode > 299;

const maxBytesOf = (response: HttpResponse): number =>
  isFailure(response) ? MAX_ERROR_BODY_BYTES : MAX_BODY_BYTES;

/** Enough to show what it was; the rest need not live on in an error. */
function firstOf(chunks: Buffer[]): Buffer {
  return Buffer.concat(chunks).subarray(0, MAX_ERROR_BODY_BYTES);
}

/**
 * A text whose header names an encoding that it has not is read as it is.
 * @returns BAD_RESPONSE where nobody could read a successful response; of an error the status tells most
 */
async function readEncoded(
  bytes: Buffer,
  encoding: string,
  response: HttpResponse,
  { origin }: HttpRequest,
): Promise<HttpResponse | ServiceError> {
  // Nothing that is compressed looks like one, but for an empty text as one byte of Brotli.
  const text = encoding === 'br' && bytes.length === 1 ? undefined : readUtf8(bytes, response.isCut);
  // They speak of what was sent: a flow that passes them on with the text would break its response.
  const { 'content-encoding': _encoding, 'content-length': _length, ...headers } = response.headers;
  if (text !== undefined) {
    return { ...response, headers, body: text };
  }
  const maxBytes = maxBytesOf(response);
  const decoded = await decode(bytes, encoding, { maxBytes, isCut: response.isCut });
  if (decoded !== undefined) {
    const isCut = response.isCut || decoded.length > maxBytes;
    const kept = isCut ? firstOf([decoded]) : decoded;
    return { ...response, headers, isCut, body: textOf(kept, { ...response, isCut }) };
  }
  if (isFailure(response)) {
    return response;
  }
  const shown = encoding.slice(0, MAX_SHOWN_ENCODING);
  return new ServiceError(
    'BAD_RESPONSE',
    'encoding',
    { body: '' },
    { host: new URL(origin).host, encoding: shown },
  );
}

/** What succeeds is JSON, which is UTF-8 whatever its header says; of an error the header may be right. */
function textOf(bytes: Buffer, response: HttpResponse): string {
  const { headers, isCut } = response;
  const marked = BYTE_ORDERS[bytes.toString('hex', 0, 2)];
  const named = isFailure(response) ? CHARSET.exec(String(headers['content-type']))?.[1] : undefined;
  const utf8 = named !== undefined ? readUtf8(bytes, isCut) : undefined;
  return utf8 ?? decoderOf(marked ?? named).decode(bytes, { stream: isCut });
}

/**
 * @param isCut it may end within a character, which is left out
 * @returns undefined: it is none, or only seems to be, as ASCII in UTF-16
 */
function readUtf8(bytes: Buffer, isCut: boolean): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
    return CONTROL.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

function decoderOf(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    // No charset that there is.
    return new TextDecoder();
  }
}
