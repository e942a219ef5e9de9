// How the subscriptions that a broker allows are divided: wider report filters and one filter for all responses where
// they are few, narrow ones where a wide one is refused.
import type { Logger } from '../log.ts';
import type { MqttSettings } from '../settings.ts';

/** Where more are refused, no wide ones are asked for: a broker that ends connections costs two with each. */
const MAX_REFUSED_WIDE = 3;
/** A broker that has refused a wide filter is asked again after that time, or with the next connection. */
const WIDE_RETRY_MS = 3_600_000;

export interface BudgetEvents {
  /** Other report filters are to be asked for: at once, so that no refusal is told of those that are not needed. */
  changed(): void;
  /** @param isShared one filter brings the responses of all gateways */
  shareResponses(isShared: boolean): void;
}

export class SubscriptionBudget {
  readonly #log: Logger;
  readonly #events: BudgetEvents;
  #max: number;
  /** Subscriptions of the shared group. */
  readonly #maxShared: number;
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
    return Math.max(1, Math.min(this.#max - 1, this.#maxShared));
  }

  /** The broker allows so many. */
  limit(max: number): void {
    if (max === this.#max) {
      return;
    }
    this.#max = max;
    this.#forgetRefused();
    if (this.isLimited) {
      this.#log.warn(`the broker allows ${max} subscriptions: wider ones take the place of narrow ones`);
    }
    this.#events.shareResponses(this.isLimited);
    this.#events.changed();
  }

  /** The broker refuses a filter that was to take the place of narrower ones: these stay, as many as there is room for. */
  wideRefused(filter: string): void {
    if (this.#refusedWide.has(filter)) {
      return;
    }
    this.#refusedWide.add(filter);
    this.#retry ??= setTimeout(() => this.#askAgain(), WIDE_RETRY_MS).unref();
    this.#events.changed();
  }

  /** Whether a wide filter is not asked for. */
  avoids(filter: string): boolean {
    return this.#refusedWide.size > MAX_REFUSED_WIDE || this.#refusedWide.has(filter);
  }

  /** A connection begins: it may be to another broker of the list, or to one with other rights. */
  connected(): void {
    if (this.isLimited) {
      this.#events.shareResponses(true);
    }
    this.#askAgain();
  }

  close(): void {
    clearTimeout(this.#retry);
  }

  #askAgain(): void {
    if (this.#refusedWide.size > 0) {
      this.#forgetRefused();
      this.#events.changed();
    }
  }

  #forgetRefused(): void {
    this.#refusedWide.clear();
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }
}
