// Keeps the network key of a request out of what is shown of its response: a gateway may repeat what it was sent.
import { isHexBytes } from '../hex.ts';
import { isNested } from '../json.ts';
import { HIDDEN } from '../redaction.ts';

/** A shorter one stands in nearly every text. */
const MIN_DIGITS = 4;
/** Of a longer key all hex digits go that follow these: a pattern has its limits. */
const MAX_PATTERN_DIGITS = 64;
/** What may stand between two digits; the zero where UTF-16 was read as UTF-8. */
const GAP = '[\\s\\0:-]?';

/**
 * A copy of a response without the key, in names and in values.
 * @param response JSON, nested so deep that copying it does not overflow the stack
 */
export function withoutKey<T>(payload: Record<string, unknown>, response: T): T {
  const { key } = payload;
  if (typeof key !== 'string' || key.length < MIN_DIGITS || !isHexBytes(key)) {
    return response;
  }
  const head = [...key.slice(0, MAX_PATTERN_DIGITS)].join(GAP);
  const rest = key.length > MAX_PATTERN_DIGITS ? `(?:${GAP}[0-9a-f])*` : '';
  return hideIn(response, new RegExp(head + rest, 'gi')) as T;
}

function hideIn(value: unknown, key: RegExp): unknown {
  if (typeof value === 'string') {
    return value.replace(key, HIDDEN);
  }
  if (Array.isArray(value)) {
    return value.map((item) => hideIn(item, key));
  }
  if (!isNested(value)) {
    return value;
  }
  const entries = Object.entries(value).map(([name, item]) => [name.replace(key, HIDDEN), hideIn(item, key)]);
  return Object.fromEntries(entries) as unknown;
}
