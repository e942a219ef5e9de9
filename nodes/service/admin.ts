// What the editor asks of a deployed service: lists for its pickers, a preview, and a test of unsaved settings.
import type { Request, RequestHandler, Response } from 'express';
import type { NodeAPI } from 'node-red';
import type { Session } from '../../src/index.ts';
import { upgrade as upgradeFilter } from '../report-in/config.ts';
import { readNumber } from '../shared/defaults.ts';
import { findService } from '../shared/runtime.ts';
import { toFlowError } from '../shared/text.ts';
import { testConnection } from './connection-test.ts';

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
  httpAdmin.post('/mt-service/:id/preview', mayRead, answer(RED, preview));
  httpAdmin.post('/mt-service/test', mayWrite, (req, res) => {
    testConnection(RED, req.body).then(
      (result) => res.json(result),
      (error: unknown) => refuse(RED, res, error),
    );
  });
}

type Ask = (RED: NodeAPI, session: Session, req: Request) => unknown;

/** Answers with JSON: 404 while the service is not deployed, 502 with the reason when it cannot say. */
function answer(RED: NodeAPI, ask: Ask): RequestHandler {
  return async (req, res) => {
    try {
      const service = findService(RED, String(req.params.id));
      if (!service) {
        res.status(404).json([]);
      } else if (service.session) {
        res.json(await ask(RED, service.session, req));
      } else {
        refuse(RED, res, service.problem);
      }
    } catch (error) {
      refuse(RED, res, error);
    }
  };
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

function listDevices(_RED: NodeAPI, session: Session, { query }: Request): unknown {
  return session.devices?.search(textOf(query.q) ?? '', limitOf(query.limit)) ?? [];
}

function listLabels(_RED: NodeAPI, session: Session, { query }: Request): unknown {
  return session.devices?.searchLabels(textOf(query.q) ?? '', limitOf(query.limit)) ?? [];
}

function listSeen(_RED: NodeAPI, { seen }: Session, { query }: Request): unknown {
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

/** The newest reports that the settings of an open mt-report-in panel would let through. */
function preview(_RED: NodeAPI, session: Session, { body }: Request): unknown {
  const { version, name, service, output, ...filter } = upgradeFilter(body);
  const limit = limitOf((body as { limit?: unknown } | undefined)?.limit);
  const lines = session.preview(filter);
  return lines
    .slice(-limit)
    .reverse()
    .map(({ report }) => ({
      ...report,
      gatewayName: session.devices?.nameOf(report.gateway),
      deviceName: session.devices?.nameOf(report.device),
    }));
}
