// Checks what flows put into REST calls before anything is sent.
import { invalidInput } from '../errors.ts';
import { HTTP_METHODS, type HttpMethod, parseHttpMethod } from '../protocol/http-methods.ts';
import { jsonText } from '../protocol/json.ts';
import { deviceIdOfMac, parseMac } from '../protocol/mac.ts';
import { hasControlCharacter } from '../protocol/text.ts';
import { isWellFormed, leadsAway } from './addresses.ts';

const MAX_NAME_LENGTH = 2000;

/**
 * Reads a device: a MAC address in any spelling, a REST id `bmac-…`, or a REST id of any other form that passes through
 * a path exactly.
 * @returns the REST id
 * @throws INVALID_INPUT field `device`
 */
export function readDevice(value: unknown): string {
  const text = readText('device', value).trim();
  const mac = parseMac(text);
  if (mac !== undefined) {
    return deviceIdOfMac(mac);
  }
  if (!passesThroughPath(text)) {
    throw invalidInput('device', value, 'notDevice');
  }
  return text;
}

/** A friendly name: any text that is not blank, up to 2000 characters, sent exactly. @throws INVALID_INPUT field `name` */
export function readName(value: unknown): string {
  return readText('name', value);
}

/**
 * A label: as a name, but it has to pass through a path exactly.
 * @throws INVALID_INPUT field `label`
 */
export function readLabel(value: unknown): string {
  const text = readText('label', value);
  if (!passesThroughPath(text)) {
    throw invalidInput('label', value, 'notLabel');
  }
  return text;
}

/**
 * Whether a text arrives as one segment of a path, percent-encoded: it has no half of a surrogate pair, and no proxy that
 * decodes it finds a way out of the path in it. `/` alone does not lead away.
 */
function passesThroughPath(text: string): boolean {
  return isWellFormed(text) && !leadsAway(`x/${text}`);
}

/** One of the five methods, in any case. @throws INVALID_INPUT field `method` */
export function readMethod(value: unknown): HttpMethod {
  const method = parseHttpMethod(readText('method', value));
  if (!method) {
    throw invalidInput('method', value, 'notMethod', { methods: HTTP_METHODS.join(', ') });
  }
  return method;
}

/**
 * The JSON text of a body; undefined for none. A text is sent as a JSON string, not as it is.
 * @throws INVALID_INPUT field `body`: binary data, or what JSON would change or lose in silence
 */
export function readBody(value: unknown): string | undefined {
  if (value === undefined) {
    return undefined;
  }
  if (ArrayBuffer.isView(value)) {
    throw invalidInput('body', 'binary', 'notJsonBody');
  }
  const text = jsonText(value);
  if (text === undefined) {
    throw invalidInput('body', typeof value, 'notJsonBody');
  }
  return text;
}

function readText(field: string, value: unknown): string {
  if (value === undefined || value === null) {
    throw invalidInput(field, value, 'missing');
  }
  if (typeof value !== 'string') {
    throw invalidInput(field, value, 'notText');
  }
  if (value.trim() === '') {
    throw invalidInput(field, value, 'missing');
  }
  if (value.length > MAX_NAME_LENGTH) {
    throw invalidInput(field, `${value.slice(0, 80)}…`, 'tooLong', { limit: MAX_NAME_LENGTH });
  }
  if (hasControlCharacter(value)) {
    throw invalidInput(field, value, 'control');
  }
  return value;
}
