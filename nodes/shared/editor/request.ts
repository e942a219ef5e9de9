// What the read and the write panel have in common: the request's typed fields, and what is known of the identifier.
import type { Access, Identifier } from '../../../src/protocol/identifiers.ts';
import { ACCESS_TYPES, PRIORITY_NAMES } from '../../../src/protocol/operations/request.ts';
import { hintFor } from '../../../src/protocol/similar-name.ts';
import type { Field } from '../../../src/protocol/structures.ts';
import type { Limits } from '../../../src/protocol/values.ts';
import { hasEnv } from '../defaults.ts';
import { whenNew } from './new-node.ts';
import { field, hint, hintBelow, runOnChange, text } from './panel.ts';
import type { EditorNode } from './red.ts';
import { isTouched } from './saved.ts';
import { currentCatalogue, describeLast, meaningOf } from './sources.ts';
import { typedFields } from './typed-field.ts';

/** The request's parameters that are seldom needed. */
export const OPTIONAL_FIELDS = ['priority', 'extenderId', 'accessType', 'publicKey', 'key'] as const;

/** As they are saved, the highest first. */
const PRIORITIES = PRIORITY_NAMES.map((_name, number) => String(number)).reverse();

const choice = (key: string, values: readonly string[]) => ({
  value: 'str',
  label: text(`type.${key}`),
  options: values.map((value) => ({ value, label: text(`${key}.${value}`) })),
});

/**
 * Makes the typed fields of a request: where it goes, what it is about, and how it travels.
 * @param access what the request does with the identifier
 */
export function requestFields(node: EditorNode, access: readonly Access[]): void {
  typedFields(node, {
    gateway: { pick: 'gateway' },
    device: { pick: 'device' },
    identifier: { pick: 'identifier', access, isNeeded: true },
    priority: { types: fixedTypes(node, 'priority', PRIORITIES) },
    extenderId: { pick: 'device' },
    accessType: { types: fixedTypes(node, 'accessType', ACCESS_TYPES) },
    publicKey: {},
  });
  leaveGatewayOpen(node);
  showRoute(text('request.anyGateway'));
  askForProperty(node);
}

/** What a new node is for: the rest comes with the message. */
export function askForProperty(node: EditorNode): void {
  const identifier = field('identifier');
  const ask = () => identifier.nextAll('.mt-gateway-pick').trigger('click');
  let isChosen = false;
  whenNew(node, identifier, () => {
    if (identifier.typedInput('type') === 'msg' || identifier.typedInput('value') === '') {
      ask();
    }
    // Whoever comes back to it means a property, and not the end of the name that the message would bring it by.
    const typed = identifier.next('.red-ui-typedInput-container');
    typed.on('mousedown', '.red-ui-typedInput-input', ({ button }) => {
      const comesWithMessage =
        identifier.typedInput('type') === 'msg' && identifier.typedInput('value') === 'identifier';
      if (button === 0 && comesWithMessage && !isChosen) {
        ask();
      }
    });
    // Whoever chooses the type means it.
    typed.on('mousedown keydown', '.red-ui-typedInput-type-select', () => {
      isChosen = true;
    });
  });
}

/** Says at the gateway what it means for a fixed device that there is none. */
export function showRoute(meaning: string): void {
  runOnChange(['gateway', 'gatewayType', 'device', 'deviceType', 'operation', 'service'], () => {
    // Below a fixed gateway stands its name.
    if (!isFixed('gateway')) {
      const isNeeded = field('operation').val() !== 'apiversion';
      hint('gateway', isNeeded && isFixed('device') ? meaning : '');
    }
  });
}

/**
 * Empties a gateway that would come with the message when somebody chooses the device: that of a message is often another
 * device's. When the device comes with the message again, so does the gateway.
 */
export function leaveGatewayOpen(node: EditorNode): void {
  const gateway = field('gateway');
  const holds = (type: string, value: string) =>
    gateway.typedInput('type') === type && gateway.typedInput('value') === value;
  const set = (type: string, value: string) => {
    gateway.typedInput('type', type);
    gateway.typedInput('value', value);
  };
  let wasEmptied = false;
  runOnChange(['device', 'deviceType'], () => {
    const comesWithMessage = field('deviceType').val() === 'msg' || field('device').val() === '';
    const isChosen = !comesWithMessage && isTouched(node, 'device');
    if (isChosen && !wasEmptied && !isTouched(node, 'gateway') && holds('msg', 'gateway')) {
      wasEmptied = true;
      set('str', '');
    } else if (!isChosen && wasEmptied && holds('str', '')) {
      wasEmptied = false;
      set('msg', 'gateway');
    }
  });
}

