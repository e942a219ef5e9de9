// Queries of the editor about a deployed service: how one finds its service, and how its result or its error is sent.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, RequestHandler, Response } from 'express';
import type { NodeAPI } from 'node-red';
import { ServiceError, type Session } from '../../../src/index.ts';
import { readNumber } from '../defaults.ts';
import { withinDeadline } from './deadline.ts';
import { savedService } from './env.ts';
import { hideVariables } from './hidden-variables.ts';
import { findForEditor, type ServiceNode } from './services.ts';
import { NOT_SHOWN, toFlowError } from './texts.ts';

export const MAX_ROWS = 1_000;
const DEFAULT_ROWS = 50;

/** Longer than this the editor would not wait: it is told that the result is on its way, and asks again. */
const MAX_QUERY_MS = 8_000;

/** @param signal aborted when nobody waits for the result any more */
type Query = (
  session: Session,
  req: Request,
  service: ServiceNode,
  RED: NodeAPI,
  signal: AbortSignal,
) => unknown;

/**
 * Responds with JSON: 404 while the service is not deployed, 400 or 502 with the error when the query fails, 202 and
 * `{loading: true}` when it takes long, or has no result yet.
 */
export function handleQuery(RED: NodeAPI, query: Query): RequestHandler {
  return handle(RED, query, respond);
}

/**
 * As `handleQuery`, for what somebody does and waits for, as long as it takes; 504 when a gateway does not answer in time,
 * and 404 has an error, too.
 */
export function handleAction(RED: NodeAPI, action: Query): RequestHandler {
  return handle(
    RED,
    action,
    async (res, run) => {
      const result = await run(endOf(res));
      res.json(result === undefined ? null : result);
    },
    (res) => sendError(RED, res, new ServiceError('NOT_CONFIGURED', 'notRunning'), 404),
  );
}

/** What a browser saves. */
export interface ServedFile {
  /** Its content type. */
  type: string;
  name: string;
  pieces: readonly Buffer[];
}

/** As `handleQuery`, with a file as the response; undefined: there is none. */
export function handleFile(RED: NodeAPI, find: (session: Session) => ServedFile | undefined): RequestHandler {
  return handle(
    RED,
    (session) => find(session),
    async (res, run) => {
      const file = run(endOf(res)) as ServedFile | undefined;
      if (file === undefined) {
        res.status(404).json({});
        return;
      }
      res.set({
        'content-type': file.type,
        'content-disposition': `attachment; filename="${file.name}"`,
        'cache-control': 'no-store',
      });
      // Whoever leaves before the end has ended the response: nobody is there to be told.
      await pipeline(Readable.from(file.pieces), res).catch(() => undefined);
    },
  );
}

/** A query's result: what it asks for is not there. */
export const NOT_FOUND = Symbol('not found');

type Respond = (res: Response, run: (signal: AbortSignal) => unknown) => Promise<void>;

/** Of HTTP: a body that is not taken. */
const UNSUPPORTED_MEDIA_TYPE = 415;

/**
 * Refuses a body that is no JSON: a form comes from any web page that somebody opens beside the editor, without the
 * browser asking first, and Node-RED reads it.
 * @returns whether it was refused
 */
export function refuseForm(req: Request, res: Response): boolean {
  if (req.headers['content-type'] === undefined || req.is('application/json')) {
    return false;
  }
  res
    .status(UNSUPPORTED_MEDIA_TYPE)
    .json({ code: 'INVALID_INPUT', message: 'the body must be application/json' });
  return true;
}

/** @param missing responds while the service is not deployed; as a list does where it is not said */
function handle(
  RED: NodeAPI,
  query: Query,
  respondWith: Respond,
  missing = (res: Response): unknown => res.status(404).json([]),
): RequestHandler {
  return async (req, res) => {
    if (req.method !== 'GET' && refuseForm(req, res)) {
      return;
    }
    const service = findForEditor(RED, String(req.params.id));
    try {
      if (!service) {
        missing(res);
      } else if (service.session) {
        const session = service.session;
        await respondWith(res, (signal) => query(session, req, service, RED, signal));
      } else {
        throw service.problem;
      }
    } catch (error) {
      sendError(RED, res, service ? errorForReader(RED, service, error, await mayDeploy(RED, req)) : error);
    }
  };
}

/** Aborted when nobody waits for the response any more. */
function endOf(res: Response): AbortSignal {
  const ended = new AbortController();
  res.once('close', () => ended.abort());
  return ended.signal;
}

async function respond(res: Response, query: (signal: AbortSignal) => unknown): Promise<void> {
  const result = await withinDeadline(query(endOf(res)), MAX_QUERY_MS, () => undefined);
  if (result === undefined) {
    res.status(202).json({ loading: true });
  } else if (result === NOT_FOUND) {
    res.status(404).json({});
  } else {
    res.json(result);
  }
}

/**
 * The error without what the server's variables hold or are called, for a user who may only read.
 * @param mayDeploy false: nor what the service or a gateway says, which may repeat what he has sent
 */
export function errorForReader(
  RED: NodeAPI,
  service: ServiceNode,
  error: unknown,
  mayDeploy: boolean,
): unknown {
  try {
    return hideVariables(RED, service, savedService(RED, service), { mark: '…', mayDeploy }).inError(error);
  } catch {
    // Nobody would catch it: Node-RED would end.
    return new Error(NOT_SHOWN);
  }
}

/** Who may deploy flows can read every variable by one; Node-RED tells only by refusing a response of its own. */
export function mayDeploy(RED: NodeAPI, req: Request): Promise<boolean> {
  return new Promise((resolve) => {
    const check = RED.auth.needsPermission('flows.write') as RequestHandler;
    try {
      void check(req, refusalThat(() => resolve(false)) as never, (error?: unknown) =>
        resolve(error === undefined),
      );
    } catch {
      // A check of somebody's own that fails permits nothing.
      resolve(false);
    }
  });
}

/**
 * A response that only tells when it ends. A login may have run out since the request came: then it is refused later,
 * where nobody could catch that a method is missing, and Node-RED would end.
 */
function refusalThat(ends: () => void): Record<string, unknown> {
  const refusal: Record<string, unknown> = { statusCode: 0, headersSent: false, getHeader: () => undefined };
  for (const method of [
    'setHeader',
    'removeHeader',
    'writeHead',
    'set',
    'header',
    'type',
    'status',
    'write',
  ]) {
    refusal[method] = () => refusal;
  }
  for (const method of ['end', 'send', 'json', 'sendStatus', 'redirect']) {
    refusal[method] = () => {
      ends();
      return refusal;
    };
  }
  return refusal;
}

const STATUS_BY_CODE: ReadonlyMap<unknown, number> = new Map([
  ['INVALID_INPUT', 400],
  ['TIMEOUT', 504],
]);

/** Responds with the error's code and its text in the runtime's language. */
export function sendError(RED: NodeAPI, res: Response, error: unknown, status?: number): void {
  const { message, code } = toFlowError(RED, error) as Error & { code?: unknown };
  res.status(status ?? STATUS_BY_CODE.get(code) ?? 502).json({ code, message });
}

/** Whether it should be connected to its broker, and is not: nothing can be heard now. */
export const isBrokerAway = ({ state }: Session): boolean =>
  ['connecting', 'waiting', 'refused'].includes(state.mqtt.name);

/** A parameter of a query; undefined where it is absent or empty. */
export const readQueryText = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** How many rows are wanted, within bounds. @param usual where it is not said */
export function readLimit(value: unknown, usual = DEFAULT_ROWS): number {
  return Math.min(MAX_ROWS, Math.trunc(readNumber(value, usual)));
}
