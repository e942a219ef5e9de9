// Judges what is known of one watched gateway or device, and when it is to be looked at again.
import { CONDITIONS, CONDITIONS_TOLD, type Condition, type Presence } from '../protocol/conditions.ts';
import type { ReportTopic } from '../protocol/reports/index.ts';
import { NO_ERRORS } from './device-errors.ts';
import { mostUsed } from './links.ts';
import { ASSUMED_PERIOD_MS, presenceOfDevice } from './presence.ts';
import {
  deviceSilence,
  gatewaySilence,
  goneAfterMs,
  heardNow,
  isAloneAt,
  missingGateway,
  type Silence,
} from './silence.ts';
import { showsEnd, unreported, type WatchAlarms } from './watch-alarms.ts';
import type { WatchContext, WatchedPlace, WatchSettings } from './watch-context.ts';
import type { WatchScope } from './watch-scope.ts';
import {
  type Alarm,
  intervalOf,
  isOfSilence,
  isPassing,
  limitOf,
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
  readonly #scope: WatchScope;
  readonly #alarms: WatchAlarms;
  readonly #entries: ReadonlyMap<string, Watched>;
  /** Of which the broker had refused all reports when everything was settled last, or has been found to since. */
  #refused = new Set<Watched>();

  /** @param entries of the watch, by their MACs */
  constructor(
    context: WatchContext,
    settings: WatchSettings,
    scope: WatchScope,
    alarms: WatchAlarms,
    entries: ReadonlyMap<string, Watched>,
  ) {
    this.#context = context;
    this.#settings = settings;
    this.#scope = scope;
    this.#alarms = alarms;
    this.#entries = entries;
  }

  /**
   * @param at the report that was just heard; undefined: none of its own
   * @param isLate that was a sample of the past, which says nothing of the errors of now
   */
  judge(entry: Watched, at: Readonly<ReportTopic> | undefined, isLate = false): void {
    // A gateway is heard by what it brings, which its state shows, and not by what another one hears of it.
    const isHeardNow = at !== undefined && !this.#isHeardAsGateway(entry);
    const silence = this.#silenceOf(entry, isHeardNow);
    const presence = this.#presenceOf(entry, silence, at);
    for (const condition of this.#settings.conditions) {
      this.#judgeOne(entry, condition, presence, at, isLate);
    }
    this.#scheduleNext(entry, silence);
  }

  /** The broker brings its reports: of a gateway, what it brings, where its silence is watched. */
  heard(entry: Watched): void {
    this.#refused.delete(entry);
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
    for (const entry of entries) {
      // Also where nobody asks for its silence: with the next deploy somebody may.
      if (isRefused && this.#isRefused(entry, isRefused)) {
        refused.add(entry);
      }
    }
    this.#refused = refused;
    const { schedule } = this.#context;
    const now = this.#context.now();
    for (const entry of before) {
      if (!refused.has(entry) && !isToldSilent(entry)) {
        entry.since = now;
        schedule.set(entry, schedule.time);
      }
    }
  }

  /** Somebody asked for its silence, and it is known after how long it is silent. */
  isMissed(entry: Watched): boolean {
    return this.#missedAfter(entry) !== undefined;
  }

  /** As far as that is its own silence and somebody asked for it; see `Silence.unsparedMs`. */
  silentMs(entry: Watched): number {
    return this.isMissed(entry) ? this.#silenceOf(entry, false).unsparedMs : 0;
  }

  /** Whether nothing but this device shows that its gateways are there. */
  isAlone(entry: Readonly<Watched>): boolean {
    const { kind, state, wasAlone } = entry;
    if (kind === 'gateway' || state === undefined) {
      return wasAlone;
    }
    const { gateways, network } = this.#context;
    const limitMs = this.#limitOf(entry);
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

  /** After so many milliseconds without a report it is silent, where it is missed, and in update mode no more. */
  #limitOf(entry: Watched): number {
    return limitOf(entry, this.#settings) ?? ASSUMED_PERIOD_MS;
  }

  #judgeOne(
    entry: Watched,
    condition: Condition,
    presence: Presence,
    at: Readonly<ReportTopic> | undefined,
    isLate: boolean,
  ): void {
    const alarm = entry.alarms.find((one) => one.condition === condition);
    if (alarm && at !== undefined) {
      alarm.gateway = this.#gatewayStill(entry, alarm.gateway);
    }
    const verdict =
      CONDITIONS[condition](presence, this.#settings) ??
      (alarm?.isTold ? CONDITIONS_TOLD[condition]?.(presence, this.#settings) : undefined);
    if (condition === 'error' && alarm) {
      this.#noteErrors(alarm, entry.state?.errors ?? NO_ERRORS, isLate ? undefined : at);
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
    const left = at ? unreported(storedErrors, at, this.#context.catalogue) : storedErrors;
    if (alarm.errors !== errors || left !== storedErrors) {
      alarm.errors = errors;
      alarm.storedErrors = left;
      if (alarm.isTold) {
        this.#context.changed();
      }
    }
  }

  #silenceOf(entry: Watched, isHeardNow: boolean): Silence {
    const limit = this.#limitOf(entry);
    if (isHeardNow) {
      return heardNow(limit);
    }
    const silence = this.#isHeardAsGateway(entry)
      ? gatewaySilence(this.#context.network, entry, limit)
      : this.#deviceSilence(entry, limit);
    const isNews = silence.silentMs > limit && !isToldSilent(entry);
    if (isNews && (this.#refused.has(entry) || this.#isRefused(entry))) {
      // Nobody is silent because we may not hear, or not yet: its time begins when the broker grants that, see `settled`.
      if (!this.#refused.has(entry)) {
        this.#refused.add(entry);
        entry.since = this.#context.now();
      }
      return heardNow(Number.POSITIVE_INFINITY);
    }
    return silence;
  }

  /** By what it brings; else by its own reports alone: where the silence of gateways is not watched, nobody notes the others. */
  #isHeardAsGateway({ kind }: Watched): boolean {
    return kind === 'gateway' && this.#scope.watchesGateways;
  }

  #deviceSilence(entry: Watched, limitMs: number): Silence {
    // Where nobody tells of a gateway, its devices do.
    const waitedFor = this.#scope.watchesGateways ? this.#gatewaysOf(entry, limitMs) : [];
    const isSet = this.#settings.silentAfter > 0;
    const silence = deviceSilence(this.#context.network, entry, limitMs, waitedFor, isSet);
    return this.#untilGone(silence, limitMs);
  }

  #isRefused(entry: Watched, isRefused = (place: WatchedPlace) => this.#context.isRefused(place)): boolean {
    const { id, kind } = entry;
    if (kind === 'gateway') {
      return isRefused({ gateway: id });
    }
    const heardBy = this.#gatewaysOf(entry, this.#limitOf(entry));
    const known = heardBy.length > 0 ? heardBy.map((gateway) => gateway.id) : this.#settings.gateways;
    const gateways = known.length > 0 ? known : [undefined];
    return gateways.every((gateway) => isRefused({ gateway, device: id }));
  }

  /** Those that have heard it about when it was heard last, and that which brings most of its reports. */
  #gatewaysOf(entry: Watched, limitMs: number): WatchedGateway[] {
    const { gateways, network } = this.#context;
    const missing = missingGateway(network, entry, gateways, limitMs);
    const counts = (one: WatchedGateway | undefined) => one !== undefined && this.#countsOn(one, limitMs);
    const found = new Set([missing]);
    const { state, storedGateway } = entry;
    if (state === undefined) {
      found.add(storedGateway === undefined ? undefined : gateways.need(storedGateway));
    } else {
      const links = state.links.filter(({ gateway }) => counts(gateways.get(gateway)));
      const most = mostUsed(state.links, links);
      for (const link of links) {
        const isUsed = link === most || link.heardAt >= state.heardAt - limitMs;
        found.add(isUsed ? gateways.get(link.gateway) : undefined);
      }
    }
    return [...found].filter((one): one is WatchedGateway => counts(one));
  }

  /**
   * One whose own silence this watch tells is waited for as long as that lasts: one message is enough. Others are not waited
   * for when they are gone: of what lies outside the watch, was forgotten, or was not heard often enough, nothing is told.
   */
  #countsOn(gateway: Readonly<WatchedGateway>, limitMs: number): boolean {
    const { id } = gateway;
    const entry = this.#entries.get(id);
    const isTold = entry?.kind === 'gateway' && this.isMissed(entry);
    const isOwn = !this.#scope.isOutside(id) && isTold;
    return isOwn || this.#goneInMs(gateway, limitMs) > 0;
  }

  #goneInMs({ heardAt }: Readonly<WatchedGateway>, limitMs: number): number {
    const { network } = this.#context;
    return goneAfterMs(limitMs) - network.listenedMs(heardAt ?? network.startedAt);
  }

  /** Looks again when one for which it waits is gone, and now and then after that: it may not be watched any more. */
  #untilGone(silence: Silence, limitMs: number): Silence {
    const gone = silence.waitsFor.map((one) => this.#goneInMs(one, limitMs));
    const left = gone.map((ms) => (ms > 0 ? ms : goneAfterMs(limitMs)));
    return { ...silence, leftMs: Math.min(...left, silence.leftMs) };
  }

  #presenceOf(entry: Watched, silence: Silence, at: Readonly<ReportTopic> | undefined): Presence {
    const { network, catalogue } = this.#context;
    const { id, kind, state } = entry;
    // Once it is silent only a report ends that, whatever becomes of its gateways.
    const unheardMs = entry.alarms.some(isOfSilence) ? silence.unheardMs : silence.silentMs;
    const own = {
      kind,
      silentMs: this.#missedAfter(entry) === undefined ? undefined : unheardMs,
      intervalMs: intervalOf(entry),
      isDfu: this.#isDfu(entry, unheardMs, at),
    };
    // A gateway may have told of itself before it was watched.
    const heard = state ?? (kind === 'gateway' ? network.device(id) : undefined);
    if (heard === undefined) {
      return { ...own, error: undefined, battery: undefined, signal: undefined };
    }
    const { signal, ...known } = presenceOfDevice(network, catalogue, heard, this.#settings);
    // Nobody hears a gateway: it is connected to the broker.
    return { ...known, signal: kind === 'gateway' ? undefined : signal, ...own };
  }

  /** It begins with a report and with nothing else. @returns undefined: nobody knows */
  #isDfu(entry: Watched, unheardMs: number, at: Readonly<ReportTopic> | undefined): boolean | undefined {
    const { state, alarms } = entry;
    if (at !== undefined && at.kind !== 'rssi') {
      return at.kind === 'dfu';
    }
    const silentMs = this.#radioSilence(entry)?.silentMs ?? unheardMs;
    if (silentMs > this.#limitOf(entry) || !alarms.some(isOfDfu)) {
      return false;
    }
    return state?.isDfu || state?.hasReported ? state.isDfu : undefined;
  }

  /** A gateway that is updated brings nothing, but others hear it. @returns undefined: it is heard as a device */
  #radioSilence(entry: Watched): Silence | undefined {
    const isUpdated = this.#isHeardAsGateway(entry) && entry.alarms.some(isOfDfu);
    return isUpdated ? this.#deviceSilence(entry, this.#limitOf(entry)) : undefined;
  }

  #scheduleNext(entry: Watched, silence: Silence): void {
    const { schedule } = this.#context;
    stopWaiting(entry);
    let next = Number.POSITIVE_INFINITY;
    for (const { isTold, dueAt } of entry.alarms) {
      next = isTold ? next : Math.min(next, dueAt);
    }
    const radio = this.#radioSilence(entry);
    // Of an address for an update only, nothing depends on its silence when that is over.
    const endsUpdate = radio === undefined && entry.alarms.some(isOfDfu);
    const depends = this.#missedAfter(entry) !== undefined || endsUpdate;
    if (depends && !entry.alarms.some(isOfSilence)) {
      next = Math.min(next, schedule.time + Math.max(0, silence.leftMs) + 1);
      waitFor(entry, silence.waitsFor);
    }
    if (radio) {
      next = Math.min(next, schedule.time + Math.max(0, radio.leftMs) + 1);
      waitFor(entry, radio.waitsFor);
    }
    if (next === Number.POSITIVE_INFINITY) {
      schedule.remove(entry);
    } else if (entry.place < 0 || entry.deadline > next) {
      // An earlier look finds out that it was too early; to move it with every report would cost more.
      schedule.set(entry, next);
    }
  }

  /**
   * Several gateways may hear a device in turn: it stays with the one before until that has not heard it for the time of
   * a silence, and then goes to the one that heard it last.
   */
  #gatewayStill(entry: Watched, before: string | undefined): string | undefined {
    if (before === undefined || entry.state === undefined) {
      return before ?? this.#scope.placeOf(entry);
    }
    let heardAt = entry.since;
    for (const link of entry.state.links) {
      heardAt = link.gateway === before ? Math.max(heardAt, link.heardAt) : heardAt;
    }
    const isNear = this.#context.network.listenedMs(heardAt) < this.#limitOf(entry);
    return isNear ? before : this.#scope.placeOf(entry);
  }
}
