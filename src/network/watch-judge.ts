// Judges what is known of one watched gateway or device, and when it is to be looked at again.
import {
  CONDITIONS,
  CONDITIONS_TOLD,
  type Condition,
  type ConditionLimits,
  type Presence,
} from '../protocol/conditions.ts';
import type { ReportTopic } from '../protocol/reports/index.ts';
import { NO_ERRORS } from './device-errors.ts';
import { mostUsed } from './links.ts';
import type { NetworkState } from './network-state.ts';
import { ASSUMED_PERIOD_MS, presenceOfDevice, presenceOfGateway } from './presence.ts';
import { showsEnd, unreported, type WatchAlarms } from './watch-alarms.ts';
import type { WatchContext, WatchedPlace, WatchSettings } from './watch-context.ts';
import {
  type Alarm,
  deviceSilence,
  gatewayOf,
  gatewaySilence,
  heardNow,
  intervalOf,
  isAloneAt,
  isOfSilence,
  isPassing,
  limitOf,
  missingGateway,
  type Silence,
  stopWaiting,
  type Watched,
  type WatchedGateway,
  waitFor,
} from './watched.ts';

const isOfDfu = ({ condition }: Alarm): boolean => condition === 'dfu';
const isToldSilent = ({ alarms }: Watched): boolean => alarms.some((one) => one.isTold && isOfSilence(one));

export class WatchJudge {
  readonly #context: WatchContext;
  readonly #settings: WatchSettings;
  readonly #alarms: WatchAlarms;
  /** Of which the broker had refused all reports when everything was settled last. */
  #refused: ReadonlySet<Watched> = new Set();

  constructor(context: WatchContext, settings: WatchSettings, alarms: WatchAlarms) {
    this.#context = context;
    this.#settings = settings;
    this.#alarms = alarms;
  }

  /** @param at the report that was just heard; undefined: none of its own */
  judge(entry: Watched, at: Readonly<ReportTopic> | undefined): void {
    const silence = this.#silenceOf(entry, at !== undefined);
    const presence = this.#presenceOf(entry, silence, at);
    for (const condition of this.#settings.conditions) {
      this.#judgeOne(entry, condition, presence, at);
    }
    this.#scheduleNext(entry, silence);
  }

  /** Its interval may be known now, or shorter than before: then it is looked at earlier. */
  heardAnew(entry: Watched): void {
    stopWaiting(entry);
    const limit = this.#missedAfter(entry);
    const { schedule } = this.#context;
    if (limit !== undefined && (entry.place < 0 || entry.deadline > schedule.time + limit)) {
      schedule.set(entry, schedule.time + limit + 1);
    }
  }

  /** See `DeviceWatches.settled`. */
  settled(entries: Iterable<Watched>, isRefused: WatchContext['isRefused'] | undefined): void {
    const before = this.#refused;
    const refused = new Set<Watched>();
    for (const entry of isRefused ? entries : []) {
      const limit = this.#missedAfter(entry);
      if (limit !== undefined && this.#isRefused(entry, this.#gatewaysOf(entry, limit), isRefused)) {
        refused.add(entry);
      }
    }
    this.#refused = refused;
    const now = this.#context.now();
    for (const entry of before) {
      if (!refused.has(entry) && !isToldSilent(entry)) {
        entry.since = now;
      }
    }
  }

  /** Somebody asked for its silence, and it is known after how long it is silent. */
  isMissed(entry: Watched): boolean {
    return this.#missedAfter(entry) !== undefined;
  }

