// What is saved and what a panel shows of it: a value that was not changed is saved as it was, whatever it is.
import { asText, hasEnv, readFlag } from '../defaults.ts';
import { neverHadService, noteService } from './new-node.ts';
import { currentValue, endPanel, field, hint, NODE_INPUT, text } from './panel.ts';
import type { EditorNode } from './red.ts';

/** Of the editor: that none is chosen. */
const NONE = '_ADD_';
const isSome = (id: unknown): boolean => id !== NONE && id !== '' && id !== undefined && id !== null;

/** What an input showed when its panel was opened. */
const SHOWN_DATA = 'mt-gateway-shown';

/**
 * Shows every property that has an input of its own: the default of one that is missing, JSON for what is no text,
 * and in a select also a saved word that is none of its options, such as `${NAME}`.
 * @param shown the properties to show, where the panel shows them otherwise than they are saved
 */
export function showSaved(
  node: EditorNode,
  prefix = NODE_INPUT,
  shown: Record<string, unknown> = node,
): void {
  for (const [name, { value, type }] of Object.entries(node._def.defaults)) {
    const input = field(name, prefix);
    // A reference to a config node: the editor itself shows it.
    if (type !== undefined) {
      showReference(input, node[name]);
      chooseNoneForDeleted(input);
    } else if (!isTyped(node, name)) {
      showValue(input, name, shown[name] ?? value, prefix);
    }
  }
  if ('service' in node._def.defaults) {
    // The choice that is made here counts as the user's.
    remember(field('service'));
    chooseOnlyService(node);
  }
}

const isTyped = (node: EditorNode, name: string): boolean => `${name}Type` in node._def.defaults;

function showValue(input: JQuery, name: string, saved: unknown, prefix: string): void {
  if (input.is(':checkbox')) {
    showFlag(input, name, saved, prefix);
  } else if (input.is('select')) {
    showChoice(input, asText(saved));
  } else {
    input.val(asText(saved));
  }
}

/** An indeterminate checkbox: the variable decides, until the user clicks it. */
function showFlag(input: JQuery, name: string, saved: unknown, prefix: string): void {
  const isOpen = hasEnv(saved);
  input.prop({ checked: readFlag(saved, false), indeterminate: isOpen });
  if (isOpen) {
    hint(name, text('saved.flag', { value: saved }), prefix);
    // Not the change, which the editor triggers for every input when the panel is complete.
    input.on('click', () => hint(name, '', prefix));
  }
}

/** A service that comes from a variable is no option of the editor's. */
function showReference(select: JQuery, saved: unknown): void {
  if (hasEnv(saved)) {
    showChoice(select, saved);
  }
}

function showChoice(select: JQuery, saved: string): void {
  const known = select.find('option').filter((_, option) => $(option).val() === saved);
  if (known.length === 0) {
    $(document.createElement('option')).text(saved).attr('value', saved).appendTo(select);
  }
  select.val(saved);
}

/** A node that never had a service takes the only one there is; one that has lost its own may be of another building. */
function chooseOnlyService(node: EditorNode): void {
  const services = field('service')
    .find('option')
    .map((_, option) => String($(option).val()))
    .get();
  const [only, ...others] = services.filter(isSome);
  if (node.service) {
    noteService(node);
  }
  if (neverHadService(node) && only !== undefined && others.length === 0) {
    field('service').val(only).trigger('change');
  }
}

/** Where the chosen config node is deleted from this panel, the editor shows the first of the others, such as another building's. */
function chooseNoneForDeleted(select: JQuery): void {
  const isThere = (id: unknown) => select.find('option').filter((_, one) => $(one).val() === id).length > 0;
  if (!isThere(NONE)) {
    return;
  }
  let chosen = select.val();
  select.on('change', () => {
    // One that is added is selected by the editor itself, and the reference that was shown before is gone.
    if (chosen && !isThere(chosen) && select.find('option[selected]').length === 0) {
      chosen = NONE;
      select.val(NONE).trigger('change');
    }
    chosen = select.val();
  });
}

/** Remembers what the panel shows now, when it is complete: what differs from it later was touched. */
export function rememberShown(node: EditorNode, prefix = NODE_INPUT): void {
  for (const name of inputsOf(node)) {
    const input = field(name, prefix);
    input.data(SHOWN_DATA) === undefined && remember(input);
  }
}

/** A credential that nobody entered counts as changed, too, when the editor finds its input. */
const inputsOf = ({ _def: { defaults, credentials = {} } }: EditorNode): string[] =>
  Object.keys({ ...defaults, ...credentials });

const remember = (input: JQuery): void => void input.data(SHOWN_DATA, stateOf(input));

const stateOf = (input: JQuery): string =>
  JSON.stringify([currentValue(input), input.prop('indeterminate') === true]);

/** Whether the user has changed a property; the two halves of a typed field are one. */
export function isTouched(node: EditorNode, name: string, prefix = NODE_INPUT): boolean {
  const pair = isTyped(node, name) ? [name, `${name}Type`] : [name, name.replace(/Type$/, '')];
  return pair.some((part) => {
    const input = field(part, prefix);
    const before: unknown = input.data(SHOWN_DATA);
    return before !== undefined && before !== stateOf(input);
  });
}

/** Call it in oneditsave: the editor then reads no input that was not touched, because it does not find it. */
export function saveTouched(node: EditorNode, prefix = NODE_INPUT): void {
  if ('service' in node._def.defaults && isSome(field('service').val())) {
    noteService(node);
  }
  const names = inputsOf(node);
  const untouched = names.filter((name) => !isTouched(node, name, prefix));
  for (const name of names) {
    endPanel(field(name, prefix));
  }
  for (const name of untouched) {
    field(name, prefix).removeAttr('id');
  }
  // What is judged from now on is the saved node: a neighbour is found in the panel no more.
  $(`input[data-node="${node.id}"], [data-mt-service="${node.id}"]`).removeAttr('data-node data-mt-service');
}

/** The properties that have an input, as they would be saved now. */
export function currentSettings(node: EditorNode, prefix = NODE_INPUT): Record<string, unknown> {
  const names = Object.keys(node._def.defaults).filter((name) =>
    document.getElementById(`${prefix}-${name}`),
  );
  return Object.fromEntries(
    names.map((name) => [
      name,
      isTouched(node, name, prefix) ? currentValue(field(name, prefix)) : node[name],
    ]),
  );
}
