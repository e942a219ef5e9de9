// Keeps passwords and tokens out of what is shown, also when the service echoes them.

import { HIDDEN } from '../protocol/redaction.ts';

/** Characters. A shorter one stands in many words, and a mark in its place would only show where. */
const MIN_SECRET_LENGTH = 5;
/** How a JSON web token begins. */
const TOKEN_START = /\beyJ(?=[\w-]{8})/;
/** No address has them. */
const LONE_SURROGATES = /\p{Surrogate}/gu;
const MAX_SHOWN_LENGTH = 500;
/** Less than what `http.ts` keeps of an error's body, so that a body cut there is cut here too. */
const MAX_SEARCHED_LENGTH = 16_000;
/** Of what stands for one character, `&#0000000033;` among it. */
const MAX_CODE_LENGTH = 16;
/** As decoders write what they cannot read. */
const UNKNOWN = '\ufffd';
/** UTF-16 that was read as UTF-8 has one beside each character. Line breaks and tabs may stay. */
const CONTROLS = /(?![\t\n\r])\p{Cc}/gu;
/** The characters of ASCII that have names in HTML, each behind its name, in small letters. */
const NAMED =
  'amp& lt< gt> quot" apos\' excl! num# dollar$ percnt% lpar( rpar) ast* midast* plus+ comma, period. sol/ colon: semi; ' +
  'equals= quest? commat@ lsqb[ lbrack[ bsol\\ rsqb] rbrack] hat^ lowbar_ underbar_ grave` lcub{ lbrace{ verbar| vert| ' +
  'verticalline| rcub} rbrace} tab\t newline\n';
