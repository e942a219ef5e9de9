// What the editor asks of a deployed service: lists for its pickers, a preview, and a test of unsaved settings.
import type { Request, RequestHandler, Response } from 'express';
import type { NodeAPI } from 'node-red';
import { ServiceError, type Session } from '../../src/index.ts';
import { asText, hasEnv, readNumber } from '../shared/defaults.ts';
import { savedNode } from '../shared/runtime/env.ts';
import type { ServiceNode } from '../shared/runtime/registration.ts';
import { toFlowError } from '../shared/runtime/texts.ts';
import { testConnection } from './connection-test.ts';
import { findForEditor } from './instances.ts';
import { preview } from './preview.ts';

const MOST_ROWS = 1_000;
const ROWS = 50;

/** Adds the endpoints of the contract to the admin API; their addresses are relative to `httpAdminRoot`. */
export function registerAdmin(RED: NodeAPI): void {
  const mayRead = RED.auth.needsPermission('mt-service.read') as RequestHandler;
  const mayWrite = RED.auth.needsPermission('mt-service.write') as RequestHandler;
  const { httpAdmin } = RED;
  httpAdmin.get('/mt-service/:id/devices', mayRead, answer(RED, listDevices));
  httpAdmin.get('/mt-service/:id/labels', mayRead, answer(RED, listLabels));
  httpAdmin.get('/mt-service/:id/seen', mayRead, answer(RED, listSeen));
  httpAdmin.post('/mt-service/:id/preview', mayRead, answer(RED, previewReports));
  httpAdmin.post('/mt-service/test', mayWrite, (req, res) => {
    testConnection(RED, req.body).then(
      (result) => res.json(result),
      (error: unknown) => refuse(RED, res, error),
    );
  });
}

type Ask = (session: Session, req: Request, service: ServiceNode, RED: NodeAPI) => unknown;

/** Answers with JSON: 404 while the service is not deployed, 502 with the reason when it cannot say. */
function answer(RED: NodeAPI, ask: Ask): RequestHandler {
  return async (req, res) => {
    const service = findForEditor(RED, String(req.params.id));
    try {
      if (!service) {
        res.status(404).json([]);
      } else if (service.session) {
        res.json(await ask(service.session, req, service, RED));
      } else {
        refuse(RED, res, withoutVariable(RED, service, service.problem));
      }
    } catch (error) {
      refuse(RED, res, service ? withoutVariable(RED, service, error) : error);
    }
  };
}

/** Whoever may read need not know the environment of the server: of what a variable brought only the property shows. */
function withoutVariable(RED: NodeAPI, service: ServiceNode, error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'INVALID_INPUT') {
    return error;
  }
  const { field } = error.cause;
  if (!hasEnv(asText(savedNode(RED, service)[String(field)]))) {
    return error;
  }
  const { key, values } = error.text;
  return new ServiceError(error.code, key.slice(error.code.length + 1), { field }, { ...values, value: '…' });
}

function refuse(RED: NodeAPI, res: Response, error: unknown): void {
  const { message, code } = toFlowError(RED, error) as Error & { code?: unknown };
  res.status(code === 'INVALID_INPUT' ? 400 : 502).json({ code, message });
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

function limitOf(value: unknown): number {
  return Math.min(MOST_ROWS, Math.trunc(readNumber(value, ROWS)));
}

function listDevices(session: Session, { query }: Request): unknown {
  return session.devices?.search(textOf(query.q) ?? '', limitOf(query.limit)) ?? [];
}

function listLabels(session: Session, { query }: Request): unknown {
  return session.devices?.searchLabels(textOf(query.q) ?? '', limitOf(query.limit)) ?? [];
}

function listSeen({ seen }: Session, { query }: Request): unknown {
  const wanted = {
    gateway: textOf(query.gateway),
    device: textOf(query.device),
    text: textOf(query.q),
    limit: limitOf(query.limit),
  };
  switch (query.what) {
    case 'devices':
      return seen.devices(wanted);
    case 'identifiers':
      return seen.identifiers(wanted);
    default:
      return seen.gateways(wanted);
  }
}

function previewReports(session: Session, { body }: Request, service: ServiceNode, RED: NodeAPI): unknown {
  const typed = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  return preview(RED, session, service, typed, limitOf(typed.limit));
}
