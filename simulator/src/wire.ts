// What the simulated devices know of identifiers: a table of their own, so that it can bear witness against src/protocol.

/** A value as JSON, with its extension. */
export interface Decoded {
  value: unknown;
  ext?: Record<string, unknown>;
}

/** One identifier; hex in, JSON out and back. `encode` throws RangeError for what the wire cannot carry. */
export interface WireRow {
  id: string;
  name: string;
  access: 'read' | 'write' | 'command' | 'event';
  /** Bytes, or undefined for any number of them. */
  size: number | undefined;
  decode(bytes: Buffer): Decoded;
  encode(value: unknown, ext?: unknown): string;
}

type Codec = Pick<WireRow, 'size' | 'decode' | 'encode'>;

/** At most six bytes, which a number holds exactly; two's complement. */
const hexOf = (number: number, bytes: number): string =>
  (number < 0 ? number + 2 ** (bytes * 8) : number).toString(16).padStart(bytes * 2, '0');

function integer(bytes: number, signed: boolean, divisor = 1): Codec {
  const low = signed ? -(2 ** (bytes * 8 - 1)) : 0;
  const high = signed ? -low - 1 : 2 ** (bytes * 8) - 1;
  return {
    size: bytes,
    decode: (buffer) => ({
      value: (signed ? buffer.readIntBE(0, bytes) : buffer.readUIntBE(0, bytes)) / divisor,
    }),
    encode(value) {
      const number = typeof value === 'number' ? Math.round(value * divisor) : Number.NaN;
      if (!(number >= low && number <= high)) {
        throw new RangeError('number out of range');
      }
      return hexOf(number, bytes);
    },
  };
}

const unsigned = (bytes: number, divisor?: number): Codec => integer(bytes, false, divisor);
const signed = (bytes: number, divisor?: number): Codec => integer(bytes, true, divisor);

const BOOL: Codec = {
  size: 1,
  decode: (bytes) => ({ value: bytes[0] !== 0 }),
  encode(value) {
    if (typeof value !== 'boolean') {
      throw new RangeError('not a boolean');
    }
    return value ? '01' : '00';
  },
};

const VOID: Codec = { size: 0, decode: () => ({ value: null }), encode: () => '' };

const MAC: Codec = {
  size: 6,
  decode: (bytes) => ({ value: bytes.toString('hex') }),
  encode(value) {
    if (typeof value !== 'string' || !/^[0-9a-f]{12}$/i.test(value)) {
      throw new RangeError('not a MAC address');
    }
    return value.toLowerCase();
  },
};

/** One byte for each number of a version. */
function versionBytes(value: unknown, pattern: RegExp): string {
  const parts = typeof value === 'string' ? pattern.exec(value) : null;
  if (!parts) {
    throw new RangeError('not a version');
  }
  return parts
    .slice(1)
    .map((part) => unsigned(1).encode(Number(part ?? 0)))
    .join('');
}

const VERSION: Codec = {
  size: 4,
  decode: (bytes) => ({ value: `${bytes[0]}.${bytes[1]}.${bytes[2]}${bytes[3] ? `-beta.${bytes[3]}` : ''}` }),
  encode: (value) => versionBytes(value, /^(\d+)\.(\d+)\.(\d+)(?:-beta\.([1-9]\d*))?$/),
};

const SHORT_VERSION: Codec = {
  size: 2,
  decode: (bytes) => ({ value: `${bytes[0]}.${bytes[1]}` }),
  encode: (value) => versionBytes(value, /^(\d+)\.(\d+)$/),
};

const MODES: Record<string, string> = {
  '01': 'dfu',
  '02': 'connected',
  '03': 'storage',
  '04': 'unconnected',
};

const MODE: Codec = {
  size: 1,
  decode: (bytes) => ({ value: MODES[bytes.toString('hex')] ?? bytes[0] }),
  encode(value) {
    const hex = Object.keys(MODES).find((key) => MODES[key] === value);
    if (!hex) {
      throw new RangeError('no such mode');
    }
    return hex;
  },
};

const BATTERY: Codec = {
  ...unsigned(1),
  decode: (bytes) => ({ value: bytes[0] === 255 ? null : bytes[0] }),
  encode(value) {
    if (Number(value) > 100) {
      throw new RangeError('percent');
    }
    return unsigned(1).encode(value);
  },
};

const INTERVAL: Codec = {
  size: 3,
  decode: (bytes) => ({ value: { interval: bytes.readUInt16BE(0), denominator: bytes[2] } }),
  encode(value) {
    const { interval, denominator } = (value ?? {}) as Record<string, unknown>;
    if (typeof interval !== 'number' || interval < 20 || interval > 10240) {
      throw new RangeError('interval');
    }
    return unsigned(2).encode(interval) + unsigned(1).encode(denominator);
  },
};

