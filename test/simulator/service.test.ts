// The service in a box as a client meets it: over real HTTP and MQTT.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { connect, connectAsync, type MqttClient } from 'mqtt';
import type { Sample } from '../../simulator/src/samples.ts';
import { type Service, startService } from '../../simulator/src/service.ts';

type Json = Record<string, unknown>;

async function login(service: Service): Promise<Json> {
  const body = JSON.stringify(service.credentials);
  const answer = await fetch(`${service.urls.auth}/api/v1/auth/login`, { method: 'POST', body });
  const { authToken } = (await answer.json()) as Json;
  return { authorization: `Bearer ${authToken}` };
}

describe('the service in a box, REST half', () => {
  let service: Service;
  let headers: Record<string, string>;
  before(async () => {
    service = await startService({ mqtt: false });
    headers = (await login(service)) as Record<string, string>;
  });
  after(() => service.close());

  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${service.urls.base}/api/v1/${path}`, { headers, ...init });

  it('lists 250 devices in three pages, whose tokens must be URL-encoded', async () => {
    const ids: unknown[] = [];
    let query = 'MaxResults=100';
    let pages = 0;
    for (let more = true; more; pages++) {
      const page = (await (await call(`devices?${query}`)).json()) as { items: Json[]; nextToken?: string };
      ids.push(...page.items.map(({ id }) => id));
      more = page.nextToken !== undefined;
      if (!page.nextToken) {
        continue;
      }
      assert.match(page.nextToken, /\+.*\/.*=/);
      assert.equal((await call(`devices?NextToken=${page.nextToken}`)).status, 400);
      query = `MaxResults=100&NextToken=${encodeURIComponent(page.nextToken)}`;
    }
    assert.equal(pages, 3);
    assert.equal(new Set(ids).size, 250);
    assert.ok(ids.includes(`bmac-${service.demo.gateway}`));
  });

  it('lists what is below the gateways, too, when all is to have names, each its own', async () => {
    const named = await startService({ mqtt: false, named: true, listed: 60 });
    try {
      const { fleet, devices } = named;
      const real = [...fleet.gateways, ...fleet.devices].map(({ mac }) => `bmac-${mac}`);
      assert.deepEqual(
        devices.slice(0, real.length).map(({ id }) => id),
        real,
      );
      const names = devices.slice(0, real.length).map(({ friendlyName }) => friendlyName);
      assert.equal(new Set(names).size, real.length, names.join());
      assert.ok(names.includes('Lobby') && names.includes('Meeting room 2.10'), names.join());
      assert.equal(new Set(devices.map(({ id }) => id)).size, 60);
    } finally {
      await named.close();
    }
  });

  it('has a connected gateway of the model 2011 whose firmware is behind, with two gateways too', async () => {
    const two = await startService({ mqtt: false, gateways: 2, named: true });
    try {
      const behind = two.devices
        .slice(0, 2)
        .filter(({ modelNumber, connectivity }) => modelNumber === '2011' && connectivity.connected)
        .filter(({ firmwareVersion }) => firmwareVersion.startsWith('3.3.'));
      assert.equal(behind.length, 1);
    } finally {
      await two.close();
    }
  });

  it('lists the firmware that the devices themselves say when they are read', async () => {
    const named = await startService({ mqtt: false, named: true, listed: 60 });
    try {
      const said = [...named.fleet.gateways.map(({ self }) => self), ...named.fleet.devices].map(
        ({ values }) => values.get('8001'),
      );
      const listed = named.devices.slice(0, said.length).map(({ firmwareVersion }) => {
        const [, major, minor, patch, beta = '0'] = /^(\d+)\.(\d+)\.(\d+)(?:-beta\.(\d+))?$/.exec(
          firmwareVersion,
        )!;
        return Buffer.from([major, minor, patch, beta].map(Number)).toString('hex');
      });
      assert.deepEqual(listed, said);
    } finally {
      await named.close();
    }
  });

  it('renames devices, attaches and removes labels', async () => {
    const id = `bmac-${service.demo.gateway}`;
    const name = 'a/b #7 %20 "ü" 🏢';
    await call(`devices/${id}/friendly-name`, { method: 'PUT', body: JSON.stringify({ name }) });
    assert.equal(service.devices[0]?.friendlyName, name);
    await call('labels', { method: 'POST', body: '{"label":"x/y"}' });
    assert.ok(service.portal.labels.has('x/y'));
    await call(`devices/${id}/labels`, { method: 'POST', body: '{"label":"x/y"}' });
    assert.ok(service.devices[0]?.labels.includes('x/y'));
    await call(`devices/${id}/labels/${encodeURIComponent('x/y')}`, { method: 'DELETE' });
    assert.ok(!service.devices[0]?.labels.includes('x/y'));
  });

  it('answers 401 without a token, with a revoked one and after a wrong password', async () => {
    assert.equal((await call('devices', { headers: {} })).status, 401);
    const old = (await login(service)) as Record<string, string>;
    service.tokens.revoke();
    assert.equal((await call('devices', { headers: old })).status, 401);
    const body = JSON.stringify({ username: 'demo', password: 'wrong' });
    assert.equal((await call('auth/login', { method: 'POST', body })).status, 401);
    headers = (await login(service)) as Record<string, string>;
  });

  it('makes faults as often as told, for the calls they name', async () => {
    const fault = {
      kind: 'status',
      status: 429,
      retryAfter: 1,
      only: 'GET /api/v1/devices',
      times: 1,
    } as const;
    service.faults.rest.add(fault);
    assert.equal((await call('labels')).status, 200);
    const refused = await call('devices');
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '1']);
    assert.equal((await call('devices')).status, 200);
    for (const when of ['before', 'after', 'body'] as const) {
      service.faults.rest.add({ kind: 'reset', when, times: 1 });
      await assert.rejects(call('devices').then((answer) => answer.text()));
    }
  });

  it('remembers what it was asked', async () => {
    service.forgetCalls();
    assert.deepEqual(service.calls.rest, []);
    const seen = once(service.events, 'rest');
    await call('echo/x?a=1', { method: 'PATCH', body: '{"b":2}' });
    await seen;
    const [{ method, path, query, body } = assert.fail()] = service.calls.rest;
    assert.deepEqual(
      { method, path, query, body },
      {
        method: 'PATCH',
        path: '/api/v1/echo/x',
        query: { a: '1' },
        body: { b: 2 },
      },
    );
  });
});

describe('the service in a box, MQTT half', () => {
  let service: Service;
  let client: MqttClient;
  let prefix: string;
  before(async () => {
    service = await startService({ rest: false, gateways: 1, rate: 0, delay: 1, ackTimeout: 100 });
    client = await connectAsync(service.urls.mqtt);
    prefix = `mt/gateway/${service.demo.gateway}`;
    await client.subscribeAsync(`${prefix}/response/#`, { qos: 1 });
  });
  after(async () => {
    await client.endAsync(true);
    await service.close();
  });

  /** The next message whose topic and payload are wanted. */
  function next(wanted: (topic: string, body: Json) => boolean): Promise<Json> {
    return new Promise((resolve) => {
      client.on('message', function look(topic, payload) {
        const body = JSON.parse(payload.toString()) as Json;
        if (!wanted(topic, body)) {
          return;
        }
        client.off('message', look);
        resolve(body);
      });
    });
  }

  async function ask(suffix: string, body: Json = {}): Promise<Json> {
    const answer = next((topic) => topic === `${prefix}/response/${suffix}`);
    await client.publishAsync(`${prefix}/request/${suffix}`, JSON.stringify({ id: 'i', ...body }));
    return answer;
  }

  it('reads the demo device: firmware 3.4.1, raw and decoded', async () => {
    const { device } = service.demo;
    assert.equal((await ask(`${device}/read/8001`)).value, '03040100');
    const decoded = await ask(`${device}/read-decoded/firmware-version`);
    assert.deepEqual([decoded.value, decoded.status, decoded.id, decoded.origin], ['3.4.1', 0, 'i', 0]);
  });

  it('keeps what is written, and reaches unconnected devices through an extender', async () => {
    const { device } = service.demo;
    assert.equal((await ask(`${device}/write/8110`, { value: '04' })).status, 0);
    const mode = await ask(`${device}/read-decoded/device-mode`);
    assert.deepEqual([mode.value, mode.origin, typeof mode.extenderId], ['unconnected', 1, 'string']);
    assert.equal((await ask(`${device}/write-decoded/device-mode`, { value: 'connected' })).status, 0);
    assert.equal((await ask(`${device}/read/8110`)).value, '02');
  });

  it('refuses what a gateway refuses', async () => {
    const { device, gateway } = service.demo;
    assert.notEqual((await ask(`${device}/read/ee8001`)).status, 0);
    assert.notEqual((await ask(`${device}/write/8001`, { value: '01020300' })).status, 0);
    assert.notEqual((await ask(`${device}/apiversion`)).status, 0);
    for (const operation of ['reset', 'constructor', 'toString', '__proto__']) {
      const { status, errorMessage } = await ask(`${device}/${operation}`);
      assert.deepEqual([status, errorMessage], [1, 'operation unknown'], operation);
    }
    assert.equal((await ask(`${gateway}/apiversion`)).version, '2.4.0');
    assert.equal((await ask('001122334455/read/8001')).origin, 32);
    assert.notEqual((await ask(`${device}/write/9800`, { value: '01', extenderId: 'aabb' })).status, 0);
    assert.equal((await ask(`${device}/write/9800`, { value: '01', extenderId: 'AABB' })).status, 0);
  });

  it('refuses what is of an odd type, and goes on', async () => {
    const { device } = service.demo;
    const odd = { toString: 1 };
    for (const [suffix, body] of [
      [`${device}/ack/8800`, { time: odd }],
      [`${device}/ack-decoded/temperature`, { time: odd }],
      [`${device}/write/9800`, { value: '01', key: odd }],
      [`${device}/write/9800`, { value: '01', publicKey: odd }],
      [`${device}/write/9800`, { value: odd }],
      [`${device}/write-decoded/led-mode`, { value: odd }],
      [`${device}/write/9800`, { value: '01', extenderId: odd }],
    ] as const) {
      assert.ok(Number((await ask(suffix, body)).status) > 0, JSON.stringify([suffix, body]));
    }
    assert.equal((await ask(`${device}/write/8110`, { value: '04' })).status, 0);
    assert.ok(Number((await ask(`${device}/read/8001`, { extenderId: odd })).status) > 0);
    assert.equal((await ask(`${device}/write/8110`, { value: '02' })).status, 0);
    service.faults.answers.refuseWith = 7;
    assert.equal((await ask(`${device}/read/8001`, { id: odd })).status, 7);
    service.faults.answers.refuseWith = 0;
  });

  it('is busy while a device reports all its properties', async () => {
    const { device } = service.demo;
    assert.equal((await ask(`${device}/write/8302`)).status, 0);
    assert.notEqual((await ask(`${device}/write/8302`)).status, 0);
  });

  it('sends a sample again as backfill until it is acknowledged', async () => {
    await client.subscribeAsync(`${prefix}/device/+/timestamped/#`, { qos: 1 });
    const again = next((topic, { flags }) => topic.includes('/timestamped/') && flags === '09');
    await service.publishSamples(20);
    assert.ok(Number((await again).backfillCount) > 0);
    const mine = ({ device, form }: Sample): boolean =>
      device.home.mac === service.demo.gateway && form === 'raw';
    const sample = service.samples.unacknowledged.find(mine) ?? assert.fail();
    const answer = await ask(`${sample.device.mac}/ack/${sample.identifier}`, { time: sample.time });
    assert.equal(answer.status, 0);
    assert.equal(sample.acknowledged, true);
    assert.notEqual((await ask(`${sample.device.mac}/ack/8800`, { time: 'never' })).status, 0);
  });

  it('carries out a request once, and none while away, however often a gateway was told to come back', async () => {
    const { gateway } = service.demo;
    const other = await startService({ rest: false, gateways: 1, rate: 0, delay: 0 });
    const asker = await connectAsync(other.urls.mqtt);
    await asker.subscribeAsync('echo');
    /** How often a request was carried out when a message that was sent after it is back. */
    const carriedOut = async (): Promise<number> => {
      other.forgetCalls();
      await asker.publishAsync(`mt/gateway/${gateway}/request/${gateway}/apiversion`, '{"id":"1"}', {
        qos: 1,
      });
      const echo = new Promise((resolve) => asker.once('message', resolve));
      await asker.publishAsync('echo', '', { qos: 1 });
      await echo;
      return other.calls.operations.length;
    };
    try {
      await other.back(gateway);
      assert.equal(await carriedOut(), 1);
      await other.away(gateway);
      await Promise.all([other.back(gateway), other.back(gateway), other.back(gateway)]);
      assert.equal(await carriedOut(), 1);
      await Promise.all([other.away(gateway), other.back(gateway), other.away(gateway)]);
      assert.equal(await carriedOut(), 0);
    } finally {
      await asker.endAsync(true);
      await other.close();
    }
  });

  for (const [when, last] of [
    ['while it was away by itself', 'away'],
    ['while it was there', 'back'],
  ] as const) {
    it(`lets a gateway go away now and then, but leaves one alone that was sent away ${when}`, async () => {
      const other = await startService({ rest: false, gateways: 1, rate: 0, awayEvery: 0.03, awayFor: 0.03 });
      const gateway = other.gateways[0]!;
      let timesBack = 0;
      try {
        await once(other.events, 'away');
        await once(other.events, last);
        await other.steer({ gateway: gateway.mac, away: true });
        other.events.on('back', () => timesBack++);
        // Time is the subject: five turns.
        await wait(300);
        assert.deepEqual([timesBack, gateway.online], [0, false]);
        await other.steer({ gateway: gateway.mac, away: false });
        await once(other.events, 'away');
        await once(other.events, 'back');
      } finally {
        await other.close();
      }
    });
  }

  it('keeps the samples of an absent gateway until it returns', async () => {
    const { gateway } = service.demo;
    await service.away(gateway);
    await service.publishSamples(20);
    const late = next((topic, { flags }) => topic.includes('/timestamped/') && flags === '09');
    await service.back(gateway);
    await late;
  });

  it('marks what it sends a session once more after a loss, and not what has waited there', async () => {
    const session = { clientId: 'marked', clean: false, reconnectPeriod: 0 };
    const heard = (other: MqttClient, count: number) =>
      new Promise<[string, boolean][]>((resolve) => {
        const all: [string, boolean][] = [];
        other.on('message', (_topic, payload, { dup }) => {
          all.push([String(payload), dup]);
          if (all.length === count) {
            resolve(all);
          }
        });
      });
    const first = await connectAsync(service.urls.mqtt, session);
    await first.subscribeAsync('marked/#', { qos: 1 });
    // Taken, and not acknowledged.
    first.handleMessage = (_packet, done) => done(new Error('later'));
    const before = heard(first, 1);
    await client.publishAsync('marked/a', '1', { qos: 1 });
    assert.deepEqual(await before, [['1', false]]);
    const closed = new Promise<void>((resolve) => first.once('close', () => resolve()));
    first.stream.destroy();
    await closed;
    await client.publishAsync('marked/a', '2', { qos: 1 });
    const again = connect(service.urls.mqtt, session);
    assert.deepEqual(await heard(again, 2), [
      ['1', true],
      ['2', false],
    ]);
    await again.endAsync(true);
  });
});
