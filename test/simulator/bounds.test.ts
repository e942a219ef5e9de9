// What others can make the simulator remember has a bound.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connectAsync, type MqttClient } from 'mqtt';
import { generate, type IConnackPacket, type Packet, parser } from 'mqtt-packet';
import { type Service, startService } from '../../simulator/src/index.ts';
import { fillOptions } from '../../simulator/src/options.ts';
import { createWorld } from '../../simulator/src/world.ts';
import { usedBuffers, usedMemory } from '../memory.ts';
import { atOnce } from './at-once.ts';

describe('what the simulator keeps for others', () => {
  let service: Service;
  let publisher: MqttClient;
  before(async () => {
    service = await startService({ rate: 0, queueLimit: 10, historyLimit: 5, control: false });
    publisher = await connectAsync(service.urls.mqtt);
  });
  after(async () => {
    await publisher.endAsync(true);
    await service.close();
  });

  const openSession = (): Promise<MqttClient> =>
    connectAsync(service.urls.mqtt, { clientId: 'session', clean: false, reconnectPeriod: 0 });

  async function publish(from: number, to: number): Promise<void> {
    for (let number = from; number < to; number++) {
      await publisher.publishAsync('queue/a', String(number), { qos: 1 });
    }
  }

  /** All payloads until these have come; what was kept may come after what is new. */
  function heardUntil(client: MqttClient, ...wanted: string[]): Promise<string[]> {
    const heard: string[] = [];
    return new Promise((resolve) => {
      client.on('message', (_topic, payload) => {
        heard.push(String(payload));
        if (wanted.every((each) => heard.includes(each))) {
          resolve(heard);
        }
      });
    });
  }

  it('is ten messages of a session that is away, and the session works as before when it is back', async () => {
    const first = await openSession();
    await first.subscribeAsync('queue/#', { qos: 1 });
    await first.endAsync(true);
    await publish(0, 30);
    const again = await openSession();
    const heard = heardUntil(again, '9', '99');
    await publish(30, 31);
    await publish(99, 100);
    assert.deepEqual(
      (await heard).filter((each) => Number(each) < 30),
      ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'],
    );
    assert.ok((await heard).includes('30'));
    await again.endAsync(true);
  });

  describe('of a session', () => {
    let other: Service;
    let sender: MqttClient;
    before(async () => {
      other = await startService({ rate: 0, queueLimit: 100, rest: false });
      sender = await connectAsync(other.urls.mqtt);
    });
    after(async () => {
      await sender.endAsync(true);
      await other.close();
    });

    const join = (clientId: string, clean = false) =>
      connectAsync(other.urls.mqtt, { clientId, clean, reconnectPeriod: 0 });

    /** Opens a session that is away while messages come. */
    async function fill(clientId: string, count: number): Promise<void> {
      const client = await join(clientId);
      await client.subscribeAsync('queue/#', { qos: 1 });
      await client.endAsync(true);
      for (let number = 0; number < count; number++) {
        await sender.publishAsync('queue/a', `${number}`, { qos: 1 });
      }
    }

    /** How many messages were kept for a session, which is discarded then. */
    async function countKept(clientId: string, last: string): Promise<number> {
      const client = await join(clientId);
      const { length } = await heardUntil(client, last);
      await client.endAsync(true);
      await (await join(clientId, true)).endAsync(true);
      return length;
    }

    it('leaves room again when it is discarded', async () => {
      await fill('first', 100);
      await (await join('first', true)).endAsync(true);
      await fill('second', 100);
      assert.equal(await countKept('second', '99'), 100);
    });

    it('leaves room for another one when it does not come back', async () => {
      await fill('gone', 100);
      await fill('new', 40);
      assert.equal(await countKept('new', '39'), 40);
      assert.equal(await countKept('gone', '99'), 60);
    });

    it('leaves room for another one also when it was sent everything and acknowledged nothing', async () => {
      const { port, hostname } = new URL(other.urls.mqtt);
      const frozen = connect(Number(port), hostname).resume();
      frozen.write(
        generate({ cmd: 'connect', protocolVersion: 4, clientId: 'frozen', clean: false, keepalive: 0 }),
      );
      frozen.write(
        generate({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'queue/#', qos: 1 }] }),
      );
      while (!other.broker!.subscriptions.has('frozen')) {
        await new Promise(setImmediate);
      }
      for (let number = 0; number < 100; number++) {
        await sender.publishAsync('queue/a', `${number}`, { qos: 1 });
      }
      frozen.destroy();
      while (other.broker!.subscriptions.has('frozen')) {
        await new Promise(setImmediate);
      }
      await fill('new', 40);
      assert.equal(await countKept('new', '39'), 40);
    });
  });

  /** A client that speaks for itself, with a session that stays: what it says after CONNECT, and the answers to it. */
  async function converse(clientId: string, packets: Packet[], answers: number): Promise<Packet[]> {
    const { port, hostname } = new URL(service.urls.mqtt);
    const socket = connect(Number(port), hostname);
    const heard: Packet[] = [];
    const reader = parser();
    const all = new Promise<void>((resolve) => {
      reader.on('packet', (packet) => {
        heard.push(packet);
        if (packet.cmd === 'connack') {
          packets.forEach((each) => void socket.write(generate(each)));
        }
        if (heard.length === answers + 1) {
          resolve();
        }
      });
    });
    socket.on('data', (data) => reader.parse(data));
    socket.write(generate({ cmd: 'connect', protocolVersion: 4, clientId, clean: false, keepalive: 0 }));
    await all;
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
    return heard;
  }
  const half = (messageId: number, payload: string | Buffer, dup = false): Packet => {
    return { cmd: 'publish', topic: 'half/a', payload, qos: 2, messageId, dup, retain: false };
  };

  it('is the number of a message of QoS 2 that is half received, and it is passed on once', async () => {
    const reader = await connectAsync(service.urls.mqtt);
    await reader.subscribeAsync('half/#');
    const heard = heardUntil(reader, 'end');
    await converse('half', [half(1, 'once')], 1);
    const again = await converse('half', [half(1, 'once', true), { cmd: 'pubrel', messageId: 1 }], 2);
    assert.deepEqual(
      again.map(({ cmd }) => cmd),
      ['connack', 'pubrec', 'pubcomp'],
    );
    await publisher.publishAsync('half/a', 'end');
    assert.deepEqual(await heard, ['once', 'end']);
    await reader.endAsync(true);
  });

  it('is no content of messages of QoS 2 that are never completed', async () => {
    await converse('large', [half(1, Buffer.alloc(900_000))], 1);
    const before = usedBuffers();
    for (let client = 0; client < 20; client++) {
      await converse(`large ${client}`, [half(1, Buffer.alloc(900_000)), half(2, Buffer.alloc(900_000))], 2);
    }
    assert.ok(usedBuffers() - before < 10_000_000, `${usedBuffers() - before} bytes`);
  });

  it('ends the connection of who completes no message of QoS 2 when there is no room, which others have then', async () => {
    const { port, hostname } = new URL(service.urls.mqtt);
    const socket = connect(Number(port), hostname).resume();
    socket.on('error', () => {});
    const closed = once(socket, 'close');
    const clientId = 'x'.repeat(60_000);
    socket.write(generate({ cmd: 'connect', protocolVersion: 4, clientId, clean: false, keepalive: 0 }));
    for (let messageId = 1; messageId <= 100; messageId++) {
      socket.write(generate(half(messageId, '')));
    }
    await closed;
    const answers = await converse('another', [half(1, '')], 1);
    assert.equal(answers[1]?.cmd, 'pubrec');
  });

  it('is the newest sessions, where those that are away have long filters', async () => {
    const name = 'x'.repeat(1_000);
    const subscriptions = (id: number) =>
      Array.from({ length: 50 }, (_, n) => ({ topic: `${id}/${n}/${name}`, qos: 1 as const }));
    for (let id = 0; id < 100; id++) {
      await converse(`long ${id}`, [{ cmd: 'subscribe', messageId: 1, subscriptions: subscriptions(id) }], 1);
    }
    const isKept = async (id: number) => {
      const [connack] = await converse(`long ${id}`, [], 0);
      return (connack as IConnackPacket).sessionPresent;
    };
    assert.deepEqual([await isKept(0), await isKept(99)], [false, true]);
  });

  it('is a thousand retained messages, and one that is there can be changed', async () => {
    for (let number = 0; number < 1_010; number++) {
      await publisher.publishAsync(`kept/${number}`, 'x', { retain: true, qos: 1 });
    }
    await publisher.publishAsync('kept/0', 'changed', { retain: true, qos: 1 });
    const reader = await connectAsync(service.urls.mqtt);
    const topics = new Map<string, string>();
    const all = new Promise<void>((resolve) => {
      reader.on('message', (topic, payload) => {
        topics.set(topic, String(payload));
        if (topics.size === 1_000) {
          resolve();
        }
      });
    });
    await reader.subscribeAsync('kept/#');
    await all;
    assert.deepEqual(
      [topics.get('kept/0'), topics.has('kept/999'), topics.has('kept/1000')],
      ['changed', true, false],
    );
    await reader.endAsync(true);
  });

  async function login(): Promise<Record<string, string>> {
    const body = JSON.stringify(service.credentials);
    const answer = await fetch(`${service.urls.auth}/api/v1/auth/login`, { method: 'POST', body });
    const { authToken } = (await answer.json()) as { authToken: string };
    return { authorization: `Bearer ${authToken}` };
  }

  it('is a thousand jobs, and the newest calls', async () => {
    const headers = await login();
    const post = async () =>
      (await fetch(`${service.urls.base}/api/v1/jobs`, { method: 'POST', headers, body: '{}' })).status;
    const statuses: number[] = [];
    for (let number = 0; number < 1_001; number++) {
      statuses.push(await post());
    }
    assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.at(-1)], [1_000, 507]);
    assert.ok(service.calls.rest.length <= 10);
  });

  it('is the beginning of a long body, also of a call without a login, and no long job', async () => {
    const many = JSON.stringify(Array.from({ length: 10_000 }, () => ({})));
    const post = async (headers: Record<string, string>, body: string) => {
      const over = once(service.events, 'rest');
      const { status } = await fetch(`${service.urls.base}/api/v1/jobs`, { method: 'POST', headers, body });
      await over;
      return { status, body: service.calls.rest.at(-1)?.body };
    };
    assert.deepEqual(await post({}, many), { status: 401, body: many.slice(0, 2_000) });
    assert.equal((await post(await login(), many)).status, 413);
    assert.deepEqual((await post({}, '{"devices":["a"]}')).body, { devices: ['a'] });
  });

  it('is no more memory than the beginning of long bodies takes', async () => {
    const other = await startService({ rate: 0, delay: 0, control: false });
    const client = await connectAsync(other.urls.mqtt);
    const body = JSON.stringify({ more: 'x'.repeat(900_000) });
    const topic = `mt/gateway/${other.demo.gateway}/request/x/read`;
    const ask = async () => {
      const requested = once(other.events, 'request');
      await client.publishAsync(topic, body);
      await requested;
      const called = once(other.events, 'rest');
      await fetch(`${other.urls.base}/api/v1/jobs`, { method: 'POST', body });
      await called;
    };
    await ask();
    const before = usedMemory();
    for (let count = 0; count < 20; count++) {
      await ask();
    }
    const grown = usedMemory() - before;
    await client.endAsync(true);
    await other.close();
    assert.ok(grown < 5_000_000, `${grown} bytes`);
  });

  it('is no body and no name without end', async () => {
    const headers = await login();
    const put = (body: string) =>
      fetch(`${service.urls.base}/api/v1/devices/${service.devices[0]!.id}/friendly-name`, {
        method: 'PUT',
        headers,
        body,
      });
    assert.equal((await put(JSON.stringify({ name: 'x'.repeat(10_001) }))).status, 400);
    await assert.rejects(put('x'.repeat(1_000_001)));
  });

  it('is a hundred labels of a device, and none without end', async () => {
    const headers = await login();
    const attach = async (label: string) => {
      const url = `${service.urls.base}/api/v1/devices/${service.devices[1]!.id}/labels`;
      const body = JSON.stringify({ label });
      return (await fetch(url, { method: 'POST', headers, body })).status;
    };
    const before = service.devices[1]!.labels.length;
    for (let number = before; number < 100; number++) {
      assert.equal(await attach(`label ${number}`), 200);
    }
    assert.deepEqual(
      [await attach('one more'), await attach('label 99'), await attach('x'.repeat(1_001))],
      [507, 200, 400],
    );
  });

  it('is no time at a stretch: it starts with 10 000 devices while everything else goes on', async () => {
    let turns = 0;
    let waiting = setImmediate(function count() {
      turns++;
      waiting = setImmediate(count);
    });
    const large = { gateways: 100, allDevices: 10_000, named: true, listed: 10_100, rate: 0 };
    const service = await startService(large);
    clearImmediate(waiting);
    await service.close();
    assert.ok(turns > 300, `${turns} turns`);
  });

  it('is nothing of samples that are forgotten, however many names they had', () => {
    const { samples, traffic, fleet } = atOnce(createWorld(fillOptions({ sampleLimit: 10 }), () => 0));
    const sample = { device: fleet.devices[0]!, form: 'raw', value: '00' } as const;
    const before = usedMemory();
    for (let number = 0; number < 50_000; number++) {
      traffic.sampleOf({ ...sample, identifier: `${number}-${'x'.repeat(60)}` });
    }
    const grown = usedMemory() - before;
    assert.equal(samples.all.size, 10);
    assert.ok(grown < 2_000_000, `${grown} bytes`);
  });

  it('counts the samples of a name that wait behind one as before, also after some were forgotten', () => {
    const { samples, traffic, fleet } = atOnce(createWorld(fillOptions({ sampleLimit: 3 }), () => 0));
    const sample = { device: fleet.devices[0]!, form: 'raw', value: '00' } as const;
    const take = (identifier: string) => traffic.sampleOf({ ...sample, identifier }).sample!;
    const backfillOf = (identifier: string) => samples.send(take(identifier), 0).backfillCount;
    assert.deepEqual(['a', 'a', 'b', 'a', 'b', 'b', 'b', 'a'].map(backfillOf), [
      ...[undefined, 1, undefined, 1, 1, 1, 2, undefined],
    ]);
  });

  it('is steered over HTTP within bounds, and says what is wrong', async () => {
    const steered = await startService({ rate: 0, gateways: 1, control: true });
    try {
      for (const [path, body] of [
        ['rate', { rate: 1e99 }],
        ['rate', { rate: -1 }],
        ['reports', { count: 1e6 }],
        ['samples', null],
        ['faults', null],
      ] as const) {
        const answer = await fetch(`${steered.urls.base}/simulator/${path}`, {
          method: 'POST',
          body: JSON.stringify(body),
        });
        assert.equal(answer.status, 400, path);
        assert.match(((await answer.json()) as { message: string }).message, /not an? /);
      }
    } finally {
      await steered.close();
    }
  });

  it('lets nobody steer it over HTTP when it is not told to', async () => {
    const answer = await fetch(`${service.urls.base}/simulator/rate`, { method: 'POST', body: '{"rate":9}' });
    assert.equal(answer.status, 401);
  });
});
