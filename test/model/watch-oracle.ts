// What docs/lifecycle.md says of a device watch, in plain words of its own: who must be told silent by when, and who must not.
import assert from 'node:assert/strict';
import type { ConditionChange, WatchSettings } from '../../src/network/watch-context.ts';
import { WatchField } from './watch-field.ts';
import { type History, HOUR, MINUTE, type Plan, S, type Way } from './watch-plan.ts';
import type { Target } from './watch-target.ts';

/** "one that comes and goes within 5 seconds is not told", "the first minute after it", and what turns and timers take. */
const SLACK_MS = MINUTE + 10 * S;
/** "as long as that one has brought any within four hours", "for four hours at most" */
const PATIENCE_MS = 4 * HOUR;
/** From then on it is clear which share each of several gateways brings. */
const COUNTED_REPORTS = 20;
const MAX_LOGGED = 60;

export class WatchOracle {
  readonly #history: History;
  readonly #watch: Plan['watch'];
  readonly #field: WatchField;
  /** Told and not over, by device and condition. */
  #active = new Map<string, ConditionChange>();
  #activeStored = this.#active;
  #filterStored = '';
  #now = 0;
  #isListening = true;
  /** For how long reports could be heard, and how much of it before the last start. */
  #listened = 0;
  #listenedAtStart = Number.NEGATIVE_INFINITY;
  #hearing: string[] = [];
  readonly #log: string[] = [];

  constructor(history: History, watch: Plan['watch']) {
    this.#history = history;
    this.#watch = watch;
    this.#field = new WatchField(history);
  }

  log(line: string): void {
    this.#log.push(`${clock(this.#now)} ${line}`);
  }

  passed(now: number): void {
    this.#listened += this.#isListening ? now - this.#now : 0;
    this.#now = now;
    for (const target of this.#field.targets.values()) {
      if (target.isDead) {
        this.#checkTold(target);
      }
    }
  }

