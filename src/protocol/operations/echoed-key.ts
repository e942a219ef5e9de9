// Keeps the network key of a request out of what is shown of its response: a gateway may repeat what it was sent.
import { isHexBytes } from '../hex.ts';
import { isNested } from '../json.ts';
import { HIDDEN } from '../redaction.ts';

/** A shorter one stands in nearly every text. */
const MIN_DIGITS = 4;
/** So much of a key tells it from other numbers: it is hidden, too, where the rest was cut off or left out. */
const PART_DIGITS = 12;
const PART_BYTES = PART_DIGITS / 2;
/** Of a key of one digit alone, such as one of zeros, all of it does, up to so many. */
const MAX_PART_DIGITS = 64;
/** Six numbers of one digit, with what is between them. */
const MIN_TEXT = 11;
/** Of fewer bytes other spellings than hex stand in other texts, too. */
const MIN_BYTES = 8;
/** The same for hex with other separators than usual. */
const MIN_SPREAD_BYTES = 4;
/** Between two digits of hex, and between two decimal numbers, there is at most so much beside white space. */
const MAX_HEX_GAP = 4;
const MAX_NUMBER_GAP = 3;
const MAX_WHITE_GAP = 50;
/** What may stand between two digits of a short key; the zero where UTF-16 was read as UTF-8. */
const GAP = '[\\s\\0:-]?';
/**
 * The same between two bytes: other separators, too, also those of bytes in C and of lists over several lines. There is one way
 * to read each: with two the time would double with every byte.
 */
const WIDE_GAP = '(?:[^0-9a-z]{1,4}x|[^0-9a-z]{0,4}(?:0x)?)';
/** Stands between digits that do not belong together. */
const BREAK = '.';

/** What hides the key in a text. */
type Hide = (text: string) => string;

/** What is looked for: texts of so many digits of hex. */
interface Parts {
  length: number;
  texts: ReadonlySet<string>;
}

/** Digits of hex, small, and where each of them stands in its text: from, and until before. */
interface Digits {
  digits: string;
  from: Uint32Array;
  until: Uint32Array;
}

/**
 * A copy of a response without the key, in names and in values, as hex, Base64 or a list of bytes; and without a part of six
 * bytes or more.
 * @param response JSON, nested so deep that copying it does not overflow the stack
 */
export function withoutKey<T>(payload: Record<string, unknown>, response: T): T {
  const { key } = payload;
  if (typeof key !== 'string' || key.length < MIN_DIGITS || !isHexBytes(key)) {
    return response;
  }
  const bytes = Buffer.from(key, 'hex');
  if (bytes.length < PART_BYTES) {
    return hideIn(response, hideShort(key), () => false) as T;
  }
  const parts = partsOf(bytes);
  const inHex = (text: string) => hideParts(text, hexDigitsOf(text), parts);
  if (bytes.length < MIN_BYTES) {
    return hideIn(response, inHex, () => false) as T;
  }
  const inBase64 = base64Of(bytes.subarray(0, parts.length / 2));
  const inDigits = (text: string) => {
    const shown = inHex(text);
    return hideParts(shown, numbersOf(shown), parts);
  };
  const hide = (text: string) => (text.length < MIN_TEXT ? text : inDigits(text)).replace(inBase64, HIDDEN);
  return hideIn(response, hide, (items) => hasPart(items, parts)) as T;
}

function hideShort(key: string): Hide {
  const gap = key.length < 2 * MIN_SPREAD_BYTES ? GAP : WIDE_GAP;
  const pattern = key.replace(/(.)(.)/g, `$1${GAP}$2${gap}`).slice(0, -gap.length);
  return (text) => text.replace(new RegExp(pattern, 'gi'), HIDDEN);
}

/** All of its parts in hex: the bytes as they are, from the last to the first, and as words with the low byte first. */
function partsOf(bytes: Buffer): Parts {
  const key = bytes.toString('hex');
  if (isOneDigit(key)) {
    const whole = key.slice(0, MAX_PART_DIGITS);
    return { length: whole.length, texts: new Set([whole]) };
  }
  const backwards = Buffer.from(bytes).reverse();
  const inWords = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 4))).swap32();
  const texts = new Set<string>();
  for (const hex of [key, backwards.toString('hex'), inWords.toString('hex')]) {
    for (let at = 0; at + PART_DIGITS <= hex.length; at++) {
      const part = hex.slice(at, at + PART_DIGITS);
      if (!isOneDigit(part)) {
        texts.add(part);
      }
    }
  }
  return { length: PART_DIGITS, texts };
}

const isOneDigit = (text: string): boolean => /^(.)\1*$/.test(text);

function hasPart(items: readonly unknown[], { length, texts }: Parts): boolean {
  const digits = items.map(asByte).join('');
  for (let at = 0; at + length <= digits.length; at++) {
    if (texts.has(digits.slice(at, at + length))) {
      return true;
    }
  }
  return false;
}

