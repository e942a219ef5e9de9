// A sample of the changes, for an estimate of the score of everything within an hour: all of some lines chosen at random.
import { readFileSync } from 'node:fs';

/** A change of more lines, such as a long block that becomes empty, is in no sample. */
const WINDOW_LINES = 12;
/** Changes in so many lines, on average. */
const MUTANTS_PER_WINDOW = 6;

/** Lines of a source, from 1, both included. */
export interface Window {
  file: string;
  from: number;
  until: number;
}

/** Each window is as likely as any other, whatever its file is. @param mutants about so many */
export function chooseWindows(files: readonly string[], mutants: number): Window[] {
  const all = files.flatMap(windowsOf);
  const count = Math.min(all.length, Math.ceil(mutants / MUTANTS_PER_WINDOW));
  for (let i = 0; i < count; i++) {
    const other = i + Math.floor(Math.random() * (all.length - i));
    [all[i], all[other]] = [all[other] as Window, all[i] as Window];
  }
  return all.slice(0, count);
}

function windowsOf(file: string): Window[] {
  const lines = readFileSync(file, 'utf8').split('\n').length;
  return Array.from({ length: Math.ceil(lines / WINDOW_LINES) }, (_, i) => ({
    file,
    from: i * WINDOW_LINES + 1,
    until: Math.min((i + 1) * WINDOW_LINES, lines),
  }));
}

/** What the share of a sample may be off, in percent, 95 times of 100. @param share of 100 */
export const uncertainty = (share: number, count: number): number =>
  1.96 * Math.sqrt((share * (100 - share)) / Math.max(1, count));
