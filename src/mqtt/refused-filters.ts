// The wanted topic filters that the broker refuses, in a SUBACK or by ending the connection, and when they are tried again.
import { type Backoff, createBackoff } from './backoff.ts';
import type { ForbiddenFilters } from './forbidden-filters.ts';
import { filterEnds, type Reason } from './reasons.ts';

const FIRST_RETRY_MS = 10_000;
const LAST_RETRY_MS = 300_000;

export interface RefusalEvents {
  isWanted(filter: string): boolean;
  /** A wanted filter will be told as refused, unless it is not wanted any more when this returns. */
  refusing(filter: string): void;
  /** More are refused than before, and will be told as that: others may be wanted in their place. */
  refused(): void;
  /** One that has ended a connection is about to be asked for again. */
  trying(filter: string): void;
  /**
   * Others are refused than before, told once for many.
   * @param isSettled the broker has granted or refused everything by now
   */
  changed(refused: ReadonlyMap<string, Reason>, isSettled: boolean): void;
  /** It was refused, wanted or not. */
  settled(filter: string): void;
  /** Some are to be asked for again. */
  retry(): void;
}

export class RefusedFilters {
  readonly #events: RefusalEvents;
  readonly #backoff: Backoff;
  readonly #refused = new Map<string, Reason>();
  #forbidden: ForbiddenFilters;
  #retry: NodeJS.Timeout | undefined;
  #trial: NodeJS.Timeout | undefined;
  /** More are refused than was told. */
  #hasMore = false;
  /** More are refused than `refused` was called for. */
  #hasNew = false;
  /** How many were refused when it was told last. */
  #told = 0;
  /** It is told when the broker has granted or refused everything: fewer are refused, or not all was told to be settled. */
  #isTellingDue = false;
  /** Some were refused since the last time that all was granted. */
  #isLimited = false;

  /** @param forbidden of the broker; changed by `connected` */
  constructor(events: RefusalEvents, forbidden: ForbiddenFilters, backoff?: Backoff) {
    this.#events = events;
    this.#forbidden = forbidden;
    this.#backoff = backoff ?? createBackoff(FIRST_RETRY_MS, LAST_RETRY_MS);
  }

  get all(): ReadonlyMap<string, Reason> {
    return this.#refused;
  }

  /** A refused filter that nobody wants is nobody's trouble any more. */
  delete(filter: string): void {
    this.#isTellingDue = this.#refused.delete(filter) || this.#isTellingDue;
  }

  /**
   * A connection begins.
   * @param forbidden of this broker
   * @returns what of the wanted filters is not asked for, since the broker ends the connection then
   */
  connected(forbidden: ForbiddenFilters, wanted: ReadonlySet<string>): string[] {
    this.#forbidden = forbidden;
    const blocked = forbidden.connected(wanted);
    this.refuseBlocked(blocked);
    return blocked;
  }

  /** The connection has ended. */
  disconnected(): void {
    this.#refused.clear();
    [this.#hasMore, this.#hasNew, this.#isTellingDue, this.#isLimited] = [false, false, false, false];
    this.#told = 0;
    clearTimeout(this.#retry);
    clearTimeout(this.#trial);
    [this.#retry, this.#trial] = [undefined, undefined];
  }

  /**
   * The broker has refused the filter as it should. Call `tell` after the last of several.
   * @param isVerdict false: there was no room, which says nothing of the filter
   */
  refuse(filter: string, reason: Reason, isVerdict: boolean): void {
    if (isVerdict) {
      this.#forbidden.refused(filter);
    } else {
      this.#forbidden.postponed(filter);
    }
    if (this.#add(filter, reason)) {
      this.#retryLater();
    }
  }

  /** Those for which the broker ends the connection are not asked for. */
  refuseBlocked(filters: Iterable<string>): void {
    for (const filter of filters) {
      if (!this.#forbidden.has(filter) || this.#refused.has(filter)) {
        continue;
      }
      const isTried =
        this.#forbidden.trialWait === 0 && this.#forbidden.startTrial((one) => one === filter) !== undefined;
      if (!isTried && this.#add(filter, filterEnds())) {
        this.#tryBlockedLater();
      }
    }
    this.tell();
  }

  /**
   * A broker that refuses one often refuses hundreds, and each time that it is told every node looks at it. So it is told
   * when they are twice as many, and when the broker has granted or refused everything.
   */
  tell(): void {
    if (this.#hasNew) {
      this.#hasNew = false;
      this.#events.refused();
    }
    if (this.#hasMore && this.#refused.size >= 2 * this.#told) {
      this.#tellAll(false);
    }
  }

  /** One of the blocked filters is asked for again. One at a time, since each may cost the connection. */
  tryBlocked(): void {
    const filter = this.#forbidden.startTrial((one) => this.#refused.has(one));
    if (filter !== undefined) {
      this.delete(filter);
      this.#events.trying(filter);
      this.#events.retry();
    }
  }

  /** All are asked for again but those that end connections. */
  askAgain(): void {
    for (const filter of [...this.#refused.keys()]) {
      if (!this.#forbidden.has(filter)) {
        this.delete(filter);
      }
    }
    this.#events.retry();
  }

  /** The broker has granted or refused everything. */
  synced(): void {
    if ([...this.#refused.keys()].some((filter) => this.#forbidden.has(filter))) {
      this.#tryBlockedLater();
    }
    if (this.#isLimited && this.#refused.size === 0) {
      this.#isLimited = false;
      clearTimeout(this.#retry);
      this.#retry = undefined;
      this.#backoff.reset();
    }
    if (this.#hasMore || this.#isTellingDue) {
      this.#tellAll(true);
    }
  }

  #tellAll(isSettled: boolean): void {
    this.#hasMore = false;
    this.#isTellingDue = !isSettled;
    this.#told = this.#refused.size;
    this.#events.changed(this.#refused, isSettled);
  }

  /** @returns whether it is wanted all the same */
  #add(filter: string, reason: Reason): boolean {
    if (this.#events.isWanted(filter)) {
      this.#events.refusing(filter);
    }
    const isWanted = this.#events.isWanted(filter);
    if (isWanted) {
      this.#refused.set(filter, reason);
      this.#hasMore = true;
      this.#hasNew = true;
      this.#isLimited = true;
    }
    this.#events.settled(filter);
    return isWanted;
  }

  /** All that are refused are tried again together, so the wait grows once for each time. */
  #retryLater(): void {
    this.#retry ??= setTimeout(() => {
      this.#retry = undefined;
      this.askAgain();
    }, this.#backoff.next());
  }

  #tryBlockedLater(): void {
    this.#trial ??= setTimeout(() => {
      this.#trial = undefined;
      this.tryBlocked();
    }, this.#forbidden.nextWait);
  }
}
