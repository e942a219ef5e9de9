// A real HTTP server for the tests of the REST half: scripted answers, and a record of what arrived.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { SILENT } from '../../src/log.ts';
import { RestClient } from '../../src/rest/client.ts';
import type { Clock } from '../../src/rest/types.ts';
import type { RestSettings } from '../../src/settings.ts';

export interface Arrived {
  method: string;
  /** As it came, still percent-encoded. */
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type Answer = (request: Arrived, response: ServerResponse) => void;

export const PASSWORD = 'pa"ss/wörd 1';

/** A token as the service gives it; `life` in seconds. */
export function createToken(name: string, life = 1800): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const iat = Math.floor(Date.now() / 1000);
  return `${part({ alg: 'HS256' })}.${part({ name, iat, exp: iat + life })}.${part({ sign: name })}`;
}

export function json(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

/**
 * Answers logins with a new token each (`tokens`), everything else by `answer`; both can be replaced at any time.
 */
export async function startServer(answer: Answer, tls?: { key: string; cert: string }) {
  const calls: Arrived[] = [];
  const logins: Arrived[] = [];
  const tokens: string[] = [];
  const listener = (request: import('node:http').IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const arrived = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
      const isLogin = url.endsWith('/api/v1/auth/login');
      (isLogin ? logins : calls).push(arrived);
      (isLogin ? running.login : running.answer)(arrived, response);
    });
  };
  const login: Answer = (_, response) => {
    const authToken = createToken(`token ${tokens.length}`);
    tokens.push(authToken);
    json(response, { status: 'SUCCESS', authToken, sessionId: null });
  };
  const server = tls ? createSecureServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `${tls ? 'https' : 'http'}://localhost:${port}`;
  const running = {
    answer,
    login,
    calls,
    logins,
    tokens,
    url,
    server,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return running;
}

export type TestServer = Awaited<ReturnType<typeof startServer>>;

export function settingsFor(url: string, changes: Partial<RestSettings> = {}): RestSettings {
  return {
    authUrl: url,
    baseUrl: url,
    username: 'anna',
    password: PASSWORD,
    authHeader: 'Authorization',
    pageTokenParam: 'NextToken',
    attachPath: 'api/v1/devices/{device}/labels',
    timeout: 5000,
    retries: 3,
    ...changes,
  };
}

/** A clock that does not make tests wait: it notes how long it should have waited, and goes on by that. */
export function createClock(start = Date.now()) {
  const clock = {
    time: start,
    waits: [] as number[],
    now: () => clock.time,
    wait: async (ms: number) => {
      clock.waits.push(ms);
      clock.time += ms;
    },
  };
  return clock satisfies Clock;
}

export function createClient(url: string, changes: Partial<RestSettings> = {}, clock: Clock = createClock()) {
  return new RestClient(settingsFor(url, changes), { log: SILENT, clock });
}
