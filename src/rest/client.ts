// The REST half of the service: login, calls by the table, retries, errors in the contract's codes, state.
import { ServiceError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { parseJson } from '../protocol/json.ts';
import type { RestSettings } from '../settings.ts';
import { unlessAborted } from './abort.ts';
import { appendQuery, type BaseAddress, readBaseAddress } from './addresses.ts';
import { readToken } from './answers.ts';
import { TokenKeeper } from './auth.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { createRequest, ENDPOINTS, type EndpointName, type Params, type RestRequest } from './endpoints.ts';
import { HttpAgent, type HttpAnswer, type HttpRequest, LARGEST_BODY } from './http.ts';
import { type Repeat, repeatOf, retryDelay } from './retry.ts';
import { hideSecrets, showBody } from './secrets.ts';
import { Slots } from './slots.ts';
import type { Clock, RestState } from './types.ts';

/** The service's rate limits are not shown: no more than this at a time (also while waiting for a retry). */
const CALLS_AT_A_TIME = 4;
const MOST_WAITING = 10_000;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;

export interface CallOptions {
  /** Aborted: the call ends with CLOSED. */
  signal?: AbortSignal;
}

/**
 * One user at one service. Nothing is sent before the first call, and nothing keeps running between calls.
 *
 * Every call ends in a result or a ServiceError: NOT_CONFIGURED, INVALID_INPUT (addresses of the settings), LOGIN_FAILED,
 * HTTP_ERROR, NETWORK, BAD_RESPONSE, QUEUE_FULL or CLOSED. At most 4 calls run at a time; `timeout` of the settings counts
 * for each attempt. Retries: see `retry.ts`; refused logins: see `auth.ts`.
 */
export class RestClient {
  readonly #settings: RestSettings;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #http: HttpAgent;
  readonly #tokens: TokenKeeper;
  readonly #slots = new Slots(CALLS_AT_A_TIME, MOST_WAITING);
  readonly #listeners = new Set<(state: RestState) => void>();
  readonly #closing = new AbortController();
  #state: RestState = { name: 'idle' };

  constructor(settings: RestSettings, { log, clock = SYSTEM_CLOCK }: { log: Logger; clock?: Clock }) {
    this.#settings = settings;
    this.#log = log;
    this.#clock = clock;
    this.#http = new HttpAgent(settings.timeout, settings.tls);
    this.#tokens = new TokenKeeper(() => this.#login(), clock);
  }

  get settings(): Readonly<Pick<RestSettings, 'pageTokenParam'>> {
    return this.#settings;
  }

  get state(): RestState {
    return this.#state;
  }

  /** Calls the listener at every change of state. @returns stops it */
  onState(listener: (state: RestState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Calls a row of the table of endpoints.
   * @param params by the names of the row; see `createRequest`
   * @returns the JSON of the answer, or undefined where the row ignores it
   */
  async call(
    name: Exclude<EndpointName, 'login'>,
    params: Params,
    options: CallOptions = {},
  ): Promise<unknown> {
    const request = createRequest(name, params);
    const { body } = await this.send(request, options);
    if (ENDPOINTS[name].result === 'ignored') return undefined;
    const json = parseJson(body);
    if (json === undefined) throw this.badResponse('notJsonRest', body, request);
    return json;
  }

  /** Sends an authenticated request below the base URL. @returns the answer when it is 2xx */
  async send(request: RestRequest, { signal }: CallOptions = {}): Promise<HttpAnswer> {
    const base = this.#address('baseUrl');
    return this.#run(signal, async () => {
      const answer = await this.#authorized(base, request, signal);
      if (!isSuccess(answer)) throw this.#httpError(answer, request);
      if (answer.isCut) throw this.badResponse('tooLarge', answer.body, request);
      return answer;
    });
  }

  /** An answer that is not what the interface says; `body` is shown shortened and without secrets. */
  badResponse(reason: string, body: string, { method, path }: RestRequest): ServiceError {
    return new ServiceError(
      'BAD_RESPONSE',
      reason,
      { body: this.#show(body) },
      { method, path, limit: LARGEST_BODY / 1024 / 1024 },
    );
  }

  /** Ends every call with CLOSED and every socket; never rejects. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#enter({ name: 'closed' });
    await this.#http.close().catch((error: unknown) => this.#log.trace(`closing: ${error}`));
  }

  #address(field: 'authUrl' | 'baseUrl'): BaseAddress {
    const { authUrl, baseUrl, username, password, authHeader } = this.#settings;
    const part = { part: 'rest' };
    if (!authUrl || !baseUrl) throw new ServiceError('NOT_CONFIGURED', 'rest', part);
    if (!username || !password) throw new ServiceError('NOT_CONFIGURED', 'credentials', part);
    if (!HEADER_NAME.test(authHeader)) {
      throw new ServiceError(
        'INVALID_INPUT',
        'notHeader',
        { field: 'authHeader', value: authHeader },
        {
          field: 'authHeader',
          value: this.#show(authHeader),
        },
      );
    }
    return readBaseAddress(field, field === 'authUrl' ? authUrl : baseUrl);
  }

  /** Gives a call its slot and notes its end. The usual way costs no signal of its own: lists are long. */
  async #run<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result> {
    const closing = this.#closing.signal;
    if (signal?.aborted || closing.aborted) throw new ServiceError('CLOSED', 'stopped');
    try {
      if (!this.#slots.tryTake()) await this.#slots.wait(this.#either(signal));
      try {
        const result = await work();
        this.#enter({ name: 'connected' });
        return result;
      } finally {
        this.#slots.release();
      }
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    }
  }

  /** With a token; a 401 is answered by one new login, since a token can be revoked before its end. */
  async #authorized(
    base: BaseAddress,
    request: RestRequest,
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    for (let isSecond = false; ; isSecond = true) {
      const token = this.#tokens.current ?? (await unlessAborted(this.#tokens.token(), this.#either(signal)));
      const http = this.#httpRequest(base, request, { [this.#settings.authHeader]: `Bearer ${token}` });
      const answer = await this.#attempts(http, repeatOf(request.method), signal);
      if (answer.statusCode !== 401) return answer;
      this.#tokens.drop(token);
      if (isSecond) return answer;
    }
  }

  /** One login for all who wait, so only closing ends it early. */
  async #login(): Promise<string> {
    this.#enter({ name: 'connecting' });
    const { username, password } = this.#settings;
    const request = createRequest('login', { username, password });
    const http = this.#httpRequest(this.#address('authUrl'), request, {});
    const answer = await this.#attempts(http, 'repeatable', undefined);
    const { statusCode } = answer;
    if ([400, 401, 403].includes(statusCode)) throw loginFailed('refused', statusCode);
    if (!isSuccess(answer)) throw this.#httpError(answer, request);
    const token = readToken(answer.body);
    if (token === undefined) throw loginFailed('noToken', statusCode);
    return token;
  }

  #httpRequest(base: BaseAddress, request: RestRequest, auth: Record<string, string>): HttpRequest {
    const { method, path, query, body } = request;
    return {
      origin: base.origin,
      path: base.prefix + appendQuery(path, query),
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...auth,
      },
      ...(body !== undefined && { body }),
    };
  }

  async #attempts(
    request: HttpRequest,
    repeat: Repeat,
    signal: AbortSignal | undefined,
  ): Promise<HttpAnswer> {
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#http.send(request, signal).catch((error: Error) => error);
      const delay = retryDelay(outcome, repeat, attempt, this.#clock.now());
      if (delay === undefined || attempt >= this.#settings.retries) {
        if (outcome instanceof Error) throw outcome;
        return outcome;
      }
      const reason = outcome instanceof Error ? reasonOf(outcome) : String(outcome.statusCode);
      this.#log.trace(`${request.method} failed (${reason}), again in ${Math.round(delay)} ms`);
      this.#enter({ name: 'waiting', reason });
      const either = this.#either(signal);
      await unlessAborted(this.#clock.wait(delay, either), either);
    }
  }

  /** The caller's signal or our closing, whichever is first. */
  #either(signal: AbortSignal | undefined): AbortSignal {
    return signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal;
  }

  #httpError({ statusCode, body }: HttpAnswer, { method, path }: RestRequest): ServiceError {
    const shown = this.#show(body);
    const isRedirect = statusCode >= 300 && statusCode < 400;
    const reason = isRedirect ? 'redirect' : shown.trim() === '' ? 'statusOnly' : 'status';
    const shownPath = this.#hide(path);
    return new ServiceError(
      'HTTP_ERROR',
      reason,
      { statusCode, method, path: shownPath, body: shown },
      { statusCode, method, path: shownPath, body: shown },
    );
  }

  #secrets(): string[] {
    return [this.#settings.password, ...this.#tokens.seen];
  }

  #show(body: string): string {
    return showBody(body, this.#secrets());
  }

  #hide(text: string): string {
    return hideSecrets(text, this.#secrets());
  }

  #noteFailure(error: unknown): void {
    if (!(error instanceof ServiceError)) return;
    if (error.code === 'LOGIN_FAILED') this.#enter({ name: 'refused', reason: reasonOf(error) });
    else if (error.code === 'NETWORK') this.#enter({ name: 'failing', reason: reasonOf(error) });
    else if (error.code === 'HTTP_ERROR') this.#enterAnswered(error);
    else if (error.code === 'BAD_RESPONSE') this.#enter({ name: 'connected' });
  }

  /** "No such device" is an answer of a service in good order; 429 and 5xx are not. */
  #enterAnswered(error: ServiceError): void {
    const status = Number(error.cause.statusCode);
    const isFailing = status === 429 || status >= 500;
    this.#enter(isFailing ? { name: 'failing', reason: reasonOf(error) } : { name: 'connected' });
  }

  #enter(state: RestState): void {
    const reason = 'reason' in state ? state.reason : undefined;
    const before = 'reason' in this.#state ? this.#state.reason : undefined;
    if (this.#state.name === 'closed' || (this.#state.name === state.name && before === reason)) return;
    this.#state = state;
    for (const listener of this.#listeners) listener(state);
  }
}

function isSuccess({ statusCode }: HttpAnswer): boolean {
  return statusCode >= 200 && statusCode < 300;
}

function loginFailed(reason: 'refused' | 'noToken', statusCode: number): ServiceError {
  return new ServiceError('LOGIN_FAILED', reason, { statusCode }, { statusCode });
}

/** A reason that needs no language: the HTTP status or the code of the fault. */
function reasonOf(error: Error): string {
  if (!(error instanceof ServiceError)) return error.name;
  return String(error.cause.statusCode ?? error.cause.code ?? error.code);
}
