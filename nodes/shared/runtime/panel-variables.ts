// Variables in what an open panel asks with: whose they are, who may have them filled, and that no error shows what they hold.
import { isDeepStrictEqual } from 'node:util';
import type { Request } from 'express';
import type { Node, NodeAPI } from 'node-red';
import { invalidInput, ServiceError } from '../../../src/index.ts';
import { asText, pickKnown } from '../defaults.ts';
import { mayDeploy } from './admin.ts';
import { type Filled, fillEnv, namesVariable, savedNode } from './env.ts';
import { findForEditor, type ServiceNode } from './services.ts';

type PanelProperties = Record<string, unknown>;

/** What a panel asks with, as it stands there, and with its variables filled. */
export interface PanelQuery {
  typed: PanelProperties;
  filled: Filled;
}

/**
 * Reads the properties of a panel that the defaults have, and fills their variables as the node would that stands where
 * the body says: `node`, its id, and `z`, its flow. What a variable holds becomes a part of what is asked, so for those
 * who may not deploy it is filled only where it is deployed.
 * @throws ServiceError `INVALID_INPUT` with the property's name
 */
export async function readPanel(
  RED: NodeAPI,
  req: Request,
  service: ServiceNode,
  defaults: object,
): Promise<PanelQuery> {
  const typed = pickKnown(req.body, defaults);
  const place = pickKnown(req.body, { node: '', z: '' });
  const withVariables = Object.keys(typed).filter((property) => namesVariable(typed[property]));
  const isOpen = withVariables.length === 0 || (await mayDeploy(RED, req));
  if (!isOpen) {
    checkDeployed(RED, service, typed, withVariables, place.node);
  }
  const node = environmentOf(RED, service, isOpen ? place : { node: place.node });
  return { typed, filled: fillEnv(RED, node, typed, () => typed) };
}

/** At another service, or in another environment, a variable would be filled otherwise and sent elsewhere. */
function checkDeployed(
  RED: NodeAPI,
  service: ServiceNode,
  typed: PanelProperties,
  withVariables: readonly string[],
  node: unknown,
): void {
  const deployed = savedNode(RED, { id: node });
  const isForeign = (name: string) => !isDeepStrictEqual(typed[name], deployed[name]);
  const foreign = withVariables.find((property) => isForeign(property) || isForeign(`${property}Type`));
  if (foreign !== undefined || !findUser(usersOf(service), node)) {
    throw invalidInput(foreign ?? withVariables[0]!, undefined, 'mayNotFill');
  }
}

/**
 * A node that has the environment which the panel's node will have: itself, an instance of it, or a neighbour. It may be
 * deployed with another service than the one that is chosen now.
 */
function environmentOf(RED: NodeAPI, service: ServiceNode, { node: id, z }: PanelProperties): Node {
  const users = usersOf(service);
  RED.nodes.eachNode((other) => {
    users.push(...(other.type === 'mt-service' ? usersOf(findForEditor(RED, other.id)) : []));
  });
  return findUser(users, id) ?? users.find((user) => user.z !== undefined && user.z === z) ?? service;
}

type User = Node & { _alias?: string };

const usersOf = (service: ServiceNode | undefined): User[] => Object.values(service?.users ?? {});

/** The node among them, or an instance of it. */
const findUser = (users: readonly User[], id: unknown): User | undefined =>
  users.find((user) => user.id === id) ??
  users.find((user) => user._alias !== undefined && user._alias === id);

/** A user who may only read does not see the server's environment: an error shows the variable, not its value. */
export async function hideValues<T>(typed: PanelProperties, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const { field, value } = error instanceof ServiceError ? error.cause : {};
    // At any depth: that is how variables are filled in.
    const entries = [typed[String(field)]].flat().filter((entry) => namesVariable(entry));
    if (!(error instanceof ServiceError) || entries.length === 0) {
      throw error;
    }
    const { key, values } = error.text;
    const reason = key.slice(error.code.length + 1);
    // One that was not filled stands in the error as it was typed.
    const named = entries.includes(value) ? [value] : entries;
    const shown = named.map(asText).join(', ').slice(0, 80);
    throw new ServiceError(error.code, reason, { field, value: shown }, { ...values, value: shown });
  }
}
