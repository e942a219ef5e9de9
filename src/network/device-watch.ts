// One watch: what it hears of the gateways and devices it looks after, and what goes on over a deploy and a restart.
import { CostlyResults } from '../collections/costly-results.ts';
import type { Presence } from '../protocol/conditions.ts';
import type { ReportTopic } from '../protocol/reports/index.ts';
import type { DeviceState, GatewayState } from './device-state.ts';
import { FollowedGateways } from './followed-gateways.ts';
import { type Heard, usualIntervalMs } from './interval.ts';
import { silentSince } from './silence.ts';
import { WatchAlarms } from './watch-alarms.ts';
import type {
  ConditionChange,
  KeptWatch,
  WatchContext,
  WatchListener,
  WatchSettings,
} from './watch-context.ts';
import { WatchJudge } from './watch-judge.ts';
import { WatchKinds } from './watch-kinds.ts';
import { WatchMembers } from './watch-members.ts';
import { WatchScope } from './watch-scope.ts';
import { watchedOn } from './watch-successor.ts';
import {
  type Alarm,
  goOn,
  isOfSilence,
  newWatched,
  noteInterval,
  type StoredWatched,
  type Watched,
  type WatchedChecker,
} from './watched.ts';

/** With more of them, finding the first conditions costs what is worth keeping. */
const MANY_WATCHED = 10_000;

export class DeviceWatch implements WatchedChecker {
  readonly #context: WatchContext;
  readonly #settings: WatchSettings;
  readonly #listener: WatchListener;
  readonly #scope: WatchScope;
  readonly #kinds: WatchKinds;
  readonly #alarms: WatchAlarms;
  readonly #members: WatchMembers;
  readonly #judge: WatchJudge;
  readonly #firstOnes = new CostlyResults<{ rows: ConditionChange[]; total: number }>();
  /** Something besides silence is watched, which each report may change. */
  readonly #judgesReports: boolean;
  readonly #followed: FollowedGateways;
  readonly #beganAt: number;
  /** What counts when flows run again. */
  #labelledLater: ReadonlySet<string> | undefined;

  constructor(context: WatchContext, settings: WatchSettings, listener: WatchListener) {
    this.#context = context;
    this.#settings = settings;
    this.#listener = listener;
    this.#beganAt = context.network.now;
    this.#scope = new WatchScope(settings);
    this.#kinds = new WatchKinds(context.network, this.#scope);
    this.#followed = new FollowedGateways(context.network, this.#scope, listener);
    this.#alarms = new WatchAlarms(context, listener, this.#scope);
    this.#alarms.wait();
    this.#members = new WatchMembers(context, listener, this.#alarms, this);
    this.#judge = new WatchJudge(context, settings, this.#scope, this.#alarms, this.entries);
    this.#judgesReports = settings.conditions.some((one) => one !== 'silent' && one !== 'gateway-silent');
    for (const id of settings.devices) {
      this.#members.expect(id, 'device');
      this.#followed.noteListed(id);
    }
    for (const id of this.#scope.watchesGateways ? settings.gateways : []) {
      this.#members.expect(id, 'gateway');
    }
  }

