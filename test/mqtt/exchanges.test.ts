// Requests of QoS 2 whose exchange with the broker the end of a connection interrupts.
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { DefaultMessageIdProvider, type IStore, type MqttClient, Store } from 'mqtt';
import type { IPublishPacket, Packet } from 'mqtt-packet';
import { Exchanges } from '../../src/mqtt/exchanges.ts';
import { MAX_UNRELEASED_BYTES } from '../../src/mqtt/incoming-store.ts';
import { type KeptSession, newSession } from '../../src/mqtt/kept-sessions.ts';
import type { Publish } from '../../src/mqtt/publish-reader.ts';
import type { Session } from '../../src/session.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { ALL, Collector, reached } from '../session.ts';
import { G, G2, useScriptedBroker } from './scripted.ts';

const { signal } = new AbortController();

const messageOf = (messageId: number) =>
  ({ cmd: 'publish', messageId, topic: 't', payload: Buffer.from('{}') }) as IPublishPacket;

/** What of a client of MQTT.js takes part: the packets that it sends and receives, and its store. */
class Client extends EventEmitter {
  readonly written: Buffer[] = [];
  readonly stream = { write: (packet: Buffer) => this.written.push(packet) };
  incomingStore: IStore;

  constructor(incomingStore: IStore) {
    super();
    this.incomingStore = incomingStore;
  }

  get asGiven(): MqttClient {
    return this as unknown as MqttClient;
  }

  sends(packet: Partial<Packet>): void {
    this.emit('packetsend', packet);
  }

  receives(packet: Partial<Packet>): void {
    this.emit('packetreceive', packet);
  }

  /** As it keeps a message until its PUBREL comes. */
  keeps(messageId: number): void {
    this.incomingStore.put(messageOf(messageId), () => {});
  }

  /** Whether a PUBREL for it would find the message; undefined: nobody says. */
  has(messageId: number): boolean | undefined {
    let isThere: boolean | undefined;
    this.incomingStore.get({ messageId }, (error) => {
      isThere = !error;
    });
    return isThere;
  }
}

