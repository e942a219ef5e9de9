// A value that is fixed in the editor: of which type one is that suits an identifier, and whether it fits.
import type { Catalogue } from '../../../src/protocol/catalogue.ts';
import type { Identifier } from '../../../src/protocol/identifiers.ts';
import type { Field } from '../../../src/protocol/structures.ts';
import { refusalText, text } from './panel.ts';
import { describeIdentifier } from './request.ts';

export interface SuitableValue {
  /** As a TypedInput calls it. */
  type: 'bool' | 'num' | 'str' | 'json';
  /** The value to begin with; empty where one is still to be given: no number, and no mode of a device, is like another. */
  start: string;
}

/** The type of a fixed value that suits an identifier. */
export function suitableValue(identifier: Identifier): SuitableValue {
  const { type, words, fields = [] } = identifier;
  if (type === 'bool') {
    return { type: 'bool', start: 'true' };
  }
  if (words) {
    return { type: 'str', start: '' };
  }
  if (type === 'structure' || type === 'dictionary') {
    const sample = fields.filter((part) => !part.optional).map((part) => [part.name, startOf(part)]);
    return { type: 'json', start: JSON.stringify(Object.fromEntries(sample)) };
  }
  return { type: textual(type) ? 'str' : 'num', start: '' };
}

const textual = (type: string) =>
  ['utf8', 'mac', 'hex', 'firmware-version', 'hardware-version'].includes(type);

/** A field begins with what is accepted: the others beside it are filled in already. */
function startOf({ type, min = 0, max = 0 }: Field): string | number {
  if (type === 'mac') {
    return '000000000000';
  }
  return textual(type) ? '' : Math.min(Math.max(0, min), max);
}

/** How a field for this type has a value that is known already; undefined where that cannot be written as it is. */
export function startWith({ type, words }: Identifier, known: unknown): string | undefined {
  if (type === 'structure') {
    const content = typeof known === 'object' ? JSON.stringify(known) : String(known);
    // What was too long to be kept has been cut.
    return /^\{.*\}$/s.test(content) ? content : undefined;
  }
  // A field to choose from would be empty with another one, and a text may be what could not be decoded.
  const isOne = words
    ? Object.values(words).some((word) => word === known)
    : typeof known === (type === 'bool' ? 'boolean' : 'number');
  return isOne ? String(known) : undefined;
}

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

/** What is wrong with a value for this identifier, in words: of one with fields, which is wrong; empty when it fits. */
export function findMisfit(catalogue: Catalogue, identifier: Identifier, given: unknown): string {
  if (typeof given === 'string' && /^([0-9a-f]{2})+$/i.test(given)) {
    return '';
  }
  try {
    catalogue.encode(identifier.name || identifier.id, given);
    return '';
  } catch (refusal) {
    return identifier.fields
      ? refusalText('value', refusal)
      : text('problem.value', { expected: describeIdentifier(identifier, true) });
  }
}
