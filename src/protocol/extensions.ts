// A whole value with what follows it: value extensions, `ext` in JSON.
import { isHexBytes, readUnsigned, writeInteger } from './hex.ts';
import { isJsonObject } from './json.ts';
import { type Field, fieldCodec, refuseUnknown } from './structures.ts';
import { type Codec, type Part, refuse } from './values.ts';

export interface Decoded {
  value: unknown;
  ext?: Record<string, unknown>;
}

/** Turns the whole hex string of an identifier's value into JSON and back. */
export interface ValueCodec {
  /** Undefined when the hex string is too short or means nothing in this type: it stays raw. */
  decode(hex: string): Decoded | undefined;
  /** @throws ServiceError `INVALID_INPUT`, field `value` or `ext` */
  encode(value: unknown, ext: unknown): string;
}

interface Extension {
  read(hex: string, from: number): Record<string, unknown>;
  write(ext: Record<string, unknown>): string;
}

export const VALUE: Part = { field: 'value' };
export const EXT: Part = { field: 'ext' };

/** What follows a value whose extension is not known: `{bytes: "<hex>"}`. */
export const plain: Extension = {
  read: (hex, from) => ({ bytes: hex.slice(from).toLowerCase() }),
  write(ext) {
    refuseUnknown(ext, ['bytes'], EXT);
    return writeBytes(ext);
  },
};

function writeBytes({ bytes }: Record<string, unknown>): string {
  if (bytes === undefined) {
    return '';
  }
  return isHexBytes(bytes) ? bytes.toLowerCase() : refuse({ ...EXT, name: 'bytes' }, bytes, 'notHexBytes');
}

const COUNTER_DIGITS = 8;
const FLAGS_DIGITS = 2;
const MOTION_DIGITS = COUNTER_DIGITS + FLAGS_DIGITS;
const IS_TRANSITION = 0x01;
const COUNTER: Field = { name: 'transitionCounter', type: 'u32' };
const OTHER_FLAGS: Field = { name: 'otherFlags', type: 'u8' };

/**
 * Extension of motion: u32 transitionCounter, u8 flags (bit 0 isTransition). Flag bits of later versions are kept
 * in `otherFlags` (a number, only there when not 0), bytes behind the flags in `bytes`.
 */
const motion: Extension = {
  read(hex, from) {
    if (hex.length - from < MOTION_DIGITS) {
      return plain.read(hex, from);
    }
    const flags = readUnsigned(hex, from + COUNTER_DIGITS, FLAGS_DIGITS);
    const ext: Record<string, unknown> = {
      transitionCounter: readUnsigned(hex, from, COUNTER_DIGITS),
      isTransition: (flags & IS_TRANSITION) !== 0,
    };
    if (flags & ~IS_TRANSITION) {
      ext.otherFlags = flags & ~IS_TRANSITION;
    }
    if (hex.length > from + MOTION_DIGITS) {
      ext.bytes = hex.slice(from + MOTION_DIGITS).toLowerCase();
    }
    return ext;
  },
  write(ext) {
    refuseUnknown(ext, ['transitionCounter', 'isTransition', 'otherFlags', 'bytes'], EXT);
    const { transitionCounter, isTransition = false, otherFlags = 0 } = ext;
    if (Object.keys(ext).every((key) => key === 'bytes')) {
      return writeBytes(ext);
    }
    if (transitionCounter === undefined) {
      refuse(EXT, ext, 'missingPart', { part: COUNTER.name });
    }
    if (typeof isTransition !== 'boolean') {
      refuse({ ...EXT, name: 'isTransition' }, isTransition, 'notBoolean');
    }
    const counter = fieldCodec(COUNTER).write(transitionCounter, { ...EXT, name: COUNTER.name });
    const others = fieldCodec(OTHER_FLAGS).write(otherFlags, { ...EXT, name: OTHER_FLAGS.name });
    const flags = (Number.parseInt(others, 16) & ~IS_TRANSITION) | (isTransition ? IS_TRANSITION : 0);
    return counter + writeInteger(flags, FLAGS_DIGITS) + writeBytes(ext);
  },
};

export const EXTENSIONS = { plain, motion } as const satisfies Record<string, Extension>;

/** A value of one codec, and whatever extends it. */
export function extendedCodec(codec: Codec, extension: Extension): ValueCodec {
  return {
    decode(hex) {
      const taken = codec.take(hex.length);
      if (taken < 0) {
        return undefined;
      }
      const value = codec.read(hex, 0, taken);
      if (value === undefined) {
        return undefined;
      }
      return taken === hex.length ? { value } : { value, ext: extension.read(hex, taken) };
    },
    encode(value, ext) {
      const hex = codec.write(value, VALUE);
      if (ext === undefined || ext === null) {
        return hex;
      }
      if (!isJsonObject(ext)) {
        return refuse(EXT, ext, 'notExt');
      }
      const extended = hex + extension.write(ext);
      // Behind a text, or in place of an optional field, the bytes would be read as part of the value.
      return codec.take(extended.length) === hex.length ? extended : refuse(EXT, ext, 'noExt');
    },
  };
}
