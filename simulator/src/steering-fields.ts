// Reads the addresses in what steers the simulated network.
import type { Device, Fleet, Gateway } from './fleet.ts';
import { InputError } from './input-error.ts';

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** 12 lowercase hex digits of a MAC address in any of its spellings, or of a REST id. */
export function readMac(field: string, value: unknown): string {
  const hex =
    typeof value === 'string'
      ? value
          .replace(/^bmac-/, '')
          .replaceAll(/[:-]/g, '')
          .toLowerCase()
      : '';
  if (!/^[0-9a-f]{12}$/.test(hex)) {
    throw new InputError(field, value, 'not a MAC address');
  }
  return hex;
}

export function findDevice({ gateways }: Fleet, mac: string): Device | undefined {
  for (const { self, devices } of gateways) {
    const found = self.mac === mac ? self : devices.find((device) => device.mac === mac);
    if (found) {
      return found;
    }
  }
  return undefined;
}

export function readDevice(fleet: Fleet, value: unknown): Device {
  const found = findDevice(fleet, readMac('device', value));
  if (!found) {
    throw new InputError('device', value, 'no such device is simulated');
  }
  return found;
}

export function readGateway(fleet: Fleet, value: unknown): Gateway {
  const found = fleet.gatewayOf(readMac('gateway', value));
  if (!found) {
    throw new InputError('gateway', value, 'no such gateway is simulated');
  }
  return found;
}
