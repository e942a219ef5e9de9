// Texts of others: what may not be sent to the service, and what may be kept of them.

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f]/;

/** V8 copies a shorter part of a text; a longer one keeps the whole text in memory. */
const MIN_SLICE_LENGTH = 13;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const BREAKS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
/** Half of a character that takes two. */
const TORN_END = /[\ud800-\udbff]$/;
const MAX_LINE_LENGTH = 200;

/** A text of others as one line that is not long, wherever it is shown. */
export function oneLine(text: string): string {
  const line = text.replace(BREAKS, ' ').trim();
  return line.length > MAX_LINE_LENGTH
    ? `${line.slice(0, MAX_LINE_LENGTH - 1).replace(TORN_END, '')}…`
    : line;
}

export function hasControlCharacter(text: string): boolean {
  return CONTROL.test(text);
}

/** Without the slashes at its end. A regular expression would take the square of their number. */
export function withoutSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') {
    end--;
  }
  return text.slice(0, end);
}

/** A copy of a part of a longer text, such as a topic, which would be kept as a whole with its part. */
export function ownText(part: string): string {
  return part.length < MIN_SLICE_LENGTH ? part : Buffer.from(part).toString();
}

/** A copy of a text; of one that is longer than allowed, of its beginning. */
export const cutText = (text: string, maxLength: number): string =>
  ownText(text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text);
