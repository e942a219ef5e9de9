// Fills `${NAME}` in a node's properties and credentials, also inside longer texts, from the node's own environment.
import type { Node, NodeAPI } from 'node-red';
import { invalidInput, type ServiceError } from '../../../src/index.ts';
import {
  asText,
  ENV_NAMES,
  hasEnv,
  LIST_SEPARATOR,
  MAX_NUMBER,
  type Range,
  readFlag,
  readNumber,
  SOURCE_TYPES,
  splitList,
  TIMEOUT_RANGE,
  type Timeout,
} from '../defaults.ts';

/** The texts of these types are not filled in: `${NAME}` means something else in them, or Node-RED fills it. */
const UNFILLED_TYPES = new Set<unknown>(SOURCE_TYPES);

/** What is nested deeper stays as it is. */
const MAX_DEPTH = 100;
/** Of all that variables bring into one property: a text may name a long one many times. */
const MAX_FILLED_LENGTH = 1_000_000;

type Properties = Record<string, unknown>;
export type Ranges = Readonly<Record<string, Range>>;

/** A text as it was saved, and why it is not filled: a reason of `INVALID_INPUT`. */
export interface Unfilled {
  text: string;
  reason: 'nothing' | 'tooLong';
  /** The first that is not set, as it stands in the text; undefined: none was found to be so. */
  variable?: string;
}

/** A saved node with its variables filled in, and which properties named a variable without a value. */
export interface Filled {
  /** A variable that is not set is empty here. */
  values: Properties;
  /** Properties that name a variable which is not set, or too much of one that is. */
  unset: ReadonlyMap<string, Unfilled>;
  /**
   * The text of a property, or of an entry of a list, that named variables and came out empty: Node-RED itself fills
   * what is one variable and nothing else, so the node cannot tell it from an empty text.
   */
  emptied(this: void, property: string): string | undefined;
  /** What is in a list, or in place of one, and no text: a number or a truth value may only come from a variable. */
  notTexts(this: void, property: string): unknown[];
  /** A list that was saved as JSON with variables in its entries. Undefined where it is none, or names no variable. */
  listIn(this: void, property: string): unknown[] | undefined;
}

/**
 * Fills every `${NAME}`. An entry of a list that is filled with `a,b` becomes two entries.
 * @param original the properties before Node-RED filled what it fills; called only where it makes a difference
 */
export function fillEnv(RED: NodeAPI, node: Node, saved: object, original: () => Properties): Filled {
  const source = saved as Properties;
  const values: Properties = {};
  const unset = new Map<string, Unfilled>();
  let found: Properties | undefined;
  const originalOf = (property: string): unknown => {
    found ??= original();
    return found[property];
  };
  for (const [property, value] of Object.entries(source)) {
    if (property.startsWith('_')) {
      continue;
    }
    const type = source[`${property}Type`];
    const filler = new Filler(RED, node);
    if (UNFILLED_TYPES.has(type)) {
      values[property] = value;
    } else if (Array.isArray(value) && type === undefined) {
      values[property] = filler.fillList(value, () => originalOf(property));
    } else {
      values[property] = filler.fill(value, () => originalOf(property));
    }
    if (filler.unset !== undefined) {
      unset.set(property, filler.unset);
    }
  }
  return {
    values,
    unset,
    emptied: (property) => findEmptied(values[property], () => originalOf(property)),
    notTexts: (property) => findNotTexts(values[property], () => originalOf(property)),
    listIn(property) {
      const text = asText(source[property]);
      return hasEnv(text) && asText(originalOf(property)) === text
        ? new Filler(RED, node).fillJsonList(text)
        : undefined;
    },
  };
}

/** What Node-RED was given for a node, by its id or, inside a subflow, by the id in the subflow's template. */
export function savedNode(RED: NodeAPI, saved: object): Properties {
  const { id, _alias = id } = saved as { id?: unknown; _alias?: unknown };
  let found: object = saved;
  RED.nodes.eachNode((candidate) => {
    found = candidate.id === _alias ? candidate : found;
  });
  return found as Properties;
}

/** The credentials of a node as they were entered. */
export function savedCredentials(RED: NodeAPI, saved: object): Properties {
  const { id, _alias = id } = saved as { id: string; _alias?: string };
  return (RED.nodes.getCredentials(_alias) ?? {}) as Properties;
}

/** A service as it is deployed, credentials included, before its variables are filled in. */
export const savedService = (RED: NodeAPI, saved: object): Properties => ({
  ...savedNode(RED, saved),
  ...savedCredentials(RED, saved),
});

