// The device list, page by page, so that memory does not grow with the list.
import { createHash } from 'node:crypto';
import { parseJson } from '../protocol/json.ts';
import { type DevicePage, readDevicePage } from './answers.ts';
import type { RestClient } from './client.ts';
import { createRequest } from './endpoints.ts';

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
 * @throws what `RestClient.send` throws; BAD_RESPONSE also when an answer is no device list, or a page token comes a
 *   second time (that page is not given: the list would never end)
 */
export async function* devicePages(client: RestClient, options: PageOptions): AsyncGenerator<DevicePage> {
  const { pageSize, query, signal } = options;
  const seen = new Set<string>();
  const params: Record<string, unknown> = { ...query, MaxResults: pageSize };
  for (;;) {
    const request = createRequest('listDevices', params);
    const { body } = await client.send(request, { signal });
    const page = readDevicePage(parseJson(body));
    if (!page) throw client.badResponse('notDeviceList', body, request);
    const { nextToken } = page;
    if (nextToken !== undefined && !isNew(seen, nextToken)) {
      throw client.badResponse('tokenRepeats', body, request);
    }
    yield page;
    if (nextToken === undefined) return;
    params[client.settings.pageTokenParam] = nextToken;
  }
}

/** Tokens can be long and pages many; a digest of each is enough to know it again. */
function isNew(seen: Set<string>, token: string): boolean {
  const size = seen.size;
  seen.add(createHash('sha1').update(token).digest('base64'));
  return seen.size > size;
}
