// The tree on the screen: only the rows in sight exist, and all of it is one stop of the tab key.
import { element } from '../shared/editor/panel.ts';
import type { Item, TreeModel } from './editor-model.ts';
import { PlacedRows } from './editor-places.ts';
import { ROW_HEIGHT } from './editor-row.ts';
import { SecondClicks } from './editor-second-click.ts';
import { say } from './editor-texts.ts';
import { TypedSearch } from './editor-typed.ts';

/** Rows beyond the edges, so that a quick hand sees no gap. */
const OVERSCAN = 6;
/** So long after the pointer has moved; a hand that rests is not about to press. */
const POINTING_MS = 1_500;

export interface TreeEvents {
  /** Rows that are not known have come into sight. */
  missing(): void;
  selected(item: Item): void;
  /** The row is to be shown in full. */
  activated(item: Item): void;
  /** Escape. */
  left(): void;
  /** What can be made of the row is asked for. */
  menu(item: Item, at: { x: number; y: number }): void;
  dragged(item: Item, event: DragEvent): void;
}

export class TreeView {
  readonly element: HTMLElement;
  readonly #space = element('div', 'mt-gateway-tree-space').attr('role', 'presentation');
  readonly #events: TreeEvents;
  readonly #rows = new PlacedRows(this.#space[0]!);
  /** The sidebar is made wider, or its lower part smaller. */
  readonly #resized = new ResizeObserver(() => this.#scrolled());
  #height = -1;
  #model: TreeModel | undefined;
  #selected = '';
  /** Where the selected row was when it was last known. */
  #position = -1;
  /** The server has not sent the selected row yet. */
  #isPending = false;
  readonly #typed = new TypedSearch();
  /** The focus comes with the mouse: the row below it is meant. */
  #isPressed = false;
  #movedAt = Number.NEGATIVE_INFINITY;
  readonly #secondClicks = new SecondClicks();

