// What a gateway answers: reads and writes its devices' state, takes acknowledgements, refuses what a gateway would.
import { type Device, type Gateway, MODE, settingsFromFactory } from './fleet.ts';
import { age } from './measuring.ts';
import type { SampleBook } from './samples.ts';
import { rowOfId, rowOfName, type WireRow } from './wire.ts';

/** Non-zero codes of our own invention: the interface lists none. */
export const STATUS = {
  ok: 0,
  badRequest: 1,
  notForDevices: 2,
  unknownDevice: 3,
  unknownIdentifier: 4,
  notWritable: 5,
  badValue: 6,
  busy: 7,
  noSuchSample: 8,
  noAnswer: 9,
} as const;

export interface OperationRequest {
  gateway: Gateway;
  device: string;
  operation: string;
  identifier: string | undefined;
  payload: Record<string, unknown>;
}

export interface Ground {
  book: SampleBook;
  /** The names of the operations for raw and decoded samples. */
  ackOperations: readonly [raw: string, decoded: string];
  now: () => number;
  /** Called when a property was written. */
  written(device: Device, id: string): void;
  /** Called when a device was told to report all its properties. */
  reportProperties(device: Device): void;
  /** Called with every acknowledgement of a sample. */
  acknowledged(sample: { gateway: string; device: string; identifier: string; time: string }): void;
}

/** A refusal; its text is for people. */
class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

type Operation = (ground: Ground, request: OperationRequest, device: Device) => Record<string, unknown>;

function checkOptions({ operation, payload }: OperationRequest): void {
  const { priority, extenderId, accessType } = payload;
  if (
    priority !== undefined &&
    !(Number.isInteger(priority) && Number(priority) >= 0 && Number(priority) <= 4)
  ) {
    throw new Refusal(STATUS.badRequest, 'priority is not 0 to 4');
  }
  const hex = operation.startsWith('write') ? /^([0-9A-F]{2})+$/ : /^([0-9a-f]{2})+$/;
  if (extenderId !== undefined && !(typeof extenderId === 'string' && hex.test(extenderId))) {
    throw new Refusal(STATUS.badRequest, 'extenderId is not hex in the letter case of this operation');
  }
  if (accessType !== undefined && accessType !== 'unprovisioned' && accessType !== 'legacy') {
    throw new Refusal(STATUS.badRequest, 'accessType unknown');
  }
  for (const name of ['publicKey', 'key']) {
    const value = payload[name];
    if (value !== undefined && !(typeof value === 'string' && /^([0-9a-f]{2})+$/i.test(value))) {
      throw new Refusal(STATUS.badRequest, `${name} is not hex`);
    }
  }
}

function rowFor(request: OperationRequest, decoded: boolean): WireRow {
  const identifier = request.identifier ?? '';
  const row = decoded ? rowOfName(identifier) : rowOfId(identifier);
  if (!row?.id || row.access === 'event') {
    throw new Refusal(STATUS.unknownIdentifier, 'identifier unknown');
  }
  return row;
}

function read(
  ground: Ground,
  request: OperationRequest,
  device: Device,
  decoded: boolean,
): Record<string, unknown> {
  age(device, ground.now());
  checkOptions(request);
  const row = rowFor(request, decoded);
  const hex = device.values.get(row.id);
  if (hex === undefined) {
    throw new Refusal(STATUS.unknownIdentifier, 'the device has no such property');
  }
  return decoded ? { ...row.decode(Buffer.from(hex, 'hex')) } : { value: hex };
}

function rawValue(value: unknown, row: WireRow): string {
  if (value === null || value === undefined || value === '') {
    return '';
  }
  if (typeof value !== 'string' || !/^([0-9a-f]{2})+$/i.test(value)) {
    throw new Refusal(STATUS.badValue, 'value is not hex');
  }
  if (row.size !== undefined && value.length < row.size * 2) {
    throw new Refusal(STATUS.badValue, 'value too short');
  }
  return value.toLowerCase();
}

function decodedValue(payload: Record<string, unknown>, row: WireRow): string {
  const { value, ext } = payload;
  if (value === null || value === undefined) {
    return '';
  }
  try {
    return row.encode(value, ext);
  } catch {
    throw new Refusal(STATUS.badValue, 'value does not fit the identifier');
  }
}