  /** How many are watched, and how many of them need somebody. */
  get counts(): { watched: number; active: number } {
    return { watched: this.entries.size, active: this.#alarms.needing };
  }

  /** How many are held in memory. */
  get size(): number {
    return this.entries.size + this.#members.left.size;
  }

  /** What goes on in another one. */
  get kept(): KeptWatch {
    return {
      filter: this.#scope.filter,
      gateways: this.#settings.gateways,
      devices: this.#settings.devices,
      hasMissedReports: false,
      entries: this.entries,
      left: this.#members.left,
      forgotten: this.#scope.forgotten,
      untold: this.#alarms.untold,
      gatewayOf: (entry) => this.#scope.gatewayOf(entry),
      takenGatewayOf: (entry) => this.#scope.takenGatewayOf(entry),
      mainGatewayOf: (entry) => this.#scope.mainGatewayOf(entry),
      gatewayIntervalMs: (id) =>
        this.#scope.watchesGateways ? undefined : this.#context.gateways.intervalOf(id),
      isMissed: (entry) => this.#judge.isMissed(entry),
      silentMs: (entry) => this.#judge.silentMs(entry),
      hasBrought: (entry) => this.#kinds.hasBrought(entry),
      isAlone: (entry) => this.#judge.isAlone(entry),
    };
  }

  /** By their MACs. */
  get entries(): ReadonlyMap<string, Watched> {
    return this.#members.entries;
  }

  /** What has been told and is not over, the oldest first. */
  active(): ConditionChange[] {
    return this.#alarms.active(this.entries.values());
  }

  /** The first of `active`, and how many there are; where very many need somebody, those of some seconds ago. */
  firstActive(limit: number): { rows: ConditionChange[]; total: number } {
    const find = () => this.#alarms.firstActive(this.entries.values(), limit);
    return this.entries.size < MANY_WATCHED ? find() : this.#firstOnes.get(`${limit}`, find);
  }

  /** It was taken away: what was told of it ends, and it is not watched before it is heard again. */
  forget(id: string): void {
    this.#members.forgetLeft(id);
    if (this.#context.gateways.get(id) ?? this.#context.network.gateway(id)) {
      this.#scope.forgetGateway(id);
    }
    const entry = this.entries.get(id);
    if (entry) {
      this.#members.remove(entry);
      this.#context.changed();
      this.#listener.counted();
    }
  }

  /**
   * Gateways that carry the labels; a gateway that carries none any more is not watched any more, which ends its conditions.
   * When it carries one again its time counts anew, as nobody may have heard it meanwhile.
   */
  setLabelled(gateways: ReadonlySet<string>): void {
    if (this.#context.schedule.isPaused) {
      this.#labelledLater = gateways;
      return;
    }
    const added = this.#scope.setLabelled(gateways);
    if (added === undefined) {
      return;
    }
    for (const entry of [...this.entries.values()].filter((one) => !this.#scope.isChosen(one))) {
      this.#leave(entry);
    }
    for (const before of this.#members.takeBack((one) => this.#scope.isChosen(one))) {
      const entry = this.entries.get(before.id);
      if (entry ? this.#kinds.isGatewayAgain(entry, before) : !this.#kinds.isGuess(before)) {
        this.#resume(before, false);
      }
    }
    if (this.#scope.expectsLabelled) {
      const { network } = this.#context;
      // One that had a label before may have been forgotten.
      for (const id of added.filter((one) => this.#scope.isOwnGateway(one) && network.mayBeGateway(one))) {
        // With its label it is asked for again, although it was taken away.
        this.#scope.heardGateway(id);
        this.#members.expect(id, 'gateway');
        const entry = this.entries.get(id);
        if (entry && network.gateway(id)) {
          entry.since = entry.kind === 'device' ? this.#context.now() : entry.since;
          this.#judgeGateway(entry);
        }
      }
    }
    for (const entry of this.entries.values()) {
      this.#followed.followThoseOf(entry);
    }
    this.#listener.counted();
  }

  /** The flows run. */
  resumed(): void {
    const labelled = this.#labelledLater;
    this.#labelledLater = undefined;
    if (labelled) {
      this.setLabelled(labelled);
    }
  }

  /** Where there are labels it may come back with one. */
  #leave(entry: Watched): void {
    if (this.#settings.labels.length > 0) {
      this.#members.leave(entry);
    } else {
      this.#members.remove(entry);
    }
  }

  /** See `DeviceWatches.settled`. */
  settled(isRefused: WatchContext['isRefused'] | undefined): void {
    this.#judge.settled(this.entries.values(), isRefused);
  }

  /** Call it for every report, of whatever it is. @param isLate a sample of the past */
  heard(
    device: Readonly<DeviceState>,
    gateway: Readonly<GatewayState>,
    at: Readonly<ReportTopic>,
    isLate: boolean,
  ): void {
    this.#scope.heardGateway(gateway.id);
    this.#followed.noteListed(gateway.id);
    if (this.#scope.watchesGateways) {
      this.#heardGateway(device, gateway);
    } else {
      const bringer = this.entries.get(gateway.id);
      if (bringer) {
        this.#judgeGateway(bringer);
      }
    }
    const entry = this.#entryOf(device.id, gateway.id) ?? this.#addHeard(device, gateway);
    if (entry === undefined) {
      return;
    }
    if (entry.state !== device) {
      entry.state = device;
    }
    if (this.#scope.isOwnGateway(gateway.id)) {
      entry.chosenBy = gateway.id;
    }
    this.#followed.heard(gateway.id);
    if (entry.kind === 'device' || !this.#scope.watchesGateways) {
      this.#judge.heard(entry);
    }
    // How often a gateway is heard does not depend on its own reports.
    const isAnew = entry.kind === 'device' ? this.#note(entry, device) : entry.place < 0;
    if (isAnew && !this.#scope.watchesGateways) {
      this.#noteInterval(this.#context.gateways.need(gateway.id), usualIntervalMs(gateway));
    }
    if (this.#judgesReports || entry.alarms.length > 0) {
      this.#judge.judge(entry, at, isLate);
    } else if (isAnew) {
      this.#judge.heardAnew(entry);
    }
  }

  /** Judges what is known now, and sees to it that it is looked at again when that may change. */
  check(entry: Watched): void {
    if (this.entries.get(entry.id) === entry) {
      this.#judge.judge(entry, undefined);
    }
  }

  /** Ends: nothing is told any more. */
  close(): KeptWatch {
    // Whoever goes on with it may be granted everything.
    this.settled(undefined);
    for (const entry of this.entries.values()) {
      this.#members.unschedule(entry);
    }
    this.#alarms.close();
    return this.kept;
  }

  /** Goes on with what was watched before under the same name. */
  takeOver(kept: KeptWatch): void {
    const { filter, entries, left, forgotten, untold, hasMissedReports } = kept;
    this.#alarms.takeOver(untold);
    const isSame = filter === this.#scope.filter;
    for (const id of forgotten) {
      this.#scope.forgetGateway(id);
    }
    const isWatchedOn = watchedOn(this.#context.network, this.#settings, kept);
    for (const before of entries.values()) {
      if (isWatchedOn(before)) {
        this.#resume(before, isSame && !hasMissedReports);
      } else {
        this.#alarms.tellEnds(before);
      }
    }
    for (const before of this.#settings.labels.length > 0 ? left.values() : []) {
      if (isWatchedOn(before)) {
        // The one of the other watch would hold all that this has watched.
        const own = newWatched(before.id, before.kind, this, before.since);
        goOn(own, before);
        this.#members.rememberLeft(own);
      }
    }
    this.#listener.counted();
  }

  /** A gateway that is known from before the start. @param intervalMs usually; undefined: not known */
  recallGateway(id: string, wasThere: boolean, intervalMs: number | undefined): void {
    this.#context.gateways.recall(id, wasThere ? this.#context.now() : undefined, intervalMs);
  }

  /** A gateway that was taken away before the start, and not heard since. */
  recallForgotten(id: string): void {
    if (this.#context.gateways.get(id)?.state === undefined) {
      this.#scope.forgetGateway(id);
    }
  }

  /** Takes one of a store. @param silentMs for so long it was silent already @returns whether it had room */
  restore(
    id: string,
    kind: Presence['kind'],
    { alarms, ...known }: StoredWatched,
    silentMs: number,
  ): boolean {
    const entry = this.#members.find(id, kind);
    if (entry === undefined) {
      this.#alarms.tellEnds({ ...newWatched(id, kind, this, 0), ...known, alarms });
      return false;
    }
    this.#kinds.restore(entry, kind, known);
    if (entry.kind === kind) {
      entry.since = Math.min(entry.since, silentSince(this.#context.network, silentMs, this.#beganAt));
      entry.unwatchedUntil = this.#beganAt;
    }
    if (entry.isExpected) {
      this.#members.keep(entry);
    }
    this.#restoreAlarms(entry, alarms);
    this.#listener.counted();
    return true;
  }

  /** Of a store so many had no room. */
  unrestored(count: number): void {
    this.#members.tellFull(count);
  }

  /** @param goesOn false: its time counts anew */
  #resume(before: Watched, goesOn: boolean): void {
    const kind = this.#kinds.kindOfKept(before);
    const entry = this.#members.need(before.id, kind);
    if (entry === undefined) {
      this.#alarms.tellEnds(before);
      return;
    }
    goOn(entry, before, kind);
    this.#kinds.recallState(entry);
    // Each kind has a silence of its own.
    const keepsTime = entry.kind === before.kind && (goesOn || before.alarms.some(isOfSilence));
    entry.since = keepsTime ? before.since : this.#context.now();
    entry.unwatchedUntil = keepsTime ? before.unwatchedUntil : entry.unwatchedUntil;
    if (entry.isKnown || entry.isExpected) {
      this.#members.keep(entry);
    }
    this.#restoreAlarms(entry, before.alarms);
  }

  #restoreAlarms(entry: Watched, alarms: readonly Alarm[]): void {
    this.#alarms.restore(entry, alarms, this.#settings.conditions);
    if (this.#scope.isChosen(entry)) {
      this.#followed.followThoseOf(entry);
    } else {
      this.#leave(entry);
    }
  }

  #heardGateway(device: Readonly<DeviceState>, gateway: Readonly<GatewayState>): void {
    let entry = this.entries.get(gateway.id);
    if (entry === undefined && this.#scope.passes(device.id, gateway.id)) {
      entry = this.#members.need(gateway.id, 'gateway');
    }
    this.#kinds.brings(entry);
    if (entry?.kind !== 'gateway') {
      return;
    }
    if (!entry.isExpected && this.#scope.expectsLabelled && this.#scope.isOwnGateway(entry.id)) {
      this.#members.expect(entry.id, 'gateway');
    }
    entry.gatewayState = gateway;
    entry.hasBrought = true;
    this.#judge.heard(entry);
    const isAnew = this.#note(entry, gateway);
    if (entry.alarms.length > 0) {
      this.#judge.judge(entry, undefined);
    } else if (isAnew) {
      this.#judge.heardAnew(entry);
    }
  }

  /** What was told of it as of a device ends. */
  #judgeGateway(entry: Watched): void {
    const isNew = this.#kinds.brings(entry);
    this.#kinds.recallState(entry);
    if (isNew) {
      this.#judge.judge(entry, undefined);
    }
  }

  /** @param gateway that has heard it */
  #entryOf(id: string, gateway: string): Watched | undefined {
    const entry = this.entries.get(id);
    if (entry === undefined || !this.#kinds.isGuess(entry)) {
      return entry;
    }
    if (this.#kinds.heardAsDevice(entry, gateway)) {
      if (!this.#scope.isListed(id)) {
        this.#members.expectNoMore(entry);
      }
      return entry;
    }
    this.#members.remove(entry);
    this.#context.changed();
    this.#listener.counted();
    return undefined;
  }

