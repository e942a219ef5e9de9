// When a gateway was away: the devices that it hears most often stayed away all together.
import type { DeviceState, GatewayState } from './device-state.ts';
import { usualIntervalMs } from './interval.ts';
import { linkOf } from './links.ts';
import type { Listening } from './listening.ts';

/** It takes two: one alone may have been away itself. */
const QUICKEST = 2;
/** One that was not heard for so many of its usual intervals is not there: two reports in a row are lost seldom, of two devices hardly. */
const MISSED_INTERVALS = 2.2;
/** A shorter absence makes no device silent. */
const MIN_AWAY_MS = 20_000;

/** All times are milliseconds of `performance.now()`. */
export interface Outages {
  /** The devices that it hears most often, of those that are there. */
  quickest: readonly Readonly<DeviceState>[];
  /** When it was heard first after it was away. */
  backAt: number;
}

/**
 * Leaves out the pause of a gateway that was away, and those of its devices. Call it for every report, before that is noted.
 * @returns whether this report ends such a pause
 */
export function skipOutage(
  gateway: GatewayState,
  device: DeviceState,
  now: number,
  listening: Listening,
): boolean {
  if (isBack(gateway, now, listening)) {
    gateway.backAt = now;
    gateway.countedAt = now;
  }
  const isSkipped = device.countedAt < gateway.backAt;
  if (isSkipped) {
    device.countedAt = now;
  }
  return isSkipped;
}

/** Call it for every hearing of a device. Allocates nothing where nothing changes. */
export function noteQuickest(gateway: GatewayState, device: Readonly<DeviceState>, now: number): void {
  const { quickest } = gateway;
  if (usualIntervalMs(device) === undefined || quickest.includes(device)) {
    return;
  }
  const left = quickest.findIndex((one) => one.intervalMs > device.intervalMs || !isThere(gateway, one, now));
  if (left >= 0) {
    gateway.quickest = quickest.with(left, device);
  } else if (quickest.length < QUICKEST) {
    gateway.quickest = [...quickest, device];
  }
}

function isBack(gateway: Readonly<GatewayState>, now: number, listening: Listening): boolean {
  const { heardAt, quickest } = gateway;
  return (
    now - heardAt >= MIN_AWAY_MS &&
    quickest.length === QUICKEST &&
    quickest.every(
      (device) =>
        isThere(gateway, device, heardAt) &&
        listening.listenedMs(heardBy(gateway, device), now) > missedMs(device),
    )
  );
}

const isThere = (gateway: Readonly<GatewayState>, device: Readonly<DeviceState>, at: number): boolean =>
  at - heardBy(gateway, device) <= missedMs(device);

const heardBy = ({ id }: Readonly<GatewayState>, { links }: Readonly<DeviceState>): number =>
  linkOf(links, id)?.heardAt ?? Number.NEGATIVE_INFINITY;

const missedMs = (device: Readonly<DeviceState>): number => MISSED_INTERVALS * (usualIntervalMs(device) ?? 0);