  /** As far as that is its own silence and somebody asked for it. */
  silentMs(entry: Watched): number {
    return !this.isMissed(entry) ? 0 : (this.#silenceOf(entry, false)?.silentMs ?? 0);
  }

  /** Whether nothing but this device shows that its gateways are there. */
  isAlone(entry: Readonly<Watched>): boolean {
    const { kind, state, wasAlone } = entry;
    if (kind === 'gateway' || state === undefined) {
      return wasAlone;
    }
    const { gateways, network } = this.#context;
    const limitMs = limitOf(entry, this.#settings) ?? 0;
    return state.links.every(({ gateway }) => {
      const known = gateways.get(gateway);
      return known !== undefined && isAloneAt(network, entry, known, limitMs);
    });
  }

  /** @returns milliseconds; undefined: nobody asked for its silence, or it is not missed */
  #missedAfter(entry: Watched): number | undefined {
    const condition = entry.kind === 'gateway' ? 'gateway-silent' : 'silent';
    const isMissed = this.#settings.conditions.includes(condition) && !isPassing(entry);
    return isMissed ? limitOf(entry, this.#settings) : undefined;
  }

  /**
   * After so long without a report something of it is told, or is over.
   * @returns milliseconds; undefined: nothing depends on that
   */
  #limitOf(entry: Watched): number | undefined {
    const isUpdated = entry.state?.isDfu || entry.alarms.some(isOfDfu);
    const updatedMs =
      isUpdated && this.#settings.conditions.includes('dfu')
        ? (limitOf(entry, this.#settings) ?? ASSUMED_PERIOD_MS)
        : undefined;
    return this.#missedAfter(entry) ?? updatedMs;
  }

  #judgeOne(
    entry: Watched,
    condition: Condition,
    presence: Presence,
    at: Readonly<ReportTopic> | undefined,
  ): void {
    const alarm = entry.alarms.find((one) => one.condition === condition);
    if (alarm && at !== undefined) {
      alarm.gateway = gatewayStill(this.#context.network, entry, alarm.gateway, this.#settings);
    }
    const verdict =
      CONDITIONS[condition](presence, this.#settings) ??
      (alarm?.isTold ? CONDITIONS_TOLD[condition]?.(presence, this.#settings) : undefined);
    if (condition === 'error' && alarm) {
      this.#noteErrors(alarm, entry.state?.errors ?? NO_ERRORS, at);
    }
    if (verdict === undefined) {
      const mayLast = alarm?.isStored || (alarm?.isTold && condition === 'battery-low');
      if (alarm && !(mayLast && !showsEnd(alarm, entry, presence))) {
        this.#alarms.end(entry, alarm, presence);
      }
      return;
    }
    const known = alarm ?? this.#alarms.begin(entry, condition);
    Object.assign(known, verdict);
    known.isStored = known.storedErrors.length > 0;
    this.#alarms.tellIfDue(entry, known);
  }

  /** What has been told ends with the last of them, also after a restart. */
  #noteErrors(alarm: Alarm, errors: Alarm['errors'], at: Readonly<ReportTopic> | undefined): void {
    const { storedErrors } = alarm;
    const left =
      at && storedErrors.length > 0 ? unreported(storedErrors, at, this.#context.catalogue) : storedErrors;
    if (alarm.errors !== errors || left !== storedErrors) {
      alarm.errors = errors;
      alarm.storedErrors = left;
      if (alarm.isTold) {
        this.#context.changed();
      }
    }
  }

  #silenceOf(entry: Watched, isHeardNow: boolean): Silence | undefined {
    const limit = this.#limitOf(entry);
    if (limit === undefined) {
      return undefined;
    }
    if (isHeardNow) {
      return heardNow(limit);
    }
    const { network } = this.#context;
    const gateways = entry.kind === 'gateway' ? [] : this.#gatewaysOf(entry, limit);
    const isSet = this.#settings.silentAfter > 0;
    const silence =
      entry.kind === 'gateway'
        ? gatewaySilence(network, entry, limit)
        : deviceSilence(network, entry, limit, gateways, isSet);
    const isNews = silence.silentMs > limit && !isToldSilent(entry);
    if (isNews && (this.#refused.has(entry) || this.#isRefused(entry, gateways))) {
      // Nobody is silent because we may not hear.
      entry.since = this.#context.now();
      return heardNow(limit);
    }
    return silence;
  }

  #isRefused(
    { id, kind }: Watched,
    heardBy: readonly WatchedGateway[],
    isRefused = (place: WatchedPlace) => this.#context.isRefused(place),
  ): boolean {
    if (kind === 'gateway') {
      return isRefused({ gateway: id });
    }
    const known = heardBy.length > 0 ? heardBy.map((gateway) => gateway.id) : this.#settings.gateways;
    const gateways = known.length > 0 ? known : [undefined];
    return gateways.every((gateway) => isRefused({ gateway, device: id }));
  }

  /** Those that have heard it about when it was heard last, and that which brings most of its reports. */
  #gatewaysOf(entry: Watched, limitMs: number): WatchedGateway[] {
    const { gateways, network } = this.#context;
    const missing = missingGateway(network, entry, gateways, limitMs);
    const found: WatchedGateway[] = missing === undefined ? [] : [missing];
    const { state, storedGateway } = entry;
    if (state === undefined) {
      return storedGateway === undefined || storedGateway === missing?.id
        ? found
        : [...found, gateways.need(storedGateway)];
    }
    const most = mostUsed(state.links);
    for (const link of state.links) {
      const { gateway, heardAt } = link;
      const isUsed = link === most || heardAt >= state.heardAt - limitMs;
      const known = isUsed ? gateways.get(gateway) : undefined;
      if (known && !found.includes(known)) {
        found.push(known);
      }
    }
    return found;
  }

  #presenceOf(entry: Watched, silence: Silence | undefined, at: Readonly<ReportTopic> | undefined): Presence {
    const { network, catalogue } = this.#context;
    const { kind, state, gatewayState } = entry;
    // Once it is silent only a report ends that, whatever becomes of its gateways.
    const unheardMs = entry.alarms.some(isOfSilence) ? silence?.unheardMs : silence?.silentMs;
    const own = {
      kind,
      silentMs: this.#missedAfter(entry) === undefined ? undefined : unheardMs,
      intervalMs: intervalOf(entry),
      isDfu: this.#isDfu(entry, unheardMs, at),
    };
    if (gatewayState) {
      return { ...presenceOfGateway(network, catalogue, gatewayState, this.#settings), ...own };
    }
    if (state) {
      return { ...presenceOfDevice(network, catalogue, state, this.#settings), ...own };
    }
    return { ...own, error: undefined, battery: undefined, signal: undefined };
  }

  /** It begins with a report and with nothing else. @returns undefined: nobody knows */
  #isDfu(
    entry: Watched,
    unheardMs: number | undefined,
    at: Readonly<ReportTopic> | undefined,
  ): boolean | undefined {
    const { state, alarms } = entry;
    if (at !== undefined && at.kind !== 'rssi') {
      return at.kind === 'dfu';
    }
    const limit = this.#limitOf(entry);
    const isGone = limit !== undefined && unheardMs !== undefined && unheardMs > limit;
    if (isGone || !alarms.some(isOfDfu)) {
      return false;
    }
    return state?.isDfu || state?.hasReported ? state.isDfu : undefined;
  }

  #scheduleNext(entry: Watched, silence: Silence | undefined): void {
    const { schedule } = this.#context;
    stopWaiting(entry);
    let next = Number.POSITIVE_INFINITY;
    for (const { isTold, dueAt } of entry.alarms) {
      next = isTold ? next : Math.min(next, dueAt);
    }
    if (silence && !entry.alarms.some(isOfSilence)) {
      if (silence.leftMs !== undefined) {
        next = Math.min(next, schedule.time + Math.max(0, silence.leftMs) + 1);
      }
      waitFor(entry, silence.waitsFor);
    }
    if (next === Number.POSITIVE_INFINITY) {
      schedule.remove(entry);
    } else if (entry.place < 0 || entry.deadline > next) {
      // An earlier look finds out that it was too early; to move it with every report would cost more.
      schedule.set(entry, next);
    }
  }
}

/**
 * Several gateways may hear a device in turn: it stays with the one before until that has not heard it for the time of
 * a silence, and then goes to the one that heard it last.
 */
function gatewayStill(
  network: NetworkState,
  entry: Watched,
  before: string | undefined,
  limits: ConditionLimits,
): string | undefined {
  if (before === undefined || entry.state === undefined) {
    return before ?? gatewayOf(entry);
  }
  let heardAt = entry.since;
  for (const link of entry.state.links) {
    heardAt = link.gateway === before ? Math.max(heardAt, link.heardAt) : heardAt;
  }
  const unheardMs = network.listenedMs(heardAt) - network.listenedMs(entry.state.heardAt);
  return unheardMs < (limitOf(entry, limits) ?? ASSUMED_PERIOD_MS) ? before : gatewayOf(entry);
}
