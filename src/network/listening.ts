// When reports could be heard: a time without the broker is no silence of a device.

/** Of the times without reports; of what was before, only the sum is kept. */
const MAX_PERIODS = 100;

interface Period {
  /** In milliseconds of `performance.now()`. */
  from: number;
  until: number;
}

/** All times are milliseconds of `performance.now()`. */
export class Listening {
  #periods: Period[] = [];
  /** Undefined while reports can be heard. */
  #awaySince: number | undefined;
  #lastReturn = Number.NEGATIVE_INFINITY;
  /** Of the periods that are not kept: their sum, and when the last of them ended. */
  #forgottenMs = 0;
  #forgottenUntil = Number.NEGATIVE_INFINITY;

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
      this.#awaySince = now;
      return;
    }
    this.#periods.push({ from: this.#awaySince as number, until: now });
    this.#awaySince = undefined;
    this.#lastReturn = now;
    if (this.#periods.length > MAX_PERIODS) {
      const [{ from, until }] = this.#periods.splice(0, 1) as [Period];
      this.#forgottenMs += until - from;
      this.#forgottenUntil = until;
    }
  }

  /** For how many milliseconds since then reports could be heard. */
  listenedMs(since: number, now: number): number {
    if (this.#awaySince === undefined && since >= this.#lastReturn) {
      return now - since;
    }
    let away = this.#awaySince === undefined ? 0 : now - Math.max(since, this.#awaySince);
    for (let i = this.#periods.length - 1; i >= 0; i--) {
      const { from, until } = this.#periods[i] as Period;
      if (until <= since) {
        break;
      }
      away += until - Math.max(since, from);
    }
    if (since < this.#forgottenUntil) {
      away += this.#forgottenMs;
    }
    return Math.max(0, now - since - away);
  }
}
