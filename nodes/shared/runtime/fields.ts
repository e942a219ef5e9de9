// Typed fields: the values that a node takes from its settings, the message, the context or an expression.
import type { Node, NodeAPI, NodeMessage } from 'node-red';
import { invalidInput, showDuration, startPatientTimer, type TextValues } from '../../../src/index.ts';
import { ENV_NAMES, type FieldType, hasEnv, SOURCE_TYPES, type TypedField } from '../defaults.ts';
import { type Filled, notFilled, nothingIn } from './env.ts';
import { InOrder } from './in-order.ts';
import { copyOf, readProperty } from './message.ts';

type Reader = (msg: NodeMessage) => unknown;
type Values<Name extends string> = Record<Name, unknown>;

/** A value that is not there yet. Wrapped in an object, because a value that looks like a promise would be awaited. */
class PendingValue {
  readonly promise: Promise<{ value: unknown }>;

  constructor(promise: Promise<{ value: unknown }>) {
    this.promise = promise;
    // A field behind this one may be refused at once: then nobody waits for it, and its own refusal must not end Node-RED.
    promise.catch(() => undefined);
  }
}

const SOURCES = new Set<FieldType>(SOURCE_TYPES);
/** For a context store or an expression; then the message fails, which others wait for. */
const MAX_WAIT_MS = 5_000;
const ASYNC_TYPES = new Set<FieldType>(['flow', 'global', 'jsonata']);
/** A property of the message itself, which is what most fields are: read without the path parser. */
const PLAIN_PROPERTY = /^[A-Za-z_$][\w$]*$/;

/** Fields in which `null` and an empty text are values of their own, wherever they come from. */
export interface FieldOptions<Name> {
  nullable?: readonly Name[];
  /** Fields that can be a list of texts: in JSON, an entry that is filled with `a,b` is two. */
  lists?: readonly Name[];
}

/**
 * Prepares some typed fields of a config for reading from messages. Only what is absent in the message and an empty
 * literal are undefined. A source of another type without a value is INVALID_INPUT with the field's name, because
 * an absent filter selects everything; so is a value that cannot be evaluated. Only context stores and expressions make the
 * answer a promise, and what waits in `order` for those of another message.
 * @param order of all fields of the node
 */
export function createFields<Name extends string>(
  RED: NodeAPI,
  node: Node,
  config: TypedField<Name>,
  filled: Filled,
  names: readonly Name[],
  { nullable = [], lists = [] }: FieldOptions<Name> = {},
  order = new InOrder(),
): (msg: NodeMessage) => Values<Name> | Promise<Values<Name>> {
  const source = config as Record<string, string>;
  const typeOf = (name: Name) => source[`${name}Type`] as FieldType;
  const readers = names.map((name) => {
    const [type, text] = [typeOf(name), source[name] ?? ''];
    const emptied = filled.emptied(name);
    const unfilled = filled.unset.get(name) ?? (emptied === undefined ? undefined : nothingIn(emptied));
    const isNothing = nullable.includes(name) ? isAbsent : isEmpty;
    if (unfilled !== undefined) {
      return () => {
        throw notFilled(name, unfilled);
      };
    }
    if (SOURCES.has(type) && isNoText(filled, name)) {
      // A flow that was written by hand means a value, and what names nothing would count as not given.
      return createRefusal(name, text, 'expression');
    }
    const list = type === 'json' && lists.includes(name) ? filled.listIn(name) : undefined;
    return list === undefined ? createReader(RED, node, name, type, text, isNothing) : () => list;
  });
  const readNow = (msg: NodeMessage): Values<Name> => {
    const values = {} as Values<Name>;
    for (let index = 0; index < names.length; index++) {
      values[names[index]!] = readers[index]!(msg);
    }
    return values;
  };
  const isAsync = names.some((name) => ASYNC_TYPES.has(typeOf(name)));
  return (msg) => {
    const values = readNow(msg);
    return isAsync || !order.isIdle ? order.add(settle(RED, values)) : values;
  };
}

/** A number or a truth value of a variable is a text that Node-RED has filled in. */
function isNoText({ values, notTexts }: Filled, name: string): boolean {
  const value = values[name] ?? '';
  return typeof value === 'object' || (value !== '' && notTexts(name).length > 0);
}

const isAbsent = (value: unknown): boolean => value === undefined;

