// Bodies of calls and requests: what they say, and how much of them is remembered and told.

/** Characters: thousands of calls are remembered, those without a login among them. */
const MAX_KEPT_BODY = 2_000;

/** The value where it is JSON, else the text; undefined when empty. */
export function parseBody(text: string): unknown {
  if (text === '') {
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What is remembered and told of a body: all of a short one, of a long one the beginning of its text. */
export function keptBody(text: string, body: unknown): unknown {
  return text.length > MAX_KEPT_BODY ? copyOf(text.slice(0, MAX_KEPT_BODY)) : body;
}

/** V8 keeps a whole text as long as a part of it is in use. */
const copyOf = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');
