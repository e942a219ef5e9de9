// What one watch knows of a gateway or device beside the network's state.
import type { Scheduled } from '../collections/deadline-heap.ts';
import type { Linked } from '../collections/linked-list.ts';
import type { RecencyEntry } from '../collections/recency-map.ts';
import {
  type Condition,
  type ConditionLimits,
  type Presence,
  silenceLimitMs,
} from '../protocol/conditions.ts';
import type { DeviceError } from './device-errors.ts';
import { type DeviceState, type GatewayState, isOfDfuOnly } from './device-state.ts';
import { usualIntervalMs } from './interval.ts';
import { lastHeard } from './links.ts';

/** Of what is expected and was not heard often enough: a device repeats its properties about every 20 minutes. */
const ASSUMED_INTERVAL_MS = 20 * 60_000;
/** An interval that has grown so much since it was stored is stored anew. */
const MUCH_LONGER = 1.25;

/** A condition that has begun; `value` and `limit` as they were told. */
export interface Alarm {
  condition: Condition;
  /** ISO-8601, by the clock of this machine. */
  since: string;
  /** In milliseconds of `performance.now()`; negative for what began before this process. */
  beganAt: number;
  /** By the clock of the schedule: told when it has held until then. */
  dueAt: number;
  isTold: boolean;
  value: number | undefined;
  limit: number | undefined;
  /** Where it holds; see `WatchJudge`. */
  gateway: string | undefined;
  /** Of the condition `error`: what the device has reported since the start. */
  errors: readonly DeviceError[];
  /** Known from before the start: it is not over before something shows that it is. */
  isStored: boolean;
  /** Of the condition `error`: the properties of which that holds; null: the heartbeat. */
  storedErrors: readonly (string | null)[];
}

/** Listed among the passers-by where it is one. All times are milliseconds of `performance.now()`. */
export interface Watched extends Scheduled, Linked<Watched> {
  readonly id: string;
  /** A device that brings reports is a gateway. */
  kind: Presence['kind'];
  readonly watch: WatchedChecker;
  /** What was heard; undefined: nothing yet. Of a gateway: its own reports. */
  state: Readonly<DeviceState> | undefined;
  gatewayState: Readonly<GatewayState> | undefined;
  /** The last gateway of the watch that has heard it, also before the start, or where that was taken away since. */
  chosenBy: string | undefined;
  /** Since then silence counts. */
  since: number;
  /** A store knew it before its watch began, which was then: nobody may have heard it in between. Else negative infinity. */
  unwatchedUntil: number;
  /** It is listed, carries a label, or was known before the start: it is missed also when it was never heard. */
  isExpected: boolean;
  /** From before the start: by which gateway it was heard, and how often. */
  storedGateway: string | undefined;
  /** That brought most of its reports. */
  storedMainGateway: string | undefined;
  storedIntervalMs: number | undefined;
  /** It is a gateway that has brought reports, perhaps before the start. */
  hasBrought: boolean;
  /** It was watched before the start, and the only device of its gateway. */
  wasAlone: boolean;
  /** What a store holds of its interval is as long at least; 0: nothing yet. */
  leastStoredMs: number;
  /** Of those that are watched already, when it was looked at last. */
  hearings: number;
  /** Its usual interval is: it is no passer-by. */
  isKnown: boolean;
  alarms: Alarm[];
  /** Gateways that must be heard before anybody can tell whether it is silent. */
  waitsFor: WatchedGateway[];
}

/** What a store has of it. */
export type StoredWatched = Pick<
  Watched,
  | 'chosenBy'
  | 'storedGateway'
  | 'storedMainGateway'
  | 'storedIntervalMs'
  | 'hasBrought'
  | 'wasAlone'
  | 'isExpected'
  | 'alarms'
>;

/** Times are milliseconds of `performance.now()`. */
export interface Absence {
  /** Of one that was never heard: negative infinity. */
  readonly from: number;
  readonly until: number;
}

/** What watches know of a gateway. All times are milliseconds of `performance.now()`. */
export interface WatchedGateway extends RecencyEntry<WatchedGateway> {
  state: Readonly<GatewayState> | undefined;
  /** Undefined: nothing is known of it. What was there before the start counts as heard then. */
  heardAt: number | undefined;
  /** When it is not heard for longer than this, it is silent. */
  limitMs: number;
  /** When it was heard first after it was away, or since the start. */
  cameAt: number;
  /** The last times in which it was away, the oldest first. */
  absences: readonly Absence[];
  /** Its last silence that may have been none, as no device was missed in it, and its last pause that may have been one. */
  unclear: Absence | undefined;
  untold: Absence | undefined;
  /** Its usual interval is, and what it was before the start; see `Watched`. */
  isKnown: boolean;
  storedIntervalMs: number | undefined;
  leastStoredMs: number;
  /** What waits for its next report. */
  readonly waiting: Set<Watched>;
}

/** Who looks at it again when its time has come. */
export interface WatchedChecker {
  check(entry: Watched): void;
}

