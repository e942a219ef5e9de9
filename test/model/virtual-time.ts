// Timers and clocks that move only when a test says so: hours pass in milliseconds.
import { setImmediate as turn } from 'node:timers/promises';

interface Timer {
  at: number;
  order: number;
  call(): void;
}

export interface VirtualTime {
  /** Milliseconds since the beginning. */
  readonly now: number;
  /** Runs every timer that is due meanwhile, and what follows from each. */
  pass(milliseconds: number): Promise<void>;
  /** The real timers and clocks are back. */
  end(): void;
}

/** Replaces `setTimeout`, `clearTimeout`, `performance.now` and `Date.now` of this process. */
export function startVirtualTime(): VirtualTime {
  const { setTimeout, clearTimeout } = globalThis;
  const [clock, date] = [performance.now, Date.now];
  const timers = new Set<Timer>();
  let [now, order] = [0, 0];

  const add = (callback: (...args: unknown[]) => void, delay = 0, ...args: unknown[]) => {
    const timer = { at: now + Math.max(0, delay), order: order++, call: () => callback(...args) };
    timers.add(timer);
    return Object.assign(timer, { unref: () => timer, ref: () => timer });
  };
  const remove = (timer: unknown) => void timers.delete(timer as Timer);
  const nextUntil = (end: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers) {
      const isEarlier = !first || timer.at < first.at || (timer.at === first.at && timer.order < first.order);
      if (timer.at <= end && isEarlier) {
        first = timer;
      }
    }
    return first;
  };

  Object.assign(globalThis, { setTimeout: add, clearTimeout: remove });
  performance.now = () => now;
  Date.now = () => now;
  return {
    get now() {
      return now;
    },
    async pass(milliseconds) {
      const end = now + milliseconds;
      await turn();
      for (let timer = nextUntil(end); timer; timer = nextUntil(end)) {
        timers.delete(timer);
        now = timer.at;
        timer.call();
        await turn();
      }
      now = end;
    },
    end() {
      Object.assign(globalThis, { setTimeout, clearTimeout });
      performance.now = clock;
      Date.now = date;
    },
  };
}

/** The same numbers for the same seed, from 0 to 1. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
