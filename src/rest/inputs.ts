// Checks what flows put into REST calls before anything is sent.
import { invalidInput } from '../errors.ts';
import { deviceIdOfMac, parseMac } from '../protocol/mac.ts';
import { isWellFormed } from './addresses.ts';

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f]/;
const LONGEST_NAME = 2000;
const DEVICE_ID = /^[a-z0-9][a-z0-9._:~-]{0,127}$/i;
/** What was surely meant to be a MAC address or `bmac-…`: sent as it is, it could only end in "no such device". */
const NEARLY_MAC = /^bmac-|^[0-9a-f]{9,15}$|^[0-9a-f]{2}([:-][0-9a-f]{1,2}){3,}$/i;

/**
 * Reads a device: a MAC address in any spelling, a REST id `bmac-…`, or a REST id of another form (letters, digits and
 * `. _ : ~ -`).
 * @returns the REST id
 * @throws INVALID_INPUT field `device`
 */
export function readDevice(value: unknown): string {
  const text = readText('device', value).trim();
  const mac = parseMac(text);
  if (mac !== undefined) return deviceIdOfMac(mac);
  if (NEARLY_MAC.test(text)) throw invalidInput('device', value, 'notMac');
  if (!DEVICE_ID.test(text)) throw invalidInput('device', value, 'notDevice');
  return text;
}

/** A friendly name: any text that is not blank, up to 2000 characters, sent exactly. @throws INVALID_INPUT field `name` */
export function readName(value: unknown): string {
  return readText('name', value);
}

/**
 * A label: as a name, but neither `.` nor `..` nor half of a surrogate pair: it has to pass through a path exactly.
 * @throws INVALID_INPUT field `label`
 */
export function readLabel(value: unknown): string {
  const text = readText('label', value);
  if (text === '.' || text === '..' || !isWellFormed(text)) throw invalidInput('label', value, 'notLabel');
  return text;
}

/** One of the five methods, in any case. @throws INVALID_INPUT field `method` */
export function readMethod(value: unknown): Method {
  const text = readText('method', value).trim().toUpperCase();
  const method = METHODS.find((known) => known === text);
  if (!method) throw invalidInput('method', value, 'notMethod', { methods: METHODS.join(', ') });
  return method;
}

/**
 * The JSON text of a body; undefined for none. A text is sent as a JSON string, not as it is.
 * @throws INVALID_INPUT field `body`: binary data, or what JSON cannot hold
 */
export function readBody(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (ArrayBuffer.isView(value)) throw invalidInput('body', 'binary', 'notJsonBody');
  try {
    const text = value instanceof ArrayBuffer ? undefined : (JSON.stringify(value) as string | undefined);
    if (text !== undefined) return text;
  } catch {
    // Falls through: a loop, a BigInt or a toJSON that throws is the same mistake to the user.
  }
  throw invalidInput('body', typeof value, 'notJsonBody');
}

function readText(field: string, value: unknown): string {
  if (value === undefined || value === null || value === '') throw invalidInput(field, value, 'missing');
  if (typeof value !== 'string') throw invalidInput(field, value, 'notText');
  if (value.trim() === '') throw invalidInput(field, value, 'missing');
  if (value.length > LONGEST_NAME)
    throw invalidInput(field, `${value.slice(0, 80)}…`, 'tooLong', { limit: LONGEST_NAME });
  if (CONTROL.test(value)) throw invalidInput(field, value, 'control');
  return value;
}
