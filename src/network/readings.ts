// What stands out among the values of a device: its battery.
import type { Catalogue } from '../protocol/catalogue.ts';
import type { DeviceState } from './device-state.ts';
import { type PropertyValue, valueTime } from './property-values.ts';

/** What it is called, and its hex id: the user's catalogue may call another one so, or it otherwise. */
export const BATTERY_LEVEL = ['battery-level', '8100'] as const;

/** It is asked of each device of a list. */
const spellingsBy = new WeakMap<Catalogue, ReadonlySet<string | undefined>>();

/** How reports may name the property that tells the charge of a battery. */
export function batterySpellings(catalogue: Catalogue): ReadonlySet<string | undefined> {
  const known = spellingsBy.get(catalogue);
  if (known) {
    return known;
  }
  const rows = BATTERY_LEVEL.map((one) => catalogue.find(one));
  const all = new Set([...BATTERY_LEVEL, ...rows.flatMap((row) => [row?.id, row?.name, row?.builtInName])]);
  spellingsBy.set(catalogue, all);
  return all;
}

/** The last charge of its battery in percent, reported raw or decoded; undefined where none is known: 255 says so, too. */
export function batteryOf({ values }: Readonly<DeviceState>, catalogue: Catalogue): number | undefined {
  const spellings = batterySpellings(catalogue);
  let newest: PropertyValue | undefined;
  for (const one of values) {
    const isCharge = spellings.has(one.identifier) && isPercent(one.value);
    if (isCharge && !(newest && valueTime(newest) > valueTime(one))) {
      newest = one;
    }
  }
  return newest?.value as number | undefined;
}

const isPercent = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= 100;
