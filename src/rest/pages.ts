// The device list, page by page, so that memory does not grow with the list.
import { parseJson } from '../protocol/json.ts';
import type { RestClient } from './client.ts';
import { createRequest } from './endpoints.ts';
import { ListProgress } from './progress.ts';
import { type DevicePage, readDevicePage } from './responses.ts';

/**
 * What a service or a machine in between sends that ignores `MaxResults`: 16 MB have no room for so many devices with all
 * that the interface shows of them, but for millions of empty objects, each of which would be a message.
 */
const MAX_PAGE_ITEMS = 100_000;

export interface PageOptions {
  /** `MaxResults`: devices per page. */
  pageSize: number;
  /** Further query parameters, checked by `readQuery`; `MaxResults` and the page token are ours. */
  query?: Record<string, unknown>;
  signal?: AbortSignal;
}

/**
 * Every page of the device list as it is (it may be empty); one without `nextToken` is the last. The next page is
 * fetched when the consumer asks for it.
 * @throws what `RestClient.send` throws; BAD_RESPONSE also when a response is no device list or has more than 100 000 items,
 *   a page token comes a second time, or the pages bring nothing new for too long (see `ListProgress`): the list would never end
 */
export async function* devicePages(client: RestClient, options: PageOptions): AsyncGenerator<DevicePage> {
  const { pageSize, query, signal } = options;
  const progress = new ListProgress();
  const params: Record<string, unknown> = { ...query, MaxResults: pageSize };
  for (;;) {
    const request = createRequest('listDevices', params);
    const { body } = await client.send(request, { signal });
    const page = readDevicePage(parseJson(body));
    if (!page) {
      throw client.badResponse('notDeviceList', body, request);
    }
    if (page.devices.length > MAX_PAGE_ITEMS) {
      throw client.badResponse('pageTooLong', body, request, { limit: MAX_PAGE_ITEMS });
    }
    const fault = progress.add(page);
    if (fault) {
      throw client.badResponse(fault, body, request, { parameter: client.settings.pageTokenParam });
    }
    yield page;
    if (page.nextToken === undefined) {
      return;
    }
    params[client.settings.pageTokenParam] = page.nextToken;
  }
}
