// Bodies that a server compresses although nobody has asked for it.
import { constants, createBrotliDecompress, createInflateRaw, createUnzip } from 'node:zlib';

type Decoder = ReturnType<typeof createUnzip | typeof createBrotliDecompress>;

/** @param isCut the body ends anywhere: what was there is read; else one that was cut on its way cannot be read */
type CreateDecoder = (isCut: boolean) => Decoder;

const flushOf = (isCut: boolean) => ({ finishFlush: isCut ? constants.Z_SYNC_FLUSH : constants.Z_FINISH });
const createUnzipper: CreateDecoder = (isCut) => createUnzip(flushOf(isCut));
/** Tried one after the other. */
const DECODERS: Record<string, readonly CreateDecoder[]> = {
  gzip: [createUnzipper],
  'x-gzip': [createUnzipper],
  // Some servers leave out what the standard wants around it.
  deflate: [createUnzipper, (isCut) => createInflateRaw(flushOf(isCut))],
  br: [
    (isCut) =>
      createBrotliDecompress({
        finishFlush: isCut ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_FINISH,
      }),
  ],
};

/** What a header `content-encoding` says, in lower case; empty: the body is as it is. */
export function encodingOf(header: string | string[] | undefined): string {
  const names = String(header ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  return names.filter((name) => name !== '' && name !== 'identity').join(', ');
}

interface Limits {
  /** Decoding ends with the part that goes beyond, so that a small body cannot become a huge one. */
  maxBytes: number;
  /** Only the beginning of the body is given. */
  isCut: boolean;
}

/**
 * @param encoding see `encodingOf`
 * @returns undefined: the encoding is not known, or the body has another one, or no end
 */
export async function decode(
  bytes: Buffer,
  encoding: string,
  { maxBytes, isCut }: Limits,
): Promise<Buffer | undefined> {
  const creators = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]! : [];
  for (const create of creators) {
    const decoded = await decodeWith(create(isCut), bytes, maxBytes);
    if (decoded !== undefined) {
      return decoded;
    }
  }
  return undefined;
}

async function decodeWith(decoder: Decoder, bytes: Buffer, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of decoder.end(bytes) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxBytes) {
        break;
      }
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}
