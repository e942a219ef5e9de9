// A device list as flows ask for it: the next page is on its way early, but none is fetched in vain.
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { isSet } from 'node:util/types';
import { rename } from '../../src/rest/calls.ts';
import type { RestClient } from '../../src/rest/client.ts';
import { type ListedPage, type ListOptions, listPages } from '../../src/rest/list.ts';
import { createClient, json, startServer, type TestServer } from './server.ts';

const TWO = [{ id: 'a' }, { id: 'b' }];

describe('listing', () => {
  let server: TestServer;
  let client: RestClient;
  const held: ServerResponse[] = [];
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);

  beforeEach(async () => {
    unhandled.length = 0;
    process.on('unhandledRejection', note);
    server = await startServer(() => undefined);
    // Longer than a test may take: nothing here may wait for it.
    client = createClient(server.url, { retries: 0, timeout: 60_000 });
    held.length = 0;
  });
  afterEach(async () => {
    await client.close();
    await server.stop();
    process.off('unhandledRejection', note);
    assert.deepEqual(unhandled, []);
  });

  const list = (options: Partial<ListOptions> = {}) =>
    listPages(client, { pageSize: 2, limit: 0, signal: new AbortController().signal, ...options });

  async function all(options: Partial<ListOptions>): Promise<ListedPage[]> {
    const pages: ListedPage[] = [];
    for await (const page of list(options)) {
      pages.push(page);
    }
    return pages;
  }

  const endless = () => {
    server.answer = (_, response) => {
      const number = server.calls.length;
      const items = [{ id: `a${number}` }, { id: `b${number}` }];
      json(response, { items, nextToken: `t${number}` });
    };
  };

  /** Answers the first page; who asks for the second one waits until the test goes on. */
  const holdSecond = () =>
    new Promise<void>((resolve) => {
      server.answer = (_, response) => {
        if (server.calls.length === 1) {
          json(response, { items: TWO, nextToken: 't' });
        } else {
          held.push(response);
          resolve();
        }
      };
    });

  it('asks for the next page while the flow still has the one before', async () => {
    const asked = holdSecond();
    const pages = list();
    assert.deepEqual((await pages.next()).value, { devices: TWO });
    await asked;
    json(held[0]!, { items: [{ id: 'c' }], nextToken: null });
    assert.deepEqual((await pages.next()).value, { devices: [{ id: 'c' }], complete: true });
    assert.equal((await pages.next()).done, true);
    assert.equal(server.calls.length, 2);
  });

  it('asks for the page behind the next one as soon as that has come', async () => {
    endless();
    const { answer } = server;
    const asked = new Promise<void>((resolve) => {
      server.answer = (request, response) =>
        server.calls.length === 3 ? resolve() : answer(request, response);
    });
    const pages = list();
    await pages.next();
    await asked;
    await pages.return(undefined);
  });

  for (const [limit, calls] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 2],
  ] as const) {
    it(`fetches ${calls} of many pages for a limit of ${limit}`, async () => {
      endless();
      const pages = await all({ limit });
      assert.equal(pages.flatMap(({ devices }) => devices).length, limit);
      assert.equal(pages.at(-1)?.complete, false);
      // What had been asked for ahead would have come before this.
      await client.send({ method: 'GET', path: '/other' });
      assert.equal(server.calls.length, calls + 1);
    });
  }

  for (const [limit, complete] of [
    [1, false],
    [2, true],
    [3, true],
  ] as const) {
    it(`says whether a limit of ${limit} has cut a last page of two`, async () => {
      server.answer = (_, response) => json(response, { items: TWO });
      const pages = await all({ limit });
      assert.deepEqual(pages, [{ devices: TWO.slice(0, limit), complete }]);
    });
  }

  it('reads no further than to its limit to say whether there is more', async () => {
    endless();
    const pages = await all({ limit: 1, search: 'a1' });
    assert.deepEqual([pages.at(-1)?.complete, server.calls.length], [false, 1]);
  });

  it('counts towards the limit only what passes the filters', async () => {
    endless();
    assert.equal((await all({ limit: 3, search: 'b' })).length, 3);
    assert.equal(server.calls.length, 3);
  });

  it('gives the page that came before the next one fails', async () => {
    const asked = holdSecond();
    const pages = list();
    assert.deepEqual((await pages.next()).value, { devices: TWO });
    await asked;
    const failed = new Promise<void>((resolve) =>
      client.onState(({ name }) => name === 'failing' && setImmediate(resolve)),
    );
    held[0]!.writeHead(500).end('out of order');
    await failed;
    assert.deepEqual(unhandled, []);
    await assert.rejects(pages.next(), { code: 'HTTP_ERROR', message: /500/ });
    assert.equal((await pages.next()).done, true);
  });

  it('gives the pages that came before one that was asked for ahead and fails', async () => {
    endless();
    const { answer } = server;
    const failed = new Promise<void>((resolve) => {
      server.answer = (request, response) => {
        if (server.calls.length === 3) {
          response.on('close', () => resolve());
          json(response, {}, 400);
        } else {
          answer(request, response);
        }
      };
    });
    const pages = list();
    await pages.next();
    await failed;
    await client.send({ method: 'GET', path: '/other' });
    assert.equal((await pages.next()).value.devices[0].id, 'a2');
    await assert.rejects(pages.next(), { code: 'HTTP_ERROR' });
  });

  it('gives up the page on its way when the flow wants no more', async () => {
    const asked = holdSecond();
    for await (const _ of list()) {
      await asked;
      break;
    }
    await once(held[0]!, 'close');
    assert.equal(held[0]!.writableFinished, false);
  });

  for (const name of ['MaxResults', 'NextToken']) {
    it(`refuses ${name} in the query, which would be replaced, unless it is left out`, async () => {
      server.answer = (_, response) => json(response, { items: TWO });
      await assert.rejects(all({ query: { [name]: 5 } }), {
        code: 'INVALID_INPUT',
        cause: { field: 'query', value: name },
        message: `query must not have ${name}, which is set for every page`,
      });
      assert.equal(server.calls.length, 0);
      assert.equal((await all({ query: { [name]: null } })).length, 1);
    });
  }

  it('ends with CLOSED when its node is stopped while the next page is on its way', async () => {
    const stop = new AbortController();
    const asked = holdSecond();
    const pages = list({ signal: stop.signal });
    await pages.next();
    await asked;
    stop.abort();
    await assert.rejects(pages.next(), { code: 'CLOSED' });
  });

  it('asks for nothing when its node is stopped already', async () => {
    await assert.rejects(list({ signal: AbortSignal.abort() }).next(), { code: 'CLOSED' });
    assert.equal(server.calls.length + server.logins.length, 0);
  });

  it('leaves nothing behind at the signal of its node, nor do calls that change something', async () => {
    const { signal } = new AbortController();
    server.answer = ({ method }, response) => json(response, method === 'GET' ? { items: TWO } : {});
    for (let round = 0; round < 3; round++) {
      await all({ signal });
      await Promise.all([1, 2, 3, 4, 5, 6].map((n) => rename(client, `c0141f68fc3${n % 2}`, 'x', signal)));
    }
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    // What `AbortSignal.any` notes, in the Node.js versions that note it where it can be seen.
    const noted = Object.getOwnPropertySymbols(signal).map((name) => Reflect.get(signal, name) as unknown);
    assert.equal(
      noted.reduce<number>((sum, value) => sum + (isSet(value) ? value.size : 0), 0),
      0,
    );
  });
});
