// What people type to find a device or a property: words, each of them the beginning of one of what is found.
import { macPart } from './mac.ts';

/** Fewer digits stand in too many addresses. */
const HEX = /^[0-9a-f]{4,}$/;

/**
 * Finds what has the whole of a search in it, or each of its words at the beginning of a word, in any order; in both, a part
 * of a MAC, however its bytes are separated. Nothing typed finds all.
 * @returns looks through a text in lower case
 */
export function findWords(search: string): (text: string) => boolean {
  const whole = search.trim().toLowerCase();
  const mac = macPart(whole) ?? whole;
  const words = whole.split(/\s+/).map((word) => ({ word, mac: longMacPart(word) }));
  return (text) => text.includes(whole) || text.includes(mac) || words.every((one) => isIn(text, one));
}

/** Hex digits that may stand in the middle of a MAC. */
const longMacPart = (word: string): string | undefined => {
  const digits = word.replaceAll(/[:-]/g, '');
  return HEX.test(digits) ? digits : undefined;
};

const isIn = (text: string, { word, mac }: { word: string; mac: string | undefined }): boolean =>
  beginsWord(text, word) || (mac !== undefined && text.includes(mac));

function beginsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (!/[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, at - 2), at))) {
      return true;
    }
  }
  return false;
}
