// What people type to find a device or a property: words, in any order.
import { macPart } from './mac.ts';

/** Whoever reads the editor may ask with any text, and every device is looked through for each word. */
const MAX_LENGTH = 200;
const MAX_WORDS = 8;
/** A shorter word stands somewhere in too many names: it has to begin a word there. */
const MIN_INSIDE = 3;
/** Of a short word in one text: somebody's name may be one letter, two thousand times. */
const MAX_PLACES = 50;
/** There a word may begin behind any letter. */
const WITHOUT_SPACES =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]/u;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
/** Scripts without spaces, and letters that are rare enough. */
const OTHER_SCRIPT = /[^\p{ASCII}]/u;

/**
 * Finds what has the whole of a search in it, or each of its words in any order, short ones at the beginning of a word; or a
 * part of a MAC, however its bytes are separated. Nothing typed finds all; of more than 8 words only the whole
 * counts, and of a long text its beginning.
 * @returns looks through a text in lower case
 */
export function findWords(search: string): (text: string) => boolean {
  const whole = search.trim().slice(0, MAX_LENGTH).toLowerCase();
  const words = [...new Set(whole.split(/\s+/))];
  const fits = words.length > MAX_WORDS ? [] : words.map(findWord);
  return (text) => text.includes(whole) || (fits.length > 0 && fits.every((isIn) => isIn(text)));
}

function findWord(word: string): (text: string) => boolean {
  const isAnywhere = word.length >= MIN_INSIDE || OTHER_SCRIPT.test(word);
  const mac = macPart(word);
  return (text) =>
    (isAnywhere ? text.includes(word) : beginsWord(text, word)) || (mac !== undefined && text.includes(mac));
}

function beginsWord(text: string, word: string): boolean {
  let at = text.indexOf(word);
  for (let places = 0; at !== -1 && places < MAX_PLACES; places++) {
    const before = text.charAt(at - 1);
    if (!LETTER_OR_DIGIT.test(before) || WITHOUT_SPACES.test(before)) {
      return true;
    }
    at = text.indexOf(word, at + 1);
  }
  return false;
}
