// The catalogue of one service: built-in identifiers and the user's own, looked up, decoded and encoded.
import { invalidInput } from '../errors.ts';
import { readCustomIdentifiers } from './custom-identifiers.ts';
import { dictionaryCodec } from './dictionary.ts';
import { type Decoded, EXTENSIONS, extendedCodec, type ValueCodec } from './extensions.ts';
import { isHexId } from './identifier-text.ts';
import { IDENTIFIERS, type Identifier, isOwn } from './identifiers.ts';
import { type Field, firmwareVersion, hardwareVersion, structureCodec, wordCodec } from './structures.ts';
import { INTEGERS, isInteger, wireCodec } from './values.ts';

export interface Catalogue {
  readonly rows: readonly Identifier[];
  /** The user's own entries, as `createCatalogue` takes them. */
  readonly own: readonly object[];
  /** By hex id or name, in any letter case. */
  find(idOrName: string): Identifier | undefined;
  /**
   * Decodes the hex string of a value (whole bytes, any letter case). Undefined: it stays raw, because the
   * identifier is unknown or the value too short.
   */
  decode(idOrName: string, hex: string): Decoded | undefined;
  /**
   * Encodes a JSON value, with its extensions, to lowercase hex.
   * @throws ServiceError `INVALID_INPUT`, field `value` or `ext`
   */
  encode(idOrName: string, value: unknown, ext?: unknown): string;
  /** Whether a text is a well-formed hex identifier. */
  isHexId(text: string): boolean;
}

/**
 * Tells of which identifiers in hex the one decodes otherwise than the other, or names otherwise.
 * @returns undefined: of none
 */
export function differencesOf(one: Catalogue, other: Catalogue): ((id: string) => boolean) | undefined {
  const rowOf = ({ find }: Catalogue, id: string) => JSON.stringify(find(id));
  const ids = [one, other].flatMap(({ rows }) => rows.map(({ id }) => id));
  const different = new Set(ids.filter((id) => rowOf(one, id) !== rowOf(other, id)));
  return different.size === 0 ? undefined : (id) => different.has(id.toLowerCase());
}

/** An editor needs limits of every number: what a row or a field of it leaves open follows from its type. */
function withLimits<Row extends Identifier | Field>(row: Row): Row {
  if ('fields' in row) {
    return { ...row, fields: row.fields?.map(withLimits) };
  }
  if (!isInteger(row.type)) {
    return row;
  }
  const { divisor = 1 } = row;
  const { min, max } = INTEGERS[row.type];
  return {
    ...row,
    min: row.min ?? min / divisor,
    max: row.max ?? max / divisor,
    step: row.step ?? 1 / divisor,
  };
}

/** Undefined for a type whose form on the wire is not public. */
function codecOf(row: Identifier): ValueCodec | undefined {
  const extension = EXTENSIONS[row.extension ?? 'plain'];
  switch (row.type) {
    case 'number':
      return undefined;
    case 'dictionary':
      return dictionaryCodec(row.fields ?? []);
    case 'structure':
      return extendedCodec(structureCodec(row.fields ?? []), extension);
    case 'word':
      return extendedCodec(wordCodec(row.words ?? {}), extension);
    case 'firmware-version':
      return extendedCodec(firmwareVersion, extension);
    case 'hardware-version':
      return extendedCodec(hardwareVersion, extension);
    default:
      return extendedCodec(wireCodec(row.type, row), extension);
  }
}

const builtInNameOf = (row: Identifier) => row.builtInName ?? (isOwn(row) ? undefined : row.name);

/** What can be done with a property does not depend on what the user calls it. */
function inPlaceOf(earlier: Identifier, row: Identifier): Identifier {
  const builtInName = builtInNameOf(earlier);
  return { ...row, access: earlier.access, ...(builtInName !== undefined && { builtInName }) };
}

/**
 * A later row takes the place of an earlier one that has its id, or its name and no id. Of one with another id it takes the
 * name alone, as each name is of one property: what devices report by that id is still decoded.
 */
function override(rows: readonly Identifier[], later: readonly Identifier[]): readonly Identifier[] {
  let kept = rows;
  for (const row of later) {
    const earlier = kept.find(({ id }) => id === row.id);
    kept = kept.filter((one) => one !== earlier && (one.id !== '' || one.name !== row.name));
    kept = kept.map((one) => (one.name === row.name ? { ...one, name: '' } : one));
    kept = [...kept, earlier ? inPlaceOf(earlier, row) : row];
  }
  const names = new Set(kept.map(({ name }) => name));
  return kept.map(({ builtInName, ...row }) =>
    builtInName === undefined || names.has(builtInName) ? row : { ...row, builtInName },
  );
}

/**
 * The built-in rows, overridden and extended by the user's.
 * @param custom the `identifiers` of the config node: JSON text or an array of `{id, name, type, divisor?, unit?}`
 * @throws ServiceError `INVALID_INPUT`, field `identifiers`
 */
export function createCatalogue(custom?: unknown): Catalogue {
  const own = readCustomIdentifiers(custom);
  const rows = override(IDENTIFIERS, own).map((row) => withLimits(row));
  const byText = new Map<string, Identifier>();
  const codecs = new Map<Identifier, ValueCodec | undefined>();
  for (const row of rows) {
    if (row.id !== '') {
      byText.set(row.id, row);
    }
    if (row.name !== '') {
      byText.set(row.name, row);
    }
    codecs.set(row, codecOf(row));
  }
  for (const row of rows) {
    if (row.builtInName) {
      byText.set(row.builtInName, row);
    }
  }
  const find = (idOrName: string) => byText.get(idOrName) ?? byText.get(idOrName.toLowerCase());
  const codecFor = (idOrName: string) => {
    const row = find(idOrName);
    return row && codecs.get(row);
  };
  return {
    rows,
    own: own.map(({ id, name, type, divisor, unit }) => ({ id, name, type, divisor, unit })),
    find,
    decode: (idOrName, hex) => codecFor(idOrName)?.decode(hex),
    encode(idOrName, value, ext) {
      const codec = codecFor(idOrName);
      if (!codec) {
        throw invalidInput('value', value, 'notEncodable', { identifier: idOrName });
      }
      return codec.encode(value, ext);
    },
    isHexId,
  };
}
