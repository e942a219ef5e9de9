// The newest reports that the settings of an open mt-report-in panel would let through.
import type { Request, RequestHandler } from 'express';
import type { NodeAPI } from 'node-red';
import { invalidInput, type KeptMessage, type Session } from '../../src/index.ts';
import { handleQuery, isBrokerAway, MAX_ROWS, readLimit } from '../shared/runtime/admin.ts';
import { checkFilled } from '../shared/runtime/env.ts';
import { hideValues, readPanel } from '../shared/runtime/panel-variables.ts';
import type { ServiceNode } from '../shared/runtime/services.ts';
import { DEFAULTS, upgrade } from './config.ts';
import { filterOf } from './filter.ts';
import { testerOfNode } from './test-report.ts';

/** Entries of one list. */
const MAX_ENTRIES = 10_000;
/** No look is a reason to read the list of devices more often than the pickers do. */
const MIN_LABEL_REFRESH_S = 60;

/** Adds the endpoint that an open panel asks, with its properties and with `node` and `z`, where the node stands. */
export function registerPreview(RED: NodeAPI): void {
  const mayRead = RED.auth.needsPermission('mt-service.read') as RequestHandler;
  RED.httpAdmin.post('/mt-service/:id/preview', mayRead, handleQuery(RED, preview));
}

/**
 * @returns the newest first, each with its `topic`; with `explain`, where nothing can pass: `{hasNoGateway: true}`, or
 *   `{isAway: true}` while the broker is not connected
 * @throws ServiceError `INVALID_INPUT` with the property's name, `NOT_CONFIGURED`
 */
async function preview(session: Session, req: Request, service: ServiceNode, RED: NodeAPI): Promise<object> {
  const { typed, filled } = await readPanel(RED, req, service, DEFAULTS);
  const { limit, explain } = (req.body ?? {}) as { limit?: unknown; explain?: unknown };
  const config = upgrade(filled.values);
  checkListLengths(config);
  const { entries, labels } = await hideValues(typed, () => {
    checkFilled(config, filled);
    const filter = filterOf(config);
    const labelRefresh = Math.max(filter.labelRefresh, MIN_LABEL_REFRESH_S);
    const shown = session.preview({ ...filter, labelRefresh }, () => newestOf(service));
    return { entries: shown, labels: filter.labels };
  });
  if (explain === true && labels.length > 0 && session.devices?.mayHaveGatewayWith(labels) === false) {
    return { hasNoGateway: true };
  }
  if (explain === true && entries.length === 0 && isBrokerAway(session)) {
    return { isAway: true };
  }
  return entries
    .slice(Math.max(0, entries.length - readLimit(limit, MAX_ROWS)))
    .reverse()
    .map(({ report, topic }) => ({
      ...report,
      topic,
      gatewayName: session.devices?.nameOf(report.gateway),
      deviceName: session.devices?.nameOf(report.device),
    }));
}

/** What has passed each node of the service last. */
const newestOf = ({ users }: ServiceNode): KeptMessage[] =>
  Object.values(users).flatMap((user) => testerOfNode(user)?.newest() ?? []);

/** Bounds what a user who may only read can make the service remember. @throws ServiceError `INVALID_INPUT` */
function checkListLengths(config: object): void {
  for (const [property, value] of Object.entries(config)) {
    if (Array.isArray(value) && value.length > MAX_ENTRIES) {
      throw invalidInput(property, value.length, 'tooMany', { limit: MAX_ENTRIES });
    }
  }
}