/** Whether a value names a variable anywhere where `fillEnv` would fill it. */
export function namesVariable(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) {
    return hasEnv(value);
  }
  return Object.values(value).some((part) => namesVariable(part, depth + 1));
}

class Filler {
  /** The first text that is not filled. */
  unset: Unfilled | undefined;
  #length = 0;
  readonly #RED: NodeAPI;
  readonly #node: Node;
  /** A text may name one variable a hundred thousand times. */
  readonly #values = new Map<string, unknown>();

  constructor(RED: NodeAPI, node: Node) {
    this.#RED = RED;
    this.#node = node;
  }

  /** @param original the value before Node-RED filled it: what a variable holds is not filled again */
  fill(value: unknown, original: () => unknown, depth = 0): unknown {
    if (hasEnv(value)) {
      const before = original();
      return typeof before === 'string' && before !== value ? value : this.#fillText(value);
    }
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) {
      return value;
    }
    const part = (key: string | number) => () => (original() as Properties | undefined)?.[key];
    if (Array.isArray(value)) {
      return value.map((entry, index) => this.fill(entry, part(index), depth + 1));
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, entry]) => [key, this.fill(entry, part(key), depth + 1)]),
    );
  }

  /** Only what came from a variable is split: a label that was picked may have a comma in it. */
  fillList(list: readonly unknown[], original: () => unknown): unknown[] {
    return list.flatMap((entry, index) => {
      const before = () => (original() as unknown[] | undefined)?.[index];
      const filled = this.fill(entry, before);
      const isSplit =
        typeof filled === 'string' &&
        (LIST_SEPARATOR.test(filled) || filled !== filled.trim()) &&
        (filled !== entry || hasEnv(before()));
      if (isSplit) {
        const parts = splitList(filled);
        return parts.length > 0 ? parts : '';
      }
      // A variable can hold a list itself.
      return typeof entry === 'string' || (Array.isArray(entry) && hasEnv(before())) ? filled : [filled];
    });
  }

  /** Entries that name variables are texts, since they stand in quotation marks. */
  fillJsonList(text: string): unknown[] | undefined {
    const list = parsed(text);
    return Array.isArray(list)
      ? list.flatMap((entry: unknown) =>
          hasEnv(entry) ? this.fillList([entry], () => [entry]).map(asText) : [entry],
        )
      : undefined;
  }

  /** A text that is one variable and nothing else takes over the variable's type, as Node-RED does it. */
  #fillText(text: string): unknown {
    const whole = /^\$\{([^}]+)\}$/.exec(text)?.[1];
    return whole === undefined
      ? text.replace(ENV_NAMES, (_match, name: string) => String(this.#read(name, text)))
      : this.#read(whole, text);
  }

  #read(name: string, text: string): unknown {
    if (!this.#values.has(name)) {
      this.#values.set(name, (this.#RED.util.getSetting(this.#node, name) as unknown) ?? undefined);
    }
    const value = this.#values.get(name);
    if (value === undefined) {
      this.unset ??= { ...nothingIn(text), variable: `\${${name}}` };
    }
    this.#length += typeof value === 'string' ? value.length : 0;
    if (this.#length > MAX_FILLED_LENGTH) {
      this.unset = { text, reason: 'tooLong' };
      return '';
    }
    return value ?? '';
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // It may be JSON when it is filled; the reader of the field says so where it is none.
    return undefined;
  }
}

/** Of a text that names variables and came out empty. */
export const nothingIn = (text: string): Unfilled => ({ text, reason: 'nothing' });

export const notFilled = (property: string, { text, reason }: Unfilled): ServiceError =>
  invalidInput(property, text, reason, { limit: MAX_FILLED_LENGTH });

/** Separators alone make an empty list. */
export const isBlank = (value: unknown): boolean => typeof value === 'string' && /^[\s,]*$/.test(value);

function findEmptied(value: unknown, original: () => unknown): string | undefined {
  const isEmptied = isBlank(value) || (Array.isArray(value) && (value.length === 0 || value.some(isBlank)));
  return isEmptied ? [original()].flat().find(hasEnv) : undefined;
}

/** Properties that only the editor shows, and those that are checked elsewhere. */
const UNCHECKED = new Set(['version', 'name', 'title', 'service']);

function findNotTexts(value: unknown, original: () => unknown): unknown[] {
  const odd = [value].flat().filter((entry) => typeof entry !== 'string');
  if (odd.length === 0) {
    return odd;
  }
  const written = new Set([original()].flat());
  return odd.filter((entry) => typeof entry === 'object' || written.has(entry));
}

