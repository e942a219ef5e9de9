// Bodies that a server compresses although nobody has asked for it.
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib';

const createUnzipper = () => createUnzip({ finishFlush: constants.Z_SYNC_FLUSH });
/** None of them minds a body that was cut. */
const DECODERS: Record<string, typeof createUnzipper | typeof createBrotliDecompress | undefined> = {
  gzip: createUnzipper,
  'x-gzip': createUnzipper,
  deflate: createUnzipper,
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH }),
};

/**
 * @param encoding of the header `content-encoding`
 * @param maxBytes decoding ends with the part that goes beyond, so that a small body cannot become a huge one
 * @returns undefined: the encoding is not known, or the body has another one
 */
export async function decode(bytes: Buffer, encoding: string, maxBytes: number): Promise<Buffer | undefined> {
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]?.() : undefined;
  if (decoder === undefined) {
    return undefined;
  }
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