const HTML_NAMES = new Map(NAMED.split(' ').map((pair) => [pair.slice(0, -1), pair.slice(-1)]));
/** A character as HTML and XML write it; readers forgive that some do not end. A hostile text is passed through once. */
const HTML_CODE = new RegExp(
  `&(?:#x0*([\\da-f]{1,6})|#0*(\\d{1,7})|(amp|lt|gt|quot|(?:${[...HTML_NAMES.keys()].join('|')})(?=;)));?`,
  'gi',
);
/** Of a character beyond ASCII, when the others are decoded. */
const HTML_NAME = /&[a-z][a-z\d]{1,31};/gi;
const MAX_CODE_POINT = 0x10_ff_ff;
/** A character as JSON and JavaScript write it, and as JavaScript's `escape` does. */
const ESCAPE = /(?:\\u|%u)([\da-f]{4})|\\x([\da-f]{2})|\\(["'\\/nrt])/gi;
const SHORT_ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t' };
/** Bytes as addresses and forms write them. */
const PERCENT = /(?:%[\da-f]{2})+/gi;
const FOLDED = /(?:&[a-z][a-z\d]{1,31};|[^\t\n\r -~])+/gi;
/** It stands in no folded text. */
const MARK = '\0';
const MARKED = /\0+/g;

/**
 * Hides the secrets in every spelling in which a service could send them back (plain, inside JSON or HTML,
 * percent-encoded, form-encoded, Base64), and everything that is shaped like a token.
 */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  return hideSpellings(text, spellingsIn(text, secrets));
}

/**
 * Each encoder leaves other characters as they are, and one beyond ASCII may have become anything beyond ASCII in a charset
 * that nobody has named: where only that hides a secret, the text is shown without codes, or without such characters.
 */
function hideSpellings(text: string, spellings: readonly string[]): string {
  const folded = foldAll(spellings);
  const hide = (one: string) => hideFolded(hidePlain(one, spellings), folded);
  let plain = hideBetween(text, hide);
  let shown = plain;
  for (const order of ORDERS) {
    plain = shown;
    for (const decode of order) {
      const decoded = decode(plain);
      // Most texts have no codes of most kinds, and to look for tokens takes its time.
      if (decoded !== plain) {
        plain = hideBetween(decoded, hide);
        shown = plain === decoded ? shown : plain.replace(CONTROLS, '');
      }
    }
  }
  return shown;
}

/** Also where control characters stand between those of a secret, which may have some itself. */
function hideBetween(text: string, hide: (text: string) => string): string {
  const hidden = hide(text);
  const bare = hidden.replace(CONTROLS, '');
  const hiddenBare = bare === hidden ? bare : hide(bare);
  return hiddenBare === bare ? hidden : hiddenBare;
}

/** Looks at the text as it is with one mark in place of whatever is beyond ASCII; what is not hidden stays as it was. */
function hideFolded(text: string, spellings: readonly string[]): string {
  const folded = spellings.length === 0 ? '' : fold(text);
  if (!spellings.some((spelling) => folded.includes(spelling))) {
    return text;
  }
  const placeOf = placesIn(text);
  let hidden = '';
  let end = 0;
  for (const [from, to] of rangesOf(folded, spellings)) {
    hidden += text.slice(end, placeOf[from]) + HIDDEN;
    end = placeOf[to] as number;
  }
  return hidden + text.slice(end);
}

const fold = (text: string): string => text.replace(FOLDED, UNKNOWN);

/** Where each character of the folded text stands in this one, and its end. */
function placesIn(text: string): number[] {
  const places: number[] = [];
  const addUntil = (end: number, from: number) => {
    for (let place = from; place < end; place++) {
      places.push(place);
    }
  };
  let end = 0;
  for (const { index, 0: part } of text.matchAll(FOLDED)) {
    addUntil(index, end);
    places.push(index);
    end = index + part.length;
  }
  addUntil(text.length, end);
  places.push(text.length);
  return places;
}

/** Where the spellings stand, in order; those that touch are one. The longest is looked for first. */
function rangesOf(text: string, spellings: readonly string[]): [from: number, to: number][] {
  let marked = text;
  for (const spelling of spellings) {
    marked = marked.replaceAll(spelling, (found) => MARK.repeat(found.length));
  }
  return Array.from(marked.matchAll(MARKED), ({ index, 0: part }) => [index, index + part.length]);
}

/** Of the spellings that are others then, those that do not stand in many words. */
function foldAll(spellings: readonly string[]): string[] {
  const folded = spellings.map(fold).filter((text, index) => text !== spellings[index]);
  return [...new Set(folded)].filter(({ length }) => length >= MIN_SECRET_LENGTH);
}

const IN_HTML = [decodeHtml, decodeEscapes, decodePercent];
const IN_JSON = [decodeEscapes, decodeHtml, decodePercent];
/** Twice, as an encoder may have met what any of them had encoded; in several orders, as a secret may look like codes itself. */
const ORDERS = [[decodeHtml], IN_HTML, IN_JSON].map((order) => [...order, ...order]);

const decodeAll = (text: string): string =>
  [...IN_HTML, ...IN_HTML].reduce((decoded, decode) => decode(decoded), text);

function decodeHtml(text: string): string {
  return text.replace(HTML_CODE, decodeCode);
}

function decodeEscapes(text: string): string {
  return text.replace(ESCAPE, (_, unit?: string, byte?: string, short?: string) =>
    short === undefined
      ? String.fromCharCode(Number.parseInt((unit ?? byte) as string, 16))
      : (SHORT_ESCAPES[short.toLowerCase()] ?? short),
  );
}

/** What is no UTF-8 becomes a mark, as every character beyond ASCII does at last. */
function decodePercent(text: string): string {
  return text.replace(PERCENT, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString());
}

function decodeCode(code: string, hex?: string, decimal?: string, name?: string): string {
  if (name !== undefined) {
    return HTML_NAMES.get(name.toLowerCase()) as string;
  }
  const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return point <= MAX_CODE_POINT ? String.fromCodePoint(point) : code;
}

function hidePlain(text: string, spellings: readonly string[]): string {
  let shown = text;
  for (const spelling of spellings) {
    shown = shown.replaceAll(spelling, HIDDEN);
  }
  return hideTokens(shown);
}

/** Of the secrets that are looked for and have room in the text, the longest first: to spell a long one takes its time. */
function spellingsIn(text: string, secrets: readonly string[]): string[] {
  // No spelling has fewer characters, but for halves of surrogate pairs.
  const lengthOf = (secret: string) => String(secret).replace(LONE_SURROGATES, '').length;
  return secrets
    .filter((secret) => String(secret).length >= MIN_SECRET_LENGTH && lengthOf(secret) <= text.length)
    .flatMap(spellingsOf)
    .sort((a, b) => b.length - a.length);
}

/**
 * Hides everything that is shaped like a JSON web token, three parts with dots between them: the service may echo one
 * that we never received. No pattern for the whole, which would take time by the square of a long text.
 */
function hideTokens(text: string): string {
  // Parts stand at even places, what separates them at odd ones.
  const parts = text.split(/([^\w-]+)/);
  for (let i = 0; i + 3 < parts.length; i += 2) {
    const [first, dot, , end, last] = parts.slice(i, i + 5) as [string, string, string, string, string];
    const start = dot === '.' && end.startsWith('.') ? first.search(TOKEN_START) : -1;
    if (start >= 0) {
      const third = end === '.' ? '' : last;
      parts.splice(i, 5, first.slice(0, start) + HIDDEN, '', '', end.slice(1), third);
    }
  }
  return parts.join('');
}

/**
 * The first 500 characters of a body, for an error's `cause`. Secrets are hidden before the cut, and where a long body
 * had to be cut before, its end goes too: it could be the first half of a secret.
 */
export function showBody(body: string, secrets: readonly string[]): string {
  const searched = body.slice(0, MAX_SEARCHED_LENGTH);
  const isCut = searched.length < body.length;
  if (isCut && secrets.some((secret) => String(secret).length > MAX_SEARCHED_LENGTH)) {
    return '';
  }
  const spellings = spellingsIn(searched, secrets);
  const hidden = hideSpellings(searched, spellings).replace(CONTROLS, '');
  if (!isCut) {
    return hidden.slice(0, MAX_SHOWN_LENGTH);
  }
  const mostCoded = MAX_CODE_LENGTH * Math.max(0, ...secrets.map((secret) => String(secret).length));
  if (hidden.length - mostCoded >= MAX_SHOWN_LENGTH) {
    return hidden.slice(0, MAX_SHOWN_LENGTH);
  }
  const longest = spellings[0]?.length ?? 0;
  const shown = decodeAll(hidden).replace(CONTROLS, '').replace(HTML_NAME, UNKNOWN);
  return shown.slice(0, Math.max(0, shown.length - longest)).slice(0, MAX_SHOWN_LENGTH);
}

/** The ways in which a text is written in JSON, addresses, forms, hex and Base64, itself among them; none of an empty one. */
export function spellingsOf(given: unknown): string[] {
  // Whatever the settings hold: what hides secrets must not fail and show them.
  const secret = String(given);
  if (secret === '') {
    return [];
  }
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const percent = hex.replace(/../g, '%$&');
  const base64 = bytes.toString('base64');
  const all = [
    secret,
    secret.replaceAll(' ', '+'),
    JSON.stringify(secret).slice(1, -1),
    ...urlSpellings(secret.replace(LONE_SURROGATES, '')),
    percent,
    percent.toUpperCase(),
    hex,
    hex.toUpperCase(),
    base64,
    base64.replace(/=+$/, ''),
    bytes.toString('base64url'),
    ...within64(bytes),
  ];
  return [...new Set(all)];
}

/** The codes with small and with capital letters, blanks as in addresses and as in forms. */
function urlSpellings(text: string): string[] {
  const url = encodeURIComponent(text);
  return [url, url.replace(/%../g, (code) => code.toLowerCase())]
    .flatMap((spelling) => [spelling, spelling.replace(/%2f/gi, '/')])
    .flatMap((spelling) => [spelling, spelling.replaceAll('%20', '+')]);
}

/** Less could be a part of anything in Base64. */
const MIN_WITHIN_BASE64 = 6;

/** In Base64 of a longer text, such as a header: without what its neighbours have a part in. */
function within64(bytes: Buffer): string[] {
  const texts = [0, 1, 2].flatMap((before) => {
    const base64 = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url');
    const first = Math.ceil((before * 8) / 6);
    const whole = base64.slice(first, Math.floor(((before + bytes.length) * 8) / 6));
    return [whole, whole.replaceAll('-', '+').replaceAll('_', '/')];
  });
  return texts.filter(({ length }) => length >= MIN_WITHIN_BASE64);
}
