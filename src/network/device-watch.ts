// One watch: which gateways and devices it looks after, what of them is active, and what it tells of a change.
import type { Catalogue } from '../protocol/catalogue.ts';
import { CONDITIONS, type Condition, type ConditionLimits, type Presence } from '../protocol/conditions.ts';
import type { ReportTopic } from '../protocol/reports/index.ts';
import type { DeviceState, GatewayState } from './device-state.ts';
import type { NetworkState } from './network-state.ts';
import { presenceOfDevice, presenceOfGateway } from './presence.ts';
import { wallTime } from './wall-time.ts';
import type { WatchSchedule } from './watch-schedule.ts';
import {
  type Alarm,
  deviceSilence,
  gatewayOf,
  gatewaySilence,
  heardNow,
  intervalOf,
  limitOf,
  newWatched,
  type Silence,
  type Watched,
  type WatchedChecker,
} from './watched.ts';
import type { WatchedGateway, WatchedGateways } from './watched-gateways.ts';

/** A condition that comes and goes within this time is not told. */
const HOLD_MS = 5_000;
/** Gateways of listed devices; see `WatchListener.follow`. */
const MAX_FOLLOWED = 1_000;
/** With so many hearings its usual interval is known: it is no passer-by. */
const MIN_HEARINGS = 5;

export interface WatchSettings extends ConditionLimits {
  /** MACs; empty lists let everything through. */
  gateways: readonly string[];
  devices: readonly string[];
  /** Only gateways that carry one of these REST labels. */
  labels: readonly string[];
  conditions: readonly Condition[];
}

/** What is told when a condition begins or ends, and of what is active. */
export interface ConditionChange {
  condition: Condition;
  active: boolean;
  /** That heard the device last; absent where none is known. */
  gateway?: string;
  /** Of a gateway: its own MAC. */
  device: string;
  deviceName?: string;
  /** ISO-8601, by the clock of this machine: when it began. */
  since: string;
  /** What it was judged by, in the unit of the limit: seconds, percent or dBm, or the code of an error. */
  value?: number;
  limit?: number;
}

export interface WatchListener {
  changed(change: ConditionChange): void;
  /** How many are watched, or how many of them need somebody, may be others. */
  counted(): void;
  /** For the first time something is not watched, because too much is. */
  full(): void;
  /** This gateway brings a device of the list: what else it brings tells whether it is there. */
  follow(gateway: string): void;
}

/** What a watch needs of the others. */
export interface WatchContext {
  network: NetworkState;
  catalogue: Catalogue;
  nameOf(mac: string): string | undefined;
  gateways: WatchedGateways;
  schedule: WatchSchedule<Watched>;
  /** What a store would hold has changed. */
  changed(): void;
  now(): number;
  /** Whether there is room for one more. */
  mayAdd(): boolean;
}

/** What goes on over a deploy, and where a store brings it back over a restart. */
export interface KeptWatch {
  filter: string;
  entries: Map<string, Watched>;
}

export class DeviceWatch implements WatchedChecker {
  readonly #context: WatchContext;
  readonly #settings: WatchSettings;
  readonly #listener: WatchListener;
  readonly #gateways: ReadonlySet<string>;
  readonly #devices: ReadonlySet<string>;
  readonly #watchesGateways: boolean;
  /** Something besides silence is watched, which each report may change. */
  readonly #judgesReports: boolean;
  readonly #entries = new Map<string, Watched>();
  /** What may be left out when there are too many: heard a few times, expected by nobody. */
  readonly #passing = new Set<Watched>();
  /** Of the labels; undefined while they are not known. */
  #labelled: ReadonlySet<string> | undefined;
  /** Gateways that bring a device of the list. */
  readonly #followed = new Set<string>();
  #needing = 0;
  #isFull = false;

