// Values with fields of their own, versions and words: hex <-> JSON.
import { readUnsigned, writeInteger } from './hex.ts';
import { isJsonObject } from './json.ts';
import { type Codec, fixed, type Limits, type Part, refuse, type WireType, wireCodec } from './values.ts';

/** One field of a structure; only the last one may be optional. */
export interface Field extends Limits {
  name: string;
  type: WireType | 'firmware-version';
  unit?: string;
  optional?: boolean;
}

type JsonObject = Record<string, unknown>;

/** Refuses fields that a structure does not have: a misspelt one would be lost in silence. */
export function refuseUnknown(value: JsonObject, known: readonly string[], part: Part): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) {
      refuse({ ...part, name: key }, value[key], 'unknownPart');
    }
  }
}

export function fieldCodec(field: Field): Codec {
  return field.type === 'firmware-version' ? firmwareVersion : wireCodec(field.type, field);
}

/** Fields one after the other. */
export function structureCodec(fields: readonly Field[]): Codec {
  const codecs = fields.map(fieldCodec);
  const names = fields.map(({ name }) => name);
  return {
    take: (available) => takeFields(fields, codecs, available),
    read(hex, from, end) {
      const value: JsonObject = {};
      let at = from;
      for (let i = 0; i < codecs.length && at < end; i++) {
        const codec = codecs[i] as Codec;
        const next = at + codec.take(end - at);
        value[names[i] as string] = codec.read(hex, at, next);
        at = next;
      }
      return value;
    },
    write(value, part) {
      if (!isJsonObject(value)) {
        return refuse(part, value, 'notObject', { parts: names.join(', ') });
      }
      refuseUnknown(value, names, part);
      return fields.map((field, i) => writeField(value, field, codecs[i] as Codec, part)).join('');
    },
  };
}

function takeFields(fields: readonly Field[], codecs: readonly Codec[], available: number): number {
  let taken = 0;
  for (let i = 0; i < codecs.length; i++) {
    const digits = (codecs[i] as Codec).take(available - taken);
    if (digits < 0) {
      return fields[i]?.optional ? taken : -1;
    }
    taken += digits;
  }
  return taken;
}

function writeField(value: JsonObject, field: Field, codec: Codec, part: Part): string {
  const own = Object.hasOwn(value, field.name) ? value[field.name] : undefined;
  const inner = { ...part, name: field.name };
  if (own !== undefined) {
    return codec.write(own, inner);
  }
  return field.optional ? '' : refuse(inner, own, 'missingPart', { part: field.name });
}

const FIRMWARE_VERSION = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:-beta\.(\d{1,3}))?$/;
const HARDWARE_VERSION = /^(\d{1,3})\.(\d{1,3})$/;

function writeVersion(pattern: RegExp, example: string): Codec['write'] {
  return (value, part) => {
    const match = typeof value === 'string' ? pattern.exec(value) : null;
    const numbers = match?.slice(1).map((text) => Number(text ?? 0));
    if (!numbers || numbers.some((number) => number > 255)) {
      return refuse(part, value, 'notVersion', { example });
    }
    return numbers.map((number) => writeInteger(number, 2)).join('');
  };
}

/** Major, minor, patch and an optional beta number, where 0 is none; written with it. */
export const firmwareVersion: Codec = {
  take: (available) => (available >= 8 ? 8 : available >= 6 ? 6 : -1),
  read(hex, from, end) {
    const [major, minor, patch] = [0, 2, 4].map((digit) => readUnsigned(hex, from + digit, 2));
    const beta = end - from >= 8 ? readUnsigned(hex, from + 6, 2) : 0;
    return `${major}.${minor}.${patch}${beta === 0 ? '' : `-beta.${beta}`}`;
  },
  write: writeVersion(FIRMWARE_VERSION, '3.4.1'),
};

/** Major and minor; "0.0" is unknown. */
export const hardwareVersion: Codec = fixed(
  4,
  (hex, from) => `${readUnsigned(hex, from, 2)}.${readUnsigned(hex, from + 2, 2)}`,
  writeVersion(HARDWARE_VERSION, '1.2'),
);

/** A u8 that is a word in JSON; a number without a word stays a number, and is accepted as one. */
export function wordCodec(words: Readonly<Record<number, string>>): Codec {
  const number = wireCodec('u8');
  const codes = new Map(Object.entries(words).map(([code, word]) => [word, Number(code)]));
  return fixed(
    2,
    (hex, from) => {
      const code = readUnsigned(hex, from, 2);
      return words[code] ?? code;
    },
    (value, part) => {
      if (typeof value !== 'string') {
        return number.write(value, part);
      }
      const code =
        codes.get(value) ?? refuse(part, value, 'notWord', { words: [...codes.keys()].join(', ') });
      return writeInteger(code, 2);
    },
  );
}
