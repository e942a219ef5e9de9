// Messages that cannot be read, changed or copied as a message should: function nodes can make such.
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

/** The message with these values; a copy where it cannot be changed, so that what was done is told in any case. */
export function change<Msg extends NodeMessage>(RED: NodeAPI, msg: Msg, values: object): Msg {
  try {
    return Object.assign(msg, values);
  } catch {
    return { ...copyWhatCanBe(RED, msg), ...values } as Msg;
  }
}

/** What Node-RED itself looks at in a message before it gives it to Catch nodes. */
const LOOKED_AT = new Set(['hasOwnProperty', 'error', '__proto__']);

/** A copy without the properties that cannot be copied. */
export function copyWhatCanBe(RED: NodeAPI, msg: NodeMessage): NodeMessage {
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(msg)) {
    try {
      const value = (msg as Record<string, unknown>)[name];
      if (!LOOKED_AT.has(name)) {
        copy[name] = (RED.util.cloneMessage({ value } as NodeMessage) as { value?: unknown }).value;
      }
    } catch {
      // Left out: Node-RED could not copy it either.
    }
  }
  return copy as NodeMessage;
}
