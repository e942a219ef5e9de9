// A report that somebody wants to be published now: what is left out is filled in as a gateway would send it.
import { type Device, type Fleet, type Gateway, nextSeq } from './fleet.ts';
import { GatewayAwayError, InputError } from './input-error.ts';
import { findDevice, readGateway, readMac } from './steering-fields.ts';
import { rowOfId, rowOfName } from './wire.ts';

export interface Injection {
  gateway: Gateway;
  device: string;
  /** What follows in the topic. */
  suffix: string;
  /** JSON. */
  payload: string;
  /** A sample that its device sends again until it is acknowledged. */
  sample?: { device: Device; form: 'raw' | 'decoded'; identifier: string; value: unknown };
}

type Fields = Record<string, unknown>;

/** The identifier of a report that names none. */
const USUAL_IDENTIFIER: Record<string, string> = {
  property: 'battery-level',
  measurement: 'temperature',
  'measurement-error': 'temperature',
  event: 'motion',
  timestamped: 'temperature',
};
/** The field of a report without identifier that `value` stands for, and its usual value. */
const VALUE_FIELD: Record<string, [field: string, usual: number]> = {
  heartbeat: ['status', 0],
  rssi: ['rssi', -60],
  dfu: ['rssi', -60],
  'measurement-error': ['error', 1],
};
const KINDS = [...Object.keys(USUAL_IDENTIFIER), ...Object.keys(VALUE_FIELD)];

/** @throws InputError, and what `JSON.stringify` throws */
export function readInjection(world: { fleet: Fleet; now: () => number }, given: Fields): Injection {
  const { gateway: _gateway, device: _device, kind, identifier, value, ...further } = given;
  const base = typeof kind === 'string' ? kind.replace(/-decoded$/, '') : '';
  if (!KINDS.includes(base)) {
    throw new InputError('kind', kind, `none of ${[...new Set(KINDS)].join(', ')}`);
  }
  const { gateway, mac, device } = placeOf(world.fleet, given);
  const head = { time: new Date(world.now()).toISOString(), seq: device ? nextSeq(device) : 0 };
  const address = { gateway, device: mac };
  if (!USUAL_IDENTIFIER[base]) {
    const payload = { ...withoutIdentifier(base, value, head, device ?? gateway.self), ...further };
    return { ...address, suffix: base, payload: JSON.stringify(payload) };
  }
  const form = formOf(String(kind), gateway, identifier);
  const content = contentOf(base, identifier, value, form, device);
  const suffix = `${base}${form === 'decoded' ? '-decoded' : ''}/${content.identifier}`;
  if (base !== 'timestamped') {
    return { ...address, suffix, payload: JSON.stringify({ ...head, ...content.fields, ...further }) };
  }
  const flags = form === 'raw' && { flags: '00' };
  const payload = JSON.stringify({ time: head.time, ...content.fields, ...flags, ...further });
  if (device?.home !== gateway || form !== gateway.mode || Object.keys(further).length > 0) {
    return { ...address, suffix, payload };
  }
  const sample = { device, form, identifier: content.identifier, value: content.fields.value };
  return { ...address, suffix, payload, sample };
}

/** The gateway that reports and the device that is reported; by default the first device, through its own gateway. */
function placeOf(fleet: Fleet, given: Fields): { gateway: Gateway; mac: string; device: Device | undefined } {
  const named = given.gateway === undefined ? undefined : readGateway(fleet, given.gateway);
  const first = (named ?? fleet.gateways[0])?.devices[0];
  const mac = given.device === undefined ? first?.mac : readMac('device', given.device);
  if (mac === undefined) {
    throw new InputError('device', given.device, 'no device is simulated');
  }
  const device = findDevice(fleet, mac);
  const gateway = named ?? device?.home ?? fleet.gateways[0];
  if (!gateway) {
    throw new InputError('gateway', given.gateway, 'no gateway is simulated');
  }
  if (!gateway.online) {
    throw new GatewayAwayError(gateway.mac);
  }
  return { gateway, mac, device };
}

function withoutIdentifier(base: string, value: unknown, head: Fields, device: Device): Fields {
  const [field, usual] = VALUE_FIELD[base] as [string, number];
  const about = { [field]: value ?? usual };
  if (base === 'heartbeat') {
    return { ...head, ...about, lastCount: 0 };
  }
  return { time: head.time, parent: device.parents[0]?.mac ?? device.home.mac, ...about };
}

/** That of the gateway, unless the kind or an identifier that nobody knows says which it must be. */
function formOf(kind: string, gateway: Gateway, identifier: unknown): 'raw' | 'decoded' {
  const row = rowOf(identifier);
  if (kind.endsWith('-decoded') || row?.id === '') {
    return 'decoded';
  }
  if (identifier === undefined || row) {
    return gateway.mode;
  }
  return WHOLE_ID.test(String(identifier)) ? 'raw' : 'decoded';
}

/** Bytes from 80 on say that another one follows: `dead` is a name. */
const WHOLE_ID = /^([89a-f][0-9a-f])*[0-7][0-9a-f]$/;

const rowOf = (identifier: unknown) => rowOfId(String(identifier)) ?? rowOfName(String(identifier));

/** Identifier and value in the form of the report. */
function contentOf(
  base: string,
  given: unknown,
  value: unknown,
  form: 'raw' | 'decoded',
  device: Device | undefined,
): { identifier: string; fields: Fields } {
  const wanted = given ?? USUAL_IDENTIFIER[base];
  if (typeof wanted !== 'string' || !/^[0-9a-z-]{1,100}$/.test(wanted)) {
    throw new InputError('identifier', given, 'neither hex digits nor a name');
  }
  const row = rowOf(wanted);
  const identifier = (row && (form === 'raw' ? row.id : row.name)) || wanted;
  const error = VALUE_FIELD[base];
  if (error) {
    return { identifier, fields: { [error[0]]: value ?? error[1] } };
  }
  const known = device?.values.get(row?.id ?? '');
  if (form === 'raw') {
    return { identifier, fields: rawFields(value, row, known) };
  }
  const usual = row && known !== undefined ? row.decode(Buffer.from(known, 'hex')).value : undefined;
  const decoded = value === undefined ? usual : value;
  return { identifier, fields: decoded === undefined ? {} : { value: decoded } };
}

/** Hex digits as they are where a value can be so long, or longer by an extension; anything else encoded. */
function rawFields(value: unknown, row: ReturnType<typeof rowOf>, known: string | undefined): Fields {
  if (value === undefined) {
    return known === undefined ? {} : { value: known };
  }
  const isLong = typeof value === 'string' && value.length >= 2 * (row?.size ?? 0);
  if (isLong && /^([0-9a-f]{2})*$/i.test(value)) {
    return { value: value.toLowerCase() };
  }
  try {
    return { value: row?.encode(value) ?? failEncoding() };
  } catch {
    throw new InputError('value', value, row ? `not a value of ${row.name}` : 'not hex bytes');
  }
}

function failEncoding(): never {
  throw new RangeError('identifier unknown');
}
