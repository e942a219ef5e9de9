// The REST half of the service in a box: a real HTTP server over the portal, with faults in between.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { keptBody, parseBody } from './bodies.ts';
import { InputError } from './input-error.ts';
import { hostInUrl } from './options.ts';
import { offsetOfToken, type Portal, pageToken, type Tokens } from './portal.ts';
import { carryOut, type RestFault, type RestFaults, reset } from './rest-faults.ts';

/** One call as the server saw it. */
export interface RestCall {
  method: string;
  /** As it came: still URL-encoded, without the query. */
  path: string;
  query: Record<string, string>;
  headers: IncomingMessage['headers'];
  /** Parsed when it was JSON, else the text; undefined when empty. Of a long one the beginning of the text. */
  body: unknown;
  /** 0 when the connection was cut instead of answered. */
  statusCode: number;
}

export interface RestOptions {
  host: string;
  port: number;
  username: string;
  password: string;
  authHeader: string;
  pageTokenParam: string;
  maxPageSize: number;
  strictLabels: boolean;
}

interface Ground {
  options: RestOptions;
  portal: Portal;
  tokens: Tokens;
  faults: RestFaults;
  /** Called when a call is over. */
  seen(call: RestCall): void;
  /** Further routes, which need no token: for people and for other processes that steer the simulator. */
  control: Record<string, (body: unknown) => unknown>;
}

const MAX_BODY = 1_000_000;
/** Characters of a job, of which a thousand are kept. */
const MAX_JOB = 10_000;
const MAX_NAME = 10_000;
/** Characters of a label, which many devices may have. */
const MAX_LABEL = 1_000;
const MAX_LABELS = 10_000;
const MAX_DEVICE_LABELS = 100;
const MAX_JOBS = 1_000;
const MAX_CONNECTIONS = 1_000;

/** A response that is not 200 with JSON. */
class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

interface Call extends RestCall {
  text: string;
  isWhole: boolean;
  /** The decoded placeholders of the path, in order. */
  parts: string[];
  fault: RestFault | undefined;
}

type Route = (ground: Ground, call: Call) => unknown;

const textOf = (body: unknown, name: string, max = MAX_NAME): string => {
  const value = (body as Record<string, unknown> | undefined)?.[name];
  if (typeof value !== 'string' || value === '') {
    throw new Refusal(400, `${name} is missing`);
  }
  if (value.length > max) {
    throw new Refusal(400, `${name} is too long`);
  }
  return value;
};

function login({ options, tokens }: Ground, { body }: Call): unknown {
  const right =
    textOf(body, 'username') === options.username && textOf(body, 'password') === options.password;
  if (!right) {
    throw new Refusal(401, 'user name or password wrong');
  }
  return { status: 'SUCCESS', authToken: tokens.issue(options.username), sessionId: null };
}

function listDevices({ options, portal }: Ground, { query, fault }: Call): unknown {
  const size = Number(query.MaxResults ?? 100);
  if (!Number.isInteger(size) || size < 1) {
    throw new Refusal(400, 'MaxResults is not a positive integer');
  }
  const token = query[options.pageTokenParam];
  const offset = token === undefined ? 0 : offsetOfToken(token);
  if (offset === undefined) {
    throw new Refusal(400, 'page token malformed');
  }
  const end = offset + Math.min(size, options.maxPageSize);
  const repeats = fault?.kind === 'repeat-token';
  const next = repeats ? pageToken(7) : pageToken(end);
  const isLast = end >= portal.devices.length && !repeats;
  return { items: portal.devices.slice(offset, end), ...(!isLast && { nextToken: next }) };
}

function deviceOf({ portal }: Ground, call: Call): Portal['devices'][number] {
  const device = portal.byId.get(call.parts[0] ?? '');
  if (!device) {
    throw new Refusal(404, 'no such device');
  }
  return device;
}

function attach(ground: Ground, call: Call): unknown {
  const device = deviceOf(ground, call);
  const label = textOf(call.body, 'label', MAX_LABEL);
  const isAttached = device.labels.includes(label);
  if (isAttached && ground.options.strictLabels) {
    throw new Refusal(409, 'attached already');
  }
  if (!isAttached && device.labels.length >= MAX_DEVICE_LABELS) {
    throw new Refusal(507, 'too many labels of this device');
  }
  addLabel(ground, label);
  if (!isAttached) {
    device.labels.push(label);
  }
  return {};
}

function detach(ground: Ground, call: Call): unknown {
  const device = deviceOf(ground, call);
  const isAttached = device.labels.includes(call.parts[1] ?? '');
  if (!isAttached && ground.options.strictLabels) {
    throw new Refusal(404, 'not attached');
  }
  device.labels = device.labels.filter((label) => label !== call.parts[1]);
  return {};
}

function addJob({ portal }: Ground, { body, text }: Call): unknown {
  if (text.length > MAX_JOB) {
    throw new Refusal(413, 'the job is too long');
  }
  if (portal.jobs.length >= MAX_JOBS) {
    throw new Refusal(507, 'too many jobs');
  }
  const job = { id: `job-${portal.jobs.length + 1}`, state: 'queued' as const, request: body };
  portal.jobs.push(job);
  return job;
}

function findJob({ portal }: Ground, { parts }: Call): unknown {
  const job = portal.jobs.find(({ id }) => id === parts[0]);
  if (!job) {
    throw new Refusal(404, 'no such job');
  }
  return job;
}

function rename(ground: Ground, call: Call): unknown {
  deviceOf(ground, call).friendlyName = textOf(call.body, 'name');
  return {};
}

