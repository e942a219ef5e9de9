// The endpoint that an open mt-last-value panel asks: the values that its settings would bring now.
import type { Request, RequestHandler } from 'express';
import type { NodeAPI } from 'node-red';
import type { Session } from '../../src/index.ts';
import { readList, type TypedField } from '../shared/defaults.ts';
import { handleQuery, readLimit } from '../shared/runtime/admin.ts';
import { checkFilled } from '../shared/runtime/env.ts';
import { createFields } from '../shared/runtime/fields.ts';
import { hideValues, readPanel } from '../shared/runtime/panel-variables.ts';
import type { ServiceNode } from '../shared/runtime/services.ts';
import { DEFAULTS } from './config.ts';

const FIELDS = ['gateway', 'device', 'identifier'] as const;

/** Entries of one list. */
const MAX_LABELS = 1_000;

/** Adds the endpoint that an open panel asks, with its properties and with `node` and `z`, where the node stands. */
export function registerKnownValues(RED: NodeAPI): void {
  const mayRead = RED.auth.needsPermission('mt-service.read') as RequestHandler;
  RED.httpAdmin.post('/mt-service/:id/last-values', mayRead, handleQuery(RED, knownValues));
}

/**
 * What comes with a message lets everything pass.
 * @returns `rows`: the first of them, with `total`
 * @throws ServiceError `INVALID_INPUT` with the property's name, `NOT_CONFIGURED`
 */
async function knownValues(
  session: Session,
  req: Request,
  service: ServiceNode,
  RED: NodeAPI,
  signal: AbortSignal,
): Promise<object> {
  const { typed, filled } = await readPanel(RED, req, service, DEFAULTS);
  return hideValues(typed, async () => {
    const labels = readList(filled.values.labels ?? []);
    checkFilled({ labels }, filled);
    const fixed = FIELDS.filter((name) => typed[`${name}Type`] === 'str');
    const config = filled.values as unknown as TypedField<(typeof FIELDS)[number]>;
    const { gateway, device, identifier } = await createFields(RED, service, config, filled, fixed)({});
    // As in a flow: one value of a gateway, without a device, is its own.
    const isOwn = typed.select !== 'all' && fixed.includes('device') && device === undefined;
    const input = { gateway, device: isOwn ? gateway : device, identifier };
    const { limit } = (req.body ?? {}) as { limit?: unknown };
    return session.values.first(input, { labels: labels.slice(0, MAX_LABELS), signal }, readLimit(limit));
  });
}
