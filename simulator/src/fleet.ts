// The simulated network: gateways, and the devices below them with their state; addresses do not depend on the seed.
import { distanceOf, middleOf, type Place, placeIn } from './floor-plan.ts';
import type { Steps } from './portions.ts';
import { between, createRandom, pick, type Random, whole } from './random.ts';
import { known } from './wire.ts';

export type Mode = 'raw' | 'decoded';

/** A node that hears a device. */
export interface Parent {
  mac: string;
  place: Place;
}

export interface Device {
  mac: string;
  role: 'gateway' | 'extender' | 'sensor' | 'tag';
  home: Gateway;
  /** A second gateway that hears the device too. */
  alsoHeardBy?: Gateway;
  parents: Parent[];
  place: Place;
  seq: number;
  /** Identifier → hex, the device's memory. */
  values: Map<string, string>;
  /** What sensors drift around, by identifier. */
  means: Map<string, number>;
  /** Identifiers that it measures. */
  measures: readonly string[];
  transitions: number;
  /** True while all its properties are being reported, when a second request for them fails. */
  reporting: boolean;
  /** Identifiers whose value was set from outside and stays. */
  held: Set<string>;
  /** Sends nothing and answers nothing. */
  silent: boolean;
  /** How many measurements and properties it has reported: the next ones are in turn. */
  measured: number;
  reported: number;
  battery: Battery;
  /** Milliseconds of the clock: when each identifier was measured last, and until when it has aged. */
  measuredAt: Map<string, number>;
  agedAt: number;
}

export interface Battery {
  /** Percent. */
  level: number;
  perHour: number;
}

export interface Gateway {
  mac: string;
  mode: Mode;
  online: boolean;
  /** The gateway as a device of its own network, addressed by d = g. */
  self: Device;
  devices: Device[];
}

export interface Fleet {
  gateways: Gateway[];
  devices: Device[];
  gatewayOf(mac: string): Gateway | undefined;
}

const FIRST_GATEWAY = 0xc0141f68fc3d;
const FIRST_DEVICE = 0xe4a7c5102030;

const hexMac = (address: number): string => address.toString(16).padStart(12, '0');

/** MACs are spread a little, as a delivery of gateways has them. */
export const macOfGateway = (index: number): string => hexMac(FIRST_GATEWAY + index * 0x11);
const macOfDevice = (gateway: number, index: number): string =>
  hexMac(FIRST_DEVICE + gateway * 0x10000 + index * 0x7);

/** The device that the demo and the samples speak of: a sensor of the first gateway, firmware 3.4.1. */
export const DEMO = { gateway: macOfGateway(0), device: macOfDevice(0, 0) } as const;

/** The gateways have them in turn: of two, one is behind. */
export const FIRMWARES = ['3.4.1', '3.3.2', '3.4.0', '3.5.0-beta.2', '2.9.7'] as const;

const MEASURES = {
  gateway: ['8800'],
  extender: ['8103'],
  sensor: ['8800', '8802', '8801'],
  tag: ['8810', '8803', '8800'],
} as const satisfies Record<Device['role'], readonly string[]>;

export const MODELS = { gateway: 2011, extender: 2020, sensor: 2102, tag: 2103 } as const;

const encode = (id: string, value: unknown): string => known(id).encode(value);

let factorySettings: readonly (readonly [string, string])[] | undefined;

/** What a factory reset gives back. */
export function settingsFromFactory(): readonly (readonly [string, string])[] {
  factorySettings ??= [
    ['8110', encode('8110', 'connected')],
    ['8200', '07100a05000000'],
    ['9800', '00'],
    ['9801', '00'],
    ['9802', encode('9802', 4)],
    ['9803', encode('9803', 3000)],
    ['9804', encode('9804', { interval: 1000, denominator: 1 })],
    ['9805', encode('9805', { interval: 200, denominator: 1 })],
    ['9806', encode('9806', { interval: 100, denominator: 2 })],
    ['9807', encode('9807', { interval: 10240, denominator: 4 })],
    ['9808', encode('9808', 60)],
    ['9809', '00'],
  ];
  return factorySettings;
}