export function newWatched(
  id: string,
  kind: Presence['kind'],
  watch: WatchedChecker,
  since: number,
): Watched {
  return {
    deadline: 0,
    order: 0,
    place: -1,
    before: undefined,
    after: undefined,
    list: undefined,
    id,
    kind,
    watch,
    state: undefined,
    gatewayState: undefined,
    chosenBy: undefined,
    since,
    unwatchedUntil: Number.NEGATIVE_INFINITY,
    isExpected: false,
    storedGateway: undefined,
    storedMainGateway: undefined,
    storedIntervalMs: undefined,
    hasBrought: false,
    wasAlone: false,
    leastStoredMs: 0,
    hearings: 0,
    isKnown: false,
    alarms: [],
    waitsFor: [],
  };
}

/** How often it was heard before, as what it was, says nothing of how often it will be. */
export function becomes(entry: Watched, kind: Presence['kind']): void {
  if (entry.kind !== kind) {
    entry.kind = kind;
    entry.storedIntervalMs = undefined;
    entry.leastStoredMs = 0;
  }
}

/**
 * What another watch knew of it goes on, but for its conditions and since when its silence counts.
 * @param kind as what it goes on
 */
export function goOn(entry: Watched, before: Readonly<Watched>, kind: Presence['kind'] = before.kind): void {
  if (kind === 'gateway') {
    // One that is on the list of devices, too, or that others have heard meanwhile.
    becomes(entry, 'gateway');
  }
  if (entry.kind === before.kind) {
    entry.storedIntervalMs = before.storedIntervalMs;
    entry.leastStoredMs = before.leastStoredMs;
  }
  // One by one: many go on at once, and a list of names takes several times as long.
  entry.state ??= before.state;
  entry.gatewayState ??= before.gatewayState;
  entry.storedGateway = before.storedGateway;
  entry.storedMainGateway = before.storedMainGateway;
  entry.hasBrought ||= before.hasBrought;
  entry.chosenBy ??= before.chosenBy;
  entry.hearings = before.hearings;
  entry.isKnown = before.isKnown;
  entry.isExpected ||= before.isExpected && kind === before.kind;
  entry.wasAlone = before.wasAlone;
}

/**
 * By an interval of a busier time a healthy device would be missed after a restart.
 * @returns whether it is to be stored anew
 */
export function noteInterval(of: Pick<Watched, 'leastStoredMs'>, intervalMs: number): boolean {
  const hasGrown = intervalMs > MUCH_LONGER * of.leastStoredMs;
  of.leastStoredMs = hasGrown ? intervalMs : Math.min(of.leastStoredMs, intervalMs);
  return hasGrown;
}

export const isOfSilence = ({ condition }: Alarm): boolean =>
  condition === 'silent' || condition === 'gateway-silent';

/** It is looked at again when one of these gateways is heard. */
export function waitFor(entry: Watched, gateways: readonly WatchedGateway[]): void {
  if (gateways.length > 0) {
    entry.waitsFor = [...gateways];
    for (const { waiting } of gateways) {
      waiting.add(entry);
    }
  }
}

export function stopWaiting(entry: Watched): void {
  if (entry.waitsFor.length > 0) {
    for (const { waiting } of entry.waitsFor) {
      waiting.delete(entry);
    }
    entry.waitsFor = [];
  }
}

/** How often it is heard usually, in milliseconds; undefined: not known, or it is an address that will be given up. */
export function knownIntervalOf(entry: Watched): number | undefined {
  const { kind, state, gatewayState, storedIntervalMs } = entry;
  const heard = kind === 'gateway' ? gatewayState : state && isOfDfuOnly(state) ? undefined : state;
  return (heard && usualIntervalMs(heard)) ?? storedIntervalMs;
}

/** As `knownIntervalOf`, or what is assumed of what is expected; undefined: it is not missed. */
export const intervalOf = (entry: Watched): number | undefined =>
  knownIntervalOf(entry) ?? (entry.isExpected ? ASSUMED_INTERVAL_MS : undefined);

/** That heard it last. */
export const gatewayOf = ({ state, storedGateway }: Readonly<Watched>): string | undefined =>
  lastHeard(state?.links ?? [])?.gateway ?? storedGateway;

/** All that are known to have heard it: of the links one that was not heard for long may be gone. */
export function knownGatewaysOf({
  state,
  chosenBy,
  storedGateway,
  storedMainGateway,
}: Readonly<Watched>): string[] {
  const heard = state?.links.map(({ gateway }) => gateway) ?? [];
  return [...heard, chosenBy, storedGateway, storedMainGateway].filter((gateway) => gateway !== undefined);
}

/** Nobody misses it after its update. */
export const isPassing = (entry: Watched): boolean =>
  entry.kind === 'device' &&
  !entry.isExpected &&
  entry.storedIntervalMs === undefined &&
  entry.state !== undefined &&
  isOfDfuOnly(entry.state);

/** @returns milliseconds; undefined: it is not missed */
export const limitOf = (entry: Watched, limits: ConditionLimits): number | undefined =>
  silenceLimitMs(limits, intervalOf(entry));
