// Which of some devices have not been heard for long, or never: for people, of nodes that wait for them.
import type { Catalogue } from '../protocol/catalogue.ts';
import { conditionsOf } from '../protocol/conditions.ts';
import { isMac } from '../protocol/mac.ts';
import type { DeviceState, GatewayState } from './device-state.ts';
import { UNKNOWN_SILENCE_MS } from './interval.ts';
import type { NetworkState } from './network-state.ts';
import { presenceOf } from './presence.ts';
import { wallTime } from './wall-time.ts';

/** After so long a device that was never heard is missed. */
const MIN_LISTENED_MS = 10 * 60_000;

export interface SilenceContext {
  network: NetworkState;
  catalogue: Catalogue;
  /** Whether flows receive any reports of a device; of another one nobody can tell. */
  isHeard(mac: string): boolean;
}

/**
 * @param macs gateways or devices, 12 lowercase hex digits; anything else is none
 * @returns of the silent ones when they were heard last, ISO 8601; null: never since the start
 */
export function findSilent(context: SilenceContext, macs: Iterable<string>): Record<string, string | null> {
  const { network, isHeard } = context;
  const silent: Record<string, string | null> = {};
  for (const mac of macs) {
    if (!isMac(mac)) {
      continue;
    }
    const heard = network.gateway(mac) ?? network.device(mac);
    if (heard === undefined) {
      if (network.listenedMs(network.startedAt) >= MIN_LISTENED_MS && isHeard(mac)) {
        silent[mac] = null;
      }
    } else if (isSilent(context, mac, heard)) {
      silent[mac] = wallTime(heard.heardAt);
    }
  }
  return silent;
}

function isSilent(
  context: SilenceContext,
  mac: string,
  heard: Readonly<GatewayState> | Readonly<DeviceState>,
): boolean {
  const { network } = context;
  if (network.intervalMs(heard) === undefined) {
    return network.silentMs(heard) > UNKNOWN_SILENCE_MS;
  }
  const presence = presenceOf(context, { gateway: network.gateway(mac), device: network.device(mac) });
  return (presence ? conditionsOf(presence) : []).some(
    (condition) => condition === 'silent' || condition === 'gateway-silent',
  );
}
