// Which property somebody may have meant who mistyped its name.
import type { Phrase } from '../errors.ts';
import type { Catalogue } from './catalogue.ts';
import { isHexId } from './identifier-text.ts';
import type { Identifier } from './identifiers.ts';

/** A short name has others within two changes that it does not mean. */
const MIN_FOR_TWO = 6;
/** Every row is compared, letter by letter: what is longer is no name of a property. */
const MAX_LENGTH = 60;
const MAX_ROWS = 1_000;

/** For a name that the catalogue lacks and nearly has; devices may know more than it does. Else nothing. */
export function hintFor(typed: string, catalogue: Catalogue | undefined): Phrase | '' {
  if (catalogue === undefined || catalogue.find(typed) || isHexId(typed)) {
    return '';
  }
  const name = similarName(typed, catalogue.rows);
  return name === undefined ? '' : { key: 'similar', values: { name } };
}

/**
 * The name that is written nearly the same: apart from letter case and from what separates words, by one letter that is
 * missing, added, another one or in its neighbour's place; by two in names of six letters and more.
 * @returns undefined for none
 */
function similarName(typed: string, rows: readonly Identifier[]): string | undefined {
  const plain = lettersOf(typed);
  if (plain === '' || plain.length > MAX_LENGTH) {
    return undefined;
  }
  let nearest: string | undefined;
  let least = (plain.length < MIN_FOR_TWO ? 1 : 2) + 1;
  for (const { name } of rows.slice(0, MAX_ROWS)) {
    const letters = lettersOf(name);
    if (name !== '' && Math.abs(letters.length - plain.length) < least) {
      const changes = changesBetween(plain, letters);
      if (changes < least) {
        least = changes;
        nearest = name;
      }
    }
  }
  return nearest;
}

const lettersOf = (text: string): string => text.toLowerCase().replace(/[\s_.-]+/g, '');

/** Optimal string alignment distance. */
function changesBetween(one: string, other: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const changes = Math.min(
        (last[j] as number) + 1,
        (row[j - 1] as number) + 1,
        (last[j - 1] as number) + (isSame ? 0 : 1),
      );
      row.push(isSwapped ? Math.min(changes, (beforeLast[j - 2] as number) + 1) : changes);
    }
    beforeLast = last;
    last = row;
  }
  return last[other.length] as number;
}
