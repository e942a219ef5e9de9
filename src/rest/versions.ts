// Ranges of firmware versions; semver is set up with the first range, because it takes as long as much of the engine does.
import type { Range } from 'semver';

/** A semver range, pre-releases included; undefined when the text is none. */
export function rangeOf(text: string): Range | undefined {
  const SemverRange: typeof Range = require('semver/classes/range.js');
  try {
    return new SemverRange(text, { includePrerelease: true, loose: true });
  } catch {
    return undefined;
  }
}
