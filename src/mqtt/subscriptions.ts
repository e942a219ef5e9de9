// Keeps what the broker is subscribed to equal to what is wanted: over reconnects, refusals and changes.
import type { Logger } from '../log.ts';
import { type Backoff, createBackoff } from './backoff.ts';
import { GivenPlaces } from './given-places.ts';
import { GrantWaiters } from './grant-waiters.ts';
import { HeldFilters } from './held-filters.ts';
import { type KnownLimits, LearnedLimits } from './learned-limits.ts';
import { isPlainRefusal, mayLackRoom, type Reason } from './reasons.ts';
import { RefusedFilters } from './refused-filters.ts';
import {
  isRefusal,
  isSubackRefusal,
  logBlocked,
  NO_SUBSCRIPTION_EXISTED,
  type Outcome,
  type Qos,
  QUOTA_EXCEEDED,
  reasonOf,
} from './suback.ts';
import type { SubscriptionEvents } from './subscription-events.ts';
import { SubscriptionLimit } from './subscription-limit.ts';
import { SubscriptionPackets, type SubscriptionTransport } from './subscription-packets.ts';
import { SubscriptionPlan } from './subscription-plan.ts';
import { SyncLoop } from './sync-loop.ts';

/**
 * When leftovers of an earlier process were given back, more may be allowed than was seen. Where the broker does not say
 * whether there were any, each further trial takes twice as long, as it may cost the connection.
 */
const FIRST_RETRY_MS = 10_000;
const LAST_RETRY_MS = 3_600_000;

/** The wanted filters with their QoS, and the broker's view of them. */
export class Subscriptions {
  readonly #held: HeldFilters;
  readonly #log: Logger;
  readonly #events: SubscriptionEvents;
  readonly #wanted = new Map<string, Qos>();
  readonly #refused: RefusedFilters;
  readonly #waiting = new GrantWaiters();
  readonly #places: GivenPlaces;
  /** By session; no more than there are addresses. */
  readonly #learnedBySession = new Map<string, LearnedLimits>();
  #learned = new LearnedLimits();
  readonly #limit: SubscriptionLimit;
  readonly #plan: SubscriptionPlan;
  readonly #packets: SubscriptionPackets;
  readonly #loop: SyncLoop<SubscriptionTransport>;
  readonly #retries = createBackoff(FIRST_RETRY_MS, LAST_RETRY_MS, { jitter: 0 });
  /** What was not counted was given back, or is about to be: the broker may allow more than was seen. */
  #mayHaveRoom = false;
  /** For so many more the broker has a place; infinite where it has kept nothing, 0 where that is not known. */
  #freePlaces = 0;

