// Who of a watch is watched on by the one that a deploy puts in its place: not who was there for its lists alone.
import type { NetworkState } from './network-state.ts';
import type { KeptWatch, WatchSettings } from './watch-context.ts';
import { knownGatewaysOf, type Watched } from './watched.ts';

type Lists = Pick<WatchSettings, 'gateways' | 'devices'>;

/** @returns tells of what was watched whether it is watched on, as far as the lists decide that */
export function watchedOn(
  network: NetworkState,
  lists: Lists & Pick<WatchSettings, 'labels'>,
  before: Lists & Pick<KeptWatch, 'entries' | 'left'>,
): (entry: Readonly<Watched>) => boolean {
  const devices = new Set(lists.devices);
  const gateways = new Set(lists.gateways);
  const lacksDevices = before.devices.length === 0 || before.devices.some((id) => !devices.has(id));
  const lacksGateways = before.gateways.length > 0 && gateways.size === 0;
  // What was watched before may have other gateways than these devices.
  const needed =
    devices.size > 0 && (lacksDevices || lacksGateways) ? gatewaysOf(devices, network, before) : undefined;
  /** What it has brought before the start is not known, and it may be one of all the devices of before. */
  const mayBeNeeded = ({ id, gatewayState, hasBrought }: Readonly<Watched>) =>
    !lacksDevices && hasBrought && gatewayState === undefined && !network.gateway(id);
  const isListed = (id: string) => devices.has(id) || gateways.has(id);
  const wasListed = new Set([...before.devices, ...before.gateways]);
  /** A mistyped address: nobody has ever heard it. */
  const isNobody = ({
    id,
    state,
    gatewayState,
    chosenBy,
    hasBrought,
    storedIntervalMs,
    storedGateway,
  }: Readonly<Watched>) =>
    state === undefined &&
    gatewayState === undefined &&
    chosenBy === undefined &&
    !hasBrought &&
    storedIntervalMs === undefined &&
    storedGateway === undefined &&
    !network.device(id) &&
    !network.gateway(id);
  return (entry) => {
    const { id, kind } = entry;
    if (isListed(id)) {
      return true;
    }
    // A gateway that carries a label is expected, though nobody has heard it; the list of devices tells whether it does.
    const mayHaveLabel = kind === 'gateway' && lists.labels.length > 0;
    const isForList = !mayHaveLabel && wasListed.has(id) && isNobody(entry);
    return !isForList && (kind === 'device' || needed === undefined || needed.has(id) || mayBeNeeded(entry));
  };
}

/** All that are known to have heard one of these devices. */
function gatewaysOf(
  devices: Iterable<string>,
  network: NetworkState,
  { entries, left }: Pick<KeptWatch, 'entries' | 'left'>,
): Set<string> {
  const found = new Set<string>();
  for (const id of devices) {
    const watched = [entries.get(id), left.get(id)].flatMap((entry) => (entry ? knownGatewaysOf(entry) : []));
    const heard = network.device(id)?.links.map(({ gateway }) => gateway) ?? [];
    for (const gateway of [...watched, ...heard]) {
      found.add(gateway);
    }
  }
  return found;
}
