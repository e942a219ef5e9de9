// Keeps what environment variables hold out of what the editor is told: not all who may look may also deploy.
import type { Node, NodeAPI } from 'node-red';
import { ServiceError, showAddress, spellingsOf, type TextValues } from '../../../src/index.ts';
import { asText, ENV_NAMES, hasEnv, LIST_SEPARATOR } from '../defaults.ts';
import { HiddenTexts } from './hidden-texts.ts';

type Properties = Record<string, unknown>;
/** What is not shown, and what is shown instead. */
type Replacement = [content: string, mark: string];

/** What is shorter stands in nearly every text, and is guessed soon (docs/security.md); in an address it is hidden with the whole host. */
const MIN_LENGTH = 3;
export const MAX_SHOWN_LENGTH = 80;
/** Characters of all contents, lists also in parts: each is looked for in some twenty spellings. Beyond it no text is shown. */
const MAX_CONTENTS_LENGTH = 100_000;
const UNKNOWN = '…';

/**
 * Placeholders that hold what was asked for: whoever asks for more and more of what a variable holds would see by a mark
 * when he is right.
 */
const ASKED: ReadonlySet<string> = new Set([
  ...['method', 'path', 'timeout', 'operation', 'gateway', 'device', 'identifier'],
]);
/** Those that hold what others have said, who may repeat it. */
const SAID: ReadonlySet<string> = new Set(['body', 'message']);

export interface HiddenVariables {
  /** The error with the variables in the place of what they hold; its `cause` has nothing but the field. */
  inError(this: void, error: unknown): unknown;
  /** The same of the placeholders of a text. */
  inValues(this: void, values: TextValues): TextValues;
}

interface Options {
  /** In the place of all that is hidden; undefined: what was typed. */
  mark?: string;
  /** False: for somebody who cannot read the variables by a flow of his own. */
  mayDeploy?: boolean;
}

/**
 * @param node whose environment fills the variables
 * @param typed the properties and credentials of a service before their variables are filled in
 */
export function hideVariables(
  RED: NodeAPI,
  node: Node,
  typed: Properties,
  { mark, mayDeploy = true }: Options = {},
): HiddenVariables {
  // Nearly always nothing goes wrong, and they need not be found.
  let contents: HiddenTexts | 'too many' | undefined;
  const inText = (text: string | number, isSaid = false): string | number => {
    contents ??= findContents(RED, node, typed, mark);
    if (contents === 'too many' || (isSaid && !mayDeploy && !contents.isEmpty)) {
      return mark ?? UNKNOWN;
    }
    return typeof text === 'string' ? contents.hide(text) : (contents.markOf(String(text)) ?? text);
  };
  // The path by which a label is attached is a setting.
  const isForeignPath = (name: string) => name === 'path' && hasEnv(asText(typed.attachPath ?? ''));
  const inValues = (values: TextValues): TextValues => {
    const field = asText(values.field ?? '');
    // What was asked for, and is wrong, is shown as it was: who asks could find out by it what variables hold.
    if (field !== '' && !Object.hasOwn(typed, field)) {
      return values;
    }
    const given = asText(typed[field] ?? '');
    const shown = Object.entries(values).map(([name, value]): [string, TextValues[string]] => {
      // The name of a property is none of what a variable holds.
      if (name === 'field' || (ASKED.has(name) && !isForeignPath(name))) {
        return [name, value];
      }
      if (name === 'value' && hasEnv(given)) {
        return [name, mark ?? typedText(field, given, value).slice(0, MAX_SHOWN_LENGTH)];
      }
      if (typeof value === 'object') {
        return [name, { key: value.key, values: inValues(value.values) }];
      }
      // It names no variable, and whoever typed it could find out by a mark in it what others hold.
      const isTyped = name === 'value' && field !== '';
      return [name, isTyped ? value : inText(value, SAID.has(name) || isForeignPath(name))];
    });
    return Object.fromEntries(shown);
  };
  return {
    inValues,
    inError(error) {
      if (!(error instanceof ServiceError)) {
        return new Error(`${inText(error instanceof Error ? error.message : asText(error))}`);
      }
      const { code, cause, text } = error;
      const field = cause.field === undefined ? {} : { field: cause.field };
      return new ServiceError(code, text.key.slice(code.length + 1), field, inValues(text.values));
    },
  };
}

/** A text that is one variable, with nothing in its name that parts addresses or passwords. */
export const isVariable = (text: string): boolean => /^\$\{[\p{L}\w.-]+\}$/u.test(text);

const isAddress = (property: string): boolean => property.endsWith('Url');