/** Two digits of hex, also of a byte with a sign; what is none stands for itself alone. */
function asByte(item: unknown): string {
  const isByte = isInteger(item) && item >= -0x80 && item <= 0xff;
  return isByte ? (item & 0xff).toString(16).padStart(2, '0') : BREAK;
}

const isInteger = (item: unknown): item is number => Number.isInteger(item);

/** A text without all that is made of parts; what goes beyond one part goes with it. */
function hideParts(text: string, { digits, from, until }: Digits, { length, texts }: Parts): string {
  let shown = '';
  let shownUntil = 0;
  let hiddenUntil = 0;
  for (let at = 0; at + length <= digits.length; at++) {
    if (texts.has(digits.slice(at, at + length))) {
      if (at >= hiddenUntil) {
        shown += text.slice(shownUntil, from[at]) + HIDDEN;
      }
      hiddenUntil = at + length;
      shownUntil = until[hiddenUntil - 1] as number;
    }
  }
  return shown + text.slice(shownUntil);
}

/** The digits of hex of a text, with whatever usually stands between them: `8f3c`, `8f:3c`, `0x8f, 0x3c`, `\x8f\x3c`, `8fh 3ch`. */
function hexDigitsOf(text: string): Digits {
  const list = new DigitList(text.length);
  let gap = 0;
  let inRow = 0;
  for (let at = 0; at < text.length; at++) {
    const char = (text[at] as string).toLowerCase();
    if (isDigit(char) || (char >= 'a' && char <= 'f')) {
      list.add(char, at, at + 1);
      gap = 0;
      inRow += 1;
      continue;
    }
    if (char === 'x') {
      // Behind whole bytes, the zero before it is the first half of `0x`.
      list.takeBack(inRow % 2 === 1 && text[at - 1] === '0' ? 1 : 0);
    } else if (
      (char >= 'g' && char <= 'z' && char !== 'h') ||
      (!isWhite(char) && ++gap === MAX_HEX_GAP + 1)
    ) {
      list.add(BREAK, at, at);
    }
    inRow = 0;
  }
  return list.digits;
}

const isWhite = (char: string): boolean => char.trim() === '';

const isDigit = (char: string): boolean => char >= '0' && char <= '9';

/** The decimal numbers of a text that may be bytes, each as two digits of hex. */
function numbersOf(text: string): Digits {
  const list = new DigitList(2 * text.length + 1);
  let end = 0;
  for (const { 0: number, index } of text.matchAll(/\d+/g)) {
    if (index - end > MAX_WHITE_GAP || !isNumberGap(text.slice(end, index))) {
      list.add(BREAK, index, index);
    }
    end = index + number.length;
    for (const digit of number.length <= 3 ? asByte(Number(number)) : BREAK) {
      list.add(digit, index, end);
    }
  }
  return list.digits;
}

function isNumberGap(between: string): boolean {
  const seen = between.replace(/\s/g, '');
  return seen.length <= MAX_NUMBER_GAP && !/[a-z]/i.test(seen);
}

class DigitList {
  readonly #chars: Uint8Array;
  readonly #from: Uint32Array;
  readonly #until: Uint32Array;
  #length = 0;

  constructor(max: number) {
    this.#chars = new Uint8Array(max);
    this.#from = new Uint32Array(max);
    this.#until = new Uint32Array(max);
  }

  get digits(): Digits {
    const digits = Buffer.from(this.#chars.buffer, 0, this.#length).toString('latin1');
    return { digits, from: this.#from, until: this.#until };
  }

  add(digit: string, from: number, until: number): void {
    this.#chars[this.#length] = digit.charCodeAt(0);
    this.#from[this.#length] = from;
    this.#until[this.#length] = until;
    this.#length += 1;
  }

  takeBack(count: number): void {
    this.#length -= count;
  }
}

/** In both alphabets, from the beginning of the key to the end of the word. */
function base64Of(start: Buffer): RegExp {
  // Three bytes are four characters: what follows does not change them.
  const head = start.subarray(0, start.length - (start.length % 3)).toString('base64url');
  return new RegExp(`${head.replace(/-/g, '[-+]').replace(/_/g, '[_/]')}[-+/\\w]*={0,2}`, 'g');
}

/** @param hasKey whether numbers among these are the key */
function hideIn(value: unknown, hide: Hide, hasKey: (items: readonly unknown[]) => boolean): unknown {
  if (typeof value === 'string') {
    return hide(value);
  }
  if (!isNested(value)) {
    return value;
  }
  if (hasKey(Object.values(value))) {
    return HIDDEN;
  }
  if (Array.isArray(value)) {
    return value.map((item) => hideIn(item, hide, hasKey));
  }
  const entries = Object.entries(value).map(([name, item]) => [hide(name), hideIn(item, hide, hasKey)]);
  return Object.fromEntries(entries) as unknown;
}