function createLabel(ground: Ground, { body }: Call): unknown {
  const { options, portal } = ground;
  const label = textOf(body, 'label', MAX_LABEL);
  if (portal.labels.has(label) && options.strictLabels) {
    throw new Refusal(409, 'label exists already');
  }
  addLabel(ground, label);
  return {};
}

function addLabel({ portal }: Ground, label: string): void {
  if (portal.labels.size >= MAX_LABELS && !portal.labels.has(label)) {
    throw new Refusal(507, 'too many labels');
  }
  portal.labels.add(label);
}

const echo: Route = (_ground, { method, path, query, body }) => ({ method, path, query, body });

/** The interface's endpoints first; the others are our invention for what it names without showing. */
const ROUTES: readonly [pattern: string, route: Route][] = [
  ['POST /api/v1/auth/login', login],
  ['GET /api/v1/devices', listDevices],
  ['PUT /api/v1/devices/{}/friendly-name', rename],
  ['POST /api/v1/labels', createLabel],
  ['DELETE /api/v1/devices/{}/labels/{}', detach],
  ['POST /api/v1/devices/{}/labels', attach],
  ['GET /api/v1/labels', ({ portal }) => ({ items: [...portal.labels] })],
  ['GET /api/v1/devices/{}', (ground, call) => deviceOf(ground, call)],
  ['GET /api/v1/firmware', ({ portal }) => ({ items: portal.firmwares })],
  ['GET /api/v1/jobs', ({ portal }) => ({ items: portal.jobs })],
  ['POST /api/v1/jobs', addJob],
  ['GET /api/v1/jobs/{}', findJob],
];

function matchRoute(method: string, path: string): { route: Route; parts: string[] } | undefined {
  const segments = `${method} ${path}`.split('/');
  for (const [pattern, route] of ROUTES) {
    const wanted = pattern.split('/');
    const fits =
      wanted.length === segments.length && wanted.every((part, at) => part === '{}' || part === segments[at]);
    if (!fits) {
      continue;
    }
    return { route, parts: segments.filter((_, at) => wanted[at] === '{}').map(decodeURIComponent) };
  }
  return path.startsWith('/api/v1/echo') ? { route: echo, parts: [] } : undefined;
}

async function readCall(request: IncomingMessage): Promise<Call> {
  const url = new URL(request.url ?? '/', 'http://service');
  const { text, isWhole } = await readText(request);
  const { method = 'GET', headers } = request;
  const query = Object.fromEntries(url.searchParams);
  const body = isWhole ? parseBody(text) : text;
  const base = { method, path: url.pathname, query, headers, body, statusCode: 0 };
  return { ...base, text, isWhole, parts: [], fault: undefined };
}

/** What came of a body that is too long, or was broken off. */
async function readText(request: IncomingMessage): Promise<Pick<Call, 'text' | 'isWhole'>> {
  let text = '';
  request.setEncoding('utf8');
  try {
    for await (const chunk of request) {
      text += chunk;
      if (text.length > MAX_BODY) {
        return { text, isWhole: false };
      }
    }
  } catch {
    return { text, isWhole: false };
  }
  return { text, isWhole: true };
}

function isAllowed({ options, tokens }: Ground, { headers }: Call): boolean {
  const given = headers[options.authHeader.toLowerCase()];
  return typeof given === 'string' && given.startsWith('Bearer ') && tokens.accepts(given.slice(7));
}

function answer(ground: Ground, call: Call): { status: number; body: unknown } {
  const control = ground.control[`${call.method} ${call.path}`];
  const isLogin = call.path === '/api/v1/auth/login';
  try {
    if (control) {
      return { status: 200, body: control(call.body) };
    }
    if (!isLogin && !isAllowed(ground, call)) {
      throw new Refusal(401, 'token missing, wrong or expired');
    }
    const found = matchRoute(call.method, call.path);
    if (!found) {
      throw new Refusal(404, 'no such endpoint');
    }
    call.parts = found.parts;
    return { status: 200, body: found.route(ground, call) };
  } catch (error) {
    if (error instanceof URIError) {
      return { status: 400, body: { message: 'path malformed' } };
    }
    if (error instanceof InputError) {
      return { status: 400, body: { message: error.message } };
    }
    if (!(error instanceof Refusal)) {
      throw error;
    }
    return { status: error.status, body: { message: error.message } };
  }
}

async function handle(ground: Ground, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const call = await readCall(request);
  const tell = (): void => {
    const { text, isWhole: _isWhole, parts: _parts, fault: _fault, ...plain } = call;
    const body = keptBody(text, call.body);
    ground.seen({ ...plain, body, statusCode: response.headersSent ? response.statusCode : 0 });
  };
  if (!call.isWhole) {
    response.destroy();
    tell();
    return;
  }
  response.once('close', tell);
  call.fault = call.path.startsWith('/simulator/')
    ? undefined
    : ground.faults.take(`${call.method} ${call.path}`);
  if (call.fault && carryOut(call.fault, response)) {
    return;
  }
  if (call.fault?.kind === 'slow') {
    await wait(call.fault.ms, undefined, { ref: false });
  }
  const { status, body } = answer(ground, call);
  if (call.fault?.kind === 'reset') {
    reset(response);
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify((await body) ?? {}));
}

export interface RestHalf {
  url: string;
  close(): Promise<void>;
}

/** Starts the server; a port of 0 takes any free one. */
export async function startRest(ground: Ground): Promise<RestHalf> {
  const server = createServer((request, response) => {
    handle(ground, request, response).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(ground.options.port, ground.options.host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${hostInUrl(ground.options.host)}:${port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
