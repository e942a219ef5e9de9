// Finds the topic filters for which a broker ends the connection instead of refusing them, and keeps them apart from the
// others: each such filter costs every subscription of the client until the connection is back.
import { type Backoff, createBackoff } from './backoff.ts';

/** A connection can end by chance while a filter waits for its response. */
const MIN_LOSSES = 2;
/** Connections in a row that the search may cost; what was not granted by then is set aside and tried one by one. */
const MAX_SEARCH_LOSSES = 40;
const FIRST_TRIAL_MS = 10_000;
const LAST_TRIAL_MS = 300_000;
/** Trials of one that has given its place that follow those of others at once: it may be forbidden by now. */
const MAX_FOLLOWING = 5;
/** Filters are remembered that nobody wants at the moment: requests want theirs again and again. */
const MAX_REMEMBERED = 10_000;

/** When a filter is asked for, relative to others. */
export type Turn = 'doubted' | 'returned' | 'granted' | 'unknown' | 'suspect' | 'trial';
export const TURNS: readonly Turn[] = ['doubted', 'returned', 'granted', 'unknown', 'suspect', 'trial'];

export class ForbiddenFilters {
  readonly #granted = new Set<string>();
  /** Those that have given their place to one in doubt, and were not granted again yet, with how many trials they have lost. */
  readonly #returned = new Map<string, number>();
  /** Filters of packets that were not answered, with how often they were alone in one. */
  readonly #suspects = new Map<string, number>();
  /** The one that was tried longest ago comes first. */
  readonly #blocked = new Set<string>();
  /** Set aside without having been alone in a packet. */
  readonly #untested = new Set<string>();
  readonly #backoff: Backoff = createBackoff(2 * FIRST_TRIAL_MS, LAST_TRIAL_MS);
  #trial: string | undefined;
  /** In milliseconds of `performance.now()`. */
  #trialAt = 0;
  /** How many of those that were set aside may still be tried in a row. */
  #trialsLeft = 1;
  /** When there may be room for one that found none. */
  #roomAt = 0;
  #searchLosses = 0;
  /** The most subscriptions that the broker has held. */
  #mostHeld = 0;
  #hasTriedAll = false;
  /** A trial has cost the connection, and no later one has brought what else is wanted yet. */
  #mustServe = false;
  /** What a connection has ended for may be one too many. */
  #needsPlace = false;
  #hasPlace = false;
  /** The next trial is of one that has given its place. */
  #isReturnedNext = false;
  /** Since the last wait one of those was tried. */
  #hasTriedReturned = false;

  /** Whether the filter ends connections, so that it must not be asked for now. */
  has(filter: string): boolean {
    return this.#blocked.has(filter);
  }

