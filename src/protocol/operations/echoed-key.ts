// Keeps the network key of a request out of what is shown of its response: a gateway may repeat what it was sent.
import { isHexBytes } from '../hex.ts';
import { isNested } from '../json.ts';
import { HIDDEN } from '../redaction.ts';

/** A shorter one stands in nearly every text. */
const MIN_DIGITS = 4;
/** Of a longer key all hex digits go that follow these: a pattern has its limits. */
const MAX_PATTERN_DIGITS = 64;
/** What may stand between two digits: separators, also those of bytes in C; the zero where UTF-16 was read as UTF-8. */
const GAP = '(?:[^0-9a-z]{0,3}(?:0x)?)';
/** Of fewer bytes the spellings without hex digits stand in other texts, too. */
const MIN_BYTES = 8;
/** A multiple of three, so that Base64 of them is the beginning of that of the whole. */
const MAX_PATTERN_BYTES = 30;

/**
 * A copy of a response without the key, in names and in values, as hex, Base64 or a list of bytes.
 * @param response JSON, nested so deep that copying it does not overflow the stack
 */
export function withoutKey<T>(payload: Record<string, unknown>, response: T): T {
  const { key } = payload;
  if (typeof key !== 'string' || key.length < MIN_DIGITS || !isHexBytes(key)) {
    return response;
  }
  const head = [...key.slice(0, MAX_PATTERN_DIGITS)].join(GAP);
  const rest = key.length > MAX_PATTERN_DIGITS ? `(?:${GAP}[0-9a-f])*` : '';
  const patterns = [new RegExp(head + rest, 'gi')];
  const bytes = Buffer.from(key, 'hex');
  if (bytes.length >= MIN_BYTES) {
    patterns.push(inBase64(bytes), inNumbers(bytes));
  }
  return hideIn(response, patterns, bytes) as T;
}

/** In both alphabets, to the end of the word. */
function inBase64(bytes: Buffer): RegExp {
  const head = bytes.subarray(0, Math.min(MAX_PATTERN_BYTES, bytes.length - (bytes.length % 3)));
  const text = head.toString('base64url').replace(/-/g, '[-+]').replace(/_/g, '[_/]');
  return new RegExp(`${text}[-+/\\w]*={0,2}`, 'g');
}

/** As decimal numbers, to the end of the list. */
function inNumbers(bytes: Buffer): RegExp {
  const head = [...bytes.subarray(0, MAX_PATTERN_BYTES)].join('[^\\d]{1,3}');
  return new RegExp(`(?<!\\d)${head}(?:\\s?,\\s?\\d{1,3})*(?!\\d)`, 'g');
}

function hideIn(value: unknown, patterns: readonly RegExp[], bytes: Buffer): unknown {
  const hide = (text: string) => patterns.reduce((shown, pattern) => shown.replace(pattern, HIDDEN), text);
  if (typeof value === 'string') {
    return hide(value);
  }
  if (Array.isArray(value)) {
    const isKey = value.length === bytes.length && value.every((item, index) => item === bytes[index]);
    return isKey ? HIDDEN : value.map((item) => hideIn(item, patterns, bytes));
  }
  if (!isNested(value)) {
    return value;
  }
  const entries = Object.entries(value).map(([name, item]) => [hide(name), hideIn(item, patterns, bytes)]);
  return Object.fromEntries(entries) as unknown;
}