/**
 * Refuses what `checkGiven` refuses, and what named a variable and got nothing: a default or an empty list in its place could select everything.
 * Typed fields are left out, because they are refused when they are read.
 * @param ranges of the properties that are checked for more than being a number
 * @throws ServiceError `INVALID_INPUT` with the property's name
 */
export function checkFilled(config: object, filled: Filled, ranges: Ranges = {}): void {
  const { unset, emptied } = filled;
  for (const [property, value] of Object.entries(config)) {
    if (`${property}Type` in config || UNCHECKED.has(property)) {
      continue;
    }
    const text = Array.isArray(value) ? emptied(property) : undefined;
    const unfilled = unset.get(property) ?? (text === undefined ? undefined : nothingIn(text));
    if (unfilled) {
      throw notFilled(property, unfilled);
    }
    if (!isTypeAlone(property, config, filled)) {
      checkGiven(property, value, filled, ranges[property]);
    }
  }
}

/** The type of a typed field whose text is missing: `readPair` has made both the default, so the type counts for nothing. */
function isTypeAlone(property: string, config: object, { values }: Filled): boolean {
  const field = /^(.+)Type$/.exec(property)?.[1];
  return field !== undefined && field in config && (values[field] ?? undefined) === undefined;
}

/**
 * Refuses what is none of a property's choices, no number, no truth value or no list of texts, from wherever it came: the default in its
 * place would do something else. What is absent, or was cleared in the panel, is left out.
 * @param used what the config has for it
 * @param range of a number
 * @throws ServiceError `INVALID_INPUT` with the property's name
 */
export function checkGiven(
  property: string,
  used: unknown,
  { values, emptied, notTexts }: Filled,
  range?: Range,
): void {
  const given = values[property];
  if (given === undefined || given === null || used === given) {
    return;
  }
  if (Array.isArray(used)) {
    for (const odd of notTexts(property)) {
      throw invalidInput(property, odd, Array.isArray(given) ? 'notText' : 'notList');
    }
    return;
  }
  if (asText(given).trim() === '') {
    const text = emptied(property);
    if (text !== undefined) {
      throw invalidInput(property, text, 'nothing');
    }
  } else if (typeof used === 'number') {
    checkNumber(property, used, given, range);
  } else if (typeof used === 'boolean' && readFlag(given, undefined) === undefined) {
    throw invalidInput(property, given, 'notBoolean');
  } else if (typeof used === 'string' && !isSameWord(used, asText(given).trim())) {
    throw invalidInput(property, given, 'notChoice');
  }
}

/** The methods of HTTP may be in lower case. */
const isSameWord = (used: string, given: string): boolean =>
  used.trim() === given || used === given.toUpperCase();

function checkNumber(property: string, used: number, given: unknown, range?: Range): void {
  const number = readNumber(given, Number(asText(given)));
  if (!Number.isFinite(number)) {
    throw invalidInput(property, given, 'notNumber');
  }
  if (Object.is(number, used)) {
    return;
  }
  if (range || number < 0) {
    const { min = 0, max = MAX_NUMBER } = range ?? {};
    throw invalidInput(property, given, 'outOfRange', { min, max });
  }
  throw invalidInput(property, given, 'notChoice');
}

/** A timeout is a text, since an empty one is the service's own. @throws ServiceError `INVALID_INPUT` */
export function checkTimeout({ timeout }: { timeout: Timeout }): void {
  if (timeout.trim() === '') {
    return;
  }
  const number = readNumber(timeout, undefined, Number.NEGATIVE_INFINITY);
  if (number === undefined) {
    throw invalidInput('timeout', timeout, 'notNumber');
  }
  checkRange('timeout', number, TIMEOUT_RANGE);
}

/**
 * Refuses a number that a setting cannot be.
 * @throws ServiceError `INVALID_INPUT` with the property's name
 */
export function checkRange(property: string, number: number, { min, max = MAX_NUMBER }: Range): void {
  if (!Number.isInteger(number)) {
    throw invalidInput(property, number, 'notInteger');
  }
  if (number < min || number > max) {
    throw invalidInput(property, number, 'outOfRange', { min, max });
  }
}

/** The same for every setting that has a range. */
export function checkRanges(config: object, ranges: Ranges): void {
  for (const [property, range] of Object.entries(ranges)) {
    checkRange(property, (config as Record<string, number>)[property]!, range);
  }
}
