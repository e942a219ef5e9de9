// The REST half of "Test connection": tries settings that are not in use yet.
import { type ErrorCode, type ErrorText, ServiceError, showDuration } from '../errors.ts';
import { SILENT } from '../log.ts';
import { proxiesOf } from '../proxy/choice.ts';
import type { RestSettings } from '../settings.ts';
import { readBaseAddress } from './addresses.ts';
import { RestClient } from './client.ts';
import { devicePages } from './pages.ts';
import type { DevicePage } from './responses.ts';

export interface RestProbe {
  ok: boolean;
  /** Absent when ok. */
  code?: ErrorCode;
  /** `key` is the whole key in the locale files: `test.restOk`, `test.restEmpty` or `error.<CODE>.<reason>`. */
  text: ErrorText;
  /** How long it took. */
  ms: number;
  /** Devices on a page of one: 0 or 1 with a service that follows the interface. */
  devices: number;
  /** Host and port of the proxies that the calls went through. */
  proxies: string[];
}

/** Login and list, two calls, have to end within the 10 s of the admin endpoint. */
const MAX_CALL_MS = 4500;

/**
 * Logs in and lists one device with a client of its own: no cache, no retries, nothing shared, no log. Never rejects.
 * @param signal aborted: ends with the code CLOSED, after a time of its own (`AbortSignal.timeout`) with NETWORK
 */
export async function probeRest(settings: RestSettings, signal: AbortSignal): Promise<RestProbe> {
  const start = performance.now();
  const took = () => Math.round(performance.now() - start);
  const timeout = Math.min(settings.timeout, MAX_CALL_MS);
  const client = new RestClient({ ...settings, timeout, retries: 0 }, { log: SILENT });
  const proxies = proxiesOf(settings.proxy, [settings.authUrl, settings.baseUrl]);
  try {
    // There always is a first page.
    const { value } = await devicePages(client, { pageSize: 1, signal }).next();
    const devices = (value as DevicePage).devices.length;
    const key = devices > 0 ? 'test.restOk' : 'test.restEmpty';
    return { ok: true, text: { key, values: { devices } }, ms: took(), devices, proxies };
  } catch (error) {
    const told = knownError(error);
    const known = told.code === 'CLOSED' && isOver(signal) ? lateError(settings, took()) : told;
    const text = { key: `error.${known.text.key}`, values: known.text.values };
    return { ok: false, code: known.code, text, ms: took(), devices: 0, proxies };
  } finally {
    await client.close();
  }
}

const isOver = ({ reason }: AbortSignal): boolean =>
  reason instanceof Error && reason.name === 'TimeoutError';

/** Each call was in time, but all of them were not. */
function lateError({ baseUrl }: RestSettings, timeout: number): ServiceError {
  const { origin } = readBaseAddress('baseUrl', baseUrl);
  const values = { host: origin, timeout: showDuration(timeout) };
  return new ServiceError('NETWORK', 'timeout', { code: 'ETIMEDOUT' }, values);
}

function knownError(error: unknown): ServiceError {
  return error instanceof ServiceError
    ? error
    : new ServiceError('NETWORK', 'unreachable', {}, { code: 'UNKNOWN' });
}
