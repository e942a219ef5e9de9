// The newest reports that the settings of an open mt-report-in panel would let through.
import { isDeepStrictEqual } from 'node:util';
import type { Request, RequestHandler } from 'express';
import type { Node, NodeAPI } from 'node-red';
import { invalidInput, type KeptMessage, ServiceError, type Session } from '../../src/index.ts';
import { hasEnv, pickKnown } from '../shared/defaults.ts';
import { handleQuery, mayDeploy, readLimit } from '../shared/runtime/admin.ts';
import { checkFilled, fillEnv, namesVariable, savedNode } from '../shared/runtime/env.ts';
import type { ServiceNode } from '../shared/runtime/services.ts';
import { DEFAULTS, upgrade } from './config.ts';
import { filterOf } from './filter.ts';
import { testerOfNode } from './test-report.ts';

/** Entries of one list. */
const MAX_ENTRIES = 10_000;
/** No look is a reason to read the list of devices more often than the pickers do. */
const MIN_LABEL_REFRESH_S = 60;

type PanelProperties = Record<string, unknown>;

/** Adds the endpoint that an open panel asks, with its properties and with `node` and `z`, where the node stands. */
export function registerPreview(RED: NodeAPI): void {
  const mayRead = RED.auth.needsPermission('mt-service.read') as RequestHandler;
  RED.httpAdmin.post('/mt-service/:id/preview', mayRead, handleQuery(RED, preview));
}

/**
 * @returns the newest first, each with its `topic`; with `explain`, where nothing can pass: `{hasNoGateway: true}`
 * @throws ServiceError `INVALID_INPUT` with the property's name, `NOT_CONFIGURED`
 */
async function preview(session: Session, req: Request, service: ServiceNode, RED: NodeAPI): Promise<object> {
  const { body } = req;
  const typed = (typeof body === 'object' && body !== null ? body : {}) as PanelProperties;
  const known = pickKnown(typed, DEFAULTS);
  const place = await placeOf(RED, req, service, typed, known);
  const filled = fillEnv(RED, environmentOf(service, place), known, () => known);
  const config = upgrade(filled.values);
  checkListLengths(config);
  const { entries, labels } = hideValues(typed, () => {
    checkFilled(config, filled);
    const filter = filterOf(config);
    const labelRefresh = Math.max(filter.labelRefresh, MIN_LABEL_REFRESH_S);
    const shown = session.preview({ ...filter, labelRefresh }, () => newestOf(service));
    return { entries: shown, labels: filter.labels };
  });
  if (typed.explain === true && labels.length > 0 && session.devices?.mayHaveGatewayWith(labels) === false) {
    return { hasNoGateway: true };
  }
  return entries
    .slice(Math.max(0, entries.length - readLimit(typed.limit)))
    .reverse()
    .map(({ report, topic }) => ({
      ...report,
      topic,
      gatewayName: session.devices?.nameOf(report.gateway),
      deviceName: session.devices?.nameOf(report.device),
    }));
}

/**
 * Where the panel's node stands. What a variable holds becomes a part of what the broker is asked, so for those who may
 * not deploy it is filled only where it is deployed.
 * @throws ServiceError `INVALID_INPUT` with the property's name
 */
async function placeOf(
  RED: NodeAPI,
  req: Request,
  service: ServiceNode,
  { node, z }: PanelProperties,
  known: PanelProperties,
): Promise<PanelProperties> {
  const withVariables = Object.keys(known).filter((property) => namesVariable(known[property]));
  if (withVariables.length === 0 || (await mayDeploy(RED, req))) {
    return { node, z };
  }
  const deployed = savedNode(RED, { id: node });
  const foreign = withVariables.find((property) => !isDeepStrictEqual(known[property], deployed[property]));
  // At another service, or in another environment, it would be filled otherwise and sent elsewhere.
  if (foreign !== undefined || !findUser(service, node)) {
    throw invalidInput(foreign ?? withVariables[0]!, undefined, 'mayNotFill');
  }
  return { node };
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

/** A node that has the environment which the panel's node will have: itself, an instance of it, or a neighbour. */
function environmentOf(service: ServiceNode, { node: id, z }: PanelProperties): Node {
  const users = Object.values(service.users);
  return findUser(service, id) ?? users.find((user) => user.z !== undefined && user.z === z) ?? service;
}

/** The node that runs with this service, or an instance of it. */
function findUser(service: ServiceNode, id: unknown): Node | undefined {
  const users = Object.values(service.users) as (Node & { _alias?: string })[];
  return (
    users.find((user) => user.id === id) ??
    users.find((user) => user._alias !== undefined && user._alias === id)
  );
}

/**
 * A user who may only read does not see the server's environment: an error shows the variable, not its value.
 */
function hideValues<T>(typed: PanelProperties, run: () => T): T {
  try {
    return run();
  } catch (error) {
    const field = error instanceof ServiceError ? error.cause.field : undefined;
    const given = JSON.stringify(typed[String(field)]) ?? '';
    // At any depth: that is how variables are filled in.
    if (!(error instanceof ServiceError) || !hasEnv(given)) {
      throw error;
    }
    const { key, values } = error.text;
    const reason = key.slice(error.code.length + 1);
    const shown = given.replace(/^"|"$/g, '').slice(0, 80);
    throw new ServiceError(error.code, reason, { field, value: shown }, { ...values, value: shown });
  }
}
