// What the editor calls a node: in the palette, at its ports and in the workspace.
import type { EditorNode } from './red.ts';

/** A text of the node's own catalogue. */
export const ownText = (key: string) =>
  function (this: EditorNode): string {
    return this._(key);
  };

const nameOf = (node: EditorNode): unknown => node.name;

/** The name that the user gave a node; else what it does with its settings. */
export const caption = (describe: (node: EditorNode) => string, givenName = nameOf) =>
  function (this: EditorNode): unknown {
    return givenName(this) || describe(this);
  };

/** A given name is in italics, as in the nodes of Node-RED itself. */
export const captionStyle = (givenName = nameOf) =>
  function (this: EditorNode): string {
    return givenName(this) ? 'node_label_italic' : '';
  };

/** A caption makes its node as wide as it is long. */
const MAX_TEXT_LENGTH = 32;

/** The beginning of a name, or of a value. */
export const textBriefly = (content: string): string =>
  content.length > MAX_TEXT_LENGTH ? `${content.slice(0, MAX_TEXT_LENGTH - 1)}…` : content;

/** Entries of a list that a caption names. */
const MAX_NAMED = 2;

/** The first entries of a list, and how many more there are. */
export function listBriefly(entries: readonly string[], nameOf = (entry: string): string => entry): string {
  const more = entries.length - MAX_NAMED;
  return entries.slice(0, MAX_NAMED).map(nameOf).join(', ') + (more > 0 ? ` +${more}` : '');
}
