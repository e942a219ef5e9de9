// The field for a value that is written by hand, as the catalogue has it: a choice, a number within its range, or text.
import type { Catalogue } from '../../src/protocol/catalogue.ts';
import type { Identifier } from '../../src/protocol/identifiers.ts';
import {
  findMisfit,
  readFixedValue,
  type SuitableValue,
  startWith,
  suitableValue,
} from '../shared/editor/fixed-value.ts';
import { element, errorText } from '../shared/editor/panel.ts';
import { say } from './editor-texts.ts';

export interface ValueField {
  element: JQuery;
  /** @returns the value, or in words what is wrong with it */
  read(catalogue: Catalogue): { value: unknown } | { problem: string };
  /** Begins with what the device has, unless somebody has typed. */
  offer(known: unknown): void;
}

/** A field that suits the property, empty until a value is known: one that is made up looks as if the device had it. */
export function valueField(identifier: Identifier): ValueField {
  const suitable = suitableValue(identifier);
  const { type } = suitable;
  const input = inputFor(identifier, suitable).attr('aria-label', say('newValue'));
  let isTouched = false;
  input.on('input', () => {
    isTouched = true;
  });
  return {
    element: input,
    offer(known) {
      const offered = startWith(identifier, known);
      if (offered !== undefined && !isTouched) {
        input.val(offered);
      }
    },
    read(catalogue) {
      const given = String(input.val() ?? '');
      // What is no number at all reads as empty, too.
      const isEmpty = given.trim() === '' && (input[0] as HTMLInputElement).validity.badInput !== true;
      if (isEmpty && (type !== 'str' || input.is('select'))) {
        return { problem: errorText('value', 'missing', {}) };
      }
      try {
        const value = readFixedValue(type, given);
        const problem = findMisfit(catalogue, identifier, value);
        return problem === '' ? { value } : { problem };
      } catch {
        return { problem: say('notJson') };
      }
    },
  };
}

function inputFor({ words, min, max, step }: Identifier, { type, start }: SuitableValue): JQuery {
  const choices = type === 'bool' ? ['true', 'false'] : Object.values(words ?? {});
  if (choices.length > 0) {
    return $('<select>').append(['', ...choices].map((choice) => $('<option>').val(choice).text(choice)));
  }
  if (type === 'num') {
    return element('input', '').attr({ type: 'number', min, max, step: step ?? 'any' });
  }
  return element(type === 'json' ? 'textarea' : 'input', '').attr({ rows: 3, placeholder: start });
}
