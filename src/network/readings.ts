// What stands out among the values of a device: its battery.
import type { Catalogue } from '../protocol/catalogue.ts';
import type { DeviceState } from './device-state.ts';
import { type PropertyValue, valueTime } from './property-values.ts';

/** What it is called, and its hex id: the user's catalogue may call another one so, or it otherwise. */
export const BATTERY_LEVEL = ['battery-level', '8100'] as const;

/** Whether an identifier, as reports have it, is that of the property that tells the charge of a battery. */
export function batteryTest({ find }: Catalogue): (identifier: string) => boolean {
  const rows = BATTERY_LEVEL.map((known) => find(known));
  const spellings = [...BATTERY_LEVEL, ...rows.flatMap((row) => [row?.id, row?.name, row?.builtInName])];
  return (identifier) => spellings.includes(identifier);
}

/** The last charge of its battery in percent, reported raw or decoded; undefined where none is known: 255 says so, too. */
export function batteryOf({ values }: Readonly<DeviceState>, catalogue: Catalogue): number | undefined {
  const isBattery = batteryTest(catalogue);
  let newest: PropertyValue | undefined;
  for (const one of values) {
    const isCharge = isBattery(one.identifier) && isPercent(one.value);
    if (isCharge && !(newest && valueTime(newest) > valueTime(one))) {
      newest = one;
    }
  }
  return newest?.value as number | undefined;
}

const isPercent = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 100;
