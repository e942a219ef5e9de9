// What reports have shown since the start, in bounded memory: for pickers, and for the gateway of a device.
import type { Catalogue } from './protocol/identifiers.ts';
import type { ReportTopic } from './protocol/reports/index.ts';

/** Entries of one list that are kept; the oldest go first. */
const MOST_LISTED = 10_000;
/** Devices whose last gateway is kept: more than are listed, since requests without a gateway need it. */
const MOST_ROUTED = 200_000;
const MOST_IDENTIFIERS = 200;
/** Of all devices together. */
const MAX_IDENTIFIERS = 200_000;
/** A longer identifier is none of a device, and would cost more memory than it is worth. */
const MAX_IDENTIFIER_LENGTH = 200;
/** Gateways that hear one device; a further one takes the place of the one that was silent longest. */
const MAX_HEARD_BY = 16;
/** Of so many reports of devices that are known but not listed, one brings its device back into the list. */
const READMITTED = 100;

export interface SeenEntry {
  id: string;
  name: string;
  /** ISO-8601 */
  lastSeen: string;
  count: number;
}

interface Trace {
  lastSeen: number;
  count: number;
}

interface NamedTrace extends Trace {
  id: string;
}

interface DeviceTrace extends Trace {
  /** The one that last reported it. */
  gateway: string;
  /** A device has few of both: to look through them costs less than a map. */
  heardBy: NamedTrace[];
  identifiers: NamedTrace[];
}

/** A map in two generations: what was not touched for half of `most` insertions is dropped, in constant time. */
class Recent<V> {
  readonly #half: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(most: number) {
    this.#half = Math.ceil(most / 2);
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) {
      return young;
    }
    const old = this.#old.get(key);
    if (old !== undefined) {
      this.#old.delete(key);
      this.set(key, old);
    }
    return old;
  }

  set(key: string, value: V): void {
    if (this.#young.size >= this.#half) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  *entries(): Generator<[string, V]> {
    yield* this.#young;
    yield* this.#old;
  }
}

/** A map of bounded size, in which a new entry pushes out the one that was added first. */
class Newest<V> {
  readonly #most: number;
  readonly #map = new Map<string, V>();
  /** Goes on where it was when the map changes: what comes next was added first. */
  readonly #oldest = this.#map.entries();

  constructor(most: number) {
    this.#most = most;
  }

  get isFull(): boolean {
    return this.#map.size >= this.#most;
  }

  get(key: string): V | undefined {
    return this.#map.get(key);
  }

  /** @returns the entry that was pushed out */
  add(key: string, value: V): [string, V] | undefined {
    const pushedOut = this.isFull ? this.#oldest.next().value : undefined;
    if (pushedOut) {
      this.#map.delete(pushedOut[0]);
    }
    this.#map.set(key, value);
    return pushedOut;
  }

  entries(): Iterable<[string, V]> {
    return this.#map;
  }
}

export interface SeenQuery {
  gateway?: string | undefined;
  device?: string | undefined;
  /** Part of the id or the name, in any case. */
  text?: string | undefined;
  limit?: number | undefined;
}

export class Seen {
  readonly #catalogue: Catalogue;
  readonly #gateways = new Recent<Trace>(MOST_LISTED);
  /** What is known of each device: its trace when it is listed, else only the gateway that last reported it. */
  readonly #devices = new Recent<DeviceTrace | string>(MOST_ROUTED);
  readonly #listed = new Newest<DeviceTrace>(MOST_LISTED);
  /** Reports of devices that are known but not listed. */
  #passed = 0;
  /** How many identifiers are kept, of all devices. */
  #identifiers = 0;

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  /**
   * Called for every well-formed report.
   * @param now milliseconds since the epoch
   * @param retained the broker has kept it, so it says nothing of where the device is now
   */
  note(at: ReportTopic, now: number, retained = false): void {
    const known = this.#find(at.device);
    if (retained && known !== undefined) {
      return;
    }
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
    noteGateway(device.heardBy, at.gateway, now);
    if (at.identifier !== undefined) {
      this.#noteIdentifier(device.identifiers, at.identifier, now);
    }
  }

  /** The gateway that last reported the device. */
  gatewayOf(device: string): string | undefined {
    const known = this.#find(device);
    return typeof known === 'object' ? known.gateway : known;
  }