  /** @param backoff of refused filters */
  constructor(persistent: boolean, log: Logger, events: SubscriptionEvents, backoff?: Backoff) {
    this.#held = new HeldFilters(persistent);
    this.#log = log;
    this.#events = events;
    this.#loop = new SyncLoop(log, {
      step: (transport) => this.#step(transport),
      done: () => this.#synced(),
    });
    const refusals = {
      isWanted: (filter: string) => this.#wanted.has(filter),
      refusing: (filter: string) => events.refusing(filter),
      refused: () => events.refused?.(),
      trying: (filter: string) => events.trying?.(filter),
      changed: (all: ReadonlyMap<string, Reason>, isSettled: boolean) => events.refusals(all, isSettled),
      settled: (filter: string) => this.#waiting.call(filter, true),
      retry: () => void this.#loop.run(),
    };
    this.#places = new GivenPlaces((filter) => events.mayGiveWay(filter));
    this.#refused = new RefusedFilters(refusals, this.#learned.forbidden, backoff);
    this.#plan = new SubscriptionPlan(this.#wanted, this.#held, this.#places, () => events.makingRoom?.());
    this.#packets = new SubscriptionPackets(log, {
      unanswered: () => this.#learned.unanswered(),
      lowerQos: (max) => events.lowerQos(max),
    });
    this.#limit = new SubscriptionLimit(this.#learned.quota, {
      changed: (max) => {
        this.#plan.startOver();
        events.quota(max);
      },
      retry: () => this.#refused.askAgain(),
    });
  }

  /** Adds `add` and removes `remove`; the broker follows at once when it is there, else when it comes. */
  change(add: Iterable<string>, qos: Qos, remove: Iterable<string> = []): void {
    let isRenewing = false;
    for (const filter of add) {
      if (this.#wanted.get(filter) !== qos) {
        isRenewing = this.#held.renew(filter) || isRenewing;
      }
      this.#wanted.set(filter, qos);
    }
    for (const filter of remove) {
      this.#unwant(filter);
    }
    if (this.#loop.transport) {
      this.#refused.refuseBlocked(add);
    }
    if (isRenewing) {
      this.#events.renewing?.();
    }
    void this.#loop.run();
  }

  /** The same filters with another QoS, where they are wanted. */
  changeQos(filters: readonly string[], qos: Qos): void {
    const changed = filters.filter((filter) => (this.#wanted.get(filter) ?? qos) !== qos);
    if (changed.length > 0) {
      this.change(changed, qos);
    }
  }

  /** How many the broker has granted. */
  get inUse(): number {
    return this.#held.granted;
  }

  /** Whether the broker has refused a filter that is wanted, or has ended the connection because of it. */
  isRefused(filter: string): boolean {
    return this.#refused.all.has(filter);
  }

  /** Why the broker has refused it; undefined also where it says no more than that. */
  refusalOf(filter: string): Reason | undefined {
    const reason = this.#refused.all.get(filter);
    return reason && isPlainRefusal(reason) ? undefined : reason;
  }

  /** Those of the filters that the broker refuses, and why. */
  refusalsOf(filters: readonly string[]): ReadonlyMap<string, Reason> {
    const { all } = this.#refused;
    return new Map(filters.flatMap((filter) => (all.has(filter) ? [[filter, all.get(filter)!]] : [])));
  }

  /**
   * They count as not asked for, and have room made for them; those that end the connection as its time allows. Call
   * `change` then.
   */
  askAgain(filters: readonly string[]): void {
    this.forgetRefusals(filters);
    this.#refused.refuseBlocked(filters);
    this.makeRoom();
  }

  /** Call `change` then. */
  forgetRefusals(filters: readonly string[]): void {
    for (const filter of filters) {
      this.#refused.delete(filter);
    }
  }

  /** @param isHolding what nobody wants is not given back: flows have still to tell what they want */
  hold(isHolding: boolean): void {
    this.#plan.isHolding = isHolding;
    if (!isHolding) {
      void this.#loop.run();
    }
  }

  /** @param isKeeping it is given back only where others need its room: a node that cannot work may want it */
  keep(isKeeping: boolean): void {
    this.#plan.isKeeping = isKeeping;
  }

  /** Whether what nobody wants is not given back yet. */
  get isHolding(): boolean {
    return this.#plan.isHolding;
  }

  /** Whether what nobody wants is given back only where others need its room. */
  get isKeeping(): boolean {
    return this.#plan.isKeeping;
  }

  /** Whether what nobody wants was given back, when the broker has everything that is wanted. */
  get givesBack(): boolean {
    return !this.#plan.isHolding && !this.#plan.isKeeping;
  }

  /** One that is not wanted any more is given back before others are asked for. */
  makeRoom(): void {
    this.#plan.makeRoomFirst();
  }

  /** Whether some are given back before others are asked for: for a moment nothing comes by either of them. */
  get makesRoom(): boolean {
    return this.#plan.makesRoom;
  }

  /** Whether it ends the connection to ask this broker for the filter, as far as is known. */
  isBlocked(filter: string): boolean {
    return this.#learned.forbidden.has(filter);
  }

  /**
   * Unsubscribes filters that the broker may hold from an earlier life of this client, unless they are in use.
   * @returns whether there is anything to unsubscribe; `synced` tells when it is done
   */
  unsubscribeStale(filters: string[]): boolean {
    const unused = filters.filter((filter) => !this.#held.isGranted(filter) && !this.#wanted.has(filter));
    if (unused.length === 0) {
      return false;
    }
    this.#held.guess(unused);
    void this.#loop.run();
    return true;
  }

  /** Every filter that the broker may hold for this client, which forgets them: nobody comes back for them. */
  takeAll(): string[] {
    const all = new Set([...this.#held.all(), ...this.#wanted.keys()]);
    this.#held.clear();
    this.#wanted.clear();
    return [...all];
  }

  /**
   * A connection begins: call it before `online`.
   * @param session names the broker and the client id
   */
  prepare(session: string, { portions, maxQos, maxCount = Number.POSITIVE_INFINITY }: KnownLimits): void {
    this.#held.prepare(session);
    this.#learned = this.#learnedBySession.get(session) ?? new LearnedLimits();
    this.#learnedBySession.set(session, this.#learned);
    this.#learned.portions = portions;
    this.#packets.prepare(maxQos);
    this.#limit.prepare(this.#learned.quota, maxCount);
  }

  /** In packets as the broker has shown to take. */
  portionsOf(filters: readonly string[]): Iterable<string[]> {
    return this.#learned.provenPortions(filters);
  }

  /** True when the broker has granted the filter already. */
  isActive(filter: string): boolean {
    return this.#held.isCurrent(filter);
  }

  /** Whether there is a broker that has not granted it. */
  isPending(filter: string): boolean {
    return this.#loop.transport !== undefined && !this.isActive(filter);
  }

  /** Calls back once the broker has granted or refused this wanted filter; a loss in between keeps it waiting. */
  whenSettled(filter: string, settled: (refused: boolean) => void): void {
    if (this.isActive(filter)) {
      settled(false);
    } else if (this.isRefused(filter)) {
      settled(true);
    } else {
      this.#waiting.add(filter, settled);
    }
  }

  /** @param isNew the broker has kept nothing of an earlier connection */
  online(transport: SubscriptionTransport, isNew: boolean): void {
    this.#loop.connect(transport);
    this.#held.connected(isNew);
    this.#plan.startOver();
    this.#places.connected();
    this.#learned.connected(this.#wanted);
    if (isNew) {
      this.#learned.forbidden.placeTaken();
    }
    this.#freePlaces = isNew ? Number.POSITIVE_INFINITY : this.#makePlace();
    const blocked = this.#refused.connected(this.#learned.forbidden, new Set(this.#wanted.keys()));
    logBlocked(this.#log, blocked);
    this.#limit.connected();
    void this.#loop.run();
  }

  /**
   * @param isUnrelated the connection has ended for a reason that is not what the broker was asked for
   * @param wasGood it had lasted for a while
   * @returns whether the next connection may show more, so that it should come soon
   */
  offline(isUnrelated = false, wasGood = false): boolean {
    this.#loop.connect(undefined);
    if (wasGood) {
      this.#learned.forbidden.lasted();
    }
    const { isSearch, isQuota, untaken } = isUnrelated
      ? this.#learned.interrupted()
      : this.#learned.lost((filter) => this.#freePlaces > 0 || this.#events.isCovering(filter));
    this.#refused.disconnected();
    this.#limit.disconnected();
    this.#plan.settled();
    this.#mayHaveRoom = false;
    this.#held.disconnected();
    if (untaken !== undefined) {
      this.#held.untaken(untaken);
    }
    if (isQuota) {
      this.#limit.tell();
    }
    return isSearch;
  }

  /** A refused filter that nobody wants is nobody's trouble any more. */
  #unwant(filter: string): void {
    this.#wanted.delete(filter);
    this.#waiting.delete(filter);
    this.#refused.delete(filter);
    this.#learned.unwanted(filter);
    if (this.#held.isGranted(filter)) {
      this.#givePlaceBack(this.#places.left(filter, this.#refused.all.keys()));
    }
  }

  /**
   * A connection begins with what the session has kept: one filter too many looks like a forbidden one there, unless a place
   * is free. @returns how many are free then
   */
  #makePlace(): number {
    const { forbidden } = this.#learned;
    if (forbidden.hasPlace) {
      return 1;
    }
    if (!forbidden.needsPlace(this.#wanted)) {
      return 0;
    }
    const given = forbidden.givePlace([...this.#held.counted()], this.#wanted, this.isHolding);
    const leftovers = this.#held.leftovers().filter((filter) => {
      if (!this.#wanted.has(filter)) {
        return !this.isHolding;
      }
      return given.length === 0 && !forbidden.isInDoubt(filter) && !forbidden.has(filter);
    });
    this.#plan.giveBackFirst([...leftovers, ...given]);
    return 1;
  }

  #synced(): void {
    this.#refused.synced();
    this.#learned.forbidden.settled(this.#wanted);
    this.#plan.settled();
    if (this.#mayHaveRoom && !this.isHolding) {
      this.#mayHaveRoom = false;
      if (this.#learned.quota.max !== Number.POSITIVE_INFINITY) {
        this.#limit.retrySoon(this.#retries.next());
      }
    }
    this.#events.synced();
  }

  /** @returns false when nothing is left to do */
  async #step(transport: SubscriptionTransport): Promise<boolean> {
    const step = this.#plan.next(this.#missing, this.#limit.max);
    if (step === undefined) {
      return false;
    }
    const { subscribe, refuse, unsubscribe } = step;
    if (subscribe.length > 0) {
      const portions = this.#learned.subscribePortions(subscribe, () => this.#held.count);
      await this.#inTurn(portions, (portion) => this.#subscribe(transport, portion));
      return true;
    }
    for (const filter of refuse) {
      this.#settle({ filter, qos: 0, code: QUOTA_EXCEEDED });
    }
    this.#refused.tell();
    const portions = this.#learned.unsubscribePortions(unsubscribe);
    await this.#inTurn(portions, (portion) => this.#unsubscribe(transport, portion));
    return true;
  }

  /** @param filter is asked for again, if there is one */
  #givePlaceBack(filter: string | undefined): void {
    if (filter !== undefined) {
      this.#refused.delete(filter);
    }
  }

  get #missing(): string[] {
    return [...this.#wanted].flatMap(([filter, qos]) =>
      this.isRefused(filter) || this.isBlocked(filter) || this.#held.isCurrent(filter, qos) ? [] : [filter],
    );
  }

  /** One packet after the other; stops early when something changes: then the rest may not be wanted any more. */
  async #inTurn(portions: Iterable<string[]>, send: (portion: string[]) => Promise<void>): Promise<void> {
    const { transport } = this.#loop;
    for (const portion of portions) {
      await send(portion);
      if (transport !== this.#loop.transport) {
        return;
      }
      this.#learned.answered();
      if (this.#loop.hasChanged) {
        return;
      }
    }
  }

  async #subscribe(transport: SubscriptionTransport, filters: string[]): Promise<void> {
    const batch = filters.map((filter) => [filter, this.#wanted.get(filter) ?? 0] as [string, Qos]);
    const held = new Set(filters.filter((filter) => this.#held.has(filter)));
    const doubtful = new Set(filters.filter((filter) => this.#held.isDoubtful(filter)));
    this.#held.asked(filters);
    const outcomes = await this.#packets.subscribe(transport, batch);
    if (transport !== this.#loop.transport) {
      return;
    }
    this.#packets.tell(outcomes);
    for (const { filter } of outcomes.filter(
      ({ filter, code }) => isSubackRefusal(code) && !held.has(filter),
    )) {
      // What was asked for before may have been granted then.
      if (!doubtful.has(filter)) {
        this.#held.refused(filter);
      }
      this.#givePlaceBack(this.#places.refused(filter));
    }
    for (const outcome of outcomes.filter(({ code }) => code !== QUOTA_EXCEEDED)) {
      this.#settle(outcome, !held.has(outcome.filter));
    }
    const beyond = outcomes.filter(({ code }) => code === QUOTA_EXCEEDED);
    // What is to be given back anyway can make room: those are asked for once more then.
    const makesRoom = beyond.length > 0 && (this.#plan.giveBackUncounted() || this.#learnLimit());
    for (const outcome of beyond.filter(({ filter }) => held.has(filter) || !makesRoom)) {
      this.#settle(outcome);
    }
    this.#refused.tell();
  }

  /** The broker holds as many as it allows. @returns whether some of them are to be given back */
  #learnLimit(): boolean {
    const { count } = this.#held;
    if (count > 0) {
      this.#limit.reached(count);
    }
    return count > 0 && this.#held.hasOthers(this.#wanted);
  }

  async #unsubscribe(transport: SubscriptionTransport, batch: string[]): Promise<void> {
    const codes = await this.#packets.unsubscribe(transport, batch);
    this.#learned.tellsAbsence ||= codes.includes(NO_SUBSCRIPTION_EXISTED);
    if (batch.some((filter, i) => this.#held.isGuessed(filter) && !codes[i])) {
      this.#mayHaveRoom = true;
      // It has said of others that they were not there: so these were.
      if (codes.length > 0 && this.#learned.tellsAbsence) {
        this.#retries.reset();
      }
    }
    for (const filter of batch) {
      this.#held.delete(filter);
      this.#learned.forbidden.forget(filter);
    }
  }

  /** @param isNew the broker did not hold it before */
  #settle({ filter, qos, code }: Outcome, isNew = true): void {
    if (!isRefusal(code)) {
      this.#held.grant(filter, qos);
      if (isNew) {
        this.#freePlaces--;
        this.#learned.forbidden.placeTaken();
      }
      if (this.#learned.granted(filter, this.#held.granted, isNew)) {
        this.#refused.tryBlocked();
      }
      this.#waiting.call(filter, false);
      return;
    }
    const reason = reasonOf(code, this.#held.granted);
    if (this.isKeeping && mayLackRoom(reason)) {
      // Perhaps it needs the room of what is kept: asked for again when that is given back.
      this.#plan.isKeeping = false;
      this.#mayHaveRoom = true;
    }
    this.#refused.refuse(filter, reason, code !== QUOTA_EXCEEDED);
  }
}
