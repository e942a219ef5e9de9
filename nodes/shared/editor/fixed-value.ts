// A value that is fixed in the editor: of which type one is that suits an identifier, and whether it fits.
import type { Catalogue } from '../../../src/protocol/catalogue.ts';
import type { Identifier } from '../../../src/protocol/identifiers.ts';
import { text } from './panel.ts';
import { describeIdentifier } from './request.ts';

export interface SuitableValue {
  /** As a TypedInput calls it. */
  type: 'bool' | 'num' | 'str' | 'json';
  /** The value to begin with; empty where a number is still to be given, as none is like another. */
  start: string;
}

/** The type of a fixed value that suits an identifier. */
export function suitableValue(identifier: Identifier): SuitableValue {
  const { type, words, fields = [] } = identifier;
  if (type === 'bool') {
    return { type: 'bool', start: 'true' };
  }
  if (words) {
    return { type: 'str', start: Object.values(words)[0] ?? '' };
  }
  if (type === 'structure' || type === 'dictionary') {
    const sample = fields
      .filter((part) => !part.optional)
      .map((part) => [part.name, textual(part.type) ? '' : 0]);
    return { type: 'json', start: JSON.stringify(Object.fromEntries(sample)) };
  }
  return { type: textual(type) ? 'str' : 'num', start: '' };
}

const textual = (type: string) =>
  ['utf8', 'mac', 'hex', 'firmware-version', 'hardware-version'].includes(type);

/** The value that a text stands for; no number is NaN, which fits nowhere. @throws SyntaxError for JSON that is none */
export function readFixedValue(type: string, value: string): unknown {
  switch (type) {
    case 'num':
      return value.trim() === '' ? Number.NaN : Number(value);
    case 'bool':
      return value === 'true';
    case 'json':
      return JSON.parse(value);
    default:
      return value;
  }
}

/** What is wrong with a value for this identifier, in words; empty when it fits. */
export function findMisfit(catalogue: Catalogue, identifier: Identifier, given: unknown): string {
  if (typeof given === 'string' && /^([0-9a-f]{2})+$/i.test(given)) {
    return '';
  }
  try {
    catalogue.encode(identifier.name || identifier.id, given);
    return '';
  } catch {
    return text('problem.value', { expected: describeIdentifier(identifier, true) });
  }
}
