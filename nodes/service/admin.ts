// What the editor asks of a deployed service: lists for its pickers, and a test of unsaved settings.
import type { Request, RequestHandler } from 'express';
import type { NodeAPI } from 'node-red';
import type { Session } from '../../src/index.ts';
import { answer, limitOf, refuse, textOf } from '../shared/runtime/admin.ts';
import { testConnection } from './connection-test.ts';

/** Adds the endpoints of the contract to the admin API; their addresses are relative to `httpAdminRoot`. */
export function registerAdmin(RED: NodeAPI): void {
  const mayRead = RED.auth.needsPermission('mt-service.read') as RequestHandler;
  const mayWrite = RED.auth.needsPermission('mt-service.write') as RequestHandler;
  const { httpAdmin } = RED;
  httpAdmin.get('/mt-service/:id/devices', mayRead, answer(RED, listDevices));
  httpAdmin.get('/mt-service/:id/labels', mayRead, answer(RED, listLabels));
  httpAdmin.get('/mt-service/:id/seen', mayRead, answer(RED, listSeen));
  httpAdmin.post('/mt-service/test', mayWrite, (req, res) => {
    testConnection(RED, req.body).then(
      (result) => res.json(result),
      (error: unknown) => refuse(RED, res, error),
    );
  });
}

function listDevices(session: Session, { query }: Request): unknown {
  return session.devices?.search(textOf(query.q) ?? '', limitOf(query.limit)) ?? [];
}

function listLabels(session: Session, { query }: Request): unknown {
  return session.devices?.searchLabels(textOf(query.q) ?? '', limitOf(query.limit)) ?? [];
}

function listSeen({ activity }: Session, { query }: Request): unknown {
  const wanted = {
    gateway: textOf(query.gateway),
    device: textOf(query.device),
    text: textOf(query.q),
    limit: limitOf(query.limit),
  };
  switch (query.what) {
    case 'devices':
      return activity.devices(wanted);
    case 'identifiers':
      return activity.identifiers(wanted);
    default:
      return activity.gateways(wanted);
  }
}
