// The scripted broker itself, asked by plain MQTT.js clients: what a test sets is what a client meets.
import assert from 'node:assert/strict';
import {
  connect,
  connectAsync,
  type IClientOptions,
  type MqttClient,
  type MqttClientEventCallbacks,
} from 'mqtt';
import { type ScriptedBroker, startScriptedBroker } from './broker.ts';
import { PROFILES, type ProfileName } from './profiles.ts';

const FILTER = 'a/+';

describe('the scripted broker', () => {
  let broker: ScriptedBroker;
  const clients: MqttClient[] = [];

  before(async () => {
    broker = await startScriptedBroker();
  });
  after(() => broker.stop());
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
    await broker.reset();
  });

  const options = (changes: IClientOptions): IClientOptions => ({ reconnectPeriod: 0, ...changes });

  async function join(changes: IClientOptions = {}): Promise<MqttClient> {
    const client = await connectAsync(broker.url, options(changes));
    clients.push(client);
    client.on('error', () => {});
    return client;
  }

  /** The first value of the next such event; unlike `once` of node:events an error in between changes nothing. */
  function event<E extends keyof MqttClientEventCallbacks>(
    client: MqttClient,
    name: E,
  ): Promise<Parameters<MqttClientEventCallbacks[E]>[0]> {
    return new Promise((resolve) => {
      client.once(name, ((value: never) => resolve(value)) as MqttClientEventCallbacks[E]);
    });
  }

  /** What a client has received, as text. */
  function inbox(client: MqttClient): string[] {
    const texts: string[] = [];
    client.on('message', (_, payload) => texts.push(payload.toString()));
    return texts;
  }

  /** Resolves when the client has handled everything that was sent to it before. */
  async function settled(client: MqttClient): Promise<void> {
    await client.subscribeAsync('nothing');
    await client.unsubscribeAsync('nothing');
  }

  for (const protocolVersion of [4, 5] as const) {
    describe(`with MQTT ${protocolVersion}`, () => {
      it('brings every message of each QoS once to whom it concerns, and retained ones to newcomers', async () => {
        const [sender, receiver] = [await join({ protocolVersion }), await join({ protocolVersion })];
        const texts = inbox(receiver);
        await receiver.subscribeAsync(FILTER, { qos: 2 });
        for (const qos of [0, 1, 2] as const) {
          await sender.publishAsync('a/b', `${qos}`, { qos });
        }
        await sender.publishAsync('b/c', 'other', { qos: 2 });
        await sender.publishAsync('a/kept', 'kept', { qos: 1, retain: true });
        const newcomer = await join({ protocolVersion });
        const its = inbox(newcomer);
        await newcomer.subscribeAsync(FILTER, { qos: 1 });
        await settled(newcomer);
        await settled(receiver);
        assert.deepEqual(texts, ['0', '1', '2', 'kept']);
        assert.deepEqual(its, ['kept']);
      });

      it('keeps a session with what was published meanwhile, and sends again what was not acknowledged', async () => {
        const client = await join({
          protocolVersion,
          clientId: 'keeper',
          clean: false,
          ...(protocolVersion === 5 ? { properties: { sessionExpiryInterval: 60 } } : {}),
        });
        await client.subscribeAsync(FILTER, { qos: 1 });
        client.handleMessage = () => {}; // Never called back: never acknowledged.
        const closed = event(client, 'close');
        broker.publish('a/b', 'first');
        broker.drop('keeper');
        await closed;
        broker.publish('a/b', 'second');
        const session = broker.sessions.get('keeper');
        assert.deepEqual([session?.unacknowledged.length, session?.queued.length], [1, 1]);
        const again = connect(broker.url, {
          ...options({ protocolVersion, clientId: 'keeper', clean: false }),
          ...(protocolVersion === 5 ? { properties: { sessionExpiryInterval: 60 } } : {}),
        });
        clients.push(again);
        const packets: [string, boolean][] = [];
        again.on('message', (_, payload, { dup }) => packets.push([payload.toString(), dup]));
        await broker.until(() => packets.length === 2 && session?.unacknowledged.length === 0);
        assert.deepEqual(packets, [
          ['first', true],
          ['second', false],
        ]);
      });

      it('refuses what it is told to refuse, grants less than asked, and counts the subscriptions', async () => {
        broker.options.refuses = (filter) => filter === 'no';
        broker.options.maxGrantedQos = 0;
        broker.options.maxSubscriptions = 2;
        const client = await join({ protocolVersion, clientId: 'c' });
        const granted = async (filter: string) => {
          const [one] = await client
            .subscribeAsync(filter, { qos: 1 })
            .catch((error) => [{ qos: error.code }]);
          return one?.qos;
        };
        assert.deepEqual([await granted('a'), await granted('b')], [0, 0]);
        await assert.rejects(client.subscribeAsync('no'));
        await assert.rejects(client.subscribeAsync('c'));
        assert.deepEqual(
          [...broker.subscriptionsOf('c')],
          [
            ['a', 0],
            ['b', 0],
          ],
        );
      });
    });
  }

  it('withholds a reply until it is released, and forgets it with the connection', async () => {
    const client = await join();
    broker.options.withhold = ['suback', 'puback'];
    const subscribed = client.subscribeAsync(FILTER, { qos: 1 });
    const published = client.publishAsync('a/b', 'text', { qos: 1 });
    await broker.until(({ withheld }) => withheld.length === 2);
    assert.equal(broker.publish('a/b', 'nobody is subscribed yet'), 0);
    broker.release('puback');
    await published;
    broker.release();
    assert.equal((await subscribed)[0]?.qos, 1);
    const lost = client.publishAsync('a/b', 'text', { qos: 1 }).catch(() => 'lost');
    await broker.until(({ withheld }) => withheld.length === 1);
    broker.drop();
    await broker.until(({ openConnections }) => openConnections.length === 0);
    broker.release();
    client.end(true);
    assert.equal(await lost, 'lost');
  });

  it('delivers per subscription when told so', async () => {
    broker.options.delivery = 'per-subscription';
    const client = await join();
    await client.subscribeAsync({ 'a/+': { qos: 1 }, 'a/#': { qos: 0 } });
    assert.equal(broker.publish('a/b', 'twice'), 2);
    broker.options.delivery = 'once';
    assert.equal(broker.publish('a/b', 'once'), 1);
  });

  it('gives a message of a shared subscription to one member, or to nobody when it does not know them', async () => {
    const members = [await join(), await join()];
    const inboxes = members.map(inbox);
    for (const member of members) {
      await member.subscribeAsync('$share/g/a/+', { qos: 1 });
    }
    for (let i = 0; i < 4; i++) {
      assert.equal(broker.publish('a/b', `${i}`), 1);
    }
    await Promise.all(members.map(settled));
    assert.deepEqual(inboxes, [
      ['0', '2'],
      ['1', '3'],
    ]);
    broker.options.sharedSubscriptions = 'plain';
    assert.equal(broker.publish('a/b', 'text'), 0);
    broker.options.sharedSubscriptions = 'refused';
    await assert.rejects((members[0] as MqttClient).subscribeAsync('$share/g/b'));
  });

  it('ends the connection of a client that goes beyond a limit', async () => {
    const beyond: Record<string, (client: MqttClient) => void> = {
      maxFiltersPerSubscribe: (client) => void client.subscribe(['a', 'b']),
      maxPacketSize: (client) => void client.publish('a', 'x'.repeat(200)),
      maxQos: (client) => void client.publish('a', 'x', { qos: 2 }),
      receiveMaximum: (client) => {
        broker.options.withhold = ['puback'];
        for (const text of ['1', '2']) {
          client.publish('a', text, { qos: 1 });
        }
      },
    };
    for (const [limit, act] of Object.entries(beyond)) {
      await broker.reset({ maxFiltersPerSubscribe: 1, maxPacketSize: 100, maxQos: 1, receiveMaximum: 1 });
      const client = await join({ protocolVersion: 4 });
      const closed = event(client, 'close');
      act(client);
      await closed;
      assert.ok(broker.openConnections.length === 0, limit);
    }
  });

  it('tells an MQTT 5 client its limits, and why it ends a connection', async () => {
    await broker.reset({ receiveMaximum: 7, maxPacketSize: 5_000, maxQos: 1 });
    const client = connect(broker.url, options({ protocolVersion: 5 }));
    clients.push(client);
    const { properties } = await event(client, 'connect');
    const { receiveMaximum, maximumPacketSize, maximumQoS } = properties ?? {};
    assert.deepEqual([receiveMaximum, maximumPacketSize, maximumQoS], [7, 5_000, 1]);
    const disconnected = event(client, 'disconnect');
    broker.disconnect(0x8b);
    assert.equal((await disconnected).reasonCode, 0x8b);
  });

  it('refuses a connection with the given code', async () => {
    broker.options.connackCode = ({ username }) => (username === 'me' ? 0 : 5);
    const refused = connect(broker.url, options({ protocolVersion: 4 }));
    clients.push(refused);
    const error = await event(refused, 'error');
    assert.equal((error as { code?: unknown }).code, 5);
    await join({ username: 'me', password: 'x' });
  });

  it('reads nothing while it is told not to, and everything afterwards', async () => {
    const client = await join();
    broker.setReading(false);
    const sent = event(client, 'packetsend');
    const published = client.publishAsync('a', 'text', { qos: 1 });
    await sent;
    await join({ connectTimeout: 100 }).then(
      () => assert.fail('the second client was answered'),
      () => {},
    );
    assert.equal(broker.packets('publish').length, 0);
    broker.setReading(true);
    await published;
    assert.equal(broker.packets('publish').length, 1);
  });

  it('bounds what waits for a client, as told', async () => {
    for (const [onFullQueue, kept] of [
      ['drop newest', ['0', '1']],
      ['drop oldest', ['1', '2']],
      ['end session', []],
    ] as const) {
      await broker.reset({ maxQueued: 2, onFullQueue });
      const client = await join({ clientId: 'away', clean: false });
      await client.subscribeAsync(FILTER, { qos: 1 });
      await client.endAsync();
      await broker.until(({ openConnections }) => openConnections.length === 0);
      for (let i = 0; i < 3; i++) {
        broker.publish('a/b', `${i}`);
      }
      const texts = broker.sessions.get('away')?.queued.map(({ payload }) => payload.toString());
      assert.deepEqual(texts, kept, onFullQueue);
    }
  });

  it('shows the connections that were made, with what the clients said', async () => {
    await join({ clientId: 'one' });
    const next = broker.next('connect', ({ clientId }) => clientId === 'two');
    await join({ clientId: 'two', username: 'me', password: 'x' });
    assert.equal((await next).packet.username, 'me');
    assert.deepEqual(
      broker.connections.map(({ clientId }) => clientId),
      ['one', 'two'],
    );
    await join({ clientId: 'two' });
    await broker.until(({ openConnections }) => openConnections.length === 2);
    assert.equal(broker.connections.length, 3);
  });

  for (const name of Object.keys(PROFILES) as ProfileName[]) {
    it(`lets a well-behaved client work with the profile of ${name}`, async () => {
      await broker.reset(PROFILES[name]);
      const client = await join();
      const texts = inbox(client);
      await client.subscribeAsync(FILTER, { qos: 1 });
      await client.publishAsync('a/b', 'text', { qos: 1 });
      await settled(client);
      assert.deepEqual(texts, ['text']);
    });
  }
});
