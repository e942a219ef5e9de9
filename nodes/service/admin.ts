// What the editor asks of a deployed service: the table of endpoints, and the lists of its pickers.
import type { Request, RequestHandler } from 'express';
import type { NodeAPI } from 'node-red';
import { ServiceError, type Session } from '../../src/index.ts';
import {
  handleAction,
  handleFile,
  handleQuery,
  mayDeploy,
  readLimit,
  readQueryText,
  refuseForm,
  sendError,
} from '../shared/runtime/admin.ts';
import { NOT_SHOWN } from '../shared/runtime/texts.ts';
import { changeLabel, readProperty, renameDevice, writeProperty } from './actions.ts';
import { ChangeMessages } from './changes.ts';
import { testConnection } from './connection-test.ts';
import { listen, listNetwork, listSilent, nameDevices, showDevice } from './network.ts';
import { controlRecord, fetchRecord, showRecord } from './record.ts';

/** Adds the admin endpoints to the admin API; their addresses are relative to `httpAdminRoot`. */
export function registerAdmin(RED: NodeAPI): void {
  const mayRead = RED.auth.needsPermission('mt-service.read') as RequestHandler;
  const mayWrite = RED.auth.needsPermission('mt-service.write') as RequestHandler;
  const { httpAdmin } = RED;
  const changes = new ChangeMessages(RED);
  httpAdmin.get('/mt-service/:id/devices', mayRead, handleQuery(RED, listDevices));
  httpAdmin.get('/mt-service/:id/labels', mayRead, handleQuery(RED, listLabels));
  httpAdmin.get('/mt-service/:id/seen', mayRead, handleQuery(RED, listSeen));
  httpAdmin.get('/mt-service/:id/network', mayRead, handleQuery(RED, listNetwork));
  httpAdmin.get('/mt-service/:id/network/:device', mayRead, handleQuery(RED, showDevice));
  httpAdmin.post(
    '/mt-service/:id/watch',
    mayRead,
    handleQuery(RED, (session) => changes.begin(session)),
  );
  httpAdmin.post('/mt-service/:id/names', mayRead, handleQuery(RED, nameDevices));
  httpAdmin.post('/mt-service/:id/silent', mayRead, handleQuery(RED, listSilent));
  httpAdmin.post('/mt-service/:id/listen', mayRead, handleQuery(RED, listen));
  httpAdmin.get('/mt-service/:id/record', mayRead, handleQuery(RED, showRecord));
  httpAdmin.post('/mt-service/:id/record', mayWrite, handleQuery(RED, controlRecord));
  httpAdmin.get('/mt-service/:id/record/file', mayWrite, handleFile(RED, fetchRecord));
  httpAdmin.post('/mt-service/:id/read', mayWrite, handleAction(RED, readProperty));
  httpAdmin.post('/mt-service/:id/write', mayWrite, handleAction(RED, writeProperty));
  httpAdmin.post('/mt-service/:id/rename', mayWrite, handleAction(RED, renameDevice));
  httpAdmin.post('/mt-service/:id/label', mayWrite, handleAction(RED, changeLabel));
  httpAdmin.get(
    '/mt-service/:id/subscriptions',
    mayRead,
    handleQuery(RED, ({ subscriptions }) => subscriptions ?? {}),
  );
  httpAdmin.post('/mt-service/test', mayWrite, (req, res) => {
    if (refuseForm(req, res)) {
      return;
    }
    mayDeploy(RED, req)
      .then((mayReadVariables) => testConnection(RED, req.body, mayReadVariables))
      .then(
        (result) => res.json(result),
        // Of any other nobody has looked through the text.
        (error: unknown) => sendError(RED, res, error instanceof ServiceError ? error : new Error(NOT_SHOWN)),
      );
  });
}

type Rest = [service: unknown, RED: NodeAPI, signal: AbortSignal];

function listDevices(session: Session, { query }: Request, ...[, , signal]: Rest): unknown {
  session.checkHalf('rest');
  return session.devices?.search(readQueryText(query.q) ?? '', readLimit(query.limit), signal) ?? [];
}

function listLabels(session: Session, { query }: Request, ...[, , signal]: Rest): unknown {
  session.checkHalf('rest');
  const options = { ofGateways: query.of === 'gateways', signal };
  return session.devices?.searchLabels(readQueryText(query.q) ?? '', readLimit(query.limit), options) ?? [];
}

function listSeen(session: Session, { query }: Request): unknown {
  session.checkHalf('mqtt');
  const { recent } = session;
  const wanted = {
    gateway: readQueryText(query.gateway),
    device: readQueryText(query.device),
    text: readQueryText(query.q),
    limit: readLimit(query.limit),
  };
  switch (query.what) {
    case 'devices':
      return recent.devices(wanted);
    case 'identifiers':
      return recent.identifiers(wanted);
    default:
      return recent.gateways(wanted);
  }
}
