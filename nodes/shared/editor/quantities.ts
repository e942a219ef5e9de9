// How numbers, durations and values of devices are said, in the sidebar and in panels.
import { IDENTIFIERS } from '../../../src/protocol/identifiers.ts';
import { inUnit, MINUTE, UNITS } from './durations.ts';
import { numberText } from './panel.ts';

interface Quantity {
  identifier: string;
  value: unknown;
  unit: string | null;
}

/** Behind the point. */
const MAX_DIGITS = 2;

/** Such as `3 d 4 h`: from a minute on in its two largest units. */
export function durationText(seconds: number): string {
  if (seconds < MINUTE) {
    return inUnit(valueText(seconds), 's');
  }
  const first = UNITS.findIndex((row) => seconds >= row.seconds);
  let rest = seconds;
  return UNITS.slice(first, first + 2)
    .flatMap((row) => {
      const n = Math.floor(rest / row.seconds);
      rest %= row.seconds;
      return n > 0 ? [inUnit(n, row.unit)] : [];
    })
    .join(' ');
}

/** A number with few digits, as the editor's language writes it; anything else as it is. */
export function valueText(value: unknown): string {
  if (typeof value !== 'number') {
    return value === null || value === undefined ? '–' : String(value);
  }
  return numberText(value, MAX_DIGITS);
}

/** The units of the fields of structures, by id and by name. */
const FIELD_UNITS = new Map(
  IDENTIFIERS.flatMap(({ id, name, fields = [] }) => {
    const units = new Map(fields.map((field) => [field.name, field.unit]));
    return [[id, units] as const, [name, units] as const];
  }),
);

/** Seconds in a unit of time. */
const TIME_UNITS: Record<string, number> = { min: MINUTE, s: 1, ms: 0.001 };

/** Whether a unit says nothing of what is measured. */
export const isOfTime = (unit: string): boolean => Object.hasOwn(TIME_UNITS, unit);

/**
 * A value with its unit; a duration of a minute or more, and a structure as its fields, in words.
 * @param identifier an id or a name
 * @param value a structure as an object, or as its JSON
 */
export function quantityText({ identifier, value, unit }: Quantity): string {
  const shown = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  if (typeof shown === 'string' && shown.startsWith('{')) {
    return structureText(identifier, shown);
  }
  return withUnit(shown, unit ?? '');
}

function withUnit(value: unknown, unit: string): string {
  const seconds = typeof value === 'number' && isOfTime(unit) ? value * TIME_UNITS[unit]! : 0;
  return seconds >= MINUTE ? durationText(seconds) : `${valueText(value)} ${unit}`.trim();
}

/** @param json perhaps cut, with `…` at its end; what is no structure stays as it is */
function structureText(identifier: string, json: string): string {
  const isCut = !json.endsWith('}');
  try {
    const whole = isCut ? `${json.slice(0, json.lastIndexOf(','))}}` : json;
    const fields = Object.entries(JSON.parse(whole) as Record<string, unknown>);
    const units = FIELD_UNITS.get(identifier);
    const parts = fields.map(([name, value]) => `${name} ${fieldText(value, units?.get(name) ?? '')}`);
    return parts.length > 0 ? [...parts, ...(isCut ? ['…'] : [])].join(', ') : json;
  } catch {
    return json;
  }
}

/** Some units are a number of another one. */
function fieldText(value: unknown, unit: string): string {
  const shown = typeof value === 'object' ? JSON.stringify(value) : value;
  return /^\d/.test(unit) ? `${valueText(shown)} × ${unit}` : withUnit(shown, unit);
}
