// What reports have shown since the start, in bounded memory: for pickers, and for the gateway of a device.
import { FifoMap } from '../collections/fifo-map.ts';
import { GenerationMap } from '../collections/generation-map.ts';
import type { Catalogue } from '../protocol/catalogue.ts';
import type { Report, ReportTopic } from '../protocol/reports/index.ts';

/** Entries of one list that are kept; the oldest go first. */
const MAX_LISTED = 10_000;
/** Devices whose last gateway is kept: more than are listed, since requests without a gateway need it. */
const MAX_ROUTED = 200_000;
const MAX_IDENTIFIERS_PER_DEVICE = 200;
/** Of all devices together. */
const MAX_IDENTIFIERS = 200_000;
/** A longer identifier is none of a device, and would cost more memory than it is worth. */
const MAX_IDENTIFIER_LENGTH = 200;
/** Gateways that hear one device; a further one takes the place of the one that was silent longest. */
const MAX_HEARD_BY = 16;
/** Characters of a last value; a longer one tells nothing at a glance, and would cost more memory than it is worth. */
const MAX_VALUE_LENGTH = 40;
const BATTERY_LEVEL = 'battery-level';
/** Of so many reports of devices that are known but not listed, one brings its device back into the list. */
const READMIT_EVERY = 100;

export interface ActivityEntry {
  id: string;
  name: string;
  /** ISO-8601 */
  lastSeen: string;
  count: number;
  /** The last value of an identifier, as flows had it: a number, a truth value or a short text. */
  value?: Value;
  /** Of a device: its last signal strength in dBm, and the last charge of its battery in percent. */
  rssi?: number;
  battery?: number;
}

type Value = string | number | boolean;

interface Activity {
  lastSeen: number;
  count: number;
}

interface NamedActivity extends Activity {
  id: string;
}

interface IdentifierActivity extends NamedActivity {
  value: Value | undefined;
}

interface DeviceActivity extends Activity {
  /** The one that last reported it. */
  gateway: string;
  /** A device has few of both: to look through them costs less than a map. */
  heardBy: NamedActivity[];
  identifiers: IdentifierActivity[];
  rssi: number | undefined;
}

export interface ActivityQuery {
  gateway?: string | undefined;
  device?: string | undefined;
  /** Part of the id or the name, in any case. */
  text?: string | undefined;
  limit?: number | undefined;
}

export class RecentActivity {
  readonly #catalogue: Catalogue;
  readonly #nameOf: (mac: string) => string;
  #gateways = new GenerationMap<Activity>(MAX_LISTED);
  /** What is known of each device: its trace when it is listed, else only the gateway that last reported it. */
  #devices = new GenerationMap<DeviceActivity | string>(MAX_ROUTED);
  #listed = new FifoMap<DeviceActivity>(MAX_LISTED);
  /** Reports of devices that are known but not listed. */
  #unlistedReports = 0;
  /** How many identifiers are kept, of all devices. */
  #identifiers = 0;

  /** @param nameOf the name of a gateway or a device, where one is known */
  constructor(catalogue: Catalogue, nameOf: (mac: string) => string | undefined = () => undefined) {
    this.#catalogue = catalogue;
    this.#nameOf = (mac) => nameOf(mac) ?? mac;
  }

  /** Goes on with what another one has seen, which records nothing any more. */
  takeOver(before: RecentActivity): void {
    this.#gateways = before.#gateways;
    this.#devices = before.#devices;
    this.#listed = before.#listed;
    this.#identifiers = before.#identifiers;
  }

  /**
   * Called for every well-formed report, but not for a retained one: it may be years old, and the device elsewhere.
   * @param now milliseconds since the epoch
   * @param report for the last values; as one receiver has it
   */
  record(at: ReportTopic, now: number, report?: Report): void {
    const known = this.#find(at.device);
    touch(this.#gateways.get(at.gateway) ?? this.#newGateway(at.gateway), now);
    const device = typeof known === 'object' ? known : this.#admit(at, known === undefined);
    if (device === undefined) {
      if (known !== at.gateway) {
        this.#devices.set(at.device, at.gateway);
      }
      return;
    }
    device.gateway = at.gateway;
    touch(device, now);
    recordGateway(device.heardBy, at.gateway, now);
    if (at.identifier !== undefined) {
      // A sample that comes late is not the last value.
      const value = report?.backfill === true ? undefined : report?.value;
      this.#recordIdentifier(device.identifiers, at.identifier, now, value);
    } else if (typeof report?.rssi === 'number') {
      device.rssi = report.rssi;
    }
  }

  /** The gateway that last reported the device. */
  gatewayOf(device: string): string | undefined {
    const known = this.#find(device);
    return typeof known === 'object' ? known.gateway : known;
  }

  /** How many gateways were heard since then. @param time milliseconds since the epoch */
  countGateways(time: number): number {
    let count = 0;
    for (const [, { lastSeen }] of this.#gateways.entries()) {
      count += lastSeen >= time ? 1 : 0;
    }
    return count;
  }

