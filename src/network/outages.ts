// When a gateway was away: the devices that it hears most often stayed away all together.
import type { DeviceState, GatewayState, Quick } from './device-state.ts';
import { usualIntervalMs } from './interval.ts';
import { skipPause } from './learning.ts';
import type { Link } from './links.ts';
import type { Listening } from './listening.ts';

/** It takes two: one alone may have been away itself. */
const QUICKEST = 2;
/** One that was not heard for so many of its usual intervals is not there: two reports in a row are lost seldom, of two devices hardly. */
const MISSED_INTERVALS = 2.2;
/** One that comes so much later than usually was missed. */
const LATE_INTERVALS = 1.5;
/** It shows an absence when it was heard for so many intervals without a pause: what was quick by day rests at night. */
const STEADY_INTERVALS = 10;
/** It gives way to one that is so much quicker: of equal ones none would stay long enough. */
const MUCH_QUICKER = 2;
/** A shorter absence makes no device silent. */
const MIN_AWAY_MS = 20_000;

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
  if (now - gateway.heardAt >= MIN_AWAY_MS) {
    if (isMissed(gateway, device, now, listening)) {
      gateway.missedAt = now;
    }
    if (isBack(gateway, now, listening)) {
      gateway.backAt = now;
      gateway.countedAt = now;
    }
  }
  const isSkipped = device.countedAt < gateway.backAt;
  if (isSkipped) {
    device.countedAt = now;
    if (device.learning) {
      skipPause(device.learning);
    }
  }
  return isSkipped;
}

/** Call it for every hearing of a device. Allocates nothing where nothing changes. */
export function noteQuickest(
  gateway: GatewayState,
  device: Readonly<DeviceState>,
  link: Readonly<Link>,
  now: number,
): void {
  const { quickest } = gateway;
  if (usualIntervalMs(device) === undefined) {
    return;
  }
  let left: number | undefined = quickest.length < QUICKEST ? quickest.length : undefined;
  for (let i = 0; i < quickest.length; i++) {
    const one = quickest[i] as Quick;
    if (one.link === link) {
      one.steadySince = isThere(one, now) ? one.steadySince : now;
      one.heardAt = now;
      return;
    }
    if (
      left === undefined &&
      (one.device.intervalMs > MUCH_QUICKER * device.intervalMs || !isThere(one, now))
    ) {
      left = i;
    }
  }
  if (left !== undefined) {
    gateway.quickest = [...quickest.slice(0, left), newQuick(device, link, now), ...quickest.slice(left + 1)];
  }
}

function isBack({ heardAt, quickest }: Readonly<GatewayState>, now: number, listening: Listening): boolean {
  return (
    quickest.length === QUICKEST &&
    quickest.every(
      (one) => isSteady(one, heardAt) && listening.listenedMs(one.link.heardAt, now) > missedMs(one.device),
    )
  );
}

/**
 * One that was there before the pause, or ends it, was to be heard in it. Of a pause without that nobody knows: one that died
 * before it is missed in no other, however seldom those report that are left.
 */
function isMissed(
  { heardAt, quickest }: Readonly<GatewayState>,
  device: Readonly<DeviceState>,
  now: number,
  listening: Listening,
): boolean {
  const isLate = (one: Readonly<DeviceState>, lastAt: number): boolean =>
    listening.listenedMs(lastAt, now) > LATE_INTERVALS * (usualIntervalMs(one) ?? 0);
  return (
    isLate(device, device.heardAt) ||
    quickest.some((one) => isThere(one, heardAt) && isLate(one.device, one.link.heardAt))
  );
}

const newQuick = (device: Readonly<DeviceState>, link: Readonly<Link>, now: number): Quick => ({
  device,
  link,
  heardAt: now,
  steadySince: now,
});

const isThere = ({ device, heardAt }: Quick, at: number): boolean => at - heardAt <= missedMs(device);

const isSteady = (one: Quick, at: number): boolean =>
  isThere(one, at) && one.heardAt - one.steadySince >= STEADY_INTERVALS * one.device.intervalMs;

const missedMs = (device: Readonly<DeviceState>): number => MISSED_INTERVALS * (usualIntervalMs(device) ?? 0);
