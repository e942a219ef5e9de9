// What the sidebar does for a person: reads, writes, renames and labels, as the nodes of these names do it for a message.
import type { Request } from 'express';
import type { Node, NodeAPI } from 'node-red';
import { invalidInput, type RequestResult, ServiceError, type Session } from '../../src/index.ts';
import { readNumber } from '../shared/defaults.ts';
import { withinDeadline } from '../shared/runtime/deadline.ts';
import { deployedSettings } from './settings.ts';

/** A browser does not wait longer. */
const MAX_WAIT_MS = 60_000;
const MAX_TEXT_LENGTH = 2_000;

type Body = Record<string, unknown>;
type Rest = [service: Node, RED: NodeAPI, signal: AbortSignal];

/** A property of a request: what a gateway is asked with. */
const PARAMETERS = ['gateway', 'device', 'identifier', 'form', 'priority'] as const;
const OPTIONS = ['extenderId', 'accessType', 'publicKey', 'key'] as const;

/** `POST …/read`: the value that the device has. @throws ServiceError as `Session.request` */
export async function readProperty(
  session: Session,
  req: Request,
  ...[service, , signal]: Rest
): Promise<unknown> {
  const body = bodyOf(req);
  const operation = body.operation === 'apiversion' ? 'apiversion' : 'read';
  const asked = session.request(operation, pick(body), optionsOf(body, service, signal));
  const result = await withinDeadline(asked, MAX_WAIT_MS, endLate);
  return answerOf(req, result.value, result);
}

/** `POST …/write`: of `value`, else of `payload`; neither is NULL. @throws ServiceError as `Session.request` */
export async function writeProperty(
  session: Session,
  req: Request,
  ...[service, , signal]: Rest
): Promise<unknown> {
  const body = bodyOf(req);
  const value = body.value === undefined ? body.payload : body.value;
  const input = { ...pick(body), value, ext: body.ext };
  const asked = session.request('write', input, optionsOf(body, service, signal));
  const result = await withinDeadline(asked, MAX_WAIT_MS, endLate);
  return answerOf(req, value, result);
}

/** `POST …/rename`: of `device`, to `name` or `payload`. @throws ServiceError as `rename` of `ServiceCalls` */
export function renameDevice(session: Session, req: Request, ...[, , signal]: Rest): Promise<object> {
  const { device, name, payload } = bodyOf(req);
  return session.rest.rename(device, name === undefined ? payload : name, signal);
}

/** `POST …/label`: `create` of `label` or `payload`, or `attach` to or `remove` from `device`. @throws ServiceError as `ServiceCalls` */
export function changeLabel(session: Session, req: Request, ...[, , signal]: Rest): Promise<object> {
  const { action, device, label: given, payload } = bodyOf(req);
  const label = given === undefined ? payload : given;
  switch (action) {
    case 'create':
      return session.rest.createLabel(label, signal);
    case 'attach':
      return session.rest.attachLabel(device, label, signal);
    case 'remove':
      return session.rest.removeLabel(device, label, signal);
    default:
      throw invalidInput('action', action, action === undefined ? 'missing' : 'notWord', {
        words: 'create, attach, remove',
      });
  }
}

/**
 * The time in line at the gateway does not count towards the timeout of a request. What waits there goes when this has
 * ended the response.
 */
function endLate(): Promise<never> {
  const cause = { timeout: MAX_WAIT_MS };
  return Promise.reject(new ServiceError('TIMEOUT', 'late', cause, { seconds: MAX_WAIT_MS / 1_000 }));
}

/** The node's payload; with `?full=1` its whole message, where the response has name and unit. */
function answerOf({ query }: Request, payload: unknown, { value: _, ...rest }: RequestResult): unknown {
  if (query.full !== '1') {
    return payload;
  }
  const { name, unit } = rest.response;
  return { payload, name, unit, ...rest };
}

function bodyOf({ body }: Request): Body {
  return typeof body === 'object' && body !== null ? (body as Body) : {};
}

/** Properties of its own only: `gateway` of a prototype is none that was given. */
function pick(body: Body): Body {
  const picked: Body = {};
  for (const name of [...PARAMETERS, ...OPTIONS]) {
    if (Object.hasOwn(body, name) && body[name] !== undefined) {
      checkLength(name, body[name]);
      picked[name] = body[name];
    }
  }
  return picked;
}

/** What is longer is none of these, and would stand in the text of an error. */
function checkLength(name: string, value: unknown): void {
  if (typeof value === 'string' && value.length > MAX_TEXT_LENGTH) {
    throw invalidInput(name, '…', 'tooLong', { limit: MAX_TEXT_LENGTH });
  }
}

function optionsOf(
  body: Body,
  service: Node,
  signal: AbortSignal,
): { signal: AbortSignal; timeout: number; decode: boolean } {
  const given = readNumber(body.timeout, 0);
  const timeout = given >= 1 ? given : (deployedSettings(service)?.config.requestTimeout ?? MAX_WAIT_MS);
  return { signal, decode: body.decode !== false, timeout: Math.min(MAX_WAIT_MS, timeout) };
}
