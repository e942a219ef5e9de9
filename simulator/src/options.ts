// Every option of the service in a box, its default and its text for --help: one row each.
import { isIPv6 } from 'node:net';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { InputError } from './input-error.ts';
import { isObject } from './steering-fields.ts';
import { TOPIC_KINDS } from './traffic.ts';

type OptionType = 'string' | 'number' | 'boolean';

interface OptionRow {
  type: OptionType;
  default: string | number | boolean;
  text: string;
  /** The smallest number; 0 where it is absent. */
  min?: number;
  max?: number;
  isWhole?: boolean;
  choices?: readonly string[];
  /** Of a text with commas. */
  parts?: readonly string[];
  isBroker?: boolean;
}

/** What the package `mqtt` knows. */
const BROKER_SCHEME = /^(mqtts?|tcp|ssl|tls|wss?)(\+unix)?:$/;

/** Reports at a time, and per second: more would stall the process. */
export const MAX_PUBLISHED = 100_000;
/** Seconds: a longer timer of Node.js goes off at once. */
const MAX_TIMER_S = 2_147_483;

const PORT = { type: 'number', max: 65_535, isWhole: true } as const;

export const OPTIONS = {
  seed: {
    type: 'number',
    default: 1,
    text: 'everything but times follows from it',
    min: Number.MIN_SAFE_INTEGER,
  },
  host: { type: 'string', default: '127.0.0.1', text: 'address to listen on' },
  rest: { type: 'boolean', default: true, text: 'the REST half' },
  mqtt: { type: 'boolean', default: true, text: 'the MQTT half' },
  restPort: { ...PORT, default: 0, text: 'port of the REST half; 0 takes any free one' },
  username: { type: 'string', default: 'demo', text: 'REST login' },
  password: { type: 'string', default: 'demo-password', text: 'REST login' },
  authHeader: { type: 'string', default: 'Authorization', text: 'header that carries the token' },
  pageTokenParam: { type: 'string', default: 'NextToken', text: 'query parameter of the page token' },
  tokenLifetime: { type: 'number', default: 1800, text: 'seconds' },
  listed: { type: 'number', default: 250, text: 'devices in the REST list', max: 1_000_000, isWhole: true },
  named: {
    type: 'boolean',
    default: false,
    text: 'the REST list has the devices below gateways, too, all with names as people give them',
  },
  strictLabels: {
    type: 'boolean',
    default: false,
    text: 'label calls answer 409 for what is there already, and 404 for what is not attached',
  },
  maxPageSize: { type: 'number', default: 10_000, text: 'most devices in one page', min: 1, isWhole: true },
  brokerUrl: {
    type: 'string',
    default: '',
    text: 'a broker that runs already; empty: an embedded one',
    isBroker: true,
  },
  mqttPort: { ...PORT, default: 0, text: 'port of the embedded broker; 0 takes any free one' },
  wsPort: {
    ...PORT,
    default: -1,
    text: 'its WebSocket port; 0 takes any free one, -1: none',
    min: -1,
  },
  mqttUsername: { type: 'string', default: '', text: 'login at the broker; empty: anonymous' },
  mqttPassword: { type: 'string', default: '', text: 'login at the broker' },
  topicPrefix: { type: 'string', default: '', text: 'put in front of every topic, with a slash' },
  gateways: { type: 'number', default: 5, text: 'simulated gateways', min: 1, max: 10_000, isWhole: true },
  devices: { type: 'number', default: 8, text: 'devices below each gateway', max: 10_000, isWhole: true },
  allDevices: {
    type: 'number',
    default: 0,
    text: 'devices in all, instead of those below each gateway',
    max: 100_000,
    isWhole: true,
  },
  overhear: {
    type: 'boolean',
    default: true,
    text: 'a gateway reports measurements of devices of the next one, too, not only their heartbeats',
  },
  mode: {
    type: 'string',
    default: 'mixed',
    text: 'raw, decoded, or mixed: every second gateway decoded',
    choices: ['raw', 'decoded', 'mixed'],
  },
  reportWrites: {
    type: 'boolean',
    default: false,
    text: 'a device reports a property as soon as it was written',
  },
  control: {
    type: 'boolean',
    default: true,
    text: 'other processes may steer it over HTTP, below /simulator/ and without login',
  },
  kinds: {
    type: 'string',
    default: TOPIC_KINDS.join(','),
    text: 'topic kinds to publish, with commas',
    parts: TOPIC_KINDS,
  },
  rate: {
    type: 'number',
    default: 5,
    text: 'reports per second; 0: only what a program asks for',
    max: MAX_PUBLISHED,
  },
  qos: { type: 'number', default: 1, text: 'of reports and answers: 0 or 1', max: 1, isWhole: true },
  ackTimeout: { type: 'number', default: 60_000, text: 'ms until an unacknowledged sample comes again' },
  unackable: { type: 'number', default: 0.03, text: 'share of samples that cannot be acknowledged', max: 1 },
  ackOperations: { type: 'string', default: 'ack,ack-decoded', text: 'their names, raw and decoded' },
  lostAnswers: {
    type: 'number',
    default: 0,
    text: 'share of requests that are done but never answered',
    max: 1,
  },
  lostRequests: {
    type: 'number',
    default: 0,
    text: 'share of requests that never reach the gateway',
    max: 1,
  },
  delay: {
    type: 'number',
    default: 20,
    text: 'ms from a request to its response, on average',
    max: 3_600_000,
  },
  awayEvery: {
    type: 'number',
    default: 0,
    text: 'seconds after which the last gateway goes away; 0: never',
    max: MAX_TIMER_S,
  },
  awayFor: { type: 'number', default: 15, text: 'seconds until it returns', max: MAX_TIMER_S },
  queueLimit: {
    type: 'number',
    default: 10_000,
    text: 'messages that the embedded broker keeps for clients with a session, in all',
    isWhole: true,
  },
  sampleLimit: {
    type: 'number',
    default: 100_000,
    text: 'samples remembered, acknowledged or not',
    isWhole: true,
  },
  historyLimit: {
    type: 'number',
    default: 100_000,
    text: 'calls and requests remembered',
    min: 1,
    isWhole: true,
  },
} as const satisfies Record<string, OptionRow>;

