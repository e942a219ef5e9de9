// The links of all devices: no more than there may be, and each gateway with the number of devices that it hears.
import type { RecencyMap } from '../collections/recency-map.ts';
import { type DeviceState, type GatewayState, newLink } from './device-state.ts';
import { latelyMs } from './interval.ts';
import { type Link, leastUseful, MAX_LINKS_PER_DEVICE, replace } from './links.ts';

/** Of all devices together; beyond it a device has one link, which is replaced. */
const MAX_LINKS = 400_000;

export class KnownLinks {
  readonly #gateways: RecencyMap<GatewayState>;
  #count = 0;

  constructor(gateways: RecencyMap<GatewayState>) {
    this.#gateways = gateways;
  }

  /** Adds one that is not there yet, where there are too many in place of another one. */
  add(device: DeviceState, gateway: string, parent: string, now: number): Link {
    const { links } = device;
    const link = newLink(links, gateway, parent, now);
    const isFull = links.length >= MAX_LINKS_PER_DEVICE || this.#count >= MAX_LINKS;
    if (isFull && links.length > 0) {
      const [replaced] = links.splice(leastUseful(links, now - latelyMs(device), gateway), 1, link) as [Link];
      replace(replaced);
      this.#uncount(replaced);
    } else {
      // As long as it needs to be: an array that grows takes more than the few that most devices have.
      device.links = [...links, link];
      this.#count++;
    }
    const known = this.#gatewayOf(link);
    if (known) {
      known.devices++;
    }
    return link;
  }

  /** Call it when the device is forgotten. */
  remove({ links }: Readonly<DeviceState>): void {
    this.#count -= links.length;
    for (const link of links) {
      this.#uncount(link);
    }
  }

  #uncount(link: Link): void {
    const known = this.#gatewayOf(link);
    if (known) {
      known.devices = Math.max(0, known.devices - 1);
    }
  }

  /** Undefined for a node between, by which the gateway hears no further device. */
  #gatewayOf({ gateway, parent }: Link): GatewayState | undefined {
    return gateway === parent ? this.#gateways.get(gateway) : undefined;
  }
}
