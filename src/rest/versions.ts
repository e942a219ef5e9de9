// Firmware versions with any number of parts, and ranges of them; semver is loaded with the first range, since it is slow to load.
import type { Range } from 'semver';

/** `v`, numbers with dots, a pre-release, what was built. */
const VERSION = /^[v=\s]*(\d+(?:\.\d+)*)(?:-([\w.-]+)|([a-z][\w.-]*))?(?:\+\S*)?\s*$/i;
/** In a range: a version with more than three numbers, not one inside a pre-release. */
const LONG_VERSION = /(?<![\w.+-])v?\d+(?:\.\d+){3,}(?:-[\w.-]+)?(?![\w.-])/gi;

/** Tells whether a version lies in the range. */
export type VersionTest = (version: string) => boolean;

/** The two ends of `1.2 - 1.4`. */
const HYPHEN_RANGE = /^([^\s<>~^]+)\s+-\s+([^\s<>~^]+)$/;
/** A hyphen and no pre-release. */
const EMPTY_PRERELEASE = /^[^-+]*-(?:[.+]|$)/;

/** A semver range, pre-releases included; its versions may have more than three numbers. Undefined when the text is none. */
export function rangeOf(text: string): VersionTest | undefined {
  try {
    const known = text.replace(LONG_VERSION, (version) => semverOf(version) ?? version);
    const alternatives = known.split('||').map(piecesOf);
    return (version) => {
      const comparable = semverOf(version) ?? '';
      return alternatives.some((pieces) => pieces.every((piece) => piece.test(comparable)));
    };
  } catch {
    return undefined;
  }
}

/** Each is read alone: out of several, semver leaves out what it cannot read. */
function piecesOf(alternative: string): Range[] {
  const pieces = alternative.trim().replace(/(?<=[<>=~^])\s+/g, '');
  const [both, ...ends] = HYPHEN_RANGE.exec(pieces) ?? [];
  if (both === undefined) {
    return pieces.split(/\s+/).map(pieceOf);
  }
  ends.forEach(pieceOf);
  return [pieceOf(both)];
}

/** @throws TypeError when it cannot be read */
function pieceOf(text: string): Range {
  const SemverRange: typeof Range = require('semver/classes/range.js');
  if (EMPTY_PRERELEASE.test(text)) {
    throw new TypeError('a pre-release is missing');
  }
  // Loose, since devices have versions such as 3.4.0beta2 and 03.04.
  return new SemverRange(text, { includePrerelease: true, loose: true });
}

/**
 * A version of three numbers that compares with others as the given one does: missing numbers are 0. Semver has nothing
 * between 3.3.0 and 3.3.1 but the pre-releases of 3.3.1, so that is where 3.3.0.1 goes: before the usual pre-releases,
 * whose names are greater than any number. Undefined for what is no version.
 */
export function semverOf(text: string): string | undefined {
  const [, numbers, named, attached] = VERSION.exec(text) ?? [];
  if (numbers === undefined) {
    return undefined;
  }
  const [major = 0, minor = 0, patch = 0, ...more] = numbers.split('.').map(Number);
  const release = named ?? attached;
  while (more.at(-1) === 0) {
    more.pop();
  }
  if (more.length === 0) {
    return `${major}.${minor}.${patch}${release === undefined ? '' : `-${release}`}`;
  }
  // After the last number comes 1, or 0 and the pre-release; each number is moved up by 2 to be greater than both.
  const end = release === undefined ? '1' : `0.${release}`;
  return `${major}.${minor}.${patch + 1}-0.${more.map((number) => number + 2).join('.')}.${end}`;
}
