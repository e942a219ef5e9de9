// One gateway or device as people see it: a row of a list with the few values in it, and everything that is known of it.
import type { Catalogue } from '../protocol/catalogue.ts';
import { conditionsOf } from '../protocol/conditions.ts';
import { isCalled } from '../protocol/identifiers.ts';
import type { LinkRow, NearRow, NetworkDetails, NetworkRow, ValueRow } from '../protocol/network-row.ts';
import { shownError } from './device-errors.ts';
import type { DeviceState, GatewayState } from './device-state.ts';
import { type Link, linkOf } from './links.ts';
import type { Lit } from './near-devices.ts';
import type { NetworkState } from './network-state.ts';
import { presenceOf, signalOf } from './presence.ts';
import { type PropertyValue, valueTime } from './property-values.ts';
import { batterySpellings } from './readings.ts';
import { wallTime } from './wall-time.ts';

/** Of one row of a list. */
const MAX_ROW_VALUES = 3;
/** What people look for first. */
const SOUGHT = ['temperature', 'humidity', 'motion', 'light-intensity', 'pressure', 'alarm'];

/** What the REST half knows of a gateway or a device. */
export interface ListedDevice {
  readonly id: string;
  /** 12 lowercase hex digits; empty when the id has another form. */
  readonly mac: string;
  readonly name: string;
  readonly labels: readonly string[];
  readonly connected: boolean;
  readonly model: string;
}

/** What the rows are made of. */
export interface NetworkSource {
  network: NetworkState;
  catalogue: Catalogue;
  nameOf(mac: string): string | undefined;
  /** Of the list of devices as it is known; asks nobody. */
  listed(mac: string): ListedDevice | undefined;
  allListed(): Iterable<ListedDevice>;
}

/** What a row is of: what reports have shown, what the REST half knows, or both. */
export interface Subject {
  /** The MAC; the REST id where there is none. */
  id: string;
  kind: 'gateway' | 'device';
  /** The gateway that it is listed under; undefined: none. */
  parent: string | undefined;
  device: Readonly<DeviceState> | undefined;
  gateway: Readonly<GatewayState> | undefined;
  listed: ListedDevice | undefined;
  /** Of a gateway, where only those in need are asked for: how many of its devices are. */
  inNeed?: number;
}

/** What people call it; undefined where it has no name of its own: the list shows its id then. */
export function ownName({ nameOf }: NetworkSource, { id, listed }: Subject): string | undefined {
  return nameOf(id) ?? (listed && listed.name !== listed.id ? listed.name : undefined);
}

/** How well the parent of the row hears it, in dBm; without one, the best of all. */
export const rssiOf = ({ device, parent }: Subject): number | undefined => device && signalOf(device, parent);

function toNear(
  { catalogue }: NetworkSource,
  { reason, identifier, rssi, usual, at }: Readonly<Lit>,
): NearRow {
  const name = identifier === undefined ? undefined : catalogue.find(identifier)?.name;
  return {
    reason,
    identifier: identifier ?? null,
    name: name || null,
    rssi: rssi ?? null,
    usual: usual ?? null,
    time: wallTime(at),
  };
}

/** @param lit a person who looks for it may have it in the hand */
export function toRow(source: NetworkSource, subject: Subject, lit?: Readonly<Lit>): NetworkRow {
  const { id, kind, parent, device, gateway, listed } = subject;
  const presence = presenceOf(source, subject);
  const conditions = presence ? conditionsOf(presence) : [];
  const heard = gateway ?? device;
  const intervalMs = presence?.intervalMs;
  return {
    id,
    name: ownName(source, subject) ?? id,
    kind,
    parent: parent ?? null,
    lastSeen: heard ? wallTime(heard.heardAt) : null,
    interval: intervalMs === undefined ? null : Math.round(intervalMs / 100) / 10,
    silent: conditions.includes('silent') || conditions.includes('gateway-silent'),
    rssi: kind === 'gateway' ? null : (rssiOf(subject) ?? null),
    battery: presence?.battery ?? null,
    devices: gateway ? countDevices(gateway, device) : null,
    values: soughtValues(source, device?.values ?? []),
    conditions,
    labels: listed?.labels ?? [],
    connected: listed?.connected ?? null,
    ...(subject.inNeed !== undefined && { inNeed: subject.inNeed }),
    ...(lit && { near: toNear(source, lit) }),
  };
}

