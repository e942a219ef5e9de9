// How much memory a value of JSON takes: an estimate, by which what is remembered is bounded.

/** Bytes of an object, a text or a list besides what it holds, of a property, and of a number. */
const OBJECT_SIZE = 64;
const TEXT_SIZE = 24;
const SLOT_SIZE = 8;

/** @returns bytes, estimated; any depth */
export function sizeOf(value: unknown): number {
  let size = 0;
  const unfinished: unknown[] = [value];
  while (unfinished.length > 0) {
    const at = unfinished.pop();
    size += SLOT_SIZE;
    if (typeof at === 'string') {
      size += TEXT_SIZE + 2 * at.length;
    } else if (typeof at === 'object' && at !== null) {
      size += OBJECT_SIZE;
      for (const key in at) {
        unfinished.push((at as Record<string, unknown>)[key]);
      }
    }
  }
  return size;
}