describe('exchanges of QoS 2 from one client to the next', () => {
  let exchanges: Exchanges;
  let session: KeptSession;
  /** Whose connection was to be ended, since too much waited. */
  let full: string[];
  const open = (name: string) =>
    new Exchanges({ Store, DefaultMessageIdProvider }, () => void full.push(name));

  beforeEach(() => {
    full = [];
    exchanges = open('first');
    session = newSession();
  });

  /** @param kept null: the session ends with the connection */
  const create = (kept: KeptSession | null = session, of = exchanges) =>
    new Client(of.optionsFor(kept ?? undefined).incomingStore);
  const connect = (isPresent = true, kept: KeptSession | null = session, of = exchanges) => {
    const client = create(kept, of);
    of.connected(client.asGiven, isPresent, kept ?? undefined);
    return client;
  };
  const publish = (client: Client, messageId: number) => client.sends({ cmd: 'publish', qos: 2, messageId });
  /** Which ones the next client releases. */
  const released = (client = connect()) => client.written.map((packet) => packet.readUInt16BE(2));

  it('keep what the broker has not released, also over a deploy', () => {
    connect().keeps(1);
    assert.equal(connect().has(1), true);
    assert.equal(connect(true, session, open('next')).has(1), true);
  });

  it('end the connection that brings them where the broker releases none, whoever began with the session', () => {
    const fill = (client: Client) =>
      client.incomingStore.put({ ...messageOf(1), payload: Buffer.alloc(MAX_UNRELEASED_BYTES) }, () => {});
    const client = connect();
    fill(client);
    client.keeps(2);
    assert.deepEqual([full, client.has(2)], [['first'], false]);
    const next = connect(true, session, open('next'));
    next.keeps(2);
    assert.deepEqual(full, ['first', 'next']);
    const other = connect(false, null, open('without a session'));
    fill(other);
    other.keeps(2);
    assert.equal(full.at(-1), 'without a session');
  });

  it('have what the broker may release before the connection is known to be there', () => {
    connect().keeps(1);
    assert.equal(create().has(1), true);
  });

  it('keep nothing from another session, or where the broker knows none', () => {
    connect().keeps(1);
    assert.equal(connect(true, newSession()).has(1), false);
    assert.equal(connect(false).has(1), false);
    assert.equal(connect(true).has(1), false);
  });

  it('keep what comes over a connection without an earlier one', () => {
    connect(false).keeps(1);
    assert.equal(connect().has(1), true);
  });

  it('end with a connection whose session does', () => {
    const client = connect(false, null);
    client.keeps(1);
    publish(client, 2);
    const next = connect(false, null);
    assert.deepEqual([next.has(1), next.written], [false, []]);
  });

  it('can be worked through after the end of the connection', () => {
    const client = connect();
    client.keeps(1);
    client.incomingStore.close(() => {});
    assert.equal(client.has(1), true);
  });

  it('are told apart from what is at work still when the connection has ended', () => {
    const client = connect();
    client.keeps(1);
    exchanges.ended(client.asGiven);
    assert.equal(client.has(1), undefined);
    let isAnswered = false;
    const answer = () => {
      isAnswered = true;
    };
    const { incomingStore } = client;
    assert.equal(incomingStore.put({ cmd: 'publish', messageId: 2 } as Packet, answer), incomingStore);
    assert.equal(incomingStore.get({ messageId: 1 }, answer), incomingStore);
    assert.equal(isAnswered, false);
    const next = connect();
    assert.deepEqual([next.has(1), next.has(2)], [true, false]);
  });

  it('are over when the message is taken', () => {
    const client = connect();
    client.keeps(1);
    client.keeps(2);
    exchanges.taken(client.asGiven, 1);
    assert.deepEqual([client.has(1), client.has(2)], [false, true]);
  });

  it('leave what nobody has taken to the session with which it came, also over a deploy, and to no other', () => {
    const untaken = (kept: KeptSession | null, of = exchanges) => {
      connect(true, kept, of);
      return of.untaken;
    };
    untaken(session).push(messageOf(1) as Publish);
    assert.deepEqual([untaken(newSession()), untaken(null)], [[], []]);
    untaken(null).push(messageOf(2) as Publish);
    assert.deepEqual(untaken(null), []);
    assert.deepEqual(untaken(session, open('next')), [messageOf(1)]);
  });

  it('that were begun are released by the next client, at most three times', () => {
    publish(connect(), 0x1234);
    const [first] = connect().written;
    assert.deepEqual(first, Buffer.from([0x62, 2, 0x12, 0x34]));
    assert.deepEqual(released(), [0x1234]);
    assert.deepEqual(released(), [0x1234]);
    assert.deepEqual([released(), session.published.size], [[], 0]);
  });

  const SENT: [packet: Partial<Packet>, isBegun: boolean][] = [
    [{ cmd: 'publish', qos: 2 }, true],
    [{ cmd: 'publish', qos: 1 }, false],
    [{ cmd: 'publish', qos: 0 }, false],
    [{ cmd: 'subscribe' }, false],
  ];
  for (const [packet, isBegun] of SENT) {
    it(`are ${isBegun ? '' : 'not '}begun by ${JSON.stringify(packet)}`, () => {
      connect().sends({ ...packet, messageId: 7 });
      assert.deepEqual(released(), isBegun ? [7] : []);
    });
  }

  const RECEIVED: [packet: Partial<Packet>, isComplete: boolean][] = [
    [{ cmd: 'pubcomp' }, true],
    [{ cmd: 'pubrec' }, false],
    [{ cmd: 'pubrec', reasonCode: 0 }, false],
    [{ cmd: 'pubrec', reasonCode: 0x10 }, false],
    [{ cmd: 'pubrec', reasonCode: 0x7f }, false],
    [{ cmd: 'pubrec', reasonCode: 0x80 }, true],
    [{ cmd: 'pubrec', reasonCode: 0x97 }, true],
    [{ cmd: 'puback', reasonCode: 0x97 }, false],
    [{ cmd: 'suback' }, false],
  ];
  for (const [packet, isComplete] of RECEIVED) {
    it(`are ${isComplete ? '' : 'not '}complete with ${JSON.stringify(packet)}`, () => {
      const client = connect();
      publish(client, 7);
      publish(client, 8);
      client.receives({ ...packet, messageId: 7 });
      assert.deepEqual(released(), isComplete ? [8] : [7, 8]);
    });
  }

  it('that were begun are forgotten where the broker knows no session, also by a client that is still at work', () => {
    const before = connect();
    publish(before, 7);
    const client = connect(false);
    assert.deepEqual(client.written, []);
    publish(client, 7);
    before.receives({ cmd: 'pubcomp', messageId: 7 });
    publish(before, 9);
    assert.deepEqual(released(), [7]);
  });

  it('keep their packet ids until they are complete', () => {
    const { messageIdProvider } = exchanges.optionsFor(session);
    const client = connect();
    const next = (messageIdProvider.allocate() % 65_535) + 1;
    publish(client, next);
    assert.equal(messageIdProvider.allocate(), (next % 65_535) + 1);
  });

  it('that were begun are 10 000 at most', () => {
    const client = connect();
    for (let id = 1; id <= 10_001; id++) {
      publish(client, id);
    }
    assert.equal(session.published.size, 10_000);
  });
});

