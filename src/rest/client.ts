// The REST half of the service: login, calls by the table, retries, errors in the codes of this package, state.

import { invalidInput, ServiceError, type TextValues } from '../errors.ts';
import type { Logger } from '../log.ts';
import { findHeaderProblem } from '../protocol/http-headers.ts';
import { parseJson } from '../protocol/json.ts';
import type { RestSettings } from '../settings.ts';
import { unlessAborted, withFirstOf } from './abort.ts';
import { appendQuery, type BaseAddress, readBaseAddress } from './addresses.ts';
import { Attempts, type Call, MAX_CONCURRENT_CALLS } from './attempts.ts';
import { TokenKeeper } from './auth.ts';
import { ClientState } from './client-state.ts';
import { SYSTEM_CLOCK } from './clock.ts';
import { createRequest, ENDPOINTS, type EndpointName, type Params, type RestRequest } from './endpoints.ts';
import { HttpAgent, type HttpRequest, type HttpResponse, MAX_BODY_BYTES } from './http.ts';
import { KeyedOrder } from './order.ts';
import {
  isLoginResponse,
  isOfProxy,
  isWebPage,
  readToken,
  redirectTarget,
  refusalReason,
} from './responses.ts';
import { noteLost, refusedWait, repeatOf, spread } from './retry.ts';
import { hideSecrets, showBody } from './secrets.ts';
import type { Clock, RestState } from './types.ts';

/** Calls behind these, whatever they wait for: their turn, a token, or a retry. */
const MAX_WAITING = 10_000;

/** What a call is given when its first response was lost, and the repetition finds that it is done. */
const DONE: HttpResponse = { statusCode: 204, headers: {}, body: '', isCut: false };

export interface CallOptions {
  /** Aborted: the call ends with CLOSED. */
  signal?: AbortSignal;
  /** Calls with the same text are sent one after the other as they came, each with all of its attempts. */
  order?: string;
}

/**
 * One user at one service. Nothing is sent before the first call, and nothing keeps running between calls.
 *
 * Every call ends in a result or a ServiceError: NOT_CONFIGURED, INVALID_INPUT (addresses of the settings), LOGIN_FAILED,
 * HTTP_ERROR, NETWORK, BAD_RESPONSE, QUEUE_FULL or CLOSED. At most 4 calls are under way at a time, the login among
 * them; what waits for a token or a retry is not. `timeout` of the settings counts for each attempt. Retries: see
 * `retry.ts`; logins: see `auth.ts`.
 */
export class RestClient {
  readonly #settings: RestSettings;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #http: HttpAgent;
  readonly #tokens: TokenKeeper;
  readonly #attempts: Attempts;
  readonly #state: ClientState;
  readonly #closing = new AbortController();
  readonly #order = new KeyedOrder();
  #isLoggingIn = false;
  /** Calls that have not ended. */
  #calls = 0;