  /** Milliseconds until a blocked filter may be tried again. */
  get trialWait(): number {
    return Math.max(0, this.#trialAt - performance.now());
  }

  /** Milliseconds until one is tried again of itself: not while there was no room just now. */
  get nextWait(): number {
    return Math.max(this.trialWait, this.#roomAt - performance.now());
  }

  /** Whether a search goes on that is short enough to be done without the usual waits. */
  get isSearching(): boolean {
    return this.#searchLosses <= MAX_SEARCH_LOSSES;
  }

  /** Whether one of these is to be asked for with a place free: it may be forbidden, or one too many. */
  needsPlace(wanted: ReadonlyMap<string, unknown>): boolean {
    return (
      this.#needsPlace &&
      [...this.#suspects.keys()].some((filter) => this.isInDoubt(filter) && wanted.has(filter))
    );
  }

  /** Whether one was given back, and nothing has taken its place: no further one needs to be. */
  get hasPlace(): boolean {
    return this.#hasPlace;
  }

  /** The session has one more than before. */
  placeTaken(): void {
    this.#hasPlace = false;
  }

  /** Whether it was alone in a packet that ended a connection, and may not be forbidden all the same. */
  isInDoubt(filter: string): boolean {
    return (this.#suspects.get(filter) ?? 0) > 0;
  }

  /**
   * One is given back for it: one that nobody wants, if there is any.
   * @param held what the broker holds @param isHolding what nobody wants is not given back
   */
  givePlace(held: readonly string[], wanted: ReadonlyMap<string, unknown>, isHolding: boolean): string[] {
    const unwanted = isHolding ? undefined : held.find((filter) => !wanted.has(filter));
    const others = held.filter((filter) => wanted.has(filter) && !this.isInDoubt(filter));
    const given = unwanted ?? others.find((filter) => this.#granted.has(filter)) ?? others[0];
    if (given === undefined) {
      return [];
    }
    this.#hasPlace = true;
    this.#granted.delete(given);
    if (given !== unwanted) {
      this.#returned.set(given, 0);
    }
    return [given];
  }

  /**
   * Those in doubt come first: that few subscriptions are there then tells a forbidden filter from one too many. What has
   * given its place to one follows, and what was granted before, so that it is served whatever comes after it.
   */
  turnOf(filter: string): Turn {
    if (filter === this.#trial) {
      return 'trial';
    }
    const losses = this.#suspects.get(filter);
    if (losses !== undefined) {
      return losses > 0 || (this.#blocked.size > 0 && !this.#isReturning()) ? 'doubted' : 'suspect';
    }
    if (this.#returned.has(filter)) {
      return 'returned';
    }
    return this.#granted.has(filter) ? 'granted' : 'unknown';
  }

  /**
   * One of the blocked filters is asked for again, after all others and alone. One that has given its place was held until
   * then: it is tried first, then once after each wait, behind another one, and in turns with the others after five times.
   * @param isWanted of those that are wanted one is chosen
   */
  startTrial(isWanted: (filter: string) => boolean): string | undefined {
    if (this.#trial !== undefined || this.#mustServe) {
      return undefined;
    }
    const wanted = [...this.#blocked].filter(isWanted);
    const isReturned = (one: string) => this.#returned.has(one);
    const filter = wanted.find((one) => isReturned(one) === this.#isReturnedNext) ?? wanted[0];
    if (filter !== undefined) {
      this.#hasTriedReturned ||= isReturned(filter);
      this.#isReturnedNext = !this.#hasTriedReturned && wanted.some(isReturned);
      this.#blocked.delete(filter);
      this.#trial = filter;
    }
    return filter;
  }

  /**
   * A connection begins.
   * @returns what is blocked of these filters
   */
  connected(wanted: ReadonlySet<string>): string[] {
    if (!this.isSearching) {
      this.#setAside(wanted);
    }
    for (const filter of [...this.#untested].filter((filter) => !wanted.has(filter))) {
      this.unwanted(filter);
    }
    const blocked = () => [...wanted].filter((filter) => this.#blocked.has(filter));
    // Nothing else would be lost with the connection.
    if (wanted.size > 0 && blocked().length === wanted.size && !this.#hasTriedAll) {
      this.#hasTriedAll = true;
      this.startTrial((filter) => wanted.has(filter));
    }
    return blocked();
  }

  /**
   * The broker has granted the filter.
   * @param held how many subscriptions it has now
   * @returns whether that was a trial
   */
  granted(filter: string, held: number): boolean {
    this.#granted.add(filter);
    this.#returned.delete(filter);
    this.#mostHeld = Math.max(this.#mostHeld, held);
    this.#hasTriedAll = false;
    return this.#clear(filter);
  }

  /** The broker has refused the filter as it should. */
  refused(filter: string): void {
    this.#granted.delete(filter);
    this.#returned.delete(filter);
    this.#clear(filter);
  }

  /**
   * There was no room for it: a filter that was to be tried is tried later. Another one that is asked for may be the wide
   * one that makes room, so it need not wait for that.
   */
  postponed(filter: string): void {
    if (filter === this.#trial) {
      this.interrupted();
      this.#roomAt = performance.now() + FIRST_TRIAL_MS;
    }
  }

  /** The broker does not have it any more. */
  forget(filter: string): void {
    this.#granted.delete(filter);
  }

  /** Nobody wants it any more: where it was to be tried, another one can be. */
  unwanted(filter: string): void {
    this.#returned.delete(filter);
    if (filter === this.#trial) {
      this.interrupted();
    }
    // Nothing is known of it, and others need not be tried more often because of it.
    if (this.#untested.delete(filter)) {
      this.#blocked.delete(filter);
    }
  }

  /**
   * The broker has answered everything. Before that nothing is forgotten: what is not wanted at the beginning of a
   * connection may be wanted a moment later, in the place of what is refused. What was alone in a packet that was not
   * answered, as a request's filter is, is known for that until it is answered.
   */
  settled(wanted: ReadonlyMap<string, unknown>): void {
    for (const [filter, losses] of this.#suspects) {
      if (losses === 0) {
        this.#suspects.delete(filter);
      }
    }
    this.#mustServe = false;
    this.#needsPlace = false;
    if (this.#granted.size > wanted.size) {
      for (const filter of [...this.#granted].filter((one) => !wanted.has(one))) {
        this.#granted.delete(filter);
      }
    }
  }

  /** The connection was a good one. */
  lasted(): void {
    this.#searchLosses = 0;
    this.#needsPlace = false;
  }

  /** The connection has ended for another reason. */
  interrupted(): void {
    if (this.#trial !== undefined) {
      this.#blocked.add(this.#trial);
      this.#trial = undefined;
    }
  }

  /**
   * A packet with these filters has ended the connection.
   * @param held how many subscriptions the broker had
   * @param hasPlace false: there may be one too many, of what came with the session
   * @returns whether that was found to be the fault of one filter
   */
  lost(filters: readonly string[], held: number, hasPlace = true): boolean {
    this.#searchLosses++;
    const [filter = ''] = filters;
    if (filter === this.#trial) {
      this.#trial = undefined;
      this.#mustServe = true;
      this.#block(filter);
      this.#trialLost(filter);
      return true;
    }
    this.interrupted();
    for (const one of filters) {
      // What was granted before was hardly forbidden since: a packet of those is not taken apart for one loss.
      if (!this.#granted.delete(one) || filters.length === 1) {
        this.#suspect(one);
      }
    }
    if (filters.length > 1) {
      return false;
    }
    const losses = (this.#suspects.get(filter) ?? 0) + 1;
    this.#suspects.set(filter, losses);
    const isEnough = losses >= MIN_LOSSES;
    if (!hasPlace) {
      // The broker is known to end connections for what it is asked for: it is soon known for what.
      this.#needsPlace ||= isEnough || this.#blocked.size > this.#untested.size;
      return false;
    }
    const isReturned = this.#returned.has(filter);
    // A broker that has held more does not mean their number, and this one is known to end connections for a filter. One that
    // has given its place was held until then.
    const isCertain = this.#blocked.size > 0 && held < this.#mostHeld && !isReturned;
    if (isEnough || isCertain) {
      this.#needsPlace = false;
      this.#block(filter);
      if (isReturned) {
        this.#isReturnedNext = true;
        this.#backoff.reset();
        this.#trialAt = 0;
      }
      this.#trialAt = Math.max(this.#trialAt, performance.now() + FIRST_TRIAL_MS);
      return true;
    }
    return false;
  }

  #trialLost(filter: string): void {
    const losses = this.#returned.get(filter);
    if (losses !== undefined) {
      this.#returned.set(filter, losses + 1);
    } else if (this.#isReturnedNext && [...this.#returned.values()].some((lost) => lost < MAX_FOLLOWING)) {
      return;
    }
    this.#trialsLeft--;
    if (this.#trialsLeft <= 0 || this.#untested.size === 0) {
      this.#pause(this.#backoff.next());
    }
  }

  /** Those were too many, and nothing was wrong with any. */
  acquit(): void {
    this.#suspects.clear();
    this.#needsPlace = false;
  }

  /** Whether one that has given its place is still to be asked for. */
  #isReturning(): boolean {
    return [...this.#returned.keys()].some((filter) => !this.#blocked.has(filter));
  }

  #suspect(filter: string): void {
    const losses = this.#suspects.get(filter) ?? 0;
    this.#suspects.delete(filter);
    this.#suspects.set(filter, losses);
    const [oldest] = this.#suspects.keys();
    if (this.#suspects.size > MAX_REMEMBERED && oldest !== undefined) {
      this.#suspects.delete(oldest);
    }
  }

  #block(filter: string): void {
    this.#suspects.delete(filter);
    this.#untested.delete(filter);
    this.#blocked.add(filter);
    for (const oldest of this.#blocked) {
      if (this.#blocked.size <= MAX_REMEMBERED) {
        break;
      }
      this.#blocked.delete(oldest);
      this.#untested.delete(oldest);
    }
  }

  /** They are tried before the others, once: what finds no room then would hold up a wide one that makes room. */
  #setAside(wanted: Iterable<string>): void {
    const known = [...this.#blocked];
    for (const filter of wanted) {
      const isGranted = this.#granted.has(filter) || this.#returned.has(filter);
      if (!isGranted && !this.#blocked.has(filter)) {
        this.#suspects.delete(filter);
        this.#blocked.add(filter);
        this.#untested.add(filter);
      }
    }
    for (const filter of known) {
      this.#blocked.delete(filter);
      this.#blocked.add(filter);
    }
    this.#pause(FIRST_TRIAL_MS);
  }

  /** Those that were only set aside are tried as often as one by one, but the longer the wait the more of them in a row. */
  #pause(wait: number): void {
    this.#hasTriedReturned = false;
    this.#trialAt = performance.now() + wait;
    this.#trialsLeft = Math.floor(wait / FIRST_TRIAL_MS);
  }

  #clear(filter: string): boolean {
    this.#suspects.delete(filter);
    this.#blocked.delete(filter);
    this.#untested.delete(filter);
    const isTrial = filter === this.#trial;
    if (isTrial) {
      this.#trial = undefined;
    }
    if ((isTrial && this.#untested.size === 0) || this.#blocked.size === 0) {
      this.#backoff.reset();
    }
    return isTrial;
  }
}
