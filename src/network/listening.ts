// When reports could be heard: a time without the broker is no silence of a device.

/** Where there are more, those that are near each other and long ago become one. */
const MAX_PERIODS = 100;

/** A time with pauses in it. Times are milliseconds of `performance.now()`. */
interface Period {
  from: number;
  until: number;
  /** For how long of it nothing could be heard, in milliseconds: all of it, where it was not put together. */
  awayMs: number;
}

/** All times are milliseconds of `performance.now()`. */
export class Listening {
  /** The oldest first. */
  readonly #periods: Period[] = [];
  /** Undefined while reports can be heard. */
  #awaySince: number | undefined;
  #lastReturn = Number.NEGATIVE_INFINITY;

  /** @param now since then nothing can be heard */
  constructor(now: number) {
    this.#awaySince = now;
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
    this.#periods.push({ from, until: now, awayMs: now - from });
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
    if (this.#awaySince === undefined && since >= this.#lastReturn) {
      return Math.max(0, now - since);
    }
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
    this.#periods.splice(best, 2, { from: first.from, until: second.until, awayMs });
  }
}
