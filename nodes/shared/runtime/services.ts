// The deployed services, found by id; inside a subflow the editor knows the template's, and each instance runs its own.
import type { Node, NodeAPI } from 'node-red';
import type { Session } from '../../../src/index.ts';

/** The config node as the others see it. */
export interface ServiceNode extends Node {
  /** Undefined with `problem`: the settings cannot be used as they are. */
  session?: Session;
  problem?: Error;
  /** What is wrong with its settings, or those of a half. */
  problems: readonly Error[];
  /** Tells one of them to the Catch nodes, once in a deploy: whoever came with that needs to hear it. */
  tell(this: void, problem: Error): void;
  /** A plain object, because Node-RED hands this node's errors to the flows of the nodes in it. */
  users: Record<string, Node>;
  /** Called when it has another session, or none, without having been deployed. */
  followers: Set<() => void>;
}

/** The deployed service, or undefined when it is missing, disabled or something else. */
export function findService(RED: NodeAPI, id: string): ServiceNode | undefined {
  const found = (id ? RED.nodes.getNode(id) : null) as ServiceNode | null;
  return found?.type === 'mt-service' ? found : undefined;
}

/** By the id in the template. */
const instances = new Map<string, Set<ServiceNode>>();

/** Remembers the service of an instance until it closes. */
export function rememberInstance(node: ServiceNode & { _alias?: string }): void {
  const { _alias: template } = node;
  if (template === undefined) {
    return;
  }
  const nodes = instances.get(template) ?? new Set();
  instances.set(template, nodes.add(node));
  node.on('close', () => {
    nodes.delete(node);
    if (nodes.size === 0 && instances.get(template) === nodes) {
      instances.delete(template);
    }
  });
}

/** The service that the editor means by an id: in a subflow's template the one of its first instance. */
export function findForEditor(RED: NodeAPI, id: string): ServiceNode | undefined {
  return findService(RED, id) ?? instances.get(id)?.values().next().value;
}
