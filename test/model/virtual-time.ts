// Timers and clocks that move only when a test says so: hours pass in milliseconds.
import { setImmediate as turn } from 'node:timers/promises';

interface Timer {
  at: number;
  order: number;
  /** Of an interval; undefined: it is due once. */
  period: number | undefined;
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

/**
 * Replaces `setTimeout`, `setInterval`, what clears them, `performance.now` and `Date.now` of this process.
 * @param settled resolves when what a timer has begun is done, as far as no other timer is needed
 */
export function startVirtualTime(settled: () => Promise<unknown> = turn): VirtualTime {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
  const [clock, date] = [performance.now, Date.now];
  const timers = new Set<Timer>();
  let [now, order] = [0, 0];

  type Callback = (...args: unknown[]) => void;
  const start = (callback: Callback, delay: number, args: unknown[], period: number | undefined) => {
    const timer = { at: now + Math.max(0, delay), order: order++, period, call: () => callback(...args) };
    timers.add(timer);
    return Object.assign(timer, { unref: () => timer, ref: () => timer });
  };
  const add = (callback: Callback, delay = 0, ...args: unknown[]) => start(callback, delay, args, undefined);
  const addInterval = (callback: Callback, delay = 0, ...args: unknown[]) =>
    start(callback, Math.max(1, delay), args, Math.max(1, delay));
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

  Object.assign(globalThis, {
    ...{ setTimeout: add, clearTimeout: remove },
    ...{ setInterval: addInterval, clearInterval: remove },
  });
  performance.now = () => now;
  Date.now = () => now;
  return {
    get now() {
      return now;
    },
    async pass(milliseconds) {
      const end = now + milliseconds;
      await settled();
      for (let timer = nextUntil(end); timer; timer = nextUntil(end)) {
        now = timer.at;
        if (timer.period === undefined) {
          timers.delete(timer);
        } else {
          Object.assign(timer, { at: now + timer.period, order: order++ });
        }
        timer.call();
        await settled();
      }
      now = end;
    },
    end() {
      Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval });
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
