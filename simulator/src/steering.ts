// What a user's flow may do with the simulated network: one object per action, checked before anything is done.
import type { Device, Fleet, Gateway } from './fleet.ts';
import { type Injection, readInjection } from './injection.ts';
import { GatewayAwayError, InputError } from './input-error.ts';
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
  setSilent(device: Device, silent: boolean): void;
  setAway(gateway: Gateway, away: boolean): Promise<void>;
  /** @param share 0 to 1. */
  setLost(share: number): void;
  setRate(rate: number): void;
}

export const MAX_RATE = 1_000;

/** Reads what is wanted. @returns does it */
type Action = (actions: Actions, payload: Record<string, unknown>) => () => Promise<void> | void;

const BY_FIELD: Record<string, Action> = {
  kind: (actions, payload) => {
    const injection = readInjection(actions, payload);
    return () => actions.inject(injection);
  },
  set: hold,
  away: (actions, payload) => {
    const gateway = readGateway(actions.fleet, payload.gateway);
    const isAway = readBoolean(payload, 'away');
    return () => actions.setAway(gateway, isAway);
  },
  silent: (actions, payload) => {
    const device = readDevice(actions.fleet, payload.device);
    const silent = readBoolean(payload, 'silent');
    return () => actions.setSilent(device, silent);
  },
  lost: (actions, payload) => {
    const share = readNumber(payload, 'lost', 100) / 100;
    return () => actions.setLost(share);
  },
  rate: (actions, payload) => {
    const rate = readNumber(payload, 'rate', MAX_RATE);
    return () => actions.setRate(rate);
  },
};

/**
 * Carries out what an object asks for by one of the fields above; rejects with an `InputError` for anything else, and with a
 * `GatewayAwayError` where a gateway has to publish that is away.
 */
export async function steer(actions: Actions, payload: unknown): Promise<void> {
  await readAction(actions, payload)();
}

function readAction(actions: Actions, payload: unknown): ReturnType<Action> {
  try {
    return actionOf(payload)(actions, payload as Record<string, unknown>);
  } catch (error) {
    // Code of a flow can throw when it is read, and there is what no JSON can carry.
    throw error instanceof InputError || error instanceof GatewayAwayError
      ? error
      : new InputError('payload', undefined, 'cannot be read as JSON');
  }
}

function actionOf(payload: unknown): Action {
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
  return BY_FIELD[field]!;
}

/** Values stay until others are set, or `null`, which lets the device measure again. Each is reported at once. */
function hold(
  { fleet, release, report }: Actions,
  { device: address, set }: Record<string, unknown>,
): () => Promise<void> {
  const device = readDevice(fleet, address);
  if (!isObject(set) || Object.keys(set).length === 0) {
    throw new InputError('set', set, 'not an object of values by identifier');
  }
  const values = Object.entries(set).map(([identifier, value]) => heldValue(device, identifier, value));
  return async () => {
    for (const { id, hex } of values) {
      if (hex === undefined) {
        release(device, id);
      } else {
        device.values.set(id, hex);
        device.held.add(id);
      }
      await report(device, id);
    }
  };
}

function heldValue(
  device: Device,
  identifier: string,
  value: unknown,
): { id: string; hex: string | undefined } {
  const row = rowOfId(identifier) ?? rowOfName(identifier);
  if (!row?.id || !device.values.has(row.id)) {
    throw new InputError('set', identifier, 'no simulated device has such a property');
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
