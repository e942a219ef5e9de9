// Values of a flow that are to be sent as JSON: what JSON would change or lose in silence is refused.
import { invalidInput } from '../errors.ts';

const MAX_DEPTH = 100;
/** What comes from outside may be nested deeper than what is sent, but not so deep that copying it overflows the stack. */
export const MAX_DEPTH_RECEIVED = 500;

/** Of a report or a response over MQTT. They have some hundred bytes; to parse what is much larger takes seconds. */
export const MAX_PAYLOAD_BYTES = 1_048_576;

/** The text of an object that is nested so deep that no flow could handle it: found once, which takes as long as parsing. */
export class DeepText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The value of a JSON text, or its `DeepText`; undefined when it is none, or a list that is nested too deep. */
export function parseReceived(text: string, maxDepth = MAX_DEPTH_RECEIVED): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    // A short text cannot be nested too deep.
    const isShort = text.length <= 2 * maxDepth;
    if (isShort || !isNested(value) || isWithin(value, maxDepth)) {
      return value;
    }
    return Array.isArray(value) ? undefined : new DeepText(text);
  } catch {
    // Not JSON: undefined.
  }
}

/** The value of a JSON text; undefined when it is none, or when it is nested so deep that no flow could handle it. */
export function parseJson(text: string, maxDepth = MAX_DEPTH_RECEIVED): unknown {
  const value = parseReceived(text, maxDepth);
  return value instanceof DeepText ? undefined : value;
}

/** Lists are long and most of their values are texts and numbers: those cost no call. */
function isWithin(value: object, depth: number): boolean {
  if (depth === 0) {
    return false;
  }
  if (Array.isArray(value)) {
    for (const item of value) {
      if (isNested(item) && !isWithin(item, depth - 1)) {
        return false;
      }
    }
    return true;
  }
  for (const key in value) {
    const item = (value as Record<string, unknown>)[key];
    if (isNested(item) && !isWithin(item, depth - 1)) {
      return false;
    }
  }
  return true;
}

export function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** For what was parsed; see `isJsonObject` for what comes from a flow. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Function nodes run in a context of their own, with another `Object`, so the prototype tells nothing. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  try {
    return Object.prototype.toString.call(value) === '[object Object]';
  } catch {
    // Only an object of a flow can have a tag that throws.
    return false;
  }
}

/**
 * The fields of an object of a flow, read once: what is computed when it is looked at may throw, or differ next time.
 * @throws ServiceError `INVALID_INPUT`
 */
export function copyFields(value: object, field: string): Record<string, unknown> {
  try {
    return { ...value };
  } catch {
    throw invalidInput(field, value, 'notJson');
  }
}

/**
 * A copy that later changes in the flow do not reach.
 * @throws ServiceError `INVALID_INPUT` for what is not JSON: NaN, functions, dates, buffers, cycles, great depth
 */
export function copyJson(value: unknown, field: string): unknown {
  try {
    if (isJson(value, MAX_DEPTH)) {
      return JSON.parse(JSON.stringify(value));
    }
  } catch {
    // An object of a flow can throw when it is looked at.
  }
  throw invalidInput(field, value, 'notJson');
}

/**
 * The JSON text of a value that may say itself what it is in JSON, as a date does.
 * @returns undefined for what is not JSON: as `copyJson`, but for such values
 */
export function jsonText(value: unknown): string | undefined {
  try {
    return isJson(value, MAX_DEPTH_RECEIVED, true) ? JSON.stringify(value) : undefined;
  } catch {
    // An object of a flow can throw when it is looked at.
  }
}

function isJson(value: unknown, depth: number, mayConvert = false): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') {
    return true;
  }
  if (typeof value === 'number') {
    return Number.isFinite(value);
  }
  if (depth === 0 || !isNested(value)) {
    return false;
  }
  if (Array.isArray(value)) {
    // Not `every`, which leaves out holes: JSON makes null of them.
    return value.findIndex((item) => !isJson(item, depth - 1, mayConvert)) < 0;
  }
  if (isConvertible(value)) {
    return mayConvert && convertsToJson(value, depth);
  }
  if (!isJsonObject(value)) {
    return false;
  }
  // JSON leaves undefined fields out, which is what the author of the object expects.
  return Object.values(value).every((item) => item === undefined || isJson(item, depth - 1, mayConvert));
}

interface Convertible {
  toJSON(): unknown;
}

function isConvertible(value: unknown): value is Convertible {
  return isNested(value) && 'toJSON' in value && typeof value.toJSON === 'function';
}

/** A date that is none would be null, and a buffer a list of its bytes; what comes out is not asked once more. */
function convertsToJson(value: Convertible, depth: number): boolean {
  if (ArrayBuffer.isView(value)) {
    return false;
  }
  const converted = value.toJSON();
  return converted !== null && !isConvertible(converted) && isJson(converted, depth - 1, true);
}
