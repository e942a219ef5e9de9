// What the broker is asked for by way of reports: applied to the subscriptions, cleared of what earlier processes left.

import type { Phrase } from '../errors.ts';
import type { Deferrable, Outcome } from '../protocol/deferral.ts';
import type { FilterVerdicts } from '../protocol/filter-verdicts.ts';
import { shareOf, type Topics } from '../protocol/topics.ts';
import type { MqttSettings } from '../settings.ts';
import { forgetSession, type KeptSession, keptSession, newSession, sessionName } from './kept-sessions.ts';
import { MIN_QUOTA, mayLackRoom, reasonOfRefusals } from './reasons.ts';
import { StaleSubscriptions } from './stale-subscriptions.ts';
import type { Subscriptions } from './subscriptions.ts';

/** So long a refused filter is not asked for once more in place of what it covers: one of that makes room meanwhile. */
const IN_PLACE_MS = 3_600_000;

/** Filters that an earlier process may have asked for without the group. */
const MAX_EARLIER = 2_000;

/** A broker sends what has waited at once: where nothing came twice for so long, all pairs have come. */
const PAIRS_QUIET_MS = 1_000;
/** A sender that sends everything twice is believed then. */
const MAX_PAIRS_MS = 60_000;

/** Who receives the messages of report topics, and says which of them the broker is asked for. */
export interface ReportHandler {
  /** Topic filters that flows want, where there is no limit. */
  readonly needed: number;
  /** From now on reports are expected by these filters. @param max 1 or more */
  filters(max: number, verdicts: FilterVerdicts): string[];
  /** What people look through beyond these. @param max 1 or more */
  previewFilters(max: number): string[];
  /** Whether one of these filters takes the place of narrower ones. */
  isWidened(filter: string): boolean;
  /** Whether one of these filters covers what flows want. */
  isCovering(filter: string): boolean;
  /** The connection is a new one. @param broker its address */
  connected(broker: string, isSessionPresent: boolean): void;
  /** What is delivered from now on came by the present filters. */
  settled(): void;
  /** What has waited here while flows were replaced comes now. */
  readOn(): void;
  /** Whether what the broker had at that time has come. @param since in milliseconds of `performance.now()` */
  hasCaughtUp(since: number): boolean;
  /**
   * @param isLeftover asked of a message that is the same as the one before and comes more often than there are
   *   subscriptions for it: whether one that is no more, or of an earlier process, has brought it; undefined: there is none
   * @param deferrable lets it be acknowledged later; undefined: it cannot be
   */
  deliver(
    topic: string,
    payload: Buffer,
    retained: boolean,
    isLeftover?: (topic: string) => boolean,
    deferrable?: Deferrable,
  ): Outcome;
  /** What came by `previewFilters`, over another connection. */
  deliverPreview(topic: string, payload: Buffer, retained: boolean): void;
  /** Flows have more to confirm than may be read: nothing more is, until they do. */
  readonly isFull: boolean;
  /** Nobody asks for reports, but a node that cannot work may: what the broker keeps may be meant for it. */
  readonly mayBeWanted: boolean;
  /** Flows run, and may ask for reports that nobody did. @returns whether any waited for that */
  decide(): boolean;
  /** Flows confirm reports: a broker that waits for them sends nothing else of QoS 1. */
  readonly isConfirming: boolean;
}

export class ReportSubscriptions {
  readonly #settings: MqttSettings;
  readonly #handler: ReportHandler;
  readonly #subscriptions: Subscriptions;
  readonly #stale: StaleSubscriptions;
  readonly #share: string;
  #mayHaveStale = false;
  #session: KeptSession = newSession();
  /** When the broker had taken filters back, in milliseconds of `performance.now()`; undefined: not yet. */
  #givenBackAt: number | undefined;
  /** When a report came twice last. */
  #repeatedAt = 0;
  /** What flows have wanted since filters without the group were given back. */
  #earlier = new Set<string>();
  /** The broker has granted or refused what it was asked for. */
  #isSynced = false;
  #wanted: ReadonlySet<string> = new Set();
  /** Filters, as they are subscribed, that take the place of no other until they are granted. */
  #refused = new Set<string>();
  /** When those of them were asked for in place of what they cover, in milliseconds of `performance.now()`. */
  readonly #askedInPlace = new Map<string, number>();
  /** The address of the connection. */
  #broker = '';

  constructor(settings: MqttSettings, topics: Topics, handler: ReportHandler, subscriptions: Subscriptions) {
    this.#settings = settings;
    this.#handler = handler;
    this.#subscriptions = subscriptions;
    this.#share = shareOf(settings.sharedGroup);
    this.#stale = new StaleSubscriptions(topics, this.#share);
  }

