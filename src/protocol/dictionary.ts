// Dictionaries: KEY, LENGTH and VALUE, repeated; JSON objects.
import { type Decoded, EXT, plain, VALUE, type ValueCodec } from './extensions.ts';
import { readUnsigned, writeInteger } from './hex.ts';
import { isJsonObject } from './json.ts';
import { type Field, fieldCodec, refuseUnknown } from './structures.ts';
import { type Codec, refuse } from './values.ts';

const HEAD_DIGITS = 4;

/**
 * KEY(1) LENGTH(1) VALUE, repeated, ordered by KEY, all optional. An entry that is not in the table, has another
 * length than its type or comes twice is kept whole in `ext.bytes`.
 * @param entries the position of a field is its KEY
 */
export function dictionaryCodec(entries: readonly Field[]): ValueCodec {
  const codecs = entries.map(fieldCodec);
  const names = entries.map(({ name }) => name);

  function decode(hex: string): Decoded | undefined {
    const value: Record<string, unknown> = {};
    let others = '';
    for (let at = 0; at < hex.length; ) {
      if (at + HEAD_DIGITS > hex.length) {
        return undefined;
      }
      const key = readUnsigned(hex, at, 2);
      const from = at + HEAD_DIGITS;
      const end = from + 2 * readUnsigned(hex, at + 2, 2);
      if (end > hex.length) {
        return undefined;
      }
      const codec = codecs[key];
      const name = names[key] as string;
      if (codec && !(name in value) && codec.take(end - from) === end - from) {
        value[name] = codec.read(hex, from, end);
      } else {
        others += hex.slice(at, end).toLowerCase();
      }
      at = end;
    }
    return others === '' ? { value } : { value, ext: { bytes: others } };
  }

  function writeEntry(value: Record<string, unknown>, key: number): string {
    const name = names[key] as string;
    if (value[name] === undefined) {
      return '';
    }
    const content = (codecs[key] as Codec).write(value[name], { ...VALUE, name });
    return writeInteger(key, 2) + writeInteger(content.length / 2, 2) + content;
  }

  function encode(value: unknown, ext: unknown): string {
    if (!isJsonObject(value)) {
      return refuse(VALUE, value, 'notObject', { parts: names.join(', ') });
    }
    refuseUnknown(value, names, VALUE);
    const hex = names.map((_, key) => writeEntry(value, key)).join('');
    if (ext === undefined || ext === null) {
      return hex;
    }
    return isJsonObject(ext) ? hex + plain.write(ext) : refuse(EXT, ext, 'notExt');
  }

  return { decode, encode };
}