  constructor(context: WatchContext, settings: WatchSettings, listener: WatchListener) {
    this.#context = context;
    this.#settings = settings;
    this.#listener = listener;
    this.#gateways = new Set(settings.gateways);
    this.#devices = new Set(settings.devices);
    this.#watchesGateways = settings.conditions.includes('gateway-silent');
    this.#judgesReports = settings.conditions.some((one) => one !== 'silent' && one !== 'gateway-silent');
    for (const id of settings.devices) {
      this.#expect(id, 'device');
    }
    if (this.#watchesGateways) {
      for (const id of settings.gateways) {
        this.#expect(id, 'gateway');
      }
    }
  }

  /** How many are watched, and how many of them need somebody. */
  get counts(): { watched: number; active: number } {
    return { watched: this.#entries.size, active: this.#needing };
  }

  /** By their MACs. */
  get entries(): ReadonlyMap<string, Watched> {
    return this.#entries;
  }

  /** What has been told and is not over, the oldest first. */
  active(): ConditionChange[] {
    const found: [Watched, Alarm][] = [];
    for (const entry of this.#entries.values()) {
      for (const alarm of entry.alarms) {
        if (alarm.isTold) {
          found.push([entry, alarm]);
        }
      }
    }
    found.sort(([, one], [, other]) => one.beganAt - other.beganAt);
    return found.map(([entry, alarm]) => this.#changeOf(entry, alarm, true));
  }

  /** Gateways that carry the labels; a gateway that carries none any more is not watched any more, which ends its conditions. */
  setLabelled(gateways: ReadonlySet<string>): void {
    const before = this.#labelled;
    if (before && before.size === gateways.size && [...gateways].every((id) => before.has(id))) {
      return;
    }
    this.#labelled = gateways;
    for (const entry of [...this.#entries.values()]) {
      if (!this.#isChosen(entry)) {
        this.#tellEnds(entry);
        this.#remove(entry);
      }
    }
    if (this.#watchesGateways && this.#devices.size === 0) {
      for (const id of gateways) {
        if (this.#isOwnGateway(id)) {
          this.#expect(id, 'gateway');
        }
      }
    }
    this.#listener.counted();
  }

  /** Call it for every report, of whatever it is. */
  heard(device: Readonly<DeviceState>, gateway: Readonly<GatewayState>, at: Readonly<ReportTopic>): void {
    if (this.#watchesGateways) {
      this.#heardGateway(device, gateway);
    }
    const entry = this.#entries.get(device.id) ?? this.#addHeard(device, gateway);
    if (entry === undefined) {
      return;
    }
    if (entry.state !== device) {
      entry.state = device;
    }
    if (this.#devices.size > 0) {
      this.#follow(gateway.id);
    }
    if (this.#judgesReports || entry.alarms.length > 0) {
      this.#judge(entry, at);
    } else if (entry.kind === 'device' && (entry.hearings !== device.hearings || entry.place < 0)) {
      this.#heardAnew(entry, device);
    }
  }

  /** Judges what is known now, and sees to it that it is looked at again when that may change. */
  check(entry: Watched): void {
    if (this.#entries.get(entry.id) === entry) {
      this.#judge(entry, undefined);
    }
  }

  /** Ends: nothing is told any more. */
  close(): KeptWatch {
    for (const entry of this.#entries.values()) {
      this.#unschedule(entry);
    }
    return { filter: this.#filter, entries: this.#entries };
  }

  /** Goes on with what was watched before under the same name. */
  takeOver({ filter, entries }: KeptWatch): void {
    const isSame = filter === this.#filter;
    for (const before of entries.values()) {
      const entry = this.#entries.get(before.id) ?? this.#add(before.id, before.kind);
      if (entry === undefined) {
        continue;
      }
      const { isExpected } = entry;
      Object.assign(entry, this.#continued(before, isSame));
      entry.isExpected ||= isExpected;
      if (entry.hearings >= MIN_HEARINGS || entry.isExpected) {
        this.#passing.delete(entry);
      }
      this.#followGateway(entry);
      this.#restoreAlarms(entry, before.alarms);
    }
    this.#listener.counted();
  }

  /** Takes one of a store. */
  restore(
    id: string,
    kind: Presence['kind'],
    stored: Pick<Watched, 'storedGateway' | 'storedIntervalMs' | 'alarms'>,
  ): void {
    const entry = this.#entries.get(id) ?? this.#add(id, kind);
    if (entry === undefined) {
      return;
    }
    entry.storedGateway = stored.storedGateway;
    this.#followGateway(entry);
    entry.storedIntervalMs = stored.storedIntervalMs;
    entry.isExpected = true;
    this.#passing.delete(entry);
    this.#restoreAlarms(entry, stored.alarms);
    this.#listener.counted();
  }

  /** What it hears; of what one watch does not hear it knows no silence. */
  get #filter(): string {
    const { gateways, devices, labels, conditions } = this.#settings;
    return JSON.stringify([gateways, devices, labels, hearsEverything(conditions)]);
  }

  #continued(before: Watched, isSame: boolean): Partial<Watched> {
    const { state, gatewayState, since, storedGateway, storedIntervalMs, hearings, isExpected } = before;
    return {
      state,
      gatewayState,
      since: isSame || before.alarms.some(isOfSilence) ? since : this.#context.now(),
      storedGateway,
      storedIntervalMs,
      hearings,
      isExpected,
    };
  }

  #restoreAlarms(entry: Watched, alarms: readonly Alarm[]): void {
    const { conditions } = this.#settings;
    const isNew = ({ condition }: Alarm) => !entry.alarms.some((alarm) => alarm.condition === condition);
    const restored = alarms.filter((alarm) => conditions.includes(alarm.condition) && isNew(alarm));
    const needed = entry.alarms.some(({ isTold }) => isTold);
    if (!this.#isChosen(entry)) {
      this.#remove(entry);
      return;
    }
    // What has begun anew and was not told yet goes on as it was.
    const told = alarms.filter(({ isTold }) => isTold);
    for (const alarm of entry.alarms) {
      const earlier = told.find(({ condition }) => condition === alarm.condition);
      if (earlier && !alarm.isTold) {
        Object.assign(alarm, { isTold: true, since: earlier.since, beganAt: earlier.beganAt });
      }
    }
    entry.alarms.push(
      ...restored.map((alarm) => ({ ...alarm, dueAt: this.#context.schedule.time + HOLD_MS })),
    );
    if (!needed && entry.alarms.some(({ isTold }) => isTold)) {
      this.#needing++;
    }
    this.#context.schedule.set(entry, this.#context.schedule.time);
  }

  #followGateway(entry: Watched): void {
    const gateway = gatewayOf(entry);
    if (this.#devices.has(entry.id) && gateway !== undefined) {
      this.#follow(gateway);
    }
  }

  #follow(gateway: string): void {
    if (!this.#followed.has(gateway) && this.#followed.size < MAX_FOLLOWED && this.#isOwnGateway(gateway)) {
      this.#followed.add(gateway);
      this.#listener.follow(gateway);
    }
  }

  #heardGateway(device: Readonly<DeviceState>, gateway: Readonly<GatewayState>): void {
    let entry = this.#entries.get(gateway.id);
    if (entry === undefined && this.#passes(device.id, gateway.id)) {
      entry = this.#add(gateway.id, 'gateway');
    }
    if (entry?.kind !== 'gateway') {
      return;
    }
    entry.gatewayState = gateway;
    if (entry.alarms.length > 0) {
      this.#judge(entry, undefined);
    } else if (entry.hearings !== gateway.hearings || entry.place < 0) {
      this.#heardAnew(entry, gateway);
    }
  }

  #addHeard(device: Readonly<DeviceState>, { id }: Readonly<GatewayState>): Watched | undefined {
    if (this.#devices.size > 0 || !this.#passes(device.id, id)) {
      return undefined;
    }
    return this.#add(device.id, device.id === id ? 'gateway' : 'device');
  }

  /** By the gateway that brought a report of the device. */
  #passes(device: string, gateway: string): boolean {
    return (this.#devices.size === 0 || this.#devices.has(device)) && this.#isOwnGateway(gateway);
  }

  #isOwnGateway(gateway: string): boolean {
    const isListed = this.#gateways.size === 0 || this.#gateways.has(gateway);
    return isListed && (this.#settings.labels.length === 0 || this.#labelled?.has(gateway) === true);
  }

  /** Whether it still passes; while the labels are not known nobody can tell. */
  #isChosen(entry: Watched): boolean {
    const { id, kind, state, storedGateway } = entry;
    if (kind === 'device' && this.#devices.size > 0) {
      return this.#devices.has(id);
    }
    if (this.#settings.labels.length > 0 && this.#labelled === undefined) {
      return true;
    }
    if (kind === 'gateway') {
      return (this.#watchesGateways || entry.state !== undefined) && this.#isOwnGateway(id);
    }
    const heardBy = state?.links.map(({ gateway }) => gateway) ?? [];
    return (
      [...heardBy, storedGateway].some((gateway) => gateway !== undefined && this.#isOwnGateway(gateway)) ||
      (heardBy.length === 0 && storedGateway === undefined)
    );
  }

  /** It is missed from now on, also when nothing of it is heard. */
  #expect(id: string, kind: Presence['kind']): void {
    const entry = this.#entries.get(id) ?? this.#add(id, kind);
    if (entry) {
      entry.isExpected = true;
      this.#passing.delete(entry);
      this.#context.schedule.set(entry, this.#context.schedule.time);
    }
  }

  #add(id: string, kind: Presence['kind']): Watched | undefined {
    if (!this.#context.mayAdd() && !this.#leaveOut()) {
      this.#tellFull();
      return undefined;
    }
    const entry = newWatched(id, kind, this, this.#context.now());
    this.#entries.set(id, entry);
    this.#passing.add(entry);
    this.#context.changed();
    this.#listener.counted();
    return entry;
  }

  #tellFull(): void {
    if (!this.#isFull) {
      this.#isFull = true;
      this.#listener.full();
    }
  }