  constructor(events: TreeEvents) {
    this.#events = events;
    const tree = element('div', 'mt-gateway-tree').attr({
      role: 'tree',
      tabindex: 0,
      'aria-label': say('tree'),
      id: 'mt-gateway-tree',
    });
    tree.append(this.#space);
    this.element = tree[0]!;
    tree.on('scroll', () => this.#scrolled());
    tree.on('keydown', (event) => this.#key(event));
    tree.on('mousedown', () => this.#pressed());
    tree.on('mousemove', () => {
      this.#movedAt = performance.now();
    });
    tree.on('click', ({ target, timeStamp }) => this.#click(target, timeStamp));
    tree.on('dblclick', (event) => this.#doubleClick(event.target));
    tree.on('focus', () => this.#focus());
    tree.on('contextmenu', (event) => this.#menu(event));
    tree.on('dragstart', (event) => {
      const [item, position] = this.#itemAt(event.target);
      if (item) {
        // It has the focus from now on, and the first row is not taken for it when the menu gives the focus back.
        this.#select(position);
        this.#events.dragged(item, event.originalEvent as DragEvent);
      }
    });
    this.#resized.observe(this.element);
  }

  close(): void {
    this.#resized.disconnect();
  }

  /** Somebody is about to press a row: it must not move away. */
  get isPointedAt(): boolean {
    return performance.now() - this.#movedAt < POINTING_MS;
  }

  get selected(): Item | undefined {
    const position = this.#selectedPosition();
    const item = this.#model?.at(position);
    return item?.key === this.#selected ? item : undefined;
  }

  /** Scrolls to the selected row, where it is known. */
  reveal(): void {
    const position = this.#selectedPosition();
    if (position >= 0) {
      this.#bringIntoSight(position);
      this.#scrolled();
    }
  }

  /** Takes the focus at the first row. @returns false: these rows are not here yet, or there are none */
  enter(model: TreeModel): boolean {
    if (model !== this.#model || !model.size) {
      return false;
    }
    this.#select(0);
    this.element.focus();
    return true;
  }

  /** Selects one that was chosen elsewhere, or none where its row is not known. @returns what is selected now */
  choose(model: TreeModel, id: string): Item | undefined {
    const position = model === this.#model ? model.find(id) : -1;
    this.#selected = '';
    this.#isPending = false;
    if (position >= 0) {
      this.#select(position);
    }
    this.render();
    return this.selected;
  }

  setModel(model: TreeModel): void {
    this.#model = model;
    this.#nameSelected();
    this.render();
  }

  /** A row that was selected before it was known has a name now. */
  #nameSelected(): void {
    const item = this.#isPending ? this.#model?.at(this.#position) : undefined;
    if (item?.row) {
      this.#isPending = false;
      this.#selected = item.key;
      this.#events.selected(item);
    }
  }

  /** Forgets what was selected. */
  clear(): void {
    this.#selected = '';
    this.#position = -1;
    this.element.scrollTop = 0;
  }

  /** The first and the last position in sight. */
  get sight(): [number, number] {
    const { scrollTop, clientHeight } = this.element;
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - OVERSCAN);
    return [first, Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + OVERSCAN];
  }

  render(): void {
    this.#renderRows();
  }

  /** @returns as `sight`: asked for after the rows have changed, it would cost another layout of the page */
  #renderRows(): [number, number] {
    const size = this.#model?.size ?? 0;
    if (size * ROW_HEIGHT !== this.#height) {
      this.#height = size * ROW_HEIGHT;
      this.#space.css('height', this.#height);
    }
    const { sight } = this;
    this.#rows.render(this.#model, sight, this.#selected);
    this.#updateActive();
    return sight;
  }

  #scrolled(): void {
    const [first, last] = this.#renderRows();
    const model = this.#model;
    if (model?.size === undefined) {
      return;
    }
    for (let position = first; position <= Math.min(last, model.size - 1); position++) {
      if (!model.at(position)?.row) {
        this.#events.missing();
        return;
      }
    }
  }

  /** Whether its rows are those of this model, as far as they are known. */
  shows(model: TreeModel): boolean {
    return model === this.#model && model.size !== undefined;
  }

  #selectedPosition(): number {
    const position = this.#model?.positionOf(this.#selected) ?? -1;
    this.#position = position >= 0 ? position : this.#position;
    return this.#position;
  }

  #pressed(): void {
    this.#isPressed = true;
    // A row with selected text would be dragged as that text.
    document.getSelection()?.removeAllRanges();
    window.setTimeout(() => {
      this.#isPressed = false;
    });
  }

  /** With a key: the first row that is seen whole. */
  #focus(): void {
    if (this.#selected === '' && !this.#isPressed && (this.#model?.size ?? 0) > 0) {
      this.#select(Math.ceil(this.element.scrollTop / ROW_HEIGHT));
    }
  }

  #select(wanted: number): void {
    const size = this.#model?.size ?? 0;
    const position = Math.max(0, Math.min(size - 1, wanted));
    const item = this.#model?.at(position);
    if (!item) {
      return;
    }
    this.#selected = item.key;
    this.#position = position;
    this.#isPending = item.row === undefined;
    this.#bringIntoSight(position);
    this.#scrolled();
    if (item.row) {
      this.#events.selected(item);
    }
  }

