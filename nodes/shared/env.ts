// Fills `${NAME}` in a node's properties and credentials, also inside longer texts, from the node's own environment.
import type { Node, NodeAPI } from 'node-red';
import { hasEnv } from './defaults.ts';

/** Text of these types belongs to somebody else: a path, a JSONata expression, a template of Node-RED's own. */
const FOREIGN_TYPES = new Set<unknown>(['msg', 'flow', 'global', 'env', 'jsonata']);

/** A copy of a saved node in which every `${NAME}` is filled in; a variable that is not set is empty. */
export function fillEnv(RED: NodeAPI, node: Node, saved: object): Record<string, unknown> {
  const source = saved as Record<string, unknown>;
  const filled: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(source)) {
    if (key.startsWith('_')) {
      continue;
    }
    filled[key] = FOREIGN_TYPES.has(source[`${key}Type`]) ? value : fillValue(RED, node, value);
  }
  return filled;
}

function fillValue(RED: NodeAPI, node: Node, value: unknown): unknown {
  if (hasEnv(value)) {
    return fillVariables(RED, node, value);
  }
  if (Array.isArray(value)) {
    return value.map((entry) => fillValue(RED, node, entry));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [key, fillValue(RED, node, entry)]),
    );
  }
  return value;
}

/** A text that is one variable and nothing else takes over the variable's type, as Node-RED does it. */
function fillVariables(RED: NodeAPI, node: Node, text: string): unknown {
  const whole = /^\$\{([^}]+)\}$/.exec(text)?.[1];
  const read = (name: string): unknown => RED.util.getSetting(node, name) ?? '';
  return whole === undefined
    ? text.replace(/\$\{([^}]+)\}/g, (_match, name: string) => String(read(name)))
    : read(whole);
}
