// Whose turn it is: the devices report one after the other, so that each has an interval of its own that hardly varies.
import type { Device } from './fleet.ts';
import { type Random, shuffle } from './random.ts';

export interface Turns {
  /** The next device that can; undefined when none can. */
  next(can: (device: Device) => boolean): Device | undefined;
}

export function createTurns(devices: readonly Device[], random: Random): Turns {
  const ring = shuffle(random, devices);
  let at = 0;
  return {
    next(can) {
      for (let tries = ring.length; tries > 0; tries--) {
        const device = ring[at++ % ring.length];
        if (device && can(device)) {
          return device;
        }
      }
      return undefined;
    },
  };
}
