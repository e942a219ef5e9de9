// What a response on a response topic says: its status, its value, and who gave it.
import { ServiceError } from '../../errors.ts';
import type { Catalogue } from '../catalogue.ts';
import { isHexBytes } from '../hex.ts';
import { isJsonObject } from '../json.ts';
import { oneLine } from '../text.ts';
import { withoutKey } from './echoed-key.ts';
import { placeValues } from './place.ts';
import type { BuiltRequest } from './request.ts';

export interface ReadResponse {
  /** Undefined for operations that answer with a status only. */
  value: unknown;
  /** The whole response, with `name`, `unit`, `raw`, `ext` as in a report, and `originName`. */
  response: Record<string, unknown>;
}

/** Interface section "Request/response topics": `origin`. */
const ORIGIN_NAMES: Readonly<Record<number, string>> = {
  0: 'device',
  1: 'device-via-extender',
  16: 'extender',
  32: 'gateway',
};

/**
 * Reads the response to a request.
 * @param body what JSON.parse gave
 * @param decode whether raw values are decoded by the catalogue
 * @throws ServiceError `BAD_RESPONSE` with cause `{body}`; `REQUEST_FAILED` with the whole response as cause; both
 *   without the network key of the request
 */
export function readResponse(
  request: BuiltRequest,
  body: unknown,
  catalogue: Catalogue,
  decode: boolean,
): ReadResponse {
  if (!isJsonObject(body)) {
    throw badResponse(request, 'notJson', body);
  }
  if (!Number.isInteger(body.status)) {
    throw badResponse(request, 'noStatus', body);
  }
  if (body.status !== 0) {
    throw failure(request, withoutKey(request.payload, body));
  }
  const response: Record<string, unknown> = { ...body };
  const row = request.identifier === undefined ? undefined : catalogue.find(request.identifier);
  if (row?.name) {
    response.name = row.name;
  }
  if (row?.unit) {
    response.unit = row.unit;
  }
  const originName = typeof body.origin === 'number' ? ORIGIN_NAMES[body.origin] : undefined;
  if (originName) {
    response.originName = originName;
  }
  return { value: readValue(request, response, decode ? catalogue : undefined), response };
}

function badResponse(request: BuiltRequest, reason: 'notJson' | 'noStatus', body: unknown): ServiceError {
  return new ServiceError(
    'BAD_RESPONSE',
    reason,
    { body: withoutKey(request.payload, body) },
    placeValues(request),
  );
}

function failure(request: BuiltRequest, body: Record<string, unknown>): ServiceError {
  const { status, errorMessage } = body;
  const values = { ...placeValues(request), status: Number(status) };
  if (typeof errorMessage !== 'string' || errorMessage === '') {
    return new ServiceError('REQUEST_FAILED', 'statusOnly', body, values);
  }
  const message = oneLine(errorMessage);
  return new ServiceError('REQUEST_FAILED', 'status', body, { ...values, message });
}

function readValue(
  { operation, identifier }: BuiltRequest,
  response: Record<string, unknown>,
  catalogue: Catalogue | undefined,
): unknown {
  if (operation === 'apiversion') {
    return response.version ?? null;
  }
  if (operation === 'read-decoded') {
    return response.value ?? null;
  }
  if (operation !== 'read') {
    return undefined;
  }
  const { value } = response;
  if (!isHexBytes(value)) {
    return value ?? null;
  }
  response.raw = value;
  const decoded = catalogue?.decode(identifier as string, value);
  if (decoded?.ext !== undefined) {
    response.ext = decoded.ext;
  }
  return decoded === undefined ? value : decoded.value;
}
