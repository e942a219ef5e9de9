// The lines of a file, which may be larger than memory: read piece by piece, the next one when it is asked for.

const PIECE_BYTES = 262_144;
/** Characters; the runtime takes no longer ones. */
const MAX_LINE_LENGTH = 1_000_000;

export interface FileLine {
  /** Undefined: longer than a line may be. */
  text: string | undefined;
  /** About how much of the file it ends, from 0 to 1. */
  share: number;
}

/** @throws DOMException when the file cannot be read, such as one that was changed meanwhile */
export async function* readLines(file: Blob): AsyncGenerator<FileLine> {
  const decoder = new TextDecoder();
  let rest = '';
  let isTooLong = false;
  let length = 0;
  for (let at = 0; at < file.size; at += PIECE_BYTES) {
    const end = Math.min(file.size, at + PIECE_BYTES);
    const piece = await file.slice(at, end).arrayBuffer();
    const lines = (rest + decoder.decode(piece, { stream: end < file.size })).split('\n');
    rest = end < file.size ? (lines.pop() ?? '') : '';
    for (const line of lines) {
      length += line.length + 1;
      const share = Math.min(1, length / file.size);
      yield { text: isTooLong || line.length > MAX_LINE_LENGTH ? undefined : line.trim(), share };
      isTooLong = false;
    }
    if (rest.length > MAX_LINE_LENGTH) {
      isTooLong = true;
      length += rest.length;
      rest = '';
    }
  }
}
