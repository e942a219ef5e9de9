// Generators of what nobody should send: values of flows, JSON bodies, texts and topics made to break a reader.
import fc from 'fast-check';

const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'toJSON',
  'then',
];
const FIELDS = [
  'time',
  'seq',
  'value',
  'flags',
  'status',
  'id',
  'ext',
  'error',
  'errorCode',
  'parent',
  'kind',
];
const FURTHER = [
  'gateway',
  'device',
  'identifier',
  'name',
  'unit',
  'raw',
  'form',
  'ack',
  'retained',
  'version',
];
const HUGE = 'x'.repeat(10_000_000);

const keys = fc.oneof(fc.constantFrom(...NAMES, ...FIELDS, ...FURTHER), fc.string({ maxLength: 8 }));

export const texts = fc.oneof(
  { weight: 2_000, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  {
    weight: 1_000,
    arbitrary: fc.constantFrom(...NAMES, '', '\0', '\ud800', 'a\udc00b', '../..', '+', '#', '%2e%2e', ' '),
  },
  {
    weight: 1_000,
    arbitrary: fc.constantFrom('1234', '8800', 'ff', 'FFFF', '08', 'c0:14:1f:68:fc:3d', 'bmac-c0141f68fc3d'),
  },
  {
    weight: 500,
    arbitrary: fc.constantFrom('temperature', 'Highest', '2', 'legacy', '2026-01-01T00:00:00.000Z'),
  },
  { weight: 1, arbitrary: fc.constantFrom(HUGE) },
);

const numbers = fc.oneof(
  fc.constantFrom(0, -0, 1, 255, 256, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e308, 2 ** 53, 5e-324),
  fc.double(),
  fc.integer(),
);

/** What JSON.parse can give, with own properties that are called like those of every object. */
export const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false),
    numbers,
    texts,
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(keys, tie('value')), { maxLength: 6 })
    .map((entries) =>
      JSON.parse(`{${entries.map(([key, value]) => `${str(key)}:${str(value)}`).join(',')}}`),
    ),
})).value as fc.Arbitrary<unknown>;

const str = (value: unknown): string => JSON.stringify(value) ?? 'null';

const DEEP = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
const DEEP_OBJECT = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;

/** Payloads of messages and bodies of responses. */
export const payloads = fc.oneof(
  { weight: 200, arbitrary: json.map(str) },
  {
    weight: 50,
    arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  },
  { weight: 50, arbitrary: texts },
  {
    weight: 1,
    arbitrary: fc.constantFrom(DEEP, DEEP_OBJECT, `{"time":"t","value":${DEEP}}`, '1e999', '-0', '[', ''),
  },
);

/** A report as it could be, with one field replaced by anything. */
export const reports = fc
  .tuple(
    fc.constantFrom(...FIELDS, ...FURTHER, '__proto__'),
    fc.oneof({ weight: 99, arbitrary: json.map(str) }, fc.constant(DEEP)),
  )
  .map(([field, value]) => {
    const usual = '"time":"2026-01-01T00:00:00.000Z","seq":7,"flags":"08","value":"1234","status":0';
    return `{${usual},${str(field)}:${value}}`;
  });

const levels = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('c0141f68fc3d', 'd00000000001') },
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      'heartbeat',
      'measurement',
      'measurement-decoded',
      'timestamped',
      'event',
      'rssi',
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('8800', 'temperature', 'device', 'response', 'request', 'read', ...NAMES),
  },
  {
    weight: 3,
    arbitrary: texts.filter((text) => text.length < 1000).map((text) => text.replaceAll('/', '')),
  },
);

export const reportTopics = fc
  .tuple(levels, levels, fc.array(levels, { minLength: 1, maxLength: 4 }))
  .map(([gateway, device, rest]) => `mt/gateway/${gateway}/device/${device}/${rest.join('/')}`);

/** Objects that only code can make, one of each: they are never changed. */
const MADE: Record<string, object> = {
  cycle: cycle(),
  deep: JSON.parse(DEEP),
  deepObject: JSON.parse(DEEP_OBJECT),
  getter: {
    get value() {
      return fail();
    },
  },
  toJSON: { toJSON: fail },
  toString: { toString: fail, valueOf: fail, [Symbol.toPrimitive]: fail },
  tag: {
    get [Symbol.toStringTag]() {
      return fail();
    },
  },
  proxy: new Proxy({}, { ownKeys: fail, get: fail, getPrototypeOf: fail, getOwnPropertyDescriptor: fail }),
  iterator: Object.assign(['a'], { [Symbol.iterator]: fail, every: fail, map: fail }),
  function: Object.assign(() => 1, { toString: fail, toJSON: fail }),
  bare: Object.create(null),
  // biome-ignore lint/suspicious/noThenProperty: it is meant to be taken for a promise
  endless: { then() {} },
};

function cycle(): object {
  const value: Record<string, unknown> = {};
  value.self = value;
  return value;
}

function fail(): never {
  throw Object.create(null);
}

/** A property of `msg`: anything that a function node can make. */
const values = fc.oneof(
  { weight: 50, arbitrary: texts as fc.Arbitrary<unknown> },
  { weight: 50, arbitrary: json },
  {
    weight: 30,
    arbitrary: fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withTypedArray: true,
      withSparseArray: true,
    }),
  },
  {
    weight: 10,
    arbitrary: fc.constantFrom<unknown>(Symbol('s'), 10n, Buffer.from('12'), new Date(Number.NaN)),
  },
  { weight: 5, arbitrary: fc.constantFrom(...Object.keys(MADE)).map((name) => new Made(name)) },
);

/** Stands for an object that the printer of fast-check would not survive. */
class Made {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** The value itself. */
const made = (value: unknown): unknown => (value instanceof Made ? MADE[value.name] : value);

/** The message itself, with what was only named put in its place. */
export const madeOf = (msg: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(msg).map(([name, value]) => [name, made(value)]));

/** The usual message with one or two of its fields replaced. */
export const messages = (fields: string[], usual: object): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .array(fc.tuple(fc.constantFrom(...fields), values), { minLength: 1, maxLength: 2 })
    .map((changes) => ({ ...usual, ...Object.fromEntries(changes) }));

/** @throws when a prototype of the language was changed */
export function assertUnpolluted(): void {
  for (const prototype of [Object.prototype, Array.prototype, Function.prototype] as object[]) {
    for (const key of Object.keys(prototype)) {
      throw new Error(`${key} was put into a prototype`);
    }
  }
}