  constructor(settings: RestSettings, { log, clock = SYSTEM_CLOCK }: { log: Logger; clock?: Clock }) {
    this.#settings = settings;
    this.#log = log;
    this.#clock = clock;
    this.#http = new HttpAgent(settings.timeout, settings.tls, settings.proxy);
    this.#tokens = new TokenKeeper(() => this.#login(), clock);
    this.#state = new ClientState(this.#stateOfSettings());
    this.#attempts = new Attempts({
      http: this.#http,
      clock,
      log,
      retries: settings.retries,
      either: (signal, wait) => this.#either(signal, wait),
      waiting: (reason) => this.#state.set({ name: 'waiting', reason }),
    });
  }

  get settings(): Readonly<Pick<RestSettings, 'pageTokenParam' | 'attachPath'>> {
    return this.#settings;
  }

  get state(): RestState {
    return this.#state.current;
  }

  /** Calls the listener at every change of state. @returns stops it */
  onState(listener: (state: RestState) => void): () => void {
    return this.#state.onChange(listener);
  }

  /**
   * Calls a row of the table of endpoints.
   * @param params by the names of the row; see `createRequest`
   * @returns the JSON of the response, or undefined where the row ignores it
   */
  async call(
    name: Exclude<EndpointName, 'login'>,
    params: Params,
    options: CallOptions = {},
  ): Promise<unknown> {
    const ignoresBody = ENDPOINTS[name].result === 'ignored';
    const request = { ...createRequest(name, params), ignoresBody };
    const { body } = await this.send(request, options);
    if (ignoresBody) {
      return undefined;
    }
    const json = parseJson(body);
    if (json === undefined) {
      throw this.badResponse('notJsonRest', body, request);
    }
    return json;
  }

  /**
   * Sends an authenticated request below the base URL.
   * @returns the response when it is 2xx; 204 without a body when a DELETE is answered with 404 or 410 after an earlier
   *   response to it was lost: then it is done
   */
  async send(request: RestRequest, { signal, order }: CallOptions = {}): Promise<HttpResponse> {
    const base = this.#address('baseUrl');
    return this.#run(signal, order, async () => {
      const repeat = repeatOf(request.method);
      const call: Call = { repeat, signal, isLogin: false, isLost: false, isAgain: false };
      try {
        return await this.#sent(base, request, call);
      } catch (error) {
        if (call.isLost) {
          noteLost(error as Error);
        }
        throw error;
      }
    });
  }

  async #sent(base: BaseAddress, request: RestRequest, call: Call): Promise<HttpResponse> {
    const response = await this.#authorized(base, request, call);
    if (call.isLost && isGone(response, request)) {
      return DONE;
    }
    if (!isSuccess(response)) {
      const reason = refusalReason(response, this.#show(response.body));
      throw this.#httpError(response, request, reason, base, call.isLost);
    }
    if (response.isCut) {
      throw this.badResponse('tooLarge', response.body, request);
    }
    return response;
  }

  /** Where all calls but the login go. @throws NOT_CONFIGURED, or INVALID_INPUT with the setting's name */
  get baseAddress(): BaseAddress {
    return this.#address('baseUrl');
  }

  /** A response that is not what the interface says; `body` is shown shortened and without secrets. */
  badResponse(
    reason: string,
    body: string,
    { method, path }: RestRequest,
    values: TextValues = {},
  ): ServiceError {
    const base = this.#address('baseUrl');
    return new ServiceError(
      'BAD_RESPONSE',
      isWebPage(body) ? 'webPage' : reason,
      { body: this.#show(body) },
      {
        host: base.host,
        method,
        path: this.#pathBelow(base, path),
        limit: MAX_BODY_BYTES / 1024 / 1024,
        ...values,
      },
    );
  }

  /** Ends every call with CLOSED and every socket; never rejects. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#state.set({ name: 'closed' });
    await this.#http.close().catch((error: unknown) => this.#log.trace(`closing: ${error}`));
  }

  #address(field: 'authUrl' | 'baseUrl'): BaseAddress {
    const { authUrl, baseUrl, username, password, authHeader } = this.#settings;
    const part = { part: 'rest' };
    if (!authUrl || !baseUrl) {
      const missing = authUrl ? 'baseUrl' : 'authUrl';
      throw authUrl || baseUrl
        ? new ServiceError('NOT_CONFIGURED', 'restOne', part, { field: missing })
        : new ServiceError('NOT_CONFIGURED', 'rest', part);
    }
    if (!username || !password) {
      throw new ServiceError('NOT_CONFIGURED', 'credentials', part);
    }
    const problem = findHeaderProblem(authHeader);
    if (problem) {
      throw invalidInput('authHeader', this.#show(authHeader), problem);
    }
    return readBaseAddress(field, field === 'authUrl' ? authUrl : baseUrl);
  }

  /** What is wrong with the settings shows before the first call fails because of it. */
  #stateOfSettings(): RestState {
    try {
      this.#address('authUrl');
      this.#address('baseUrl');
      return { name: 'idle' };
    } catch (error) {
      const problem = error as ServiceError;
      if (problem.code === 'INVALID_INPUT') {
        return { name: 'invalid', problem };
      }
      return { name: problem.text.key === 'NOT_CONFIGURED.credentials' ? 'loginMissing' : 'unconfigured' };
    }
  }

  /** Admits a call and notes its end. */
  async #run<Result>(
    signal: AbortSignal | undefined,
    order: string | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    if (signal?.aborted || this.#closing.signal.aborted) {
      throw new ServiceError('CLOSED', 'stopped');
    }
    if (this.#calls >= MAX_CONCURRENT_CALLS + MAX_WAITING) {
      const limit = { limit: MAX_WAITING };
      throw new ServiceError('QUEUE_FULL', 'waiting', limit, limit);
    }
    this.#calls++;
    try {
      const result = await (order === undefined
        ? work()
        : this.#either(signal, (either) => this.#order.run(order, either, work)));
      this.#state.set({ name: 'connected' });
      return result;
    } catch (error) {
      this.#state.failed(error);
      throw error;
    } finally {
      this.#calls--;
      this.#settleState();
    }
  }

  /** With a token; a 401 is answered by one new login, since a token can be revoked before its end. */
  async #authorized(base: BaseAddress, request: RestRequest, call: Call): Promise<HttpResponse> {
    let dropped = '';
    for (let isSecond = false; ; isSecond = true) {
      let token = '';
      const response = await this.#attempts.run(call, async () => {
        token =
          this.#tokens.current ??
          (await this.#either(call.signal, (either) => unlessAborted(this.#tokens.token(), either)));
        call.tokenEndsAt = this.#tokens.endOf(token);
        return this.#httpRequest(base, request, { [this.#settings.authHeader]: `Bearer ${token}` });
      });
      if (response.statusCode !== 401) {
        if (isAccepted(response)) {
          this.#tokens.accept(token);
          this.#tokens.noteEnd(dropped);
        }
        return response;
      }
      this.#tokens.refuse(token);
      if (isSecond) {
        this.#tokens.refuseAgain(token);
        return response;
      }
      // Of others that were sent with it the login of this one may have ended it.
      dropped = this.#tokens.current === token ? token : '';
      if (!this.#tokens.drop(token)) {
        this.#tokens.refuseAgain(token);
        return response;
      }
    }
  }

  /** One login for all who wait, so only closing ends it early; when all of them have left, it tells its end itself. */
  async #login(): Promise<string> {
    this.#isLoggingIn = true;
    try {
      const { restMs } = this.#tokens;
      if (restMs > 0) {
        await this.#rest(restMs);
      }
      const token = await this.#askToken();
      if (this.#calls === 0) {
        this.#state.set({ name: 'connected' });
      }
      return token;
    } catch (error) {
      // While the token lasts, calls succeed without another one.
      const isFelt = !this.#tokens.isLasting || isLoginRefused(error);
      if (this.#calls === 0 && isFelt) {
        this.#state.failed(error);
      }
      throw error;
    } finally {
      this.#isLoggingIn = false;
      this.#settleState();
    }
  }

  async #rest(ms: number): Promise<void> {
    this.#state.set({ name: 'waiting', reason: '401' });
    await this.#either(undefined, (either) => unlessAborted(this.#clock.wait(spread(ms), either), either));
  }

  async #askToken(): Promise<string> {
    this.#state.set({ name: 'connecting' });
    const { username, password } = this.#settings;
    const request = createRequest('login', { username, password });
    const base = this.#address('authUrl');
    const http = this.#httpRequest(base, request, {});
    // Others wait for it, so it goes ahead of them.
    const call: Call = {
      repeat: 'repeatable',
      signal: undefined,
      isLogin: true,
      isLost: false,
      isAgain: true,
    };
    const response = await this.#attempts.run(call, async () => http);
    const { statusCode, body } = response;
    if ([400, 401, 403].includes(statusCode)) {
      throw loginFailed(isWebPage(body) ? 'webPage' : 'refused', statusCode, base.host);
    }
    if (!isSuccess(response)) {
      // Who refuses what was sent often shows it, and there are more ways to write a password than we could look for.
      const reason = NO_LOGIN.has(statusCode) ? 'noLogin' : refusalReason(response, '');
      throw this.#httpError({ ...response, body: '' }, request, reason, base);
    }
    const token = readToken(body);
    if (token === undefined) {
      const reason = isWebPage(body) ? 'webPage' : isLoginResponse(body) ? 'noToken' : 'notLogin';
      throw loginFailed(reason, statusCode, base.host);
    }
    return token;
  }

  #httpRequest(base: BaseAddress, request: RestRequest, auth: Record<string, string>): HttpRequest {
    const { method, path, query, body, ignoresBody } = request;
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
      ...(ignoresBody && { ignoresBody }),
    };
  }

  /** Waits with the caller's signal or our closing, whichever is first. */
  #either<Result>(
    signal: AbortSignal | undefined,
    wait: (either: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const closing = this.#closing.signal;
    return withFirstOf(signal ? [signal, closing] : [closing], wait);
  }

  #httpError(
    response: HttpResponse,
    { method, path }: RestRequest,
    reason: string,
    base: BaseAddress,
    wasLost = false,
  ): ServiceError {
    const { statusCode, body } = response;
    const shown = this.#show(body);
    const shownPath = hideSecrets(path, this.#secrets());
    const wait = refusedWait(response, this.#clock.now(), wasLost);
    const to = redirectTarget(response, base, (text) => this.#hasSecret(text));
    return new ServiceError(
      'HTTP_ERROR',
      reason,
      { statusCode, method, path: shownPath, body: shown },
      { statusCode, method, path: this.#pathBelow(base, path), body: shown, host: base.host, wait, to },
    );
  }

  /** For the text of an error. That the address has a path of its own is said, and not which: it may hold a secret. */
  #pathBelow({ prefix }: BaseAddress, path: string): string {
    return (prefix === '' ? '' : '…') + hideSecrets(path, this.#secrets());
  }

  /** A call that was ended while it waited leaves no attempt that would follow. */
  #settleState(): void {
    if (this.#calls === 0 && !this.#isLoggingIn) {
      this.#state.settled();
    }
  }

  #secrets(): string[] {
    return [this.#settings.password, ...this.#tokens.seen];
  }

  #hasSecret(text: string): boolean {
    const lower = text.toLowerCase();
    return (
      hideSecrets(
        lower,
        this.#secrets().map((secret) => String(secret).toLowerCase()),
      ) !== lower
    );
  }

  #show(body: string): string {
    return showBody(body, this.#secrets());
  }
}

/** Whether the service itself looked at the token and took it; a redirect, 429 or 5xx may come from before it. */
function isAccepted({ statusCode }: HttpResponse): boolean {
  const isRefusal = statusCode >= 400 && statusCode < 500 && statusCode !== 429;
  return isRefusal || (statusCode >= 200 && statusCode < 300);
}

function isLoginRefused(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'LOGIN_FAILED';
}

/** How a server answers that knows no login at this path. */
const NO_LOGIN: ReadonlySet<number> = new Set([404, 405]);

/** Whether what a DELETE was to remove is not there: the service says so, and not a proxy that knows no service now. */
function isGone({ statusCode, body }: HttpResponse, { method }: RestRequest): boolean {
  return method === 'DELETE' && (statusCode === 404 || statusCode === 410) && !isOfProxy(body);
}

function isSuccess({ statusCode }: HttpResponse): boolean {
  return statusCode >= 200 && statusCode < 300;
}

function loginFailed(
  reason: 'refused' | 'noToken' | 'notLogin' | 'webPage',
  statusCode: number,
  host: string,
): ServiceError {
  return new ServiceError('LOGIN_FAILED', reason, { statusCode }, { statusCode, host });
}
