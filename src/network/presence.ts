// What the network's state says of one gateway or device, as conditions judge it.
import type { Catalogue } from '../protocol/catalogue.ts';
import {
  type ConditionLimits,
  DEFAULT_LIMITS,
  type Presence,
  silenceLimitMs,
} from '../protocol/conditions.ts';
import { shownError } from './device-errors.ts';
import { type DeviceState, type GatewayState, isOfDfuOnly } from './device-state.ts';
import { usualIntervalMs } from './interval.ts';
import { bestSignal, RECENT_MS } from './links.ts';
import type { NetworkState } from './network-state.ts';
import { batteryOf } from './readings.ts';

/** How old the best signal may be, and how long ago the last sign of DFU mode, where no usual interval is known. */
export const ASSUMED_PERIOD_MS = 15 * 60_000;

/** What reports have shown of one MAC. */
interface Known {
  gateway: Readonly<GatewayState> | undefined;
  device: Readonly<DeviceState> | undefined;
}

/** Of what a device has sent so long ago it may be gone, in milliseconds. */
const periodOf = (device: Readonly<DeviceState>, limits: ConditionLimits): number =>
  silenceLimitMs(limits, usualIntervalMs(device)) ?? ASSUMED_PERIOD_MS;

/**
 * How well a device is heard, in dBm; undefined: nobody knows.
 * @param gateway by this one; undefined: by the best of all
 */
export function signalOf(
  device: Readonly<DeviceState>,
  gateway?: string,
  limits: ConditionLimits = DEFAULT_LIMITS,
): number | undefined {
  const links =
    gateway === undefined ? device.links : device.links.filter((link) => link.gateway === gateway);
  // Signals come every few minutes, whatever else a device sends; a time that was set is what counts.
  const leastMs = limits.silentAfter > 0 ? 0 : RECENT_MS;
  return bestSignal(links, Math.max(leastMs, periodOf(device, limits)));
}

export function presenceOfDevice(
  network: NetworkState,
  catalogue: Catalogue,
  device: Readonly<DeviceState>,
  limits: ConditionLimits = DEFAULT_LIMITS,
): Presence {
  const usualMs = usualIntervalMs(device);
  const silentMs = network.silentMs(device);
  const periodMs = periodOf(device, limits);
  const isMissed = !isOfDfuOnly(device);
  return {
    kind: 'device',
    silentMs: isMissed ? silentMs : undefined,
    intervalMs: isMissed ? usualMs : undefined,
    error: shownError(device)?.code,
    battery: batteryOf(device, catalogue),
    signal: signalOf(device, undefined, limits),
    isDfu: device.isDfu && silentMs <= periodMs,
  };
}

/** A gateway is heard by what it brings; its own reports tell of its errors. */
function presenceOfGateway(
  network: NetworkState,
  catalogue: Catalogue,
  gateway: Readonly<GatewayState>,
): Presence {
  const own = network.device(gateway.id);
  return {
    ...{ error: undefined, battery: undefined, isDfu: false },
    ...(own && presenceOfDevice(network, catalogue, own)),
    kind: 'gateway',
    silentMs: network.silentMs(gateway),
    intervalMs: usualIntervalMs(gateway),
    // Nobody hears a gateway: it is connected to the broker.
    signal: undefined,
  };
}

/** By default limits. What brings reports is a gateway, whoever hears it; undefined: nothing was heard of it. */
export function presenceOf(
  { network, catalogue }: { network: NetworkState; catalogue: Catalogue },
  { gateway, device }: Known,
): Presence | undefined {
  return gateway
    ? presenceOfGateway(network, catalogue, gateway)
    : device && presenceOfDevice(network, catalogue, device);
}
