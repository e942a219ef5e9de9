// Addresses: base URLs from the settings, paths and queries from flows; nothing leads out of the base URL.
import { invalidInput } from '../errors.ts';
import { isJsonObject } from '../protocol/json.ts';
import { hasBadPort } from '../protocol/port.ts';
import { showAddress } from '../protocol/redaction.ts';
import { hasControlCharacter, withoutSlashes } from '../protocol/text.ts';

/** `prefix`: the path of the base URL without a trailing slash, often empty. */
export interface BaseAddress {
  origin: string;
  host: string;
  prefix: string;
}

/**
 * Reads `authUrl` or `baseUrl`. A path prefix is kept, trailing slashes are dropped.
 * @throws INVALID_INPUT with the setting's name: no http(s) scheme, a user name or password in it (they would show
 *   wherever the address shows), a query or fragment, an impossible port
 */
export function readBaseAddress(field: 'authUrl' | 'baseUrl', text: string): BaseAddress {
  const shown = showAddress(text, '…@');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = /^https?:\/\//i.test(text.trim());
  if (isHttp && hasBadPort(text)) {
    throw invalidInput(field, shown, 'badPort');
  }
  if (!url || !isHttp || url.search || url.hash) {
    throw invalidInput(field, shown, 'notHttpUrl');
  }
  if (url.username || url.password) {
    throw invalidInput(field, shown, 'secretInUrl');
  }
  return { origin: url.origin, host: url.host, prefix: withoutSlashes(url.pathname) };
}

const MALFORMED_PERCENT = /%(?![0-9a-f]{2})/i;
/** Whoever writes an address means that host; a colon alone is part of a name, as in `devices:batch`. */
const ADDRESS = /^\s*(?:https?:|[a-z][a-z0-9+.-]*:[\\/])/i;
const MAX_PATH_LENGTH = 4000;

/** How a path may be written. */
interface PathOptions {
  /** It may stand in front; without it no full address is taken. */
  base?: BaseAddress;
  /** Plain segments `.` and `..` are resolved; else refused. */
  resolvesDots?: boolean;
}

/**
 * Reads the path of a free request: relative to the base URL, with or without a leading slash, or with the base URL
 * itself in front, as services name the next page; a query may follow a `?`. What is percent-encoded stays so; spaces
 * and letters beyond ASCII become percent-encoded.
 * @throws INVALID_INPUT field `path`: empty, an address elsewhere, `//host`, a backslash, `#`, a control character, a `%`
 *   without two hex digits, a `..` that leads out of the base URL, or what `leadsAway`
 */
export function readPath(value: unknown, { base, resolvesDots = false }: PathOptions = {}): string {
  if (value === undefined || value === null || value === '') {
    throw invalidInput('path', value, 'missing');
  }
  if (typeof value !== 'string') {
    throw invalidInput('path', value, 'notText');
  }
  if (value.length > MAX_PATH_LENGTH) {
    throw invalidInput('path', value, 'tooLong', { limit: MAX_PATH_LENGTH });
  }
  const given = base ? withoutBase(value, base) : value;
  const absolute = given.startsWith('/') ? given : `/${given}`;
  const path = resolvesDots ? resolveDots(absolute) : absolute;
  if (path === undefined || ADDRESS.test(given) || isMalformed(path)) {
    throw invalidInput('path', value, 'badPath');
  }
  return encodePath(value, path);
}

