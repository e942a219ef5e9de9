// The elements of the rows in sight: they stand in the document in the order in which they are seen.
import { element } from '../shared/editor/panel.ts';
import type { Item, TreeModel } from './editor-model.ts';
import { RowView } from './editor-row.ts';

/** As many as a high window shows. */
const MAX_UNUSED = 100;

/** A gateway owns the group of its devices, which stands behind it. */
export class PlacedRows {
  readonly #space: HTMLElement;
  /** By the key of the item. */
  readonly #rows = new Map<string, RowView>();
  /** By gateway. */
  readonly #groups = new Map<string, HTMLElement>();
  /** Of rows that have gone out of sight: to fill one again costs less than to make one. */
  #unused: RowView[] = [];

  constructor(space: HTMLElement) {
    this.#space = space;
  }

  /** Undefined: it is not in sight. */
  elementOf(key: string): HTMLElement | undefined {
    return this.#rows.get(key)?.element;
  }

  /** @param sight the first and the last position @param selected its key */
  render(model: TreeModel | undefined, [first, last]: [number, number], selected: string): void {
    const items = new Map<number, Item>();
    for (let position = first; position <= Math.min(last, (model?.size ?? 0) - 1); position++) {
      const item = model?.at(position);
      if (item) {
        items.set(position, item);
      }
    }
    this.#dropOthers(new Set([...items.values()].map(({ key }) => key)));
    let previous: Element | null = null;
    for (const [position, item] of items) {
      const view = this.#rows.get(item.key) ?? this.#unused.pop() ?? new RowView();
      this.#rows.set(item.key, view);
      view.show(item, position, item.key === selected);
      previous = this.#place(view.element, item, model?.at(position - 1), previous);
    }
    this.#unused = this.#unused.slice(0, MAX_UNUSED);
    this.#linkGroups();
  }

  #dropOthers(kept: ReadonlySet<string>): void {
    for (const [key, view] of this.#rows) {
      if (!kept.has(key)) {
        view.element.remove();
        this.#rows.delete(key);
        this.#unused.push(view);
      }
    }
    for (const [gateway, group] of this.#groups) {
      if (group.childElementCount === 0) {
        group.remove();
        this.#groups.delete(gateway);
      }
    }
  }

  /** @param before the item of the row above @returns the last element of the space so far */
  #place(row: HTMLElement, item: Item, before: Item | undefined, previous: Element | null): Element {
    if (item.level === 1) {
      follow(this.#space, row, previous);
      return row;
    }
    const group = this.#groups.get(item.parent) ?? element('div', '').attr('role', 'group')[0]!;
    group.id ||= `mt-gateway-group-${item.parent}`;
    this.#groups.set(item.parent, group);
    if (previous !== group) {
      follow(this.#space, group, previous);
    }
    const above = before?.parent === item.parent ? this.elementOf(before.key) : undefined;
    follow(group, row, previous === group && above?.parentElement === group ? above : null);
    return group;
  }

  #linkGroups(): void {
    for (const { element: row } of this.#rows.values()) {
      const key = row.getAttribute('data-key') ?? '';
      const group = key.startsWith('/') ? this.#groups.get(key.slice(1)) : undefined;
      if (group) {
        row.setAttribute('aria-owns', group.id);
      } else {
        row.removeAttribute('aria-owns');
      }
    }
  }
}

/** Moves an element only where it is not right already: one that is moved flickers. */
function follow(parent: Element, child: Element, previous: Element | null): void {
  const next = previous ? previous.nextElementSibling : parent.firstElementChild;
  if (next !== child) {
    parent.insertBefore(child, next);
  }
}
