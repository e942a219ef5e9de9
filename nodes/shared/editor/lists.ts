// The lists of a panel, which are no inputs that the editor saves by itself: what was not touched is saved as it was.
import { readList } from '../defaults.ts';
import type { EditorNode } from './red.ts';
import { type TagListOptions, tagList } from './tags.ts';

/** By the names of their settings: each reads what the panel shows. */
export type Lists<Name extends string> = Record<Name, () => string[]>;

/** Builds tag lists, each in the element `mt-gateway-<name>`. */
export function tagLists<Name extends string>(
  node: EditorNode,
  rows: Record<Name, Omit<TagListOptions, 'saved' | 'label' | 'onChange'>>,
  onChange: () => void = () => undefined,
): Lists<Name> {
  const lists = Object.entries<Omit<TagListOptions, 'saved' | 'label' | 'onChange'>>(rows).map(
    ([name, row]) => {
      const saved = readList(node[name] ?? []);
      const label = `mt-gateway-label-${name}`;
      return [name, tagList($(`#mt-gateway-${name}`), { ...row, saved, label, onChange })];
    },
  );
  return Object.fromEntries(lists);
}

/** Call it as soon as the lists show what is saved. @returns reads what the node is to have of them */
export function rememberLists<Name extends string>(
  node: EditorNode,
  lists: Lists<Name>,
): () => Record<Name, unknown> {
  const all = Object.entries<() => string[]>(lists);
  const first = new Map(all.map(([name, read]) => [name, JSON.stringify(read())]));
  return () => {
    const values = all.map(([name, read]) => {
      const list = read();
      return [name, JSON.stringify(list) === first.get(name) ? node[name] : list];
    });
    return Object.fromEntries(values);
  };
}
