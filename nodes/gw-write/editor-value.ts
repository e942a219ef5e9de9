// The value field of mt-gw-write: its choices follow from the identifier, and a fixed value is checked by the catalogue.
import type { Identifier } from '../../src/protocol/identifiers.ts';
import { type FIXED_TYPES, hasEnv, SOURCE_TYPES } from '../shared/defaults.ts';
import { findMisfit, readFixedValue, suitableValue } from '../shared/editor/fixed-value.ts';
import { element, errorText, field, hint, row, shows, text, withPoint } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';
import { shownIdentifier } from '../shared/editor/request.ts';
import { isTouched } from '../shared/editor/saved.ts';
import { currentCatalogue } from '../shared/editor/sources.ts';
import { boolType, typedField } from '../shared/editor/typed-field.ts';
import { typed } from '../shared/editor/validate.ts';

/** The types of a fixed value in the order of the menu. */
const FIXED: readonly string[] = ['bool', 'num', 'str', 'json'] satisfies (typeof FIXED_TYPES)[number][];

/** Makes the value field with every type, so that a saved one is never lost. */
export function prepareValue(node: EditorNode): void {
  typedField(node, 'value', { types: FIXED });
  const input = field('value');
  row('value')
    .find('.red-ui-typedInput-input')
    .on('blur', () => {
      if (input.typedInput('type') === 'num') {
        input.typedInput('value', withPoint(String(input.typedInput('value'))));
      }
    });
  element('button', 'mt-gateway-fixed red-ui-button red-ui-button-small')
    .attr({ type: 'button', id: 'mt-gateway-fixed' })
    .hide()
    .appendTo(row('value'));
}

/**
 * For the panel of `node`: adapts the value field to the identifier: its choices, its unit, and one click to a fixed
 * value. Where there is hardly another one, a property that is chosen in the panel brings it along.
 */
export function valueShaper(node: EditorNode): (identifier: Identifier | undefined) => void {
  return (identifier) => {
    if (isTouched(node, 'identifier')) {
      bringValue(identifier);
    }
    shapeValue(identifier);
  };
}

/** What the value field holds when nobody has set it. */
const FROM_MESSAGE = ['msg', 'payload'] as const;

/** On and commands are what is written in rules: a switch is set, a command takes nothing. Another property takes it back. */
function bringValue(identifier: Identifier | undefined): void {
  const input = field('value');
  const held = [String(input.typedInput('type')), String(input.typedInput('value'))];
  const brought: unknown = input.data(BROUGHT_DATA);
  if (!same(held, FROM_MESSAGE) && !same(held, brought)) {
    return;
  }
  const isObvious = identifier?.type === 'bool' || identifier?.type === 'void';
  const { type, start } = identifier && isObvious ? fixedFor(identifier) : FALLBACK;
  input.data(BROUGHT_DATA, isObvious ? [type, start] : []);
  input.typedInput('type', type);
  input.typedInput('value', start);
}

const BROUGHT_DATA = 'mt-gateway-brought';
const FALLBACK = { type: FROM_MESSAGE[0], start: FROM_MESSAGE[1] };
const same = (one: readonly string[], other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const fixedFor = (identifier: Identifier): { type: string; start: string } =>
  identifier.type === 'void' ? { type: 'str', start: '' } : suitableValue(identifier);

function shapeValue(identifier: Identifier | undefined): void {
  const input = field('value');
  const [type, value] = [String(input.typedInput('type')), String(input.typedInput('value'))];
  const command = identifier?.type === 'void';
  input.typedInput('types', [...fixedTypes(identifier, value), ...SOURCE_TYPES] as never);
  input.typedInput('type', type);
  input.typedInput('value', value);
  hint('value', command ? text('value.command') : '');
  offerFixed(identifier, input, type);
}

/** The types for a fixed value: the suitable one first, the others still there. */
function fixedTypes(identifier: Identifier | undefined, saved: string): unknown[] {
  const fixed = FIXED.map((type) => (type === 'bool' ? boolType(saved) : type));
  if (!identifier) {
    return fixed;
  }
  const { type } = suitableValue(identifier);
  const rest = fixed.filter((_, index) => FIXED[index] !== type);
  const words = Object.values(identifier.words ?? {});
  if (words.length > 0) {
    const options = words.includes(saved) || saved === '' ? words : [...words, saved];
    const shown = options.map((word) => ({ value: word, label: word }));
    return [{ value: 'str', label: text('type.mode'), options: shown }, ...rest];
  }
  return type === 'num' && identifier.unit
    ? [{ value: 'num', label: identifier.unit, icon: 'red/images/typedInput/09.svg' }, ...rest]
    : [type === 'bool' ? boolType(saved) : type, ...rest];
}

function offerFixed(identifier: Identifier | undefined, input: JQuery, type: string): void {
  const button = row('value').children('.mt-gateway-fixed').off('click');
  const offered = identifier !== undefined && type === 'msg' && identifier.access.some(isWritten);
  button.toggle(offered).text(text(identifier?.type === 'void' ? 'value.nothing' : 'value.fixed'));
  if (identifier && offered) {
    button.on('click', () => {
      const { type: wanted, start } = fixedFor(identifier);
      input.typedInput('type', wanted);
      input.typedInput('value', start);
      shapeValue(identifier);
      const parts = '.red-ui-typedInput-input, .red-ui-typedInput-option-trigger';
      row('value').find(parts).filter(':visible').first().trigger('focus');
    });
  }
}

const isWritten = (access: string) => access === 'write' || access === 'command';

const checkType = typed('value');

/** A fixed value has to fit the identifier, when both are known. */
export function checkValue(this: EditorNode, value: unknown, options: unknown): boolean | string {
  const verdict = checkType.call(this, value, options);
  const open = shows(this, 'value');
  const type = open ? String(field('valueType').val()) : String(this.valueType);
  const known = open ? shownIdentifier() : savedIdentifier(this);
  if (verdict !== true || !known?.id || !FIXED.includes(type) || hasEnv(value)) {
    return verdict;
  }
  const given = String(value ?? '');
  // The node writes no value for an empty text; whoever has chosen a number, JSON or one of several words means one.
  const isText = type !== 'num' && type !== 'json' && !known.words;
  if (given === '' && (known.type === 'void' || isText)) {
    return verdict;
  }
  if (given === '') {
    return errorText('value', 'missing', {});
  }
  // Of a node that is judged without its panel no service is chosen.
  const catalogue = open ? currentCatalogue() : currentCatalogue(String(this.service));
  return findMisfit(catalogue, known, readFixedValue(type, given)) || true;
}

function savedIdentifier(node: EditorNode): Identifier | undefined {
  const name = String(node.identifier ?? '');
  return node.identifierType === 'str' && !hasEnv(name)
    ? currentCatalogue(String(node.service)).find(name)
    : undefined;
}
