// Services inside subflows: the editor knows the template, and each instance runs a service of its own.
import type { NodeAPI } from 'node-red';
import { findService, type ServiceNode } from '../shared/runtime/registration.ts';

/** By the id in the template. */
const instances = new Map<string, Set<ServiceNode>>();

/** Remembers the service of an instance until it closes. */
export function keepInstance(node: ServiceNode & { _alias?: string }): void {
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
