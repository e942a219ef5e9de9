// The device directory against a real HTTP server: how long it keeps, what it finds, what an outage does.
import assert from 'node:assert/strict';
import { once, setMaxListeners } from 'node:events';
import type { ServiceError } from '../../src/errors.ts';
import { SILENT } from '../../src/log.ts';
import type { RestClient } from '../../src/rest/client.ts';
import { DeviceDirectory } from '../../src/rest/device-directory.ts';
import { itAtScale } from '../at-scale.ts';
import { createClient, createClock, json, startServer, type TestServer } from './server.ts';

const macOf = (index: number) => index.toString(16).padStart(12, '0');

function createDevice(index: number, labels: unknown = [`floor-${index % 3}`]) {
  return {
    id: `bmac-${macOf(index)}`,
    friendlyName: `Room ${String(index).padStart(5, '0')}`,
    modelNumber: '2011',
    labels,
    connectivity: { connected: index % 2 === 0 },
  };
}

const MINUTE = 60_000;

describe('device directory', () => {
  let server: TestServer;
  let client: RestClient;
  let clock: ReturnType<typeof createClock>;
  let directory: DeviceDirectory;
  let devices: unknown[];

  beforeEach(async () => {
    devices = [0, 1, 2, 3, 4, 5].map((index) => createDevice(index));
    server = await startServer(({ url }, response) => {
      const start = Number(new URL(url, 'http://x').searchParams.get('NextToken') ?? 0);
      const isLast = start + 100 >= devices.length;
      json(response, {
        items: devices.slice(start, start + 100),
        nextToken: isLast ? null : `${start + 100}`,
      });
    });
    clock = createClock();
    client = createClient(server.url, { retries: 0 }, clock);
    directory = new DeviceDirectory(client, { log: SILENT, clock });
  });
  afterEach(async () => {
    directory.close();
    await client.close();
    await server.stop();
  });

  const names = async (q: string, limit = 10) => (await directory.search(q, limit)).map(({ name }) => name);

  const refresh = (maxAge: number) => directory.refresh(maxAge, new AbortController().signal);

  it('asks nobody before the first question', () => {
    assert.equal(directory.nameOf(macOf(1)), undefined);
    assert.equal(server.logins.length, 0);
  });

  const sizes = () =>
    server.calls.map(({ url }) => Number(new URL(url, 'http://x').searchParams.get('MaxResults')));
  const refuseAbove = (most: number, status: number) => {
    const { answer } = server;
    server.answer = (request, response) => {
      const size = Number(new URL(request.url, 'http://x').searchParams.get('MaxResults'));
      if (size > most) {
        json(response, { message: `${size}` }, status);
      } else {
        answer(request, response);
      }
    };
  };

  for (const status of [400, 422]) {
    it(`asks a service for fewer devices a page that refuses so many with ${status}, and goes on with that`, async () => {
      refuseAbove(20, status);
      devices = Array.from({ length: 120 }, (_, index) => createDevice(index));
      assert.deepEqual(await names('room 00119'), ['Room 00119']);
      assert.deepEqual(sizes(), [100, 50, 20, 20]);
      clock.time += 60_000;
      await refresh(1_000);
      assert.deepEqual(sizes(), [100, 50, 20, 20, 20, 20]);
      const next = new DeviceDirectory(client, { log: SILENT, clock });
      next.takeOver(directory);
      clock.time += 60_000;
      await next.refresh(1_000, new AbortController().signal);
      next.close();
      assert.deepEqual(sizes().slice(6), [20, 20]);
    });
  }

  it('tells what a service says to the most devices where it refuses any number, and tries again from there', async () => {
    refuseAbove(0, 400);
    const refused = { code: 'HTTP_ERROR', cause: { body: '{"message":"100"}' } };
    for (let i = 0; i < 2; i++) {
      await assert.rejects(refresh(1_000), (error: { code: string; cause: { body: string } }) => {
        assert.deepEqual({ code: error.code, cause: { body: error.cause.body } }, refused);
        return true;
      });
      clock.time += 60_000;
    }
    assert.deepEqual(sizes(), [100, 50, 20, 10, 100, 50, 20, 10]);
  });

  it('asks for as many as before where a page behind the first is refused, and for the most again after an hour', async () => {
    devices = Array.from({ length: 120 }, (_, index) => createDevice(index));
    const { answer } = server;
    server.answer = (request, response) =>
      request.url.includes('NextToken') ? json(response, {}, 400) : answer(request, response);
    await assert.rejects(refresh(1_000), { code: 'HTTP_ERROR' });
    assert.deepEqual(sizes(), [100, 100]);
    server.answer = answer;
    refuseAbove(50, 400);
    clock.time += MINUTE;
    await refresh(1_000);
    assert.deepEqual(sizes().slice(2, 4), [100, 50]);
    server.answer = answer;
    const asked = async () => {
      const before = server.calls.length;
      await refresh(1_000);
      return sizes()[before];
    };
    clock.time += 59 * MINUTE;
    assert.equal(await asked(), 50);
    clock.time += MINUTE;
    assert.equal(await asked(), 100);
  });

  it('asks once for a list that is not there', async () => {
    refuseAbove(0, 404);
    await assert.rejects(refresh(1_000), { code: 'HTTP_ERROR' });
    assert.deepEqual(sizes(), [100]);
  });

  it('goes on with the list and the new names of the one before it, and asks nobody for them', async () => {
    await directory.search('', 1);
    directory.renamed(`bmac-${macOf(2)}`, 'Kitchen');
    directory.close();
    const calls = server.calls.length;
    const next = new DeviceDirectory(client, { log: SILENT, clock });
    let told = 0;
    next.onNames(() => told++);
    next.takeOver(directory);
    assert.deepEqual(
      [next.nameOf(macOf(1)), next.nameOf(macOf(2)), next.listAge, told],
      ['Room 00001', 'Kitchen', 0, 1],
    );
    assert.deepEqual(next.knownGatewaysWithLabels(['floor-1']), new Set([macOf(1), macOf(4)]));
    assert.equal(server.calls.length, calls);
    // A rename counts until a list shows it, in the next directory too.
    clock.time += 61_000;
    await next.search('', 1);
    assert.equal(next.nameOf(macOf(2)), 'Room 00002');
    next.close();
  });

  it('gives what a picker shows', async () => {
    assert.deepEqual(await directory.search('room 00001', 10), [
      {
        id: `bmac-${macOf(1)}`,
        mac: macOf(1),
        name: 'Room 00001',
        labels: ['floor-1'],
        connected: false,
        model: '2011',
      },
    ]);
    assert.equal(directory.nameOf(macOf(1)), 'Room 00001');
  });

  it('finds by name, MAC in any spelling, and label, sorted, up to the limit', async () => {
    devices = [createDevice(0xab), createDevice(1, ['Kitchen']), { id: 'z', friendlyName: 'at 12:30' }];
    assert.deepEqual(await names('ROOM'), ['Room 00001', 'Room 00171']);
    assert.deepEqual(await names('', 1), ['at 12:30']);
    assert.deepEqual(await names('00:00:00:00:00:AB'), ['Room 00171']);
    assert.deepEqual(await names('bmac-0000000000ab'), ['Room 00171']);
    assert.deepEqual(await names('kitch'), ['Room 00001']);
    assert.deepEqual(await names('12:30'), ['at 12:30']);
    assert.deepEqual(await names('nothing'), []);
    assert.deepEqual(await names('', Number.NaN), []);
  });

  it('fetches the list once for all who wait, and keeps it for a minute', async () => {
    await Promise.all(Array.from({ length: 10 }, () => names('room')));
    clock.time += 29_000;
    await names('room');
    assert.equal(server.calls.length, 1);
    clock.time += 32_000;
    devices = [];
    assert.deepEqual(await names('room'), []);
    assert.equal(server.calls.length, 2);
  });

  it('fetches ahead while it is being used, so that nobody waits', async () => {
    await names('room');
    clock.time += 40_000;
    const asked = once(server.server, 'request');
    assert.equal((await names('room')).length, 6);
    await asked;
  });

  it('fetches a list that takes long as seldom for those who look all day', async () => {
    const { answer } = server;
    server.answer = (request, response) => {
      clock.time += 10_000;
      answer(request, response);
    };
    await names('room');
    directory.refreshInBackground();
    clock.time += 190_000;
    directory.refreshInBackground();
    await names('room', 1);
    assert.equal(server.calls.length, 2, 'a picker waits for nobody who looks');
    clock.time += 190_000;
    directory.refreshInBackground();
    assert.equal(server.calls.length, 2);
    clock.time += 20_000;
    const asked = once(server.server, 'request');
    directory.refreshInBackground();
    await asked;
  });

  it('fetches it half of the time at most while changes go on, and once more after the last one', async () => {
    const waits: { ms: number; end: () => void }[] = [];
    const wait = (ms: number) => new Promise<void>((end) => waits.push({ ms, end }));
    const looked = new DeviceDirectory(client, { log: SILENT, clock: { now: clock.now, wait } });
    const { answer } = server;
    server.answer = (request, response) => {
      clock.time += 10_000;
      answer(request, response);
    };
    await looked.search('room', 10);
    for (let time = 0; time < 10; time++) {
      looked.invalidate();
      looked.refreshInBackground();
      clock.time += 1_000;
    }
    assert.equal(server.calls.length, 1);
    assert.deepEqual(
      waits.map(({ ms }) => ms),
      [10_001],
    );
    const release = holdNext();
    clock.time += 1;
    waits[0]?.end();
    (await release)(devices);
    looked.close();
  });

  describe('that is followed', () => {
    const waits: { ms: number; end: () => void }[] = [];
    let followed: DeviceDirectory;
    /** How many lists were handed over. */
    let came: number;
    /** What followers were told of failures. */
    let failures: unknown[];

    beforeEach(async () => {
      waits.length = 0;
      came = 0;
      failures = [];
      const wait = (ms: number) => new Promise<void>((end) => waits.push({ ms, end }));
      followed = new DeviceDirectory(client, { log: SILENT, clock: { now: clock.now, wait } });
      await followed.search('room', 10);
    });
    afterEach(() => followed.close());

    const follow = () =>
      followed.follow((error) => (error === undefined ? void came++ : void failures.push(error)));
    const listed = () => [...followed.entries()].length;

    /** The next wait is over: what follows it has happened when `isDone`. */
    async function pass(isDone: () => boolean): Promise<void> {
      const { ms, end } = waits.shift()!;
      clock.time += ms;
      end();
      while (!isDone()) {
        await new Promise(setImmediate);
      }
    }

    it('hands over every list, whoever has asked for it, until it is not followed any more', async () => {
      const end = follow();
      followed.invalidate();
      await followed.search('room', 10);
      assert.equal(came, 1);
      end();
      followed.invalidate();
      await followed.search('room', 10);
      assert.equal(came, 1);
    });

    it('is fetched once for very many changes, soon after the first one', async () => {
      follow();
      devices = [];
      for (let time = 0; time < 12_000; time++) {
        followed.invalidate();
      }
      assert.deepEqual(
        waits.map(({ ms }) => ms),
        [1_001],
      );
      await pass(() => came === 1);
      assert.deepEqual([listed(), server.calls.length, waits.length], [0, 2, 0]);
    });

    it('is fetched half of the time at most while changes go on, and once more after the last one', async () => {
      const { answer } = server;
      server.answer = (request, response) => {
        clock.time += 10_000;
        followed.invalidate();
        answer(request, response);
      };
      follow();
      followed.invalidate();
      await pass(() => waits.length === 1);
      assert.deepEqual([came, waits[0]?.ms], [1, 10_001]);
      server.answer = answer;
      devices = [];
      await pass(() => came === 2);
      assert.deepEqual([listed(), waits.length], [0, 0]);
    });

    it('stays as it is when it cannot be fetched after a change, and is asked for again after a pause', async () => {
      const { answer } = server;
      server.answer = (_, response) => {
        clock.time += 60_000;
        json(response, {}, 500);
      };
      follow();
      followed.invalidate();
      await pass(() => waits.length === 1);
      assert.deepEqual([listed(), came, waits[0]?.ms], [6, 0, 60_001]);
      assert.deepEqual(
        failures.map((error) => (error as { code?: string }).code),
        ['HTTP_ERROR'],
      );
      server.answer = answer;
      devices = [];
      await pass(() => came === 1);
      assert.deepEqual([listed(), waits.length], [0, 0]);
    });

    it('tells nobody who follows it of a failure while no change has made it old', async () => {
      follow();
      clock.time += 61_000;
      server.answer = (_, response) => json(response, {}, 500);
      await assert.rejects(followed.refresh(0, new AbortController().signal), { code: 'HTTP_ERROR' });
      assert.deepEqual(failures, []);
    });

    it('is not fetched after a change while nobody follows it', () => {
      follow()();
      followed.invalidate();
      assert.deepEqual([waits.length, server.calls.length], [0, 1]);
    });
  });

  it('fetches it at once for who waits, however soon after a change', async () => {
    await names('room');
    devices = [];
    directory.invalidate();
    directory.refreshInBackground();
    assert.deepEqual(await names('room'), []);
  });

  it('keeps the last known list for pickers in an outage, and asks again after a pause', async () => {
    const { answer } = server;
    await names('room');
    clock.time += 61_000;
    server.answer = (_, response) => json(response, {}, 500);
    assert.equal((await names('room')).length, 6);
    assert.equal((await names('room')).length, 6);
    assert.equal(server.calls.length, 2);
    clock.time += 10_001;
    server.answer = answer;
    devices = [];
    assert.deepEqual(await names('room'), []);
  });

  it('throws when there never was a list', async () => {
    server.answer = (_, response) => json(response, {}, 500);
    await assert.rejects(names('room'), { code: 'HTTP_ERROR' });
  });

  it('gives the MACs of the gateways that carry one of the labels', async () => {
    devices.push(
      { id: 'no-mac', labels: ['floor-0'] },
      createDevice(9, null),
      createDevice(10, ['__proto__', 7]),
    );
    const macs = (...labels: string[]) => [...(directory.knownGatewaysWithLabels(labels) ?? [])].sort();
    await refresh(300_000);
    assert.deepEqual(macs('floor-0', 'floor-1'), [0, 1, 3, 4].map(macOf));
    assert.deepEqual(macs('__proto__'), [macOf(10)]);
    assert.deepEqual(macs('constructor', 'toString'), []);
  });

  it('tells who asks for labels that the list could not be read', async () => {
    await refresh(300_000);
    server.answer = (_, response) => json(response, {}, 500);
    clock.time += 299_000;
    await refresh(300_000);
    clock.time += 2_000;
    await assert.rejects(refresh(300_000), { code: 'HTTP_ERROR' });
  });

  it('lists the labels in use', async () => {
    assert.deepEqual(await directory.searchLabels('FLOOR', 2), ['floor-0', 'floor-1']);
  });

  it('tells the labels that a gateway may carry from those of devices below gateways', async () => {
    const below = new Set([0, 3].map(macOf));
    const mayBeGateway = (mac: string) => !below.has(mac);
    const other = new DeviceDirectory(client, { log: SILENT, clock, mayBeGateway });
    assert.equal(other.mayHaveGatewayWith(['floor-0']), true);
    devices = [createDevice(0, ['desk']), createDevice(1, ['hall']), createDevice(3, ['desk', 'hall'])];
    assert.deepEqual(await other.searchLabels('', 9, { ofGateways: true }), ['hall']);
    assert.deepEqual(await other.searchLabels('', 9), ['desk', 'hall']);
    assert.deepEqual(
      [['desk'], ['desk', 'hall'], ['nowhere']].map((labels) => other.mayHaveGatewayWith(labels)),
      [false, true, false],
    );
    other.close();
  });

  it('shows a change at once after it was told of it', async () => {
    await names('room');
    devices = [];
    directory.invalidate();
    assert.deepEqual(await names('room'), []);
  });

  it('does not take a list for new that was being fetched when a change came', async () => {
    const { answer } = server;
    const old = devices;
    let release = () => {};
    server.answer = (_, response) => {
      release = () => json(response, { items: old });
      server.server.emit('held');
    };
    const held = once(server.server, 'held');
    const first = names('room');
    await held;
    devices = [];
    directory.invalidate();
    server.answer = answer;
    release();
    assert.equal((await first).length, 6);
    assert.deepEqual(await names('room'), []);
  });

  it('ends a wait with CLOSED by the signal and when it is closed', async () => {
    server.answer = () => undefined;
    const stop = new AbortController();
    const one = directory.search('', 1, stop.signal);
    const two = directory.search('', 1);
    const asked = once(server.server, 'request');
    await asked;
    stop.abort();
    await assert.rejects(one, { code: 'CLOSED' });
    directory.close();
    await assert.rejects(two, { code: 'CLOSED' });
    await assert.rejects(directory.search('', 1), { code: 'CLOSED' });
  });

  it('reads a list of several pages', async () => {
    devices = Array.from({ length: 250 }, (_, index) => createDevice(index));
    assert.equal((await names('', 1000)).length, 250);
    assert.equal(server.calls.length, 3);
  });

  /** Holds the response to the next call; the others are answered at once. @returns answers it */
  function holdNext(): Promise<(items: unknown[], status?: number) => void> {
    const { answer } = server;
    return new Promise((resolve) => {
      server.answer = (_, response) => {
        server.answer = answer;
        resolve((items, status = 200) => json(response, { items }, status));
      };
    });
  }

  it('never replaces a list by one that was asked for earlier and came later', async () => {
    const asked = holdNext();
    const first = names('room');
    const release = await asked;
    const old = devices;
    directory.invalidate();
    devices = [createDevice(7)];
    assert.deepEqual(await names('room'), ['Room 00007']);
    release(old);
    assert.deepEqual(await first, ['Room 00007'], 'who asked first is given the newest list');
    assert.deepEqual(await names('room'), ['Room 00007']);
    assert.equal(directory.nameOf(macOf(1)), undefined);
    assert.equal(server.calls.length, 2);
  });

  it('keeps a newer list, and asks again as usual, when an earlier fetch fails later', async () => {
    const asked = holdNext();
    const first = names('room');
    const release = await asked;
    directory.invalidate();
    assert.equal((await names('room')).length, 6);
    release([], 500);
    assert.equal((await first).length, 6);
    directory.invalidate();
    devices = [];
    assert.deepEqual(await names('room'), []);
  });

  it('has who asks after a change wait for the newer fetch, also when the earlier one fails', async () => {
    const asked = holdNext();
    const first = names('room');
    const release = await asked;
    directory.invalidate();
    const askedAgain = holdNext();
    const second = names('room');
    const releaseNewer = await askedAgain;
    release([], 500);
    await assert.rejects(first, { code: 'HTTP_ERROR' });
    const third = names('room');
    releaseNewer([createDevice(7)]);
    assert.deepEqual(await Promise.all([second, third]), [['Room 00007'], ['Room 00007']]);
    assert.equal(server.calls.length, 2);
  });

  it('gives nothing to who has been stopped, nor when it is closed, however young its list', async () => {
    await names('room');
    const stopped = { code: 'CLOSED', text: { key: 'CLOSED.stopped', values: {} } };
    await assert.rejects(directory.search('', 1, AbortSignal.abort()), stopped);
    assert.equal((await names('room')).length, 6);
    directory.close();
    await assert.rejects(names('room'), stopped);
  });

  it('fetches at most twice at a time, however often a change comes', async () => {
    const releases: ((items: unknown[]) => void)[] = [];
    const waiting: Promise<string[]>[] = [];
    for (let time = 0; time < 2; time++) {
      const asked = holdNext();
      directory.invalidate();
      waiting.push(names('room'));
      releases.push(await asked);
    }
    for (let time = 0; time < 20; time++) {
      directory.invalidate();
      waiting.push(names('room'));
    }
    devices = [createDevice(9)];
    releases[1]?.([createDevice(8)]);
    const found = await Promise.all(waiting.slice(1));
    assert.deepEqual(found, [['Room 00008'], ...Array(20).fill(['Room 00009'])]);
    releases[0]?.([]);
    await waiting[0];
    assert.equal(server.calls.length, 3);
  });

  it('gives up a list that takes longer than 40 minutes, and tells who waits for it', async () => {
    server.answer = (_, response) => {
      clock.time += 20 * 60_000 + 1;
      const count = server.calls.length;
      json(response, { items: [createDevice(count)], nextToken: `t${count}` });
    };
    await assert.rejects(names('room'), {
      code: 'BAD_RESPONSE',
      cause: { body: '' },
      message: 'the list of devices was not complete after 40 minutes',
    });
    assert.equal(server.calls.length, 2);
  });

  it('asks at most once a second for labels, however new a list is wanted', async () => {
    for (let time = 0; time < 5; time++) {
      await refresh(0);
      clock.time += 200;
    }
    assert.equal(server.calls.length, 1);
    clock.time += 1;
    await refresh(0);
    assert.equal(server.calls.length, 2);
  });

  it('gives a picker no more than 1 000 devices and 4 million characters', async () => {
    devices = Array.from({ length: 1_100 }, (_, index) => createDevice(index, []));
    assert.equal((await names('', 5_000)).length, 1_000);
    directory.invalidate();
    const labels = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(2_000));
    devices = Array.from({ length: 1_000 }, (_, index) => createDevice(index, labels));
    assert.equal((await names('', 1_000)).length, Math.floor(4_000_000 / (8_000 + 17 + 12 + 10 + 4)));
  });

  it('lets 1 000 pickers wait for a list, and refuses more', async () => {
    const asked = holdNext();
    const waiting = Array.from({ length: 1_000 }, () => names('room'));
    const release = await asked;
    await assert.rejects(names('room'), {
      ...{ code: 'QUEUE_FULL', cause: { limit: 1_000 } },
      text: { key: 'QUEUE_FULL.waiting', values: { limit: 1_000 } },
    });
    await assert.rejects(directory.searchLabels('', 1), { code: 'QUEUE_FULL' });
    release(devices);
    assert.deepEqual(new Set((await Promise.all(waiting)).map(({ length }) => length)), new Set([6]));
    assert.equal((await names('room')).length, 6);
  });

  it('lets 10 000 queries of one node wait for the first list together, in little time, and refuses more', async () => {
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const began = performance.now();
    const waiting = Array.from({ length: 10_000 }, () =>
      directory.labelledGateways(['floor-1'], stop.signal),
    );
    const late = directory.labelledGateways(['floor-1'], stop.signal);
    await assert.rejects(late, { code: 'QUEUE_FULL', cause: { limit: 10_000 } });
    for (const found of await Promise.all(waiting)) {
      assert.deepEqual(found, new Set([macOf(1), macOf(4)]));
    }
    // One listener for each would have taken more than ten seconds on a fast machine.
    assert.ok(performance.now() - began < 6_000);
    assert.equal(server.calls.length, 1);
    const both = await directory.labelledGateways(['floor-1', 'floor-2'], stop.signal);
    assert.deepEqual([...both].sort(), [1, 2, 4, 5].map(macOf));
  });

  it('ends the wait of one node for the first list, and not that of another', async () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const ended = directory.labelledGateways(['floor-1'], one.signal);
    const found = directory.labelledGateways(['floor-1'], other.signal);
    one.abort();
    await assert.rejects(ended, { code: 'CLOSED' });
    assert.equal((await found).size, 2);
  });

  itAtScale('reads 2 000 pages of a list, whatever their size, and says where there are more', async () => {
    const warnings: string[] = [];
    const log = { ...SILENT, warn: (text: string) => warnings.push(text) };
    const other = new DeviceDirectory(client, { log, clock });
    server.answer = (_, response) => {
      const count = server.calls.length;
      json(response, { items: [createDevice(count)], nextToken: count === 2_000 ? null : `t${count}` });
    };
    const { signal } = new AbortController();
    await other.refresh(0, signal);
    assert.deepEqual([server.calls.length, warnings], [2_000, []]);
    other.invalidate();
    await other.refresh(0, signal);
    other.close();
    assert.equal(server.calls.length, 4_000);
    assert.equal(other.nameOf(macOf(4_000)), 'Room 04000');
    assert.deepEqual(warnings, ['the list of devices is cut after 2000']);
  });

  it('knows a device by its new name at once, whatever a list that is on its way says', async () => {
    const asked = holdNext();
    const first = names('room');
    const release = await asked;
    let told = 0;
    directory.onNames(() => told++);
    directory.renamed(`bmac-${macOf(1)}`, 'Cellar');
    assert.deepEqual([directory.nameOf(macOf(1)), told], ['Cellar', 1]);
    release(devices);
    await first;
    assert.deepEqual([directory.nameOf(macOf(1)), directory.nameOf(macOf(2))], ['Cellar', 'Room 00002']);
    assert.equal(told, 2);
    directory.invalidate();
    await names('room');
    assert.equal(directory.nameOf(macOf(1)), 'Room 00001', 'what was asked for later shows every rename');
  });

  it('lists a device once that the service gave on two pages', async () => {
    devices = Array.from({ length: 150 }, (_, index) => createDevice(index));
    devices[120] = { ...createDevice(3), friendlyName: 'Room moved' };
    assert.equal((await names('room', 1_000)).length, 149);
    assert.equal(directory.nameOf(macOf(3)), 'Room moved');
  });

  it('says once what it had to leave out', async () => {
    const warnings: string[] = [];
    const log = { ...SILENT, warn: (text: string) => warnings.push(text) };
    const other = new DeviceDirectory(client, { log, clock });
    const long = 'x'.repeat(2_001);
    devices = [createDevice(1, ['short', long]), { id: long }, { id: 'named', friendlyName: long }];
    for (let time = 0; time < 3; time++) {
      const found = await other.search('', 10);
      assert.deepEqual(
        found.map(({ name }) => name),
        ['Room 00001', `${'x'.repeat(2_000)}…`],
      );
      assert.deepEqual(found[0]?.labels, ['short']);
      other.invalidate();
    }
    other.close();
    const warning = 'the list of devices has ids or labels of more than 2000 characters, which are left out';
    assert.deepEqual(warnings.splice(0), [warning]);

    const follower = new DeviceDirectory(client, { log, clock });
    follower.takeOver(other);
    await follower.refresh(0, new AbortController().signal);
    assert.deepEqual(warnings, [], 'the one before has said so');
    const tooLong = devices;
    for (const [list, expected] of [
      [[createDevice(1)], []],
      [tooLong, [warning]],
    ] as const) {
      devices = [...list];
      follower.invalidate();
      await follower.search('', 10);
      assert.deepEqual(warnings, expected);
    }
    follower.close();
  });

  const lists = () => server.calls.filter(({ url }) => url.includes('devices')).length;

  describe('by its age', () => {
    /** Resolves when so many lists were asked for, and whatever was asked for before has arrived. */
    async function asked(count: number): Promise<void> {
      while (lists() < count) {
        await once(server.server, 'request');
      }
      await client.call('createLabel', { label: 'a' });
      assert.equal(lists(), count);
    }

    beforeEach(() => names('room'));

    it('serves pickers up to a minute, from half of it on with a newer one on its way', async () => {
      clock.time += 30_000;
      await names('room');
      await asked(1);
      clock.time += 1;
      await names('room');
      await asked(2);
    });

    it('serves a picker for a minute, and not longer', async () => {
      devices = [];
      clock.time += 60_000;
      const release = holdNext();
      assert.equal((await names('room')).length, 6);
      clock.time += 1;
      (await release)([]);
      assert.equal((await names('room')).length, 0);
    });

    it('serves labels as long as they say', async () => {
      clock.time += 5_000;
      await refresh(5_000);
      await asked(1);
      clock.time += 1;
      await refresh(5_000);
      await asked(2);
    });

    it('is fetched for those who look after a minute, by one fetch at a time, until it is closed', async () => {
      clock.time += 60_000;
      directory.refreshInBackground();
      await asked(1);
      clock.time += 1;
      const release = holdNext();
      directory.refreshInBackground();
      const answer = await release;
      directory.refreshInBackground();
      answer(devices);
      while (directory.listAge > 0) {
        await new Promise(setImmediate);
      }
      await asked(2);
      clock.time += 61_000;
      directory.close();
      directory.refreshInBackground();
      await asked(2);
    });

    it('is none after a change, and until one has come', async () => {
      assert.deepEqual([directory.listAge, directory.hasList], [0, true]);
      clock.time += 17;
      assert.equal(directory.listAge, 17);
      directory.invalidate();
      assert.deepEqual([directory.listAge, directory.hasList], [Number.POSITIVE_INFINITY, true]);
      const other = new DeviceDirectory(client, { log: SILENT, clock });
      assert.deepEqual([other.listAge, other.hasList], [Number.POSITIVE_INFINITY, false]);
      other.close();
    });

    it('takes as long to be fetched again at the directory that follows', async () => {
      const { answer } = server;
      server.answer = (request, response) => {
        clock.time += 10_000;
        answer(request, response);
      };
      directory.invalidate();
      await names('room');
      const next = new DeviceDirectory(client, { log: SILENT, clock });
      next.takeOver(directory);
      clock.time += 200_000;
      next.refreshInBackground();
      await asked(2);
      clock.time += 1;
      const due = once(server.server, 'request');
      next.refreshInBackground();
      await due;
      next.close();
    });
  });

  describe('that cannot be read', () => {
    const lines: string[] = [];
    let failing: DeviceDirectory;

    beforeEach(() => {
      lines.length = 0;
      const log = { ...SILENT, trace: (text: string) => void lines.push(text) };
      failing = new DeviceDirectory(client, { log, clock });
    });
    afterEach(() => failing.close());

    const fail = async (status: number) => {
      server.answer = (_, response) => json(response, {}, status);
      await assert.rejects(failing.search('', 1), { code: 'HTTP_ERROR' });
    };

    it('says why in the log, and as long as there is none to whoever asks', async () => {
      const { answer } = server;
      assert.equal(failing.problem, undefined);
      await fail(500);
      assert.equal((failing.problem as unknown as ServiceError).code, 'HTTP_ERROR');
      assert.deepEqual(lines, [
        'the list of devices could not be read: status 500 (GET /api/v1/devices): {}',
      ]);
      server.answer = answer;
      clock.time += 10_000;
      await failing.search('', 1);
      assert.equal(failing.problem, undefined);
      clock.time += 61_000;
      server.answer = (_, response) => json(response, {}, 500);
      await failing.search('', 1);
      assert.deepEqual([failing.problem, lines.length], [undefined, 2]);
    });

    it('is not asked for again for ten seconds, with the same error', async () => {
      await fail(500);
      clock.time += 9_999;
      await fail(404);
      assert.deepEqual([server.calls.length, lines.length], [1, 1]);
      clock.time += 1;
      await fail(404);
      assert.deepEqual([server.calls.length, lines.length], [2, 2]);
    });

    it('is not asked for by those who look either, as long as the failure took where that is longer', async () => {
      server.answer = (_, response) => {
        clock.time += 25_000;
        json(response, {}, 500);
      };
      await assert.rejects(failing.search('', 1));
      clock.time += 25_000;
      failing.refreshInBackground();
      await client.call('createLabel', { label: 'a' }).catch(() => undefined);
      assert.equal(lists(), 1);
      clock.time += 25_001;
      const again = once(server.server, 'request');
      failing.refreshInBackground();
      await again;
    });

    it('tells a picker that is stopped so, also where there is an old one', async () => {
      await failing.search('', 1);
      clock.time += 61_000;
      server.answer = () => undefined;
      const stop = new AbortController();
      const stopped = failing.search('', 1, stop.signal);
      await once(server.server, 'request');
      stop.abort();
      await assert.rejects(stopped, { code: 'CLOSED', text: { key: 'CLOSED.stopped', values: {} } });
      await assert.rejects(failing.search('', 1, AbortSignal.abort()), { code: 'CLOSED' });
    });

    it('is not told of to those who follow it when it is closed', async () => {
      await failing.search('', 1);
      const told: unknown[] = [];
      failing.follow((error) => void told.push(error));
      failing.invalidate();
      server.answer = () => undefined;
      const stopped = failing.search('', 1);
      await once(server.server, 'request');
      failing.close();
      await assert.rejects(stopped, { code: 'CLOSED' });
      assert.deepEqual(told, []);
    });
  });

  it('has of a device what the last known list has, asks nobody, and tells of names until it is to stop', async () => {
    let told = 0;
    const stop = directory.onNames(() => told++);
    assert.deepEqual([directory.entryOf(macOf(1)), [...directory.entries()]], [undefined, []]);
    assert.equal(directory.knownGatewaysWithLabels(['floor-1']), undefined);
    await names('room');
    assert.equal(directory.entryOf(macOf(1))?.name, 'Room 00001');
    assert.deepEqual([directory.entryOf(macOf(9)), [...directory.entries()].length, told], [undefined, 6, 1]);
    stop();
    directory.renamed(`bmac-${macOf(1)}`, 'Cellar');
    assert.equal(told, 1);
  });

  it('takes any device with a label for a gateway where nobody knows better', async () => {
    await names('room');
    assert.deepEqual(
      [['floor-1'], ['nowhere']].map((labels) => directory.mayHaveGatewayWith(labels)),
      [true, false],
    );
    assert.deepEqual(await directory.searchLabels('', 9, { ofGateways: true }), [
      'floor-0',
      'floor-1',
      'floor-2',
    ]);
  });
});
