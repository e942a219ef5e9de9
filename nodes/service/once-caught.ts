// An error of a service belongs to no message and no node: each Catch node is to have it once.
import type { Node, NodeAPI, NodeDef } from 'node-red';
import type { ServiceNode } from '../shared/runtime/services.ts';

/** What Node-RED's configuration of a Catch node says of the nodes that it listens to. */
interface CatchDef extends NodeDef {
  /** Their ids; or all of its group; else all of its tab. */
  scope?: readonly string[] | 'group' | null;
}

/**
 * Node-RED gives an error of a configuration node to the Catch nodes as if each node that uses it had had it. So it is
 * shown as few of them as it takes.
 */
export function tellOnce(RED: NodeAPI, node: ServiceNode, error: Error): void {
  const { users } = node;
  node.users = fewestOf(RED, users);
  try {
    node.error(error, {});
  } finally {
    node.users = users;
  }
}

/** As many of these as all Catch nodes together need to hear of it. */
function fewestOf(RED: NodeAPI, users: Readonly<Record<string, Node>>): Record<string, Node> {
  const catches = new Map<string, CatchDef[]>();
  const byTab = new Map<string, Node[]>();
  // The nodes of a subflow are configured under other ids than they have in each place where it is used.
  const told = { ...users };
  RED.nodes.eachNode((def) => {
    const user = users[def.id];
    if (def.type === 'catch') {
      catches.set(def.z, [...(catches.get(def.z) ?? []), def]);
    } else if (user !== undefined) {
      delete told[def.id];
      byTab.set(def.z, [...(byTab.get(def.z) ?? []), user]);
    }
  });
  for (const [tab, nodes] of byTab) {
    for (const one of fewestOfTab(nodes, catches.get(tab) ?? [])) {
      told[one.id] = one;
    }
  }
  return told;
}

/** More than one only where no single node is listened to by all. */
function fewestOfTab(users: readonly Node[], catches: readonly CatchDef[]): Node[] {
  const hasGroups = catches.some(({ scope }) => scope === 'group');
  const listeningTo = ({ id, g }: Node & { g?: string }): unknown[] => [
    ...catches.filter(({ scope }) => Array.isArray(scope) && scope.includes(id)),
    ...(hasGroups && g !== undefined ? [g] : []),
  ];
  const heard = new Set<unknown>();
  const told: Node[] = [];
  const candidates = users.map((one) => ({ one, listening: listeningTo(one) }));
  for (const { one, listening } of candidates.toSorted((a, b) => b.listening.length - a.listening.length)) {
    if (told.length === 0 || listening.some((each) => !heard.has(each))) {
      told.push(one);
      for (const each of listening) {
        heard.add(each);
      }
    }
  }
  return told;
}
