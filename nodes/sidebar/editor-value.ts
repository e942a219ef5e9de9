// The field for a value that is written by hand, as the catalogue has it: a choice, a number within its range, or text.
import type { Catalogue } from '../../src/protocol/catalogue.ts';
import type { Identifier } from '../../src/protocol/identifiers.ts';
import { findMisfit, readFixedValue, startWith, suitableValue } from '../shared/editor/fixed-value.ts';
import { element, errorText } from '../shared/editor/panel.ts';
import { say } from './editor-texts.ts';

export interface ValueField {
  element: JQuery;
  /** @returns the value, or in words what is wrong with it */
  read(catalogue: Catalogue): { value: unknown } | { problem: string };
  /** Begins with what the device has, unless somebody has typed. */
  offer(known: unknown): void;
}

/** A field that suits the property. */
export function valueField(identifier: Identifier): ValueField {
  const { type, start } = suitableValue(identifier);
  const input = inputFor(identifier, type, start).attr('aria-label', say('newValue'));
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
      if (isEmpty && type !== 'str') {
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

function inputFor({ words, min, max, step }: Identifier, type: string, start: string): JQuery {
  const choices = type === 'bool' ? ['true', 'false'] : Object.values(words ?? {});
  if (choices.length > 0) {
    return $('<select>').append(choices.map((choice) => $('<option>').val(choice).text(choice)));
  }
  if (type === 'num') {
    return element('input', '')
      .attr({ type: 'number', min, max, step: step ?? 'any' })
      .val(start);
  }
  return element(type === 'json' ? 'textarea' : 'input', '')
    .attr('rows', 3)
    .val(start);
}
