// One connection by itself at a broker: what it tells whoever has it, how it ends, and when it comes back. Time is moved by hand.
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createConnection, createServer, Socket } from 'node:net';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createWebSocketStream, WebSocketServer } from 'ws';
import { Connection } from '../../src/mqtt/connection.ts';
import type { ConnectionEvents } from '../../src/mqtt/connection-events.ts';
import type { ConnectionLimits } from '../../src/mqtt/connection-limits.ts';
import type { MqttState } from '../../src/mqtt/state.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { startProxy } from '../proxy/server.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { mqttSettings } from '../session.ts';
import { mockTime, passRealTime, passTimeUntil, restoreTime } from './scripted.ts';

const NOBODY = 'mqtt://127.0.0.1:1';
const FILTER = 'mt/gateway/+/device/+/#';
const NOT_TLS = { cert: 'no certificate', key: 'no key' };
const RESPONSES = 'mt/gateway/c0141f68fc3d/response/#';
const HEARTBEAT = 'mt/gateway/g/device/d/heartbeat';
const OTHER = `${FILTER.slice(0, -1)}other`;

describe('one connection', () => {
  let broker: ScriptedBroker;
  let other: ScriptedBroker;
  let connections: Connection[];
  let states: MqttState[];
  /** What it told else. */
  let told: string[];
  let logged: string[];
  /** What of that are warnings. */
  let warned: string[];
  let limits: ConnectionLimits | undefined;
  let news: EventEmitter;

  before(async () => {
    [broker, other] = await Promise.all([startScriptedBroker(), startScriptedBroker()]);
  });
  after(() => Promise.all([broker.stop(), other.stop()]));
  beforeEach(() => {
    [connections, states, told, logged, warned, limits] = [[], [], [], [], [], undefined];
    news = new EventEmitter();
    mockTime(1_000_000);
    mock.method(Math, 'random', () => 0);
  });
  afterEach(async () => {
    restoreTime();
    await Promise.all(connections.map((connection) => connection.close()));
    await Promise.all([broker.reset(), other.reset()]);
  });

  function create(
    changes: Partial<MqttSettings> = {},
    events: Partial<ConnectionEvents> = {},
    Kind = Connection,
  ): Connection {
    const tell = (text: string) => {
      told.push(text);
      news.emit('change');
    };
    const log = (text: string) => {
      logged.push(text);
      news.emit('change');
    };
    const warn = (text: string) => {
      warned.push(text);
      log(text);
    };
    const connection = new Kind(
      mqttSettings(broker.url, changes),
      { info: log, warn, trace() {} },
      {
        state(state) {
          states.push(state);
          news.emit('change');
        },
        kept: () => tell('kept'),
        session(isPresent, found) {
          limits = found;
          tell(isPresent ? 'session' : 'no session');
        },
        quota: (max) => tell(`quota ${max}`),
        lowerQos: (max) => tell(`QoS ${max}`),
        refusing: (filter) => tell(`refusing ${filter}`),
        refused: () => tell('refused'),
        trying: (filter) => tell(`trying ${filter}`),
        renewing: () => tell('renewing'),
        makingRoom: () => tell('making room'),
        isReportFilter: (filter) => filter.startsWith(FILTER.slice(0, -1)),
        subscribed: () => tell('subscribed'),
        message(topic, payload, _qos, _retained, done) {
          tell(`${topic} ${payload}`);
          done();
        },
        isBlocked: () => false,
        underWay: () => 0,
        ...events,
      },
    );
    connections.push(connection);
    return connection;
  }

  async function until(isReached: () => unknown): Promise<void> {
    while (!isReached()) {
      await once(news, 'change');
    }
  }
  /** The next state of this name. */
  const reached = async (name: MqttState['name'], from = states.length): Promise<MqttState> => {
    await until(() => states.slice(from).some((state) => state.name === name));
    return states.slice(from).find((state) => state.name === name) as MqttState;
  };
  const connect = async (changes: Partial<MqttSettings> = {}, events: Partial<ConnectionEvents> = {}) => {
    const connection = create(changes, events);
    connection.open();
    await reached('connected', 0);
    return connection;
  };
  const names = () => states.splice(0).map(({ name }) => name);
  const tick = (ms: number) => mock.timers.tick(ms);
  const reasonOf = (state: MqttState | undefined) => (state && 'reason' in state ? state.reason.key : '');
  /** Lost without a word; the next attempt is still to come. */
  const lose = async () => {
    const lost = reached('waiting');
    broker.drop();
    return lost;
  };
  const waits = () => logged.map((text) => /next attempt in ([\d.]+) s/.exec(text)?.[1]).filter(Boolean);

  it('is made when it is opened, once, and tells what it is at', async () => {
    const connection = create({ brokers: [broker.url.replace('//', '//me:secret@')] });
    assert.deepEqual([connection.state, connection.connected], [{ name: 'idle' }, false]);
    assert.equal(connection.broker, broker.url);
    connection.open();
    connection.open();
    assert.deepEqual(states, [{ name: 'connecting', broker: broker.url }]);
    assert.equal(connection.connected, false);
    await reached('connected', 0);
    assert.deepEqual(states.slice(1), [{ name: 'connected', broker: broker.url }]);
    assert.equal(connection.state, states[1]);
    assert.deepEqual([connection.connected, broker.connections.length], [true, 1]);
    assert.deepEqual(told, ['no session', 'subscribed']);
    assert.deepEqual(logged, [`connected to ${broker.url}`]);
    assert.match(connection.url, /me:secret/);
  });

  it('is made as well when it is the first one of a process, which loads MQTT.js', async () => {
    const load = createRequire(import.meta.url);
    delete load.cache[load.resolve('../../src/mqtt/connection.ts')];
    const first = load('../../src/mqtt/connection.ts') as { Connection: typeof Connection };
    assert.notEqual(first.Connection, Connection);
    create({}, {}, first.Connection).open();
    await until(() => states.length > 1);
    assert.deepEqual(names(), ['connecting', 'connected']);
  });

  it('begins with the address that is asked for', async () => {
    const connection = create({ brokers: [NOBODY, broker.url] });
    assert.equal(connection.url, NOBODY);
    connection.open(broker.url);
    await reached('connected', 0);
    assert.deepEqual(names(), ['connecting', 'connected']);
    assert.equal(connection.url, broker.url);
  });

  it('says since when there is none', async () => {
    const connection = create();
    assert.equal(connection.awaySince(), 1_000_000);
    assert.equal(connection.awaySince(5), 5);
    connection.open();
    await reached('connected', 0);
    assert.equal(connection.awaySince(5), undefined);
    tick(1_000);
    await lose();
    tick(500);
    assert.deepEqual([connection.awaySince(5), connection.awaySince()], [1_001_000, 1_001_500]);
    assert.equal(connection.connected, false);
  });

  it('is away since somebody came where there never was one, however often it was tried', async () => {
    const connection = create({ brokers: [NOBODY] });
    connection.open();
    const lost = await reached('waiting', 0);
    assert.ok(lost.name === 'waiting');
    assert.deepEqual(lost.reason.values, { place: '127.0.0.1:1', host: '127.0.0.1', version: '3.1.1' });
    assert.equal(connection.awaySince(5), 5);
  });

  it('is not there before its session is told, nor any more while it is being lost', async () => {
    const changes = { persistent: true, clientId: 'mt-one-between' };
    await (await connect(changes)).close();
    const seen: unknown[] = [];
    const second = create(changes, {
      kept: () => process.nextTick(() => seen.push(['kept', second.connected, told.includes('session')])),
      underWay() {
        seen.push(['lost', second.connected]);
        return 0;
      },
    });
    told.length = 0;
    states.length = 0;
    second.open();
    await reached('connected', 0);
    await lose();
    assert.deepEqual(seen, [
      ['kept', false, false],
      ['lost', false],
    ]);
  });

  it('sends small packets at once, and what leaves together as one piece', async () => {
    const delays = mock.method(Socket.prototype, 'setNoDelay');
    const written = mock.method(Socket.prototype, 'write');
    const isOurs = ({ this: socket }: { this: unknown }) => (socket as Socket).remotePort === broker.port;
    const connection = await connect();
    await until(() => told.includes('subscribed'));
    assert.deepEqual(
      delays.mock.calls.filter(isOurs).map(({ arguments: [isOn] }) => isOn),
      [true],
    );
    const before = written.mock.calls.filter(isOurs).length;
    for (let n = 0; n < 5; n++) {
      connection.publish('a', `${n}`, 0);
    }
    await broker.until(() => broker.packets('publish').length === 5);
    assert.equal(written.mock.calls.filter(isOurs).length, before + 1);
  });

  it('publishes, and says when the broker has it', async () => {
    const connection = create();
    connection.publish('a', 'before', 0, () => assert.fail('there is no connection'));
    connection.open();
    await reached('connected', 0);
    for (const qos of [0, 1, 2] as const) {
      await new Promise<void>((resolve) => connection.publish('a', `${qos}`, qos, () => resolve()));
    }
    assert.deepEqual(
      broker.packets('publish').map(({ topic, payload, qos }) => [topic, `${payload}`, qos]),
      [
        ['a', '0', 0],
        ['a', '1', 1],
        ['a', '2', 2],
      ],
    );
  });

  it('brings what it is subscribed to, and tells when that is granted', async () => {
    const connection = await connect();
    await until(() => told.includes('subscribed'));
    told.length = 0;
    connection.subscriptions.change([FILTER], 1);
    await until(() => told.includes('subscribed'));
    broker.publish('mt/gateway/g/device/d/heartbeat', 'report');
    await until(() => told.length === 2);
    assert.deepEqual(told, ['subscribed', 'mt/gateway/g/device/d/heartbeat report']);
    connection.subscriptions.change([FILTER], 0);
    assert.equal(told.at(-1), 'renewing');
    connection.subscriptions.change([], 1, [FILTER]);
    await broker.until(() => broker.packets('unsubscribe').length === 1);
  });

  it('stays while a message is not taken for longer than the keep alive', async () => {
    let take: (() => void) | undefined;
    const connection = await connect(
      { keepalive: 10 },
      {
        message(_topic, _payload, _qos, _retained, done) {
          take = done;
          news.emit('change');
        },
        isBlocked: () => take !== undefined,
      },
    );
    connection.subscriptions.change([FILTER], 1);
    await new Promise((resolve) => connection.subscriptions.whenSettled(FILTER, resolve));
    broker.publish(HEARTBEAT, 'held');
    await until(() => take !== undefined);
    for (let second = 0; second < 40; second++) {
      tick(1_000);
      await passRealTime();
    }
    assert.deepEqual([connection.connected, broker.connections.length], [true, 1]);
  });

  it('takes it for a sign of life that it reads on after a message, whatever comes then', async () => {
    let take: (() => void) | undefined;
    const connection = await connect(
      { keepalive: 0 },
      {
        message(_topic, _payload, _qos, _retained, done) {
          take = done;
          news.emit('change');
        },
      },
    );
    connection.subscriptions.change([FILTER], 1);
    await new Promise((resolve) => connection.subscriptions.whenSettled(FILTER, resolve));
    broker.publish(HEARTBEAT, 'held', { qos: 0 });
    await until(() => take !== undefined);
    const before = connection.pings.signs.until;
    tick(10_000);
    take?.();
    await turn();
    assert.equal(connection.pings.signs.until, before + 10_000);
  });

  it('takes nothing any more that has come when it is closed', async () => {
    const taken: (() => void)[] = [];
    const connection = await connect(
      {},
      {
        message(_topic, payload, _qos, _retained, done) {
          told.push(`${payload}`);
          taken.push(done);
          news.emit('change');
        },
      },
    );
    connection.subscriptions.change([FILTER], 1);
    await new Promise((resolve) => connection.subscriptions.whenSettled(FILTER, resolve));
    broker.publish(HEARTBEAT, 'first');
    broker.publish(HEARTBEAT, 'second');
    await until(() => taken.length === 1);
    await passRealTime();
    const closed = connection.close();
    taken[0]?.();
    await closed;
    assert.equal(told.at(-1), 'first');
    assert.equal(taken.length, 1);
  });

  it('completes what was published with QoS 2 over the connection before, where its session is kept', async () => {
    broker.options.withhold = ['pubrec'];
    const connection = await connect({ persistent: true, clientId: 'mt-one-exchange' });
    connection.publish('a', '', 2);
    await broker.until(() => broker.packets('publish').length === 1);
    await lose();
    const released = broker.next('pubrel');
    tick(1_000);
    await released;
  });

  it('brings once more what came with QoS 2 and was not taken before its end, where its session is kept', async () => {
    const changes = { persistent: true, clientId: 'mt-one-untaken' };
    let refuse: (() => void) | undefined;
    const first = await connect(changes, {
      message(_topic, _payload, _qos, _retained, done) {
        refuse = () => done(new Error('not taken'));
        news.emit('change');
      },
    });
    first.subscriptions.change([FILTER], 2);
    await new Promise((resolve) => first.subscriptions.whenSettled(FILTER, resolve));
    broker.publish(HEARTBEAT, 'late', { qos: 2 });
    await until(() => refuse);
    const closed = first.close();
    refuse?.();
    await closed;
    names();
    await connect(changes);
    assert.deepEqual(told.slice(-2), ['session', `${HEARTBEAT} late`]);
  });

  it('gives back what nobody wants any more to a broker that has kept it', async () => {
    const connection = await connect({ persistent: true, clientId: 'mt-one-left' });
    connection.subscriptions.change([FILTER, OTHER], 1);
    await new Promise((resolve) => connection.subscriptions.whenSettled(OTHER, resolve));
    await lose();
    connection.subscriptions.change([], 1, [OTHER]);
    const given = broker.next('unsubscribe');
    tick(1_000);
    assert.deepEqual((await given).packet.unsubscriptions, [OTHER]);
  });

  it('knows what a broker still collects for, where its session outlives a connection', async () => {
    for (const persistent of [true, false]) {
      const changes = { persistent, brokers: [NOBODY, broker.url] };
      const connection = create(changes);
      assert.equal(connection.hasKeptSubscriptions, false);
      connection.open(broker.url);
      connection.subscriptions.change([FILTER], 1);
      await new Promise((resolve) => connection.subscriptions.whenSettled(FILTER, resolve));
      await connection.close();
      assert.equal(connection.hasKeptSubscriptions, persistent);
    }
  });

  it('goes through a proxy where it is a WebSocket, which is left with it while it is silent', async () => {
    const proxy = await startProxy();
    try {
      proxy.answer = () => {};
      const addresses = { ws: proxy.url };
      const connection = create({ brokers: ['ws://localhost:9'], proxy: { addresses, exceptions: '' } });
      connection.open();
      await proxy.connected(1);
      await connection.close();
      await proxy.idle();
      assert.deepEqual(proxy.asked, ['localhost:9']);
    } finally {
      await proxy.stop();
    }
  });

  it('is the same over a WebSocket', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', handleProtocols: () => 'mqtt' });
    server.on('connection', (socket) => {
      const stream = createWebSocketStream(socket);
      const line = createConnection(broker.port, '127.0.0.1');
      for (const end of [stream.pipe(line), line.pipe(stream)]) {
        end.on('error', () => {});
      }
    });
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const connection = await connect({ brokers: [`ws://127.0.0.1:${port}`] });
      await until(() => told.includes('subscribed'));
      await connection.close();
      assert.deepEqual(names(), ['connecting', 'connected', 'closed']);
    } finally {
      server.close();
    }
  });

  it('serves who wants to know of messages and states alone', async () => {
    const least = {
      ...{ kept: undefined, refused: undefined, trying: undefined },
      ...{ renewing: undefined, makingRoom: undefined },
    } as unknown as Partial<ConnectionEvents>;
    broker.options.refuses = (filter) => filter === RESPONSES;
    const changes = { clientId: 'mt-one-least', persistent: true };
    const first = await connect(changes, least);
    first.subscriptions.change([FILTER, RESPONSES], 1);
    await new Promise((resolve) => first.subscriptions.whenSettled(RESPONSES, resolve));
    await first.close();
    states.length = 0;
    const second = await connect(changes, least);
    second.subscriptions.change([FILTER, RESPONSES], 1);
    await new Promise((resolve) => second.subscriptions.whenSettled(RESPONSES, resolve));
    second.subscriptions.change([FILTER], 0);
    await new Promise((resolve) => second.subscriptions.whenSettled(FILTER, resolve));
    assert.ok(told.includes('session'));
    assert.equal(second.connected, true);
  });

  describe('is left', () => {
    it('for good: the broker is told, and there is nothing more', async () => {
      const connection = await connect();
      const disconnected = broker.next('disconnect');
      names();
      const closed = connection.close(['a']);
      assert.deepEqual([names(), connection.connected], [['closed'], false]);
      await disconnected;
      await closed;
      tick(600_000);
      await passRealTime();
      assert.deepEqual([names(), broker.connections.length, logged.length], [[], 1, 1]);
      assert.deepEqual(broker.packets('unsubscribe'), []);
      connection.publish('a', '', 0, () => assert.fail('there is no connection'));
    });

    it('by a persistent session without what it must not keep', async () => {
      const connection = await connect({ persistent: true });
      await connection.close([RESPONSES, 'b']);
      assert.deepEqual(
        broker.packets('unsubscribe').flatMap(({ unsubscriptions }) => unsubscriptions),
        [RESPONSES, 'b'],
      );
    });

    it('by a persistent session with all that it has where nothing is said', async () => {
      const connection = await connect({ persistent: true });
      await connection.disconnect();
      connection.open();
      await until(() => told.filter((text) => text === 'subscribed').length === 2);
      await connection.close();
      assert.deepEqual(broker.packets('unsubscribe'), []);
    });

    it('or lost, and there is no broker whose response would take time', async () => {
      for (const end of [lose, () => connections.at(-1)?.close()]) {
        const connection = await connect();
        await end();
        const measured = await Promise.race([
          connection.pings.measure(1_000),
          passRealTime().then(() => 'none'),
        ]);
        assert.equal(measured, undefined);
        states.length = 0;
      }
    });

    it('when the broker has just accepted it', async () => {
      const changes = { persistent: true, clientId: 'mt-one-accepted' };
      await (await connect(changes)).close();
      names();
      told.length = 0;
      let closed: Promise<void> | undefined;
      const connection = create(changes, {
        kept: () =>
          process.nextTick(() => {
            closed = connection.close();
            news.emit('change');
          }),
      });
      connection.open();
      await until(() => closed);
      await closed;
      await passRealTime();
      assert.deepEqual([names(), told], [['connecting', 'closed'], []]);
    });

    it('by who hears that it is lost: no attempt follows', async () => {
      broker.options.withhold = ['puback'];
      const connection = await connect();
      const heard = new Promise<void>((resolve) =>
        connection.publish('a', '', 1, () => {
          void connection.close();
          resolve();
        }),
      );
      await broker.until(() => broker.packets('publish').length === 1);
      names();
      broker.drop();
      await heard;
      await passRealTime();
      tick(600_000);
      await passRealTime();
      assert.deepEqual([names(), broker.connections.length], [['closed'], 1]);
    });

    it('while it waits for the next attempt, which does not come then', async () => {
      const connection = await connect();
      await lose();
      names();
      await connection.close();
      tick(600_000);
      await passRealTime();
      assert.deepEqual([names(), broker.connections.length], [['closed'], 1]);
    });

    it('before it has begun', async () => {
      const connection = create();
      connection.open();
      await connection.close();
      await passRealTime();
      assert.deepEqual([names(), broker.connections.length], [['connecting', 'closed'], 0]);
    });

    it('before the broker has answered', async () => {
      broker.options.withhold = ['connack'];
      const connection = create();
      connection.open();
      await broker.next('connect');
      await connection.close();
      broker.release();
      await broker.until(() => broker.openConnections.length === 0);
      assert.deepEqual([names(), told, logged], [['connecting', 'closed'], [], []]);
    });

    it('for now: it can be opened again', async () => {
      const connection = await connect();
      names();
      await connection.disconnect();
      assert.deepEqual(names(), ['closed', 'idle']);
      connection.open();
      await reached('connected', 0);
      assert.deepEqual([names(), broker.connections.length], [['connecting', 'connected'], 2]);
    });

    it('for now, and opened again meanwhile', async () => {
      const connection = await connect();
      names();
      const left = connection.disconnect();
      connection.open();
      await left;
      await reached('connected', 0);
      assert.deepEqual(names(), ['closed', 'connecting', 'connected']);
    });
  });

  describe('is lost', () => {
    it('and made again after a while', async () => {
      await connect();
      names();
      assert.equal(reasonOf(await lose()), 'reason.brokenOff');
      assert.match(logged.at(-1) ?? '', /^mqtt:\/\/127\.0\.0\.1:\d+: .*; next attempt in 1 s$/);
      tick(999);
      assert.deepEqual(names(), ['waiting']);
      const back = reached('connected');
      tick(1);
      await back;
      assert.deepEqual(names(), ['connecting', 'connected']);
    });

    it('and made again after longer each time, and with the short wait after a good one', async () => {
      await connect();
      for (const [lasts, wait] of [
        [5_000, 1],
        [5_000, 2],
        [5_000, 4],
        [5_001, 1],
      ] as const) {
        tick(lasts);
        await lose();
        assert.equal(waits().at(-1), `${wait}`);
        const back = reached('connected');
        tick(wait * 1_000);
        await back;
      }
    });

    describe('several times in a row', () => {
      const [once, again] = ['reason.brokenOff', 'reason.brokenOffAgain'];
      const loseEach = async (lasting: readonly number[], each = async () => {}) => {
        const reasons: unknown[] = [];
        for (const lasts of lasting) {
          tick(lasts);
          reasons.push(reasonOf(await lose()));
          await each();
          const back = reached('connected');
          tick(60_000);
          await back;
        }
        return reasons;
      };

      it('each soon and without a word, as another client may have its id', async () => {
        await connect({ keepalive: 0 });
        const lasting = [0, 299_000, 0, 300_001, 0, 0];
        assert.deepEqual(await loseEach(lasting), [once, once, again, once, once, again]);
      });

      it('with a request under way, which may be the reason', async () => {
        await connect({ keepalive: 0 }, { underWay: () => 1 });
        assert.deepEqual(await loseEach([0, 0, 0, 0]), [once, once, once, once]);
      });

      it('with attempts in between that find nobody, as a broker that is started anew', async () => {
        await connect({ keepalive: 0 });
        const refuse = async () => {
          broker.options.connackCode = 3;
          const refused = reached('waiting');
          tick(60_000);
          await refused;
          broker.options.connackCode = 0;
        };
        assert.deepEqual(await loseEach([0, 0, 0, 0], refuse), [once, once, once, once]);
      });
    });

    it('by who has it, where there is one', async () => {
      const connection = create();
      connection.drop();
      connection.open();
      await reached('connected', 0);
      const lost = reached('waiting');
      connection.drop();
      await lost;
      assert.deepEqual(broker.packets('disconnect'), []);
    });

    it('with many requests under way, which may be the reason', async () => {
      await connect({}, { underWay: () => 10 });
      assert.equal(reasonOf(await lose()), 'reason.brokenOffBusy');
    });

    it('and what was published over it is not sent again, nor is anything heard of it later', async () => {
      broker.options.withhold = ['puback'];
      const connection = await connect();
      const outcome = new Promise((resolve) => connection.publish('a', '', 1, resolve));
      await broker.until(() => broker.packets('publish').length === 1);
      await lose();
      assert.ok((await outcome) instanceof Error);
      const back = reached('connected');
      tick(1_000);
      await back;
      await passRealTime();
      assert.equal(broker.packets('publish').length, 1);
    });

    it('with the reason that came first, though the broker does not end it', async () => {
      await connect({ protocolVersion: 5 });
      broker.options.intercept = () => true;
      const lost = reached('waiting');
      broker.connections[0]?.send({ cmd: 'disconnect', reasonCode: 0x89 });
      assert.equal(reasonOf(await lost), 'reason.busy');
    });

    it('when the broker sends what cannot be read, though it does not end it', async () => {
      await connect({ protocolVersion: 5 });
      broker.options.intercept = () => true;
      const lost = reached('waiting');
      // No such reason code.
      broker.connections[0]?.send({ cmd: 'puback', messageId: 1, reasonCode: 0x55 });
      assert.equal(reasonOf(await lost), 'reason.malformed');
    });

    /** 70 MB, of which nothing is released. */
    function sendUnreleased(): void {
      const payload = Buffer.alloc(1_000_000);
      for (let messageId = 1; messageId <= 70; messageId++) {
        broker.connections[0]?.send({
          ...{ cmd: 'publish', qos: 2, dup: false, retain: false },
          ...{ topic: HEARTBEAT, payload, messageId },
        });
      }
    }

    it('when 64 MB of QoS 2 have come that the broker does not release, and is made again after a long wait', async () => {
      const connection = await connect();
      const lost = reached('waiting');
      sendUnreleased();
      assert.equal(reasonOf(await lost), 'reason.unreleased');
      assert.deepEqual(waits(), ['10']);
      await connection.close();
    });

    it('also when so much has come while another one of this process wanted its session, and was refused', async () => {
      const changes = { persistent: true, clientId: 'mt-one-refused', keepalive: 10 };
      await connect(changes);
      broker.options.connackCode = 5;
      const another = create(changes);
      another.open();
      await reached('refused', 0);
      await another.close();
      broker.options.intercept = ({ cmd }) => cmd === 'pubrec';
      const lost = reached('waiting');
      sendUnreleased();
      // The broker is not heard any more behind what is not kept.
      await broker.until(() => broker.packets('pubrec').length >= 67);
      await passTimeUntil(lost);
    });

    it('when a packet comes without the id that it is about', async () => {
      const sockets: Socket[] = [];
      const server = createServer((socket) => {
        sockets.push(socket.on('error', () => {}));
        // CONNACK.
        socket.once('data', () => socket.write(Buffer.from([0x20, 2, 0, 0])));
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      try {
        const { port } = server.address() as AddressInfo;
        const connection = await connect({ brokers: [`mqtt://127.0.0.1:${port}`] });
        const lost = reached('waiting');
        // PUBREL.
        sockets[0]?.write(Buffer.from([0x62, 0]));
        assert.equal(reasonOf(await lost), 'reason.malformed');
        await connection.close();
      } finally {
        server.close();
      }
    });

    const ends: [why: string, end: (connection: Connection) => unknown, wait?: string][] = [
      ['a reason of its own', () => broker.connections[0]?.end(0x89), '1'],
      [
        'what cannot be read',
        () => broker.connections[0]?.send({ cmd: 'puback', messageId: 1, reasonCode: 0x55 }),
        '1',
      ],
      [
        'another one that was given the session',
        (connection) => {
          connection.lend();
          broker.drop();
        },
        '1',
      ],
      [
        'who has it',
        async (connection) => {
          await connection.disconnect();
          connection.open();
        },
      ],
    ];
    for (const [why, end, wait] of ends) {
      it(`for ${why}, which tells nothing of what was asked for meanwhile`, async () => {
        broker.options.withhold = ['suback'];
        const connection = await connect({ protocolVersion: 5 });
        connection.subscriptions.change([FILTER, OTHER], 1);
        await broker.until(() => broker.packets('subscribe').length === 1);
        const lost = wait === undefined ? undefined : reached('waiting');
        await end(connection);
        await lost;
        assert.equal(waits().at(-1), wait);
        tick(1_000);
        await broker.until(() => broker.packets('subscribe').length === 2);
        assert.deepEqual(
          broker.packets('subscribe').map(({ subscriptions }) => subscriptions.length),
          [2, 2],
        );
      });
    }

    it('at an address that does not answer, and goes on with the next one', async () => {
      create({ brokers: [NOBODY, broker.url] }).open();
      const lost = await reached('waiting', 0);
      assert.deepEqual([reasonOf(lost), 'broker' in lost && lost.broker], ['reason.nothingThere', NOBODY]);
      assert.deepEqual(waits(), ['0.1']);
      // What is at hand is not the broker that may be about to start.
      assert.equal(warned.length, 1);
      const back = reached('connected');
      tick(50);
      await back;
      assert.deepEqual(names(), ['connecting', 'waiting', 'connecting', 'connected']);
    });

    it('at the only address, where the broker may be about to start, which is no warning the first time', async () => {
      const connection = create({ brokers: [NOBODY] });
      for (const _ of ['opened', 'opened again']) {
        connection.open();
        await reached('waiting', 0);
        assert.deepEqual([logged.length, warned.length], [1, 0]);
        const again = reached('waiting');
        tick(60_000);
        await again;
        assert.deepEqual([logged.length, warned.length], [2, 1]);
        await connection.disconnect();
        for (const list of [states, logged, warned]) {
          list.length = 0;
        }
      }
    });

    it('at once where what answers speaks first, as no broker does, and stays, and goes on with the next address', async () => {
      const server = createServer((socket) => socket.on('error', () => {}).write('SSH-2.0-OpenSSH_9.6\r\n'));
      await once(server.listen(0, '127.0.0.1'), 'listening');
      try {
        const { port } = server.address() as AddressInfo;
        create({ brokers: [`mqtt://127.0.0.1:${port}`, broker.url] }).open();
        assert.equal(reasonOf(await reached('waiting', 0)), 'reason.notMqtt');
        const back = reached('connected');
        tick(50);
        await back;
      } finally {
        server.close();
      }
    });

    it('before it is there when the settings of TLS are wrong: nothing is connected', async () => {
      create({ brokers: [broker.url.replace('mqtt', 'mqtts')], tls: NOT_TLS }).open();
      assert.match(reasonOf(await reached('waiting', 0)), /^error\./);
      assert.equal(broker.connections.length, 0);
    });

    it('without a word of TLS where the address is a plain one', async () => {
      await connect({ tls: NOT_TLS });
    });

    it('by a refused login, after which trying again is no news until it succeeds', async () => {
      broker.options.connackCode = 5;
      create().open();
      assert.equal(reasonOf(await reached('refused', 0)), 'reason.notAuthorized');
      const again = reached('refused');
      tick(10_000);
      await again;
      assert.deepEqual(names(), ['connecting', 'refused', 'refused']);
      assert.deepEqual([waits(), warned.length], [['10', '20'], 2]);
      broker.options.connackCode = 0;
      const back = reached('connected');
      tick(20_000);
      await back;
      assert.deepEqual(names(), ['connected']);
    });
  });

  describe('of which the session may be given to another one of this process', () => {
    it('comes back to the same broker after a second when it is lost meanwhile', async () => {
      const connection = await connect({ brokers: [broker.url, other.url] });
      connection.lend();
      await lose();
      assert.deepEqual(waits(), ['1']);
      const back = reached('connected');
      tick(1_000);
      await back;
      assert.equal(connection.url, broker.url);
      await lose();
      // Once only.
      assert.equal(waits().at(-1), '0.1');
    });

    it('comes back so when its end is noticed after the other one has left', async () => {
      const connection = await connect({ brokers: [broker.url, other.url] });
      connection.lend();
      connection.takeBack(true);
      await lose();
      assert.deepEqual(waits(), ['1']);
    });

    it('goes its own way when the other one was not given it', async () => {
      const connection = await connect({ brokers: [broker.url, other.url] });
      connection.lend();
      connection.takeBack(false);
      await lose();
      assert.deepEqual(waits(), ['0.1']);
    });

    it('does not wait for longer than a second when the other one has left', async () => {
      broker.options.connackCode = 3;
      const connection = create();
      connection.open();
      await reached('waiting', 0);
      for (const wait of [1, 2, 4]) {
        assert.equal(waits().at(-1), `${wait}`);
        const again = reached('waiting');
        tick(wait * 1_000);
        await again;
      }
      broker.options.connackCode = 0;
      connection.takeBack(false);
      tick(1_000);
      assert.equal(states.at(-1)?.name, 'waiting');
      connection.takeBack(true);
      tick(999);
      assert.equal(states.at(-1)?.name, 'waiting');
      const back = reached('connected');
      tick(1);
      await back;
      const attempts = broker.connections.length;
      tick(60_000);
      await passRealTime();
      assert.equal(broker.connections.length, attempts);
      // The one that was given the session has left before this one came back: nothing of it is left.
      await lose();
      assert.notEqual(waits().at(-1), undefined);
    });

    it('is not tried again by that while it is there, and its next end is its own again', async () => {
      const connection = await connect({ brokers: [broker.url, other.url] });
      names();
      connection.lend();
      connection.takeBack(true);
      tick(1_000);
      await passRealTime();
      assert.deepEqual(names(), []);
      await lose();
      connection.takeBack(true);
      const back = reached('connected');
      tick(1_000);
      await back;
      tick(60_000);
      await passRealTime();
      assert.deepEqual(names(), ['waiting', 'connecting', 'connected']);
      await lose();
      assert.deepEqual(waits(), ['1', '0.1']);
    });
  });

  describe('to a broker that says what it wants', () => {
    it('tells its limits, and that it has a session', async () => {
      const changes = { persistent: true, clientId: 'mt-one-limits', protocolVersion: 5 as const };
      broker.options.receiveMaximum = 7;
      const first = await connect(changes);
      assert.equal(limits?.maxUnacknowledged, 7);
      await first.close();
      assert.deepEqual(told.includes('kept'), false);
      told.length = 0;
      await connect(changes);
      await until(() => told.includes('subscribed'));
      assert.deepEqual(told.slice(0, 2), ['kept', 'session']);
    });

    it('sends pings as often as it wants, where the settings want none', async () => {
      broker.options.connackProperties = { serverKeepAlive: 10 };
      await connect({ protocolVersion: 5, keepalive: 0 });
      const pinged = broker.next('pingreq');
      tick(10_000);
      await pinged;
    });

    it('sends pings as often as the settings say where it says nothing', async () => {
      await connect({ protocolVersion: 5, keepalive: 10 });
      const pinged = broker.next('pingreq');
      tick(10_000);
      await pinged;
    });

    it('sends no pings where nobody wants any', async () => {
      await connect({ protocolVersion: 5, keepalive: 0 });
      tick(600_000);
      await passRealTime();
      assert.deepEqual(broker.packets('pingreq'), []);
    });

    it('says once that a session is kept for a shorter time than was asked for', async () => {
      broker.options.connackProperties = { sessionExpiryInterval: 60 };
      await connect({ protocolVersion: 5, persistent: true, sessionExpiry: 3_600 });
      await lose();
      const back = reached('connected');
      tick(1_000);
      await back;
      assert.deepEqual(
        logged.filter((text) => text.includes('keeps')),
        [`${broker.url} keeps reports for 60 s while Node-RED is down, not for 3600 s`],
      );
    });

    it('asks for no more than goes into a packet, and as many filters at once as it takes', async () => {
      const { limits: none } = mqttSettings('');
      const filters = Array.from({ length: 6 }, (_, n) => `mt/gateway/c0141f68fc3${n}/device/+/#`);
      const connection = await connect({ limits: { ...none, maxFiltersPerSubscribe: 4 } });
      connection.subscriptions.change(filters, 1);
      await broker.until(() => broker.packets('subscribe').length === 2);
      assert.deepEqual(
        broker.packets('subscribe').map(({ subscriptions }) => subscriptions.length),
        [4, 2],
      );
      const length = filters[0]!.length + 3;
      for (const size of [16 + 2 * length, 15 + 3 * length]) {
        broker.received.length = 0;
        states.length = 0;
        const small = await connect({ limits: { ...none, maxPacketSize: size } });
        small.subscriptions.change(filters, 1);
        const asked = () => broker.packets('subscribe').map(({ subscriptions }) => subscriptions.length);
        await broker.until(() => asked().reduce((sum, count) => sum + count, 0) === filters.length);
        assert.deepEqual(asked(), [2, 2, 2]);
      }
    });

    it('says nothing any more of how much may come at once when it has sent more than that', async () => {
      const connection = await connect({ protocolVersion: 5 });
      const told = () => broker.packets('connect').map(({ properties }) => properties?.receiveMaximum);
      connection.subscriptions.change([FILTER], 2);
      await broker.until(() => broker.packets('subscribe').length === 1);
      const lost = reached('waiting');
      for (let messageId = 1; messageId <= 1_001; messageId++) {
        const topic = 'mt/gateway/g/device/d/heartbeat';
        broker.connections[0]?.send({ cmd: 'publish', topic, payload: '', qos: 2, messageId } as never);
      }
      assert.equal(reasonOf(await lost), 'reason.sentTooMany');
      const back = reached('connected');
      tick(1_000);
      await back;
      assert.deepEqual(told(), [1_000, undefined]);
    });

    for (const [protocolVersion, isTold] of [
      [4, true],
      [5, false],
    ] as const) {
      it(`tells ${isTold ? 'what' : 'nothing of'} QoS it takes by its grants (MQTT ${protocolVersion})`, async () => {
        broker.options.maxGrantedQos = 1;
        const connection = await connect({ protocolVersion });
        connection.subscriptions.change([FILTER], 2);
        await new Promise((resolve) => connection.subscriptions.whenSettled(FILTER, resolve));
        await passRealTime();
        assert.equal(told.includes('QoS 1'), isTold);
      });
    }
  });

  describe('to a broker that refuses subscriptions', () => {
    it('is limited by those of reports alone, and is not any more when they are granted', async () => {
      broker.options.refuses = () => true;
      // The time is moved in one step, so no ping of it would be answered.
      const connection = await connect({ keepalive: 0 });
      connection.subscriptions.change([RESPONSES], 1);
      await new Promise((resolve) => connection.subscriptions.whenSettled(RESPONSES, resolve));
      assert.deepEqual([names(), told.includes('refused')], [['connecting', 'connected'], true]);
      connection.subscriptions.change([FILTER], 1);
      const limited = await reached('limited', 0);
      assert.ok(limited.name === 'limited');
      assert.deepEqual([[...limited.refused.keys()], limited.broker], [[FILTER], broker.url]);
      assert.deepEqual([reasonOf(limited), limited.reason.values.filter], ['reason.filter', FILTER]);
      assert.ok(told.includes(`refusing ${FILTER}`));
      broker.options.refuses = () => false;
      names();
      const well = reached('connected', 0);
      tick(30_000);
      await well;
      assert.equal(connection.connected, true);
    });

    it('asks for those that were not lost again at once when it was ended for one of them', async () => {
      const BAD = `${FILTER.slice(0, -1)}bad`;
      broker.options.refuses = (filter) => filter === BAD;
      broker.options.refusesBy = 'close';
      const connection = await connect();
      connection.subscriptions.change([FILTER, BAD], 1);
      await reached('waiting', 0);
      assert.deepEqual(waits(), ['0.2']);
    });

    for (const events of [
      {},
      { trying: undefined },
      { makingRoom: undefined },
    ] as Partial<ConnectionEvents>[]) {
      const who =
        Object.keys(events).length === 0 ? 'who' : `one who does not want to know of ${Object.keys(events)}`;
      it(`asks again for one that has ended it, and tells ${who} before`, async () => {
        broker.options.refuses = (filter) => filter === OTHER;
        broker.options.refusesBy = 'close';
        const connection = await connect({}, events);
        connection.subscriptions.change([FILTER, OTHER], 1);
        await passTimeUntil(reached('limited', 0));
        broker.options.refuses = () => false;
        const asked = broker.next('subscribe', ({ subscriptions }) =>
          subscriptions.some(({ topic }) => topic === OTHER),
        );
        await passTimeUntil(asked);
        assert.equal(told.includes(`trying ${OTHER}`), !('trying' in events));
      });

      it(`makes room, and tells ${who} before`, async () => {
        const { limits: none } = mqttSettings('');
        const connection = await connect({ limits: { ...none, maxSubscriptions: 2 } }, events);
        const settled = (filter: string) =>
          new Promise((resolve) => connection.subscriptions.whenSettled(filter, resolve));
        assert.ok(told.includes('quota 2'));
        connection.subscriptions.change([FILTER, OTHER], 1);
        await settled(OTHER);
        connection.subscriptions.change([`${OTHER}s`], 1, [OTHER]);
        assert.equal(await settled(`${OTHER}s`), false);
        assert.equal(told.includes('making room'), !('makingRoom' in events));
        // Of reports there is more than one: one of them gives way to the responses.
        connection.subscriptions.change([RESPONSES], 1);
        assert.equal(await settled(RESPONSES), false);
        assert.ok(told.includes(`refusing ${OTHER}s`));
      });
    }

    it('tells a broker that answers nothing from one that is gone', async () => {
      const connection = await connect({ keepalive: 0 });
      broker.options.withhold = ['suback', 'unsuback'];
      connection.subscriptions.change([FILTER], 1);
      await broker.until(() => broker.packets('subscribe').length === 1);
      const pinged = broker.next('pingreq');
      tick(30_000);
      await pinged;
      await reached('limited', 0);
    });
  });

  it('does not mind what an earlier client of it does', async () => {
    const connection = await connect();
    broker.setReading(false);
    names();
    const left = connection.disconnect();
    connection.open();
    await turn();
    broker.setReading(true);
    await left;
    await reached('connected', 0);
    tick(600);
    await passRealTime();
    assert.equal(connection.connected, true);
  });
});
