// THE TABLE of identifiers: one row each, as the catalogue of the interface has them.
import type { EXTENSIONS } from './extensions.ts';
import type { Field } from './structures.ts';
import type { Limits, WireType } from './values.ts';

/** Beyond the wire types; `number` is a number in decoded mode whose form on the wire is not public. */
export type ValueType =
  | WireType
  | 'firmware-version'
  | 'hardware-version'
  | 'word'
  | 'structure'
  | 'dictionary'
  | 'number';

/** How an identifier is used: it is reported, read, written, written as a command, or fired as an event. */
export type Access = 'report' | 'read' | 'write' | 'command' | 'event';

export interface Identifier extends Limits {
  /** Lowercase hex; empty when it is not known. */
  id: string;
  /** Lowercase words joined by hyphens; empty when it is not known. */
  name: string;
  type: ValueType;
  /** Of numbers. `min`, `max` and `step` are given for every integer, in this unit. */
  unit?: string;
  /** Of the type `word`: number on the wire → word. */
  words?: Readonly<Record<number, string>>;
  /** Of the types `structure` and `dictionary`; the limits of integers are given, too. */
  fields?: readonly Field[];
  /** How value extensions are read; `plain` unless given. */
  extension?: keyof typeof EXTENSIONS;
  access: readonly Access[];
  /** What it means, in a few English words; empty for an entry of the user's own. */
  description: string;
  /** The name that gateways know it by, where an entry of the user's own has given it another. */
  builtInName?: string;
}

/** An entry of the user's own. */
export const isOwn = ({ description }: Identifier): boolean => description === '';

/** Whether reports, gateways or users call it so. */
export const isCalled = ({ id, name, builtInName }: Identifier, text: string): boolean =>
  text !== '' && (text === id || text === name || text === builtInName);

/** How gateways are asked for it: a name of the user's own is known here only. */
export const askedAs = (row: Identifier): string => (isOwn(row) ? row.id : '') || row.name || row.id;

const READ = ['report', 'read'] as const;
const WRITE = ['report', 'read', 'write'] as const;
const COMMAND = ['command'] as const;
const EVENT = ['event'] as const;

const PUBLIC_KEY_BYTES = 65;

const PRODUCTION_INFO: readonly Field[] = [
  { name: 'macAddress', type: 'mac' },
  { name: 'modelNumber', type: 'u16' },
  { name: 'variant', type: 'u8' },
  { name: 'firmwareVersion', type: 'firmware-version' },
  { name: 'publicKey', type: 'hex', bytes: PUBLIC_KEY_BYTES },
  { name: 'chip', type: 'u32' },
  { name: 'chipVariant', type: 'u32' },
  { name: 'chipPackage', type: 'u32' },
];

const ACCELEROMETER: readonly Field[] = [
  { name: 'config', type: 'u8' },
  { name: 'int1Threshold', type: 'u8' },
  { name: 'int1Duration', type: 'u8' },
  { name: 'int1Blocking', type: 'u8', unit: '100 ms' },
  { name: 'int1Counter', type: 'u8' },
  { name: 'int2Threshold', type: 'u8' },
  { name: 'int2Duration', type: 'u8' },
];

const TEST_LOAD: readonly Field[] = [
  { name: 'packets', type: 'u16' },
  { name: 'interval', type: 'u16', unit: 'ms' },
  { name: 'burst', type: 'u8' },
  { name: 'priority', type: 'u8' },
];
const MESSAGE_SIZE: Field = { name: 'msgSize', type: 'u8', optional: true };

const ADVERTISEMENT: readonly Field[] = [
  { name: 'interval', type: 'u16', unit: 'ms', min: 20, max: 10240 },
  { name: 'denominator', type: 'u8' },
];

const DEVICE_MODES = { 1: 'dfu', 2: 'connected', 3: 'storage', 4: 'unconnected' } as const;

/** Firmware update and DFU: neither names nor structures are public, so they stay hex. */
const dfuRow = (id: string): Identifier => ({
  id,
  name: '',
  type: 'hex',
  access: ['report', 'read', 'command'],
  description: 'firmware update or DFU state or command; name and structure are not public',
});