function isMalformed(path: string): boolean {
  const hasBadPart = /[\\#]/.test(path) || MALFORMED_PERCENT.test(path);
  return hasBadPart || hasControlCharacter(decodeOnce(path)) || leadsAway(path.replace(/\?.*/s, ''));
}

const FULL = /^\s*(https?:\/\/[^/?#\\]*)(.*)$/is;

/** What follows the base URL, where a text begins with that, however its host is written; else the text as it is. */
function withoutBase(text: string, { origin, prefix }: BaseAddress): string {
  const [, authority = '', path = ''] = FULL.exec(text) ?? [];
  if (!URL.canParse(authority)) {
    return text;
  }
  const url = new URL(authority);
  const rest = path.slice(prefix.length);
  const isBelow = path.startsWith(prefix) && /^(?:[/?]|$)/.test(rest);
  return url.origin === origin && url.username + url.password === '' && isBelow ? rest : text;
}

/** Without plain segments `.` and `..`, as RFC 3986 resolves them; undefined where they lead out of the path's beginning. */
function resolveDots(path: string): string | undefined {
  const [place = '', ...query] = path.split('?');
  const segments: string[] = [];
  const given = place.split('/').slice(1);
  for (const [index, segment] of given.entries()) {
    const isDots = segment === '.' || segment === '..';
    if (segment === '..' && segments.pop() === undefined) {
      return undefined;
    }
    if (!isDots || index === given.length - 1) {
      segments.push(isDots ? '' : segment);
    }
  }
  return [`/${segments.join('/')}`, ...query].join('?');
}

/**
 * Puts a REST id into the path that attaches labels, in the place of `{device}`.
 * @throws INVALID_INPUT field `attachPath`: without that place, or as `readPath`
 */
export function readAttachPath(template: string, device: string): string {
  if (!template.includes(DEVICE_PLACE)) {
    throw invalidInput('attachPath', template, 'missingPart', { part: DEVICE_PLACE });
  }
  try {
    return readPath(template.replaceAll(DEVICE_PLACE, encodeURIComponent(device)));
  } catch {
    throw invalidInput('attachPath', template, 'badPath');
  }
}

const DEVICE_PLACE = '{device}';

/** Bytes that no UTF-8 has, but that careless decoders take for `.`, `/`, `\` and `%`, written with more bytes than due. */
const OVERLONG = /%(?:c[01]|e0%[89]|f0%8|f8%8[0-7]|fc%8[0-3])/i;
/** The percent-encoding of one vendor, beside the standard one. */
const VENDOR_ENCODED = /%u[0-9a-f]{4}/i;

/**
 * Whether a text, as a path or as a part of one, could lead out of where it is put: it has `.` or `..` as a segment, in
 * whatever way a proxy or service on the way reads segments (parted by backslashes too, with parameters behind `;`, a
 * query behind `?` or `#`, or blanks around), begins with `//`, or has control characters. All of them may decode more
 * than once before they look. Nothing of that can be decoded away again, so what is decoded to the end shows it.
 */
export function leadsAway(text: string): boolean {
  const decoded = decodeFully(text);
  return (
    /^[\\/]{2}/.test(decoded) ||
    hasControlCharacter(decoded) ||
    OVERLONG.test(decoded) ||
    VENDOR_ENCODED.test(decoded) ||
    decoded.split(/[\\/]/).some(isDotSegment)
  );
}

function isDotSegment(segment: string): boolean {
  const name = segment.replace(/[;?#].*/s, '').trim();
  return name === '.' || name === '..';
}

/** Decodes what can be told apart without knowing the encoding. */
function decodeOnce(text: string): string {
  return text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => decodeHex(hex));
}

const decodeHex = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

/** As `decodeOnce` again and again until nothing is left to decode, in one pass: there may be thousands of layers. */
function decodeFully(text: string): string {
  const decoded: string[] = [];
  for (const unit of text.split('')) {
    decoded.push(unit);
    // What was decoded may be the end of another one.
    while (endsEncoded(decoded)) {
      const [low, high] = [decoded.pop(), decoded.pop()];
      decoded[decoded.length - 1] = decodeHex(`${high}${low}`);
    }
  }
  return decoded.join('');
}

function endsEncoded(units: readonly string[]): boolean {
  return /%[0-7][0-9a-f]/i.test(units.slice(-3).join(''));
}

function encodePath(value: string, path: string): string {
  try {
    return encodeURI(path).replaceAll('%25', '%');
  } catch {
    throw invalidInput('path', value, 'badPath');
  }
}

/**
 * Checks the query of a free request or a device list: an object of texts, numbers, booleans, or arrays of them;
 * null and undefined are left out.
 * @throws INVALID_INPUT field `query`
 */
export function readQuery(value: unknown): Record<string, unknown> {
  if (value === undefined || value === null || value === '') {
    return {};
  }
  // A map or a date would be sent without its content.
  const query = isJsonObject(value) ? copyQuery(value) : undefined;
  if (!query) {
    throw invalidInput('query', value, 'notQuery');
  }
  return query;
}

/** Undefined for what is no query, also for an object that throws when it is looked at. */
function copyQuery(value: object): Record<string, unknown> | undefined {
  try {
    const entries = Object.entries(value).map(
      ([name, item]) => [name, Array.isArray(item) ? [...item] : item] as const,
    );
    return entries.every(([name, item]) => isQueryPart(name, item)) ? Object.fromEntries(entries) : undefined;
  } catch {
    return undefined;
  }
}

function isQueryPart(name: string, item: unknown): boolean {
  if (name === '' || !isWellFormed(name)) {
    return false;
  }
  return Array.isArray(item) ? item.every(isPlain) : isPlain(item) || item == null;
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'string') {
    return isWellFormed(value);
  }
  return typeof value === 'boolean' || Number.isFinite(value);
}

/** Whether a text can be percent-encoded: it has no half of a surrogate pair. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Appends a checked query to a path; arrays repeat their name. */
export function appendQuery(path: string, query: Record<string, unknown> = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((item) => item !== undefined && item !== null)
      .map((item) => `${encodeURIComponent(name)}=${encodeURIComponent(String(item))}`),
  );
  if (pairs.length === 0) {
    return path;
  }
  return `${path}${path.includes('?') ? '&' : '?'}${pairs.join('&')}`;
}
