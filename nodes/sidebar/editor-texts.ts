// The words of the sidebar, and how times are said in it.
import { ageText } from '../shared/editor/durations.ts';

const CATALOGUE = '@mt-gateway/node-red-mt-gateway/mt-service:';

/** A text of the sidebar in the editor's language. */
export const say = (key: string, values?: Record<string, unknown>): string =>
  RED._(`${CATALOGUE}sidebar.${key}`, values);

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