describe('an exchange of QoS 2 that a request has begun', () => {
  const bench = useScriptedBroker();
  let count = 0;
  let clientId: string;

  beforeEach(() => {
    clientId = `mt-exchanges-${process.pid}-${count++}`;
  });
  afterEach(() => mock.reset());

  async function connect(changes: Partial<MqttSettings> = {}): Promise<Session> {
    const session = bench.open({ persistent: true, requestQos: 2, clientId, ...changes });
    session.subscribe(ALL, new Collector());
    await reached(session, 'connected');
    return session;
  }

  /** Each is published; nobody answers. */
  async function ask(session: Session, gateways: string[] = [G, G2]): Promise<number[]> {
    const { broker } = bench;
    const before = broker.packets('publish').length;
    for (const gateway of gateways) {
      session.request('apiversion', { gateway }, { signal }).catch(() => {});
    }
    await broker.until(() => broker.packets('publish').length === before + gateways.length);
    return broker
      .packets('publish')
      .slice(before)
      .map(({ messageId }) => messageId as number);
  }

  const begun = () => bench.broker.sessions.get(clientId)?.begun.size;

  for (const protocolVersion of [4, 5] as const) {
    for (const [what, withhold] of [
      ['the reply to it', ['pubrec']],
      ['its completion', ['pubcomp']],
    ] as const) {
      it(`is completed when ${what} is lost with the connection, and no request is sent again (MQTT ${protocolVersion})`, async () => {
        const { broker } = bench;
        const session = await connect({ protocolVersion });
        broker.options.withhold = withhold;
        await ask(session);
        await broker.until(({ withheld }) => withheld.length === 2);
        broker.options.withhold = [];
        broker.drop();
        await broker.until(() => broker.packets('pubrel', clientId).length >= 2 && begun() === 0);
        await reached(session, 'connected');
        assert.equal(broker.packets('publish').length, 2);
      });
    }
  }

  it('is completed after a deploy', async () => {
    const { broker } = bench;
    const session = await connect();
    broker.options.withhold = ['pubrec'];
    await ask(session);
    await session.close();
    assert.equal(begun(), 2);
    await connect();
    await broker.until(() => begun() === 0);
    assert.equal(broker.packets('publish').length, 2);
  });

  it('lends its packet id to nothing else until then', async () => {
    const { broker } = bench;
    // Each connection would begin with the same packet id.
    mock.method(Math, 'random', () => 0.5);
    const session = await connect();
    broker.options.withhold = ['pubrec', 'pubcomp'];
    const old = await ask(session);
    await session.close();
    const ids = await ask(await connect());
    assert.deepEqual(
      ids.filter((id) => old.includes(id)),
      [],
    );
    const { messageId } = broker.packets('subscribe').at(-1) as { messageId: number };
    assert.ok(!old.includes(messageId));
  });

  it('is forgotten where the broker has kept no session', async () => {
    const { broker } = bench;
    const session = await connect();
    broker.options.withhold = ['pubrec'];
    await ask(session);
    await session.close();
    broker.options.keepsSessions = false;
    await (await connect()).close();
    broker.options.keepsSessions = true;
    await (await connect()).close();
    await connect();
    assert.equal(broker.packets('pubrel').length, 0);
  });

  it('is given up when the third connection ends that would complete it', async () => {
    const { broker } = bench;
    const session = await connect();
    broker.options.withhold = ['pubrec'];
    await ask(session, [G]);
    await session.close();
    broker.options.intercept = ({ cmd }, id) => {
      if (cmd === 'pubrel') {
        broker.drop(id);
      }
      return cmd === 'pubrel';
    };
    for (let round = 1; round <= 3; round++) {
      const next = bench.open({ persistent: true, requestQos: 2, clientId });
      next.subscribe(ALL, new Collector());
      await broker.until(() => broker.packets('pubrel').length === round);
      await next.close();
    }
    await connect();
    assert.equal(broker.packets('pubrel').length, 3);
  });
});