type Widened<T> = T extends string ? string : T extends number ? number : boolean;

export type ServiceOptions = { [Name in keyof typeof OPTIONS]: Widened<(typeof OPTIONS)[Name]['default']> };

/** Those that a command line gives. */
export type CommandOptions = Partial<ServiceOptions>;

/** Options in full, from those given. @throws InputError for what an option cannot be */
export function fillOptions(given: Partial<ServiceOptions>): ServiceOptions {
  const rows: [string, OptionRow][] = Object.entries(OPTIONS);
  const known: unknown = given;
  if (!isObject(known)) {
    throw new InputError('options', known, 'not an object');
  }
  return Object.fromEntries(
    rows.map(([name, row]) => [name, checkOption(name, row, known[name] ?? row.default)]),
  ) as ServiceOptions;
}

function checkOption(name: string, row: OptionRow, value: unknown): unknown {
  const { type, min = 0, max = Number.POSITIVE_INFINITY, isWhole = false, choices, parts, isBroker } = row;
  if (type === 'number') {
    const isNumber =
      typeof value === 'number' && (isWhole ? Number.isInteger(value) : Number.isFinite(value));
    if (!isNumber || value < min || value > max) {
      const kind = isWhole ? 'a whole number' : 'a number';
      throw new InputError(
        name,
        value,
        `not ${kind} from ${min}${Number.isFinite(max) ? ` to ${max}` : ' on'}`,
      );
    }
  } else if (typeof value !== type) {
    throw new InputError(name, value, type === 'boolean' ? 'neither true nor false' : 'not a text');
  } else if (choices && !choices.includes(String(value))) {
    throw new InputError(name, value, `none of ${choices.join(', ')}`);
  } else if (
    parts &&
    !String(value)
      .split(',')
      .every((part) => parts.includes(part))
  ) {
    throw new InputError(name, value, `not some of ${parts.join(', ')}`);
  } else if (isBroker && value !== '' && !isBrokerAddress(String(value))) {
    throw new InputError(name, withoutSecrets(String(value)), 'not the address of a broker');
  }
  return value;
}

const isBrokerAddress = (text: string): boolean =>
  URL.canParse(text) && BROKER_SCHEME.test(new URL(text).protocol);

/** A login or a query may be secret, and where it ends in what is no address nobody can tell. */
const withoutSecrets = (text: string): string =>
  MAYBE_HOST.test(text) ? text : text.replace(/^([a-z][\w+.-]*:\/\/)?.*$/is, '$1…');

/** Nothing but a host, a port and a path. */
const MAYBE_HOST = /^([a-z][\w+.-]*:\/\/)?[\w.-]*(:\d*)?(\/[\w./-]*)?$/i;

/** How an address to listen on stands in a URL. */
export const hostInUrl = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

const flagOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Reads a command line; undefined when help was asked for. Throws for unknown flags and what an option cannot be. */
export function readArguments(args: string[]): CommandOptions | undefined {
  const rows = Object.entries(OPTIONS);
  const flags: ParseArgsConfig['options'] = { help: { type: 'boolean' } };
  for (const [name, { type }] of rows) {
    flags[flagOf(name)] = { type: type === 'boolean' ? type : 'string' };
  }
  const values: Record<string, unknown> = parseArgs({ args, options: flags, allowNegative: true }).values;
  if (values.help) {
    return undefined;
  }
  const given = rows.filter(([name]) => values[flagOf(name)] !== undefined);
  return Object.fromEntries(
    given.map(([name, row]) => [
      name,
      checkOption(name, row, readValue(name, row.type, values[flagOf(name)])),
    ]),
  );
}

function readValue(name: string, type: OptionType, value: unknown): unknown {
  if (type !== 'number') {
    return value;
  }
  const number = String(value).trim() === '' ? Number.NaN : Number(value);
  if (!Number.isFinite(number)) {
    throw new Error(`--${flagOf(name)} is not a number: ${value}`);
  }
  return number;
}

/** @param usual defaults of the command, where they are not those of the library. */
export function helpText(usual: CommandOptions = {}): string {
  const lines = Object.entries(OPTIONS).map(([name, row]) => {
    const { type, text } = row;
    const preset = usual[name as keyof ServiceOptions] ?? row.default;
    const flag = type === 'boolean' ? `--[no-]${flagOf(name)}` : `--${flagOf(name)} <${type}>`;
    const shown = name === 'kinds' ? 'all 13' : preset === '' ? 'empty' : preset;
    return `  ${flag.padEnd(30)} ${text} (${shown})`;
  });
  return ['Service in a box: REST portal, MQTT broker and gateways.', '', ...lines].join('\n');
}
