// A text field that offers choices while one types. Enter takes the best of them; a row keeps what is typed as it is.
import { element, text } from './panel.ts';
import { type Choice, choiceRow, showAt } from './picker-list.ts';

export interface Found {
  choices: readonly Choice[];
  /** Why nothing, or not everything, can be offered. */
  note?: string;
  /** More is on its way: the search is repeated while the choices are open. */
  isLoading?: boolean;
  /** What is typed is complete: Enter takes it as it is. */
  isComplete?: boolean;
}

export interface PickerOptions {
  search(query: string): Promise<Found>;
  /** Whether what is typed may be taken as it is: true, or words that say why not. */
  check?(typed: string): boolean | string;
  /** False while the field holds something else than a fixed text. */
  active?(): boolean;
  onPick?(choice: Choice): void;
  /** What is typed was taken as it is. */
  onTyped?(): void;
  /** The list was closed without a choice. */
  onLeave?(): void;
}

export interface Picker {
  /** Opens the list from elsewhere, or closes it. */
  toggle(): void;
  close(): void;
}

const TYPING_PAUSE_MS = 150;
let lastId = 0;

/** Makes an input a combobox over `search`. */
export function attachPicker(input: JQuery, options: PickerOptions): Picker {
  const id = `mt-gateway-list-${++lastId}`;
  const list = element('div', 'mt-gateway-list').attr({ id, role: 'listbox' }).hide();
  let choices: readonly Choice[] = [];
  let marked = -1;
  /** The value that the arrow keys have marked. */
  let chosen: string | undefined;
  /** The text that the shown choices were found for; undefined while they are searched. */
  let shownFor: string | undefined;
  /** Something was typed since the choices were closed. */
  let isTyping = false;
  /** What stood in the field when the choices were opened by their button, until they are closed. */
  let before: string | undefined;
  let newestSearch = 0;
  let timer: number | undefined;
  let hide: () => void = () => undefined;

  /** Ctrl+Z of the browser changes a field that somebody has left, also a hidden one. */
  const isUsed = () => input.is(':visible') && document.activeElement === input[0];
  const isActive = () => options.active?.() !== false && isUsed();
  const isOpen = () => list.is(':visible');
  const cancelSearch = () => {
    newestSearch += 1;
    window.clearTimeout(timer);
    timer = undefined;
  };
  const close = () => {
    cancelSearch();
    isTyping = false;
    before = undefined;
    hide();
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
  const move = (step: number) => {
    mark(marked < 0 && step < 0 ? choices.length - 1 : marked + step);
    chosen = choices[marked]?.value;
  };
  const pick = (index: number) => {
    const choice = choices[index];
    if (choice) {
      input.val(choice.value).trigger('change');
      close();
      choice.isTyped ? options.onTyped?.() : options.onPick?.(choice);
    }
  };
  const show = (found: Found, query?: string) => {
    if (query !== shownFor) {
      chosen = undefined;
    }
    const verdict = query?.trim() ? (options.check?.(query.trim()) ?? true) : true;
    choices = query === undefined || verdict !== true ? found.choices : withTyped(found.choices, query);
    shownFor = query;
    list.empty();
    for (const [index, choice] of choices.entries()) {
      choiceRow(choice, `${id}-${index}`)
        .on('mousedown', (event) => event.preventDefault())
        .on('click', () => pick(index))
        .appendTo(list);
    }
    const nothing = typeof verdict === 'string' ? verdict : text('picker.nothing');
    const note = found.note ?? (choices.length === 0 ? nothing : '');
    if (note !== '') {
      element('div', 'mt-gateway-list-note', note).attr('role', 'status').appendTo(list);
    }
    marked = -1;
    hide();
    hide = showAt(list, input, close);
    const again = choices.findIndex(({ value }) => value === chosen);
    if (again >= 0) {
      mark(again);
    } else if (query?.trim()) {
      mark(found.isComplete ? indexOfTyped(choices, query) : indexOfBest(choices, query));
    }
  };
  const open = async (query: string) => {
    cancelSearch();
    if (!isActive()) {
      return;
    }
    const ownSearch = newestSearch;
    if (!isOpen()) {
      show({ choices: [], note: text('picker.searching') });
    }
    input.attr('aria-expanded', 'true');
    const found = await options.search(query);
    if (ownSearch === newestSearch && isUsed()) {
      show(found, query);
      if (found.isLoading) {
        void open(query);
      }
    }
  };
  const openSoon = (query: string) => {
    cancelSearch();
    isTyping = isActive() && query.trim() !== '';
    timer = window.setTimeout(() => void open(query), TYPING_PAUSE_MS);
  };
  /** Who types and presses Enter at once has not seen the choices yet. */
  const takeBest = async (query: string) => {
    if (!isOpen() || shownFor !== query) {
      await open(query);
    }
    if (isOpen() && shownFor === query) {
      pick(marked);
    }
  };
  const enter = () => {
    if (isTyping) {
      void takeBest(String(input.val()));
    } else if (marked >= 0) {
      pick(marked);
    } else {
      close();
    }
  };

  input
    .attr({ role: 'combobox', autocomplete: 'off', spellcheck: 'false' })
    .attr({ 'aria-autocomplete': 'list', 'aria-controls': id, 'aria-expanded': 'false' })
    .on('input', () => openSoon(String(input.val())))
    // One who clicks into what is typed wants to change it there, with the choices in sight.
    .on('click', () => {
      if (!isOpen()) {
        void open('');
      }
    })
    .on('blur', () => {
      close();
      options.onLeave?.();
    })
    // Of jQuery UI: a panel can go while its field has the focus, and no browser tells of a blur then.
    .on('remove', close)
    .on('keydown', (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      // An input method takes its own Enter, and with Ctrl it is the editor's: the panel is done.
      const isPlain = !event.ctrlKey && !event.metaKey;
      const isComposing = (event.originalEvent as KeyboardEvent)?.isComposing === true;
      const isEnter = event.key === 'Enter' && isPlain && !isComposing;
      if (step !== undefined && isActive()) {
        event.preventDefault();
        event.stopPropagation();
        isOpen() ? move(step) : void open('');
      } else if (isEnter && (isOpen() || isTyping)) {
        event.preventDefault();
        event.stopImmediatePropagation();
        enter();
      } else if (event.key === 'Escape' && (isOpen() || timer !== undefined)) {
        event.stopPropagation();
        if (before !== undefined && before !== input.val()) {
          input.val(before).trigger('change');
        }
        close();
      }
    });
  list.on('mousedown', (event) => event.preventDefault());
  return {
    toggle: () => {
      if (isOpen()) {
        close();
      } else {
        // Who opens it by its button searches: what is typed takes the place of what stands there, unless it is given up.
        input.trigger('focus');
        (input[0] as HTMLInputElement).select();
        before = String(input.val() ?? '');
        void open('');
      }
    },
    close,
  };
}

/** The choices, and last a row for what is typed unless it is one of them. */
function withTyped(choices: readonly Choice[], query: string): readonly Choice[] {
  const typed = query.trim();
  if (typed === '' || choices.some(({ value }) => value === typed)) {
    return choices;
  }
  return [...choices, { value: query, title: text('picker.asItIs', { value: typed }), isTyped: true }];
}

/** The row for what is typed, or the choice that is it. */
function indexOfTyped(choices: readonly Choice[], query: string): number {
  const exact = choices.findIndex(({ value }) => value === query.trim());
  return exact >= 0 ? exact : choices.length - 1;
}

/** What is called exactly so, else what begins so, else the first. */
function indexOfBest(choices: readonly Choice[], query: string): number {
  const wanted = query.trim().toLowerCase();
  const names = choices.map(({ value, title, isTyped }) =>
    isTyped ? [] : [value.toLowerCase(), title.toLowerCase()],
  );
  const exact = names.findIndex((both) => both.includes(wanted));
  const begins = names.findIndex((both) => both.some((name) => name.startsWith(wanted)));
  return exact >= 0 ? exact : Math.max(0, begins);
}
