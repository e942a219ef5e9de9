// The endpoint that an open mt-last-value panel asks: the values that its settings would bring now.
import type { Request, RequestHandler } from 'express';
import type { NodeAPI } from 'node-red';
import type { Session } from '../../src/index.ts';
import { hasEnv, pickKnown, readList } from '../shared/defaults.ts';
import { handleQuery, readLimit } from '../shared/runtime/admin.ts';
import { DEFAULTS } from './config.ts';

/** Entries of one list. */
const MAX_LABELS = 1_000;

/** Adds the endpoint that an open panel asks, with the settings that are fixed; the others let everything pass. */
export function registerKnownValues(RED: NodeAPI): void {
  const mayRead = RED.auth.needsPermission('mt-service.read') as RequestHandler;
  RED.httpAdmin.post('/mt-service/:id/last-values', mayRead, handleQuery(RED, knownValues));
}

/**
 * @returns `rows`: the first of them, with `total`
 * @throws ServiceError `INVALID_INPUT` with the property's name, `NOT_CONFIGURED`
 */
function knownValues(
  session: Session,
  { body }: Request,
  ...[, , signal]: [service: unknown, RED: NodeAPI, signal: AbortSignal]
): Promise<object> {
  const typed = pickKnown(body, DEFAULTS);
  const fixed = (name: string) => {
    const value = typed[name];
    return typed[`${name}Type`] === 'str' && value !== '' && !hasEnv(value) ? value : undefined;
  };
  const gateway = fixed('gateway');
  // As in a flow: one value of a gateway, without a device, is its own.
  const isOwn = typed.select !== 'all' && typed.deviceType === 'str' && typed.device === '';
  const device = isOwn ? gateway : fixed('device');
  const input = { gateway, device, identifier: fixed('identifier') };
  const labels = readList(typed.labels ?? [])
    .filter((label) => !hasEnv(label))
    .slice(0, MAX_LABELS);
  const limit = readLimit((body as { limit?: unknown } | undefined)?.limit);
  return session.values.first(input, { labels, signal }, limit);
}