/** A login and a query may hold secrets that no variable does. @param value what the error shows: perhaps a variable alone */
function typedText(field: string, given: string, value: TextValues[string]): string {
  if (!isAddress(field)) {
    return given;
  }
  return typeof value === 'string' && isVariable(value) && given.includes(value)
    ? value
    : showAddress(given, '…@');
}

/** The last ones of each service: somebody may ask for what goes wrong again and again. */
const lastContents = new WeakMap<Node, { of: string; contents: HiddenTexts }>();

/** @returns `too many`: to look for all would take too long */
function findContents(
  RED: NodeAPI,
  node: Node,
  typed: Properties,
  mark: string | undefined,
): HiddenTexts | 'too many' {
  const marks = new Map<string, string>();
  let length = 0;
  for (const [content, typedText] of replacementsOf(RED, node, typed)) {
    length += marks.has(content) ? 0 : content.length;
    marks.set(content, marks.get(content) ?? mark ?? typedText);
  }
  if (length > MAX_CONTENTS_LENGTH) {
    return 'too many';
  }
  const of = JSON.stringify([...marks]);
  const last = lastContents.get(node);
  if (last?.of === of) {
    return last.contents;
  }
  const spelled = [...marks].flatMap(([content, shown]) =>
    spellingsOf(content).map((spelling): Replacement => [spelling, shown]),
  );
  const contents = new HiddenTexts(spelled);
  lastContents.set(node, { of, contents });
  return contents;
}

function replacementsOf(RED: NodeAPI, node: Node, typed: Properties): Replacement[] {
  return Object.entries(typed).flatMap(([property, value]) => {
    const text = asText(value ?? '');
    const variables = readVariables(RED, node, text);
    const found = [...variables].flatMap(([variable, held]) =>
      [held, ...held.split(LIST_SEPARATOR)]
        .map((part) => part.trim())
        .filter((part) => part.length >= MIN_LENGTH)
        .map((part): Replacement => [part, `\${${variable}}`]),
    );
    return isAddress(property) && variables.size > 0 ? [...found, ...hostsOf(text, variables)] : found;
  });
}

/** What each variable of a text holds; read once, however often it stands there. */
function readVariables(RED: NodeAPI, node: Node, text: string): Map<string, string> {
  const names = new Set(Array.from(text.matchAll(ENV_NAMES), ([, variable]) => variable ?? ''));
  return new Map(
    Array.from(names, (name) => [name, asText((RED.util.getSetting(node, name) as unknown) ?? '')]),
  );
}

/** The hosts of addresses in which a variable names the host, in the spelling that errors have. */
function hostsOf(text: string, variables: ReadonlyMap<string, string>): Replacement[] {
  const typed = text.slice(0, MAX_ADDRESSES_LENGTH);
  const filled = fillWithin(MAX_FILLED_LENGTH, typed, variables);
  const [before, after] = [typed.split(LIST_SEPARATOR), filled.split(LIST_SEPARATOR)];
  return after.flatMap((address, i) => {
    // A variable may hold a list.
    const mark = authorityOf((before.length === after.length ? before[i] : typed) ?? '');
    const url = address.includes('://') ? address.trim() : `mqtt://${address.trim()}`;
    if (!hasEnv(mark) || url.length > MAX_ADDRESS_LENGTH || !URL.canParse(url)) {
      return [];
    }
    const { host, hostname } = new URL(url);
    const bare = hostname.replace(/^\[(.*)\]$/, '$1');
    return [host, hostname, bare].filter((name) => name !== '').map((name): Replacement => [name, mark]);
  });
}

/** Longer addresses are none; whoever types may be hostile. */
const MAX_ADDRESS_LENGTH = 2_000;
/** What is typed behind this is no list of brokers. */
const MAX_ADDRESSES_LENGTH = 10_000;
/** Nor what variables bring behind this. */
const MAX_FILLED_LENGTH = 100_000;

/** What variables bring beyond the limit is left out: a text may name a long one many times. */
function fillWithin(limit: number, text: string, variables: ReadonlyMap<string, string>): string {
  let room = limit;
  return text.replace(ENV_NAMES, (_, variable: string) => {
    const held = (variables.get(variable) ?? '').slice(0, room);
    room -= held.length;
    return held;
  });
}

/** What stands between the scheme and the path, where each may be a variable. */
function authorityOf(address: string): string {
  const text = address.trim().slice(0, MAX_ADDRESS_LENGTH);
  const scheme = text.indexOf('://');
  const rest = scheme < 0 ? text : text.slice(scheme + 3);
  // A variable is taken whole or not at all: a second way to read it would make the time double with each.
  return /^(?:\$\{[^{}]+\}|(?!\$\{[^{}]+\})[^/?#])*/.exec(rest)?.[0].slice(0, MAX_SHOWN_LENGTH) ?? '';
}