  /** Makes room: of what was heard a few times, the first one that needs nobody. */
  #leaveOut(): boolean {
    for (const entry of this.#passing) {
      if (entry.alarms.length === 0) {
        this.#remove(entry);
        return true;
      }
    }
    return false;
  }

  #remove(entry: Watched): void {
    this.#unschedule(entry);
    this.#passing.delete(entry);
    if (this.#entries.delete(entry.id) && entry.alarms.some(({ isTold }) => isTold)) {
      this.#needing--;
    }
  }

  #unschedule(entry: Watched): void {
    this.#context.schedule.remove(entry);
    this.#stopWaiting(entry);
  }

  #stopWaiting(entry: Watched): void {
    if (entry.waitsFor.length > 0) {
      for (const { waiting } of entry.waitsFor) {
        waiting.delete(entry);
      }
      entry.waitsFor = [];
    }
  }

  /** Its interval may be known now, or shorter than before: then it is looked at earlier. */
  #heardAnew(entry: Watched, heard: Readonly<{ hearings: number }>): void {
    entry.hearings = heard.hearings;
    if (entry.hearings === MIN_HEARINGS) {
      this.#passing.delete(entry);
      this.#context.changed();
    }
    this.#stopWaiting(entry);
    const limit = this.#missedAfter(entry);
    const { schedule } = this.#context;
    if (limit !== undefined && (entry.place < 0 || entry.deadline > schedule.time + limit)) {
      schedule.set(entry, schedule.time + limit + 1);
    }
  }

  /** @returns milliseconds; undefined: nobody asked for its silence, or it is not missed */
  #missedAfter(entry: Watched): number | undefined {
    const condition = entry.kind === 'gateway' ? 'gateway-silent' : 'silent';
    return this.#settings.conditions.includes(condition) ? limitOf(entry, this.#settings) : undefined;
  }

  /** @param at the report that was just heard; undefined: none of its own */
  #judge(entry: Watched, at: Readonly<ReportTopic> | undefined): void {
    const silence = this.#silenceOf(entry, at !== undefined);
    const presence = this.#presenceOf(entry, silence);
    for (const condition of this.#settings.conditions) {
      this.#judgeOne(entry, condition, presence, at);
    }
    this.#scheduleNext(entry, silence);
  }

  #judgeOne(
    entry: Watched,
    condition: Condition,
    presence: Presence,
    at: Readonly<ReportTopic> | undefined,
  ): void {
    const verdict = CONDITIONS[condition](presence, this.#settings);
    const alarm = entry.alarms.find((one) => one.condition === condition);
    if (verdict === undefined) {
      if (alarm && !(alarm.isStored && !showsEnd(alarm, entry, presence, at))) {
        this.#end(entry, alarm, presence);
      }
      return;
    }
    const known = alarm ?? this.#begin(entry, condition);
    Object.assign(known, verdict);
    known.isStored = false;
    if (condition === 'error') {
      known.identifier = entry.state?.error?.identifier;
    }
    if (!known.isTold && this.#context.schedule.time >= known.dueAt) {
      this.#tellBegin(entry, known);
    }
  }

  #begin(entry: Watched, condition: Condition): Alarm {
    const now = this.#context.now();
    const alarm: Alarm = {
      condition,
      since: wallTime(now),
      beganAt: now,
      dueAt: this.#context.schedule.time + HOLD_MS,
      isTold: false,
      value: undefined,
      limit: undefined,
      identifier: undefined,
      isStored: false,
    };
    entry.alarms.push(alarm);
    return alarm;
  }

  #tellBegin(entry: Watched, alarm: Alarm): void {
    if (!entry.alarms.some(({ isTold }) => isTold)) {
      this.#needing++;
    }
    alarm.isTold = true;
    this.#tell(entry, alarm, true);
  }

  #end(entry: Watched, alarm: Alarm, presence: Presence): void {
    entry.alarms = entry.alarms.filter((one) => one !== alarm);
    if (alarm.isTold) {
      alarm.value = READINGS[alarm.condition]?.(presence);
      if (!entry.alarms.some(({ isTold }) => isTold)) {
        this.#needing--;
      }
      this.#tell(entry, alarm, false);
    }
  }

  #tellEnds(entry: Watched): void {
    for (const alarm of entry.alarms) {
      if (alarm.isTold) {
        this.#tell(entry, alarm, false);
      }
    }
  }

  #tell(entry: Watched, alarm: Alarm, isActive: boolean): void {
    this.#context.schedule.sent();
    this.#context.changed();
    this.#listener.changed(this.#changeOf(entry, alarm, isActive));
    this.#listener.counted();
  }

  #changeOf(entry: Watched, { condition, since, value, limit }: Alarm, active: boolean): ConditionChange {
    const { id: device } = entry;
    const gateway = entry.kind === 'gateway' ? device : gatewayOf(entry);
    const deviceName = this.#context.nameOf(device);
    return {
      condition,
      active,
      ...(gateway !== undefined && { gateway }),
      device,
      ...(deviceName !== undefined && { deviceName }),
      since,
      ...(value !== undefined && { value }),
      ...(limit !== undefined && { limit }),
    };
  }

  #silenceOf(entry: Watched, isHeardNow: boolean): Silence | undefined {
    const limit = this.#missedAfter(entry);
    if (limit === undefined) {
      return undefined;
    }
    if (isHeardNow) {
      return heardNow(limit);
    }
    const { network } = this.#context;
    return entry.kind === 'gateway'
      ? gatewaySilence(network, entry, limit)
      : deviceSilence(network, entry, limit, this.#gatewaysOf(entry, limit));
  }

  /** Those that have heard it about when it was heard last. */
  #gatewaysOf({ state, storedGateway }: Watched, limitMs: number): WatchedGateway[] {
    const { gateways } = this.#context;
    if (state === undefined) {
      return storedGateway === undefined ? [] : [gateways.need(storedGateway)];
    }
    const found: WatchedGateway[] = [];
    for (const { gateway, heardAt } of state.links) {
      const known = heardAt >= state.heardAt - limitMs ? gateways.get(gateway) : undefined;
      if (known && !found.includes(known)) {
        found.push(known);
      }
    }
    return found;
  }

  #presenceOf(entry: Watched, silence: Silence | undefined): Presence {
    const { network, catalogue } = this.#context;
    const { kind, state, gatewayState } = entry;
    // Once it is silent only a report ends that, whatever becomes of its gateways.
    const silentMs = entry.alarms.some(isOfSilence) ? silence?.unheardMs : silence?.silentMs;
    const intervalMs = intervalOf(entry);
    if (gatewayState) {
      return { ...presenceOfGateway(network, catalogue, gatewayState, this.#settings), silentMs, intervalMs };
    }
    if (state) {
      return { ...presenceOfDevice(network, catalogue, state, this.#settings), kind, silentMs, intervalMs };
    }
    return {
      kind,
      silentMs,
      intervalMs,
      error: undefined,
      battery: undefined,
      signal: undefined,
      isDfu: false,
    };
  }

  #scheduleNext(entry: Watched, silence: Silence | undefined): void {
    const { schedule } = this.#context;
    this.#stopWaiting(entry);
    let next = Number.POSITIVE_INFINITY;
    for (const { isTold, dueAt } of entry.alarms) {
      next = isTold ? next : Math.min(next, dueAt);
    }
    if (silence && !entry.alarms.some(isOfSilence)) {
      if (silence.leftMs !== undefined) {
        next = Math.min(next, schedule.time + Math.max(0, silence.leftMs) + 1);
      }
      this.#waitFor(entry, silence.waitsFor);
    }
    if (next === Number.POSITIVE_INFINITY) {
      schedule.remove(entry);
    } else if (entry.place < 0 || entry.deadline > next) {
      // An earlier look finds out that it was too early; to move it with every report would cost more.
      schedule.set(entry, next);
    }
  }

  #waitFor(entry: Watched, gateways: readonly WatchedGateway[]): void {
    if (gateways.length > 0) {
      entry.waitsFor = [...gateways];
      for (const { waiting } of gateways) {
        waiting.add(entry);
      }
    }
  }
}

