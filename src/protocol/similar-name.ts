// Which property somebody may have meant who mistyped its name.
import type { Phrase } from '../errors.ts';
import type { Catalogue } from './catalogue.ts';
import { isHexId } from './identifier-text.ts';
import type { Identifier } from './identifiers.ts';

/** A short name has others within two changes that it does not mean. */
const MIN_FOR_TWO = 6;
/** Every row is compared, letter by letter: what is longer is no name of a property. */
const MAX_LENGTH = 40;
const MAX_ROWS = 250;

/** For a name that the catalogue lacks and nearly has; devices may know more than it does. Else nothing. */
export function hintFor(typed: string, catalogue: Catalogue | undefined): Phrase | '' {
  if (catalogue === undefined || catalogue.find(typed) || isHexId(typed)) {
    return '';
  }
  const name = similarName(typed, catalogue.rows);
  return name === undefined ? '' : { key: 'similar', values: { name } };
}

/**
 * The name that is written nearly the same, apart from letter case and from what separates words: one letter is missing,
 * added or another one; two in names of six letters and more, such as two that are swapped.
 * @returns undefined for none
 */
function similarName(typed: string, rows: readonly Identifier[]): string | undefined {
  const letters = lettersOf(typed);
  if (letters === '' || letters.length > MAX_LENGTH) {
    return undefined;
  }
  let nearest: string | undefined;
  let most = letters.length < MIN_FOR_TWO ? 1 : 2;
  for (const { name } of rows.slice(0, MAX_ROWS)) {
    const other = lettersOf(name);
    // Of very different lengths it takes more changes, and most are.
    const changes =
      Math.abs(other.length - letters.length) > most ? most + 1 : changesBetween(letters, other);
    if (name !== '' && changes <= most) {
      most = changes - 1;
      nearest = name;
    }
  }
  return nearest;
}

const lettersOf = (text: string): string => text.toLowerCase().replace(/[\s_.-]/g, '');

/** Levenshtein distance. */
function changesBetween(one: string, other: string): number {
  let before = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...one].entries()) {
    const row = [i + 1];
    for (const [j, otherLetter] of [...other].entries()) {
      const replaced = (before[j] as number) + Number(letter !== otherLetter);
      row.push(Math.min(replaced, (before[j + 1] as number) + 1, (row[j] as number) + 1));
    }
    before = row;
  }
  return before.at(-1) as number;
}
