// Validators of the panels: true, or words that say what is wrong; a text with ${NAME} is never judged.
import { parseMac } from '../../../src/protocol/mac.ts';
import { hasControlCharacter } from '../../../src/protocol/text.ts';
import { fitsTopic } from '../../../src/protocol/topics.ts';
import { asText, hasEnv, readList } from '../defaults.ts';
import { NODE_INPUT, text } from './panel.ts';
import type { EditorNode } from './red.ts';

type Verdict = boolean | string;

interface Range {
  min?: number;
  max?: number;
  /** An empty field is fine. */
  blank?: boolean;
}

/** A whole number within a range. */
export function wholeNumber({ min = 0, max = Number.MAX_SAFE_INTEGER, blank = false }: Range) {
  return (value: unknown, _options: unknown): Verdict => {
    const given = String(value ?? '').trim();
    if (value === undefined || hasEnv(given) || (given === '' && blank)) {
      return true;
    }
    const number = Number(given);
    if (given === '' || !Number.isInteger(number)) {
      return text('problem.wholeNumber');
    }
    if (number >= min && number <= max) {
      return true;
    }
    return max === Number.MAX_SAFE_INTEGER
      ? text('problem.atLeast', { min })
      : text('problem.range', { min, max });
  };
}

/**
 * One address, or several separated by commas or line ends, with one of the schemes; empty is fine.
 * @param implied the scheme of an address that has none
 */
export function addresses(schemes: readonly string[], several = false, implied?: string) {
  return (value: unknown, _options: unknown): Verdict => {
    const given = String(value ?? '').trim();
    const parts = (several ? given.split(/[\s,]+/) : [given]).filter((part) => part !== '');
    return (
      parts
        .map((part) => (implied === undefined || part.includes('://') ? part : `${implied}://${part}`))
        .map((part) => addressProblem(part, schemes))
        .find((problem) => problem !== undefined) ?? true
    );
  };
}

function addressProblem(address: string, schemes: readonly string[]): string | undefined {
  if (hasEnv(address as unknown)) {
    return undefined;
  }
  const scheme = schemes.find((known) => address.toLowerCase().startsWith(`${known}://`));
  if (!scheme) {
    return text('problem.scheme', { schemes: schemes.map((known) => `${known}://`).join(', '), address });
  }
  return /^[^\s/?#]+/.test(address.slice(scheme.length + 3)) && URL.canParse(address)
    ? undefined
    : text('problem.host', { address });
}

/** A typed field: what its type asks for, and `check` for a fixed text. */
export function typed(name: string, check?: (value: string) => Verdict) {
  return function (this: EditorNode, value: unknown, _options: unknown): Verdict {
    const type = openType(this, name) ?? this[`${name}Type`] ?? 'msg';
    if (value === undefined || value === null || hasEnv(value)) {
      return true;
    }
    const given = asText(value);
    if (type === 'str') {
      return check && given.trim() !== '' ? check(given.trim()) : true;
    }
    return given === '' && (type === 'json' || type === 'num')
      ? true
      : RED.utils.validateTypedProperty(given, String(type), {});
  };
}

/** The type that an open panel shows, which is newer than the saved one. */
function openType(node: EditorNode, name: string): string | undefined {
  const open = $(`#${NODE_INPUT}-${name}Type[data-node="${node.id}"]`);
  return open.length > 0 ? String(open.val()) : undefined;
}

/** The beginning of every topic: no wildcards, nothing with which brokers end the connection. */
export const topicPart = (value: unknown): Verdict =>
  hasEnv(value) || fitsTopic(String(value ?? '')) ? true : text('problem.wildcard');

/** The name of a shared group: one level of a topic. */
export const sharedGroup = (value: unknown): Verdict =>
  hasEnv(value) || (fitsTopic(String(value ?? '')) && !String(value ?? '').includes('/'))
    ? true
    : text('problem.group');

/** A MAC address or a REST id made of one. */
export const mac = (value: string): Verdict => (parseMac(value) ? true : text('problem.mac'));

/** Any REST id: their form is the service's choice. */
export const device = (value: string): Verdict =>
  value === '.' || value === '..' || hasControlCharacter(value) ? text('problem.device') : true;

/** A hex string of whole bytes. */
export const hexBytes = (value: string): Verdict =>
  /^([0-9a-f]{2})*$/i.test(value) ? true : text('problem.hexBytes');

/** A list whose entries each pass. */
export function each(check: (value: string) => Verdict) {
  return (value: unknown, _options: unknown): Verdict => {
    for (const entry of readList(value ?? [])) {
      const verdict = hasEnv(entry) ? true : check(entry);
      if (verdict !== true) {
        return `${entry}: ${verdict}`;
      }
    }
    return true;
  };
}

/** JSON text of the wanted kind; empty is fine. */
export function json(kind: 'array' | 'object') {
  return (value: unknown, _options: unknown): Verdict => {
    if (typeof value !== 'string' || value.trim() === '' || hasEnv(value)) {
      return true;
    }
    try {
      const parsed: unknown = JSON.parse(value);
      const fits =
        Array.isArray(parsed) === (kind === 'array') && typeof parsed === 'object' && parsed !== null;
      return fits ? true : text(`problem.${kind}`);
    } catch {
      return text('problem.json');
    }
  };
}
