// When the names of devices are fetched in the background: against a real HTTP server, by a clock that waits for the test.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { SILENT } from '../../src/log.ts';
import type { RestClient } from '../../src/rest/client.ts';
import { DeviceDirectory } from '../../src/rest/device-directory.ts';
import { NameRefresh } from '../../src/rest/name-refresh.ts';
import { createClient, createClock, json, startServer, type TestServer } from './server.ts';

const MAC = 'c0141f68fc3d';

/** Waits end when the test says so; the time is shared with the rest of the REST half. */
function createHeldClock(time: ReturnType<typeof createClock>) {
  const waiting = new Set<{ ms: number; end(): void }>();
  let hear = (): void => {};
  return {
    now: time.now,
    wait: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const wait = { ms, end: resolve };
        signal.addEventListener('abort', () => {
          waiting.delete(wait);
          reject(new Error('aborted'));
        });
        waiting.add(wait);
        hear();
      }),
    /** Milliseconds of the wait that is under way, or of the next one. */
    async waitsFor(): Promise<number> {
      for (;;) {
        for (const { ms } of waiting) {
          return ms;
        }
        await new Promise<void>((resolve) => {
          hear = resolve;
        });
      }
    },
    /** Lets the time pass for which it waits. */
    async pass(): Promise<void> {
      time.time += await this.waitsFor();
      for (const wait of waiting) {
        waiting.delete(wait);
        wait.end();
      }
    },
    /** How many wait. */
    get waits() {
      return waiting.size;
    },
  };
}

describe('names in the background', () => {
  let server: TestServer;
  let client: RestClient;
  let directory: DeviceDirectory;
  let time: ReturnType<typeof createClock>;
  let clock: ReturnType<typeof createHeldClock>;
  let names: NameRefresh;
  const warnings: string[] = [];

  beforeEach(async () => {
    server = await startServer((_, response) =>
      json(response, { items: [{ id: `bmac-${MAC}`, friendlyName: 'Berlin' }] }),
    );
    time = createClock();
    clock = createHeldClock(time);
    client = createClient(server.url, { retries: 0 }, time);
    directory = new DeviceDirectory(client, { log: SILENT, clock: time });
    warnings.length = 0;
    const log = { ...SILENT, warn: (text: string) => warnings.push(text) };
    names = new NameRefresh(directory, { log, clock });
  });
  afterEach(async () => {
    names.close();
    directory.close();
    await client.close();
    await server.stop();
  });

  const MINUTE = 60_000;

  it('are fetched a second after the first use, and every ten minutes', async () => {
    names.use();
    assert.equal(server.calls.length, 0);
    assert.equal(await clock.waitsFor(), 1_000);
    await clock.pass();
    assert.equal(await clock.waitsFor(), 10 * MINUTE);
    assert.equal(directory.nameOf(MAC), 'Berlin');
    await clock.pass();
    assert.equal(await clock.waitsFor(), 10 * MINUTE);
    assert.equal(server.calls.length, 2);
  });

  it('are not fetched before somebody uses them, nor after the last one has gone', async () => {
    const ends = [names.use(), names.use()];
    ends[0]?.();
    ends[0]?.();
    assert.equal(clock.waits, 1);
    await clock.pass();
    await clock.waitsFor();
    ends[1]?.();
    assert.equal(clock.waits, 0);
    assert.equal(server.calls.length, 1);
  });

  it('are not fetched anew because flows are deployed', async () => {
    const end = names.use();
    await clock.pass();
    await clock.waitsFor();
    end();
    time.time += MINUTE;
    names.use();
    assert.equal(await clock.waitsFor(), 9 * MINUTE);
    assert.equal(server.calls.length, 1);
  });

  it('are fetched at once for flows that are deployed while the list is on its way', async () => {
    const { answer } = server;
    server.answer = () => undefined;
    const end = names.use();
    const asked = once(server.server, 'request');
    await clock.pass();
    await asked;
    end();
    // Whoever waited for the list hears of it first.
    await new Promise((resolve) => setImmediate(resolve));
    server.answer = answer;
    names.use();
    assert.equal(await clock.waitsFor(), 0);
  });

  it('come from the list that a picker has fetched', async () => {
    await directory.search('', 1);
    time.time += 4 * MINUTE;
    names.use();
    await clock.pass();
    assert.equal(await clock.waitsFor(), 6 * MINUTE - 1_000);
    assert.equal(server.calls.length, 1);
    await clock.pass();
    await clock.waitsFor();
    assert.equal(server.calls.length, 2);
  });

  it('are asked for later and later while the service fails, which is told once', async () => {
    const { answer } = server;
    server.answer = (_, response) => json(response, {}, 500);
    names.use();
    await clock.pass();
    const waits: number[] = [];
    for (let failure = 0; failure < 5; failure++) {
      waits.push((await clock.waitsFor()) / MINUTE);
      await clock.pass();
    }
    assert.deepEqual(waits, [1, 2, 4, 8, 10]);
    await clock.waitsFor();
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /^reports have no names, .*status 500/);
    server.answer = answer;
    await clock.pass();
    assert.equal(await clock.waitsFor(), 10 * MINUTE);
    assert.equal(directory.nameOf(MAC), 'Berlin');
    server.answer = (_, response) => json(response, {}, 500);
    await clock.pass();
    assert.equal(await clock.waitsFor(), MINUTE);
    assert.equal(warnings.length, 2, 'another outage is told again');
    assert.equal(directory.nameOf(MAC), 'Berlin', 'the last known names stay');
  });

  it('are not asked for sooner because flows are deployed while the service fails', async () => {
    server.login = (_, response) => json(response, {}, 401);
    const end = names.use();
    await clock.pass();
    await clock.waitsFor();
    end();
    time.time += 20_000;
    names.use();
    assert.equal(await clock.waitsFor(), 40_000);
    assert.deepEqual([server.logins.length, warnings.length], [1, 1]);
  });

  it('are asked for in ten minutes again where a change came while the list did', async () => {
    const { answer } = server;
    server.answer = (request, response) => {
      directory.invalidate();
      answer(request, response);
    };
    names.use();
    await clock.pass();
    assert.equal(await clock.waitsFor(), 10 * MINUTE);
    assert.equal(directory.nameOf(MAC), 'Berlin');
  });

  it('are not missed in the log while the service has no login', async () => {
    const other = createClient(server.url, { username: '' }, time);
    const log = { ...SILENT, warn: (text: string) => warnings.push(text) };
    names = new NameRefresh(new DeviceDirectory(other, { log: SILENT, clock: time }), { log, clock });
    names.use();
    await clock.pass();
    assert.equal(await clock.waitsFor(), MINUTE);
    assert.deepEqual(warnings, []);
    await other.close();
  });

  it('are given up at once when the service is closed', async () => {
    server.answer = () => undefined;
    names.use();
    const asked = once(server.server, 'request');
    await clock.pass();
    await asked;
    names.close();
    directory.close();
    await client.close();
    assert.deepEqual([clock.waits, warnings], [0, []]);
  });

  it('are not missed in the log because the client is closed first', async () => {
    server.answer = () => undefined;
    names.use();
    const asked = once(server.server, 'request');
    await clock.pass();
    await asked;
    await client.close();
    await clock.waitsFor();
    assert.deepEqual(warnings, []);
  });
});
