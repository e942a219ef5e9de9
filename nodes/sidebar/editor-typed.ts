// Typed letters go to the next row of the tree whose name begins with them, as in lists of the system.
import type { TreeModel } from './editor-model.ts';

/** Keys that follow each other within this time are one word. */
const TYPING_MS = 700;
/** Rows that are looked through for what is typed. */
const MAX_TYPED_ROWS = 2_000;

export class TypedSearch {
  #typed = { text: '', at: 0 };

  /**
   * @param at when the key was pressed, in milliseconds
   * @param selected position of the selected row
   * @returns the position of a row that is known; undefined: none is found
   */
  find(model: TreeModel, letter: string, at: number, selected: number): number | undefined {
    const isGoingOn = at - this.#typed.at < TYPING_MS;
    this.#typed = { text: (isGoingOn ? this.#typed.text : '') + letter.toLowerCase(), at };
    const size = model.size ?? 0;
    const from = Math.max(0, selected) + (isGoingOn ? 0 : 1);
    for (let step = 0; step < Math.min(size, MAX_TYPED_ROWS); step++) {
      const position = (from + step) % size;
      if (model.at(position)?.row?.name.toLowerCase().startsWith(this.#typed.text)) {
        return position;
      }
    }
    return undefined;
  }
}
