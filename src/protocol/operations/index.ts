// THE TABLE of operations: how each request is built. Responses are read in one way for all.
import type { Catalogue } from '../catalogue.ts';
import { type AckSettings, buildAck } from './ack.ts';
import { buildApiVersion } from './apiversion.ts';
import { buildRead } from './read.ts';
import type { BuiltRequest, RequestInput } from './request.ts';
import { buildWrite } from './write.ts';

export { buildAck } from './ack.ts';
export type { BuiltRequest, RequestInput } from './request.ts';
export { readResponse } from './response.ts';

/** What requests are built with, beside what a user gave. */
export interface RequestContext {
  catalogue: Catalogue;
  ack: AckSettings;
}

export const OPERATIONS = {
  apiversion: buildApiVersion,
  read: (input, { catalogue }) => buildRead(input, catalogue),
  write: (input, { catalogue }) => buildWrite(input, catalogue),
  ack: (input, { ack, catalogue }) => buildAck(input, ack, catalogue),
} as const satisfies Record<string, (input: RequestInput, context: RequestContext) => BuiltRequest>;

export type Operation = keyof typeof OPERATIONS;

/**
 * Checks what a user gave and builds the request, raw or decoded as `form` and `identifier` say.
 * @throws ServiceError `INVALID_INPUT` with the field
 */
export function buildRequest(
  operation: Operation,
  input: RequestInput,
  context: RequestContext,
): BuiltRequest {
  return OPERATIONS[operation](input, context);
}