  gateways(query: ActivityQuery = {}): ActivityEntry[] {
    return list(this.#gateways.entries(), query, this.#nameOf);
  }

  /** Of one gateway: with what this gateway heard of each. */
  devices(query: ActivityQuery = {}): ActivityEntry[] {
    const { gateway } = query;
    const chosen = this.#chosenDevices(query);
    const heard = gateway
      ? Array.from(chosen, ([id, device]): [string, Activity] => [id, heardBy(device, gateway) ?? device])
      : chosen;
    return list(heard, query, this.#nameOf).map((entry) => ({ ...entry, ...this.#linkOf(entry.id) }));
  }

  identifiers(query: ActivityQuery = {}): ActivityEntry[] {
    const merged = new Map<string, IdentifierActivity>();
    for (const [, device] of this.#chosenDevices(query)) {
      for (const one of device.identifiers) {
        const sum = merged.get(one.id);
        const newest = sum && sum.lastSeen > one.lastSeen ? sum : one;
        merged.set(one.id, { ...newest, count: one.count + (sum?.count ?? 0) });
      }
    }
    return list(merged, query, (id) => this.#catalogue.find(id)?.name ?? id).map((entry) => {
      const value = merged.get(entry.id)?.value;
      return value === undefined ? entry : { ...entry, value };
    });
  }

  /** What tells a device apart from its neighbours. */
  #linkOf(id: string): Pick<ActivityEntry, 'rssi' | 'battery'> {
    const { rssi, identifiers = [] } = this.#listed.get(id) ?? {};
    const battery = identifiers.filter((one) => this.#catalogue.find(one.id)?.name === BATTERY_LEVEL);
    const { value } = battery.sort((one, other) => other.lastSeen - one.lastSeen)[0] ?? {};
    return {
      ...(rssi !== undefined && { rssi }),
      ...(typeof value === 'number' && { battery: value }),
    };
  }

  /** A device that was silent for long may be listed still when the larger map has dropped it. */
  #find(device: string): DeviceActivity | string | undefined {
    return this.#devices.get(device) ?? this.#listed.get(device);
  }

  #newGateway(id: string): Activity {
    const trace = { lastSeen: 0, count: 0 };
    this.#gateways.set(id, trace);
    return trace;
  }

  /** In a network that is larger than the list, devices that were pushed out must not push out each other all the time. */
  #admit({ device, gateway }: ReportTopic, isNew: boolean): DeviceActivity | undefined {
    if (!isNew && this.#listed.isFull && ++this.#unlistedReports % READMIT_EVERY !== 0) {
      return undefined;
    }
    const trace = { lastSeen: 0, count: 0, gateway, heardBy: [], identifiers: [], rssi: undefined };
    const pushedOut = this.#listed.add(device, trace);
    if (pushedOut) {
      this.#devices.set(pushedOut[0], pushedOut[1].gateway);
      this.#identifiers -= pushedOut[1].identifiers.length;
    }
    this.#devices.set(device, trace);
    return trace;
  }

  *#chosenDevices({ gateway, device }: ActivityQuery): Generator<[string, DeviceActivity]> {
    for (const entry of this.#listed.entries()) {
      const isChosen = !device || entry[0] === device;
      if (isChosen && (!gateway || heardBy(entry[1], gateway))) {
        yield entry;
      }
    }
  }

  #recordIdentifier(identifiers: IdentifierActivity[], id: string, now: number, value: unknown): void {
    const known = find(identifiers, id);
    if (known) {
      touch(known, now);
      known.value = valueToKeep(value) ?? known.value;
      return;
    }
    const isFull = identifiers.length >= MAX_IDENTIFIERS_PER_DEVICE || this.#identifiers >= MAX_IDENTIFIERS;
    if (isFull || id.length > MAX_IDENTIFIER_LENGTH) {
      return;
    }
    identifiers.push({ id, lastSeen: now, count: 1, value: valueToKeep(value) });
    this.#identifiers++;
  }
}

function touch(trace: Activity, now: number): void {
  trace.lastSeen = now;
  trace.count++;
}

/** What can be shown in a few characters. */
function valueToKeep(value: unknown): Value | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') {
    return value;
  }
  return typeof value === 'string' && value.length <= MAX_VALUE_LENGTH ? value : undefined;
}

function find<Trace extends NamedActivity>(traces: readonly Trace[], id: string): Trace | undefined {
  for (const trace of traces) {
    if (trace.id === id) {
      return trace;
    }
  }
  return undefined;
}

const heardBy = (device: DeviceActivity, gateway: string) => find(device.heardBy, gateway);

function recordGateway(gateways: NamedActivity[], id: string, now: number): void {
  const known = find(gateways, id);
  if (known) {
    touch(known, now);
    return;
  }
  const trace = { id, lastSeen: now, count: 1 };
  if (gateways.length < MAX_HEARD_BY) {
    gateways.push(trace);
  } else {
    gateways[leastRecentlyHeard(gateways)] = trace;
  }
}

function leastRecentlyHeard(traces: readonly NamedActivity[]): number {
  let longest = 0;
  for (const [i, { lastSeen }] of traces.entries()) {
    if (lastSeen < (traces[longest] as NamedActivity).lastSeen) {
      longest = i;
    }
  }
  return longest;
}

function list(
  entries: Iterable<[string, Activity]>,
  query: ActivityQuery,
  nameOf: (id: string) => string,
): ActivityEntry[] {
  const text = query.text?.toLowerCase() ?? '';
  const found: { id: string; name: string; trace: Activity }[] = [];
  for (const [id, trace] of entries) {
    const name = nameOf(id);
    if (text && !id.toLowerCase().includes(text) && !name.toLowerCase().includes(text)) {
      continue;
    }
    found.push({ id, name, trace });
  }
  found.sort((a, b) => b.trace.lastSeen - a.trace.lastSeen);
  return found.slice(0, query.limit ?? MAX_LISTED).map(({ id, name, trace }) => ({
    id,
    name,
    lastSeen: new Date(trace.lastSeen).toISOString(),
    count: trace.count,
  }));
}
