// Counts mutants of one source, and tells those that nobody noticed from those that are known to change nothing.

/** The parts of a result in Stryker's report format that are used here. */
export interface Mutant {
  mutatorName: string;
  replacement: string;
  status: string;
  location: { start: Position; end: Position };
}

/** Both from 1; the column of an end is the first behind it. */
interface Position {
  line: number;
  column: number;
}

/** A row of the list of changes that change nothing; what is found by it does not depend on line numbers. */
export interface Equivalent {
  file: string;
  /** The line that the changed code begins on, without the spaces around it. */
  line: string;
  /** The code that is replaced, with one space for whatever space is in it. */
  code: string;
  replacement: string;
  /** Why no caller can tell. */
  reason: string;
}

export interface Survivor extends Omit<Equivalent, 'reason'> {
  at: string;
  mutator: string;
}

export interface Score {
  file: string;
  killed: number;
  /** Survived, and listed. */
  listed: number;
  survivors: Survivor[];
  /** Rows for this file that fit no survivor. */
  stale: Equivalent[];
}

/** With a runtime error the tests could not even be loaded. */
const KILLED = ['Killed', 'Timeout', 'RuntimeError'];

/** @param status of a mutant */
export const isAlive = (status: string): boolean => status === 'Survived' || status === 'NoCoverage';

export function scoreOf(
  file: string,
  source: string,
  mutants: readonly Mutant[],
  list: readonly Equivalent[],
): Score {
  const rows = list.filter((row) => row.file === file);
  const read = (isWanted: (status: string) => boolean) =>
    mutants.filter(({ status }) => isWanted(status)).map((mutant) => survivorOf(file, source, mutant));
  const all = read(isAlive);
  // What only costs time can run out of it on a slow machine, and is right in the list all the same.
  const fitting = [...all, ...read((status) => status === 'Timeout')];
  const survivors = all.filter((survivor) => !rows.some((row) => fits(row, survivor)));
  return {
    file,
    killed: mutants.filter(({ status }) => KILLED.includes(status)).length,
    listed: all.length - survivors.length,
    survivors,
    stale: rows.filter((row) => !fitting.some((survivor) => fits(row, survivor))),
  };
}

/** Killed ones of 100 that mean something; 100 when there are none. */
export function percentOf(scores: readonly Score[]): number {
  const killed = scores.reduce((sum, score) => sum + score.killed, 0);
  const survived = scores.reduce((sum, score) => sum + score.survivors.length, 0);
  return killed + survived === 0 ? 100 : (100 * killed) / (killed + survived);
}

function fits(row: Equivalent, { line, code, replacement }: Survivor): boolean {
  return row.line === line && row.code === code && row.replacement === replacement;
}

function survivorOf(file: string, source: string, { location, replacement, mutatorName }: Mutant): Survivor {
  const { start, end } = location;
  const lines = source.split('\n');
  const code = lines.slice(start.line - 1, end.line);
  // The end first: both may be on one line.
  code.push((code.pop() as string).slice(0, end.column - 1));
  code[0] = (code[0] as string).slice(start.column - 1);
  return {
    file,
    line: (lines[start.line - 1] as string).trim(),
    code: onOneLine(code.join('\n')),
    replacement: onOneLine(replacement),
    at: `${file}:${start.line}:${start.column}`,
    mutator: mutatorName,
  };
}

const onOneLine = (code: string): string => code.replace(/\s+/g, ' ').trim();
