// Keeps what the broker is subscribed to equal to what is wanted: over reconnects, refusals and changes.
import type { Logger } from '../log.ts';
import type { Backoff } from './backoff.ts';
import { NoBrokerResponse } from './broker-response.ts';
import { GivenPlaces } from './given-places.ts';
import { GrantWaiters } from './grant-waiters.ts';
import { HeldFilters } from './held-filters.ts';
import { LearnedLimits } from './learned-limits.ts';
import type { PortionLimits } from './portion-sizes.ts';
import { isPlainRefusal, type Reason } from './reasons.ts';
import { RefusedFilters } from './refused-filters.ts';
import {
  codesOf,
  isRefusal,
  isSubackRefusal,
  logRefusals,
  lowerQos,
  type Outcome,
  type Qos,
  QUOTA_EXCEEDED,
  reasonOf,
  shownMaxQos,
  UNSPECIFIED,
} from './suback.ts';

/** When leftovers of an earlier process were given back, more may be allowed than was seen. */
const RETRY_AFTER_STALE_MS = 10_000;

export interface SubscriptionTransport {
  /** Resolves or rejects with the codes that the broker granted, in the order of the filters. */
  subscribe(filters: Record<string, { qos: Qos }>): Promise<{ topic: string; qos: number }[]>;
  unsubscribe(filters: string[]): Promise<void>;
}

export interface SubscriptionEvents {
  /** A wanted filter will be told as refused, unless it is not wanted any more when this returns. */
  refusing(filter: string): void;
  /**
   * Others of the wanted filters are refused than before.
   * @param isSettled the broker has granted or refused everything by now
   */
  refusals(refused: ReadonlyMap<string, Reason>, isSettled: boolean): void;
  /** Whether the filter may lose its place to one that may not, where there is none left. */
  mayGiveWay(filter: string): boolean;
  /** The broker has everything that is wanted, or has refused it. */
  synced(): void;
  /** The broker allows no more than so many subscriptions of a connection; infinite when no number is known. */
  quota(max: number): void;
  /** The broker has granted this QoS where a higher one was asked for. */
  lowerQos(max: Qos): void;
}

