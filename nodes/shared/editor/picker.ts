// A text field that offers choices while one types; what is typed stays as it is, known or not.
import { element, text } from './panel.ts';

export interface Choice {
  value: string;
  title: string;
  detail?: string;
  /** Shown as words beside a coloured dot. */
  connected?: boolean;
  tags?: readonly string[];
}

export interface Found {
  choices: readonly Choice[];
  /** Why nothing, or not everything, can be offered. */
  note?: string;
  /** More is on its way: the search is repeated while the choices are open. */
  isLoading?: boolean;
}

export interface PickerOptions {
  search(query: string): Promise<Found>;
  /** False while the field holds something else than a fixed text. */
  active?(): boolean;
  onPick?(choice: Choice): void;
  /** The list was closed without a choice. */
  onLeave?(): void;
}

const TYPING_PAUSE_MS = 150;
let lastId = 0;

/** Makes an input a combobox over `search`. @returns opens its list from elsewhere */
export function attachPicker(input: JQuery, options: PickerOptions): { open(): void } {
  const id = `mt-gateway-list-${++lastId}`;
  const list = element('div', 'mt-gateway-list').attr({ id, role: 'listbox' }).hide();
  let choices: readonly Choice[] = [];
  let marked = -1;
  let newestSearch = 0;
  let timer: number | undefined;

  const isOpen = () => list.is(':visible');
  const close = () => {
    newestSearch += 1;
    window.clearTimeout(timer);
    list.detach().hide();
    input.attr('aria-expanded', 'false').removeAttr('aria-activedescendant');
  };
  const mark = (index: number) => {
    marked = choices.length === 0 ? -1 : (index + choices.length) % choices.length;
    const rows = list.children('[role=option]').attr('aria-selected', 'false');
    const current = rows.eq(marked).attr('aria-selected', 'true');
    if (marked >= 0) {
      input.attr('aria-activedescendant', `${id}-${marked}`);
      current[0]?.scrollIntoView({ block: 'nearest' });
    }
  };
  const pick = (index: number) => {
    const choice = choices[index];
    if (choice) {
      input.val(choice.value).trigger('change');
      close();
      options.onPick?.(choice);
    }
  };
  const show = (found: Found) => {
    choices = found.choices;
    list.empty();
    for (const [index, choice] of choices.entries()) {
      choiceRow(choice, `${id}-${index}`)
        .on('mousedown', (event) => event.preventDefault())
        .on('click', () => pick(index))
        .appendTo(list);
    }
    const note = found.note ?? (choices.length === 0 ? text('picker.nothing') : '');
    if (note !== '') {
      element('div', 'mt-gateway-list-note', note).attr('role', 'status').appendTo(list);
    }
    marked = -1;
    place(list, input);
  };
  const open = async (query: string) => {
    if (options.active?.() === false) {
      return;
    }
    const ownSearch = ++newestSearch;
    if (!isOpen()) {
      show({ choices: [], note: text('picker.searching') });
    }
    input.attr('aria-expanded', 'true');
    const found = await options.search(query);
    if (ownSearch === newestSearch && document.contains(input[0] ?? null)) {
      show(found);
      if (found.isLoading) {
        void open(query);
      }
    }
  };
  const openSoon = (query: string) => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => void open(query), TYPING_PAUSE_MS);
  };

  input
    .attr({ role: 'combobox', autocomplete: 'off', spellcheck: 'false' })
    .attr({ 'aria-autocomplete': 'list', 'aria-controls': id, 'aria-expanded': 'false' })
    .on('input', () => openSoon(String(input.val())))
    .on('click', () => (isOpen() ? close() : void open('')))
    .on('blur', () => {
      close();
      options.onLeave?.();
    })
    .on('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step !== undefined && options.active?.() !== false) {
        event.preventDefault();
        event.stopPropagation();
        isOpen() ? mark(marked < 0 && step < 0 ? choices.length - 1 : marked + step) : void open('');
      } else if (event.key === 'Enter' && isOpen() && marked >= 0) {
        event.preventDefault();
        event.stopImmediatePropagation();
        pick(marked);
      } else if (event.key === 'Escape' && isOpen()) {
        event.stopPropagation();
        close();
      }
    });
  list.on('mousedown', (event) => event.preventDefault());
  return {
    open: () => {
      input.trigger('focus');
      void open('');
    },
  };
}

function choiceRow(choice: Choice, id: string): JQuery {
  const line = element('div', 'mt-gateway-choice').attr({ id, role: 'option', 'aria-selected': 'false' });
  const head = element('div', 'mt-gateway-choice-head').appendTo(line);
  element('span', 'mt-gateway-choice-title', choice.title).appendTo(head);
  if (choice.connected !== undefined) {
    const words = text(choice.connected ? 'picker.connected' : 'picker.notConnected');
    element(
      'span',
      `mt-gateway-link ${choice.connected ? 'mt-gateway-on' : 'mt-gateway-off'}`,
      words,
    ).appendTo(head);
  }
  const foot = element('div', 'mt-gateway-choice-foot').appendTo(line);
  element('span', 'mt-gateway-choice-detail', choice.detail ?? '').appendTo(foot);
  for (const tag of choice.tags ?? []) {
    element('span', 'mt-gateway-tag', tag).appendTo(foot);
  }
  return line;
}

/** Under the input, or above it where there is more room; over the panel, so that nothing is cut off. */
function place(list: JQuery, input: JQuery): void {
  const box = input[0]?.getBoundingClientRect();
  if (!box) {
    return;
  }
  const below = window.innerHeight - box.bottom - 8;
  const up = below < 180 && box.top > below;
  list.appendTo(document.body).show().scrollTop(0);
  list.css({
    left: Math.max(4, Math.min(box.left, window.innerWidth - Math.max(box.width, 320) - 4)),
    width: Math.max(box.width, 320),
    maxHeight: Math.min(300, up ? box.top - 8 : below),
    top: up ? 'auto' : box.bottom + 2,
    bottom: up ? window.innerHeight - box.top + 2 : 'auto',
  });
}
