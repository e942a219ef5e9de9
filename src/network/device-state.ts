// What is known of one gateway or device, and what a report changes in it.
import type { RecencyEntry } from '../collections/recency-map.ts';
import { parseMac } from '../protocol/mac.ts';
import type { Report, ReportTopic } from '../protocol/reports/index.ts';
import type { Heard } from './interval.ts';
import type { Link } from './links.ts';
import type { PropertyValue } from './property-values.ts';

/** An error that the device has reported and that is not over yet. */
export interface DeviceError {
  /** Of the measurement; undefined: the `status` of a heartbeat. */
  identifier: string | undefined;
  /** By the catalogue: another gateway may report the same property in the other form. */
  name: string | undefined;
  code: number;
  /** Milliseconds of `performance.now()`. */
  heardAt: number;
}

/** Times are milliseconds of `performance.now()`. */
export interface DeviceState extends Heard, RecencyEntry<DeviceState> {
  links: Link[];
  values: PropertyValue[];
  /** Where requests without a gateway went last; undefined: nowhere yet. */
  route: string | undefined;
  /** The last report but signals was that of a device in DFU mode. */
  isDfu: boolean;
  error: DeviceError | undefined;
  /** The last event: its identifier, and when it came; undefined and 0: none yet. */
  event: string | undefined;
  eventAt: number;
}

export interface GatewayState extends Heard, RecencyEntry<GatewayState> {
  /** How many devices it hears, of those that are remembered. */
  devices: number;
}

// One literal for each: what is put together of several is slower to read, and every report does.

export function newGateway(id: string, now: number): GatewayState {
  return {
    id,
    heardAt: now,
    countedAt: now,
    intervalMs: 0,
    reports: 0,
    hearings: 1,
    isWanted: false,
    newer: undefined,
    older: undefined,
    devices: 0,
  };
}

export function newDevice(id: string, now: number): DeviceState {
  return {
    id,
    heardAt: now,
    countedAt: now,
    intervalMs: 0,
    reports: 0,
    hearings: 1,
    isWanted: false,
    newer: undefined,
    older: undefined,
    links: [],
    values: [],
    isDfu: false,
    error: undefined,
    route: undefined,
    event: undefined,
    eventAt: 0,
  };
}

export function newLink(gateway: string, parent: string, now: number): Link {
  return { gateway, parent, heardAt: now, reports: 0, signal: undefined };
}

/** The node that heard the device directly, as a signal report says it; the gateway where it does not. */
export function parentOf(report: Readonly<Report>, gateway: string): string {
  const { parent } = report;
  return (typeof parent === 'string' && parent !== gateway && parseMac(parent)) || gateway;
}

/** Notes how well a parent hears the device; a report without a signal changes nothing. */
export function setSignal(link: Link, report: Readonly<Report>, now: number): void {
  const { rssi, channel, unreachable } = report;
  // JSON has numbers beyond all.
  if (typeof rssi !== 'number' || !Number.isFinite(rssi)) {
    return;
  }
  link.signal ??= { rssi, heardAt: now, channel: 0, isUnreachable: false };
  const { signal } = link;
  signal.rssi = rssi;
  signal.heardAt = now;
  signal.channel = typeof channel === 'number' ? channel : 0;
  signal.isUnreachable = unreachable === true;
}

/** Notes what a report of a kind with its own meaning says of the device. Runs for every report. */
export function setCondition(
  device: DeviceState,
  { kind, identifier }: ReportTopic,
  report: Readonly<Report> | undefined,
  now: number,
): void {
  if (kind === 'rssi') {
    return;
  }
  device.isDfu = kind === 'dfu';
  if (kind === 'event') {
    device.eventAt = now;
    if (device.event !== identifier) {
      device.event = identifier;
    }
  }
  // A sample that comes late says nothing of now.
  if (report === undefined || report.backfill === true) {
    return;
  }
  const code = errorOf(kind, report);
  if (code !== undefined && code !== 0) {
    device.error = { identifier, name: report.name, code, heardAt: now };
  } else if (device.error !== undefined && isOver(device.error, kind, identifier, report.name, code)) {
    device.error = undefined;
  }
}

/** 0: none; undefined: the report says nothing of errors. */
function errorOf(kind: ReportTopic['kind'], report: Readonly<Report>): number | undefined {
  switch (kind) {
    case 'heartbeat':
      return numberOf(report.status);
    case 'measurement-error':
      return numberOf(report.error);
    case 'timestamped':
      return numberOf(report.errorCode);
    default:
      return undefined;
  }
}

const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** A heartbeat ends what a heartbeat has told, and a value of the same property an error of its measurement. */
function isOver(
  error: DeviceError,
  kind: ReportTopic['kind'],
  identifier: string | undefined,
  name: string | undefined,
  code: number | undefined,
): boolean {
  const isSame = error.identifier === identifier || (name !== undefined && error.name === name);
  if (!isSame) {
    return false;
  }
  return kind === 'heartbeat' ? code === 0 : identifier !== undefined && kind !== 'measurement-error';
}
