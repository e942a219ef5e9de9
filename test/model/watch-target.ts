// What the oracle of watches knows of one gateway or device: for how long it is silent, and how often it is heard.
import { HOUR, MINUTE, type Way } from './watch-plan.ts';

/** "in about a day": for so long a pause counts at least. */
const REMEMBERED_MS = 8 * HOUR;
/** An older pause counts less. */
const MIN_COUNTED = 0.6;
/** Of a pause in which reports could not be heard all the time, less counts. */
const MIN_LISTENED = 0.9;
/** "or after 25 minutes": the longest that counts when it came once. */
const ORDINARY_PAUSE_MS = 25 * MINUTE;
/** "the interval is known after five reports, that of a gateway with several devices after twelve", "after 36 reports" */
const MIN_REPORTS = { device: 7, gateway: 40 };

interface Clock {
  /** By the clock of what was listened. */
  listened: number;
  base: number;
}

/** All times are milliseconds in which reports could be heard. */
export class Target {
  readonly id: string;
  readonly kind: 'device' | 'gateway';
  readonly every: number;
  readonly jitter: number;
  ways: readonly Way[];
  readonly waysBefore: string[] = [];
  movedAt = 0;
  /** Of a gateway: whose reports it has brought. */
  readonly reporters = new Set<string>();
  /** Of a device: when each gateway has brought it last, and how often since the start. */
  heardBy = new Map<string, number>();
  readonly broughtBy = new Map<string, number>();
  /** For how long it is silent at most, and at least. */
  clocks: { most: Clock; least: Clock } = { most: { listened: 0, base: 0 }, least: { listened: 0, base: 0 } };
  #stored = { most: 0, least: 0, restarts: 0, reports: 0, heardBy: new Map<string, number>() };
  heardAt = Number.NEGATIVE_INFINITY;
  restarts = 0;
  isDead = false;
  isWatched = true;
  diedAt = 0;
  awaySince = Number.POSITIVE_INFINITY;
  /** Its present pause is an absence, and no habit. */
  isAbsent = false;
  #reports = 0;
  #reportsSince = 0;
  #restartedAt = Number.POSITIVE_INFINITY;
  #firstAt: number | undefined;
  /** Of a gateway: whose report came last, and since when only that one reports. */
  #by: string | undefined;
  #bySince = 0;
  readonly #pauses: { at: number; ms: number }[] = [];
  /** The longest two. */
  #longest: [number, number] = [0, 0];
  /** The broker was away since it was heard last. */
  #isSpared = false;

  constructor(id: string, kind: Target['kind'], every: number, jitter: number, ways: readonly Way[]) {
    this.id = id;
    this.kind = kind;
    this.every = every;
    this.jitter = jitter;
    this.ways = ways;
  }

  get isAway(): boolean {
    return this.awaySince !== Number.POSITIVE_INFINITY;
  }

  /** Its usual interval is known for certain. */
  get isKnown(): boolean {
    const isLong =
      this.kind === 'device' || this.heardAt - (this.#firstAt ?? this.heardAt) > 2 * ORDINARY_PAUSE_MS;
    return this.#reports >= MIN_REPORTS[this.kind] && isLong;
  }

  /** Of a device that is what it does; of a gateway "the longest pause that came twice in about a day". */
  get leastIntervalMs(): number {
    if (this.kind === 'device') {
      return MIN_LISTENED * this.every * (1 - this.jitter);
    }
    const least = this.#leastPauseMs(this.heardAt);
    // "the interval is known after … twelve"; until then "what was known before a restart counts on"
    return this.#restartedAt < this.heardAt && this.#reportsSince < MIN_REPORTS.gateway
      ? Math.min(least, this.#leastPauseMs(this.#restartedAt))
      : least;
  }

  #leastPauseMs(until: number): number {
    const recent = this.#pauses.filter(({ at }) => at > until - REMEMBERED_MS && at <= until);
    return MIN_COUNTED * (recent.map(({ ms }) => ms).sort((one, other) => other - one)[1] ?? 0);
  }

  get mostIntervalMs(): number {
    const [longest, second] = this.#longest;
    // "different reports and events are one as long as each comes within ten seconds of the one before, for up to a minute"
    const burst = this.kind === 'gateway' ? MINUTE : 0;
    return burst + Math.max(second, Math.min(longest, ORDINARY_PAUSE_MS), this.every * (1 + this.jitter));
  }

  heard(at: number, by: string): void {
    const isNew = at - this.heardAt >= 1_000;
    if (isNew) {
      this.#reports++;
      this.#reportsSince++;
      this.#firstAt ??= at;
      this.#notePause(at, by);
    }
    this.reporters.add(by);
    this.isAbsent = false;
    this.heardAt = at;
    this.restarts = 0;
    this.#isSpared = false;
    this.isWatched = true;
    this.clocks = { most: { listened: at, base: 0 }, least: { listened: at, base: 0 } };
  }

  #notePause(at: number, by: string): void {
    if (this.#reports > 1) {
      const ms = at - this.heardAt;
      if (!this.isAbsent) {
        this.#pauses.push({ at, ms });
        if (this.#pauses.length > 4_000) {
          this.#pauses.splice(0, 2_000);
        }
      }
      // "Of a gateway with several devices it is the pause between reports of different ones"
      const isOther = this.kind === 'gateway' && by !== this.#by;
      const long = isOther ? at - this.#bySince : ms;
      const [longest, second] = this.#longest;
      this.#longest = long > longest ? [long, longest] : [longest, Math.max(second, long)];
    }
    if (by !== this.#by) {
      this.#by = by;
      this.#bySince = at;
    }
  }

  broughtIn(gateway: string, at: number): void {
    this.heardBy.set(gateway, at);
    this.broughtBy.set(gateway, (this.broughtBy.get(gateway) ?? 0) + 1);
  }

  store(most: number, least: number, isWatched: boolean): void {
    const heardBy = new Map(this.heardBy);
    const reports = isWatched ? this.#reports : 0;
    this.#stored = { most, least, restarts: this.restarts, reports, heardBy };
  }

  restart(at: number): void {
    // Nobody knows how long that pause was.
    this.isAbsent = true;
    this.broughtBy.clear();
    const { most, least, restarts, reports, heardBy } = this.#stored;
    this.heardBy = new Map(heardBy);
    this.#restartedAt = at;
    this.#reportsSince = 0;
    // "what was known before a restart counts on"
    this.#reports = reports >= MIN_REPORTS[this.kind] ? reports : 0;
    this.restarts = restarts + 1;
    // "each has one usual interval left, once until it is heard"
    const left = this.restarts === 1 ? Math.max(0, least - this.mostIntervalMs) : least;
    this.clocks = { most: { listened: at, base: most }, least: { listened: at, base: left } };
  }

  /** The broker was away until now, and this was silent for so long at least. */
  missed(at: number, least: number): void {
    // "each has one usual interval left, once until it is heard; nor does the first minute count after each time the broker was away"
    const left = this.restarts > 0 || this.#isSpared ? least : Math.max(0, least - this.mostIntervalMs);
    this.#isSpared = true;
    this.clocks.least = { listened: at, base: left - MINUTE };
  }

  countAnew(at: number, isCertain: boolean): void {
    this.clocks.least = { listened: at, base: 0 };
    if (isCertain) {
      this.clocks.most = { listened: at, base: 0 };
    }
  }
}
