// The identifier of a request: hex or name, turned into the form that is asked for.
import { invalidInput } from '../../errors.ts';
import type { Catalogue } from '../catalogue.ts';
import { isName } from '../identifier-text.ts';
import type { Form } from '../reports/index.ts';
import { isGiven, type RequestInput } from './request.ts';

export interface RequestedIdentifier {
  form: Form;
  /** Lowercase hex in raw form, lowercase name in decoded form. */
  identifier: string;
}

const MAX_LENGTH = 200;

/**
 * Reads `identifier` and `form`. `auto`: a well-formed hex identifier is raw, anything else a name.
 * @throws ServiceError `INVALID_INPUT`
 */
export function readIdentifier(input: RequestInput, catalogue: Catalogue): RequestedIdentifier {
  const text = readText(input.identifier);
  const isHex = catalogue.isHexId(text);
  const form = readForm(input.form) ?? (isHex ? 'raw' : 'decoded');
  if (!isHex && !isName(text)) {
    throw invalidInput('identifier', input.identifier, 'notIdentifier');
  }
  if (isHex === (form === 'raw')) {
    return { form, identifier: text };
  }
  const row = catalogue.find(text);
  const identifier = form === 'raw' ? row?.id : row?.name;
  if (!identifier) {
    throw invalidInput('identifier', input.identifier, form === 'raw' ? 'noHexId' : 'noName');
  }
  return { form, identifier };
}

function readText(identifier: unknown): string {
  if (!isGiven(identifier)) {
    throw invalidInput('identifier', identifier, 'missing');
  }
  if (typeof identifier !== 'string' || identifier.length > MAX_LENGTH) {
    throw invalidInput('identifier', identifier, 'notIdentifier');
  }
  return identifier.trim().toLowerCase();
}

/** Undefined: by the identifier itself. */
export function readForm(form: unknown): Form | undefined {
  if (!isGiven(form) || form === 'auto') {
    return undefined;
  }
  if (form !== 'raw' && form !== 'decoded') {
    throw invalidInput('form', form, 'notForm');
  }
  return form;
}
