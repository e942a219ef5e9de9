// What one watch knows of a gateway or device beside the network's state, and for how long it is silent.
import type { Scheduled } from '../collections/deadline-heap.ts';
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
import { lastHeard, linkOf, mostUsed } from './links.ts';
import type { NetworkState } from './network-state.ts';

/** Of what is expected and was not heard often enough: a device repeats its properties about every 20 minutes. */
const ASSUMED_INTERVAL_MS = 20 * 60_000;
/** What was not heard for so long, and for longer than the limit, is not counted on: the others are believed. */
const GONE_MS = 4 * 3_600_000;

/** After a start gateways need this time to come back: it makes nobody silent who was heard before. */
const RETURN_MS = 60_000;

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
  /** Where it holds; see `gatewayStill`. */
  gateway: string | undefined;
  /** Of the condition `error`: what the device has reported since the start. */
  errors: readonly DeviceError[];
  /** Known from before the start: it is not over before something shows that it is. */
  isStored: boolean;
  /** Of the condition `error`: the properties of which that holds; null: the heartbeat. */
  storedErrors: readonly (string | null)[];
}

/** All times are milliseconds of `performance.now()`. */
export interface Watched extends Scheduled {
  readonly id: string;
  /** A device that brings reports is a gateway. */
  kind: Presence['kind'];
  readonly watch: WatchedChecker;
  /** What was heard; undefined: nothing yet. Of a gateway: its own reports. */
  state: Readonly<DeviceState> | undefined;
  gatewayState: Readonly<GatewayState> | undefined;
  /** Since then silence counts. */
  since: number;
  /** It is listed, carries a label, or was known before the start: it is missed also when it was never heard. */
  isExpected: boolean;
  /** From before the start: by which gateway it was heard, and how often. */
  storedGateway: string | undefined;
  /** That brought most of its reports. */
  storedMainGateway: string | undefined;
  storedIntervalMs: number | undefined;
  /** It was watched before the start, and the only device of its gateway. */
  wasStored: boolean;
  wasAlone: boolean;
  /** It was given the time for one more report since it was heard last. */
  wasSpared: boolean;
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
    id,
    kind,
    watch,
    state: undefined,
    gatewayState: undefined,
    since,
    isExpected: false,
    storedGateway: undefined,
    storedMainGateway: undefined,
    storedIntervalMs: undefined,
    wasStored: false,
    wasAlone: false,
    wasSpared: false,
    leastStoredMs: 0,
    hearings: 0,
    isKnown: false,
    alarms: [],
    waitsFor: [],
  };
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

/** Where the silence of something stands; times in milliseconds. */
export interface Silence {
  /** For how long it was not heard. */
  unheardMs: number;
  /** As far as that is its own silence and not that of its gateway. */
  silentMs: number;
  /** After so long it will be silent; undefined: that depends on the gateways. */
  leftMs: number | undefined;
  /** Its time is over, but nobody can tell before one of these is heard. */
  waitsFor: WatchedGateway[];
}

export function gatewaySilence(network: NetworkState, entry: Watched, limitMs: number): Silence {
  const heardAt = Math.max(entry.since, entry.gatewayState?.heardAt ?? entry.since);
  const silentMs = unheardSince(network, entry, heardAt);
  return { unheardMs: silentMs, silentMs, leftMs: limitMs - silentMs, waitsFor: [] };
}

/** @param at when it was heard last, or since when it counts */
function unheardSince(network: NetworkState, { since, wasStored }: Readonly<Watched>, at: number): number {
  const ms = network.listenedMs(at);
  const returningMs =
    wasStored && at === since ? Math.min(RETURN_MS, network.listenedMs(network.startedAt)) : 0;
  return Math.max(0, ms - returningMs);
}

/** Since when that counts which was silent for so long before the start: the time until flows could receive reports does not. */
export function silentSince(network: NetworkState, silentMs: number): number {
  const { startedAt } = network;
  return startedAt + network.listenedMs(startedAt) - silentMs;
}

/** Of what was heard just now. */
export const heardNow = (limitMs: number): Silence => ({
  unheardMs: 0,
  silentMs: 0,
  leftMs: limitMs,
  waitsFor: [],
});

/** Whether no other device has shown for long that the gateway is there: none has, or what did was replaced or has passed by. */
export function isAloneAt(
  network: NetworkState,
  { id, state: device, since }: Readonly<Watched>,
  { state, cameAt }: Readonly<WatchedGateway>,
  limitMs: number,
): boolean {
  if (state === undefined || state.devices <= 1) {
    return state !== undefined;
  }
  const othersAt = Math.max(cameAt, state.latest === id ? state.othersAt : state.heardAt);
  const aloneMs =
    network.listenedMs(othersAt) - network.listenedMs(Math.max(since, device?.heardAt ?? since));
  return aloneMs > Math.max(GONE_MS, limitMs);
}

/**
 * A device is silent when it was not heard for the limit, and a gateway that would have brought its report was heard
 * after that: else nobody can tell which of them is silent. The time in which that gateway was away does not count. One
 * that brings few of the device's reports proves less, the longer it must have brought none: of one in three the pauses
 * are not only three times as long, but vary as much.
 * @param gateways that may bring its reports
 * @param isSet the limit was set by the user, and is what counts then
 */
