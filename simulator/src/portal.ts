// The device portal behind the REST half: devices with names and labels, tokens, firmware and jobs.
import { createHmac } from 'node:crypto';
import { type Device, FIRMWARES, type Fleet, type Gateway, MODELS, macOfGateway } from './fleet.ts';
import type { Steps } from './portions.ts';
import { createRandom, pick, type Random, whole } from './random.ts';
import { known } from './wire.ts';

/** A device of the list, as the interface shows it. */
export interface ListedDevice {
  id: string;
  friendlyName: string;
  modelNumber: string;
  labels: string[];
  bootMode: null;
  connectivity: { connected: boolean; timestamp: string };
  firmwareVersion: string;
  hardwareVersion: string;
  imei: null;
  status: null;
}

const PLACES = [
  ['kyiv-office', 'Kyiv office'],
  ['lviv-warehouse', 'Lviv warehouse'],
  ['oslo-lab', 'Oslo lab'],
  ['berlin-plant', 'Berlin plant'],
  ['tokyo-store', 'Tokyo store'],
] as const;

/** Varying numbers of fraction digits, as the service gives them. */
const timestamp = (random: Random): string =>
  `2025-0${whole(random, 1, 9)}-1${whole(random, 0, 9)}T08:10:${whole(random, 10, 59)}.${whole(random, 1, 9999)}Z`;

const firmwareOf = ({ values }: Device): string => {
  const { decode } = known('8001');
  return String(decode(Buffer.from(values.get('8001') ?? '', 'hex')).value);
};

/** One that is not `simulated` stands in the list alone. */
function makeDevice(random: Random, index: number, simulated?: Device): ListedDevice {
  const [place, placeName] = PLACES[index % PLACES.length] ?? PLACES[0];
  const floor = (Math.floor(index / PLACES.length) % 4) + 1;
  const labels: string[] = [place, `floor-${floor}`];
  if (random() < 0.1) {
    labels.push('spare');
  }
  return {
    id: `bmac-${macOfGateway(index)}`,
    friendlyName: `${placeName}, floor ${floor}, gateway ${index + 1}`,
    modelNumber: index % 10 === 9 ? '2012' : '2011',
    labels,
    bootMode: null,
    connectivity: { connected: simulated !== undefined || random() < 0.85, timestamp: timestamp(random) },
    firmwareVersion: simulated ? firmwareOf(simulated) : pick(random, FIRMWARES),
    hardwareVersion: pick(random, ['1.2', '1.3']),
    imei: null,
    status: null,
  };
}

/** Starts every token with `+//+`, so that a client which does not encode it in the URL fails at once. */
const TOKEN_HEAD = Buffer.from([0xfb, 0xff, 0xfe]);

export const pageToken = (offset: number): string =>
  Buffer.concat([TOKEN_HEAD, Buffer.from(String(offset).padStart(8, '0'))]).toString('base64');

/** The offset in a page token; undefined when it is not one of ours. */
export function offsetOfToken(token: string): number | undefined {
  const bytes = Buffer.from(token, 'base64');
  const offset = Number(bytes.subarray(3).toString());
  return pageToken(offset) === token ? offset : undefined;
}

export interface Job {
  id: string;
  state: 'queued';
  request: unknown;
}

/** Everything the portal knows; changed by calls. */
export interface Portal {
  devices: ListedDevice[];
  byId: Map<string, ListedDevice>;
  labels: Set<string>;
  jobs: Job[];
  firmwares: { version: string; model: string }[];
}

/** What things are called in the one building in which all that is simulated stands. */
const NAMES: Record<Device['role'], readonly string[]> = {
  gateway: ['Lobby', 'Office', 'Workshop', 'Warehouse', 'Laboratory'],
  extender: ['Corridor'],
  sensor: ['Meeting room', 'Kitchen', 'Server room', 'Archive'],
  tag: ['Trolley', 'Projector', 'Ladder'],
};

const nameOf = (role: Device['role'], number: number): string =>
  NAMES[role][number % NAMES[role].length] ?? '';

const labelsOf = (floor: number): string[] => [PLACES[0][0], `floor-${floor}`];

/** A device below a gateway, as a service that lists those, too, would show it: the floor and the number on the door. */
const belowGateway = (random: Random, device: Device, floor: number, index: number): ListedDevice => ({
  ...makeDevice(random, 0, device),
  id: `bmac-${device.mac}`,
  friendlyName: `${nameOf(device.role, Math.floor(index / 2))} ${floor}.${10 + index}`,
  modelNumber: String(MODELS[device.role]),
  labels: labelsOf(floor),
});

/** Names as people give them, for gateways and for what is below them; each gateway is on a floor of its own. */
function* nameAll(random: Random, devices: ListedDevice[], gateways: readonly Gateway[]): Steps<void> {
  for (const [index, device] of devices.slice(0, gateways.length).entries()) {
    device.friendlyName = index < NAMES.gateway.length ? nameOf('gateway', index) : `Floor ${index + 1}`;
    device.labels = labelsOf(index + 1);
  }
  const below: ListedDevice[] = [];
  for (const [number, gateway] of gateways.entries()) {
    for (const [index, device] of gateway.devices.entries()) {
      below.push(belowGateway(random, device, number + 1, index));
      yield;
    }
  }
  devices.splice(gateways.length, below.length, ...below.slice(0, devices.length - gateways.length));
}

/**
 * @param listed number of devices; the first ones are the gateways of the fleet, and when all are `named` what is
 * below them
 */
export function* createPortal(seed: number, listed: number, fleet: Fleet, named: boolean): Steps<Portal> {
  const random = createRandom(seed + 1);
  const devices: ListedDevice[] = [];
  for (let index = 0; index < listed; index++) {
    devices.push(makeDevice(random, index, fleet.gateways[index]?.self));
    yield;
  }
  if (named) {
    yield* nameAll(random, devices, fleet.gateways);
  }
  return {
    devices,
    byId: new Map(devices.map((device) => [device.id, device])),
    labels: new Set(devices.flatMap(({ labels }) => labels)),
    jobs: [],
    firmwares: FIRMWARES.map((version) => ({ version, model: '2011' })),
  };
}

const encodePart = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Signs and checks the bearer tokens of one service; `lifetime` in seconds may change at any time. */
export class Tokens {
  lifetime: number;
  readonly #now: () => number;
  #serial = 0;
  #validFrom = 0;

  constructor(lifetime: number, now: () => number) {
    this.lifetime = lifetime;
    this.#now = now;
  }

  issue(username: string): string {
    const seconds = this.#now() / 1000;
    const claims = { sub: username, jti: ++this.#serial, iat: seconds, exp: seconds + this.lifetime };
    const body = `${encodePart({ alg: 'HS256', typ: 'JWT' })}.${encodePart(claims)}`;
    return `${body}.${this.#sign(body)}`;
  }

  /** Makes every token issued so far invalid. */
  revoke(): void {
    this.#validFrom = this.#serial + 1;
  }

  accepts(token: string): boolean {
    const [head, body, signature] = token.split('.');
    if (!body || this.#sign(`${head}.${body}`) !== signature) {
      return false;
    }
    const { jti, exp } = JSON.parse(Buffer.from(body, 'base64url').toString());
    return jti >= this.#validFrom && exp * 1000 > this.#now();
  }

  #sign(text: string): string {
    return createHmac('sha256', 'service in a box').update(text).digest('base64url');
  }
}