/** What is known of a broker beforehand. */
export interface KnownLimits {
  portions: PortionLimits;
  maxQos: Qos;
  /** Subscriptions. */
  maxCount?: number | undefined;
}

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
  #maxQos: Qos = 2;
  #maxCount = Number.POSITIVE_INFINITY;
  #toldQuota = Number.POSITIVE_INFINITY;
  /** How many subscriptions make room for others at a time. */
  #swapped = 1;
  /** Those that made room: when they are wanted again they come first. */
  readonly #madeRoom = new Set<string>();
  #isUnsubscribingStale = false;
  #transport: SubscriptionTransport | undefined;
  #syncing: SubscriptionTransport | undefined;
  #changed = false;
  #quotaRetry: NodeJS.Timeout | undefined;
  #hasLoggedLowerQos = false;

  /** @param backoff of refused filters */
  constructor(persistent: boolean, log: Logger, events: SubscriptionEvents, backoff?: Backoff) {
    this.#held = new HeldFilters(persistent);
    this.#log = log;
    this.#events = events;
    const refusals = {
      isWanted: (filter: string) => this.#wanted.has(filter),
      refusing: (filter: string) => events.refusing(filter),
      changed: (all: ReadonlyMap<string, Reason>, isSettled: boolean) => events.refusals(all, isSettled),
      settled: (filter: string) => this.#waiting.call(filter, true),
      retry: () => void this.#sync(),
    };
    this.#places = new GivenPlaces((filter) => events.mayGiveWay(filter));
    this.#refused = new RefusedFilters(refusals, this.#learned.forbidden, backoff);
  }

  /** Adds `add` and removes `remove`; the broker follows at once when it is there, else when it comes. */
  change(add: Iterable<string>, qos: Qos, remove: Iterable<string> = []): void {
    for (const filter of add) {
      if (this.#wanted.get(filter) !== qos) {
        this.#held.renew(filter);
      }
      this.#wanted.set(filter, qos);
    }
    for (const filter of remove) {
      this.#unwant(filter);
    }
    if (this.#transport) {
      this.#refused.refuseBlocked(add);
    }
    void this.#sync();
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
    this.#held.addStale(unused);
    this.#isUnsubscribingStale = true;
    void this.#sync();
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
    this.#maxQos = maxQos;
    this.#maxCount = maxCount;
    if (this.#learned.quota.retryWait === 0) {
      this.#learned.quota.retry();
    }
    this.#tellQuota();
  }

  /** In packets as the broker has shown to take. */
  portionsOf(filters: readonly string[]): Iterable<string[]> {
    return this.#learned.provenPortions(filters);
  }

  /** True when the broker has granted the filter already. */
  isActive(filter: string): boolean {
    return this.#held.isCurrent(filter);
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
    this.#transport = transport;
    this.#held.connected(isNew);
    this.#swapped = 1;
    this.#places.connected();
    this.#learned.connected(this.#wanted);
    const blocked = this.#refused.connected(this.#learned.forbidden, new Set(this.#wanted.keys()));
    const [first] = blocked;
    if (first !== undefined) {
      const others = blocked.length > 1 ? ` and ${blocked.length - 1} others` : '';
      this.#log.warn(`the broker ends the connection when it is asked for ${first}${others}`);
    }
    this.#retryQuotaLater();
    void this.#sync();
  }

  /**
   * @param isUnrelated the connection has ended for a reason that is not what the broker was asked for
   * @param wasGood it had lasted for a while
   * @returns whether the next connection may show more, so that it should come soon
   */
  offline(isUnrelated = false, wasGood = false): boolean {
    this.#transport = undefined;
    if (wasGood) {
      this.#learned.forbidden.lasted();
    }
    const { isSearch, isQuota } = isUnrelated ? this.#learned.interrupted() : this.#learned.lost();
    this.#refused.disconnected();
    clearTimeout(this.#quotaRetry);
    this.#madeRoom.clear();
    this.#isUnsubscribingStale = false;
    this.#held.disconnected();
    if (isQuota) {
      this.#tellQuota();
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
      this.#givePlaceBack(this.#places.left(filter));
    }
  }

  async #sync(): Promise<void> {
    this.#changed = true;
    const transport = this.#transport;
    if (!transport || transport === this.#syncing) {
      return;
    }
    this.#syncing = transport;
    try {
      let isDone = false;
      // A change may come while the last step is on its way, so it is looked for after each step.
      while (!isDone || this.#changed) {
        this.#changed = false;
        isDone = !(await this.#step(transport));
        if (transport !== this.#transport) {
          return;
        }
      }
      this.#refused.synced();
      this.#settled();
      this.#events.synced();
    } catch (error) {
      // The connection went away in the middle; its successor starts over.
      this.#log.trace(`subscriptions: ${String(error)}`);
    } finally {
      if (transport === this.#syncing) {
        this.#syncing = undefined;
      }
    }
  }

  #settled(): void {
    this.#learned.forbidden.settled(this.#wanted);
    this.#madeRoom.clear();
    if (this.#isUnsubscribingStale) {
      this.#isUnsubscribingStale = false;
      this.#learned.quota.retrySoon(RETRY_AFTER_STALE_MS);
      this.#retryQuotaLater();
    }
  }

  get #quota(): number {
    return Math.min(this.#maxCount, this.#learned.quota.max);
  }

  /**
   * New filters before old ones go, so that a change of filters loses no report, unless the broker does not allow both.
   * @returns false when nothing is left to do
   */
  async #step(transport: SubscriptionTransport): Promise<boolean> {
    const missing = this.#missing.sort(
      (a, b) => Number(this.#madeRoom.has(b)) - Number(this.#madeRoom.has(a)),
    );
    const held = this.#held.all();
    const stale = [...held].filter((filter) => !this.#wanted.has(filter));
    if (missing.length > 0) {
      const fresh = missing.filter((filter) => !held.has(filter));
      const beyond = new Set(fresh.slice(Math.max(0, this.#quota - held.size)));
      await this.#stepTowards(
        transport,
        missing.filter((filter) => !beyond.has(filter)),
        [...beyond],
        stale,
      );
      return true;
    }
    if (stale.length > 0) {
      await this.#unsubscribeAll(transport, stale);
      return true;
    }
    return false;
  }

  /**
   * @param beyond what there is no room for. Few of the old ones make room at first: what they are replaced by may be
   *   refused, and they may be wanted again then.
   */
  async #stepTowards(
    transport: SubscriptionTransport,
    missing: string[],
    beyond: string[],
    stale: string[],
  ): Promise<void> {
    if (missing.length > 0) {
      await this.#subscribeAll(transport, missing);
    } else if (stale.length > 0) {
      const given = stale.slice(0, Math.min(beyond.length, this.#swapped));
      this.#swapped *= 2;
      for (const filter of given) {
        this.#madeRoom.add(filter);
      }
      await this.#unsubscribeAll(transport, given);
    } else {
      const granted = [...this.#wanted.keys()].filter((filter) => this.#held.isGranted(filter));
      const given = this.#places.take(beyond, granted);
      for (const filter of given.length > 0 ? given : beyond) {
        this.#settle({ filter, qos: 0, code: QUOTA_EXCEEDED });
      }
      this.#refused.tell();
      if (given.length > 0) {
        await this.#unsubscribeAll(transport, given);
      }
    }
  }

  /** @param filter is asked for again, if there is one */
  #givePlaceBack(filter: string | undefined): void {
    if (filter !== undefined) {
      this.#refused.delete(filter);
    }
  }

  #atMost(qos: Qos): Qos {
    return Math.min(qos, this.#maxQos) as Qos;
  }

  get #missing(): string[] {
    return [...this.#wanted].flatMap(([filter, qos]) =>
      this.isRefused(filter) || this.isBlocked(filter) || this.#held.isCurrent(filter, qos) ? [] : [filter],
    );
  }

  async #subscribeAll(transport: SubscriptionTransport, filters: string[]): Promise<void> {
    const portions = this.#learned.subscribePortions(filters, () => this.#held.count);
    await this.#inTurn(portions, (portion) => this.#subscribe(transport, portion));
  }

  async #unsubscribeAll(transport: SubscriptionTransport, filters: string[]): Promise<void> {
    const portions = this.#learned.unsubscribePortions(filters);
    await this.#inTurn(portions, (portion) => this.#unsubscribe(transport, portion));
  }

  /** One packet after the other; stops early when something changes: then the rest may not be wanted any more. */
  async #inTurn(portions: Iterable<string[]>, send: (portion: string[]) => Promise<void>): Promise<void> {
    const transport = this.#transport;
    for (const portion of portions) {
      await send(portion);
      if (transport !== this.#transport) {
        return;
      }
      this.#learned.answered();
      if (this.#changed) {
        return;
      }
    }
  }

  async #subscribe(transport: SubscriptionTransport, filters: string[]): Promise<void> {
    const batch = filters.map((filter) => [filter, this.#wanted.get(filter) ?? 0] as [string, Qos]);
    const held = new Set(filters.filter((filter) => this.#held.has(filter)));
    const codes = await this.#codesOf(transport, batch);
    if (transport !== this.#transport) {
      return;
    }
    const outcomes = batch.map(([filter, qos], i) => ({ filter, qos, code: codes[i] ?? UNSPECIFIED }));
    this.#tellOutcomes(outcomes);
    for (const { filter } of outcomes.filter(
      ({ filter, code }) => isSubackRefusal(code) && !held.has(filter),
    )) {
      this.#held.refused(filter);
      this.#givePlaceBack(this.#places.refused(filter));
    }
    for (const outcome of outcomes.filter(({ code }) => code !== QUOTA_EXCEEDED)) {
      this.#settle(outcome);
    }
    const beyond = outcomes.filter(({ code }) => code === QUOTA_EXCEEDED);
    if (beyond.length > 0 && this.#held.count > 0) {
      this.#learned.quota.told(this.#held.count);
      this.#tellQuota();
    }
    for (const outcome of beyond) {
      this.#settle(outcome);
    }
    this.#refused.tell();
  }

  /** Others may ask for fewer now; what they do not want any more is not told as refused. */
  #tellQuota(): void {
    const quota = this.#quota;
    if (quota !== this.#toldQuota) {
      this.#toldQuota = quota;
      this.#swapped = 1;
      this.#events.quota(quota);
    }
    this.#retryQuotaLater();
  }

  #retryQuotaLater(): void {
    clearTimeout(this.#quotaRetry);
    const wait = this.#learned.quota.retryWait;
    if (!this.#transport || wait === Number.POSITIVE_INFINITY) {
      return;
    }
    this.#quotaRetry = setTimeout(() => {
      this.#learned.quota.retry();
      this.#tellQuota();
      this.#refused.askAgain();
    }, wait).unref();
  }

  /** @throws what ended the connection */
  async #codesOf(transport: SubscriptionTransport, batch: [string, Qos][]): Promise<number[]> {
    this.#held.asked(batch.map(([filter]) => filter));
    try {
      const granted = await transport.subscribe(
        Object.fromEntries(batch.map(([filter, qos]) => [filter, { qos: this.#atMost(qos) }])),
      );
      return granted.map(({ qos }) => qos);
    } catch (error) {
      if (error instanceof NoBrokerResponse) {
        this.#learned.unanswered();
      }
      return codesOf(error, batch.length);
    }
  }

  async #unsubscribe(transport: SubscriptionTransport, batch: string[]): Promise<void> {
    await transport.unsubscribe(batch).catch((error: unknown) => this.#unlessNoResponse(error));
    for (const filter of batch) {
      this.#forget(filter);
    }
  }

  #tellOutcomes(outcomes: readonly Outcome[]): void {
    logRefusals(this.#log, outcomes);
    const max = shownMaxQos(outcomes, this.#maxQos);
    if (max !== undefined) {
      this.#events.lowerQos(max);
    }
    const text = lowerQos(outcomes, this.#maxQos);
    if (text !== undefined && !this.#hasLoggedLowerQos) {
      this.#hasLoggedLowerQos = true;
      this.#log.warn(text);
    }
  }

  #settle({ filter, qos, code }: Outcome): void {
    if (!isRefusal(code)) {
      this.#held.grant(filter, qos);
      if (this.#learned.granted(filter, this.#held.granted)) {
        this.#refused.tryBlocked();
      }
      this.#waiting.call(filter, false);
      return;
    }
    this.#refused.refuse(filter, reasonOf(code, this.#held.granted), code !== QUOTA_EXCEEDED);
  }

  #unlessNoResponse(error: unknown): void {
    if (!(error instanceof NoBrokerResponse)) {
      throw error;
    }
    this.#learned.unanswered();
  }

  #forget(filter: string): void {
    this.#held.delete(filter);
    this.#learned.forbidden.forget(filter);
  }
}
