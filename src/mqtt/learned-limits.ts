// What is learned of one broker by using it: the size of packets, forbidden filters, the number of subscriptions.
import { ForbiddenFilters, TURNS, type Turn } from './forbidden-filters.ts';
import { type PortionLimits, PortionSizes } from './portion-sizes.ts';
import type { Qos } from './suback.ts';
import { SubscriptionQuota } from './subscription-quota.ts';

/** A broker that ends the connection because of a filter does so at once. */
const MAX_REFUSAL_MS = 5_000;
/** Filters in a packet are never more. */
const MAX_PORTION = 200;

/** What is known of a broker beforehand. */
export interface KnownLimits {
  portions: PortionLimits;
  maxQos: Qos;
  /** Subscriptions. */
  maxCount?: number | undefined;
}

interface Sent {
  filters: readonly string[];
  /** How many subscriptions the broker had when these were asked for. */
  held: number;
  /** In milliseconds of `performance.now()`. */
  at: number;
  isSubscribe: boolean;
}

/** What the end of a connection has shown. */
export interface Lesson {
  /** The broker has ended it because of what it was asked for; it is soon known why. */
  isSearch: boolean;
  /** One subscription was too many. */
  isQuota: boolean;
  /** The filter that the broker was found not to take: it holds no subscription to it. */
  untaken?: string;
}

const NOTHING: Lesson = { isSearch: false, isQuota: false };

export class LearnedLimits {
  readonly forbidden = new ForbiddenFilters();
  readonly quota = new SubscriptionQuota();
  /** Of filters given back the broker says which it did not have. */
  tellsAbsence = false;
  readonly #sizes = new PortionSizes();
  /** Of packets with several filters that were not answered while the connection goes on: one may be the cause. */
  readonly #unanswered = new Set<string>();
  #sent: Sent | undefined;

  /** What is known of the broker. */
  set portions(limits: PortionLimits) {
    this.#sizes.limits = limits;
  }

  /**
   * What goes into each packet, at least one filter; the next one is asked for when this one was answered.
   * @param held how many subscriptions the broker has
   */
  *subscribePortions(filters: readonly string[], held: () => number): Generator<string[]> {
    const turns = new Map<Turn, string[]>(TURNS.map((turn) => [turn, []]));
    for (const filter of filters) {
      turns.get(this.#turnOf(filter))?.push(filter);
    }
    for (const [turn, list] of turns) {
      const isAlone = turn !== 'granted' && turn !== 'unknown';
      for (let at = 0; at < list.length; ) {
        const count = isAlone ? 1 : this.quota.room(held());
        const portion = this.#sizes.next(list.slice(at, at + Math.min(count, MAX_PORTION)));
        at += portion.length;
        this.#sent = { filters: portion, held: held(), at: performance.now(), isSubscribe: true };
        yield portion;
      }
    }
  }

  /** The same for filters that are given back. */
  *unsubscribePortions(filters: readonly string[]): Generator<string[]> {
    for (let at = 0; at < filters.length; ) {
      const portion = this.#sizes.next(filters.slice(at, at + MAX_PORTION));
      at += portion.length;
      this.#sent = { filters: portion, held: 0, at: performance.now(), isSubscribe: false };
      yield portion;
    }
  }

  /** Packets for filters that are given back without waiting for responses. */
  provenPortions(filters: readonly string[]): Iterable<string[]> {
    return this.#sizes.ofProvenSize(filters);
  }

  /** The broker has answered what was sent last. */
  answered(): void {
    if (this.#sent) {
      this.#sizes.answered(this.#sent.filters);
    }
    this.#sent = undefined;
  }

  /** It goes on without having answered what was sent last. What was sent together is asked for one by one. */
  unanswered(): void {
    const { filters = [], isSubscribe = false } = this.#sent ?? {};
    this.#sent = undefined;
    this.#sizes.lost(filters);
    if (isSubscribe && filters.length > 1) {
      for (const filter of filters) {
        this.#unanswered.add(filter);
      }
    }
  }

  /** A connection begins. */
  connected(wanted: ReadonlyMap<string, unknown>): void {
    for (const filter of [...this.#unanswered].filter((one) => !wanted.has(one))) {
      this.#unanswered.delete(filter);
    }
  }

  /** Nobody wants the filter any more. */
  unwanted(filter: string): void {
    this.#unanswered.delete(filter);
    this.forbidden.unwanted(filter);
  }

  /**
   * The broker has granted the filter.
   * @param isNew false: it holds no more subscriptions than before, so that says nothing of their number
   * @returns whether it was a blocked one that was tried again
   */
  granted(filter: string, held: number, isNew: boolean): boolean {
    this.#unanswered.delete(filter);
    if (isNew) {
      this.quota.granted(filter, this.#sent?.held ?? held);
    }
    return this.forbidden.granted(filter, held);
  }

  /** The connection has ended for a reason that says nothing of what the broker was asked for. */
  interrupted(): Lesson {
    this.#sent = undefined;
    this.forbidden.interrupted();
    return NOTHING;
  }

  /**
   * The broker, or the network, has ended the connection.
   * @param hasPlace whether there was one for the filter, or it is not to be told from one too many
   */
  lost(hasPlace: (filter: string) => boolean): Lesson {
    const sent = this.#sent;
    this.#sent = undefined;
    if (!sent || performance.now() - sent.at > MAX_REFUSAL_MS) {
      return this.interrupted();
    }
    this.#sizes.lost(sent.filters);
    return sent.isSubscribe ? this.#searched(sent, hasPlace) : this.interrupted();
  }

  #turnOf(filter: string): Turn {
    const turn = this.forbidden.turnOf(filter);
    return this.#unanswered.has(filter) && (turn === 'granted' || turn === 'unknown') ? 'suspect' : turn;
  }

  #searched({ filters, held }: Sent, hasPlace: (filter: string) => boolean): Lesson {
    const [filter = ''] = filters;
    const isTrial = this.forbidden.turnOf(filter) === 'trial';
    if (filters.length > 1) {
      this.quota.lostSeveral(held);
    }
    const isQuota = filters.length === 1 && !isTrial && this.quota.lost(filter, held);
    const isFound = this.forbidden.lost(filters, held, hasPlace(filter));
    if (isQuota) {
      this.forbidden.acquit();
    }
    if (isQuota || isFound) {
      this.#sizes.recover();
    }
    const untaken = isQuota || isFound ? { untaken: filter } : {};
    return { isSearch: this.forbidden.isSearching, isQuota, ...untaken };
  }
}
