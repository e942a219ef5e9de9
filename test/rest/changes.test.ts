// What a flow changes at the service shows in the list of devices at once, also when only the response was lost.
import assert from 'node:assert/strict';
import { SILENT } from '../../src/log.ts';
import { Session } from '../../src/session.ts';
import { json, settingsFor, startServer, type TestServer } from './server.ts';

const NEVER = new AbortController().signal;
const MAC = 'c0141f68fc3d';
const ID = `bmac-${MAC}`;

describe('list of devices after a change', () => {
  let server: TestServer;
  let session: Session;
  let lists: number;
  let answerOthers: TestServer['answer'];

  beforeEach(async () => {
    lists = 0;
    answerOthers = (_, response) => response.end();
    server = await startServer((request, response) => {
      if (request.url.includes('MaxResults')) {
        lists++;
        json(response, { items: [{ id: ID, mac: MAC, labels: ['floor'] }] });
      } else {
        answerOthers(request, response);
      }
    });
    session = new Session({ rest: settingsFor(server.url, { retries: 0 }) }, SILENT);
    await session.devices?.search('', 1);
    assert.equal(lists, 1);
  });
  afterEach(async () => {
    await session.close();
    await server.stop();
  });

  it('creates no label that is in it to attach it', async () => {
    const calls: string[] = [];
    answerOthers = ({ url }, response) => {
      calls.push(url);
      response.end();
    };
    await session.rest.attachLabel(ID, 'floor', NEVER);
    assert.deepEqual(calls, [`/api/v1/devices/${ID}/labels`]);
    calls.length = 0;
    await session.rest.attachLabel(ID, 'roof', NEVER);
    assert.deepEqual(calls, ['/api/v1/labels', `/api/v1/devices/${ID}/labels`]);
  });

  it('is not needed to attach a label', async () => {
    const other = new Session({ rest: settingsFor(server.url, { retries: 0 }) }, SILENT);
    assert.deepEqual(await other.rest.attachLabel(MAC, 'floor', NEVER), { id: ID, label: 'floor' });
    await other.close();
    assert.equal(lists, 1);
  });

  it('has the name at once that a device was given, and the old one where that was refused', async () => {
    await session.rest.rename(MAC, 'Berlin', NEVER);
    assert.equal(session.devices?.nameOf(MAC), 'Berlin');
    answerOthers = (_, response) => response.writeHead(400).end();
    await assert.rejects(session.rest.rename(MAC, 'Paris', NEVER), { code: 'HTTP_ERROR' });
    assert.equal(session.devices?.nameOf(MAC), 'Berlin');
  });

  it('is not what a flow lists: that asks anew, and gives what changes answer', async () => {
    const pages = session.rest.listPages({ pageSize: 5, limit: 0, signal: NEVER });
    assert.deepEqual(
      (await pages.next()).value.devices.map(({ id }: { id: string }) => id),
      [ID],
    );
    assert.equal(lists, 2);
    assert.deepEqual(await session.rest.createLabel('l', NEVER), { label: 'l' });
    assert.deepEqual(await session.rest.removeLabel(MAC, 'l', NEVER), { id: ID, label: 'l' });
  });

  /** How often the list is fetched for one more question. */
  async function fetches(): Promise<number> {
    const before = lists;
    await session.devices?.search('', 1);
    return lists - before;
  }

  const CHANGES: Record<string, () => Promise<unknown>> = {
    rename: () => session.rest.rename(ID, 'n', NEVER),
    'create a label': () => session.rest.createLabel('l', NEVER),
    'attach a label': () => session.rest.attachLabel(ID, 'l', NEVER),
    'remove a label': () => session.rest.removeLabel(ID, 'l', NEVER),
    ...Object.fromEntries(
      ['POST', 'put', ' Patch', 'DELETE'].map((method) => [
        `free ${method}`,
        () => session.rest.call({ method, path: '/x' }, NEVER),
      ]),
    ),
  };

  for (const [name, change] of Object.entries(CHANGES)) {
    it(`is fetched anew after: ${name}`, async () => {
      await change();
      assert.equal(await fetches(), 1);
    });

    it(`is fetched anew when the response to it was lost: ${name}`, async () => {
      answerOthers = (_, response) => response.socket?.resetAndDestroy();
      await assert.rejects(change(), { code: 'NETWORK' });
      assert.equal(await fetches(), 1);
      answerOthers = (_, response) => response.writeHead(500).end();
      await assert.rejects(change(), { code: 'HTTP_ERROR' });
      assert.equal(await fetches(), 1);
    });

    it(`is kept when the service refuses: ${name}`, async () => {
      answerOthers = (_, response) => response.writeHead(499).end();
      await assert.rejects(change(), { code: 'HTTP_ERROR' });
      assert.equal(await fetches(), 0);
    });
  }

  for (const name of ['rename', 'remove a label', 'free put', 'free DELETE']) {
    it(`is fetched anew when the response to it was lost, and its repetition is refused: ${name}`, async () => {
      await session.close();
      session = new Session({ rest: settingsFor(server.url, { retries: 1 }) }, SILENT);
      await session.devices?.search('', 1);
      answerOthers = (_, lost) => {
        answerOthers = (_, refused) => refused.writeHead(409).end();
        lost.socket?.resetAndDestroy();
      };
      await assert.rejects(CHANGES[name]!(), { code: 'HTTP_ERROR' });
      assert.equal(await fetches(), 1);
    });
  }

  it('is fetched anew when a change was stopped on its way', async () => {
    const stop = new AbortController();
    answerOthers = () => stop.abort();
    await assert.rejects(session.rest.call({ method: 'POST', path: '/x' }, stop.signal), { code: 'CLOSED' });
    assert.equal(await fetches(), 1);
  });

  it('is kept after a free GET, and after what was never sent', async () => {
    await session.rest.call({ method: ' get ', path: '/x' }, NEVER);
    await assert.rejects(session.rest.call({ method: 'POST', path: '..' }, NEVER), { code: 'INVALID_INPUT' });
    await assert.rejects(session.rest.call({ method: 5, path: '/x' }, NEVER), { code: 'INVALID_INPUT' });
    assert.equal(await fetches(), 0);
  });
});
