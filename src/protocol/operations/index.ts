// THE TABLE of operations: how each request is built. Answers are read in one way for all.
import type { Catalogue } from '../identifiers.ts';
import { buildApiVersion } from './apiversion.ts';
import { buildRead } from './read.ts';
import type { BuiltRequest, RequestInput } from './request.ts';
import { buildWrite } from './write.ts';

export { buildAck } from './ack.ts';
export { readAnswer } from './answer.ts';
export type { BuiltRequest, RequestInput } from './request.ts';

export const OPERATIONS = {
  apiversion: buildApiVersion,
  read: buildRead,
  write: buildWrite,
} as const satisfies Record<string, (input: RequestInput, catalogue: Catalogue) => BuiltRequest>;

export type Operation = keyof typeof OPERATIONS;

/**
 * Checks what a user gave and builds the request, raw or decoded as `form` and `identifier` say.
 * @throws ServiceError `INVALID_INPUT` with the field
 */
export function buildRequest(operation: Operation, input: RequestInput, catalogue: Catalogue): BuiltRequest {
  return OPERATIONS[operation](input, catalogue);
}