  listens(isListening: boolean): void {
    this.#isListening = isListening;
    this.log(isListening ? 'listens' : 'does not listen');
    if (isListening) {
      for (const target of this.#field.targets.values()) {
        target.missed(this.#listened, this.#silentMs(target, 'least'));
      }
    }
  }

  /** Before the watch hears of it: what that tells is right. */
  hears({ gateway, device }: { gateway: string; device: string }): void {
    this.#hearing = [gateway, device];
  }

  heard({ gateway, device }: { gateway: string; device: string }): void {
    this.#hearing = [];
    for (const target of [this.#field.gateway(gateway), this.#field.targets.get(device)]) {
      target?.heard(this.#listened, device);
    }
    if (device !== gateway) {
      this.#field.targets.get(device)?.broughtIn(gateway, this.#listened);
    }
    for (const id of [gateway, device]) {
      for (const condition of ['silent', 'gateway-silent'] as const) {
        // "once when it ends": it is heard, and the watch has looked at it.
        if (this.#active.has(`${condition} ${id}`) && this.#isChosen(id, gateway)) {
          this.#fail(`${condition} of ${id} is not over, though it was heard`);
        }
      }
    }
  }

  #isChosen(id: string, gateway: string): boolean {
    const { gateways, devices } = this.#field.settings;
    const isOwn = gateways.length === 0 || gateways.includes(gateway);
    return isOwn && (devices.length === 0 || devices.includes(id));
  }

  stored(): void {
    this.#activeStored = new Map(this.#active);
    this.#filterStored = this.#filter;
    for (const target of this.#field.targets.values()) {
      const isWatched = target.isWatched && this.#field.isWatched(target);
      target.store(this.#silentMs(target, 'most'), this.#silentMs(target, 'least'), isWatched);
    }
  }

  /** "For how long each was silent is stored, too, and goes on after the start". */
  started(): void {
    this.log('starts');
    this.#listenedAtStart = this.#listened;
    // What was told after the store was written last is not known any more.
    this.#active = new Map(this.#activeStored);
    for (const target of this.#field.targets.values()) {
      target.restart(this.#listened);
    }
  }

  /** After a start, with what the watch knows then. */
  restored(active: readonly ConditionChange[]): void {
    if (this.#filter !== this.#filterStored) {
      this.#keep(active);
    }
  }

  /** "Where *Gateway silent* is not chosen, each device is silent by itself, whatever its gateway does" */
  get #tellsGateways(): boolean {
    return this.#watch.conditions.includes('gateway-silent');
  }

  get #filter(): string {
    const { gateways, devices } = this.#field.settings;
    return JSON.stringify([gateways, devices]);
  }

  /** What the filter leaves out is not watched any more. */
  #keep(active: readonly ConditionChange[]): void {
    const goOn = new Set(active.map(({ condition, device }) => `${condition} ${device}`));
    this.#active = new Map([...this.#active].filter(([key]) => goOn.has(key)));
  }

  away(id: string, isAway: boolean): void {
    const gateway = this.#field.gateway(id);
    const wasAwayMs = this.#listened - gateway.awaySince;
    this.log(`${id} is ${isAway ? 'away' : 'back'}`);
    if (isAway) {
      gateway.awaySince = Math.min(gateway.awaySince, this.#listened);
      return;
    }
    const isNoticed = gateway.isKnown && wasAwayMs > this.#mostMs(gateway);
    gateway.awaySince = Number.POSITIVE_INFINITY;
    for (const target of this.#field.targets.values()) {
      if (this.#tellsGateways && target.ways.some((way) => way.gateway === id)) {
        // "such a time … gives them their time anew", of which who is dead may be told the earlier
        const isHeardByOthers = target.ways.some(
          (way) => !this.#field.gateway(way.gateway).isAway && way.gateway !== id,
        );
        target.countAnew(this.#listened, isNoticed && !isHeardByOthers && !target.isDead);
      }
    }
    gateway.isAbsent = true;
  }

  died(id: string): void {
    this.log(`${id} dies`);
    const target = this.#field.targets.get(id);
    if (target) {
      target.isDead = true;
      target.diedAt = this.#now;
    }
  }

  moved(id: string, ways: readonly Way[]): void {
    this.log(`${id} is heard by ${ways.map(({ gateway, share }) => `${gateway} ${share}`)}`);
    const target = this.#field.targets.get(id);
    // Of who is dead nobody has noticed that.
    if (target && !target.isDead) {
      target.waysBefore.push(...target.ways.map(({ gateway }) => gateway));
      target.ways = ways;
      target.movedAt = this.#listened;
    }
  }

  filtered(
    settings: Pick<WatchSettings, 'gateways' | 'devices'>,
    active: readonly ConditionChange[] = [],
  ): void {
    const filterBefore = this.#filter;
    const wasChosen = (one: Target) => this.#field.isWatched(one);
    const before = new Set([...this.#field.targets.values()].filter(wasChosen));
    this.#field.settings = settings;
    const isOther = this.#filter !== filterBefore;
    this.log(`deployed${isOther ? ' with another filter' : ''}`);
    if (isOther) {
      this.#keep(active);
      for (const target of this.#field.targets.values()) {
        // What was silent already goes on to be.
        target.countAnew(this.#listened, this.#silentMs(target, 'most') < this.#leastMs(target));
        // Who was not watched before is not missed before it is heard.
        target.isWatched &&= before.has(target) && this.#field.isWatched(target);
      }
    }
  }

  told({ condition, active, device, value, limit }: ConditionChange, now: number): void {
    this.#listened += this.#isListening ? now - this.#now : 0;
    this.#now = now;
    const key = `${condition} ${device}`;
    this.log(`${active ? '+' : '-'}${key} ${value ?? ''}/${limit ?? ''}`);
    assert.ok(condition === 'silent' || condition === 'gateway-silent');
    if (!this.#watch.conditions.includes(condition)) {
      this.#fail(`${key} was not asked for`);
    }
    if (active === this.#active.has(key)) {
      this.#fail(active ? `${key} begins twice` : `${key} ends, and had not begun`);
    }
    if (!active) {
      this.#active.delete(key);
      if (!this.#hearing.includes(device)) {
        this.#fail(`${key} ends without a report`);
      }
      return;
    }
    this.#active.set(key, { condition, active, device, since: '' });
    const target = this.#field.targets.get(device);
    assert.ok(target, device);
    target.isAbsent = true;
    const fault = target.kind === 'gateway' ? this.#earlyFault(target) : this.#deviceFault(target);
    if (fault !== undefined) {
      this.#fail(`${key} is told: ${fault}`);
    }
  }

  /** At the end, after a long time without faults: all that live are fine, and all that are dead were told. */
  ended(active: readonly ConditionChange[]): void {
    const told = active.map(({ condition, device }) => `${condition} ${device}`).sort();
    if (told.join() !== [...this.#active.keys()].sort().join()) {
      this.#fail(`active are ${told}, told were ${[...this.#active.keys()]}`);
    }
    for (const { device, condition } of active) {
      const target = this.#field.targets.get(device);
      assert.ok(target, device);
      // A time that is set may be shorter than the usual pauses.
      const isPause = this.#silentMs(target, 'most') > this.#leastMs(target);
      if (!target.isDead && !isPause && !this.#field.isUnreachable(target)) {
        this.#fail(`${condition} of ${device} is active, though all is well`);
      }
    }
  }

  /** "A device is silent when nothing of it was heard for the time that is set, else for three times its usual interval". */
  #deviceFault(target: Target): string | undefined {
    const early = this.#earlyFault(target);
    if (early !== undefined || !this.#tellsGateways) {
      return early;
    }
    const silentMs = this.#silentMs(target, 'most');
    const leastMs = this.#leastMs(target);
    const [home, ...others] = target.ways;
    const isHeardByOthers =
      others.length > 0 && home !== undefined && this.#field.gateway(home.gateway).isAway;
    // "Where no time is set, a gateway tells the later of a device's silence the fewer of its reports it brings"
    // "Of a gateway that brings a single device, both are told."
    const isAlone = target.ways.every(({ gateway }) => this.#field.isOnly(target.id, gateway));
    // "How many devices a gateway brings … and which share of its reports, is known from the start of Node-RED on"
    const isCounted = (target.broughtBy.get(home?.gateway ?? '') ?? 0) >= COUNTED_REPORTS;
    if (!target.isDead && isHeardByOthers && isCounted && !isAlone && this.#history.silentAfter === 0) {
      const homeSince =
        this.#listened - Math.max(target.heardBy.get(home.gateway) ?? 0, this.#listenedAtStart);
      const share = Math.max(...others.map((one) => one.share));
      if (homeSince < 0.9 * PATIENCE_MS && silentMs < (0.5 * leastMs) / share ** 2) {
        return `its own gateway is away for ${clock(homeSince)}, silent for ${clock(silentMs)}, ${share} by another`;
      }
    }
    return undefined;
  }

  /** What holds for a device, too. */
  #earlyFault(target: Target): string | undefined {
    const silentMs = this.#silentMs(target, 'most');
    const leastMs = this.#leastMs(target);
    if (silentMs < leastMs) {
      return `silent for ${clock(silentMs)} at most, of ${clock(leastMs)} at least`;
    }
    const since = this.#listened - this.#listenedAtStart;
    // "each has one usual interval left, once until it is heard"
    const leftMs = Math.min(leastMs, target.leastIntervalMs);
    if (target.isKnown && target.restarts === 1 && since < leftMs) {
      return `after a start ${clock(since)} ago, where ${clock(leftMs)} were left`;
    }
    return undefined;
  }

  /** The shortest time of its silence. */
  #leastMs(target: Target): number {
    const { silentAfter } = this.#history;
    if (silentAfter > 0) {
      return silentAfter;
    }
    // "missed also when nothing of them was ever heard; where no time is set, that takes an hour"
    return target.isKnown
      ? Math.max(MINUTE, 3 * target.leastIntervalMs)
      : Math.min(HOUR, Math.max(MINUTE, 3 * target.leastIntervalMs));
  }

  /** The longest, where it is known. */
  #mostMs(target: Target): number {
    const { silentAfter } = this.#history;
    return silentAfter > 0 && target.kind === 'device'
      ? silentAfter
      : Math.max(silentAfter, MINUTE, 3 * target.mostIntervalMs);
  }

  #silentMs(target: Target, which: 'most' | 'least'): number {
    const { listened, base } = target.clocks[which];
    // "neither does the first minute after it": of who was not heard since
    const returning =
      listened > this.#listenedAtStart ? 0 : Math.min(MINUTE, this.#listened - this.#listenedAtStart);
    return Math.max(0, base + this.#listened - listened - returning);
  }

  /** Who is dead is told in time, as far as anybody can tell. */
  #checkTold(target: Target): void {
    const { id, kind } = target;
    const condition = kind === 'gateway' ? 'gateway-silent' : 'silent';
    const isTold = this.#active.has(`${condition} ${id}`);
    const isDue = !isTold && target.isWatched && target.isKnown && this.#watch.conditions.includes(condition);
    if (!isDue || this.#listened - this.#listenedAtStart < MINUTE) {
      return;
    }
    const silentMs = this.#silentMs(target, 'least');
    const mostMs = this.#mostMs(target) + SLACK_MS;
    if (silentMs <= mostMs) {
      return;
    }
    if (kind === 'gateway') {
      if (this.#field.isWatchedGateway(id)) {
        this.#fail(
          `gateway ${id} died at ${clock(target.diedAt)}, silent for ${clock(silentMs)} of ${clock(mostMs)}, not told`,
        );
      }
      return;
    }
    const until = this.#waitsFor(target, mostMs);
    if (until !== undefined && this.#listened > until) {
      this.#fail(
        `${id} died at ${clock(target.diedAt)}, silent for ${clock(silentMs)} of ${clock(mostMs)}, not told`,
      );
    }
  }

  /** @returns when its silence must have been told by what is listened; undefined: nobody can tell */
  #waitsFor(target: Target, mostMs: number): number | undefined {
    const { id, ways, waysBefore, movedAt } = target;
    // "which further gateways hear a device … is known from the start of Node-RED on", but for the one that brought most;
    // "within the time of a silence before its last report"
    const othersSince = Math.max(this.#listenedAtStart, target.heardAt - this.#leastMs(target));
    const main = ways.slice(1).every(({ share }) => share < 1) ? ways[0]?.gateway : undefined;
    const witnesses = ways.filter(
      ({ gateway }) =>
        (target.heardBy.get(gateway) ?? Number.NEGATIVE_INFINITY) >= (gateway === main ? 0 : othersSince) &&
        this.#field.isSubscribed(id, gateway) &&
        !this.#field.gateway(gateway).isAway &&
        this.#field.hasReporters(gateway, id),
    );
    if (witnesses.length === 0) {
      return undefined;
    }
    const since = target.clocks.least.listened;
    const reportMs = Math.max(...witnesses.map(({ gateway }) => this.#field.reportsWithinMs(gateway, id)));
    const isPlain = ways.length === 1 && waysBefore.length === 0;
    // The other gateways tell it later, and after a restart when that which brought most is back.
    // Where a time is set, one unusual pause of the gateway gives it anew.
    const anewMs = this.#history.silentAfter > 0 ? mostMs : 0;
    const patienceMs = isPlain ? anewMs : Math.max(PATIENCE_MS, mostMs) + mostMs;
    if (isPlain) {
      return since + mostMs + patienceMs + reportMs;
    }
    const awaySince = ways
      .map(({ gateway }) => this.#field.gateway(gateway))
      .map((one) => (one.isAway ? one.awaySince : 0));
    return Math.max(since + mostMs, movedAt, this.#listenedAtStart, ...awaySince) + patienceMs + reportMs;
  }

  #fail(what: string): never {
    assert.fail([what, ...this.#log.slice(-MAX_LOGGED)].join('\n    '));
  }
}

const clock = (ms: number): string => `${(ms / MINUTE).toFixed(1)}min`;
