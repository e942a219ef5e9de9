// read and read-decoded: asks a device for a property.
import type { Catalogue } from '../catalogue.ts';
import { readIdentifier } from './identifier.ts';
import {
  type BuiltRequest,
  DEFAULT_PRIORITY,
  type RequestInput,
  readAddress,
  readOptions,
} from './request.ts';

const OPERATIONS = { raw: 'read', decoded: 'read-decoded' } as const;

export function buildRead(input: RequestInput, catalogue: Catalogue): BuiltRequest {
  const { gateway, device } = readAddress(input);
  const { form, identifier } = readIdentifier(input, catalogue);
  const payload = readOptions(input, 'lower');
  const operation = OPERATIONS[form];
  const priority = (payload.priority ?? DEFAULT_PRIORITY) as BuiltRequest['priority'];
  return { gateway, device, operation, identifier, suffix: `${operation}/${identifier}`, payload, priority };
}
