// The table of identifiers in docs/protocol.md, made from the rows of the catalogue.
import { createCatalogue } from '../../src/protocol/catalogue.ts';
import type { Identifier } from '../../src/protocol/identifiers.ts';
import type { Field } from '../../src/protocol/structures.ts';
import { isInteger } from '../../src/protocol/values.ts';

const BEGIN = '<!-- catalogue: begin (npm run docs) -->';
const END = '<!-- catalogue: end -->';

const code = (text: string): string => (text === '' ? '–' : `\`${text}\``);

function fieldText({ name, type, unit, optional, bytes }: Field): string {
  return `${name} ${type}${bytes ? `[${bytes}]` : ''}${unit ? ` in ${unit}` : ''}${optional ? ' (optional)' : ''}`;
}

function typeText({ type, divisor, bytes, words, fields, absent }: Identifier): string {
  if (fields) {
    return `${type}: ${fields.map(fieldText).join(', ')}`;
  }
  if (words) {
    return `u8: ${Object.entries(words)
      .map((pair) => pair.join(' '))
      .join(', ')}`;
  }
  const parts = [bytes ? `${type}[${bytes}]` : type];
  if (divisor) {
    parts.push(`÷ ${divisor}`);
  }
  if (absent !== undefined) {
    parts.push(`(${absent}: null)`);
  }
  return parts.join(' ');
}

function rangeText({ type, min, max, step, divisor = 1, fields }: Identifier): string {
  if (fields) {
    const limited = fields.filter((field) => field.max !== undefined);
    return limited.map((field) => `${field.name} ${field.min} to ${field.max}`).join(', ');
  }
  if (!isInteger(type)) {
    return '';
  }
  return `${min} to ${max}${step === 1 / divisor ? '' : `, step ${step}`}`;
}

function rowText(row: Identifier): string {
  const { id, name, unit = '', access, description } = row;
  const cells = [code(id), code(name), typeText(row), unit, rangeText(row), access.join(', '), description];
  return `| ${cells.join(' | ')} |`;
}

/** The table alone, as Markdown. */
export function catalogueTable(): string {
  const head = ['identifier', 'name', 'type', 'unit', 'range when written', 'use', 'meaning'];
  return [
    `| ${head.join(' | ')} |`,
    `|${'---|'.repeat(head.length)}`,
    ...createCatalogue().rows.map(rowText),
  ].join('\n');
}

/** The text of the document with the table of today between its markers. */
export function withCatalogueTable(document: string): string {
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END);
  if (begin < 0 || end < begin) {
    throw new Error('docs/protocol.md lacks the markers of the catalogue');
  }
  return `${document.slice(0, begin + BEGIN.length)}\n\n${catalogueTable()}\n\n${document.slice(end)}`;
}
