// The user's own catalogue entries, from the config node: unchecked text -> rows, and what a row may not have.
import { invalidInput, showValue } from '../errors.ts';
import { isHexId, isName } from './identifier-text.ts';
import type { Identifier } from './identifiers.ts';
import { copyJson } from './json.ts';
import { isNumeric, WIRE_TYPES, type WireType } from './values.ts';

const FIELD = 'identifiers';
/**
 * @param custom JSON text or an array of `{id, name, type, divisor?, unit?}`; nothing or an empty text: no entries
 * @throws ServiceError `INVALID_INPUT`, field `identifiers`
 */
export function readCustomIdentifiers(custom: unknown): Identifier[] {
  if (custom === undefined || custom === null) {
    return [];
  }
  const list = typeof custom === 'string' ? parseList(custom) : custom;
  if (!Array.isArray(list)) {
    throw invalidInput(FIELD, custom, 'notList');
  }
  return (copyJson(list, FIELD) as unknown[]).map(readEntry);
}

function parseList(text: string): unknown {
  if (text.trim() === '') {
    return [];
  }
  try {
    return JSON.parse(text);
  } catch {
    throw invalidInput(FIELD, text, 'notJson');
  }
}

function readEntry(entry: unknown): Identifier {
  if (typeof entry !== 'object' || entry === null) {
    throw badEntry(entry, 'entry');
  }
  const { id, name, type, divisor, unit } = entry as Record<string, unknown>;
  if (typeof id !== 'string' || !isHexId(id)) {
    throw badEntry(entry, 'id');
  }
  if (typeof name !== 'string' || !isName(name)) {
    throw badEntry(entry, 'name');
  }
  if (!WIRE_TYPES.includes(type as WireType)) {
    throw badEntry(entry, 'type');
  }
  if (!isDivisor(divisor, type as WireType)) {
    throw badEntry(entry, 'divisor');
  }
  if (unit !== undefined && typeof unit !== 'string') {
    throw badEntry(entry, 'unit');
  }
  return {
    id: id.toLowerCase(),
    name,
    type: type as WireType,
    ...(divisor !== undefined && { divisor }),
    ...(unit && { unit }),
    access: ['report', 'read', 'write', 'event'],
    description: '',
  };
}

function isDivisor(divisor: unknown, type: WireType): divisor is number | undefined {
  if (divisor === undefined) {
    return true;
  }
  return typeof divisor === 'number' && divisor > 0 && isNumeric(type);
}

function badEntry(entry: unknown, part: string): Error {
  return invalidInput(FIELD, entry, 'badEntry', { part, value: showValue(entry) });
}
