// What persistent sessions hold at addresses without a connection: given back when nobody comes back to them.
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { connectAsync } from 'mqtt';
import { SILENT } from '../../src/log.ts';
import { areSameClient, giveBackAll, haveSameSession, keptElsewhere } from '../../src/mqtt/kept-elsewhere.ts';
import { keptSession, mayHold, sessionName } from '../../src/mqtt/kept-sessions.ts';
import type { MqttSettings } from '../../src/settings.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { mqttSettings } from '../session.ts';
import { heartbeat, reportTopic, restoreTime, useScriptedBroker } from './scripted.ts';

const FILTER = reportTopic('#');
/** Of one of two addresses, in the time that there is. */
const SHARE_MS = 750;
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
      const earlier = await connectAsync(broker.url, { clientId, clean: false, reconnectPeriod: 0 });
      await earlier.subscribeAsync(FILTER, { qos: 1 });
      await earlier.endAsync(true);
      keptSession(sessionName(broker.url, clientId)).filters.add(FILTER);
    }
    return clientId;
  };
  const heldAt = (clientId: string, ...brokers: ScriptedBroker[]) =>
    brokers.map((broker) => broker.subscriptionsOf(clientId).size);
  const unreached = (broker: ScriptedBroker, clientId: string) =>
    `${broker.url} cannot be reached in time: it goes on collecting for ${clientId}`;
  const known = (broker: ScriptedBroker, clientId: string) =>
    keptSession(sessionName(broker.url, clientId)).filters.size;

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
    const { untaken } = keptSession(sessionName(broker.url, clientId));
    const payload = Buffer.alloc(32 * 1024 * 1024 - 500);
    const topic = reportTopic('heartbeat');
    for (const one of [payload, payload, Buffer.alloc(0)]) {
      untaken.push({ topic, payload: one, qos: 2, retain: false, dup: false });
    }
    broker.publish(topic, heartbeat(1));
    await giveBackAll(settingsOf({ clientId }), log, []);
    assert.deepEqual([heldAt(clientId, broker), broker.packets('puback'), warnings], [[0], [], []]);
    assert.deepEqual(
      untaken.map((one) => one.payload.length),
      [payload.length, payload.length],
    );
  });

  it('of several that were given back is kept up to 64 MB together, the oldest goes first', async () => {
    const { broker } = bench;
    const payload = Buffer.alloc(24 * 1024 * 1024);
    const message = { topic: reportTopic('heartbeat'), payload, qos: 2 as const, retain: false, dup: false };
    const all: unknown[][] = [];
    for (let time = 0; time < 4; time++) {
      const clientId = await leaveAt(broker);
      const { untaken } = keptSession(sessionName(broker.url, clientId));
      untaken.push(message);
      all.push(untaken);
      await giveBackAll(settingsOf({ clientId }), log, []);
    }
    assert.deepEqual(
      all.map(({ length }) => length),
      [0, 0, 1, 1],
    );
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
