// write and write-decoded: sets a property of a device, or gives a command.
import { invalidInput } from '../../errors.ts';
import type { Catalogue } from '../catalogue.ts';
import { isHexBytes } from '../hex.ts';
import { copyJson, isJsonObject } from '../json.ts';
import { readIdentifier } from './identifier.ts';
import {
  type BuiltRequest,
  DEFAULT_PRIORITY,
  isGiven,
  type RequestInput,
  readAddress,
  readOptions,
} from './request.ts';

const OPERATIONS = { raw: 'write', decoded: 'write-decoded' } as const;

export function buildWrite(input: RequestInput, catalogue: Catalogue): BuiltRequest {
  const { gateway, device } = readAddress(input);
  const { form, identifier } = readIdentifier(input, catalogue);
  const content = form === 'raw' ? rawContent(input, identifier, catalogue) : decodedContent(input);
  const options = readOptions(input, 'upper');
  const operation = OPERATIONS[form];
  return {
    gateway,
    device,
    operation,
    identifier,
    suffix: `${operation}/${identifier}`,
    payload: { ...content, ...options },
    priority: (options.priority ?? DEFAULT_PRIORITY) as BuiltRequest['priority'],
  };
}

/** A hex string goes out as it is; anything else is encoded. Without a value a NULL is written (rule 2). */
function rawContent(input: RequestInput, identifier: string, catalogue: Catalogue): Record<string, unknown> {
  const { value } = input;
  const ext = readExt(input.ext);
  const isHex = isHexBytes(value);
  if (isGiven(value) && !isHex) {
    return { value: catalogue.encode(identifier, copyJson(value, 'value'), ext) };
  }
  if (ext !== undefined) {
    throw invalidInput('ext', ext, 'extWithHex');
  }
  return { value: isGiven(value) && isHex ? value.toLowerCase() : null };
}

function decodedContent({ value, ext }: RequestInput): Record<string, unknown> {
  const content = { value: isGiven(value) ? copyJson(value, 'value') : null };
  const extension = readExt(ext);
  return extension === undefined ? content : { ...content, ext: extension };
}

/** Extensions that say something; undefined for none. */
function readExt(ext: unknown): Record<string, unknown> | undefined {
  if (!isGiven(ext)) {
    return undefined;
  }
  if (!isJsonObject(ext)) {
    throw invalidInput('ext', ext, 'notExt');
  }
  const copy = copyJson(ext, 'ext') as Record<string, unknown>;
  return Object.keys(copy).length > 0 ? copy : undefined;
}