const isOfSilence = ({ condition }: Alarm): boolean =>
  condition === 'silent' || condition === 'gateway-silent';

/** Whether all that comes counts; else only what tells of the conditions. */
export const hearsEverything = (conditions: readonly Condition[]): boolean =>
  conditions.includes('silent') || conditions.includes('gateway-silent');

/** What is said of a condition that is over. */
const READINGS: Partial<Record<Condition, (presence: Presence) => number | undefined>> = {
  'battery-low': ({ battery }) => battery,
  'weak-signal': ({ signal }) => signal,
};

/** Whether what was told before the start is over: what is not known any more does not say so. */
function showsEnd(
  { condition, identifier }: Alarm,
  { kind, state, gatewayState, since }: Watched,
  { battery, signal }: Presence,
  at: Readonly<ReportTopic> | undefined,
): boolean {
  switch (condition) {
    case 'silent':
    case 'gateway-silent':
      return ((kind === 'gateway' ? gatewayState : state)?.heardAt ?? Number.NEGATIVE_INFINITY) >= since;
    case 'battery-low':
      return battery !== undefined;
    case 'weak-signal':
      return signal !== undefined;
    case 'dfu':
      return at !== undefined && at.kind !== 'rssi';
    case 'error':
      return (
        at !== undefined &&
        at.identifier === identifier &&
        (identifier === undefined ? at.kind === 'heartbeat' : at.kind !== 'measurement-error')
      );
  }
}
