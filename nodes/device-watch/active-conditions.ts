// The endpoint that an open mt-device-watch panel asks: how many the deployed node watches, and what is active now.
import type { Request, RequestHandler } from 'express';
import type { Node, NodeAPI } from 'node-red';
import type { ConditionChange, Session, WatchedDevices } from '../../src/index.ts';
import { handleQuery, isBrokerAway, readLimit } from '../shared/runtime/admin.ts';
import type { ServiceNode } from '../shared/runtime/services.ts';

interface ActiveConditions {
  watched: number;
  /** How many need somebody. */
  active: number;
  /** How many conditions are active; `rows` are the oldest of them. */
  total: number;
  rows: ConditionChange[];
  /** Nothing can be heard now. */
  isAway: boolean;
}

/** By the node that is running. */
const watches = new WeakMap<Node, WatchedDevices>();

/** Shows what a node watches. @returns ends it */
export function showActive(node: Node, watch: WatchedDevices): () => void {
  watches.set(node, watch);
  return () => void watches.delete(node);
}

/** Adds the endpoint that an open panel asks. */
export function registerActiveConditions(RED: NodeAPI): void {
  const mayRead = RED.auth.needsPermission('mt-service.read') as RequestHandler;
  RED.httpAdmin.post('/mt-service/:id/device-watch', mayRead, handleQuery(RED, activeConditions));
}

/** @returns nothing where the node does not run */
function activeConditions(
  session: Session,
  { body }: Request,
  service: ServiceNode,
): ActiveConditions | Record<string, never> {
  const { node, limit } = (body ?? {}) as { node?: unknown; limit?: unknown };
  const watch = watchOf(service, node);
  if (watch === undefined) {
    return {};
  }
  return { ...watch.counts, ...watch.firstActive(readLimit(limit)), isAway: isBrokerAway(session) };
}

/** Of the node itself, or of its first instance when it is in the template of a subflow. */
function watchOf(service: ServiceNode, id: unknown): WatchedDevices | undefined {
  const users = Object.values(service.users) as (Node & { _alias?: string })[];
  const node = users.find((user) => user.id === id) ?? users.find(({ _alias }) => _alias && _alias === id);
  return node && watches.get(node);
}
