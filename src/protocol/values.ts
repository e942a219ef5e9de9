// Wire types: hex <-> JSON, signed and unsigned numbers, with ranges.
import { invalidInput, showValue, type TextValues } from '../errors.ts';
import { isHexBytes, readUnsigned, writeInteger } from './hex.ts';
import { parseMac } from './mac.ts';

interface IntegerType {
  digits: number;
  min: number;
  max: number;
}

const unsigned = (bits: number): IntegerType => ({ digits: bits / 4, min: 0, max: 2 ** bits - 1 });
const signed = (bits: number): IntegerType => ({
  digits: bits / 4,
  min: -(2 ** (bits - 1)),
  max: 2 ** (bits - 1) - 1,
});

export const INTEGERS = {
  u8: unsigned(8),
  s8: signed(8),
  u16: unsigned(16),
  s16: signed(16),
  u32: unsigned(32),
  s32: signed(32),
  u48: unsigned(48),
} as const satisfies Record<string, IntegerType>;

export type IntegerName = keyof typeof INTEGERS;

/** The types that entries of the config node may name. */
export const WIRE_TYPES = [
  'void',
  'bool',
  ...(Object.keys(INTEGERS) as IntegerName[]),
  'float',
  'utf8',
  'mac',
  'hex',
] as const;

export type WireType = (typeof WIRE_TYPES)[number];

export function isInteger(type: string): type is IntegerName {
  return Object.hasOwn(INTEGERS, type);
}

/** Whether values of a type are numbers, so that a divisor makes sense. */
export function isNumeric(type: string): boolean {
  return type === 'float' || isInteger(type);
}

/** What narrows a type: limits and step in user units, value = number on the wire ÷ divisor. */
export interface Limits {
  divisor?: number;
  min?: number;
  max?: number;
  step?: number;
  /** The number on the wire that stands for "unknown" and is `null` in JSON. */
  absent?: number;
  /** Of the type `hex`: a fixed number of bytes. */
  bytes?: number;
}

/** Which input is being encoded: the field that an error names, and inside a structure the part of it. */
export interface Part {
  field: 'value' | 'ext';
  name?: string;
}

/** A text that looks like what is wanted is shown as the text that it is. */
const QUOTED: ReadonlySet<string> = new Set(['notNumber', 'notBoolean']);

/** Refuses a value that cannot be encoded; the text shows the part of a structure that is wrong. */
export function refuse(part: Part, value: unknown, reason: string, values: TextValues = {}): never {
  const words = showValue(typeof value === 'string' && QUOTED.has(reason) ? JSON.stringify(value) : value);
  const shown = part.name === undefined ? words : `${part.name}: ${words}`;
  throw invalidInput(part.field, value, reason, { value: shown, ...values });
}

/** One way of writing values; positions and lengths are counted in hex digits. */
export interface Codec {
  /** How many of the digits at hand the value takes; -1: it is too short. */
  take(available: number): number;
  /** Undefined when the digits mean nothing in this type. */
  read(hex: string, from: number, end: number): unknown;
  /** @throws ServiceError `INVALID_INPUT` */
  write(value: unknown, part: Part): string;
}

/** A codec whose values always have the same length. */
export function fixed(digits: number, read: Codec['read'], write: Codec['write']): Codec {
  return { take: (available) => (available < digits ? -1 : digits), read, write };
}

/** The codec of a wire type, narrowed by limits. */
export function wireCodec(type: WireType, limits: Limits = {}): Codec {
  if (isInteger(type)) {
    return integerCodec(INTEGERS[type], limits);
  }
  switch (type) {
    case 'void':
      return fixed(0, () => null, writeVoid);
    case 'bool':
      return fixed(2, (hex, from) => readUnsigned(hex, from, 2) !== 0, writeBool);
    case 'float':
      return floatCodec(limits);
    case 'utf8':
      return { take: (available) => available, read: readUtf8, write: writeUtf8 };
    case 'mac':
      return fixed(12, (hex, from) => hex.slice(from, from + 12).toLowerCase(), writeMac);
    case 'hex':
      return hexCodec(limits.bytes);
  }
}

function writeVoid(value: unknown, part: Part): string {
  return value === null || value === undefined || value === '' ? '' : refuse(part, value, 'notVoid');
}

