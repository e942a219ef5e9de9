// What stands out among the values of a device: its battery.
import type { Catalogue } from '../protocol/catalogue.ts';
import type { Identifier } from '../protocol/identifiers.ts';
import type { DeviceState } from './device-state.ts';
import { type PropertyValue, valueTime } from './property-values.ts';

/** What it is called, and its hex id where the user's catalogue calls it otherwise. */
export const BATTERY_LEVEL = ['battery-level', '8100'] as const;

/** The property that tells the charge of a battery. */
export function batteryRow({ find }: Catalogue): Pick<Identifier, 'id' | 'name' | 'builtInName'> {
  const [name, id] = BATTERY_LEVEL;
  return find(name) ?? find(id) ?? { id, name };
}

/** The last charge of its battery in percent, reported raw or decoded; undefined where none is known: 255 says so, too. */
export function batteryOf({ values }: Readonly<DeviceState>, catalogue: Catalogue): number | undefined {
  const { id, name, builtInName } = batteryRow(catalogue);
  const spellings = [id, name, builtInName];
  let newest: PropertyValue | undefined;
  for (const one of values) {
    const isBattery = spellings.includes(one.identifier);
    if (isBattery && isPercent(one.value) && !(newest && valueTime(newest) > valueTime(one))) {
      newest = one;
    }
  }
  return newest?.value as number | undefined;
}

const isPercent = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 100;