  /**
   * Asks the broker for the handler's present filters.
   * @param max filters at most: where it takes that, wider ones take the place of narrow ones
   * @param isAvoided whether a wide filter, as it is subscribed, must not
   * @returns whether flows want something new
   */
  apply(max: number, isAvoided: (subscribed: string) => boolean): boolean {
    this.judge();
    const stillRefused = new Set<string>();
    const wanted = this.#handler.filters(max, {
      isAvoided: (filter) => isAvoided(this.#share + filter),
      isRefused: (filter) => {
        const subscribed = this.#share + filter;
        if (this.#refused.has(subscribed)) {
          stillRefused.add(subscribed);
        }
        return stillRefused.has(subscribed);
      },
      isGranted: (filter) => this.#subscriptions.isActive(this.#share + filter),
    });
    this.#refused = stillRefused;
    const before = this.#wanted;
    addAll(this.#earlier, wanted);
    const filters = new Set(wanted.map((filter) => this.#share + filter));
    const isNew = [...filters].some((filter) => !this.#wanted.has(filter));
    this.#wanted = filters;
    this.#isSynced = false;
    const old = [...before].filter((filter) => !this.#wanted.has(filter));
    this.#session.reportFilters = filters;
    if (old.length > 0) {
      this.#expectPairs();
    }
    for (const filter of old) {
      this.#askedInPlace.delete(filter);
    }
    // Until now a flow asked for it by itself; how long it takes the place of no others is decided anew.
    this.#subscriptions.forgetRefusals([...filters].filter((filter) => this.isWidened(filter)));
    this.#subscriptions.change(this.#wanted, this.#qos, old);
    return isNew;
  }

  /**
   * Takes note of what the broker has said to the filters.
   * @returns whether it may take others: what a refused one covers, or no longer what one that is granted now covers
   */
  judge(): boolean {
    const granted = [...this.#refused].filter((filter) => this.#subscriptions.isActive(filter));
    for (const filter of granted) {
      this.#refused.delete(filter);
    }
    const all = this.#subscriptions.refusalsOf([...this.#wanted]);
    const refused = [...all.keys()].filter((filter) => !this.#refused.has(filter));
    for (const filter of refused) {
      this.#refused.add(filter);
    }
    return granted.length > 0 || refused.some((filter) => this.isCovering(filter));
  }

  /**
   * What finds no room beside those that it covers, or perhaps none, is asked for in their place.
   * @returns whether that takes other filters
   */
  #askAgain(): boolean {
    const all = this.#subscriptions.refusalsOf([...this.#refused]);
    const again = [...all].flatMap(([filter, reason]) =>
      mayLackRoom(reason) && this.isCovering(filter) && this.#isDue(filter) ? [filter] : [],
    );
    for (const filter of again) {
      this.#askInPlace(filter);
    }
    if (again.length > 0) {
      this.#subscriptions.askAgain(again);
    }
    return again.length > 0;
  }

  /**
   * One that has ended the connection will be asked for: where that may have been one too many, in place of what it covers.
   * @returns whether that takes other filters
   */
  trying(subscribed: string): boolean {
    const isInPlace = this.#refused.has(subscribed) && this.isCovering(subscribed) && this.#isDue(subscribed);
    if (!isInPlace || this.#subscriptions.inUse < MIN_QUOTA) {
      return false;
    }
    this.#askInPlace(subscribed);
    this.#subscriptions.makeRoom();
    return true;
  }

  #isDue(subscribed: string): boolean {
    const at = this.#askedInPlace.get(subscribed);
    return at === undefined || performance.now() - at >= IN_PLACE_MS;
  }

  #askInPlace(subscribed: string): void {
    this.#refused.delete(subscribed);
    this.#askedInPlace.set(subscribed, performance.now());
  }

  /** Whether this filter, as it is subscribed, covers what flows want by narrower ones. */
  isCovering(subscribed: string): boolean {
    return this.#handler.isCovering(subscribed.slice(this.#share.length));
  }

  /** What is confirmed late can come twice, and a broker forgets the content of QoS 2 before that: 1 is enough, and safe. */
  get #qos(): 0 | 1 | 2 {
    const { reportQos } = this.#settings;
    return reportQos === 2 && this.#handler.isConfirming ? 1 : reportQos;
  }

  /** Whether flows want reports by this filter, as it is subscribed. */
  has(subscribed: string): boolean {
    return this.#wanted.has(subscribed);
  }

  /** Whether this filter, as it is subscribed, takes the place of narrower ones. */
  isWidened(subscribed: string): boolean {
    return this.has(subscribed) && this.#handler.isWidened(subscribed.slice(this.#share.length));
  }

  /** How many topic filters flows need, where there is no limit. */
  get needed(): number {
    return this.#handler.needed;
  }

  /** The handler's filters, of flows. */
  get wanted(): string[] {
    return [...this.#wanted].map((filter) => filter.slice(this.#share.length));
  }

  /** Whether flows want reports by this filter of the handler. */
  isWanted(filter: string): boolean {
    return this.has(this.#share + filter);
  }

  /** Whether the broker has refused a filter of the handler that flows want, or has still to answer. */
  isUnheard(filter: string): boolean {
    const subscribed = this.#share + filter;
    const isPending = this.#subscriptions.isPending(subscribed);
    return this.has(subscribed) && (isPending || this.#subscriptions.isRefused(subscribed));
  }

  /** Why the broker has refused these filters of the handler, of which the first is named; undefined: it has not. */
  refusalOf(filters: readonly string[]): Phrase | undefined {
    const subscribed = filters.map((filter) => this.#share + filter).filter((filter) => this.has(filter));
    const refused = this.#subscriptions.refusalsOf(subscribed);
    return refused.size > 0 ? reasonOfRefusals(refused) : undefined;
  }

  /** A connection begins. @param isPresent whether the broker has kept a session of this client id */
  sessionBegins(broker: string, isPresent: boolean): void {
    const name = sessionName(broker, this.#settings.clientId);
    // Where nothing is kept, nothing is remembered: each test of a connection has a client id of its own.
    const session = this.#settings.persistent ? keptSession(name) : newSession();
    session.hasUnknownFilters = isPresent && (session.hasUnknownFilters ?? true);
    if (!isPresent && !this.#settings.persistent) {
      forgetSession(name);
    }
    this.#mayHaveStale = session.hasUnknownFilters;
    if (this.#mayHaveStale) {
      this.#stale.connected(broker);
    }
    this.#session = session;
    session.bringsPairs &&= isPresent;
    this.#givenBackAt = undefined;
    if (isPresent && [...session.reportFilters].some((filter) => !this.#wanted.has(filter))) {
      this.#expectPairs();
    }
    session.reportFilters = this.#wanted;
    this.#isSynced = false;
    if (broker !== this.#broker) {
      this.#broker = broker;
      this.#askedInPlace.clear();
    }
    this.#handler.connected(broker, isPresent);
  }

  /** The broker has granted or refused everything. @returns whether it may take others */
  synced(): boolean {
    if (this.#subscriptions.givesBack) {
      this.#givenBackAt ??= performance.now();
      // What it asks for would come in the middle of a round of subscriptions.
      setImmediate(() => this.#leavePlain());
    }
    this.#isSynced = true;
    const isOther = this.judge();
    return this.#askAgain() || isOther;
  }

  /**
   * An earlier process may have asked for the same without the group. It would bring what the other members have as well,
   * and not show where the broker sends a report once for all subscriptions of a client.
   */
  #leavePlain(): void {
    if (this.#share === '' || !this.#mayHaveStale) {
      return;
    }
    const { leftPlain } = this.#session;
    const plain = [...this.#earlier, ...this.wanted].filter((filter) => !leftPlain.has(filter));
    this.#earlier.clear();
    addAll(leftPlain, plain);
    if (this.#subscriptions.unsubscribeStale(plain)) {
      this.#expectPairs();
    }
  }

  /** Nothing waits to be delivered. */
  drained(): void {
    if (this.#isSynced) {
      this.#handler.settled();
    }
  }

  /** What has waited here while flows were replaced comes now: that nothing came meanwhile says nothing. */
  readOn(): void {
    this.#repeatedAt = performance.now();
    this.#handler.readOn();
  }

  /** @returns whether it is acknowledged later */
  deliver(topic: string, payload: Buffer, retained: boolean, deferrable?: Deferrable): boolean {
    const isLeftover = this.#bringsPairs || this.#mayHaveStale ? this.#isLeftover : undefined;
    const outcome = this.#handler.deliver(topic, payload, retained, isLeftover, deferrable);
    if (outcome === 'unwanted') {
      this.unexpected(topic);
    }
    return outcome === 'kept';
  }

  /** A message came that nobody has asked for: a subscription of an earlier process may have brought it. */
  unexpected(topic: string): void {
    const mayGiveBack = this.#mayHaveStale && !this.#subscriptions.isKeeping;
    if (mayGiveBack && this.#subscriptions.unsubscribeStale(this.#stale.filtersOf(topic))) {
      this.#expectPairs();
    }
  }

  /** Filters are given back: until all has come that they have brought, whatever comes twice is taken for a copy. */
  #expectPairs(): void {
    this.#session.bringsPairs = true;
    this.#givenBackAt = undefined;
  }

  /** Whether a report came twice by such a filter; where there is none, the sender itself has sent it twice. */
  readonly #isLeftover = (topic: string): boolean => {
    this.unexpected(topic);
    this.#repeatedAt = performance.now();
    return this.#session.bringsPairs;
  };

  /** What has waited at the broker comes, one pair after the other, when the filter is given back. */
  get #bringsPairs(): boolean {
    const since = this.#givenBackAt;
    if (this.#session.bringsPairs && since !== undefined) {
      const now = performance.now();
      const isQuiet = now - Math.max(since, this.#repeatedAt) >= PAIRS_QUIET_MS;
      const isOver = isQuiet || now - since >= MAX_PAIRS_MS;
      this.#session.bringsPairs = !(isOver && this.#handler.hasCaughtUp(since));
    }
    return this.#session.bringsPairs;
  }
}

/** Beyond the bound those of before are forgotten. */
function addAll(set: Set<string>, filters: readonly string[]): void {
  if (set.size >= MAX_EARLIER) {
    set.clear();
  }
  for (const filter of filters) {
    set.add(filter);
  }
}