function writeBool(value: unknown, part: Part): string {
  if (typeof value !== 'boolean') {
    return refuse(part, value, 'notBoolean');
  }
  return value ? '01' : '00';
}

function writeMac(value: unknown, part: Part): string {
  return parseMac(value) ?? refuse(part, value, 'notMac');
}

function integerCodec(type: IntegerType, limits: Limits): Codec {
  const { digits } = type;
  const { divisor = 1, absent } = limits;
  const isSigned = type.min < 0;
  const half = 16 ** digits / 2;
  const read = (hex: string, from: number): number | null => {
    const number = readUnsigned(hex, from, digits);
    if (number === absent) {
      return null;
    }
    return (isSigned && number >= half ? number - 2 * half : number) / divisor;
  };
  return fixed(digits, read, (value, part) => {
    if (value === null && absent !== undefined) {
      return writeInteger(absent, digits);
    }
    return writeInteger(toWire(value, type, limits, part), digits);
  });
}

/**
 * The number on the wire. A quantity with a divisor is rounded to the nearest step, because calculated values
 * carry noise behind it; a plain integer with a fraction is an error.
 */
function toWire(value: unknown, type: IntegerType, limits: Limits, part: Part): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    return refuse(part, value, 'notNumber');
  }
  const { divisor = 1, step } = limits;
  const min = limits.min ?? type.min / divisor;
  const max = limits.max ?? type.max / divisor;
  const number = divisor === 1 ? value : Math.round(value * divisor);
  if (value < min || value > max) {
    return refuse(part, value, 'outOfRange', { min, max });
  }
  if (!Number.isInteger(number)) {
    return refuse(part, value, 'notInteger');
  }
  if (step !== undefined && number % Math.round(step * divisor) !== 0) {
    return refuse(part, value, 'notStep', { step });
  }
  return number;
}

const scratch = new DataView(new ArrayBuffer(4));
const FLOAT_MAX = 3.4028234663852886e38;

function floatCodec({ divisor = 1, min = -FLOAT_MAX / divisor, max = FLOAT_MAX / divisor }: Limits): Codec {
  const read = (hex: string, from: number): number | undefined => {
    scratch.setUint32(0, readUnsigned(hex, from, 8));
    const number = scratch.getFloat32(0);
    // Neither NaN nor the infinities exist in JSON: they stay the hex string.
    return Number.isFinite(number) ? number / divisor : undefined;
  };
  return fixed(8, read, (value, part) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      return refuse(part, value, 'notNumber');
    }
    if (value < min || value > max) {
      return refuse(part, value, 'outOfRange', { min, max });
    }
    scratch.setFloat32(0, value * divisor);
    return writeInteger(scratch.getUint32(0), 8);
  });
}

// Fatal, so that bytes that are no text stay the hex string instead of losing information.
const textDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const textEncoder = new TextEncoder();
const LONE_SURROGATE = /\p{Surrogate}/u;

function readUtf8(hex: string, from: number, end: number): string | undefined {
  const bytes = new Uint8Array((end - from) / 2);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = readUnsigned(hex, from + 2 * i, 2);
  }
  try {
    return textDecoder.decode(bytes);
  } catch {
    // Not UTF-8: undefined.
  }
}

function writeUtf8(value: unknown, part: Part): string {
  if (typeof value !== 'string' || LONE_SURROGATE.test(value)) {
    return refuse(part, value, 'notText');
  }
  let hex = '';
  for (const byte of textEncoder.encode(value)) {
    hex += writeInteger(byte, 2);
  }
  return hex;
}

function hexCodec(bytes: number | undefined): Codec {
  const read = (hex: string, from: number, end: number): string => hex.slice(from, end).toLowerCase();
  const write = (value: unknown, part: Part): string => {
    if (!isHexBytes(value)) {
      return refuse(part, value, 'notHexBytes');
    }
    if (bytes !== undefined && value.length !== 2 * bytes) {
      return refuse(part, value, 'notBytes', { bytes });
    }
    return value.toLowerCase();
  };
  return bytes === undefined
    ? { take: (available) => available, read, write }
    : fixed(2 * bytes, read, write);
}
