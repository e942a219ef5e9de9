// What flows can do over REST besides listing: rename, labels, and the free request.
import { ServiceError } from '../errors.ts';
import { parseHttpMethod } from '../protocol/http-methods.ts';
import { parseJson } from '../protocol/json.ts';
import { appendQuery, readAttachPath, readPath, readQuery } from './addresses.ts';
import type { RestClient } from './client.ts';
import { ENDPOINTS } from './endpoints.ts';
import { readBody, readDevice, readLabel, readMethod, readName } from './inputs.ts';
import { isAfterLoss } from './retry.ts';

/**
 * Renames a device, given by REST id or MAC address.
 * @throws INVALID_INPUT field `device` or `name` before anything is sent; what `RestClient.send` throws
 */
export async function rename(
  client: RestClient,
  device: unknown,
  name: unknown,
  signal?: AbortSignal,
): Promise<{ id: string; friendlyName: string }> {
  const params = { device: readDevice(device), name: readName(name) };
  await client.call('renameDevice', params, { signal, order: deviceOrder(params.device) });
  return { id: params.device, friendlyName: params.name };
}

/** Creates a label. @throws INVALID_INPUT field `label` before anything is sent; what `RestClient.send` throws */
export async function createLabel(
  client: RestClient,
  label: unknown,
  signal?: AbortSignal,
): Promise<{ label: string }> {
  const params = { label: readLabel(label) };
  await client.call('createLabel', params, { signal });
  return params;
}

/**
 * Removes a label from a device.
 * @throws INVALID_INPUT field `device` or `label` before anything is sent; what `RestClient.send` throws
 */
export async function removeLabel(
  client: RestClient,
  device: unknown,
  label: unknown,
  signal?: AbortSignal,
): Promise<{ id: string; label: string }> {
  const params = { device: readDevice(device), label: readLabel(label) };
  await client.call('removeLabel', params, { signal, order: deviceOrder(params.device) });
  return { id: params.device, label: params.label };
}

/**
 * Attaches a label to a device, and creates it before unless it is in use. The interface says that labels are attached by
 * name, but shows no call for it: `attachPath` of the settings says which.
 * @throws INVALID_INPUT field `device`, `label` or `attachPath` before anything is sent; what `RestClient.send` throws
 */
export async function attachLabel(
  client: RestClient,
  device: unknown,
  label: unknown,
  { signal, isInUse }: AttachOptions = {},
): Promise<{ id: string; label: string }> {
  const params = { id: readDevice(device), label: readLabel(label) };
  const path = readAttachPath(client.settings.attachPath, params.id);
  if (!isInUse?.(params.label)) {
    await createLabel(client, params.label, signal).catch(throwUnlessItMayExist);
  }
  const body = JSON.stringify({ label: params.label });
  const request = { method: 'POST', path, body, ignoresBody: true };
  await client.send(request, { signal, order: deviceOrder(params.id) });
  return params;
}

export interface AttachOptions {
  signal?: AbortSignal;
  /** Whether a device is known to carry the label. */
  isInUse?: (label: string) => boolean;
}

/** Of HTTP. */
const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

/** The interface does not show the response for a label that exists: whether it can be attached tells. */
function throwUnlessItMayExist(error: unknown): void {
  const isAnswer = error instanceof ServiceError && error.code === 'HTTP_ERROR';
  const status = isAnswer ? Number(error.cause.statusCode) : 0;
  if (status < 400 || status >= 500 || status === UNAUTHORIZED || status === FORBIDDEN) {
    throw error;
  }
}

const DEVICE_PATH = new RegExp(`^${ENDPOINTS.listDevices.route.split(' ')[1]}/([^/]+)`, 'i');

/** What is repeated must not undo what came later for the same device. */
const deviceOrder = (device: string): string => `device ${device.toLowerCase()}`;

/** Changes below the path of a device are changes of the device, whoever asks for them; else the path tells. */
function orderOf(path: string): string {
  const place = (path.split('?', 1)[0] as string).replace(/\/+/g, '/');
  const device = DEVICE_PATH.exec(place)?.[1];
  return device === undefined ? `path ${place.replace(/\/$/, '')}` : deviceOrder(decoded(device));
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Whether a free request with this method (unchecked) only reads. */
export function isReading(method: unknown): boolean {
  return parseHttpMethod(method) === 'GET';
}

/** Codes after which a call that was sent may have done what it was for; HTTP_ERROR by its status. */
const OPEN_ENDS = new Set(['NETWORK', 'CLOSED', 'BAD_RESPONSE']);

/** Whether a call that failed may still have changed something at the service. */
export function mayHaveActed(error: unknown): boolean {
  if (!(error instanceof ServiceError)) {
    return true;
  }
  const isOpenEnd = OPEN_ENDS.has(error.code) || isAfterLoss(error);
  return isOpenEnd || (error.code === 'HTTP_ERROR' && Number(error.cause.statusCode) >= 500);
}

/** A free request as a flow gives it, unchecked. */
export interface FreeRequest {
  method?: unknown;
  path?: unknown;
  query?: unknown;
  body?: unknown;
}

export interface FreeResponse {
  /** The JSON value, or the text when it is not JSON; an empty text for an empty body. */
  payload: unknown;
  statusCode: number;
  /** Names in lower case; without encoding and length of a body that was decompressed. */
  headers: Record<string, string | string[] | undefined>;
}

/**
 * An authenticated request to any path below the base URL, or with it in front. With GET alone a path may have plain
 * segments `.` and `..`, which are resolved. A `body` is sent as JSON, except with GET.
 * @throws INVALID_INPUT field `method`, `path`, `query` or `body` before anything is sent; what `RestClient.send` throws
 */
export async function request(
  client: RestClient,
  input: FreeRequest,
  signal?: AbortSignal,
): Promise<FreeResponse> {
  const method = readMethod(input.method);
  // A `..` of a path that is made from data would change another thing than is meant.
  const given = readPath(input.path, { base: client.baseAddress, resolvesDots: method === 'GET' });
  const path = appendQuery(given, readQuery(input.query));
  const body = method === 'GET' ? undefined : readBody(input.body);
  const order = method === 'GET' ? undefined : orderOf(path);
  const response = await client.send({ method, path, body }, { signal, order });
  const { statusCode, headers } = response;
  return {
    payload: parseJson(response.body) ?? nullOrText(response.body),
    statusCode,
    headers: { ...headers },
  };
}

/** `parseJson` gives undefined for what is not JSON, and null for null. */
function nullOrText(body: string): string | null {
  return body.trim() === 'null' ? null : body;
}
