// The kinds of reports as checkboxes, each with a line that explains it; none ticked means all.
import type { Access } from '../../src/protocol/identifiers.ts';
import { KIND_NAMES, KINDS } from '../../src/protocol/reports/index.ts';
import { readList } from '../shared/defaults.ts';
import { element } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';

const CHOICES: readonly string[] = [...KIND_NAMES, 'other'];

/** Kinds that come with an identifier, and so in a raw and a decoded form. */
export const KINDS_WITH_FORM: readonly string[] = [
  ...KIND_NAMES.filter((kind) => KINDS[kind].identified),
  'other',
];

/** Kinds whose value the catalogue can decode. */
export const KINDS_WITH_VALUE: readonly string[] = KIND_NAMES.filter((kind) => KINDS[kind].hasValue);

/** How the catalogue says that a property comes with one of these kinds. Unknown kinds bring anything. */
export function accessOfKinds(kinds: readonly string[]): readonly Access[] {
  const known = kinds.filter((kind) => KINDS_WITH_FORM.includes(kind) && kind !== 'other');
  const isOpen = known.length === 0 || kinds.some((kind) => !KIND_NAMES.some((name) => name === kind));
  return isOpen
    ? ['report', 'event']
    : [...new Set(known.map((kind): Access => (kind === 'event' ? 'event' : 'report')))];
}

export const isKind = (kind: string | undefined): boolean => kind !== undefined && CHOICES.includes(kind);

/** A kind that is not known, or a variable, has no name but itself. */
export const nameOfKind = (node: EditorNode, kind: string): string =>
  isKind(kind) ? node._(`kind.${kind}`) : kind;

/** Builds the checkboxes. A saved kind that is not known stays, as a checkbox of its own. @returns reads them */
export function kindBoxes(container: JQuery, node: EditorNode, onChange: () => void): () => string[] {
  const saved = readList(node.kinds ?? []);
  const unknown = saved.filter((kind) => !CHOICES.includes(kind));
  container
    .addClass('mt-gateway-kinds')
    .attr({ role: 'group', 'aria-labelledby': 'mt-gateway-label-kinds' })
    .empty();
  const all = kindBox(container, 'all', node._('kind.all'), node._('explain.all'));
  const boxes = [...CHOICES, ...unknown].map((kind) => {
    const known = !unknown.includes(kind);
    return kindBox(container, kind, nameOfKind(node, kind), known ? node._(`explain.${kind}`) : '');
  });
  const chosen = () => boxes.filter((one) => one.prop('checked')).map((one) => String(one.val()));
  for (const one of boxes) {
    one.prop('checked', saved.includes(String(one.val())));
    one.on('change', () => {
      all.prop('checked', chosen().length === 0);
      onChange();
    });
  }
  all.prop('checked', saved.length === 0).on('change', () => {
    for (const one of boxes) {
      one.prop('checked', false);
    }
    all.prop('checked', true);
    onChange();
  });
  return chosen;
}

function kindBox(container: JQuery, kind: string, name: string, explanation: string): JQuery {
  const line = element('label', 'mt-gateway-kind').attr('title', explanation).appendTo(container);
  const input = $('<input type="checkbox">').val(kind).attr('id', `mt-gateway-kind-${kind}`).appendTo(line);
  const words = element('span', '', name).appendTo(line);
  element('small', '', explanation).appendTo(words);
  return input;
}
