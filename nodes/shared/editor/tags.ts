// An editable list of texts: each a tag that can be taken away, and a field with a picker that adds one.
import { asText, hasEnv, readList } from '../defaults.ts';
import { element, field, text } from './panel.ts';
import { attachPicker, type Found } from './picker.ts';

/** Saved values whose names are looked up: each is a question to the runtime. */
const MAX_NAMED = 100;

export interface TagListOptions {
  saved: readonly string[];
  search(query: string): Promise<Found>;
  /** The id of the label's element. */
  label: string;
  /** The name of a saved value, when it has one. */
  nameOf?(value: string): Promise<string>;
  /** True, or words that say what is wrong with a value. */
  check?(value: string): boolean | string;
  /** What is to be said at a value; empty for nothing. */
  remark?(value: string): string;
  /** A comma is part of what is typed, and separates nothing. */
  takesCommas?: boolean;
  onChange(): void;
}

/** Builds the list into `container`. A text that was not picked is kept as it was typed. @returns reads it */
export function tagList(container: JQuery, options: TagListOptions): () => string[] {
  const { saved, search, label, nameOf, check, remark, takesCommas = false, onChange } = options;
  const values = [...saved];
  const names = new Map<string, string>();
  container.addClass('mt-gateway-chips').attr({ role: 'group', 'aria-labelledby': label }).empty();
  const input = $('<input type="text">').attr({ 'aria-labelledby': label, placeholder: text('tags.add') });
  input.appendTo(container);
  const problem = element('div', 'mt-gateway-problem').attr('role', 'alert').insertAfter(container);

  const verdictOf = (value: string) => (check && !hasEnv(value) ? check(value) : true);
  const entriesOf = (typed: unknown) => (takesCommas ? readList([asText(typed).trim()]) : readList(typed));
  const show = () => {
    container.children('.mt-gateway-chip').remove();
    for (const value of values) {
      const words = hasEnv(value) ? '' : (remark?.(value) ?? '');
      tag(value, names.get(value) ?? value, words, () => remove(value)).insertBefore(input);
    }
    const problems = values.map(verdictOf);
    const index = problems.findIndex((problem) => problem !== true);
    problem.text(index < 0 ? '' : `${values[index]}: ${problems[index]}`).toggle(index >= 0);
    input.attr('placeholder', values.length === 0 ? text('tags.any') : text('tags.add'));
  };
  const remove = (value: string) => {
    values.splice(values.indexOf(value), 1);
    show();
    onChange();
    input.trigger('focus');
  };
  const add = (...added: readonly string[]) => {
    for (const value of added) {
      values.includes(value) || values.push(value);
    }
    input.val('');
    show();
    onChange();
  };
  /** What is picked is one entry, commas and all. */
  const addTyped = () => {
    picker.close();
    add(...entriesOf(input.val()));
  };

  const picker = attachPicker(input, {
    check: (typed) =>
      entriesOf(typed)
        .map(verdictOf)
        .find((verdict) => verdict !== true) ?? true,
    search: async (query) => {
      const typed = query.trim();
      if (hasEnv(typed)) {
        return { choices: [], isComplete: true };
      }
      const found = await search(query);
      const choices = found.choices.filter(({ value }) => !values.includes(value));
      return { ...found, choices, isComplete: found.isComplete === true || values.includes(typed) };
    },
    onTyped: addTyped,
    onPick: ({ value, title }) => {
      names.set(value, title);
      add(value);
    },
  });
  input.on('blur', addTyped);
  input.on('keydown', (event) => {
    const isEnd = event.key === 'Enter' || (event.key === ',' && !takesCommas);
    if (isEnd && String(input.val()).trim() !== '') {
      event.preventDefault();
      addTyped();
    } else if (event.key === 'Backspace' && input.val() === '' && values.length > 0) {
      remove(values[values.length - 1] ?? '');
    }
  });
  container.on('click', (event) => event.target === container[0] && input.trigger('focus').trigger('click'));
  // Another service may know other things.
  field('service').on('change', show);
  show();
  const isOpen = () => document.contains(container[0] ?? null);
  void nameTags(values, nameOf, names, isOpen).then(() => isOpen() && show());
  return () => [...values];
}

/** One after the other, until the panel is closed. */
async function nameTags(
  values: readonly string[],
  nameOf: TagListOptions['nameOf'],
  names: Map<string, string>,
  isOpen: () => boolean,
): Promise<void> {
  for (const value of nameOf ? values.slice(0, MAX_NAMED) : []) {
    if (!isOpen()) {
      return;
    }
    const name = await nameOf?.(value);
    if (name) {
      names.set(value, name);
    }
  }
}

function tag(value: string, title: string, remark: string, remove: () => void): JQuery {
  const chip = element('span', 'mt-gateway-chip').attr('title', value);
  element('span', '', title === value ? value : `${title} (${value})`).appendTo(chip);
  if (remark !== '') {
    element('small', '', remark).appendTo(chip.addClass('mt-gateway-chip-unknown'));
  }
  return element('button', '')
    .attr({ type: 'button', 'aria-label': text('tags.remove', { value: title }) })
    .append('<i class="fa fa-times" aria-hidden="true"></i>')
    .on('click', remove)
    .appendTo(chip)
    .parent();
}