  #addHeard(device: Readonly<DeviceState>, { id }: Readonly<GatewayState>): Watched | undefined {
    if (!this.#scope.passes(device.id, id)) {
      return undefined;
    }
    const kind = this.#kinds.kindOf(device.id);
    // One that is listed was forgotten before.
    if (this.#scope.isListed(device.id)) {
      this.#members.expect(device.id, kind);
    }
    const added = this.#members.need(device.id, kind);
    if (added) {
      this.#kinds.recallState(added);
    }
    return added;
  }

  /** @returns whether that begins another hearing, or nobody would look at it again */
  #note(entry: Watched, heard: Readonly<Heard>): boolean {
    const { hearings, isKnown } = entry;
    entry.hearings = heard.hearings;
    entry.isKnown = usualIntervalMs(heard) !== undefined;
    if (entry.isKnown && !isKnown) {
      this.#members.keep(entry);
      this.#recallInterval(entry);
    }
    const isAnew = hearings !== entry.hearings;
    if (isAnew || isKnown !== entry.isKnown) {
      this.#noteInterval(entry, usualIntervalMs(heard));
    }
    return isAnew || entry.place < 0;
  }

  #noteInterval(of: Pick<Watched, 'leastStoredMs'>, intervalMs: number | undefined): void {
    if (intervalMs !== undefined && noteInterval(of, intervalMs)) {
      this.#context.changed();
    }
  }

  /** What the first reports show is less than what was known before the start; of gateways `gateways` knows that. */
  #recallInterval({ id, kind, storedIntervalMs }: Watched): void {
    if (kind === 'device' && storedIntervalMs !== undefined) {
      this.#context.network.recallInterval(kind, id, storedIntervalMs);
    }
  }
}
