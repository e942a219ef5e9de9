// How a request ends without a response, in the error codes of this package.
import { ServiceError, showDuration } from '../errors.ts';
import { MAX_PAYLOAD_BYTES } from '../protocol/json.ts';
import { withoutKey } from '../protocol/operations/echoed-key.ts';
import type { BuiltRequest } from '../protocol/operations/index.ts';
import { placeValues } from '../protocol/operations/place.ts';
import { HIDDEN } from '../protocol/redaction.ts';
import { type Reason, reasonOfCode } from './reasons.ts';

const MAX_SHOWN = 500;
/** Of what is shown: a key that begins in it ends in it. */
const MAX_READ_BYTES = 16_384;

export function closed(): ServiceError {
  return new ServiceError('CLOSED', 'stopped');
}

export function queueFull(limit: number): ServiceError {
  return new ServiceError('QUEUE_FULL', 'waiting', { limit }, { limit });
}

/** @param timeout milliseconds */
export function timedOut(request: BuiltRequest, timeout: number): ServiceError {
  const { gateway, device, operation, identifier } = request;
  const cause = { gateway, device, operation, identifier, timeout };
  const within = { operation, timeout: showDuration(timeout) };
  return new ServiceError('TIMEOUT', 'noAnswer', cause, { ...placeValues(request), ...within });
}

export function notJson(request: BuiltRequest, body: Uint8Array): ServiceError {
  const reason = body.length > MAX_PAYLOAD_BYTES ? 'payloadTooLarge' : 'notJson';
  const beginning = Buffer.from(body.subarray(0, MAX_READ_BYTES)).toString();
  // The key first, else the cut could leave its first half.
  const shown = withoutKey(request.payload, beginning).slice(0, MAX_SHOWN);
  return new ServiceError('BAD_RESPONSE', reason, { body: shown }, placeValues(request));
}

/** What of a request a user gives under the same name; what else is in a payload comes from the template. */
const GIVEN = new Set([
  'identifier',
  'value',
  'ext',
  'priority',
  'extenderId',
  'accessType',
  'publicKey',
  'key',
]);

/** The broker would end the connection. The field is the one that takes most of the packet. */
export function tooLarge({ identifier, payload }: BuiltRequest, bytes: number, limit: number): ServiceError {
  const sizes = Object.entries({ identifier, ...payload }).map(
    ([name, value]) => [name, value, JSON.stringify(value)?.length ?? 0] as const,
  );
  const [name, given] = sizes.reduce((largest, size) => (size[2] > largest[2] ? size : largest));
  const field = GIVEN.has(name) ? name : 'ackTemplate';
  const value = field === 'key' ? HIDDEN : given;
  return new ServiceError('INVALID_INPUT', 'packetTooLarge', { field, value }, { field, bytes, limit });
}

/** It could not be sent in its time. @param timeout milliseconds */
export function unsent(
  broker: string,
  reason: 'unreachable' | 'notGranted' | 'notAcknowledged',
  timeout: number,
): ServiceError {
  return new ServiceError('NOT_CONNECTED', reason, { broker }, { broker, timeout: showDuration(timeout) });
}

/** The broker refuses the topic filter of the responses. @param reason undefined: it gives none */
export function refusedResponses(broker: string, filter: string, reason: Reason | undefined): ServiceError {
  const values = { broker, filter };
  return reason === undefined
    ? new ServiceError('NOT_CONNECTED', 'refusedSubscription', { broker }, values)
    : new ServiceError('NOT_CONNECTED', 'refusedSubscriptionWhy', { broker }, { ...values, reason });
}

/** The broker refuses the request itself. @param code of its PUBACK or PUBREC */
export function refusedRequest(broker: string, code: number): ServiceError {
  return new ServiceError(
    'NOT_CONNECTED',
    'refusedPublish',
    { broker },
    { broker, reason: reasonOfCode(code) },
  );
}

/** The broker has ended the connection for such a request. @param wait milliseconds until the next one is sent */
export function forbiddenRequest(broker: string, request: BuiltRequest, wait: number): ServiceError {
  const { operation } = request;
  const values = { broker, operation, wait: showDuration(1_000 * Math.ceil(wait / 1_000)) };
  return new ServiceError(
    'NOT_CONNECTED',
    'endsConnection',
    { broker },
    { ...placeValues(request), ...values },
  );
}
