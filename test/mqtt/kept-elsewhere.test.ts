// What persistent sessions hold at addresses without a connection: given back when nobody comes back to them.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { connectAsync } from 'mqtt';
import { SILENT } from '../../src/log.ts';
import { ENTRY_BYTES, MAX_UNRELEASED_BYTES } from '../../src/mqtt/incoming-store.ts';
import { areSameClient, giveBackAll, haveSameSession, keptElsewhere } from '../../src/mqtt/kept-elsewhere.ts';
import { keptSession, mayHold, sessionName } from '../../src/mqtt/kept-sessions.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { mqttSettings } from '../session.ts';
import { heartbeat, reportTopic, restoreTime, useScriptedBroker } from './scripted.ts';

const FILTER = reportTopic('#');
/** Of one of two addresses, in the time that there is. */
const SHARE_MS = 750;
const MB = 1024 * 1024;
let count = 0;

describe('what a persistent session holds at addresses without a connection', () => {
  const bench = useScriptedBroker();
  let other: ScriptedBroker;
  let warnings: string[];
  const log = { ...SILENT, warn: (text: string) => void warnings.push(text) };

  before(async () => {
    other = await startScriptedBroker();
  });
  after(() => other.stop());
  beforeEach(() => {
    warnings = [];
  });
  afterEach(() => {
    restoreTime();
    return other.reset();
  });

  const settingsOf = (changes: Partial<MqttSettings> = {}) =>
    mqttSettings('', { brokers: [bench.broker.url, other.url], persistent: true, ...changes });
  /** The session holds a filter at each of the addresses, as this process knows. @returns its client id */
  const leaveAt = async (...brokers: ScriptedBroker[]) => {
    const clientId = `mt-elsewhere-${process.pid}-${count++}`;
    for (const broker of brokers) {
      await holdAt(broker, clientId);
    }
    return clientId;
  };
  const holdAt = async (broker: ScriptedBroker, clientId: string) => {
    const earlier = await connectAsync(broker.url, { clientId, clean: false, reconnectPeriod: 0 });
    await earlier.subscribeAsync(FILTER, { qos: 2 });
    await earlier.endAsync(true);
    keptSession(sessionName(broker.url, clientId)).filters.add(FILTER);
  };
  /** What nobody has taken of what has come to a session with QoS 2: so many bytes, with all that is counted. */
  const addUntaken = (broker: ScriptedBroker, clientId: string, bytes: number) => {
    const { untaken } = keptSession(sessionName(broker.url, clientId));
    const payload = Buffer.alloc(bytes - ENTRY_BYTES);
    untaken.push({ topic: reportTopic('heartbeat'), payload, qos: 2, retain: false, dup: false });
    return untaken;
  };
  const heldAt = (clientId: string, ...brokers: ScriptedBroker[]) =>
    brokers.map((broker) => broker.subscriptionsOf(clientId).size);
  const unreached = (broker: ScriptedBroker, clientId: string) =>
    `${broker.url} cannot be reached in time: it goes on collecting for ${clientId}`;
  const known = (broker: ScriptedBroker, clientId: string) =>
    mayHold(keptSession(sessionName(broker.url, clientId))).length;

  it('is given back at each, and is not connected to any longer', async () => {
    const { broker } = bench;
    const clientId = await leaveAt(broker, other);
    const connections = broker.connections.length + other.connections.length;
    await giveBackAll(settingsOf({ clientId }), log, []);
    assert.deepEqual([heldAt(clientId, broker, other), warnings], [[0, 0], []]);
    for (const one of [broker, other]) {
      await one.until(({ openConnections }) => openConnections.length === 0);
      assert.deepEqual([known(one, clientId), one.packets('disconnect').length], [0, 1]);
    }
    assert.equal(broker.connections.length + other.connections.length, connections + 2);
    // Nothing is left to be given back.
    await giveBackAll(settingsOf({ clientId }), log, []);
    assert.equal(broker.connections.length + other.connections.length, connections + 2);
  });

  it('may be what was asked for when a connection ended: it is given back, too', async () => {
    const { broker } = bench;
    const clientId = await leaveAt(broker);
    const session = keptSession(sessionName(broker.url, clientId));
    session.filters.clear();
    session.doubtful.add(FILTER);
    await giveBackAll(settingsOf({ clientId }), log, [other.url]);
    assert.equal(warnings.length, 1);
    warnings = [];
    await giveBackAll(settingsOf({ clientId }), log, []);
    assert.deepEqual([heldAt(clientId, broker), mayHold(session)], [[0], []]);
  });

  it('is given back without what waits there being acknowledged: another address may lead to the same broker', async () => {
    const { broker } = bench;
    const clientId = await leaveAt(broker);
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await giveBackAll(settingsOf({ clientId }), log, []);
    assert.deepEqual([heldAt(clientId, broker), broker.packets('puback'), warnings], [[0], [], []]);
  });

  it('is given back and keeps what has come of QoS 2, of 64 MB at most, for whoever has the session later', async () => {
    const { broker } = bench;
    const clientId = await leaveAt(broker);
    const half = MAX_UNRELEASED_BYTES / 2;
    for (const bytes of [half, half, ENTRY_BYTES]) {
      addUntaken(broker, clientId, bytes);
    }
    broker.publish(reportTopic('heartbeat'), heartbeat(1));
    await giveBackAll(settingsOf({ clientId }), log, []);
    assert.deepEqual([heldAt(clientId, broker), broker.packets('puback'), warnings], [[0], [], []]);
    const { untaken } = keptSession(sessionName(broker.url, clientId));
    assert.deepEqual(
      untaken.map(({ payload }) => ENTRY_BYTES + payload.length),
      [half, half],
    );
  });

  it('is given back and keeps as much of QoS 2 whatever comes of QoS 1', async () => {
    const { broker } = bench;
    const clientId = await leaveAt(broker);
    const last = Buffer.from('last');
    const bytes = MAX_UNRELEASED_BYTES - ENTRY_BYTES - last.length;
    const untaken = addUntaken(broker, clientId, bytes);
    for (const qos of [1, 2] as const) {
      broker.publish(reportTopic('heartbeat'), last, { qos });
    }
    broker.options.withhold = ['unsuback'];
    const done = giveBackAll(settingsOf({ clientId }), log, []);
    // It is released then.
    await broker.until((one) => one.packets('pubrec').length === 1);
    broker.release();
    await done;
    assert.deepEqual(
      [untaken.map(({ payload }) => ENTRY_BYTES + payload.length), warnings],
      [[bytes, ENTRY_BYTES + last.length], []],
    );
  });

  describe('of several that were given back', () => {
    /** It has so many bytes more left, and is given back. */
    const leave = async (bytes: number, clientId?: string) => {
      const { broker } = bench;
      const id = clientId ?? (await leaveAt());
      await holdAt(broker, id);
      const untaken = addUntaken(broker, id, bytes);
      await giveBackAll(settingsOf({ clientId: id }), log, []);
      return { id, untaken };
    };

    it('is kept up to 64 MB together, the oldest goes first', async () => {
      const all: unknown[][] = [];
      for (const kept of [[1], [1, 1], [0, 1, 1], [0, 0, 1, 1]]) {
        all.push((await leave(24 * MB)).untaken);
        assert.deepEqual(
          all.map(({ length }) => length),
          kept,
        );
      }
    });

    for (const [bytes, isKept] of [
      [0, true],
      [1, false],
    ] as const) {
      it(`is ${isKept ? 'all kept where it is 64 MB' : 'not all kept where it is a byte more'}`, async () => {
        const half = MAX_UNRELEASED_BYTES / 2;
        const [older, newer] = [await leave(half), await leave(half + bytes)];
        assert.deepEqual([older.untaken.length, newer.untaken.length], [isKept ? 1 : 0, 1]);
      });
    }

    it('is kept as the newest of one that was given back again', async () => {
      const [first, second] = [await leave(24 * MB), await leave(24 * MB)];
      await leave(24 * MB, first.id);
      assert.deepEqual([first.untaken.length, second.untaken.length], [2, 0]);
    });

    it('is all kept of the last one, however much it is', async () => {
      bench.broker.options.connackCode = 3;
      const clientId = await leaveAt();
      keptSession(sessionName(bench.broker.url, clientId)).filters.add(FILTER);
      addUntaken(bench.broker, clientId, 40 * MB);
      const untaken = addUntaken(bench.broker, clientId, 40 * MB);
      await giveBackAll(settingsOf({ clientId }), log, []);
      assert.deepEqual([untaken.length, warnings], [2, [unreached(bench.broker, clientId)]]);
    });
  });

  it('is not given back where somebody comes back to it', async () => {
    const { broker } = bench;
    const clientId = await leaveAt(broker, other);
    const settings = settingsOf({ clientId });
    for (const goesOnAt of [undefined, settings.brokers, [`${broker.url}?other`, other.url]]) {
      assert.equal(keptElsewhere(settings, undefined, log, goesOnAt), undefined);
      await giveBackAll(settings, log, goesOnAt);
    }
    assert.deepEqual([heldAt(clientId, broker, other), warnings], [[1, 1], []]);
  });

  it('is not given back where one address stays, and the log names the others that hold some', async () => {
    const { broker } = bench;
    const clientId = await leaveAt(broker);
    const settings = settingsOf({ clientId, brokers: [broker.url, 'mqtt://holds.nothing', other.url] });
    await giveBackAll(settings, log, [other.url]);
    assert.deepEqual(warnings, [
      `${broker.url} is taken from the list: unless it is the same broker as one that stays, it goes on collecting for ${clientId}`,
    ]);
    assert.deepEqual(heldAt(clientId, broker), [1]);
    await giveBackAll({ ...settings, persistent: false }, log, [other.url]);
    assert.equal(warnings.length, 1);
  });

  it('is not given back of a session that is not persistent', async () => {
    const { broker } = bench;
    const clientId = await leaveAt(broker);
    await giveBackAll(settingsOf({ clientId, persistent: false }), log, []);
    assert.deepEqual(heldAt(clientId, broker), [1]);
  });

  it('is given back at the others where there is a connection, since the end of that gives back too', async () => {
    const { broker } = bench;
    const clientId = await leaveAt(broker, other);
    const settings = settingsOf({ clientId });
    await keptElsewhere(settings, broker.url, log, [])?.();
    assert.deepEqual(heldAt(clientId, broker, other), [1, 0]);
    await keptElsewhere(settings, undefined, log, [])?.();
    assert.deepEqual(heldAt(clientId, broker, other), [0, 0]);
  });

  it('is what it is before the connection is closed, which forgets it', async () => {
    const { broker } = bench;
    const clientId = await leaveAt(broker);
    const leave = keptElsewhere(settingsOf({ clientId }), undefined, log, []);
    keptSession(sessionName(broker.url, clientId)).filters.clear();
    await leave?.();
    assert.deepEqual(heldAt(clientId, broker), [0]);
  });

  for (const [what, change] of [
    ['refuses', { connackCode: 3 }],
    ['refuses the login', { connackCode: 5 }],
  ] as const) {
    it(`stays, and the log names its address, where the broker ${what}, at once; the next is given back`, async () => {
      const { broker } = bench;
      const clientId = await leaveAt(broker, other);
      keptSession(sessionName(broker.url, clientId)).doubtful.add('asked');
      Object.assign(broker.options, change);
      // No time passes.
      mock.timers.enable({ apis: ['setTimeout'] });
      await giveBackAll(settingsOf({ clientId }), log, []);
      assert.deepEqual(warnings, [unreached(broker, clientId)]);
      assert.deepEqual([heldAt(clientId, broker, other), known(broker, clientId)], [[1, 0], 0]);
    });
  }

  it('has the same share of 1.5 seconds at each address, and no more', async () => {
    const { broker } = bench;
    const clientId = await leaveAt(broker, other);
    let now = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => now);
    const pass = (milliseconds: number) => {
      now += milliseconds;
      mock.timers.tick(milliseconds);
    };
    // The one does not answer, the other takes nothing back.
    broker.options.withhold = ['connack'];
    other.options.withhold = ['unsuback'];
    const done = giveBackAll(settingsOf({ clientId }), log, []);
    for (const one of [broker, other]) {
      await one.until(({ withheld }) => withheld.length === 1);
      pass(SHARE_MS - 1);
      await turn();
      assert.deepEqual(warnings, one === broker ? [] : [unreached(broker, clientId)]);
      pass(1);
      await one.until(({ openConnections }) => openConnections.length === 0);
    }
    await done;
    assert.deepEqual(
      warnings,
      [broker, other].map((one) => unreached(one, clientId)),
    );
    // Cut, since whoever does not answer would not end it either.
    assert.deepEqual(other.packets('disconnect'), []);
    assert.equal(known(other, clientId), 0);
  });
});

describe('two services', () => {
  const settings = mqttSettings('', {
    brokers: ['mqtt://one', 'mqtt://two:1884'],
    clientId: 'id',
    persistent: true,
  });

  const TABLE: [string, Partial<MqttSettings>, boolean][] = [
    ['an address', { brokers: ['mqtt://three', 'mqtt://two:1884?x'] }, true],
    ['no address', { brokers: ['mqtt://three', 'mqtt://two'] }, false],
    ['an address and no client id', { clientId: 'other' }, false],
  ];
  for (const [what, changes, areSame] of TABLE) {
    it(`with ${what} in common are ${areSame ? '' : 'not '}the same client`, () => {
      const other = { ...settings, ...changes };
      assert.deepEqual(
        [areSameClient(settings, other), areSameClient(other, settings), haveSameSession(settings, other)],
        [areSame, areSame, areSame],
      );
    });
  }

  it('have one session only where both are persistent', () => {
    const other = { ...settings, persistent: false };
    assert.deepEqual(
      [
        haveSameSession(settings, other),
        haveSameSession(other, settings),
        haveSameSession(other, other),
        areSameClient(settings, other),
      ],
      [false, false, false, true],
    );
  });
});
