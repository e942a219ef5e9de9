// What is known of one gateway or device, and what a report changes in it.
import type { RecencyEntry } from '../collections/recency-map.ts';
import { parseMac } from '../protocol/mac.ts';
import type { Report, ReportTopic } from '../protocol/reports/index.ts';
import { NO_PAUSES } from './absences.ts';
import { type DeviceError, keptIdentifier, NO_ERRORS, setErrors } from './device-errors.ts';
import { type Heard, type HeardGateway, MIN_HEARINGS } from './interval.ts';
import { countBefore, isSignal, type Link } from './links.ts';
import { isPropertyName, type PropertyValue } from './property-values.ts';

/** What was not heard for so long has no precedence over what is new. */
const GONE_MS = 24 * 3_600_000;

/** Times are milliseconds of `performance.now()`. */
export interface DeviceState extends Heard, RecencyEntry<DeviceState> {
  links: Link[];
  values: PropertyValue[];
  /** Where requests without a gateway went last; undefined: nowhere yet. */
  route: string | undefined;
  /** The last report but signals was that of a device in DFU mode. */
  isDfu: boolean;
  /** It has reported anything but signals and that it is in DFU mode: in that mode a device may have another address. */
  hasReported: boolean;
  /** Those that are not over; see `shownError`. */
  errors: readonly DeviceError[];
  /** The last event: its identifier, and when it came; undefined and 0: none yet. */
  event: string | undefined;
  eventAt: number;
}

/** A device that a gateway hears often. */
export interface Quick {
  readonly device: Readonly<DeviceState>;
  /** How the gateway hears it. */
  readonly link: Readonly<Link>;
  heardAt: number;
  /** Since then it had no pause. */
  steadySince: number;
}

/** All times are milliseconds of `performance.now()`. */
export interface Outages {
  /** The devices that it hears most often, of those that are there. */
  quickest: readonly Quick[];
  /** When it was heard first after it was away. */
  backAt: number;
  /** When it was heard first at all, or after a pause in which a device was missed that comes else. */
  missedAt: number;
}

export interface GatewayState extends HeardGateway, Outages, RecencyEntry<GatewayState> {
  quickest: Outages['quickest'];
}

const NO_DEVICES: GatewayState['quickest'] = [];

// One literal for each: what is put together of several is slower to read, and every report does.

export function newGateway(id: string, now: number): GatewayState {
  return {
    id,
    heardAt: now,
    countedAt: now,
    taughtAt: now,
    intervalMs: 0,
    pauseMs: 0,
    reports: 0,
    hearings: 1,
    hasHabits: false,
    learning: undefined,
    isWanted: false,
    before: undefined,
    after: undefined,
    list: undefined,
    latest: undefined,
    othersAt: Number.NEGATIVE_INFINITY,
    countedOf: undefined,
    devices: 0,
    quickest: NO_DEVICES,
    alonePauseMs: 0,
    longPauses: NO_PAUSES,
    backAt: Number.NEGATIVE_INFINITY,
    missedAt: now,
  };
}

export function newDevice(id: string, now: number): DeviceState {
  return {
    id,
    heardAt: now,
    countedAt: now,
    taughtAt: now,
    intervalMs: 0,
    pauseMs: 0,
    reports: 0,
    hearings: 1,
    hasHabits: false,
    learning: undefined,
    isWanted: false,
    before: undefined,
    after: undefined,
    list: undefined,
    links: [],
    values: [],
    isDfu: false,
    hasReported: false,
    errors: NO_ERRORS,
    route: undefined,
    event: undefined,
    eventAt: 0,
  };
}

/**
 * Whether it was heard a few times only, or not for long: it is forgotten before others, as anybody may publish addresses that
 * there are not.
 */
export const isPasserBy = (heard: Readonly<Heard>, now: number): boolean =>
  heard.hearings < MIN_HEARINGS || now - heard.heardAt > GONE_MS;

/** @param links that the device has already */
export function newLink(links: readonly Link[], gateway: string, parent: string, now: number): Link {
  const before = countBefore(links);
  return { gateway, parent, heardAt: now, reports: 0, lately: 0, before, signal: undefined };
}

/** The node that heard the device directly, as a signal report says it; the gateway where it does not. */
export const parentOf = ({ parent }: Readonly<Report>, gateway: string): string =>
  parseMac(parent) ?? gateway;

/** Notes how well a parent hears the device; a report without a signal changes nothing. */
export function setSignal(link: Link, report: Readonly<Report>, now: number): void {
  const { rssi, channel, unreachable } = report;
  if (!isSignal(rssi)) {
    return;
  }
  link.signal ??= { rssi, heardAt: now, channel: 0, isUnreachable: false };
  const { signal } = link;
  signal.rssi = rssi;
  signal.heardAt = now;
  signal.channel = typeof channel === 'number' ? channel : 0;
  signal.isUnreachable = unreachable === true;
}

/** An address of a device that is updated, which it gives up after that: nobody misses it. */
export const isOfDfuOnly = ({ isDfu, hasReported }: Readonly<DeviceState>): boolean => isDfu && !hasReported;

/** Notes what a report of a kind with its own meaning says of the device. Runs for every report. */
export function setCondition(
  device: DeviceState,
  at: ReportTopic,
  report: Readonly<Report> | undefined,
  now: number,
): void {
  const { kind, identifier } = at;
  if (kind === 'rssi') {
    return;
  }
  device.isDfu = kind === 'dfu';
  device.hasReported ||= kind !== 'dfu';
  // A longer one is none of a device.
  if (kind === 'event' && identifier !== undefined && isPropertyName(identifier)) {
    device.eventAt = now;
    if (device.event !== identifier) {
      device.event = keptIdentifier(device, identifier);
    }
  }
  // A sample that comes late says nothing of now.
  if (report !== undefined && report.backfill !== true) {
    setErrors(device, at, report, now);
  }
}
