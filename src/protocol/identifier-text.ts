// The two ways to write an identifier: lowercase hex, or a name.
import { isHexBytes, readUnsigned } from './hex.ts';

const MAX_BYTES = 4;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/**
 * Whether a text is a well-formed hex identifier: 1 to 4 bytes in any letter case, where a byte 80–FF continues
 * and a byte 00–7F ends it. `dead` is not one: `ad` would continue.
 */
export function isHexId(text: string): boolean {
  if (text.length === 0 || text.length > 2 * MAX_BYTES || !isHexBytes(text)) {
    return false;
  }
  for (let i = 0; i < text.length; i += 2) {
    const continues = readUnsigned(text, i, 1) >= 8;
    if (continues === (i + 2 === text.length)) {
      return false;
    }
  }
  return true;
}

/** Whether a text can be a name: lowercase words and digits joined by hyphens, and not a hex identifier. */
export function isName(text: string): boolean {
  return NAME.test(text) && !isHexId(text);
}
