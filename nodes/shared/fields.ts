// Typed fields: the values that a node takes from its settings, the message, the context or an expression.
import type { Node, NodeAPI, NodeMessage } from 'node-red';
import { invalidInput } from '../../src/index.ts';
import type { FieldType, TypedField } from './defaults.ts';
import { readProperty } from './message.ts';

type Reader = (msg: NodeMessage) => unknown;
type Values<Name extends string> = Record<Name, unknown>;

/** A value that is still to come. It comes in a box: what a flow keeps may look like a promise and never end. */
class Later {
  readonly box: Promise<{ value: unknown }>;

  constructor(box: Promise<{ value: unknown }>) {
    this.box = box;
  }
}

const ASYNC_TYPES = new Set<FieldType>(['flow', 'global', 'jsonata']);
/** A property of the message itself, which is what most fields are: read without the path parser. */
const PLAIN_PROPERTY = /^[A-Za-z_$][\w$]*$/;

/**
 * Prepares some typed fields of a config for reading from messages. A value that is absent or an empty text is
 * undefined; one that cannot be evaluated is INVALID_INPUT with the field's name. Only context stores and
 * expressions make the answer a promise.
 */
export function createFields<Name extends string>(
  RED: NodeAPI,
  node: Node,
  config: TypedField<Name>,
  names: readonly Name[],
): (msg: NodeMessage) => Values<Name> | Promise<Values<Name>> {
  const source = config as Record<string, string>;
  const typeOf = (name: Name) => source[`${name}Type`] as FieldType;
  const readers = names.map((name) => createReader(RED, node, name, typeOf(name), source[name] ?? ''));
  const readNow = (msg: NodeMessage): Values<Name> => {
    const values = {} as Values<Name>;
    for (let index = 0; index < names.length; index++) {
      values[names[index]!] = readers[index]!(msg);
    }
    return values;
  };
  return names.some((name) => ASYNC_TYPES.has(typeOf(name))) ? (msg) => settle(readNow(msg)) : readNow;
}

async function settle<Name extends string>(pending: Values<Name>): Promise<Values<Name>> {
  const names = Object.keys(pending) as Name[];
  const boxes = await Promise.all(
    names.map((name) => {
      const value = pending[name];
      return value instanceof Later ? value.box : { value };
    }),
  );
  return Object.fromEntries(names.map((name, index) => [name, boxes[index]!.value])) as Values<Name>;
}

function createReader(RED: NodeAPI, node: Node, field: string, type: FieldType, text: string): Reader {
  if (text === '') {
    return () => undefined;
  }
  switch (type) {
    case 'str':
      return () => text;
    case 'msg':
      return createMessageReader(RED, field, text);
    case 'num':
      return createConstant(field, text, 'notNumber', () => readNumber(text));
    case 'bool':
      return createConstant(field, text, 'notBoolean', () => readBoolean(text));
    case 'json':
      return createConstant(field, text, 'notJson', () => JSON.parse(text));
    case 'env':
      return createConstant(field, text, 'expression', () => {
        const value: unknown = RED.util.evaluateNodeProperty(text, 'env', node, {});
        return value === '' ? undefined : value;
      });
    case 'jsonata':
      return createExpression(RED, node, field, text);
    case 'flow':
    case 'global':
      return (msg) =>
        evaluate(field, text, (give) => RED.util.evaluateNodeProperty(text, type, node, msg, give));
  }
}

/** What never changes is computed once; that it cannot be computed is told with every message. */
function createConstant(field: string, text: string, reason: string, compute: () => unknown): Reader {
  try {
    const value = compute();
    return () => value;
  } catch {
    return () => {
      throw invalidInput(field, text, reason);
    };
  }
}

function readNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || Number.isNaN(number)) {
    throw new TypeError();
  }
  return number;
}

function readBoolean(text: string): boolean {
  if (text !== 'true' && text !== 'false') {
    throw new TypeError();
  }
  return text === 'true';
}

function createMessageReader(RED: NodeAPI, field: string, path: string): Reader {
  if (PLAIN_PROPERTY.test(path)) {
    return (msg) => readProperty(msg, path, field);
  }
  return (msg) => {
    try {
      return RED.util.getMessageProperty(msg, path) as unknown;
    } catch (error) {
      // The path parser also throws where a part on the way is absent, which is no mistake of the path.
      if ((error as { code?: unknown } | undefined)?.code === 'INVALID_EXPR') {
        throw invalidInput(field, path, 'expression');
      }
      return undefined;
    }
  };
}

function createExpression(RED: NodeAPI, node: Node, field: string, text: string): Reader {
  try {
    const expression = RED.util.prepareJSONataExpression(text, node);
    return (msg) =>
      evaluate(field, text, (give) => RED.util.evaluateJSONataExpression(expression, msg, give));
  } catch {
    return () => {
      throw invalidInput(field, text, 'expression');
    };
  }
}

function evaluate(
  field: string,
  text: string,
  start: (give: (error: Error | null, value?: unknown) => void) => void,
): Later {
  return new Later(
    new Promise((resolve, reject) => {
      const refuse = () => reject(invalidInput(field, text, 'expression'));
      try {
        start((error, value) => (error ? refuse() : resolve({ value })));
      } catch {
        refuse();
      }
    }),
  );
}
