// For how long a watched gateway or device is silent, as far as that is its own silence, and when it will be told.
import { type Link, linkOf, mostUsed, shareOf } from './links.ts';
import { RETURN_MS } from './listening.ts';
import type { NetworkState } from './network-state.ts';
import { type Absence, intervalOf, type Watched, type WatchedGateway } from './watched.ts';

/** What was not heard for so long, and for longer than the limit, is not counted on: the others are believed. */
const GONE_MS = 4 * 3_600_000;
export const goneAfterMs = (limitMs: number): number => Math.max(GONE_MS, limitMs);

/** Where the silence of something stands; times in milliseconds. */
export interface Silence {
  /** For how long it was not heard. */
  unheardMs: number;
  /** As far as that is its own silence and not that of its gateway. */
  silentMs: number;
  /** As `silentMs`, and nothing is spared: a store holds it, so that all starts together spare one interval. */
  unsparedMs: number;
  /** After so long it will be silent; infinity: that depends on the gateways, or on the broker. */
  leftMs: number;
  /** Its time is over, but nobody can tell before one of these is heard. */
  waitsFor: WatchedGateway[];
}

export function gatewaySilence(network: NetworkState, entry: Watched, limitMs: number): Silence {
  const heardAt = Math.max(entry.since, entry.gatewayState?.heardAt ?? entry.since);
  return ownSilence(unheardSince(network, entry, heardAt, limitMs), limitMs);
}

const ownSilence = ({ ms, sparedMs, restsMs }: Unheard, limitMs: number): Silence => ({
  ...{ unheardMs: ms, silentMs: sparedMs, unsparedMs: ms },
  ...{ leftMs: limitMs - sparedMs + restsMs, waitsFor: [] },
});

/** In milliseconds. */
interface Unheard {
  ms: number;
  /** Less up to one usual interval, in all, where nobody can have heard what was reported for a time. */
  sparedMs: number;
  /** For so long neither of them grows. */
  restsMs: number;
}

/**
 * For how long something was not heard. After a start, after the broker was away, and where it was watched before its watch
 * began, it has one usual interval left.
 * @param heardAt when it was heard last, or since when it counts
 * @param away for so long its gateway was, until when
 */
function unheardSince(
  network: NetworkState,
  entry: Readonly<Watched>,
  heardAt: number,
  limitMs: number,
  away?: { ms: number; until: number },
): Unheard {
  const lostUntil = unheardUntil(network, entry, heardAt);
  const sinceMs = lostUntil === undefined ? RETURN_MS : network.listenedMs(lostUntil);
  const restsMs = Math.max(0, RETURN_MS - sinceMs);
  const ms = Math.max(0, countedMs(network, heardAt) - (away?.ms ?? 0));
  const intervalMs = intervalOf(entry) ?? 0;
  const backMs = away ? network.listenedMs(away.until) : ms;
  const leftMs = Math.max(0, limitMs - intervalMs);
  const mostMs = lostUntil === undefined ? ms : leftMs + Math.max(0, sinceMs - RETURN_MS);
  return { ms, sparedMs: Math.max(ms - intervalMs, Math.min(backMs, mostMs)), restsMs };
}

/** Until when nobody can have heard what was reported after it was heard last: without the broker, or before its watch began. */
function unheardUntil(
  network: NetworkState,
  { unwatchedUntil }: Readonly<Watched>,
  heardAt: number,
): number | undefined {
  const lostUntil = network.lostUntil(heardAt);
  return heardAt < unwatchedUntil ? Math.max(unwatchedUntil, lostUntil ?? unwatchedUntil) : lostUntil;
}

/** The time since then in which something was to be heard. */
const countedMs = (network: NetworkState, since: number): number =>
  network.listenedMs(since) - network.returningMs(since);

/**
 * Since when that counts which was silent for so long before its watch began; the time in which flows could not receive
 * reports does not. Since the start, where the watch began with it: what follows a start is spared, also where the store is
 * read long after it.
 */
