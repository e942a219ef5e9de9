// Reads the bodies of responses: JSON from outside into checked shapes.
import type { Phrase } from '../errors.ts';
import { isObject, parseJson } from '../protocol/json.ts';
import { isMac, parseMac } from '../protocol/mac.ts';
import { type BaseAddress, isWellFormed } from './addresses.ts';
import type { HttpResponse } from './http.ts';
import type { Device } from './types.ts';

export interface DevicePage {
  devices: Device[];
  nextToken: string | undefined;
}

/** Whether a server shows a page to a browser, which the service never does; it speaks JSON. */
export function isWebPage(body: string): boolean {
  return body.trimStart().startsWith('<');
}

/** What ingress controllers and routers say of a service that they do not know, beside web pages. */
const PROXY_TEXTS: ReadonlySet<string> = new Set(['404 page not found', 'default backend - 404']);

/** Whether a 404 is that of a proxy in front of the service. */
export function isOfProxy(body: string): boolean {
  return isWebPage(body) || PROXY_TEXTS.has(body.trim());
}

/** Whether the service cannot answer at the moment. */
export function isFailing(statusCode: number): boolean {
  return statusCode === 429 || statusCode >= 500;
}

/** It names no other place. */
const NOT_MODIFIED = 304;

/** Which text tells of a response other than 2xx: a page is never shown. @param shown of the body */
export function refusalReason({ statusCode, body }: HttpResponse, shown: string): string {
  if (statusCode >= 300 && statusCode < 400 && statusCode !== NOT_MODIFIED) {
    return 'redirect';
  }
  if (isWebPage(body)) {
    // A proxy in front of the service shows one while the service is away.
    return isFailing(statusCode) ? 'webPageFailing' : 'webPage';
  }
  return shown.trim() === '' ? 'statusOnly' : 'status';
}

/** More of a host would be no name. */
const MAX_ORIGIN_LENGTH = 200;

/**
 * For the text of an error: which other place a redirect names, such as https where http was asked for. Its path and query
 * stay out, as they may hold a token.
 * @param hasSecret whether something in a text may not be shown: a host would show it in small letters, or in part
 */
export function redirectTarget(
  { headers }: HttpResponse,
  { origin }: BaseAddress,
  hasSecret: (text: string) => boolean,
): Phrase | '' {
  const { location } = headers;
  const target =
    typeof location === 'string' && URL.canParse(location, origin) ? new URL(location, origin) : undefined;
  const isElsewhere = target !== undefined && /^https?:$/.test(target.protocol) && target.origin !== origin;
  return isElsewhere && target.origin.length <= MAX_ORIGIN_LENGTH && !hasSecret(`${location}`)
    ? { key: 'reason.leadsTo', values: { origin: target.origin } }
    : '';
}

/** Whether it is said whether the login succeeded, as only the service does. */
export function isLoginResponse(text: string): boolean {
  const response = parseJson(text);
  return isObject(response) && typeof response.status === 'string';
}

/** What a header can carry: visible ASCII. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/;

/** The token of a login response (interface, section "Login response"); undefined when the login did not succeed. */
export function readToken(text: string): string | undefined {
  const response = parseJson(text);
  if (!isObject(response) || response.status !== 'SUCCESS') {
    return undefined;
  }
  const { authToken } = response;
  return typeof authToken === 'string' && TOKEN.test(authToken) ? authToken : undefined;
}

/** A device list response; undefined when it is not what the interface says. The devices are given their `mac`. */
export function readDevicePage(response: unknown): DevicePage | undefined {
  if (!isObject(response) || !Array.isArray(response.items)) {
    return undefined;
  }
  const { items, nextToken = null } = response;
  // A token with half of a surrogate pair could not be sent back.
  if (nextToken !== null && !(typeof nextToken === 'string' && isWellFormed(nextToken))) {
    return undefined;
  }
  for (const item of items) {
    if (!isObject(item)) {
      return undefined;
    }
    const mac = macOf(item.id);
    if (mac !== undefined) {
      item.mac = mac;
    } else {
      // Whatever the service means by it: ours is made from the id, and flows take it for a gateway.
      delete item.mac;
    }
  }
  return { devices: items as Device[], nextToken: nextToken || undefined };
}

const USUAL_START = 'bmac-';

/** Lists are long and nearly every id is spelled alike, so the usual spelling is read first and fast. */
function macOf(id: unknown): string | undefined {
  if (typeof id === 'string' && id.startsWith(USUAL_START)) {
    const hex = id.slice(USUAL_START.length);
    if (isMac(hex)) {
      return hex;
    }
  }
  return parseMac(id);
}
