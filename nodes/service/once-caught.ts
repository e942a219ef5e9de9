// An error of a service belongs to no message and no node: each Catch node is to have it once.
import type { Node, NodeAPI } from 'node-red';
import type { ServiceNode } from '../shared/runtime/services.ts';
import { toErrorOfMessage } from '../shared/runtime/texts.ts';

/** What Node-RED's hook `onReceive` is given; `error` is what a Catch node gets. */
interface Received {
  msg: { error?: { source?: { id?: string } } };
  destination: { node: Node };
}

/**
 * Node-RED gives an error of a configuration node to the Catch nodes as if each node that uses it had had it, and to
 * most of them many times. Whom, it decides by groups, subflows and what other Catch nodes have had, so that is left to
 * it, and only what comes again is held back.
 */
export function tellOnce(RED: NodeAPI, node: ServiceNode, error: Error): void {
  const told = new Set<Node>();
  const hook = `onReceive.${node.id}`;
  RED.hooks.add(hook, ({ msg, destination }: Received): false | undefined => {
    const receiver = destination.node;
    if (receiver.type !== 'catch' || msg.error?.source?.id !== node.id) {
      return undefined;
    }
    const comesAgain = told.has(receiver);
    told.add(receiver);
    return comesAgain ? false : undefined;
  });
  try {
    node.error(toErrorOfMessage(RED, error), {});
  } finally {
    // It costs a call for each message of all flows.
    RED.hooks.remove(hook);
  }
}
