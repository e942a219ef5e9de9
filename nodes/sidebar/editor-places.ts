// Where the elements of rows stand in the document: in the order in which they are seen.
import type { Item, TreeModel } from './editor-model.ts';
import type { RowView } from './editor-row.ts';

/** Moves an element only where it is not right already: one that is moved flickers. */
export function follow(parent: Element, child: Element, previous: Element | null): void {
  const next = previous ? previous.nextElementSibling : parent.firstElementChild;
  if (next !== child) {
    parent.insertBefore(child, next);
  }
}

/** The row of the same group that was placed before this one. */
export function lastPlaced(
  group: Element,
  { parent }: Item,
  model: TreeModel | undefined,
  rows: ReadonlyMap<string, RowView>,
  position: number,
): Element | null {
  const before = model?.at(position - 1);
  const view = before?.parent === parent ? rows.get(before.key)?.element : undefined;
  return view?.parentElement === group ? view : null;
}
