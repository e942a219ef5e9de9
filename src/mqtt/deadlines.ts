// One timer for many deadlines, at the first of them: nearly everything ends long before its own.

/** Milliseconds: beyond it Node.js takes a timer for an immediate one. */
export const MAX_TIMER_MS = 2 ** 31 - 1;
/** After a look at n deadlines the next look waits n times this, so that looking never takes more than a few percent. */
const PAUSE_PER_ITEM_MS = 0.001;

export interface DeadlineCheck {
  /** The first deadline that is left, in milliseconds of `performance.now()`; infinite when there is none. */
  next: number;
  /** How many deadlines were looked at. */
  checked: number;
}

export class Deadlines {
  readonly #check: (now: number) => DeadlineCheck;
  #timer: NodeJS.Timeout | undefined;
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
    this.#timer = setTimeout(this.#fire, Math.min(wait, MAX_TIMER_MS));
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#at = Number.POSITIVE_INFINITY;
  }

  readonly #fire = (): void => {
    this.#at = Number.POSITIVE_INFINITY;
    const { next, checked } = this.#check(performance.now());
    this.add(Math.max(next, performance.now() + checked * PAUSE_PER_ITEM_MS));
  };
}