  #bringIntoSight(position: number): void {
    const { scrollTop, clientHeight } = this.element;
    const top = position * ROW_HEIGHT;
    if (top < scrollTop) {
      this.element.scrollTop = top;
    } else if (top + ROW_HEIGHT > scrollTop + clientHeight) {
      this.element.scrollTop = top + ROW_HEIGHT - clientHeight;
    }
  }

  #updateActive(): void {
    const active = this.#rows.elementOf(this.#selected);
    if (active) {
      this.element.setAttribute('aria-activedescendant', active.id);
    } else {
      this.element.removeAttribute('aria-activedescendant');
    }
  }

  #itemAt(target: Element): [Item | undefined, number] {
    const key = target.closest('[data-key]')?.getAttribute('data-key') ?? '';
    const position = this.#model?.positionOf(key) ?? -1;
    return [this.#model?.at(position), position];
  }

  #click(target: Element, at: number): void {
    const [item, position] = this.#itemAt(target);
    if (item && target.closest('.mt-gateway-item-arrow') && item.isOpen !== undefined) {
      this.#toggle(item);
    } else if (item) {
      this.#secondClicks.clicked(item.key, at);
      this.#select(position);
      this.#events.activated(item);
    }
  }

  /** In what lies around it, too, the second click of a double click counts for the row of the first. */
  catchSecondClicks(area: HTMLElement): void {
    const keyOf = (target: Element) =>
      this.element.contains(target) ? this.#itemAt(target)[0]?.key : undefined;
    this.#secondClicks.catchIn(area, keyOf, (key) =>
      this.#doubleClicked(this.#model?.at(this.#model.positionOf(key))),
    );
  }

  /** By the right button, or by the key for it: then at the selected row. */
  #menu(event: JQuery.ContextMenuEvent): void {
    event.preventDefault();
    const isOnRow = event.target !== this.element && event.button === 2;
    const [item] = isOnRow ? this.#itemAt(event.target) : [this.selected];
    const box = this.#rows.elementOf(this.#selected)?.getBoundingClientRect();
    const { clientX = 0, clientY = 0 } = event;
    if (item) {
      this.#events.menu(
        item,
        isOnRow || !box ? { x: clientX, y: clientY } : { x: box.left + 20, y: box.bottom },
      );
    }
  }

  #doubleClick(target: Element): void {
    if (!target.closest('.mt-gateway-item-arrow')) {
      this.#doubleClicked(this.#itemAt(target)[0]);
    }
  }

  #doubleClicked(item: Item | undefined): void {
    if (item?.isOpen !== undefined) {
      this.#toggle(item);
    }
  }

  #toggle({ row, isOpen }: Item): void {
    if (row && this.#model) {
      isOpen ? this.#model.close(row.id) : this.#model.open(row.id);
      this.render();
      this.#events.missing();
    }
  }

  #key(event: JQuery.KeyDownEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const position = this.#selectedPosition();
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW_HEIGHT) - 1);
    const steps: Record<string, number> = {
      ArrowDown: position + 1,
      ArrowUp: position - 1,
      Home: 0,
      End: Number.MAX_SAFE_INTEGER,
      PageDown: position + page,
      PageUp: position - page,
    };
    const to = steps[event.key];
    if (to !== undefined) {
      this.#select(to);
    }
    const isTaken = to !== undefined || this.#actOn(event.key, position);
    if (isTaken || this.#findTyped(event)) {
      event.preventDefault();
      // What the editor does with a key is for the workspace.
      event.stopPropagation();
    }
  }

  #actOn(key: string, position: number): boolean {
    const item = this.#model?.at(position);
    if (!item) {
      return false;
    }
    switch (key) {
      case 'ArrowRight':
        item.isOpen === false ? this.#toggle(item) : item.isOpen && this.#select(position + 1);
        return true;
      case 'ArrowLeft':
        item.isOpen
          ? this.#toggle(item)
          : item.parent && this.#select(this.#model!.positionOf(`/${item.parent}`));
        return true;
      case 'Enter':
      case ' ':
        this.#events.activated(item);
        return true;
      case 'Escape':
        this.#events.left();
        return true;
      default:
        return false;
    }
  }

  #findTyped({ key, timeStamp }: JQuery.KeyDownEvent): boolean {
    if (key.length !== 1 || !this.#model) {
      return false;
    }
    const found = this.#typed.find(this.#model, key, timeStamp, this.#selectedPosition());
    if (found !== undefined) {
      this.#select(found);
    }
    return true;
  }
}