const COMMANDS: Record<string, (ground: Ground, device: Device) => void> = {
  '8300': (_ground, device) => {
    device.values.set('8101', '00000000');
    device.values.set('8102', '04');
  },
  '8301': (_ground, device) => {
    for (const [id, hex] of settingsFromFactory()) {
      device.values.set(id, hex);
    }
  },
  '8302': (ground, device) => {
    if (device.reporting) {
      throw new Refusal(STATUS.busy, 'busy');
    }
    device.reporting = true;
    ground.reportProperties(device);
  },
};

function write(
  ground: Ground,
  request: OperationRequest,
  device: Device,
  decoded: boolean,
): Record<string, unknown> {
  checkOptions(request);
  const row = rowFor(request, decoded);
  const hex = decoded ? decodedValue(request.payload, row) : rawValue(request.payload.value, row);
  if (row.access === 'read') {
    throw new Refusal(STATUS.notWritable, 'not writable');
  }
  const command = COMMANDS[row.id];
  if (command) {
    command(ground, device);
  } else if (hex === '') {
    throw new Refusal(STATUS.badValue, 'this property needs a value');
  } else {
    device.values.set(row.id, hex);
    ground.written(device, row.id);
  }
  return {};
}

function acknowledge(ground: Ground, request: OperationRequest): Record<string, unknown> {
  const { gateway, device, identifier = '', payload } = request;
  const time = typeof payload.time === 'string' ? payload.time : '';
  const result = ground.book.acknowledge(gateway.mac, device, identifier, time);
  if (result === 'unknown') {
    throw new Refusal(STATUS.noSuchSample, 'no such sample');
  }
  if (result === 'impossible') {
    throw new Refusal(STATUS.busy, 'firmware update in progress');
  }
  ground.acknowledged({ gateway: gateway.mac, device, identifier, time });
  return {};
}

function apiVersion(_ground: Ground, { gateway, device }: OperationRequest): Record<string, unknown> {
  if (device !== gateway.mac) {
    throw new Refusal(STATUS.notForDevices, 'apiversion is for the gateway only');
  }
  return { version: '2.4.0' };
}

const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['apiversion', apiVersion],
  ['read', (ground, request, device) => read(ground, request, device, false)],
  ['read-decoded', (ground, request, device) => read(ground, request, device, true)],
  ['write', (ground, request, device) => write(ground, request, device, false)],
  ['write-decoded', (ground, request, device) => write(ground, request, device, true)],
]);

function operationOf(ground: Ground, name: string): Operation {
  if (ground.ackOperations.includes(name)) {
    return acknowledge;
  }
  const operation = OPERATIONS.get(name);
  if (!operation) {
    throw new Refusal(STATUS.badRequest, 'operation unknown');
  }
  return operation;
}

/** Who answered, and over which way: 0 the device itself, 1 through an extender, 32 the gateway instead of it. */
function wayTo(
  device: Device | undefined,
  gateway: Gateway,
  payload: Record<string, unknown>,
): Record<string, unknown> {
  if (!device || device.silent) {
    return { origin: 32 };
  }
  if (device.values.get('8110') !== MODE.unconnected) {
    const hops = device === gateway.self ? [] : [device.parents.at(-1)?.mac, device.mac];
    return { origin: 0, route: [gateway.mac, ...hops].join('/') };
  }
  const given = typeof payload.extenderId === 'string' ? payload.extenderId : undefined;
  const extenderId = (given ?? device.parents.at(-1)?.mac ?? gateway.mac).toLowerCase();
  return { origin: 1, extenderId, extenderRoute: `${gateway.mac}/${extenderId}` };
}

const findDevice = (gateway: Gateway, mac: string): Device | undefined =>
  mac === gateway.mac ? gateway.self : gateway.devices.find((device) => device.mac === mac);

/** The whole response of a gateway but its `time` and `responseTime`. */
export function answer(ground: Ground, request: OperationRequest): Record<string, unknown> {
  const { gateway, payload } = request;
  const device = findDevice(gateway, request.device);
  const id = typeof payload.id === 'string' ? { id: payload.id } : {};
  try {
    const operation = operationOf(ground, request.operation);
    if (!device) {
      throw new Refusal(STATUS.unknownDevice, 'device unknown');
    }
    if (device.silent) {
      throw new Refusal(STATUS.noAnswer, 'device does not answer');
    }
    const result = operation(ground, request, device);
    return { ...id, status: STATUS.ok, ...wayTo(device, gateway, payload), ...result };
  } catch (error) {
    if (!(error instanceof Refusal)) {
      throw error;
    }
    return { ...id, status: error.status, errorMessage: error.message, ...wayTo(device, gateway, payload) };
  }
}
