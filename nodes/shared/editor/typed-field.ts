// Typed fields of the panels: a TypedInput whose fixed text has a picker, and a button that opens it at once.
import type { Access } from '../../../src/protocol/identifiers.ts';
import { hasEnv, type Pair, readPair, SOURCE_TYPES } from '../defaults.ts';
import { element, field, hintBelow, NODE_INPUT, text } from './panel.ts';
import { attachPicker, type Found } from './picker.ts';
import type { EditorNode } from './red.ts';
import { addShowButton } from './show-device.ts';
import {
  describeDevice,
  searchGateways,
  searchHeardDevices,
  searchIdentifiers,
  searchLabels,
  searchListed,
} from './sources.ts';

const PICKERS = {
  gateway: { icon: 'fa fa-wifi', search: searchGateways },
  device: { icon: 'fa fa-microchip', search: searchHeardDevices },
  listed: { icon: 'fa fa-microchip', search: searchListed },
  identifier: { icon: 'fa fa-tachometer', search: searchIdentifiers },
  label: { icon: 'fa fa-tag', search: searchLabels },
} as const satisfies Record<
  string,
  { icon: string; search(query: string, access?: readonly Access[]): Promise<Found> }
>;

export type PickerKind = keyof typeof PICKERS;

type TypeRow = string | { value: string; [option: string]: unknown };

export interface TypedOptions {
  pick?: PickerKind;
  /** Types besides msg, flow, global, env and jsonata; the first is the fixed text. */
  types?: readonly TypeRow[];
  /** Types that are offered besides the fixed text. */
  more?: readonly TypeRow[];
  /** What is done with the identifier that is picked. */
  access?: readonly Access[];
  /** The node refuses an empty text. Elsewhere one has a meaning of its own, and never takes the place of another text. */
  isNeeded?: boolean;
}

/** Turns the inputs of a panel into typed fields; the table's keys are the properties. */
export function typedFields(
  node: EditorNode,
  table: Record<string, TypedOptions>,
  shown: Record<string, unknown> = node,
): void {
  for (const [name, options] of Object.entries(table)) {
    typedField(node, name, options, shown);
  }
}

/** Turns one input into a typed field that is saved as `name` and `nameType`. */
export function typedField(
  node: EditorNode,
  name: string,
  options: TypedOptions,
  shown: Record<string, unknown> = node,
): void {
  const input = field(name);
  const [value, type] = shownPair(node, name, shown);
  const typeField = $('<input type="hidden">')
    .attr({ id: `${NODE_INPUT}-${name}Type`, 'data-node': node.id })
    .val(type);
  labelled(input, name);
  input.after(typeField);
  const fixed = [
    ...(options.types ?? [options.pick ? pickedType(options.pick) : 'str']),
    ...(options.more ?? []),
  ];
  const types = [...fixed, ...SOURCE_TYPES].map((row) => (row === 'bool' ? boolType(value) : row));
  // A saved type that the menu does not offer stays in it for this node.
  const isOffered = types.some((row) => (typeof row === 'string' ? row : row.value) === type);
  input.typedInput({ types: (isOffered ? types : [...types, type]) as never, typeField: typeField as never });
  input.typedInput('type', type);
  input.typedInput('value', value);
  keepApart(input, node._def.defaults, name, options.isNeeded === true);
  if (options.pick) {
    const { validate } = node._def.defaults[name] ?? {};
    addPicker(input, options.pick, options.access, (typed) => validate?.call(node, typed, {}) ?? true);
  }
}

const SOURCES = new Set<string>(SOURCE_TYPES);

