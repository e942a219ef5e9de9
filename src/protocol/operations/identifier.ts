// The identifier of a request: hex or name, turned into the form that is asked for.
import { invalidInput, type ServiceError } from '../../errors.ts';
import type { Catalogue } from '../catalogue.ts';
import { isName } from '../identifier-text.ts';
import type { Form } from '../reports/index.ts';
import { hintFor } from '../similar-name.ts';
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
  const text = readText(input.identifier, catalogue);
  const wrong = (reason: 'notIdentifier' | 'noHexId' | 'noName') =>
    invalidIdentifier('identifier', input.identifier, reason, catalogue);
  const isHex = catalogue.isHexId(text);
  const form = readForm(input.form) ?? (isHex ? 'raw' : 'decoded');
  if (!isHex && !isName(text)) {
    throw wrong('notIdentifier');
  }
  if (isHex === (form === 'raw')) {
    return { form, identifier: text };
  }
  const row = catalogue.find(text);
  const identifier = form === 'raw' ? row?.id : row?.builtInName || row?.name;
  if (!identifier) {
    throw wrong(form === 'raw' ? 'noHexId' : 'noName');
  }
  return { form, identifier };
}

/** `INVALID_INPUT` for an identifier, with the name that may be meant. */
export function invalidIdentifier(
  field: 'identifier' | 'identifiers',
  value: unknown,
  reason: 'notIdentifier' | 'noHexId' | 'noName',
  catalogue: Catalogue,
): ServiceError {
  const hint = typeof value === 'string' ? hintFor(value.trim(), catalogue) : '';
  return invalidInput(field, value, reason, { hint });
}

function readText(identifier: unknown, catalogue: Catalogue): string {
  if (!isGiven(identifier)) {
    throw invalidInput('identifier', identifier, 'missing');
  }
  if (typeof identifier !== 'string') {
    throw invalidInput('identifier', identifier, 'notText');
  }
  if (identifier.length > MAX_LENGTH) {
    throw invalidIdentifier('identifier', identifier, 'notIdentifier', catalogue);
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
