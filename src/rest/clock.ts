// The clock of the running process.
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from './types.ts';

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  wait: (ms, signal) => wait(ms, undefined, { signal }),
};
