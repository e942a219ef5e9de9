// What a service shows after a call was stopped that waited for a retry or the login.
import assert from 'node:assert/strict';
import { SILENT } from '../../src/log.ts';
import { rename } from '../../src/rest/calls.ts';
import { RestClient } from '../../src/rest/client.ts';
import { json, settingsFor, startServer, type TestServer } from './server.ts';

const MAC = 'c0141f68fc3d';
const NEVER = new AbortController().signal;

describe('state after a call was stopped while it waited', () => {
  let server: TestServer;
  let client: RestClient;
  const call = (signal: AbortSignal) => rename(client, MAC, 'x', signal);
  const reached = (name: string) =>
    new Promise<void>((resolve) => {
      client.onState((state) => state.name === name && resolve());
    });

  beforeEach(async () => {
    server = await startServer((_, response) => json(response, {}, 503, { 'retry-after': '60' }));
    // With the system's clock, whose waits are long enough to be stopped.
    client = new RestClient(settingsFor(server.url), { log: SILENT });
  });
  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  for (const before of ['idle', 'connected'] as const) {
    it(`is ${before} again, as it was before`, async () => {
      const { answer } = server;
      if (before === 'connected') {
        server.answer = (_, response) => json(response, {});
        await call(NEVER);
        server.answer = answer;
      }
      const stop = new AbortController();
      const waits = reached('waiting');
      const stopped = assert.rejects(call(stop.signal), { code: 'CLOSED' });
      await waits;
      stop.abort();
      await stopped;
      assert.deepEqual(client.state, { name: before });
    });
  }

  it('stays while another call waits for its retry', async () => {
    const stops = [new AbortController(), new AbortController()];
    const waits = reached('waiting');
    const calls = stops.map(({ signal }) => assert.rejects(call(signal), { code: 'CLOSED' }));
    await waits;
    stops[0]!.abort();
    await calls[0];
    assert.deepEqual(client.state, { name: 'waiting', reason: '503' });
    stops[1]!.abort();
    await calls[1];
    assert.deepEqual(client.state, { name: 'idle' });
  });

  for (const [status, state] of [
    [401, { name: 'refused', reason: '401' }],
    [500, { name: 'failing', reason: '500' }],
    [200, { name: 'connected' }],
  ] as const) {
    it(`is that of the login, which goes on, and then how it has ended: ${status}`, async () => {
      const { login } = server;
      let end = (): void => undefined;
      const isAsked = new Promise<void>((resolve) => {
        server.login = (request, response) => {
          end = () => (status === 200 ? login(request, response) : json(response, {}, status));
          resolve();
        };
      });
      const stop = new AbortController();
      const stopped = assert.rejects(call(stop.signal), { code: 'CLOSED' });
      await isAsked;
      stop.abort();
      await stopped;
      assert.deepEqual(client.state, { name: 'connecting' });
      const told = reached(state.name);
      end();
      await told;
      assert.deepEqual(client.state, state);
    });
  }
});