/** A word that can stand for a property of the message; what follows is its path. */
const PROPERTY = /^[\p{L}_$][\p{L}\p{N}_$]*(?![^.[])/u;

/** The TypedInput takes its text along into another type: the name of a property is no value, and most values are no name. */
function keepApart(
  input: JQuery,
  defaults: EditorNode['_def']['defaults'],
  name: string,
  isNeeded: boolean,
): void {
  const property = defaults[`${name}Type`]?.value === 'msg' ? String(defaults[name]?.value) : '';
  let type = String(input.typedInput('type'));
  let fixed = '';
  input.on('change', () => {
    const [before, value] = [type, String(input.typedInput('value'))];
    type = String(input.typedInput('type'));
    if (property === '' || before === type) {
      return;
    }
    if (type === 'msg') {
      if (!hasEnv(value) && !PROPERTY.test(value)) {
        fixed = value;
        input.typedInput('value', property);
      }
    } else if (value === property && !SOURCES.has(type)) {
      if (fixed !== '' || isNeeded) {
        input.typedInput('value', fixed);
      } else {
        // What is typed next takes its place; `select` would take the focus, too.
        visibleInput(input)[0]?.setSelectionRange(0, value.length);
      }
    }
  });
}

const containerOf = (input: JQuery): JQuery => input.nextAll('.red-ui-typedInput-container').first();

const visibleInput = (input: JQuery): JQuery<HTMLInputElement> =>
  containerOf(input).find('.red-ui-typedInput-input');

/** What the runtime makes of the saved pair, so that both mean the same by what is missing. */
function shownPair(node: EditorNode, name: string, shown: Record<string, unknown>): Pair {
  const { defaults } = node._def;
  const fallback = [defaults[name]?.value, defaults[`${name}Type`]?.value] as Pair;
  return readPair(shown[name], shown[`${name}Type`], fallback);
}

/** The menu of a truth value has a third choice while a variable decides. */
export function boolType(saved: string): TypeRow {
  return hasEnv(saved) ? { value: 'bool', label: 'boolean', options: ['true', 'false', saved] } : 'bool';
}

function pickedType(pick: PickerKind): TypeRow {
  return { value: 'str', label: text(`type.${pick}`), icon: PICKERS[pick].icon };
}

/** The visible input of a TypedInput is not the labelled one. */
function labelled(input: JQuery, name: string): void {
  const label = input.closest('.form-row').children('label').first().attr('id', `mt-gateway-label-${name}`);
  input.attr('aria-labelledby', label.attr('id') ?? '');
}

function addPicker(
  input: JQuery,
  pick: PickerKind,
  access: TypedOptions['access'],
  check: (typed: string) => boolean | string,
): void {
  const container = containerOf(input);
  let before: { type: string; value: string } | undefined;
  const search: (query: string, access?: readonly Access[]) => Promise<Found> = PICKERS[pick].search;
  const picker = attachPicker(visibleInput(input), {
    search: async (query) => (hasEnv(query) ? { choices: [], isComplete: true } : search(query, access)),
    check,
    active: () => input.typedInput('type') === 'str',
    onLeave: () => {
      if (before && input.typedInput('value') === '') {
        input.typedInput('type', before.type);
        input.typedInput('value', before.value);
      }
      before = undefined;
    },
  });
  const button = element('button', 'red-ui-button mt-gateway-pick')
    .attr({ type: 'button', title: text(`pick.${pick}`), 'aria-label': text(`pick.${pick}`) })
    .append('<i class="fa fa-search" aria-hidden="true"></i>')
    .on('mousedown', (event) => event.preventDefault())
    .on('click', () => {
      const type = String(input.typedInput('type'));
      if (type !== 'str') {
        before = { type, value: String(input.typedInput('value')) };
        input.typedInput('type', 'str');
        input.typedInput('value', '');
      }
      picker.toggle();
    })
    .insertAfter(container);
  if (pick === 'device' || pick === 'listed') {
    addShowButton(input, button);
  }
  if (pick === 'gateway' || pick === 'device' || pick === 'listed') {
    showNameBelow(input);
  }
}

/** Shows the device's name under a field with a MAC address. */
function showNameBelow(input: JQuery): void {
  let newestSearch = 0;
  const show = async () => {
    const ownSearch = ++newestSearch;
    const fixed = input.typedInput('type') === 'str' ? String(input.typedInput('value')) : '';
    const words = fixed === '' ? '' : await describeDevice(fixed);
    if (ownSearch === newestSearch) {
      hintBelow(input, words);
    }
  };
  input.on('change', () => void show());
  field('service').on('change', () => void show());
}
