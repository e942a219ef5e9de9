// When each gateway was heard, and when it was back after a silence: what tells its silence from that of its devices.

import { RecencyMap } from '../collections/recency-map.ts';
import { DEFAULT_LIMITS, silenceLimitMs } from '../protocol/conditions.ts';
import { mayBeAbsence } from './absences.ts';
import { type GatewayState, isPasserBy } from './device-state.ts';
import { intervalSoFarMs, usualIntervalMs } from './interval.ts';
import type { NetworkState } from './network-state.ts';
import type { Absence, Watched, WatchedGateway } from './watched.ts';

/** As many as the network's state holds. */
const MAX_GATEWAYS = 10_000;
/** A shorter gap is no silence of a gateway. */
const MIN_SILENCE_MS = 60_000;
/** Of each gateway; older ones count as if it had been there: that makes a silence longer by no more than they lasted. */
const MAX_ABSENCES = 16;
const NO_ABSENCES: readonly Absence[] = [];
/** What waits for one that finds no room needs it again when it is looked at, and takes the room of another one. */
const NO_ROOM_MS = 60_000;
/** To change their order with each of many reports would cost too much. */
const MOMENT_MS = 1_000;

export class WatchedGateways {
  readonly #network: NetworkState;
  readonly #due: (waiting: Iterable<Watched>, inMs: number) => void;
  // One that was never heard is needed: a device was heard through it before the start.
  #gateways = new RecencyMap<WatchedGateway>(
    MAX_GATEWAYS,
    ({ state }) => state !== undefined && isPasserBy(state, this.#network.now),
  );

  /** @param due called with what has waited for a gateway, and when it is to be looked at: now, when that was heard */
  constructor(network: NetworkState, due: (waiting: Iterable<Watched>, inMs: number) => void) {
    this.#network = network;
    this.#due = due;
  }

  /** Goes on with what another one knew. */
  takeOver(before: WatchedGateways): void {
    this.#gateways = before.#gateways;
  }

  get(id: string): WatchedGateway | undefined {
    return this.#gateways.get(id);
  }

  /** How often it is heard usually, in milliseconds; undefined: not known. */
  intervalOf(id: string): number | undefined {
    const gateway = this.#gateways.get(id);
    return (gateway?.state && usualIntervalMs(gateway.state)) ?? gateway?.storedIntervalMs;
  }

  /** Of which nothing may have been heard. */
  need(id: string): WatchedGateway {
    return this.#gateways.get(id) ?? this.#add(id);
  }

  /**
   * @param heardAt it was there before the start: unless it stays away, its devices do not get their time anew;
   * undefined: it was silent
   * @param intervalMs its usual interval then; undefined: not known
   */
  recall(id: string, heardAt: number | undefined, intervalMs: number | undefined): void {
    const gateway = this.need(id);
    gateway.storedIntervalMs = intervalMs ?? gateway.storedIntervalMs;
    if (gateway.state === undefined) {
      gateway.heardAt ??= heardAt;
      gateway.limitMs = Math.max(gateway.limitMs, silenceLimitMs(DEFAULT_LIMITS, intervalMs) ?? 0);
    }
  }

  /** Call it for every report. */
  heard(state: Readonly<GatewayState>): void {
    const gateway = this.#gateways.get(state.id) ?? this.#add(state.id);
    const now = state.heardAt;
    const { heardAt } = gateway;
    const isLong = heardAt !== undefined && now - heardAt > MIN_SILENCE_MS;
    const pauseMs = isLong ? this.#network.listenedMs(heardAt) : 0;
    const isTold = isLong && pauseMs > gateway.limitMs;
    // What comes in the same moment as its return is no other return.
    const isBack =
      heardAt === undefined ||
      (heardAt !== now && state.backAt === now) ||
      (isTold && state.missedAt === now);
    if (isBack) {
      gateway.absences = [...gateway.absences, absence(heardAt, now)].slice(-MAX_ABSENCES);
    } else if (isTold) {
      gateway.unclear = absence(heardAt, now);
    } else if (isLong && mayBeAbsence(state, intervalSoFarMs(state) ?? 0, pauseMs)) {
      gateway.untold = absence(heardAt, now);
    }
    if (isBack || gateway.state === undefined) {
      gateway.cameAt = now;
    }
    gateway.state = state;
    if (heardAt === undefined || now - heardAt >= MOMENT_MS) {
      this.#gateways.touch(gateway);
    }
    gateway.heardAt = now;
    this.#recallInterval(gateway, state);
    // The next pause may be its habit as soon as it is over, and was its silence until then.
    const limit = silenceLimitMs(DEFAULT_LIMITS, intervalSoFarMs(state)) ?? MIN_SILENCE_MS;
    gateway.limitMs = gateway.isKnown ? limit : Math.max(limit, gateway.limitMs);
    if (gateway.waiting.size > 0) {
      const waiting = [...gateway.waiting];
      gateway.waiting.clear();
      this.#due(waiting, 0);
    }
  }

  /** What the first reports show is less than what was known before the start. */
  #recallInterval(gateway: WatchedGateway, state: Readonly<GatewayState>): void {
    const { isKnown, storedIntervalMs } = gateway;
    gateway.isKnown = usualIntervalMs(state) !== undefined;
    if (gateway.isKnown && !isKnown && storedIntervalMs !== undefined) {
      this.#network.recallInterval('gateway', state.id, storedIntervalMs);
    }
  }

  #add(id: string): WatchedGateway {
    const gateway: WatchedGateway = {
      id,
      state: undefined,
      heardAt: undefined,
      limitMs: MIN_SILENCE_MS,
      cameAt: Number.NEGATIVE_INFINITY,
      absences: NO_ABSENCES,
      unclear: undefined,
      untold: undefined,
      isKnown: false,
      storedIntervalMs: undefined,
      leastStoredMs: 0,
      waiting: new Set<Watched>(),
      before: undefined,
      after: undefined,
      list: undefined,
    };
    const pushedOut = this.#gateways.add(gateway);
    if (pushedOut) {
      this.#due(pushedOut.waiting, NO_ROOM_MS);
    }
    return gateway;
  }
}

const absence = (from = Number.NEGATIVE_INFINITY, until: number): Absence => ({ from, until });
