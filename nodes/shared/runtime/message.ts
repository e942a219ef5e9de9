// Reads, changes and copies messages, also those of function nodes with parts that cannot be read, changed or copied.
import type { NodeAPI, NodeMessage } from 'node-red';
import { invalidInput } from '../../../src/index.ts';

/**
 * Reads a property of the message itself; undefined where it is absent.
 * @throws ServiceError `INVALID_INPUT` where it throws when it is read
 */
export function readProperty(msg: NodeMessage, name: string, field = name): unknown {
  try {
    return Object.hasOwn(msg, name) ? (msg as Record<string, unknown>)[name] : undefined;
  } catch {
    throw invalidInput(field, name, 'expression');
  }
}

/** The network key of a request; an empty one is refused without showing it: the request would go out without a key. */
export function readKey(msg: NodeMessage, stored: () => string | undefined): unknown {
  const key = readProperty(msg, 'key');
  if (key === '') {
    throw invalidInput('key', undefined, 'missing');
  }
  return key ?? stored();
}

/** Sets these values; on a copy where the message cannot be changed, so that the result is sent in any case. */
export function updateMessage<Msg extends NodeMessage>(RED: NodeAPI, msg: Msg, values: object): Msg {
  try {
    return Object.assign(msg, values);
  } catch {
    return { ...copyCopyable(RED, msg), ...values } as Msg;
  }
}

/**
 * As it is now, for what has to wait: flows may go on changing it. The value itself where it cannot be copied; whoever uses
 * it says what is wrong with it.
 */
export function copyOf(RED: NodeAPI, value: unknown): unknown {
  try {
    return typeof value === 'object'
      ? (RED.util.cloneMessage({ value } as NodeMessage) as { value?: unknown }).value
      : value;
  } catch {
    return value;
  }
}

/** Properties that Node-RED itself reads before it sends a message to Catch nodes. */
const READ_BY_NODE_RED = new Set(['hasOwnProperty', 'error', '__proto__']);

/** A copy without the properties that cannot be copied. */
export function copyCopyable(RED: NodeAPI, msg: NodeMessage): NodeMessage {
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(msg)) {
    try {
      const value = (msg as Record<string, unknown>)[name];
      if (!READ_BY_NODE_RED.has(name)) {
        copy[name] = (RED.util.cloneMessage({ [name]: value } as NodeMessage) as typeof copy)[name];
      }
    } catch {
      // Left out: Node-RED could not copy it either.
    }
  }
  return copy as NodeMessage;
}
