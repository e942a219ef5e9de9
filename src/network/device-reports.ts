// The newest reports of the devices that people look at, kept for as long as they look: a report of any other costs nothing.

import type { Catalogue } from '../protocol/catalogue.ts';
import { parseMac } from '../protocol/mac.ts';
import type { ReportLine } from '../protocol/network-row.ts';
import type { Report, ReportTopic } from '../protocol/reports/index.ts';
import { cutText } from '../protocol/text.ts';
import type { DeviceState } from './device-state.ts';
import type { LastValues } from './last-values.ts';
import type { NetworkState } from './network-state.ts';
import type { ShortValue } from './property-values.ts';
import { wallTime } from './wall-time.ts';

/** Of one device. */
const MAX_REPORTS = 50;
/** The one that nobody has asked for longest goes first. */
const MAX_DEVICES = 16;
/** An editor that is closed does not say so; who looks elsewhere for a moment finds what has come meanwhile. */
const LEASE_MS = 60_000;
/** Characters of a value or an identifier; more tells nothing at a glance. */
const MAX_TEXT_LENGTH = 200;
const MAX_TIME_LENGTH = 40;
/** Hex digits of a value that is decoded for people. */
const MAX_DECODED_LENGTH = 2_000;

/** What is kept of a report; `heardAt` in milliseconds of `performance.now()`. */
type Kept = Pick<ReportLine, 'id' | 'time' | 'kind' | 'identifier' | 'value' | 'error'> &
  Pick<ReportLine, 'gateway' | 'parent' | 'rssi'> & { heardAt: number };

interface Lease {
  /** The newest last. */
  lines: Kept[];
  nextId: number;
  timer: NodeJS.Timeout | undefined;
}

interface DeviceReportsContext {
  network: NetworkState;
  catalogue: Catalogue;
  lastValues: LastValues;
  nameOf(mac: string): string | undefined;
}

export class DeviceReports {
  readonly #context: DeviceReportsContext;
  /** By device, in the order in which they were asked for. */
  #leases = new Map<string, Lease>();
  #ignoreReports: (() => void) | undefined;

  constructor(context: DeviceReportsContext) {
    this.#context = context;
  }

  /** How many devices are looked at. */
  get size(): number {
    return this.#leases.size;
  }

  /**
   * The newest reports of a device, the newest first: what is remembered, and from the first call on what comes, until
   * nobody has called for a minute.
   * @param device 12 lowercase hex digits
   */
  poll(device: string): ReportLine[] {
    const lease = this.#leases.get(device) ?? this.#begin(device);
    this.#leases.delete(device);
    this.#leases.set(device, lease);
    this.#extend(device, lease);
    return lease.lines.map((line) => this.#toLine(line)).reverse();
  }

  /** Goes on with what another one has kept, which has been closed. */
  takeOver(before: DeviceReports): void {
    this.#leases = before.#leases;
    before.#leases = new Map();
    for (const [device, lease] of this.#leases) {
      this.#extend(device, lease);
    }
    this.#listen();
  }

  /** Nothing is kept any more; what is there can be taken over. */
  close(): void {
    for (const { timer } of this.#leases.values()) {
      clearTimeout(timer);
    }
    this.#ignoreReports?.();
    this.#ignoreReports = undefined;
  }

  #begin(device: string): Lease {
    if (this.#leases.size >= MAX_DEVICES) {
      const [longest] = this.#leases.keys();
      this.#end(longest as string);
    }
    const lines = this.#remembered(device);
    const lease: Lease = { lines, nextId: lines.length, timer: undefined };
    this.#leases.set(device, lease);
    this.#listen();
    return lease;
  }

  #extend(device: string, lease: Lease): void {
    clearTimeout(lease.timer);
    lease.timer = setTimeout(() => this.#end(device), LEASE_MS).unref();
  }

  #end(device: string): void {
    clearTimeout(this.#leases.get(device)?.timer);
    this.#leases.delete(device);
    this.#listen();
  }