export function deviceSilence(
  network: NetworkState,
  entry: Watched,
  limitMs: number,
  gateways: readonly WatchedGateway[],
  isSet: boolean,
): Silence {
  const heardAt = Math.max(entry.since, entry.state?.heardAt ?? entry.since);
  // Of a gateway that has just come, for the first time since a restart perhaps, the other devices are still to be heard.
  const isKnown = ({ cameAt }: WatchedGateway) => cameAt <= heardAt || network.listenedMs(cameAt) > limitMs;
  // Nothing but this device shows whether such a gateway is there.
  const isAlone = gateways.every((one) =>
    entry.state === undefined
      ? entry.wasAlone && one.state === undefined
      : isKnown(one) && isAloneAt(network, entry, one, limitMs),
  );
  const unheardMs = unheardSince(network, entry, heardAt);
  if (isAlone) {
    return { unheardMs, silentMs: unheardMs, leftMs: limitMs - unheardMs, waitsFor: [] };
  }
  const silence: Silence = { unheardMs, silentMs: 0, leftMs: undefined, waitsFor: [] };
  // It may have been due just before, and was to be heard an interval later.
  const leastUntoldMs = isSet ? Math.max(0, limitMs - (intervalOf(entry) ?? 0)) : Number.POSITIVE_INFINITY;
  const missing = gateways.find(({ id }) => !linkOf(entry.state?.links ?? [], id));
  for (const gateway of gateways) {
    const since = missedMs(network, entry, heardAt, gateway, leastUntoldMs);
    const unheard = gateway.heardAt === undefined ? since : network.listenedMs(gateway.heardAt);
    const { patienceMs, lastsMs } = isSet
      ? atOnce(limitMs)
      : patienceWith(network, entry, gateway, limitMs, missing);
    const silentMs = since - unheard;
    silence.silentMs = Math.max(
      silence.silentMs,
      silentMs > patienceMs ? silentMs : Math.min(silentMs, limitMs),
    );
    const leftMs = Math.min(patienceMs - since, lastsMs);
    if (leftMs > 0) {
      silence.leftMs = Math.min(leftMs, silence.leftMs ?? leftMs);
    } else {
      silence.waitsFor.push(gateway);
    }
  }
  return silence;
}

/**
 * For how long a device was not heard by a gateway that was there. One usual interval before the last absence does not count
 * either, as nobody has heard what it reported in one. Of pauses that may have been none only the last one counts, and where
 * nothing else does: a gateway whose other devices rest for long has such pauses all the time.
 */
function missedMs(
  network: NetworkState,
  entry: Watched,
  heardAt: number,
  { absences, unclear, untold }: WatchedGateway,
  leastUntoldMs: number,
): number {
  const lengthOf = ({ from, until }: Absence): number =>
    until > heardAt ? network.listenedMs(Math.max(from, heardAt)) - network.listenedMs(until) : 0;
  const unheardMs = unheardSince(network, entry, heardAt);
  let last = absences.at(-1);
  let awayMs = absences.reduce((sum, one) => sum + lengthOf(one), 0);
  if (awayMs === 0) {
    const isUntold = untold !== undefined && lengthOf(untold) > leastUntoldMs;
    last = unclear && lengthOf(unclear) > 0 ? unclear : isUntold ? untold : undefined;
    awayMs = last ? lengthOf(last) : 0;
  }
  return last === undefined || awayMs === 0
    ? unheardMs
    : Math.max(unheardMs - awayMs - (intervalOf(entry) ?? 0), network.listenedMs(last.until));
}

/** For so long after the start the gateway of before is waited for, in milliseconds; less than 0: it is gone. */
const returnsWithinMs = (network: NetworkState, limitMs: number): number =>
  Math.max(GONE_MS, limitMs) - network.listenedMs(network.startedAt);

/**
 * The gateway that brought most of its reports before the start, as long as it has brought none since and may still be
 * away: not when the device is heard by others beside it, and not for hours.
 */
export function missingGateway(
  network: NetworkState,
  { state, storedMainGateway }: Readonly<Watched>,
  gateways: { need(id: string): WatchedGateway },
  limitMs: number,
): WatchedGateway | undefined {
  if (storedMainGateway === undefined || linkOf(state?.links ?? [], storedMainGateway)) {
    return undefined;
  }
  const gateway = gateways.need(storedMainGateway);
  const isGone = returnsWithinMs(network, limitMs) <= 0;
  const hasLeft =
    gateway.state !== undefined && state !== undefined && state.heardAt - gateway.cameAt > limitMs;
  return isGone || hasLeft ? undefined : gateway;
}

/** All in milliseconds. */
interface Patience {
  /** For how long the gateway must have brought nothing of the device. */
  patienceMs: number;
  /** For how long that is so. */
  lastsMs: number;
}

const atOnce = (limitMs: number): Patience => ({ patienceMs: limitMs, lastsMs: Number.POSITIVE_INFINITY });

function patienceWith(
  network: NetworkState,
  entry: Watched,
  { id }: WatchedGateway,
  limitMs: number,
  missing: WatchedGateway | undefined,
): Patience {
  const links = entry.state?.links ?? [];
  if (missing !== undefined && missing.id !== id) {
    // Nobody knows any more how few of the reports this one brings.
    return { patienceMs: Number.POSITIVE_INFINITY, lastsMs: returnsWithinMs(network, limitMs) };
  }
  const [own, most] = [linkOf(links, id), mostUsed(links)];
  if (own === undefined || most === undefined || own === most) {
    return atOnce(limitMs);
  }
  const lastsMs = Math.max(GONE_MS, limitMs) - network.listenedMs(most.heardAt);
  return lastsMs > 0 ? { patienceMs: limitMs / (own.lately / most.lately) ** 2, lastsMs } : atOnce(limitMs);
}
