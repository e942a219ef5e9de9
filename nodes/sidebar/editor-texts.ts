// The words of the sidebar, and how numbers, durations, times and values are said in it.
import { IDENTIFIERS } from '../../src/protocol/identifiers.ts';
import type { ValueRow } from '../../src/protocol/network-row.ts';
import { ageText, inUnit, MINUTE, UNITS } from '../shared/editor/durations.ts';
import { numberText } from '../shared/editor/panel.ts';

const CATALOGUE = '@mt-gateway/node-red-mt-gateway/mt-service:';

/** A text of the sidebar in the editor's language. */
export const say = (key: string, values?: Record<string, unknown>): string =>
  RED._(`${CATALOGUE}sidebar.${key}`, values);

/** Behind the point. */
const MAX_DIGITS = 2;

/** A kind of reports, as *report in* calls it. */
export function kindText(kind: string): string {
  const words = RED._(`@mt-gateway/node-red-mt-gateway/mt-report-in:kind.${kind}`);
  // Where that node is switched off there is no text.
  return words.endsWith(`kind.${kind}`) ? kind : words;
}

/** Whole seconds since a time; undefined where there is none. */
export function secondsSince(time: string | null, now = Date.now()): number | undefined {
  const at = time === null ? Number.NaN : Date.parse(time);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.round((now - at) / 1_000));
}

/** How long ago a time was, in its largest unit: `12 s`. Empty where there is none. */
export function ageOf(time: string | null, now = Date.now()): string {
  const age = secondsSince(time, now);
  return age === undefined ? '' : ageText(age);
}

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

/** A moment as the editor's language writes it; without the day where that is today. Empty where there is none. */
export function clockTime(time: string | null, now = new Date()): string {
  const at = new Date(time ?? Number.NaN);
  return at.toDateString() === now.toDateString() ? at.toLocaleTimeString(RED.i18n.lang()) : fullTime(time);
}

/** A moment with its day, as the editor's language writes it. Empty where there is none. */
export function fullTime(time: string | null): string {
  const at = new Date(time ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? '' : at.toLocaleString(RED.i18n.lang());
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

/** A value with its unit; a duration of a minute or more, and a structure as its fields, in words. */
export function quantityText({
  identifier,
  value,
  unit,
}: Pick<ValueRow, 'identifier' | 'value' | 'unit'>): string {
  if (typeof value === 'string' && value.startsWith('{')) {
    return structureText(identifier, value);
  }
  return withUnit(value, unit ?? '');
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