  #listen(): void {
    if (this.#leases.size === 0) {
      this.#ignoreReports?.();
      this.#ignoreReports = undefined;
      return;
    }
    this.#ignoreReports ??= this.#context.network.onHeard(({ id, heardAt }, gateway, at, report) => {
      const lease = this.#leases.get(id);
      if (lease) {
        this.#add(lease, at, gateway.id, report, heardAt);
      }
    });
  }

  #add(
    lease: Lease,
    { kind, identifier }: Readonly<ReportTopic>,
    gateway: string,
    report: Readonly<Report> | undefined,
    heardAt: number,
  ): void {
    const { parent, rssi }: Partial<Report> = report ?? {};
    const hearer = parseMac(parent);
    lease.lines.push({
      id: lease.nextId++,
      heardAt,
      time: report && report.time.length <= MAX_TIME_LENGTH ? report.time : null,
      kind,
      identifier: identifier === undefined ? null : cut(identifier),
      value: report ? this.#valueOf(report) : null,
      error: report ? errorOf(report) : null,
      gateway,
      parent: hearer === undefined || hearer === gateway ? null : hearer,
      rssi: typeof rssi === 'number' && Number.isFinite(rssi) ? rssi : null,
    });
    if (lease.lines.length > MAX_REPORTS) {
      lease.lines.shift();
    }
  }

  /** Flows may have it as it came. */
  #valueOf({ value, raw, identifier }: Readonly<Report>): ShortValue | null {
    const isRaw = raw !== undefined && raw === value && raw.length <= MAX_DECODED_LENGTH;
    const decoded = isRaw ? this.#context.catalogue.decode(identifier as string, raw) : undefined;
    return shownValue(decoded ? decoded.value : value);
  }

  /** The last value of each property, and the last signal of each link. */
  #remembered(id: string): Kept[] {
    const device = this.#context.network.device(id);
    if (device === undefined) {
      return [];
    }
    const lines = [...this.#rememberedValues(device), ...rememberedSignals(device)];
    lines.sort((a, b) => a.heardAt - b.heardAt);
    return lines.slice(-MAX_REPORTS).map((line, index) => ({ ...line, id: index }));
  }

  #rememberedValues(device: Readonly<DeviceState>): Kept[] {
    const reported = device.values.filter(({ reports }) => reports > 0);
    return reported.map(({ identifier, value, time, heardAt }) => {
      const isEvent = device.event === identifier && device.eventAt === heardAt;
      const report = this.#reportOf(device.id, identifier, time);
      return {
        ...NOTHING,
        heardAt,
        time: time ?? null,
        kind: isEvent ? 'event' : (report?.kind ?? null),
        identifier,
        value: value ?? null,
        gateway: report?.gateway ?? null,
      };
    });
  }

  /** Where a node with last values has had it. */
  #reportOf(device: string, identifier: string, time: string | undefined): Readonly<Report> | undefined {
    const [last] = this.#context.lastValues.all({ device, identifier });
    return last?.report?.time === time ? last?.report : undefined;
  }

  #toLine({ heardAt, ...line }: Kept): ReportLine {
    const { catalogue, nameOf } = this.#context;
    const { identifier, gateway, parent } = line;
    const known = (mac: string | null) => (mac === null ? undefined : nameOf(mac)) ?? null;
    const { name, unit } = (identifier === null ? undefined : catalogue.find(identifier)) ?? {};
    return {
      ...line,
      heard: wallTime(heardAt),
      name: name || null,
      unit: unit ?? null,
      gatewayName: known(gateway),
      parentName: known(parent),
    };
  }
}

const NOTHING: Kept = {
  ...{ id: 0, heardAt: 0, time: null, kind: null, identifier: null, value: null, error: null },
  ...{ gateway: null, parent: null, rssi: null },
};

function rememberedSignals({ links }: Readonly<DeviceState>): Kept[] {
  return links.flatMap(({ gateway, parent, signal }) => {
    const place = { gateway, parent: parent === gateway ? null : parent };
    return signal ? [{ ...NOTHING, ...place, kind: 'rssi', rssi: signal.rssi, heardAt: signal.heardAt }] : [];
  });
}

/** A structure as JSON; what is long is cut. */
function shownValue(value: unknown): ShortValue | null {
  if (value === undefined || value === null) {
    return null;
  }
  if (typeof value === 'number' || typeof value === 'boolean') {
    return value;
  }
  return cut(typeof value === 'string' ? value : JSON.stringify(value));
}

const cut = (text: string): string => cutText(text, MAX_TEXT_LENGTH);

function errorOf({ kind, status, error, errorCode }: Readonly<Report>): number | null {
  const code = kind === 'heartbeat' ? status : kind === 'measurement-error' ? error : errorCode;
  return typeof code === 'number' && code !== 0 ? code : null;
}
