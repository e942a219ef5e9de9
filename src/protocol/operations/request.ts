// What every request shares: its address, the optional parameters, and its finished shape.
import { invalidInput } from '../../errors.ts';
import { isHexBytes } from '../hex.ts';
import { parseMac } from '../mac.ts';
import { HIDDEN } from '../redaction.ts';

/** What a user gave; unchecked. `undefined`, `null` and an empty text are "not given"; of an address only `undefined`. */
export interface RequestInput {
  gateway?: unknown;
  device?: unknown;
  identifier?: unknown;
  form?: unknown;
  value?: unknown;
  ext?: unknown;
  priority?: unknown;
  extenderId?: unknown;
  accessType?: unknown;
  publicKey?: unknown;
  key?: unknown;
  /** Of a sample that is acknowledged: all of it. */
  [field: string]: unknown;
}

export type Priority = 0 | 1 | 2 | 3 | 4;

/** A checked request, ready to be sent once it got an `id`. */
export interface BuiltRequest {
  gateway: string;
  device: string;
  /** As in the topic, e.g. `read-decoded`. */
  operation: string;
  /** As in the topic: lowercase hex or a name. */
  identifier?: string;
  /** What follows the device in the topic: `read/8800`. */
  suffix: string;
  /** Everything but `id`. */
  payload: Record<string, unknown>;
  /** In which order waiting requests leave; in the payload only when it was given. */
  priority: Priority;
}

/** Interface section "Request/response topics", rule 4; the position is the number. */
export const PRIORITY_NAMES = ['Lowest', 'Low', 'Medium', 'High', 'Highest'] as const;
export const DEFAULT_PRIORITY: Priority = 2;

export const ACCESS_TYPES = ['unprovisioned', 'legacy'] as const;

export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/**
 * A device that is absent is the gateway itself. One that is there and empty is not: what a flow has looked up in vain
 * must not become a request to the gateway.
 * @throws ServiceError `INVALID_INPUT`
 */
export function readAddress(input: RequestInput): { gateway: string; device: string } {
  const { gateway, device } = input;
  if (device !== undefined && !isGiven(device)) {
    throw invalidInput('device', device, 'missing');
  }
  if (!isGiven(gateway)) {
    throw invalidInput('gateway', gateway, gateway === undefined ? 'noAddress' : 'missing');
  }
  const mac = readMac('gateway', gateway);
  return { gateway: mac, device: device === undefined ? mac : readMac('device', device) };
}

/** An address as a user gives it: blanks and line ends around it do not count. Undefined for none. */
export const parseAddress = (value: unknown): string | undefined => parseMac(trimmed(value));

/** @throws ServiceError `INVALID_INPUT` */
export function readMac(field: string, value: unknown): string {
  const mac = parseAddress(value);
  if (mac === undefined) {
    throw invalidInput(field, value, 'notMac');
  }
  return mac;
}

/** The priority as a number; undefined when it was not given. */
export function readPriority(value: unknown): Priority | undefined {
  if (!isGiven(value)) {
    return undefined;
  }
  const number = typeof value === 'string' ? priorityOfText(value) : value;
  if (typeof number !== 'number' || PRIORITY_NAMES[number] === undefined) {
    throw invalidInput('priority', value, 'notPriority');
  }
  return number as Priority;
}

function priorityOfText(text: string): number {
  const lower = text.trim().toLowerCase();
  return PRIORITY_NAMES.findIndex((name, number) => name.toLowerCase() === lower || `${number}` === lower);
}

/**
 * The optional parameters of read and write, only those that were given.
 * @param extenderCase the interface asks for upper case in writes
 */
export function readOptions(input: RequestInput, extenderCase: 'lower' | 'upper'): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  const priority = readPriority(input.priority);
  if (priority !== undefined) {
    options.priority = priority;
  }
  if (isGiven(input.extenderId)) {
    const id = parseAddress(input.extenderId) ?? readHex('extenderId', input.extenderId, input.extenderId);
    options.extenderId = extenderCase === 'upper' ? id.toUpperCase() : id;
  }
  if (isGiven(input.accessType)) {
    options.accessType = readAccessType(input.accessType);
  }
  if (isGiven(input.publicKey)) {
    options.publicKey = readHex('publicKey', input.publicKey, input.publicKey);
  }
  if (isGiven(input.key)) {
    options.key = readHex('key', input.key, HIDDEN);
  }
  return options;
}

function readHex(field: string, value: unknown, shown: unknown): string {
  const text = trimmed(value);
  if (!isHexBytes(text) || text === '') {
    throw invalidInput(field, shown, 'notHexBytes');
  }
  return text.toLowerCase();
}

/** An object of a flow may throw when it becomes a text. */
const trimmed = (value: unknown): unknown => (typeof value === 'string' ? value.trim() : value);

function readAccessType(value: unknown): unknown {
  if (!(ACCESS_TYPES as readonly unknown[]).includes(value)) {
    throw invalidInput('accessType', value, 'notAccessType');
  }
  return value;
}
