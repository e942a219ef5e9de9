// A device list as flows ask for it: filtered, limited, with the next page on its way while one is in use.
import { invalidInput } from '../errors.ts';
import { abortWith } from './abort.ts';
import { readQuery } from './addresses.ts';
import type { RestClient } from './client.ts';
import { createDeviceFilter, type DeviceFilterInput, EVERY_DEVICE } from './filters.ts';
import { devicePages } from './pages.ts';
import type { DevicePage } from './responses.ts';
import type { Device } from './types.ts';

export interface ListOptions extends DeviceFilterInput {
  /** `MaxResults` of each page. */
  pageSize: number;
  /** Devices in all; 0: no limit. */
  limit: number;
  /** Further query parameters. */
  query?: unknown;
  signal: AbortSignal;
}

export interface ListedPage {
  devices: Device[];
  /** With the last page: false when `limit` ended the reading; whether more would pass is not looked up. */
  complete?: boolean;
}

/**
 * The devices that pass the filters, page by page. While the consumer has a page, the next one is fetched, but none
 * that the limit makes needless.
 * @throws ServiceError `INVALID_INPUT`, and what `devicePages` throws
 */
export async function* listPages(client: RestClient, options: ListOptions): AsyncGenerator<ListedPage> {
  const { pageSize, limit } = options;
  const passes = createDeviceFilter(options);
  const query = readQuery(options.query);
  refuseOwn(query, client);
  let room = limit > 0 ? limit : Number.POSITIVE_INFINITY;
  const left = new AbortController();
  const stop = abortWith(left, [options.signal]);
  const pages = devicePages(client, { pageSize, query, signal: left.signal, isWhole: limit === 0 });
  try {
    for (let next = pages.next(); ; ) {
      // Nothing is asked of it beyond the last page, so it always has one.
      const page = (await next).value as DevicePage;
      const isLast = page.nextToken === undefined;
      const found = passes === EVERY_DEVICE ? page.devices : page.devices.filter(passes);
      const devices = found.length > room ? found.slice(0, room) : found;
      room -= devices.length;
      if (isLast || room === 0) {
        yield { devices, complete: isLast && devices.length === found.length };
        return;
      }
      next = pages.next();
      // Its failure is told where the page is waited for.
      next.catch(() => undefined);
      yield { devices };
    }
  } finally {
    stop();
    // A page on its way is not waited for.
    left.abort();
  }
}

/** What is set for every page would replace what was asked for without a word. */
function refuseOwn(query: Record<string, unknown>, { settings }: RestClient): void {
  const own = ['MaxResults', settings.pageTokenParam].find((name) => (query[name] ?? null) !== null);
  if (own !== undefined) {
    throw invalidInput('query', own, 'ownParameter');
  }
}
