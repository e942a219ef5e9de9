// The device list, page by page, so that memory does not grow with the list.
import { setImmediate as turn } from 'node:timers/promises';
import { parseJson } from '../protocol/json.ts';
import type { RestClient } from './client.ts';
import { createRequest, type RestRequest } from './endpoints.ts';
import type { HttpResponse } from './http.ts';
import { ListProgress, MAX_LIST_DEVICES } from './progress.ts';
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
  /** Every page is wanted: the next one is asked for before this one is parsed. `signal` has to end it when reading stops. */
  isWhole?: boolean;
}

/** Of a page, so many characters are looked at for the token of the next one. */
const MAX_TAIL = 4096;
/** A field of the outermost object: one brace behind it. What stands within a text would have its quotes escaped. */
const TOKEN_AT_END = /"nextToken"\s*:\s*"([^"\\]+)"\s*\}\s*$/;

/**
 * Every page of the device list as it is (it may be empty); one without `nextToken` is the last. The next page is
 * fetched when the consumer asks for it, of a whole list as soon as this one has come.
 * @throws what `RestClient.send` throws; BAD_RESPONSE also when a response is no device list or has more than 100 000 items,
 *   a page token comes a second time, the pages bring nothing new for too long, or too many (see `ListProgress`): the list would never end
 */
export async function* devicePages(client: RestClient, options: PageOptions): AsyncGenerator<DevicePage> {
  const { pageSize, query, signal, isWhole } = options;
  const parameter = client.settings.pageTokenParam;
  const progress = new ListProgress();
  const requestOf = (token?: string): RestRequest =>
    createRequest('listDevices', { ...query, MaxResults: pageSize, [parameter]: token });
  const send = (request: RestRequest): Coming => {
    const response = client.send(request, { signal });
    // Its failure is told where the page is waited for.
    response.catch(() => undefined);
    return { request, response };
  };
  for (let coming = send(requestOf()); ; ) {
    const { request } = coming;
    const { body } = await coming.response;
    const token = isWhole ? TOKEN_AT_END.exec(body.slice(-MAX_TAIL))?.[1] : undefined;
    const next = token === undefined ? undefined : send(requestOf(token));
    if (next) {
      // Parsing would keep it from leaving: undici uses a connection again in the turn after its response has ended.
      await turn();
      await turn();
    }
    const page = readDevicePage(parseJson(body));
    if (!page) {
      throw client.badResponse('notDeviceList', body, request);
    }
    if (page.devices.length > MAX_PAGE_ITEMS) {
      throw client.badResponse('pageTooLong', body, request, { limit: MAX_PAGE_ITEMS });
    }
    const fault = progress.add(page);
    if (fault) {
      throw client.badResponse(fault, body, request, { parameter, limit: MAX_LIST_DEVICES });
    }
    yield page;
    if (page.nextToken === undefined) {
      return;
    }
    coming = next ?? send(requestOf(page.nextToken));
  }
}

/** A page on its way. */
interface Coming {
  request: RestRequest;
  response: Promise<HttpResponse>;
}
