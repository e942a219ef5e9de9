// When reports could be heard: a time without the broker is no silence of a device.

/** Where there are more, those that are near each other and long ago become one. */
const MAX_PERIODS = 100;
/** After a start, and after the broker was away, gateways need this time to come back: it makes nobody silent. */
export const RETURN_MS = 60_000;
/** In all, or where the broker comes and goes nobody would ever be silent. */
const MAX_RETURNING_MS = 15 * RETURN_MS;

/** Sums of such times differ by less. */
const ROUNDING_MS = 0.001;

/** A time with pauses in it. Times are milliseconds of `performance.now()`. */
interface Period {
  from: number;
  until: number;
  /** For how long of it nothing could be heard, in milliseconds: all of it, where it was not put together. */
  awayMs: number;
  /** For how long of it gateways came back, in milliseconds: 0, where it was not put together. */
  returningMs: number;
}

/** All times are milliseconds of `performance.now()`. */
export class Listening {
  /** The oldest first. */
  readonly #periods: Period[] = [];
  /** Undefined while reports can be heard. */
  #awaySince: number | undefined;
  #lastReturn = Number.NEGATIVE_INFINITY;
  #outage = { from: Number.NEGATIVE_INFINITY, until: Number.NEGATIVE_INFINITY };

  /** @param startedAt since then nothing can be heard */
  constructor(readonly startedAt: number) {
    this.#awaySince = startedAt;
  }

  /**
   * When the last time ended in which reports may have been lost, of what was known before it; that before the start is one.
   * @returns undefined: there was none
   */
  lostUntil(knownSince: number): number | undefined {
    const { from, until } = this.#outage;
    return knownSince <= from && knownSince < until ? until : undefined;
  }

  /** Reports can be heard from now on, or cannot any more. */
  set(isListening: boolean, now: number): void {
    if (isListening === (this.#awaySince === undefined)) {
      return;
    }
    if (!isListening) {
      // Where it is known only later, another such time may have begun after it and be over.
      this.#awaySince = Math.max(now, this.#lastReturn);
      return;
    }
    const from = this.#awaySince as number;
    // However short it was: where the broker was started anew, gateways come back later.
    this.#outage = { from, until: now };
    this.#periods.push({ from, until: now, awayMs: now - from, returningMs: 0 });
    this.#awaySince = undefined;
    this.#lastReturn = now;
    if (this.#periods.length > MAX_PERIODS) {
      this.#join(now);
    }
  }

  /**
   * For how many milliseconds since then reports could be heard; where periods were put together, as if the pauses lay evenly
   * in them.
   */
  listenedMs(since: number, now: number): number {
    let away = this.#awaySince === undefined ? 0 : now - Math.max(since, this.#awaySince);
    for (let i = this.#periods.length - 1; i >= 0; i--) {
      const { from, until, awayMs } = this.#periods[i] as Period;
      if (until <= since) {
        break;
      }
      away += since <= from ? awayMs : (awayMs * (until - since)) / (until - from);
    }
    return Math.max(0, now - since - away);
  }

  /** The earliest moment since which reports could be heard for so many milliseconds: turns `listenedMs` round. */
  momentOf(listenedMs: number, now: number): number {
    let leftMs = listenedMs;
    let end = this.#awaySince ?? now;
    for (let i = this.#periods.length - 1; i >= 0; i--) {
      const { from, until, awayMs } = this.#periods[i] as Period;
      const spanMs = end - until;
      if (leftMs < spanMs - ROUNDING_MS) {
        break;
      }
      leftMs = Math.max(0, leftMs - spanMs);
      const heardMs = until - from - awayMs;
      if (leftMs < heardMs - ROUNDING_MS) {
        return until - (leftMs * (until - from)) / heardMs;
      }
      leftMs = Math.max(0, leftMs - heardMs);
      end = from;
    }
    return end - leftMs;
  }

  /** For how many of the milliseconds of `listenedMs` gateways needed to come back, in all. */
  returningMs(since: number, now: number): number {
    let returning = 0;
    let end = Math.min(now, this.#awaySince ?? now);
    for (let i = this.#periods.length - 1; i >= 0; i--) {
      const { from, until, returningMs } = this.#periods[i] as Period;
      if (since > from || since >= until) {
        break;
      }
      returning += returningMs + returnMs(until, end);
      end = from;
    }
    return Math.min(returning, MAX_RETURNING_MS);
  }

  /** Puts those two neighbours together that are nearest to each other, measured by how long ago they were. */
  #join(now: number): void {
    const lengthOf = (at: number) => {
      const [first, second] = [this.#periods[at] as Period, this.#periods[at + 1] as Period];
      return (second.until - first.from) / (now - first.from + 1);
    };
    let best = 0;
    for (let at = 1; at < this.#periods.length - 1; at++) {
      if (lengthOf(at) < lengthOf(best)) {
        best = at;
      }
    }
    const [first, second] = this.#periods.slice(best, best + 2) as [Period, Period];
    const awayMs = first.awayMs + second.awayMs;
    const returningMs = first.returningMs + returnMs(first.until, second.from) + second.returningMs;
    this.#periods.splice(best, 2, { from: first.from, until: second.until, awayMs, returningMs });
  }
}

const returnMs = (from: number, until: number): number => Math.max(0, Math.min(RETURN_MS, until - from));
