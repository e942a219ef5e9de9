// One timer for many deadlines, at the first of them: nearly everything ends long before its own.

/** Milliseconds: beyond it Node.js takes a timer for an immediate one. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
/** After a look at n deadlines the next look waits n times this, so that looking never takes more than a few percent. */
const PAUSE_PER_ITEM_MS = 0.001;
/** Timers are as late as this, however little there is to do. */
const LATE_MS = 20;
const MAX_GRACE_MS = 1_000;
/** In a row: a flow that is always busy would let nothing end. */
const MAX_GRACES = 5;

/** Of the clock by which timers run, whatever a test makes of the other ones. */
const elapsedMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

export interface DeadlineCheck {
  /** The first deadline that is left, in milliseconds of `performance.now()`; infinite when there is none. */
  next: number;
  /** How many deadlines were looked at. */
  checked: number;
}

export class Deadlines {
  readonly #check: (now: number) => DeadlineCheck;
  #timer: NodeJS.Timeout | undefined;
  /** By `elapsedMs`. */
  #dueAt = 0;
  #look: NodeJS.Immediate | undefined;
  #at = Number.POSITIVE_INFINITY;

  /** @param look ends what is due, and says when to look again */
  constructor(look: (now: number) => DeadlineCheck) {
    this.#check = look;
  }

  /** Makes sure that somebody looks at this time, in milliseconds of `performance.now()`; infinite: no need. */
  add(time: number): void {
    if (time >= this.#at) {
      return;
    }
    clearTimeout(this.#timer);
    this.#at = time;
    // The time may have come meanwhile, and Node.js warns of negative timers.
    const wait = Math.max(time - performance.now(), 0);
    const timerMs = Math.min(Math.ceil(wait), MAX_TIMER_MS);
    this.#dueAt = elapsedMs() + timerMs;
    this.#timer = setTimeout(this.#fire, timerMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#look);
    this.#at = Number.POSITIVE_INFINITY;
  }

  readonly #fire = (): void => this.#lookUnlessLate(MAX_GRACES);

  /** Where a flow has kept the processor busy beyond its time, what should have left or come in time gets as long again. */
  #lookUnlessLate(graces: number): void {
    const lateMs = elapsedMs() - this.#dueAt;
    if (lateMs <= LATE_MS || graces === 0) {
      this.#at = Number.POSITIVE_INFINITY;
      const { next, checked } = this.#check(performance.now());
      this.add(Math.max(next, performance.now() + checked * PAUSE_PER_ITEM_MS));
      return;
    }
    const graceMs = Math.min(lateMs, MAX_GRACE_MS);
    this.#dueAt = elapsedMs() + graceMs;
    this.#timer = setTimeout(() => {
      // What has come is read before that.
      this.#look = setImmediate(() => this.#lookUnlessLate(graces - 1));
    }, graceMs);
  }
}
