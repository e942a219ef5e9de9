// The device list: paging, and lists that are broken.
import assert from 'node:assert/strict';
import type { RestClient } from '../../src/rest/client.ts';
import { devicePages, type PageOptions } from '../../src/rest/pages.ts';
import type { Device } from '../../src/rest/types.ts';
import { createClient, json, startServer, type TestServer } from './server.ts';

async function all(client: RestClient, options: Partial<PageOptions> = {}): Promise<Device[][]> {
  const pages: Device[][] = [];
  for await (const page of devicePages(client, { pageSize: 100, ...options })) {
    pages.push(page.devices);
  }
  return pages;
}

describe('device list', () => {
  let server: TestServer;
  let client: RestClient;

  beforeEach(async () => {
    server = await startServer(() => undefined);
    client = createClient(server.url);
  });
  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  it('follows the tokens, encoded, with the query of the user on every page', async () => {
    const tokens = ['a+b/c==', 'd e&f', undefined];
    server.answer = (_, response) =>
      json(response, { items: [{ id: 'x' }], nextToken: tokens[server.calls.length - 1] });
    assert.equal((await all(client, { pageSize: 7, query: { site: 'ü' } })).length, 3);
    assert.deepEqual(
      server.calls.map(({ url }) => url),
      [
        '/api/v1/devices?site=%C3%BC&MaxResults=7',
        '/api/v1/devices?site=%C3%BC&MaxResults=7&NextToken=a%2Bb%2Fc%3D%3D',
        '/api/v1/devices?site=%C3%BC&MaxResults=7&NextToken=d%20e%26f',
      ],
    );
  });

  it('takes the name of the token parameter from the settings', async () => {
    const other = createClient(server.url, { pageTokenParam: 'page' });
    server.answer = (_, response) =>
      json(response, { items: [], nextToken: server.calls.length === 1 ? 't' : '' });
    await all(other);
    await other.close();
    assert.equal(server.calls[1]!.url, '/api/v1/devices?MaxResults=100&page=t');
  });

  it('gives every device as received, with its MAC', async () => {
    const device = { id: 'bmac-C0141F68FC3D', friendlyName: null, labels: ['a'], extra: { deep: [1] } };
    server.answer = (_, response) => json(response, { items: [device, { id: 'other' }], nextToken: null });
    assert.deepEqual(await all(client), [[{ ...device, mac: 'c0141f68fc3d' }, { id: 'other' }]]);
  });

  it('fetches no page that nobody asks for', async () => {
    server.answer = (_, response) => json(response, { items: [], nextToken: `t${server.calls.length}` });
    for await (const _ of devicePages(client, { pageSize: 1 })) {
      if (server.calls.length === 3) {
        break;
      }
    }
    assert.equal(server.calls.length, 3);
  });

  for (const [title, next] of [
    ['at once', () => 'same'],
    ['in a circle', (count: number) => `t${count % 3}`],
  ] as const) {
    it(`reports a token that repeats ${title} as BAD_RESPONSE`, async () => {
      server.answer = (_, response) => json(response, { items: [], nextToken: next(server.calls.length) });
      await assert.rejects(all(client), {
        code: 'BAD_RESPONSE',
        message: 'the list of devices repeats its page token',
      });
    });
  }

  for (const [title, items] of [
    ['the same device', [{ id: 'a' }]],
    ['no devices', []],
  ] as const) {
    it(`reports pages that bring ${title} for ever, with new tokens, as BAD_RESPONSE`, async () => {
      server.answer = (_, response) => json(response, { items, nextToken: `t${server.calls.length}` });
      await assert.rejects(all(client), {
        code: 'BAD_RESPONSE',
        message: 'the list of devices does not end: its pages bring nothing new',
      });
    });
  }

  it('reports a service that does not know the page parameter before its first page is used again', async () => {
    const items = [{ id: 'a' }, { id: 'b' }];
    server.answer = (_, response) => json(response, { items, nextToken: `t${server.calls.length}` });
    const pages = devicePages(client, { pageSize: 2 });
    await pages.next();
    await assert.rejects(pages.next(), {
      code: 'BAD_RESPONSE',
      message:
        'the service answers a request for the second page with the first one: it does not know the parameter NextToken (see "Page parameter" of the service)',
    });
  });

  for (const body of [
    '',
    'not json',
    '[]',
    'null',
    '{}',
    '{"items":{}}',
    '{"items":[1]}',
    '{"items":[],"nextToken":5}',
    '['.repeat(200_000),
  ]) {
    it(`reports ${body.slice(0, 30) || 'nothing'} as BAD_RESPONSE with the body`, async () => {
      server.answer = (_, response) => response.end(body);
      await assert.rejects(all(client), {
        code: 'BAD_RESPONSE',
        message: `this is not the service: what ${new URL(server.url).host} answered to GET /api/v1/devices is not a list of devices`,
        cause: { body: body.slice(0, 500) },
      });
    });
  }

  it('takes a page of 100 000 items, and refuses one with more as BAD_RESPONSE', async () => {
    let count = 100_000;
    server.answer = (_, response) => response.end(`{"items":[${Array(count).fill('{}').join(',')}]}`);
    assert.equal((await all(client))[0]?.length, count);
    count++;
    await assert.rejects(all(client, { pageSize: 1_000_000 }), {
      code: 'BAD_RESPONSE',
      message: 'a page of the list of devices has more than 100000 items',
    });
  });

  for (const end of ['"nextToken":"b+c"}', '"nextToken" : "b+c" }\n']) {
    it(`asks for the next page before it reads ${JSON.stringify(end)}, and lets go of it when that is none`, async () => {
      const reading = new AbortController();
      const isLeft = new Promise<void>((resolve) => {
        server.answer = (_, response) =>
          server.calls.length === 1
            ? response.end(`{"items":[1],${end}`)
            : response.on('close', () => resolve());
      });
      await assert.rejects(all(client, { isWhole: true, signal: reading.signal }), { code: 'BAD_RESPONSE' });
      // What has not left by now never does.
      reading.abort();
      await isLeft;
      assert.equal(server.calls[1]?.url, '/api/v1/devices?MaxResults=100&NextToken=b%2Bc');
    });
  }

  for (const [title, body, token] of [
    ['of another object', '{"items":[],"more":{"nextToken":"no"}}', undefined],
    ['of a device', '{"more":1,"items":[{"id":"a","nextToken":"no"}]}', undefined],
    ['within a text', String.raw`{"items":[],"more":"\"nextToken\":\"no\"}"}`, undefined],
    ['that is empty', '{"items":[],"nextToken":""}', undefined],
    ['with a character that is escaped', String.raw`{"items":[],"nextToken":"a\u0062\"}"}`, 'ab"}'],
    ['that is not the last field', '{"nextToken":"ab","items":[]}', 'ab'],
    ['that comes twice', '{"nextToken":"no","items":[],"nextToken":"ab"}', 'ab'],
    ['that is long', `{"items":[],"nextToken":"${'x'.repeat(5000)}"}`, 'x'.repeat(5000)],
  ] as const) {
    it(`goes on in a whole list by the page token and nothing else, with one ${title}`, async () => {
      server.answer = (_, response) => response.end(server.calls.length === 1 ? body : '{"items":[]}');
      await all(client, { isWhole: true });
      // What had been asked for in vain would have come before this.
      await client.send({ method: 'GET', path: '/other' });
      assert.deepEqual(
        server.calls.slice(1, -1).map(({ url }) => new URL(url, server.url).searchParams.get('NextToken')),
        token === undefined ? [] : [token],
      );
    });
  }

  it('ends with CLOSED when its signal is aborted between two pages', async () => {
    const stop = new AbortController();
    server.answer = (_, response) => json(response, { items: [], nextToken: `t${server.calls.length}` });
    const pages = devicePages(client, { pageSize: 1, signal: stop.signal });
    await pages.next();
    stop.abort();
    await assert.rejects(pages.next(), { code: 'CLOSED' });
  });
});