  gateways(query: SeenQuery = {}): SeenEntry[] {
    return list(this.#gateways.entries(), query, (id) => id);
  }

  /** Of one gateway: with what this gateway heard of each. */
  devices(query: SeenQuery = {}): SeenEntry[] {
    const { gateway } = query;
    const chosen = this.#chosenDevices(query);
    if (!gateway) {
      return list(chosen, query, (id) => id);
    }
    const heard = Array.from(chosen, ([id, device]): [string, Trace] => [
      id,
      heardBy(device, gateway) ?? device,
    ]);
    return list(heard, query, (id) => id);
  }

  identifiers(query: SeenQuery = {}): SeenEntry[] {
    const merged = new Map<string, Trace>();
    for (const [, device] of this.#chosenDevices(query)) {
      for (const { id, count, lastSeen } of device.identifiers) {
        const sum = merged.get(id);
        if (!sum) {
          merged.set(id, { count, lastSeen });
        } else {
          sum.count += count;
          sum.lastSeen = Math.max(sum.lastSeen, lastSeen);
        }
      }
    }
    return list(merged, query, (id) => this.#catalogue.find(id)?.name ?? id);
  }

  /** A device that was silent for long may be listed still when the larger map has dropped it. */
  #find(device: string): DeviceTrace | string | undefined {
    return this.#devices.get(device) ?? this.#listed.get(device);
  }

  #newGateway(id: string): Trace {
    const trace = { lastSeen: 0, count: 0 };
    this.#gateways.set(id, trace);
    return trace;
  }

  /** In a network that is larger than the list, devices that were pushed out must not push out each other all the time. */
  #admit({ device, gateway }: ReportTopic, isNew: boolean): DeviceTrace | undefined {
    if (!isNew && this.#listed.isFull && ++this.#passed % READMITTED !== 0) {
      return undefined;
    }
    const trace = { lastSeen: 0, count: 0, gateway, heardBy: [], identifiers: [] };
    const pushedOut = this.#listed.add(device, trace);
    if (pushedOut) {
      this.#devices.set(pushedOut[0], pushedOut[1].gateway);
      this.#identifiers -= pushedOut[1].identifiers.length;
    }
    this.#devices.set(device, trace);
    return trace;
  }

  *#chosenDevices({ gateway, device }: SeenQuery): Generator<[string, DeviceTrace]> {
    for (const entry of this.#listed.entries()) {
      const isChosen = !device || entry[0] === device;
      if (isChosen && (!gateway || heardBy(entry[1], gateway))) {
        yield entry;
      }
    }
  }

  #noteIdentifier(identifiers: NamedTrace[], id: string, now: number): void {
    const known = find(identifiers, id);
    if (known) {
      touch(known, now);
      return;
    }
    const isFull = identifiers.length >= MOST_IDENTIFIERS || this.#identifiers >= MAX_IDENTIFIERS;
    if (isFull || id.length > MAX_IDENTIFIER_LENGTH) {
      return;
    }
    identifiers.push({ id, lastSeen: now, count: 1 });
    this.#identifiers++;
  }
}

function touch(trace: Trace, now: number): void {
  trace.lastSeen = now;
  trace.count++;
}

function find(traces: readonly NamedTrace[], id: string): NamedTrace | undefined {
  for (const trace of traces) {
    if (trace.id === id) {
      return trace;
    }
  }
  return undefined;
}

const heardBy = (device: DeviceTrace, gateway: string) => find(device.heardBy, gateway);

function noteGateway(gateways: NamedTrace[], id: string, now: number): void {
  const known = find(gateways, id);
  if (known) {
    touch(known, now);
    return;
  }
  const trace = { id, lastSeen: now, count: 1 };
  if (gateways.length < MAX_HEARD_BY) {
    gateways.push(trace);
  } else {
    gateways[silentLongest(gateways)] = trace;
  }
}

function silentLongest(traces: readonly NamedTrace[]): number {
  let longest = 0;
  for (const [i, { lastSeen }] of traces.entries()) {
    if (lastSeen < (traces[longest] as NamedTrace).lastSeen) {
      longest = i;
    }
  }
  return longest;
}

function list(
  entries: Iterable<[string, Trace]>,
  query: SeenQuery,
  nameOf: (id: string) => string,
): SeenEntry[] {
  const text = query.text?.toLowerCase() ?? '';
  const found: { id: string; name: string; trace: Trace }[] = [];
  for (const [id, trace] of entries) {
    const name = nameOf(id);
    if (text && !id.toLowerCase().includes(text) && !name.toLowerCase().includes(text)) {
      continue;
    }
    found.push({ id, name, trace });
  }
  found.sort((a, b) => b.trace.lastSeen - a.trace.lastSeen);
  return found.slice(0, query.limit ?? MOST_LISTED).map(({ id, name, trace }) => ({
    id,
    name,
    lastSeen: new Date(trace.lastSeen).toISOString(),
    count: trace.count,
  }));
}
