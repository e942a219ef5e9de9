// Values that a device could report, to try a flow with.
import type { Catalogue } from '../catalogue.ts';
import { type Identifier, isOwn } from '../identifiers.ts';
import { isNumeric } from '../values.ts';

/** What a person expects to see; a value of any other property follows from its type. */
const USUAL: Readonly<Record<string, unknown>> = {
  temperature: 21.5,
  humidity: 45,
  pressure: 1013.25,
  'light-intensity': 300,
  motion: 32,
  'battery-level': 80,
  vdd: 3000,
  uptime: 86_400,
  'mac-address': '020000000002',
};

/** Long enough for every structure of the catalogue. */
const ZEROS = '00'.repeat(64);

/** @returns a value in decoded form; `null` where the property has none */
export function sampleValue(row: Identifier, catalogue: Catalogue): unknown {
  // The type of a property of the user's own may be any.
  if (!isOwn(row) && Object.hasOwn(USUAL, row.name)) {
    return USUAL[row.name];
  }
  switch (row.type) {
    case 'bool':
      return true;
    case 'utf8':
      return 'test';
    case 'hex':
      return '00'.repeat(row.bytes ?? 1);
    case 'word':
      return Object.values(row.words ?? {})[0] ?? null;
    default:
      return isNumeric(row.type) || row.type === 'number' ? sampleNumber(row) : zeroOf(row, catalogue);
  }
}

/** One, or what is nearest to it. */
function sampleNumber({ min = 1, max = 1, step = 1 }: Identifier): number {
  return Math.min(max, Math.max(min, step, 1));
}

/** All parts of a structure are zero, or what is nearest to it. */
function zeroOf(row: Identifier, catalogue: Catalogue): unknown {
  const value = catalogue.decode(row.id, ZEROS)?.value ?? null;
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const limited = (row.fields ?? []).filter(({ min = 0 }) => min > 0);
  return { ...value, ...Object.fromEntries(limited.map(({ name, min }) => [name, min])) };
}
