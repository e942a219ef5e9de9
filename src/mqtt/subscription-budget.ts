// How the subscriptions that a broker allows are divided: wider report filters and one filter for all responses where
// they are few, narrow ones where a wide one is refused.
import type { Logger } from '../log.ts';
import type { MqttSettings } from '../settings.ts';

/** Where more are refused, no wide ones are asked for: a broker that ends connections costs two with each. */
const MAX_REFUSED_WIDE = 3;
/**
 * Topic filters of reports, of all nodes together: with more of them each deploy, and each connection, takes seconds in which
 * nothing else goes on.
 */
const MAX_REPORT_FILTERS = 10_000;
/** So long a broker is not asked again for a wide filter that it has refused, unless a connection begins. */
const WIDE_RETRY_MS = 3_600_000;

export interface BudgetEvents {
  /** Other report filters are to be asked for: at once, so that no refusal is told of those that are not needed. */
  changed(): void;
  /**
   * @param isShared one filter brings the responses of all gateways
   * @param isTried also where that filter is known to end connections
   */
  shareResponses(isShared: boolean, isTried: boolean): void;
  /** Whether the broker ends the connection when it is asked for the filter, as far as is known. */
  isBlocked(filter: string): boolean;
}

/** Subscriptions of the connection. */
export interface SubscriptionCounts {
  /** Without a limit of the broker. */
  needed: number;
  inUse: number;
  /** What the broker, its profile or the settings allow; undefined: no limit is known. */
  max: number | undefined;
}

export class SubscriptionBudget {
  readonly #log: Logger;
  readonly #events: BudgetEvents;
  #max: number;
  /** Subscriptions of the shared group. */
  readonly #maxShared: number;
  readonly #maxReportFilters: number;
  /** Wide filters, as they were subscribed, that the broker has refused. */
  readonly #refusedWide = new Set<string>();
  #retry: NodeJS.Timeout | undefined;

  constructor(
    { limits, sharedGroup }: Pick<MqttSettings, 'limits' | 'sharedGroup'>,
    log: Logger,
    events: BudgetEvents,
  ) {
    this.#log = log;
    this.#events = events;
    this.#max = limits.maxSubscriptions ?? Number.POSITIVE_INFINITY;
    this.#maxReportFilters =
      limits.maxReportFilters ?? Math.max(limits.maxSubscriptions ?? 0, MAX_REPORT_FILTERS);
    this.#maxShared =
      sharedGroup === ''
        ? Number.POSITIVE_INFINITY
        : (limits.maxSharedSubscriptions ?? Number.POSITIVE_INFINITY);
  }

  /** Subscriptions that the broker, its profile or the settings allow; infinite when no number is known. */
  get max(): number {
    return this.#max;
  }

  get isLimited(): boolean {
    return this.#max !== Number.POSITIVE_INFINITY;
  }

  /** Topic filters of reports; one subscription is kept for responses. */
  get maxReportFilters(): number {
    return Math.max(1, Math.min(this.#max - 1, this.#maxShared, this.#maxReportFilters));
  }

  /** The broker allows so many. */
  limit(max: number): void {
    if (max === this.#max) {
      return;
    }
    this.#max = max;
    this.#refusedWide.clear();
    this.#askAgainLater();
    if (this.isLimited) {
      this.#log.warn(`the broker allows ${max} subscriptions: wider ones take the place of narrow ones`);
    }
    this.#events.shareResponses(this.isLimited, true);
    this.#events.changed();
  }

  /** The broker refuses a filter that was to take the place of narrower ones: these stay, as many as there is room for. */
  wideRefused(filter: string): void {
    if (this.#refusedWide.has(filter)) {
      return;
    }
    this.#refusedWide.add(filter);
    this.#events.changed();
  }

  /** Whether a wide filter is not asked for. */
  avoids(filter: string): boolean {
    return this.#refusedWide.size > MAX_REFUSED_WIDE || this.#refusedWide.has(filter);
  }

  /** A connection begins: it may be to another broker of the list, or to one with other rights. */
  connected(): void {
    // A filter that ends connections would be refused once more, and what it is to replace be forgotten meanwhile.
    this.#askAgain(false);
  }

  close(): void {
    clearTimeout(this.#retry);
  }

  /** @param isTried also filters that are known to end connections */
  #askAgain(isTried: boolean): void {
    this.#askAgainLater();
    if (this.isLimited) {
      this.#events.shareResponses(true, isTried);
    }
    const again = [...this.#refusedWide].filter((filter) => isTried || !this.#events.isBlocked(filter));
    for (const filter of again) {
      this.#refusedWide.delete(filter);
    }
    if (again.length > 0) {
      this.#events.changed();
    }
  }

  #askAgainLater(): void {
    clearTimeout(this.#retry);
    this.#retry = this.isLimited ? setTimeout(() => this.#askAgain(true), WIDE_RETRY_MS).unref() : undefined;
  }
}
