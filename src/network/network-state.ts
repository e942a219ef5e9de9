// What reports have shown since the start, in bounded memory: gateways, devices, who hears whom, and last values.
import { performance } from 'node:perf_hooks';
import { RecencyMap } from '../collections/recency-map.ts';
import type { Report, ReportTopic } from '../protocol/reports/index.ts';
import {
  type DeviceState,
  type GatewayState,
  isPasserBy,
  newDevice,
  newGateway,
  parentOf,
  setCondition,
  setSignal,
} from './device-state.ts';
import {
  type Heard,
  hear,
  hearGateway,
  hearTime,
  latelyMs,
  recallInterval,
  UNKNOWN_SILENCE_MS,
  usualIntervalMs,
} from './interval.ts';
import { KnownDevices } from './known-devices.ts';
import { KnownLinks } from './known-links.ts';
import { KnownPlace } from './known-place.ts';
import { chooseGateway, countReport, findLink, isReplaced, type Link, lastHeard, linkOf } from './links.ts';
import { Listening } from './listening.ts';
import { noteQuickest, skipOutage } from './outages.ts';
import { findValue, forgetValue, type PropertyValue, setRead, setValue } from './property-values.ts';

/** The least recently heard go first. */
const MAX_GATEWAYS = 10_000;

/** Told of every report that is recorded. The states are the network's own, the report a receiver's: not to be changed. */
export type HeardListener = (
  device: Readonly<DeviceState>,
  gateway: Readonly<GatewayState>,
  at: Readonly<ReportTopic>,
  report: Readonly<Report> | undefined,
) => void;

/** Told of every signal before it is recorded: the link has the one before. Nothing of these is to be changed. */
export type SignalListener = (
  device: Readonly<DeviceState>,
  link: Readonly<Link>,
  report: Readonly<Report>,
) => void;

/** All times are milliseconds of `performance.now()`. */
export class NetworkState {
  #gateways = new RecencyMap<GatewayState>(MAX_GATEWAYS, (one) => isPasserBy(one, this.#now()));
  #devices = new KnownDevices(() => this.#now());
  /** Changes when anything is pushed out: see `KnownPlace`. */
  #version = 0;
  #links = new KnownLinks(this.#gateways);
  /** When flows receive reports, and when people look through everything. */
  #flows: Listening;
  #everything: Listening;
  readonly #now: () => number;
  readonly #heardUntil: () => number | undefined;
  readonly #isWanted: (gateway: string, device: string | undefined) => boolean;
  readonly #listeners = new Set<HeardListener>();
  readonly #signalListeners = new Set<SignalListener>();

  /**
   * @param heardUntil until then the broker was there for certain, by the same clock: no time after it counts as silence
   *   of a device. Undefined: it is there
   * @param isWanted whether flows ask for anything that a gateway brings, or for a device's reports by it; what they do not
   *   ask for any more is silent only while people listen
   */
  constructor({
    now = () => performance.now(),
    heardUntil = (): number | undefined => undefined,
    isWanted = (_gateway: string, _device: string | undefined): boolean => true,
  } = {}) {
    this.#now = now;
    this.#heardUntil = heardUntil;
    this.#isWanted = isWanted;
    this.#flows = new Listening(now());
    this.#everything = new Listening(now());
  }

  /** The present moment of all its times. */
  get now(): number {
    return this.#now();
  }

  /** Since then it is remembered who was heard. */
  get startedAt(): number {
    return this.#flows.startedAt;
  }

  /** See `Listening.lostUntil`. */
  lostUntil(knownSince: number): number | undefined {
    return this.#flows.lostUntil(knownSince);
  }

