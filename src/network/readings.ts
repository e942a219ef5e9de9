// What stands out among the values of a device: its battery.
import type { Catalogue } from '../protocol/catalogue.ts';
import type { DeviceState } from './device-state.ts';
import type { PropertyValue } from './property-values.ts';

export const BATTERY_LEVEL = 'battery-level';

/** The last charge of its battery in percent, reported raw or decoded; undefined where none is known: 255 says so, too. */
export function batteryOf({ values }: Readonly<DeviceState>, catalogue: Catalogue): number | undefined {
  const id = catalogue.find(BATTERY_LEVEL)?.id;
  let newest: PropertyValue | undefined;
  for (const one of values) {
    const isBattery = one.identifier === BATTERY_LEVEL || one.identifier === id;
    if (isBattery && isPercent(one.value) && !(newest && newest.heardAt > one.heardAt)) {
      newest = one;
    }
  }
  return newest?.value as number | undefined;
}

const isPercent = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 100;