const ACCELEROMETER_FIELDS = [
  'config',
  'int1Threshold',
  'int1Duration',
  'int1Blocking',
  'int1Counter',
  'int2Threshold',
  'int2Duration',
];

const ACCELEROMETER: Codec = {
  size: 7,
  decode: (bytes) => ({
    value: Object.fromEntries(ACCELEROMETER_FIELDS.map((name, at) => [name, bytes[at]])),
  }),
  encode: (value) =>
    ACCELEROMETER_FIELDS.map((name) => unsigned(1).encode((value as Record<string, unknown>)?.[name])).join(
      '',
    ),
};

const MOTION: Codec = {
  size: 1,
  decode: (bytes) => ({
    value: bytes[0],
    ...(bytes.length >= 6 && {
      ext: { transitionCounter: bytes.readUInt32BE(1), isTransition: ((bytes[5] ?? 0) & 1) === 1 },
    }),
  }),
  encode(value, ext) {
    const { transitionCounter, isTransition } = (ext ?? {}) as Record<string, unknown>;
    const tail = ext
      ? unsigned(4).encode(transitionCounter) + BOOL.encode(isTransition) // flags: bit 0 is the only one known
      : '';
    return unsigned(1).encode(value) + tail;
  },
};

const STORAGE: Codec = {
  size: 3,
  decode: (bytes) => ({ value: { modelNumber: bytes.readUInt16BE(0), variant: bytes[2] } }),
  encode(value) {
    const { modelNumber, variant } = value as Record<string, unknown>;
    return unsigned(2).encode(modelNumber) + unsigned(1).encode(variant);
  },
};

const row = (id: string, name: string, access: WireRow['access'], codec: Codec): WireRow => ({
  id,
  name,
  access,
  ...codec,
});

/** Ids and names as the gateways use them; `button-0-counter` is known by its name only. */
export const WIRE: readonly WireRow[] = [
  row('8000', 'model-number', 'read', unsigned(2)),
  row('8001', 'firmware-version', 'read', VERSION),
  row('8002', 'hardware-version', 'read', SHORT_VERSION),
  row('8003', 'mac-address', 'read', MAC),
  row('8007', 'variant', 'read', unsigned(1)),
  row('8100', 'battery-level', 'read', BATTERY),
  row('8101', 'uptime', 'read', unsigned(4)),
  row('8102', 'reset-cause', 'read', unsigned(1)),
  row('8103', 'vdd', 'read', unsigned(2)),
  row('8110', 'device-mode', 'write', MODE),
  row('8112', 'storage-mode-event', 'event', STORAGE),
  row('8113', 'watchdog-reset-event', 'event', VOID),
  row('8200', 'accelerometer-configuration', 'write', ACCELEROMETER),
  row('8300', 'soft-reset', 'command', VOID),
  row('8301', 'factory-reset', 'command', VOID),
  row('8302', 'request-property-reporting', 'command', VOID),
  row('8800', 'temperature', 'read', signed(2, 100)),
  row('8801', 'pressure', 'read', unsigned(4, 1_000_000)),
  row('8802', 'humidity', 'read', unsigned(2, 10)),
  row('8803', 'light-intensity', 'read', unsigned(2)),
  row('8810', 'motion', 'read', MOTION),
  row('8813', 'total-minutes-in-motion', 'read', unsigned(4)),
  row('9800', 'alarm', 'write', BOOL),
  row('9801', 'priority', 'write', BOOL),
  row('9802', 'tx-power', 'write', signed(1)),
  row('9803', 'long-button-press-timeout', 'write', unsigned(2)),
  row('9804', 'normal-mode-advertisement-interval', 'write', INTERVAL),
  row('9805', 'alarm-mode-advertisement-interval', 'write', INTERVAL),
  row('9806', 'priority-mode-advertisement-interval', 'write', INTERVAL),
  row('9807', 'sleep-mode-advertisement-interval', 'write', INTERVAL),
  row('9808', 'inactive-to-sleep-delay', 'write', unsigned(2)),
  row('9809', 'alarm-2', 'write', BOOL),
  row('', 'button-0-counter', 'event', unsigned(4)),
];

const BY_ID = new Map(WIRE.filter(({ id }) => id).map((entry) => [entry.id, entry]));
const BY_NAME = new Map(WIRE.map((entry) => [entry.name, entry]));

export const rowOfId = (id: string): WireRow | undefined => BY_ID.get(id);
export const rowOfName = (name: string): WireRow | undefined => BY_NAME.get(name);

/** The row that every simulated device is built with; asking for another is a mistake in the simulator. */
export function known(id: string): WireRow {
  const found = BY_ID.get(id);
  if (!found) {
    throw new Error(`the simulator has no identifier ${id}`);
  }
  return found;
}
