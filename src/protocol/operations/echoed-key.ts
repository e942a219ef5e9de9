// Keeps the network key of a request out of what is shown of its response: a gateway may repeat what it was sent.
import { isHexBytes } from '../hex.ts';
import { isNested } from '../json.ts';
import { HIDDEN } from '../redaction.ts';

/** A shorter one stands in nearly every text. */
const MIN_DIGITS = 4;
/** Of a longer key all hex digits go that follow these: a pattern has its limits. */
const MAX_PATTERN_DIGITS = 64;
/** Of fewer bytes other spellings than hex stand in other texts, too. */
const MIN_BYTES = 8;
/** The same for hex with other separators than usual. */
const MIN_SPREAD_BYTES = 4;
/** What may stand between two digits; the zero where UTF-16 was read as UTF-8. */
const GAP = '[\\s\\0:-]?';
/**
 * The same between two bytes: other separators, too, also those of bytes in C and of lists over several lines. There is one way
 * to read each: with two the time would double with every byte.
 */
const WIDE_GAP = '(?:[^0-9a-z]{1,4}x|[^0-9a-z]{0,4}(?:0x)?)';
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
  const bytes = Buffer.from(key, 'hex');
  const isLong = bytes.length >= MIN_BYTES;
  const gap = bytes.length >= MIN_SPREAD_BYTES ? WIDE_GAP : GAP;
  const head = key
    .slice(0, MAX_PATTERN_DIGITS)
    .replace(/(.)(.)/g, `$1${GAP}$2${gap}`)
    .slice(0, -gap.length);
  const rest = key.length > MAX_PATTERN_DIGITS ? `(?:${gap}[0-9a-f]${GAP}[0-9a-f])*` : '';
  const inHex = new RegExp(head + rest, 'gi');
  const patterns = isLong ? [inHex, inBase64(bytes), inNumbers(bytes)] : [inHex];
  const hide = (text: string) => patterns.reduce((shown, pattern) => shown.replace(pattern, HIDDEN), text);
  const list = `,${bytes.join()},`;
  return hideIn(response, hide, (numbers) => isLong && `,${numbers.join()},`.includes(list)) as T;
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

/** @param hasKey whether the key is among these numbers */
function hideIn(
  value: unknown,
  hide: (text: string) => string,
  hasKey: (numbers: readonly unknown[]) => boolean,
): unknown {
  if (typeof value === 'string') {
    return hide(value);
  }
  if (Array.isArray(value)) {
    const isNumbers = value.every((item) => typeof item === 'number');
    return isNumbers && hasKey(value) ? HIDDEN : value.map((item) => hideIn(item, hide, hasKey));
  }
  if (!isNested(value)) {
    return value;
  }
  const entries = Object.entries(value).map(([name, item]) => [hide(name), hideIn(item, hide, hasKey)]);
  return Object.fromEntries(entries) as unknown;
}