function makeDevice(
  mac: string,
  role: Device['role'],
  home: Gateway,
  firmware: string,
  place: Place,
  random: Random,
): Device {
  const means = new Map([
    ['8800', between(random, 17, 25)],
    ['8801', between(random, 985, 1030)],
    ['8802', between(random, 30, 60)],
    ['8803', between(random, 50, 600)],
    ['8103', between(random, 2700, 3300)],
  ]);
  const level = whole(random, 35, 100);
  const values = new Map<string, string>([
    ['8000', encode('8000', MODELS[role])],
    ['8001', encode('8001', firmware)],
    ['8002', encode('8002', '1.2')],
    ['8003', mac],
    ['8007', '00'],
    ['8100', encode('8100', level)],
    ['8101', encode('8101', whole(random, 1000, 5_000_000))],
    ['8102', '00'],
    ['8810', '00'],
    ['8813', encode('8813', whole(random, 0, 50_000))],
    ...settingsFromFactory(),
  ]);
  for (const [id, mean] of means) {
    values.set(id, encode(id, mean));
  }
  const seq = whole(random, 0, 255);
  return {
    ...{ mac, role, home, parents: [], place, seq, values, means, measures: MEASURES[role], transitions: 0 },
    ...{ reporting: false, held: new Set(), silent: false, measured: 0, reported: 0 },
    battery: { level, perHour: between(random, 0.5, 6) },
    measuredAt: new Map(),
    agedAt: 0,
  };
}

const roleOf = (index: number): Device['role'] =>
  index % 4 === 1 ? 'extender' : index % 4 === 2 ? 'tag' : 'sensor';

function* addDevices(gateway: Gateway, number: number, count: number, random: Random): Steps<void> {
  for (let index = 0; index < count; index++) {
    const isDemo = number === 0 && index === 0;
    const firmware = isDemo ? FIRMWARES[0] : pick(random, FIRMWARES);
    const place = placeIn(random, number);
    const mac = macOfDevice(number, index);
    gateway.devices.push(makeDevice(mac, roleOf(index), gateway, firmware, place, random));
    yield;
  }
  const extenders = gateway.devices.filter(({ role }) => role === 'extender').slice(0, MAX_EXTENDERS);
  for (const device of gateway.devices) {
    const near = nearest(
      device,
      extenders.filter((extender) => extender !== device),
      3,
    );
    device.parents = [gateway.self, ...near].map(({ mac, place }) => ({ mac, place }));
    yield;
  }
}

/** More of them make no difference to who is near, and looking for the nearest takes its time. */
const MAX_EXTENDERS = 16;

function nearest(device: Device, others: Device[], count: number): Device[] {
  const far = others.map((other) => ({ other, distance: distanceOf(device.place, other.place) }));
  far.sort((a, b) => a.distance - b.distance);
  return far.slice(0, count).map(({ other }) => other);
}

export interface FleetOptions {
  seed: number;
  gateways: number;
  devices: number;
  /** Devices in all, spread evenly; 0: `devices` below each gateway. */
  allDevices: number;
  mode: Mode | 'mixed';
}

function devicesBelow({ allDevices, devices, gateways }: FleetOptions, number: number): number {
  return allDevices > 0 ? Math.floor((allDevices + gateways - 1 - number) / gateways) : devices;
}

/**
 * Builds the network of a seed. With `mixed`, every second gateway is in decoded mode. The last device of the
 * first gateway is in DFU mode; every fifth device is heard by the next gateway as well.
 */
export function* createFleet(options: FleetOptions): Steps<Fleet> {
  const random = createRandom(options.seed);
  const gateways: Gateway[] = [];
  for (let number = 0; number < options.gateways; number++) {
    const mode = options.mode === 'mixed' ? (number % 2 ? 'decoded' : 'raw') : options.mode;
    const gateway = { mac: macOfGateway(number), mode, online: true, devices: [] } as unknown as Gateway;
    const firmware = FIRMWARES[number % FIRMWARES.length] ?? FIRMWARES[0];
    gateway.self = makeDevice(gateway.mac, 'gateway', gateway, firmware, middleOf(number), random);
    yield* addDevices(gateway, number, devicesBelow(options, number), random);
    gateways.push(gateway);
  }
  gateways.forEach((gateway, number) => {
    const neighbour = gateways[(number + 1) % gateways.length];
    if (!neighbour || neighbour === gateway) {
      return;
    }
    for (const device of gateway.devices.filter((_, index) => index % 5 === 3)) {
      device.alsoHeardBy = neighbour;
    }
  });
  if (devicesBelow(options, 0) > 1) {
    gateways[0]?.devices.at(-1)?.values.set('8110', '01');
  }
  const byMac = new Map(gateways.map((gateway) => [gateway.mac, gateway]));
  return {
    gateways,
    devices: gateways.flatMap((gateway) => gateway.devices),
    gatewayOf: (mac) => byMac.get(mac),
  };
}

/** Values of identifier 8110 on the wire. */
export const MODE = { dfu: '01', connected: '02', storage: '03', unconnected: '04' } as const;

/** Whether a device reports what it measures: in update mode it sends its advertisement alone, in storage mode nothing. */
export function sendsReports({ silent, values }: Device): boolean {
  const mode = values.get('8110');
  return !silent && mode !== MODE.storage && mode !== MODE.dfu;
}

/** The next sequence number of a device: 0 to 255, then 0 again. */
export function nextSeq(device: Device): number {
  device.seq = (device.seq + 1) & 0xff;
  return device.seq;
}
