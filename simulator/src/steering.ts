// What a user's flow may do with the simulated network: one object per action, checked before anything is done.
import type { Device, Fleet, Gateway } from './fleet.ts';
import { type Injection, readInjection } from './injection.ts';
import { InputError } from './input-error.ts';
import { isObject, readDevice, readGateway } from './steering-fields.ts';
import { rowOfId, rowOfName } from './wire.ts';

/** What the simulator can do; the rest is reading what is wanted. */
export interface Actions {
  fleet: Fleet;
  now: () => number;
  inject(injection: Injection): Promise<void>;
  /** Lets a device measure again what was held. */
  release(device: Device, id: string): void;
  /** Publishes a value that the device has now. */
  report(device: Device, id: string): Promise<void>;
  setAway(gateway: Gateway, away: boolean): Promise<void>;
  /** @param share 0 to 1. */
  setLost(share: number): void;
  setRate(rate: number): void;
}

export const MAX_RATE = 1_000;

type Action = (actions: Actions, payload: Record<string, unknown>) => Promise<void>;

const BY_FIELD: Record<string, Action> = {
  kind: (actions, payload) => actions.inject(readInjection(actions, payload)),
  set: hold,
  away: (actions, payload) => {
    const gateway = readGateway(actions.fleet, payload.gateway);
    return actions.setAway(gateway, readBoolean(payload, 'away'));
  },
  silent: async (actions, payload) => {
    readDevice(actions.fleet, payload.device).silent = readBoolean(payload, 'silent');
  },
  lost: async (actions, payload) => actions.setLost(readNumber(payload, 'lost', 100) / 100),
  rate: async (actions, payload) => actions.setRate(readNumber(payload, 'rate', MAX_RATE)),
};

/** Carries out what an object asks for by one of the fields above; rejects with an `InputError` for anything else. */
export async function steer(actions: Actions, payload: unknown): Promise<void> {
  if (!isObject(payload)) {
    throw new InputError('payload', payload, 'not an object');
  }
  const [field, ...others] = Object.keys(BY_FIELD).filter((name) => payload[name] !== undefined);
  if (!field) {
    throw new InputError('payload', payload, `one of ${Object.keys(BY_FIELD).join(', ')} is needed`);
  }
  if (others.length > 0) {
    throw new InputError('payload', payload, `${field} and ${others.join(', ')} are different actions`);
  }
  await BY_FIELD[field]?.(actions, payload);
}

/** Values stay until others are set, or `null`, which lets the device measure again. Each is reported at once. */
async function hold(
  { fleet, release, report }: Actions,
  { device: address, set }: Record<string, unknown>,
): Promise<void> {
  const device = readDevice(fleet, address);
  if (!isObject(set) || Object.keys(set).length === 0) {
    throw new InputError('set', set, 'not an object of values by identifier');
  }
  // All are checked before the first is set.
  const values = Object.entries(set).map(([identifier, value]) => heldValue(device, identifier, value));
  for (const { id, hex } of values) {
    if (hex === undefined) {
      release(device, id);
    } else {
      device.values.set(id, hex);
      device.held.add(id);
    }
    await report(device, id);
  }
}

function heldValue(
  device: Device,
  identifier: string,
  value: unknown,
): { id: string; hex: string | undefined } {
  const row = rowOfId(identifier) ?? rowOfName(identifier);
  if (!row?.id || !device.values.has(row.id)) {
    throw new InputError('set', identifier, `no simulated device has a property ${identifier}`);
  }
  if (value === null) {
    return { id: row.id, hex: undefined };
  }
  try {
    return { id: row.id, hex: row.encode(value) };
  } catch {
    throw new InputError('set', value, `not a value of ${row.name}`);
  }
}

function readBoolean(payload: Record<string, unknown>, field: string): boolean {
  const value = payload[field];
  if (typeof value !== 'boolean') {
    throw new InputError(field, value, 'neither true nor false');
  }
  return value;
}

/** @throws InputError for anything but a number from 0 to `max` */
export function readNumber(payload: Record<string, unknown>, field: string, max: number): number {
  const value = payload[field];
  if (typeof value !== 'number' || !(value >= 0 && value <= max)) {
    throw new InputError(field, value, `not a number from 0 to ${max}`);
  }
  return value;
}
