// Texts of others: what may not be sent to the service, and what may be kept of them.

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f]/;

/** V8 copies a shorter part of a text; a longer one keeps the whole text in memory. */
const MIN_SLICE_LENGTH = 13;

export function hasControlCharacter(text: string): boolean {
  return CONTROL.test(text);
}

/** A copy of a part of a longer text, such as a topic, which would be kept as a whole with its part. */
export function ownText(part: string): string {
  return part.length < MIN_SLICE_LENGTH ? part : Buffer.from(part).toString();
}