// biome-ignore format: one row per identifier
export const IDENTIFIERS: readonly Identifier[] = [
  { id: '8000', name: 'model-number', type: 'u16', access: READ, description: 'model of the device' },
  { id: '8001', name: 'firmware-version', type: 'firmware-version', access: READ, description: 'version of the firmware' },
  { id: '8002', name: 'hardware-version', type: 'hardware-version', access: READ, description: 'version of the hardware; "0.0" is unknown' },
  { id: '8003', name: 'mac-address', type: 'mac', access: READ, description: 'MAC address of the device' },
  { id: '8005', name: 'production-info-extended', type: 'dictionary', fields: PRODUCTION_INFO, access: READ, description: 'what was set in production; every entry is optional' },
  { id: '8006', name: 'production-info', type: 'u32', access: READ, description: 'what was set in production' },
  { id: '8007', name: 'variant', type: 'u8', access: READ, description: 'variant of the model; 0 and 255 are unused' },
  { id: '8008', name: 'public-key', type: 'hex', bytes: PUBLIC_KEY_BYTES, access: READ, description: 'public key of the device' },
  { id: '8009', name: 'host-public-key', type: 'hex', bytes: PUBLIC_KEY_BYTES, access: READ, description: 'public key of the host' },
  { id: '8100', name: 'battery-level', type: 'u8', unit: '%', max: 254, absent: 255, access: READ, description: 'charge of the battery; no value while it is not known' },
  { id: '8101', name: 'uptime', type: 'u32', unit: 's', access: READ, description: 'time since the last start' },
  { id: '8102', name: 'reset-cause', type: 'u8', access: READ, description: '0 power-on, 1 pin, 2 watchdog, 4 software, 8 lockup' },
  { id: '8103', name: 'vdd', type: 'u16', unit: 'mV', access: READ, description: 'supply voltage' },
  { id: '8110', name: 'device-mode', type: 'word', words: DEVICE_MODES, access: WRITE, description: 'mode of the device' },
  { id: '8111', name: 'legacy-device-mode-switch', type: 'structure', fields: [{ name: 'mac', type: 'mac' }, { name: 'mode', type: 'u8' }], access: COMMAND, description: 'command to the gateway: switch the mode of a legacy device' },
  { id: '8112', name: 'storage-mode-event', type: 'structure', fields: [{ name: 'modelNumber', type: 'u16' }, { name: 'variant', type: 'u8', optional: true }], access: EVENT, description: 'storage mode, with model and variant of the device' },
  { id: '8113', name: 'watchdog-reset-event', type: 'void', access: EVENT, description: 'the watchdog reset the device' },
  ...['8120', '8121', '8122', '8123', '8124', '8130', '8131'].map(dfuRow),
  { id: '8200', name: 'accelerometer-configuration', type: 'structure', fields: ACCELEROMETER, access: WRITE, description: 'interrupts of the accelerometer' },
  { id: '8300', name: 'soft-reset', type: 'void', access: COMMAND, description: 'restart the device' },
  { id: '8301', name: 'factory-reset', type: 'void', access: COMMAND, description: 'set the device back to its factory state' },
  { id: '8302', name: 'request-property-reporting', type: 'void', access: COMMAND, description: 'report all properties at once' },
  { id: '8303', name: 'start-upstream-throughput-test', type: 'structure', fields: [...TEST_LOAD, MESSAGE_SIZE], access: COMMAND, description: 'send test packets to the gateway' },
  { id: '8304', name: 'start-downstream-throughput-test', type: 'structure', fields: [...TEST_LOAD, { name: 'target', type: 'mac' }, MESSAGE_SIZE], access: COMMAND, description: 'send test packets to a target device' },
  { id: '8800', name: 'temperature', type: 's16', divisor: 100, unit: '°C', access: READ, description: 'temperature' },
  { id: '8801', name: 'pressure', type: 'u32', divisor: 1_000_000, unit: 'hPa', access: READ, description: 'air pressure' },
  { id: '8802', name: 'humidity', type: 'u16', divisor: 10, unit: '%', access: READ, description: 'relative humidity' },
  { id: '8803', name: 'light-intensity', type: 'u16', unit: 'lux', access: READ, description: 'light intensity' },
  { id: '8806', name: 'pressure-hysteresis', type: 'u16', unit: 'hPa', max: 4096, access: WRITE, description: 'change of pressure that is reported; 0 is off; the scale is not public' },
  { id: '8810', name: 'motion', type: 'u8', extension: 'motion', access: READ, description: 'movement: 0 none, 16 and 17 moved (accelerometer channel 1 and 2), 32 seen (PIR), 1 unknown cause' },
  { id: '8813', name: 'total-minutes-in-motion', type: 'u32', unit: 'min', access: READ, description: 'minutes in motion; stays at 4294967295' },
  { id: '9800', name: 'alarm', type: 'bool', access: WRITE, description: 'alarm of the device, on or off' },
  { id: '9801', name: 'priority', type: 'bool', access: WRITE, description: 'priority mode, on or off' },
  { id: '9802', name: 'tx-power', type: 's8', unit: 'dBm', access: WRITE, description: 'transmit power' },
  { id: '9803', name: 'long-button-press-timeout', type: 'u16', unit: 'ms', min: 100, max: 25_500, step: 100, access: WRITE, description: 'how long a long button press is' },
  { id: '9804', name: 'normal-mode-advertisement-interval', type: 'structure', fields: ADVERTISEMENT, access: WRITE, description: 'advertisement interval in normal mode' },
  { id: '9805', name: 'alarm-mode-advertisement-interval', type: 'structure', fields: ADVERTISEMENT, access: WRITE, description: 'advertisement interval in alarm mode' },
  { id: '9806', name: 'priority-mode-advertisement-interval', type: 'structure', fields: ADVERTISEMENT, access: WRITE, description: 'advertisement interval in priority mode' },
  { id: '9807', name: 'sleep-mode-advertisement-interval', type: 'structure', fields: ADVERTISEMENT, access: WRITE, description: 'advertisement interval in sleep mode' },
  { id: '9808', name: 'inactive-to-sleep-delay', type: 'u16', unit: 's', access: WRITE, description: 'inactivity before sleep mode; 60 by default' },
  { id: '9809', name: 'alarm-2', type: 'bool', access: WRITE, description: 'second alarm of the device, on or off' },
  { id: '9810', name: 'whitelist-key', type: 'structure', fields: [{ name: 'site', type: 'u16' }, { name: 'group', type: 'u32' }], access: WRITE, description: 'site and group mask of the whitelist' },
  { id: 'ff00', name: 'scan-mode', type: 'u8', access: ['read', 'write'], description: 'internal; not reported' },
  { id: '', name: 'button-0-counter', type: 'number', access: EVENT, description: 'button presses; seen in decoded mode only, the identifier is not public' },
];
