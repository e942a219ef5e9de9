// What was heard last, as lists for pickers: gateways, devices and identifiers.
import { CostlyResults } from '../collections/costly-results.ts';
import type { Catalogue } from '../protocol/catalogue.ts';
import { parseMac } from '../protocol/mac.ts';
import { findWords } from '../protocol/search-words.ts';
import type { DeviceState } from './device-state.ts';
import { type Link, linkOf } from './links.ts';
import type { NetworkState } from './network-state.ts';
import { signalOf } from './presence.ts';
import { type PropertyValue, type ShortValue, valueTime } from './property-values.ts';
import { batteryOf } from './readings.ts';
import { wallTime } from './wall-time.ts';

/** Entries of one list, and devices that are looked through for it: those heard last. */
const MAX_LISTED = 10_000;
/** With more of them, finding the properties of all costs what is worth keeping. */
const MANY_VALUES = 10_000;

export interface RecentEntry {
  id: string;
  name: string;
  /** ISO-8601 */
  lastSeen: string;
  count: number;
  /** The last value of an identifier, as flows had it: a number, a truth value or a short text. */
  value?: ShortValue;
  /** Of a device: its last signal strength in dBm, and the last charge of its battery in percent. */
  rssi?: number;
  battery?: number;
}

export interface RecentQuery {
  /** MACs, in any spelling. */
  gateway?: string | undefined;
  device?: string | undefined;
  /** What `findWords` finds in id and name. */
  text?: string | undefined;
  limit?: number | undefined;
}

/** What a list shows of an entry; `heardAt` in milliseconds of `performance.now()`. */
type Activity = Pick<Link, 'heardAt' | 'reports'>;

export class RecentLists {
  readonly #network: NetworkState;
  readonly #catalogue: Catalogue;
  readonly #nameOf: (mac: string) => string;
  readonly #identifiers = new CostlyResults<RecentEntry[]>();

  /** @param nameOf the name of a gateway or a device, where one is known */
  constructor(
    network: NetworkState,
    catalogue: Catalogue,
    nameOf: (mac: string) => string | undefined = () => undefined,
  ) {
    this.#network = network;
    this.#catalogue = catalogue;
    this.#nameOf = (mac) => nameOf(mac) ?? mac;
  }

  gateways(query: RecentQuery = {}): RecentEntry[] {
    const all = Array.from(this.#network.gateways(), (gateway): [string, Activity] => [gateway.id, gateway]);
    return list(all, query, this.#nameOf);
  }

  /** Of one gateway: with what this gateway heard of each. */
  devices(query: RecentQuery = {}): RecentEntry[] {
    const gateway = macOf(query.gateway);
    const heard = Array.from(this.#chosenDevices(query), (device): [string, Activity] => [
      device.id,
      (gateway ? linkOf(device.links, gateway) : undefined) ?? device,
    ]);
    return list(heard, query, this.#nameOf).map((entry) => ({ ...entry, ...this.#readingsOf(entry.id) }));
  }

  /** Where there are very many, those of some seconds ago. */
  identifiers(query: RecentQuery = {}): RecentEntry[] {
    if (this.#network.size.values < MANY_VALUES) {
      return this.#findIdentifiers(query);
    }
    const { gateway, device, text, limit } = query;
    const key = JSON.stringify([gateway, device, text, limit]);
    return this.#identifiers.get(key, () => this.#findIdentifiers(query));
  }

  #findIdentifiers(query: RecentQuery): RecentEntry[] {
    const merged = new Map<
      string,
      Pick<PropertyValue, 'value' | 'heardAt' | 'reports'> & { valueAt: number }
    >();
    for (const device of this.#chosenDevices(query)) {
      for (const known of device.values) {
        const { identifier, value, heardAt, reports } = known;
        const valueAt = valueTime(known);
        const sum = merged.get(identifier);
        if (sum === undefined) {
          merged.set(identifier, { value, valueAt, heardAt, reports });
          continue;
        }
        sum.reports += reports;
        sum.heardAt = Math.max(sum.heardAt, heardAt);
        if (valueAt >= sum.valueAt) {
          sum.valueAt = valueAt;
          sum.value = value;
        }
      }
    }
    return list(merged, query, (id) => this.#catalogue.find(id)?.name || id).map((entry) => {
      const value = merged.get(entry.id)?.value;
      return value === undefined ? entry : { ...entry, value };
    });
  }

  /** What tells a device apart from its neighbours. */
  #readingsOf(id: string): Pick<RecentEntry, 'rssi' | 'battery'> {
    const device = this.#network.device(id);
    const rssi = device && signalOf(device);
    const battery = device && batteryOf(device, this.#catalogue);
    return { ...(rssi !== undefined && { rssi }), ...(battery !== undefined && { battery }) };
  }

  *#chosenDevices(query: RecentQuery): Generator<Readonly<DeviceState>> {
    const [gateway, id] = [macOf(query.gateway), macOf(query.device)];
    const known = id ? this.#network.device(id) : undefined;
    let left = MAX_LISTED;
    for (const device of id ? [known] : this.#network.devices()) {
      if (device && (!gateway || linkOf(device.links, gateway))) {
        yield device;
      }
      if (--left === 0) {
        return;
      }
    }
  }
}

/** What is none is the address of nobody. */
const macOf = (given: string | undefined): string | undefined => given && (parseMac(given) ?? given);

function list(
  entries: Iterable<[string, Activity]>,
  query: RecentQuery,
  nameOf: (id: string) => string,
): RecentEntry[] {
  const fits = query.text ? findWords(query.text) : undefined;
  const found: { id: string; name: string; activity: Activity }[] = [];
  for (const [id, activity] of entries) {
    const name = nameOf(id);
    if (fits && !fits(`${id}\n${name}`.toLowerCase())) {
      continue;
    }
    found.push({ id, name, activity });
  }
  found.sort((a, b) => b.activity.heardAt - a.activity.heardAt);
  return found.slice(0, query.limit ?? MAX_LISTED).map(({ id, name, activity }) => ({
    id,
    name,
    lastSeen: wallTime(activity.heardAt),
    count: activity.reports,
  }));
}