const isFixed = (name: string): boolean => field(`${name}Type`).val() === 'str' && field(name).val() !== '';

/** A drop-down with names; a saved text that is none of the choices stays. */
function fixedTypes(node: EditorNode, name: string, values: readonly string[]) {
  const saved = node[`${name}Type`] === 'str' ? String(node[name] ?? '') : '';
  const listed = saved === '' || values.includes(saved) ? values : [...values, saved];
  const row = choice(name, listed);
  row.options = listed.map((value) => ({
    value,
    label: values.includes(value) ? text(`${name}.${value}`) : value,
  }));
  return [row];
}

/** Whether an optional parameter of a saved node differs from what a new one has. */
export function optionalIsSet(node: EditorNode): boolean {
  const typedOnes = OPTIONAL_FIELDS.filter((name) => name !== 'key');
  const credentials = (node.credentials ?? {}) as Record<string, unknown>;
  return (
    typedOnes.some((name) => (node[`${name}Type`] ?? 'msg') !== 'msg') ||
    (node.form ?? 'auto') !== 'auto' ||
    (node.decode ?? true) !== true ||
    (node.timeout ?? '') !== '' ||
    credentials.has_key === true
  );
}

/** The catalogue's row of the identifier that the panel names; undefined when it is not fixed or not known. */
export function shownIdentifier(): Identifier | undefined {
  const value = String(field('identifier').val() ?? '').trim();
  return field('identifierType').val() === 'str' && value !== '' && !hasEnv(value)
    ? currentCatalogue().find(value)
    : undefined;
}

/** Type, unit and id of an identifier, and what may be written, in words. */
export function describeIdentifier(identifier: Identifier, forWriting = false): string {
  const { id, type, unit, words, fields = [] } = identifier;
  const kind = words ? Object.values(words).join(', ') : text(`wire.${type}`);
  const accepted = fields.length > 0 ? fields.map(describeField).join(', ') : rangeOf(identifier);
  const parts = [kind, unit, forWriting ? accepted : '', id && text('identifier.hex', { id })];
  return parts.filter(Boolean).join(' · ');
}

function describeField(field: Field): string {
  const { name, type, unit, optional } = field;
  const remarks = [unit, optional && text('identifier.optional')].filter(Boolean).join(', ');
  return `${name}: ${rangeOf(field) || text(`wire.${type}`)}${remarks && ` (${remarks})`}`;
}

function rangeOf({ min, max, step, divisor = 1 }: Limits): string {
  if (min === undefined || max === undefined) {
    return '';
  }
  // A step of the wire itself is nothing that somebody could miss: what lies between is rounded.
  const isEvery = step === undefined || step === 1 / divisor;
  return isEvery ? text('identifier.range', { min, max }) : text('identifier.steps', { min, max, step });
}

function unknownWords(): string {
  const hint = hintFor(String(field('identifier').val()), currentCatalogue());
  return text('identifier.unknown') + (hint && ` ${text('identifier.similar', hint.values)}`);
}

/** Shows under the identifier what is known about it, and calls `then` with it whenever it changes. */
export function showIdentifier(then?: (identifier: Identifier | undefined) => void): void {
  const input = field('identifier');
  let newest = 0;
  const show = () => {
    const own = ++newest;
    const identifier = shownIdentifier();
    const named = field('identifierType').val() === 'str' && field('identifier').val() !== '';
    const unknown = named && !hasEnv(field('identifier').val()) ? unknownWords() : '';
    const meaning = identifier && (meaningOf(identifier) || identifier.name);
    const known = identifier && [meaning, describeIdentifier(identifier, then !== undefined)];
    const words = known ? known.filter(Boolean).join(' · ') : unknown;
    hintBelow(input, words);
    if (identifier) {
      void describeLast(identifier).then((last) => {
        if (last !== '' && own === newest) {
          hintBelow(input, `${words} · ${last}`);
        }
      });
    }
    return identifier;
  };
  runOnChange(['identifier', 'identifierType', 'service'], () => {
    const identifier = show();
    then?.(identifier);
  });
  field('gateway').add(field('device')).on('change', show);
}