  /** How many of each are remembered. */
  get size(): { gateways: number; devices: number; values: number } {
    return { gateways: this.#gateways.size, devices: this.#devices.size, values: this.#devices.values };
  }

  /** Whether any gateway or device was heard that is remembered. */
  get hasHeard(): boolean {
    return this.#gateways.size + this.#devices.size > 0;
  }

  /**
   * Goes on with what another one has seen, which records nothing any more; nothing was heard in between.
   * @param isOther identifiers that another catalogue has decoded; undefined: none
   */
  takeOver(before: NetworkState, isOther?: (identifier: string) => boolean): void {
    this.#version++;
    this.#gateways = before.#gateways;
    this.#devices = before.#devices;
    this.#links = before.#links;
    [this.#flows, this.#everything] = [before.#flows, before.#everything];
    this.setListening(false, false);
    for (const { values } of isOther ? this.devices() : []) {
      for (const value of values) {
        if (isOther?.(value.identifier)) {
          forgetValue(value);
        }
      }
    }
  }

  /**
   * Call it for every well-formed report, but not for a retained one: it may be years old, and the device elsewhere.
   * Nothing is allocated for what is known already.
   * @param report as one receiver has it; undefined: only its topic counts
   * @param isWanted a flow receives it; false: only people do, who look at everything for a while
   * @param place of its topic
   */
  record(
    at: ReportTopic,
    now: number,
    report?: Readonly<Report>,
    isWanted = true,
    place = new KnownPlace(),
  ): void {
    if (place.version !== this.#version) {
      place.forget(this.#version);
    }
    place.gateway ??= this.#gateways.get(at.gateway) ?? this.#addGateway(at.gateway, now);
    place.device ??= this.#devices.get(at.device) ?? this.#addDevice(at.device, now);
    const { gateway, device } = place;
    const listening = isWanted ? this.#flows : this.#everything;
    // To change their place in the order with each of many reports would cost too much.
    if (skipOutage(gateway, device, now, listening)) {
      this.#gateways.touch(gateway);
      this.#devices.touch(device);
    }
    // The time of a sample is that at which the device took it, which may be hours ago.
    if (report !== undefined && at.kind !== 'timestamped') {
      hearTime(gateway, device, report, now, listening);
    }
    const isLate = report?.backfill === true;
    if (hearGateway(gateway, at, now, isWanted, isLate, listening)) {
      this.#gateways.touch(gateway);
    }
    const isNew = hear(device, at, now, isWanted, isLate, listening);
    if (isNew) {
      this.#devices.touch(device);
    }
    if (place.link === undefined || isReplaced(place.link)) {
      place.link = linkOf(device.links, at.gateway) ?? this.#links.add(device, at.gateway, at.gateway, now);
    }
    const { link } = place;
    countReport(device.links, link, now);
    if (isNew) {
      noteQuickest(gateway, device, link, now);
    }
    if (at.identifier !== undefined) {
      place.value ??= findValue(device.values, at.identifier) ?? this.#addValue(device, at.identifier, now);
      if (place.value !== undefined) {
        setValue(place.value, report, now);
      }
    } else if (report?.rssi !== undefined) {
      this.#recordSignal(device, link, report, now);
    }
    setCondition(device, at, report, now);
    if (this.#listeners.size > 0) {
      this.#tell(device, gateway, at, report);
    }
  }

  /**
   * Notes the value of a response to a read, where the device is known; it says nothing of how the device is heard.
   * @param time ISO-8601, as the gateway gave it
   */
  recordRead(id: string, identifier: string, value: unknown, time: string | undefined): void {
    const device = this.#devices.get(id);
    const now = this.#now();
    const known = device && (findValue(device.values, identifier) ?? this.#addValue(device, identifier, now));
    if (known) {
      setRead(known, value, time, now);
    }
  }

  /**
   * Says whether reports can be heard; while they cannot, nobody is silent.
   * @param flows the broker sends what flows want
   * @param everything it sends all there is
   */
  setListening(flows: boolean, everything: boolean): void {
    this.#flows.set(flows, flows ? this.#now() : this.#until);
    this.#everything.set(everything, everything ? this.#now() : this.#until);
  }

  /** @param id 12 lowercase hex digits */
  gateway(id: string): Readonly<GatewayState> | undefined {
    return this.#gateways.get(id);
  }

  /** @param id 12 lowercase hex digits */
  device(id: string): Readonly<DeviceState> | undefined {
    return this.#devices.get(id);
  }

  /** What was heard only through others is no gateway; what was not heard may be one. @param id 12 lowercase hex digits */
  mayBeGateway(id: string): boolean {
    return this.#gateways.get(id) !== undefined || this.#devices.get(id) === undefined;
  }

  /** Those heard last come first, to about a second. */
  gateways(): Iterable<Readonly<GatewayState>> {
    return this.#gateways.newestFirst();
  }

  /** Those heard last come first, to about a second. */
  devices(): Iterable<Readonly<DeviceState>> {
    return this.#devices.newestFirst();
  }

  /**
   * Where to send a request for a device: a gateway answers itself, whoever hears it, as long as it is one; for others see
   * `chooseGateway`.
   * @param gateways only to one of these; undefined: to any
   */
  gatewayOf(id: string, gateways?: ReadonlySet<string>): string | undefined {
    const own = gateways?.has(id) === false ? undefined : this.#gateways.get(id);
    const device = this.#devices.get(id);
    const links = device?.links.filter(({ gateway }) => gateways?.has(gateway) !== false) ?? [];
    if (own && !this.#isFormer(own, links)) {
      return id;
    }
    if (device === undefined) {
      return undefined;
    }
    const route = chooseGateway(links, device.route, this.#now(), usualIntervalMs(device));
    if (gateways === undefined) {
      device.route = route;
    }
    return route;
  }

  /** It brings nothing any more, and another gateway hears it: it is a device now. @param links those that hear it */
  #isFormer(gateway: Readonly<GatewayState>, links: readonly Link[]): boolean {
    const isHeardLater = (lastHeard(links)?.heardAt ?? 0) > gateway.heardAt;
    const isKnown = usualIntervalMs(gateway) !== undefined;
    return isHeardLater && this.silentMs(gateway) > (isKnown ? latelyMs(gateway) : UNKNOWN_SILENCE_MS);
  }

  /** How many gateways were heard since then. */
  countGateways(since: number): number {
    let count = 0;
    for (const { heardAt } of this.#gateways.newestFirst()) {
      count += heardAt >= since ? 1 : 0;
    }
    return count;
  }

  /** For how many milliseconds a gateway or a device was not heard although its reports would have come. */
  silentMs(heard: Readonly<GatewayState> | Readonly<DeviceState>): number {
    const listening = heard.isWanted && this.#isAskedFor(heard) ? this.#flows : this.#everything;
    return listening.listenedMs(heard.heardAt, this.#until);
  }

  /** Milliseconds between two hearings, usually; see `usualIntervalMs`. */
  intervalMs(heard: Readonly<Heard>): number | undefined {
    return usualIntervalMs(heard);
  }

  /** Its usual interval was this before the start: that counts beside what was learned since. */
  recallInterval(kind: 'gateway' | 'device', id: string, intervalMs: number): void {
    const heard = (kind === 'gateway' ? this.#gateways : this.#devices).get(id);
    if (heard) {
      recallInterval(heard, intervalMs);
    }
  }

  /** For how many milliseconds since then flows could receive reports. */
  listenedMs(since: number): number {
    return this.#flows.listenedMs(since, this.#until);
  }

  /** See `Listening.momentOf`. */
  momentOf(listenedMs: number): number {
    return this.#flows.momentOf(listenedMs, this.#until);
  }

  /** For how many of these gateways may still have been coming back. */
  returningMs(since: number): number {
    return this.#flows.returningMs(since, this.#until);
  }

  /** Calls the listener with every report, after it was recorded; what it throws is not caught. @returns ends it */
  onHeard(listener: HeardListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listener with every report that says how well a device is heard. @returns ends it */
  onSignal(listener: SignalListener): () => void {
    this.#signalListeners.add(listener);
    return () => this.#signalListeners.delete(listener);
  }

  #isAskedFor(heard: Readonly<GatewayState> | Readonly<DeviceState>): boolean {
    return 'links' in heard
      ? heard.links.some(({ gateway }) => this.#isWanted(gateway, heard.id))
      : this.#isWanted(heard.id, undefined);
  }

  /** The present moment, as far as reports could be heard until now. */
  get #until(): number {
    return Math.min(this.#now(), this.#heardUntil() ?? Number.POSITIVE_INFINITY);
  }

  #addGateway(id: string, now: number): GatewayState {
    const gateway = newGateway(id, now);
    if (this.#gateways.add(gateway)) {
      this.#version++;
    }
    return gateway;
  }

  #addDevice(id: string, now: number): DeviceState {
    const device = newDevice(id, now);
    const pushedOut = this.#devices.add(device);
    if (pushedOut) {
      this.#version++;
      this.#links.remove(pushedOut);
    }
    return device;
  }

  #recordSignal(device: DeviceState, own: Link, report: Readonly<Report>, now: number): void {
    const { gateway } = own;
    const parent = parentOf(report, gateway);
    const link =
      parent === gateway
        ? own
        : (findLink(device.links, gateway, parent) ?? this.#links.add(device, gateway, parent, now));
    if (link !== own) {
      link.heardAt = now;
      link.reports++;
    }
    if (this.#signalListeners.size > 0) {
      this.#tellSignal(device, link, report);
    }
    setSignal(link, report, now);
  }

  #addValue(device: DeviceState, identifier: string, now: number): PropertyValue | undefined {
    const value = this.#devices.addValue(device, identifier, now);
    if (this.#devices.dropOldestValues()) {
      this.#version++;
    }
    return value;
  }

  #tellSignal(device: DeviceState, link: Link, report: Readonly<Report>): void {
    for (const listener of this.#signalListeners) {
      listener(device, link, report);
    }
  }

  #tell(device: DeviceState, gateway: GatewayState, at: ReportTopic, report?: Readonly<Report>): void {
    for (const listener of this.#listeners) {
      listener(device, gateway, at, report);
    }
  }
}