/** A gateway that reports of itself is none of its devices. */
function countDevices({ id, devices }: Readonly<GatewayState>, own: Subject['device']): number {
  return own !== undefined && linkOf(own.links, id) !== undefined ? Math.max(0, devices - 1) : devices;
}

export function toDetails(source: NetworkSource, subject: Subject): NetworkDetails {
  const { device, gateway, listed, id } = subject;
  const error = device && shownError(device);
  const nameOf = (identifier: string | undefined) =>
    (identifier !== undefined && source.catalogue.find(identifier)?.name) || null;
  return {
    ...toRow(source, subject),
    values: newestOfEach(source, device?.values ?? []).map((value) => toValueRow(source, value)),
    gateway: (subject.kind === 'gateway' ? id : source.network.gatewayOf(id)) ?? null,
    model: listed?.model || null,
    dfu: presenceOf(source, subject)?.isDfu ?? false,
    count: (gateway ?? device)?.reports ?? 0,
    event:
      device?.event === undefined
        ? null
        : {
            identifier: device.event,
            name: nameOf(device.event),
            lastSeen: wallTime(device.eventAt),
          },
    error: error
      ? {
          identifier: error.identifier ?? null,
          name: nameOf(error.identifier),
          code: error.code,
          lastSeen: wallTime(error.heardAt),
        }
      : null,
    heardBy: (device?.links ?? []).map((link) => toLinkRow(source, link)),
  };
}

function toLinkRow(source: NetworkSource, { gateway, parent, signal, heardAt, reports }: Link): LinkRow {
  return {
    gateway,
    parent,
    name: source.nameOf(parent) ?? parent,
    gatewayName: source.nameOf(gateway) ?? null,
    rssi: signal?.rssi ?? null,
    channel: signal?.channel || null,
    unreachable: signal?.isUnreachable ?? false,
    lastSeen: wallTime(heardAt),
    count: reports,
  };
}

/** A device may report a property raw and decoded, which are two values of one. */
function newestOfEach({ catalogue }: NetworkSource, values: readonly PropertyValue[]): PropertyValue[] {
  const found = new Map<unknown, PropertyValue>();
  for (const value of values) {
    const property = catalogue.find(value.identifier) ?? value.identifier;
    const known = found.get(property);
    if (known === undefined || (value.value !== undefined && valueTime(value) >= valueTime(known))) {
      found.set(property, value);
    }
  }
  return [...found.values()];
}

/** The newest of each property that people look for, in this order, then the other ones that came last. */
function soughtValues(source: NetworkSource, values: readonly PropertyValue[]): ValueRow[] {
  const ranked: { rank: number; value: PropertyValue }[] = [];
  const battery = batterySpellings(source.catalogue);
  for (const value of newestOfEach(source, values)) {
    const row = source.catalogue.find(value.identifier);
    if (value.value !== undefined && !battery.has(value.identifier)) {
      const at = SOUGHT.findIndex((sought) => row && isCalled(row, sought));
      ranked.push({ rank: at < 0 ? SOUGHT.length : at, value });
    }
  }
  ranked.sort((a, b) => a.rank - b.rank || valueTime(b.value) - valueTime(a.value));
  return ranked.slice(0, MAX_ROW_VALUES).map(({ value }) => toValueRow(source, value));
}

function toValueRow({ catalogue }: NetworkSource, { identifier, value, time }: PropertyValue): ValueRow {
  const { name, unit } = catalogue.find(identifier) ?? {};
  return { identifier, name: name || null, value: value ?? null, unit: unit ?? null, time: time ?? null };
}
