// Validators of the panels: true, or words that say what is wrong; a text with ${NAME} is never judged.
import { BROKER_SCHEMES, MAX_ADDRESSES_LENGTH, splitBrokers } from '../../../src/protocol/broker-list.ts';
import { readCustomIdentifiers } from '../../../src/protocol/custom-identifiers.ts';
import { findHeaderProblem } from '../../../src/protocol/http-headers.ts';
import { parseMac } from '../../../src/protocol/mac.ts';
import { hasBadPort } from '../../../src/protocol/port.ts';
import { hasLogin, showAddress } from '../../../src/protocol/redaction.ts';
import { hasControlCharacter } from '../../../src/protocol/text.ts';
import { fitsTopic } from '../../../src/protocol/topics.ts';
import { asText, hasEnv, readList } from '../defaults.ts';
import { errorText, field, refusalText, shows, text, withoutTags } from './panel.ts';
import type { EditorNode } from './red.ts';

type Verdict = boolean | string;

/** What the nodes add to an address: who copies one from a documentation has it, and it would be there twice. */
const API_PATH = /\/api\/v1(?:\/(?:auth\/login|devices|labels|jobs|firmware))?\/*$/i;

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

/** An address of the REST service; empty is fine. */
export function restAddress(setting: string) {
  return (value: unknown, _options: unknown): Verdict => {
    const given = String(value ?? '').trim();
    if (given === '' || hasEnv(given)) {
      return true;
    }
    const problem = lengthProblem(setting, given) ?? addressProblem(setting, given, ['https', 'http']);
    if (problem !== undefined) {
      return problem;
    }
    if (/[?#]/.test(given)) {
      return errorText(setting, 'notHttpUrl', { value: showAddress(given) });
    }
    return !API_PATH.test(new URL(given).pathname) || text('problem.apiPath');
  };
}

/** Addresses of brokers; empty is fine. */
export function brokers(value: unknown, _options: unknown): Verdict {
  const given = String(value ?? '');
  const tooLong = hasEnv(value) ? undefined : lengthProblem('brokerUrl', given);
  if (tooLong !== undefined) {
    return tooLong;
  }
  const list = splitBrokers(given);
  if (!list) {
    return hasEnv(value) || errorText('brokerUrl', 'tornQuery', {});
  }
  const problems = list.map((address) =>
    hasEnv(address as unknown) ? undefined : addressProblem('brokerUrl', address, BROKER_SCHEMES),
  );
  return problems.find((problem) => problem !== undefined) ?? true;
}

function lengthProblem(setting: string, given: string): string | undefined {
  return given.length > MAX_ADDRESSES_LENGTH
    ? errorText(setting, 'tooLong', { value: '…', limit: MAX_ADDRESSES_LENGTH })
    : undefined;
}

function addressProblem(setting: string, address: string, schemes: readonly string[]): string | undefined {
  const scheme = schemes.find((known) => address.toLowerCase().startsWith(`${known}://`));
  if (!scheme) {
    const expected = schemes.map((known) => `${known}://`).join(', ');
    return text('problem.scheme', { schemes: expected, address: showAddress(address, '…@') });
  }
  if (hasBadPort(address)) {
    return errorText(setting, 'badPort', { value: showAddress(address, '…@') });
  }
  if (!/^[^\s/?#]+/.test(address.slice(scheme.length + 3)) || !URL.canParse(address)) {
    return text('problem.host', { address: showAddress(address, '…@') });
  }
  return hasLogin(address)
    ? errorText(setting, 'secretInUrl', { value: showAddress(address, '…@') })
    : undefined;
}

/** The header that carries the token; an empty one is the default. */
export function authHeader(value: unknown, _options: unknown): Verdict {
  const given = String(value ?? '').trim();
  const problem = given === '' || hasEnv(given) ? undefined : findHeaderProblem(given);
  return problem ? errorText('authHeader', problem, { value: given }) : true;
}

/** The parameter that carries the page token; an empty one is the default. */
export function pageParameter(value: unknown, _options: unknown): Verdict {
  const given = String(value ?? '').trim();
  return given !== 'MaxResults' || errorText('pageTokenParam', 'ownParameter', { value: given });
}

/** The path that attaches labels; an empty one: there is none. What else is wrong with a path, the runtime says. */
export function attachPath(value: unknown, _options: unknown): Verdict {
  const given = String(value ?? '').trim();
  const isFine = given === '' || given.includes('{device}') || hasEnv(given);
  return isFine || errorText('attachPath', 'missingPart', { value: given, part: '{device}' });
}

/** A typed field: what its type asks for, and `check` for a fixed text, which may be empty unless `isNeeded`. */
export function typed(
  name: string,
  check?: (value: string) => Verdict,
  isNeeded: (node: EditorNode) => boolean = () => false,
) {
  return function (this: EditorNode, value: unknown, _options: unknown): Verdict {
    const type = (shows(this, name) ? field(`${name}Type`).val() : this[`${name}Type`]) ?? 'msg';
    if (value === undefined || value === null || hasEnv(value)) {
      return true;
    }
    const given = asText(value);
    if (type === 'str' && given.trim() === '') {
      return !isNeeded(this) || errorText(name, 'missing', {});
    }
    if (type === 'str') {
      return check ? check(given.trim()) : true;
    }
    if (type === 'msg' && isFixedValue(name, given)) {
      return text('problem.fixedInMessage', { value: given });
    }
    return given === '' && (type === 'json' || type === 'num')
      ? true
      : inOurWords(RED.utils.validateTypedProperty(given, String(type), {}), String(type));
  };
}

/**
 * An address, a version or a range of them, a number, a path, hex: typed over the name of a property, it would be one that no
 * message has.
 */
const isFixedValue = (name: string, given: string): boolean =>
  /^(-?\d|[<>=^~/*]|(true|false)$)/.test(given) ||
  parseMac(given) !== undefined ||
  (name === 'firmware' && /^v\d+(\.\d+)+$/.test(given)) ||
  // `add1` and `e164` are names, too.
  (HEX_FIELDS.has(name) && /^(?=(.*\d){3})([0-9a-f]{2}){3,}$/i.test(given));

/** Where hex may be given. */
const HEX_FIELDS: ReadonlySet<string> = new Set(['identifier', 'extenderId', 'publicKey']);

/** The editor's own words tell what its parser expected, in the words of that parser. */
function inOurWords(verdict: Verdict, type: string): Verdict {
  const problem = { json: 'json', num: 'number', msg: 'path', flow: 'path', global: 'path' }[type];
  if (verdict !== true && problem !== undefined) {
    return text(`problem.${problem}`);
  }
  return typeof verdict === 'string' ? withoutTags(verdict) : verdict;
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

/** A MAC address, or the hex id that an extender may have in its place. */
export const extender = (value: string): Verdict => (parseMac(value) ? true : hexBytes(value));

/** A list whose entries each pass. */
export function each(check: (value: string) => Verdict) {
  return (value: unknown, _options: unknown): Verdict => {
    for (const entry of readList(value ?? []).map((one) => one.trim())) {
      const verdict = hasEnv(entry) ? true : check(entry);
      if (verdict !== true) {
        return `${withoutTags(entry)}: ${verdict}`;
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

const jsonList = json('array');

/** The user's own catalogue entries: each as the catalogue takes it. */
export function ownProperties(value: unknown, options: unknown): Verdict {
  const verdict = jsonList(value, options);
  if (verdict !== true || hasEnv(asText(value))) {
    return verdict;
  }
  try {
    readCustomIdentifiers(value);
    return true;
  } catch (refusal) {
    return refusalText('identifiers', refusal);
  }
}
