// The clock of the running process.
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from './types.ts';

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  wait: (ms, signal) => wait(ms, undefined, { signal }),
};

/** For what nobody waits for: it keeps no process alive. */
export const BACKGROUND_CLOCK: Clock = {
  now: SYSTEM_CLOCK.now,
  wait: (ms, signal) => wait(ms, undefined, { signal, ref: false }),
};
