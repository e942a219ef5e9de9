// How long something lasts or is ago, in units and words of the editor's language.
import { text } from './panel.ts';

/** In seconds. */
export const MINUTE = 60;
export const UNITS = [
  { unit: 'd', seconds: 86_400 },
  { unit: 'h', seconds: 3_600 },
  { unit: 'min', seconds: MINUTE },
  { unit: 's', seconds: 1 },
] as const;

/** So many of a unit: `3 h`. */
export const inUnit = (n: number | string, unit: (typeof UNITS)[number]['unit']): string =>
  text(`age.${unit}`, { n });

/** How long ago something was, in its largest unit: `12 s`. @param age in seconds */
export function ageText(age: number): string {
  const { unit, seconds } = UNITS.find((row) => age >= row.seconds) ?? UNITS[UNITS.length - 1]!;
  return inUnit(Math.floor(age / seconds), unit);
}
