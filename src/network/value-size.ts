// How much memory a value of JSON takes: an estimate, by which what is remembered is bounded.

/** Bytes of an object, a text or a list besides what it holds, of a property, and of a number. */
const OBJECT_SIZE = 64;
const TEXT_SIZE = 24;
const SLOT_SIZE = 8;

/** @returns bytes, estimated; any depth */
export function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) {
    return sizeOfPlain(value);
  }
  let size = SLOT_SIZE;
  // Most objects hold none, and need no list.
  let unfinished: object[] | undefined;
  for (let at: object | undefined = value; at !== undefined; at = unfinished?.pop()) {
    size += OBJECT_SIZE;
    for (const key in at) {
      const item = (at as Record<string, unknown>)[key];
      size += sizeOfPlain(item);
      if (typeof item === 'object' && item !== null) {
        unfinished ??= [];
        unfinished.push(item);
      }
    }
  }
  return size;
}

function sizeOfPlain(value: unknown): number {
  return typeof value === 'string' ? SLOT_SIZE + TEXT_SIZE + 2 * value.length : SLOT_SIZE;
}
