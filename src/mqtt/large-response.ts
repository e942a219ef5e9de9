// The id of a response that is too large to be parsed.
import { MAX_PAYLOAD_BYTES } from '../protocol/json.ts';

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPENING, CLOSING] = [new Set(Buffer.from('{[')), new Set(Buffer.from('}]'))];
/** From its name on; no id of ours is longer. */
const ID = /^"id"\s{0,20}:(?!\s{0,20}null\b)\s{0,20}(?:"([^"\\]{1,100})")?/;
const MAX_ID_BYTES = 200;

/**
 * In one pass, as it comes from the network.
 * @returns empty: one that cannot be ours; undefined: it is not too large, or its object has none: a value may have others
 */
export function idOfLarge(payload: Buffer): string | undefined {
  let depth = 0;
  const end = payload.length > MAX_PAYLOAD_BYTES ? payload.length : 0;
  for (let at = 0; at < end; at++) {
    const byte = payload[at] as number;
    if (byte === QUOTE) {
      const found = depth === 1 ? ID.exec(payload.toString('latin1', at, at + MAX_ID_BYTES)) : null;
      if (found) {
        return found[1] ?? '';
      }
      at = endOfText(payload, at);
    } else if (OPENING.has(byte)) {
      depth++;
    } else if (CLOSING.has(byte)) {
      depth--;
    }
  }
  return undefined;
}

/** Where the text ends that begins there. */
function endOfText(payload: Buffer, start: number): number {
  let at = start + 1;
  while (at < payload.length && payload[at] !== QUOTE) {
    at += payload[at] === BACKSLASH ? 2 : 1;
  }
  return at;
}