/** An empty list is no choice either: as a filter it would let everything pass. */
function isEmpty(value: unknown): boolean {
  try {
    return (
      value === undefined ||
      value === null ||
      (typeof value === 'string' && value.trim() === '') ||
      (Array.isArray(value) && value.length === 0)
    );
  } catch {
    // A value of a flow can throw when its properties are read; the code that uses it reports that.
    return false;
  }
}

async function settle<Name extends string>(RED: NodeAPI, pending: Values<Name>): Promise<Values<Name>> {
  const names = Object.keys(pending) as Name[];
  const results = await Promise.all(
    names.map((name) => {
      const value = pending[name];
      return value instanceof PendingValue ? value.promise : { value: copyOf(RED, value) };
    }),
  );
  return Object.fromEntries(names.map((name, index) => [name, results[index]!.value])) as Values<Name>;
}

function createReader(
  RED: NodeAPI,
  node: Node,
  field: string,
  type: FieldType,
  text: string,
  isNothing: (value: unknown) => boolean,
): Reader {
  switch (type) {
    case 'str':
      return () => (text === '' ? undefined : text);
    case 'msg':
      return text === '' ? () => undefined : createMessageReader(RED, field, text);
    case 'num':
      return createConstant(field, text, 'notNumber', () => readNumber(text));
    case 'bool':
      return createConstant(field, text, 'notBoolean', () => readBoolean(text));
    case 'json':
      return createConstant(field, text, 'notJson', () => JSON.parse(text));
    case 'env':
      return createVariable(RED, node, field, text);
    case 'jsonata':
      return createExpression(RED, node, field, text, isNothing);
    case 'flow':
    case 'global':
      return (msg) =>
        evaluate(RED, field, text, isNothing, (callback) =>
          RED.util.evaluateNodeProperty(text, type, node, msg, callback),
        );
  }
}

const createRefusal = (field: string, text: string, reason: string): Reader => {
  return () => {
    throw invalidInput(field, text, reason);
  };
};

/** A constant is computed once; where that fails, every message fails with the reason. */
function createConstant(field: string, text: string, reason: string, compute: () => unknown): Reader {
  if (text === '') {
    return () => undefined;
  }
  try {
    const value = compute();
    return () => value;
  } catch {
    return createRefusal(field, text, reason);
  }
}

/** An environment cannot hold `null`: a variable that is set and empty counts as not set in every field. */
function createVariable(RED: NodeAPI, node: Node, field: string, text: string): Reader {
  const names = hasEnv(text) ? [...text.matchAll(ENV_NAMES)].map(([, name]) => name!) : [text];
  const value: unknown = RED.util.evaluateNodeProperty(text, 'env', node, {});
  const isUnset = names.some((name) => RED.util.getSetting(node, name) === undefined);
  return isUnset || isEmpty(value) ? createRefusal(field, text, 'nothing') : () => value;
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

function createExpression(
  RED: NodeAPI,
  node: Node,
  field: string,
  text: string,
  isNothing: (value: unknown) => boolean,
): Reader {
  try {
    const expression = RED.util.prepareJSONataExpression(text, node);
    return (msg) =>
      evaluate(RED, field, text, isNothing, (callback) =>
        RED.util.evaluateJSONataExpression(expression, msg, callback),
      );
  } catch {
    return createRefusal(field, text, 'expression');
  }
}

/** Fails where no answer comes for `MAX_WAIT_MS`. */
function evaluate(
  RED: NodeAPI,
  field: string,
  text: string,
  isNothing: (value: unknown) => boolean,
  start: (callback: (error: Error | null, value?: unknown) => void) => void,
): PendingValue {
  return new PendingValue(
    new Promise((resolve, reject) => {
      const endTimer = startPatientTimer(
        () => refuse('sourceSilent', { timeout: showDuration(MAX_WAIT_MS) }),
        MAX_WAIT_MS,
      );
      const refuse = (reason: string, values: TextValues = {}) => {
        endTimer();
        reject(invalidInput(field, text, reason, values));
      };
      try {
        start((error, value) => {
          if (error) {
            refuse('expression');
          } else if (isNothing(value)) {
            refuse('nothing');
          } else {
            endTimer();
            // A store in memory gives what flows go on changing, to an expression as well.
            resolve({ value: copyOf(RED, value) });
          }
        });
      } catch {
        refuse('expression');
      }
    }),
  );
}
