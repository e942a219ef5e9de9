// Changes of one device are carried out in the order in which flows asked for them, also when one is repeated.
import assert from 'node:assert/strict';
import { attachLabel, removeLabel, rename, request } from '../../src/rest/calls.ts';
import type { RestClient } from '../../src/rest/client.ts';
import { KeyedOrder } from '../../src/rest/order.ts';
import { itAtScale } from '../at-scale.ts';
import { createClient, json, startServer, type TestServer } from './server.ts';

const MAC = 'c0141f68fc3d';
const ID = `bmac-${MAC}`;
const NEVER = new AbortController().signal;

describe('changes of one device', () => {
  let server: TestServer;
  let client: RestClient;
  let heard: string[];

  /** Answers the first change with this status, the others with 200. */
  async function begin(first: number, headers: Record<string, string> = {}): Promise<void> {
    heard = [];
    let count = 0;
    server = await startServer(({ method, url, body }, response) => {
      const status = count++ === 0 ? first : 200;
      const what = method === 'PUT' ? JSON.parse(body).name : url.split('/').at(-1);
      heard.push(`${what} ${status}`);
      json(response, {}, status, headers);
    });
    client = createClient(server.url);
  }
  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  it('do not overtake one that is repeated, so the last name wins', async () => {
    await begin(503);
    await Promise.all([
      rename(client, MAC, 'first'),
      rename(client, ID, 'second'),
      removeLabel(client, MAC.toUpperCase(), 'label'),
      rename(client, ID, 'third'),
    ]);
    assert.deepEqual(heard, ['first 503', 'first 200', 'second 200', 'label 200', 'third 200']);
  });

  it('do not overtake a label that is attached again after a while, so it does not come back', async () => {
    await begin(503, { 'retry-after': '1' });
    await Promise.all([
      attachLabel(client, MAC, 'label', { isInUse: () => true }),
      removeLabel(client, ID, 'label'),
    ]);
    assert.deepEqual(heard, ['labels 503', 'labels 200', 'label 200']);
  });

  it('keep their order also where a free request makes them, by any spelling of the path', async () => {
    await begin(502);
    const path = `/api//v1/devices/${ID.replace('-', '%2D').toUpperCase()}/friendly-name?by=flow`;
    await Promise.all([
      request(client, { method: 'PUT', path, body: { name: 'first' } }),
      rename(client, MAC, 'second'),
      request(client, {
        method: 'put',
        path: `API/v1/Devices/${ID}/friendly-name/`,
        body: { name: 'third' },
      }),
    ]);
    assert.deepEqual(heard, ['first 502', 'first 200', 'second 200', 'third 200']);
  });

  it('of one path keep their order, whatever the method, and do not wait for those of another or for a GET', async () => {
    await begin(502);
    const { answer } = server;
    let [release, asked] = [(): void => undefined, (): void => undefined];
    const hasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    server.answer = (arrived, response) => {
      server.answer = answer;
      release = () => answer(arrived, response);
      asked();
    };
    const put = (name: string, path = '/api/v1/jobs/1') =>
      request(client, { method: 'PUT', path, body: { name } });
    const first = put('first');
    await hasAsked;
    const others = [request(client, { method: 'DELETE', path: '/api/v1/jobs/1/?force=true' }), put('third')];
    await request(client, { method: 'GET', path: '/api/v1/jobs/1' });
    heard.length = 0;
    await put('elsewhere', '/api/v1/jobs/2');
    release();
    await Promise.all([first, ...others]);
    assert.deepEqual(heard, ['elsewhere 200', 'first 200', '?force=true 200', 'third 200']);
  });

  it('follow one that has failed for good', async () => {
    await begin(404);
    const [first, second] = await Promise.allSettled([
      rename(client, MAC, 'first'),
      rename(client, MAC, 'second'),
    ]);
    assert.deepEqual([first.status, second.status], ['rejected', 'fulfilled']);
    assert.deepEqual(heard, ['first 404', 'second 200']);
  });

  it('do not wait for those of another device', async () => {
    await begin(200);
    let open = (): void => undefined;
    const { answer } = server;
    server.answer = (request, response) => {
      open = () => answer(request, response);
      server.answer = answer;
      asked();
    };
    let asked = (): void => undefined;
    const hasAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const slow = rename(client, MAC, 'slow');
    await hasAsked;
    await rename(client, 'c0141f68fc3e', 'quick');
    open();
    await slow;
    assert.deepEqual(heard, ['quick 200', 'slow 200']);
  });

  it('that are stopped while they wait are not sent, and those behind still wait', async () => {
    await begin(503);
    const stop = new AbortController();
    const first = rename(client, MAC, 'first');
    const second = rename(client, MAC, 'second', stop.signal);
    const third = rename(client, MAC, 'third');
    stop.abort();
    await assert.rejects(second, { code: 'CLOSED' });
    const fourth = rename(client, MAC, 'fourth');
    await Promise.all([first, third, fourth]);
    assert.deepEqual(heard, ['first 503', 'first 200', 'third 200', 'fourth 200']);
  });

  itAtScale('end with CLOSED when the service closes, and count among the 10 000 that may wait', async () => {
    await begin(200);
    server.answer = () => undefined;
    const calls = Array.from({ length: 10_004 }, () => rename(client, MAC, 'x').catch(({ code }) => code));
    await assert.rejects(rename(client, MAC, 'x'), { code: 'QUEUE_FULL' });
    await client.close();
    assert.deepEqual([...new Set(await Promise.all(calls))], ['CLOSED']);
  });

  it('wait for one ahead of those that gave up, and for one that has begun meanwhile', async () => {
    const order = new KeyedOrder();
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const run = (name: string, signal = NEVER) =>
      order.run('key', signal, () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
    const stop = new AbortController();
    const first = run('first');
    const second = run('second', stop.signal);
    stop.abort();
    await assert.rejects(second, { code: 'CLOSED' });
    const third = run('third');
    await new Promise(setImmediate);
    assert.deepEqual(begun, ['first']);
    ends[0]?.();
    await first;
    await new Promise(setImmediate);
    const fourth = run('fourth');
    await new Promise(setImmediate);
    assert.deepEqual(begun, ['first', 'third']);
    ends[1]?.();
    await third;
    await new Promise(setImmediate);
    ends[2]?.();
    await fourth;
    assert.deepEqual(begun, ['first', 'third', 'fourth']);
  });

  it('leave nothing behind when they have ended', async () => {
    await begin(200);
    const order = new KeyedOrder();
    await Promise.allSettled([
      order.run('a', NEVER, async () => 1),
      order.run('a', NEVER, async () => assert.fail()),
      order.run('b', AbortSignal.abort(), async () => 2),
      order.run('b', AbortSignal.abort(), async () => 2),
    ]);
    await new Promise(setImmediate);
    assert.equal(order.size, 0);
  });
});