export function silentSince(network: NetworkState, silentMs: number, watchedFrom: number): number {
  return network.momentOf(Math.max(silentMs, network.listenedMs(watchedFrom)));
}

/** Of what was heard just now. */
export const heardNow = (limitMs: number): Silence => ({
  unheardMs: 0,
  silentMs: 0,
  unsparedMs: 0,
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
  return aloneMs > goneAfterMs(limitMs);
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
  const unheard = unheardSince(network, entry, heardAt, limitMs);
  if (isAlone) {
    return ownSilence(unheard, limitMs);
  }
  const silence: Silence = {
    ...{ unheardMs: unheard.ms, silentMs: 0, unsparedMs: 0 },
    ...{ leftMs: Number.POSITIVE_INFINITY, waitsFor: [] },
  };
  // It may have been due just before, and was to be heard an interval later.
  const leastUntoldMs = isSet ? Math.max(0, limitMs - (intervalOf(entry) ?? 0)) : Number.POSITIVE_INFINITY;
  const missing = gateways.find(({ id }) => !linkOf(entry.state?.links ?? [], id));
  for (const gateway of gateways) {
    const { ms, sparedMs, restsMs } = missedBy(network, entry, heardAt, gateway, limitMs, leastUntoldMs);
    const gatewayMs = gateway.heardAt === undefined ? ms : countedMs(network, gateway.heardAt);
    const { patienceMs, lastsMs } = isSet
      ? atOnce(limitMs)
      : patienceWith(network, entry, gateway, limitMs, missing);
    const own = (of: number) =>
      of - gatewayMs > patienceMs ? of - gatewayMs : Math.min(of - gatewayMs, limitMs);
    silence.silentMs = Math.max(silence.silentMs, own(sparedMs));
    silence.unsparedMs = Math.max(silence.unsparedMs, own(ms));
    const leftMs = Math.min(patienceMs - sparedMs + restsMs, lastsMs);
    if (leftMs > 0) {
      silence.leftMs = Math.min(leftMs, silence.leftMs);
    } else {
      silence.waitsFor.push(gateway);
    }
  }
  return silence;
}

/**
 * For how long a device was not heard by a gateway that was there. Of pauses that may have been none only the last one counts,
 * and where nothing else does: a gateway whose other devices rest for long has such pauses all the time.
 */
function missedBy(
  network: NetworkState,
  entry: Watched,
  heardAt: number,
  { absences, unclear, untold }: WatchedGateway,
  limitMs: number,
  leastUntoldMs: number,
): Unheard {
  const lengthOf = ({ from, until }: Absence): number =>
    until > heardAt
      ? Math.max(0, countedMs(network, Math.max(from, heardAt)) - countedMs(network, until))
      : 0;
  let last = absences.at(-1);
  let awayMs = absences.reduce((sum, one) => sum + lengthOf(one), 0);
  if (awayMs === 0) {
    const isUntold = untold !== undefined && lengthOf(untold) > leastUntoldMs;
    last = unclear && lengthOf(unclear) > 0 ? unclear : isUntold ? untold : undefined;
    awayMs = last ? lengthOf(last) : 0;
  }
  const away = last && { ms: awayMs, until: last.until };
  return unheardSince(network, entry, heardAt, limitMs, away);
}

/** For so long after the start the gateway of before is waited for, in milliseconds; less than 0: it is gone. */
const returnsWithinMs = (network: NetworkState, limitMs: number): number =>
  goneAfterMs(limitMs) - network.listenedMs(network.startedAt);

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
  // One that is gone for good says nothing of what the others bring.
  const leftMs = ({ heardAt }: Link) => goneAfterMs(limitMs) - network.listenedMs(heardAt);
  const there = links.filter((link) => leftMs(link) > 0);
  const [own, most] = [linkOf(links, id), mostUsed(links, there)];
  if (own === undefined || most === undefined || own === most) {
    return atOnce(limitMs);
  }
  const share = Math.min(1, shareOf(links, own) / shareOf(links, most));
  return { patienceMs: limitMs / share ** 2, lastsMs: leftMs(most) };
}
