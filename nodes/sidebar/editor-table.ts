// A table whose rows are filled again and again: what has not changed is not touched.
import { element } from '../shared/editor/panel.ts';

export interface TableRow {
  key: string;
  /** Texts of the cells. */
  cells: readonly string[];
  title?: string;
}

export class LiveTable {
  readonly element: HTMLElement;
  readonly #heading: HTMLElement;
  readonly #body: HTMLElement;
  readonly #rows = new Map<string, HTMLElement>();

  /** @param classes of the cells @param draw adds what is no text to a row */
  constructor(
    heading: string,
    readonly classes: readonly string[],
    readonly draw: (row: HTMLElement, key: string) => void = () => undefined,
  ) {
    const section = element('div', 'mt-gateway-side-section');
    this.#heading = element('div', 'mt-gateway-side-heading', heading).attr('role', 'heading')[0]!;
    this.#heading.setAttribute('aria-level', '3');
    this.#body = element('div', 'mt-gateway-side-table').attr({ role: 'table', 'aria-label': heading })[0]!;
    section.append(this.#heading, this.#body);
    this.element = section[0]!;
  }

  get isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  show(rows: readonly TableRow[]): void {
    const kept = new Set(rows.map(({ key }) => key));
    for (const [key, row] of this.#rows) {
      if (!kept.has(key)) {
        row.remove();
        this.#rows.delete(key);
      }
    }
    for (const [place, { key, cells, title = '' }] of rows.entries()) {
      const row = this.#rows.get(key) ?? this.#newRow(key);
      for (const [index, content] of cells.entries()) {
        const cell = row.children[index]!;
        if (cell.textContent !== content) {
          cell.textContent = content;
        }
      }
      row.title = title;
      if (this.#body.children[place] !== row) {
        this.#body.insertBefore(row, this.#body.children[place] ?? null);
      }
      this.draw(row, key);
    }
    this.element.hidden = rows.length === 0;
  }

  #newRow(key: string): HTMLElement {
    const row = element('div', 'mt-gateway-side-row').attr('role', 'row')[0]!;
    for (const name of this.classes) {
      row.append(element('span', `mt-gateway-side-cell ${name}`).attr('role', 'cell')[0]!);
    }
    this.#rows.set(key, row);
    return row;
  }
}
