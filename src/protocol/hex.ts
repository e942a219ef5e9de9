// Hex strings and the big-endian numbers in them; positions and lengths are counted in hex digits.

const NOT_HEX = 255;
const NIBBLE = new Uint8Array(256).fill(NOT_HEX);
for (let n = 0; n < 16; n++) {
  const digit = n.toString(16);
  NIBBLE[digit.charCodeAt(0)] = n;
  NIBBLE[digit.toUpperCase().charCodeAt(0)] = n;
}

/** Whether a text is whole bytes in hex, in any letter case; the empty text is zero bytes. */
export function isHexBytes(value: unknown): value is string {
  if (typeof value !== 'string' || value.length % 2 !== 0) {
    return false;
  }
  for (let i = 0; i < value.length; i++) {
    // Written so that a code beyond the table (undefined) is refused too.
    if (!((NIBBLE[value.charCodeAt(i)] as number) < 16)) {
      return false;
    }
  }
  return true;
}

/** Reads an unsigned number of at most 12 digits (48 bits). */
export function readUnsigned(hex: string, from: number, digits: number): number {
  let number = 0;
  for (let i = from; i < from + digits; i++) {
    number = number * 16 + (NIBBLE[hex.charCodeAt(i)] as number);
  }
  return number;
}

/** Writes an integer as `digits` hex digits; a negative one in two's complement. */
export function writeInteger(number: number, digits: number): string {
  const unsigned = number < 0 ? number + 16 ** digits : number;
  return unsigned.toString(16).padStart(digits, '0');
}
