// How a saved node becomes a complete config: missing properties get their defaults, in the runtime and in the editor.

/** Types of a typed field whose value is saved with the node. */
export const FIXED_TYPES = ['str', 'num', 'bool', 'json'] as const;
/** Types of a typed field whose value is found when a message comes; their text is a path, a name or an expression. */
export const SOURCE_TYPES = ['msg', 'flow', 'global', 'env', 'jsonata'] as const;
const FIELD_TYPES = [...FIXED_TYPES, ...SOURCE_TYPES];
export type FieldType = (typeof FIELD_TYPES)[number];

/** A typed field: the pair `x` and `xType` of a TypedInput. */
export type TypedField<Name extends string> = { [K in Name]: string } & { [K in `${Name}Type`]: FieldType };

/** What every flow node saves. */
export interface NodeConfig {
  version: number;
  /** Id of the mt-service config node. */
  service: string;
}

/** Milliseconds as text; empty: the service's own. */
export type Timeout = string;

/** The allowed values of some properties; anything else becomes the default, and is refused when it is deployed. */
export type Choices<T> = { [K in keyof T]?: readonly T[K][] };

/**
 * Completes a saved node of any age, also one that was written by hand: never throws, drops nothing that it knows.
 * A text with `${NAME}` is kept whatever the property's type is: the runtime fills it in before it calls this,
 * the editor has to show it as it is.
 */
export function readConfig<T extends object>(old: unknown, defaults: T, choices: Choices<T> = {}): T {
  const saved = (typeof old === 'object' && old !== null ? old : {}) as Record<string, unknown>;
  const allowed = choices as Record<string, readonly unknown[] | undefined>;
  const fallback = defaults as Record<string, unknown>;
  const config: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fallback)) {
    if (key === 'version') {
      config[key] = value;
    } else if (`${key}Type` in fallback) {
      Object.assign(config, readField(saved, key, fallback));
    } else if (!(key in config)) {
      config[key] = readProperty(saved[key], value, allowed[key]);
      // A label may begin or end with a blank; nothing else that a list can hold does.
      if (Array.isArray(value) && key !== 'labels') {
        config[key] = (config[key] as string[]).map((entry) => entry.trim());
      }
    }
  }
  return config as T;
}

function readField(saved: Record<string, unknown>, key: string, fallback: Record<string, unknown>): object {
  const typeKey = `${key}Type`;
  const [value, type] = readPair(saved[key], saved[typeKey], [fallback[key], fallback[typeKey]] as Pair);
  return { [key]: value, [typeKey]: type };
}

/** Text and type of a typed field. */
export type Pair = [text: string, type: FieldType];

/** A pair whose value is missing is wholly the default; one whose type is missing takes the type of the default. */
export function readPair(value: unknown, type: unknown, fallback: Pair): Pair {
  const known = FIELD_TYPES.find((name) => name === type);
  if (value === undefined || value === null || (known === undefined && value === '')) {
    return fallback;
  }
  return [asText(value), known ?? fallback[1]];
}

function readProperty(value: unknown, fallback: unknown, allowed: readonly unknown[] | undefined): unknown {
  if (value === undefined || value === null) {
    return Array.isArray(fallback) ? [...fallback] : fallback;
  }
  if (hasEnv(value) && !Array.isArray(fallback)) {
    return value;
  }
  if (allowed) {
    return allowed.find((choice) => String(choice) === asText(value)) ?? fallback;
  }
  if (Array.isArray(fallback)) {
    return readList(value);
  }
  if (typeof fallback === 'boolean') {
    return readFlag(value, fallback);
  }
  if (typeof fallback === 'number') {
    return readNumber(value, fallback, fallback < 0 ? -MAX_NUMBER : 0);
  }
  return asText(value);
}

/** The longest delay of a timer in milliseconds; a longer one would end at once. */
export const MAX_NUMBER = 2 ** 31 - 1;

/** The whole numbers that a setting can be; its panel and the runtime use the same. */
export interface Range {
  min: number;
  /** Absent: `MAX_NUMBER`, which larger ones become. */
  max?: number;
}

/** Milliseconds: with 0 nothing could ever be in time. */
export const TIMEOUT_RANGE = { min: 1 } as const satisfies Range;

/** Reads a number from `min` to 2³¹ - 1 from a number or a text such as "30000"; anything else is the fallback. */
export function readNumber<T>(value: unknown, fallback: T, min = 0): number | T {
  const text = typeof value === 'string' ? value.trim() : value;
  const number = typeof text === 'string' && text !== '' ? Number(text) : text;
  return typeof number === 'number' && Number.isFinite(number) && number >= min
    ? Math.min(number, MAX_NUMBER)
    : fallback;
}

/** Reads a truth value from one or from its text or number; anything else is the fallback. */
export function readFlag<T>(value: unknown, fallback: T): boolean | T {
  if (typeof value === 'boolean') {
    return value;
  }
  if (value === 'true' || value === 1 || value === '1') {
    return true;
  }
  return value === 'false' || value === 0 || value === '0' ? false : fallback;
}

/** Separates the entries of a list that is saved as a text. */
export const LIST_SEPARATOR = /[,\n]/;

/**
 * A list is an array, or a text with one entry per comma or line, as an environment variable has it. The entries of an
 * array stay as they are.
 */
export function readList(value: unknown): string[] {
  return Array.isArray(value)
    ? value.map(asText).filter((entry) => entry.trim() !== '')
    : splitList(asText(value));
}

/** One entry per comma or line, without the blanks around it. */
export const splitList = (text: string): string[] =>
  text
    .split(LIST_SEPARATOR)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** A value as a text field shows it: what is no text is JSON. */
export function asText(value: unknown): string {
  if (typeof value === 'string') {
    return value;
  }
  try {
    return (typeof value === 'object' ? JSON.stringify(value) : String(value)) ?? '';
  } catch {
    // Nested too deeply, or circular.
    return '';
  }
}

/** Environment variables in a text, as Node-RED writes them; without braces in a name, so that matching takes linear time. */
export const ENV_NAMES = /\$\{([^{}]+)\}/g;

/** Whether a text still names an environment variable that only the runtime can fill in. */
export function hasEnv(value: unknown): value is string {
  return typeof value === 'string' && value.search(ENV_NAMES) >= 0;
}

/** The properties of an object that another one has, too; none of what is no object. */
export function pickKnown(saved: unknown, known: object): Record<string, unknown> {
  const source = (typeof saved === 'object' && saved !== null ? saved : {}) as Record<string, unknown>;
  const names = Object.keys(known).filter((name) => Object.hasOwn(source, name));
  return Object.fromEntries(names.map((name) => [name, source[name]]));
}
